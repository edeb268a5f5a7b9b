//! The values of `--learner`.

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
            "Average of the best of many halfspaces, over columns and over kernel features. Use this if unsure"
        }
        Method::Massart => {
            "Decision list of halfspaces with a proof for labels that are each wrong with a probability of at most \
             --noise. On real tables auto errs less"
        }
        Method::Perspectron => {
            "One halfspace for noisy labels; noise rate and margin are selected automatically"
        }
        Method::Perceptron => "Averaged perceptron, ten passes",
        Method::Logistic => "Logistic regression",
        Method::Svm => "Linear support vector machine",
    }
}
