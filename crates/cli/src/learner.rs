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
            "Average of the best of many halfspaces over the columns and over kernel features. Use this if you are unsure"
        }
        Method::Massart => {
            "Decision list of halfspaces with a proved error bound if each label is wrong with a probability of at most \
             --noise. On real tables, auto makes fewer errors"
        }
        Method::Perspectron => {
            "One halfspace for noisy labels; the noise rate and the margin are selected automatically"
        }
        Method::Perceptron => "Averaged perceptron, ten passes",
        Method::Logistic => "Logistic regression",
        Method::Svm => "Linear support vector machine",
    }
}
