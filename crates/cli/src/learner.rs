//! Learners as the command line names them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halfspaces_pipeline::Method;

/// The parser of `--learner`.
pub(crate) fn method() -> impl TypedValueParser<Value = Method> {
    let value = |method: Method| PossibleValue::new(method.name()).help(help(method));
    PossibleValuesParser::new(Method::ALL.map(value)).try_map(|name| name.parse::<Method>())
}

fn help(method: Method) -> &'static str {
    match method {
        Method::Auto => {
            "Many halfspaces of columns and of kernel features, compared, the best averaged. If unsure, use this"
        }
        Method::Massart => {
            "Labels wrong with a probability of at most --noise, wherever they are; no margin needed"
        }
        Method::Perspectron => "One halfspace, noise rate and margin found on the way",
        Method::Perceptron => "The averaged perceptron, ten passes",
        Method::Logistic => "Logistic regression",
        Method::Svm => "Linear support vector machine",
    }
}
