//! The learners, their parameters and their findings.

use halfspaces_frame::DataError;
use halfspaces_linalg::Threads;
use serde::{Deserialize, Serialize};

/// A learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Compares many halfspaces of columns and kernel features and averages the best ones. With sparse coordinates, such
    /// as those of texts, it is a linear support vector machine with the squared hinge loss, whose C is chosen by
    /// cross-validation; rows of a class that is often labelled as another are left out if that reduces the
    /// cross-validated error ([`Findings::left_out`]). The default.
    #[default]
    Auto,
    /// A decision list for labels that may be wrong anywhere, each with a bounded probability. It needs no margin. It
    /// takes at most 1000 sparse coordinates.
    Massart,
    /// One halfspace; noise rate and margin are estimated. Its time grows with the number of coordinates, even if points
    /// have few entries: a text with 40,000 different n-grams takes minutes.
    Perspectron,
    /// The averaged perceptron with ten passes.
    Perceptron,
    /// Logistic regression.
    Logistic,
    /// The linear support vector machine.
    Svm,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 6] = [
        Method::Auto,
        Method::Massart,
        Method::Perspectron,
        Method::Perceptron,
        Method::Logistic,
        Method::Svm,
    ];

    /// The name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Massart => "massart",
            Method::Perspectron => "perspectron",
            Method::Perceptron => "perceptron",
            Method::Logistic => "logistic",
            Method::Svm => "svm",
        }
    }
}

impl std::str::FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Method, String> {
        let found = Method::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| format!("`{name}` is not a learner"))
    }
}

/// A learner with its parameters.
///
/// ```
/// use halfspaces_pipeline::{Method, Plan};
/// let plan = Plan { c: Some(0.1), ..Plan::new(Method::Svm) };
/// assert!(plan.check_options().is_ok());
/// assert!(Plan { noise: Some(0.1), ..plan }.check_options().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The learner.
    pub method: Method,
    /// The upper bound on the noise rate (massart, perspectron), below one half. Default: 0.25 for massart.
    pub noise: Option<f64>,
    /// The weight of the loss relative to the penalty (logistic, svm). Default: 1.
    pub c: Option<f64>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of threads, which does not affect results.
    pub threads: Threads,
}

impl Plan {
    /// The learner `method` with its defaults, seed 0 and one thread.
    #[must_use]
    pub fn new(method: Method) -> Plan {
        Plan { method, noise: None, c: None, seed: 0, threads: Threads::ONE }
    }

    /// Checks that all given parameters apply to the learner.
    ///
    /// # Errors
    /// If a parameter does not apply; the message names the learners that support it.
    pub fn check_options(&self) -> Result<(), DataError> {
        let takes_noise = matches!(self.method, Method::Massart | Method::Perspectron);
        let takes_c = matches!(self.method, Method::Logistic | Method::Svm);
        let refused = |option, takers| {
            let name = self.method.name();
            Err(DataError::user(format!(
                "{option}: does not apply to the learner {name}; it applies to {takers}"
            )))
        };
        match (self.noise, self.c) {
            (Some(_), _) if !takes_noise => refused("--noise", "massart and perspectron"),
            (_, Some(_)) if !takes_c => refused("--c", "logistic and svm"),
            _ => Ok(()),
        }
    }

    /// Checks that the learner supports weights of rows, for the option that asks for them.
    pub(crate) fn check_weights(&self, option: &str) -> Result<(), DataError> {
        match self.method {
            Method::Auto | Method::Logistic | Method::Svm => Ok(()),
            method => Err(DataError::user(format!(
                "{option}: the learner {} does not support weights; use --learner auto, logistic or svm",
                method.name()
            ))),
        }
    }
}

/// The rows that a learner left out: rows of one label that look like another class. Classes are those of the model.
///
/// ```
/// let left_out = halfspaces_pipeline::LeftOut { label: 1, class: 0, rows: 25 };
/// assert_ne!(left_out.label, left_out.class);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The label of the rows.
    pub label: usize,
    /// The class that they look like.
    pub class: usize,
    /// The number of rows.
    pub rows: usize,
}

/// Facts that a learner reports about its fit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The noise rate that the learner selected, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// The margin that the learner selected, as a share of the largest norm, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// The way the fit ended, if noteworthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The candidates compared, best first, each with its error and name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub compared: Vec<(f64, String)>,
    /// The number of candidates that are averaged.
    pub chosen: usize,
    /// The number of candidates dropped before they were compared on all rows.
    #[serde(default)]
    pub dropped: usize,
    /// The number of rows on which candidates were compared. Each row was labelled by fits without it.
    #[serde(default)]
    pub compared_on: usize,
    /// The number of rows fitted.
    #[serde(default)]
    pub learned_from: u64,
    /// The rows that were not fitted, because their label is likely wrong.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left_out: Option<LeftOut>,
    /// The cross-validated error, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cross_validated: Option<f64>,
}
