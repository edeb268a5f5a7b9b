//! The learners, their parameters, and the findings that they report.

use halfspaces_frame::DataError;
use halfspaces_linalg::Threads;
use serde::{Deserialize, Serialize};

/// A learning method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Compares many halfspaces of columns and kernel features and averages the best ones. If coordinates are sparse,
    /// such as those of texts, this method is a linear support vector machine with the squared hinge loss, whose
    /// parameter C is chosen by cross-validation. If a class is often labelled as another class, the rows whose label
    /// is likely wrong are left out, provided that this reduces the cross-validated error ([`Findings::left_out`]).
    /// This method is the default.
    #[default]
    Auto,
    /// A decision list for noisy labels. Each label may be wrong with a probability that is at most the noise rate.
    /// This method needs no margin. It supports at most 1000 sparse coordinates.
    Massart,
    /// The Perspectron, which fits one halfspace and estimates the noise rate and the margin. The time grows with the
    /// number of coordinates, even if points have few entries: a column of text with 40,000 different n-grams takes
    /// minutes.
    Perspectron,
    /// The averaged perceptron, which makes ten passes over the rows.
    Perceptron,
    /// Logistic regression.
    Logistic,
    /// A linear support vector machine.
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

    /// The name of the method in lower case.
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
    /// The upper bound on the noise rate, which must be below one half, for `massart` and `perspectron`. The default
    /// for `massart` is 0.25.
    pub noise: Option<f64>,
    /// The weight of the loss relative to the penalty, for `logistic` and `svm`. The default is 1.
    pub c: Option<f64>,
    /// The seed for all random choices.
    pub seed: u64,
    /// The number of threads, which does not affect results.
    pub threads: Threads,
}

impl Plan {
    /// Creates a plan for `method` with default parameters, seed 0 and one thread.
    #[must_use]
    pub fn new(method: Method) -> Plan {
        Plan { method, noise: None, c: None, seed: 0, threads: Threads::ONE }
    }

    /// Checks that all given parameters apply to the learner.
    ///
    /// # Errors
    /// Returns an error if a parameter does not apply. The message names the learners that support the parameter.
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

    /// Checks that the learner supports row weights. `option` is the option that requests weights and is named in the
    /// error message.
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

/// The rows that a learner left out because they have one label but look like another class. Classes are numbered as in
/// the model.
///
/// ```
/// let left_out = halfspaces_pipeline::LeftOut { label: 1, class: 0, rows: 25 };
/// assert_ne!(left_out.label, left_out.class);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The label that these rows have.
    pub label: usize,
    /// The class that these rows look like.
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
    /// The margin, if any, that the learner selected, as a share of the largest norm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// How the fit ended, if this is noteworthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The candidates that were compared, best first, each given by its error and its name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub compared: Vec<(f64, String)>,
    /// The number of candidates that are averaged.
    pub chosen: usize,
    /// The number of candidates that were dropped before they were compared on all rows.
    #[serde(default)]
    pub dropped: usize,
    /// The number of rows on which candidates were compared. Each row was predicted by models that were fitted without
    /// the row.
    #[serde(default)]
    pub compared_on: usize,
    /// The number of rows to which the model was fitted.
    #[serde(default)]
    pub learned_from: u64,
    /// The rows that were left out of the fit because their label is likely wrong.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left_out: Option<LeftOut>,
    /// The cross-validated error, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cross_validated: Option<f64>,
}
