//! Learners by name, their parameters, and what a fit reports.

use halfspaces_frame::DataError;
use halfspaces_linalg::Threads;
use serde::{Deserialize, Serialize};

/// A learner by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Many halfspaces of columns and of kernel features are compared, and the best ones averaged; linear ones alone where
    /// coordinates are sparse. The default.
    #[default]
    Auto,
    /// A decision list for labels that are wrong with a probability below a bound, wherever they are; needs no margin.
    Massart,
    /// One halfspace; noise rate and margin are found on the way.
    Perspectron,
    /// The averaged perceptron, ten passes.
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

/// Which learner, with its parameters.
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
    /// Largest probability of a wrong label (massart, perspectron), below one half. Default: 0.25 for massart.
    pub noise: Option<f64>,
    /// Weight of the loss against the penalty (logistic, svm). Default: 1.
    pub c: Option<f64>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Threads, on which no result depends.
    pub threads: Threads,
}

impl Plan {
    /// A learner with its defaults, seed 0 and one thread.
    #[must_use]
    pub fn new(method: Method) -> Plan {
        Plan { method, noise: None, c: None, seed: 0, threads: Threads::ONE }
    }

    /// Checks that the learner has every parameter that was given.
    ///
    /// # Errors
    /// If it has no use for one; the message names the learners that have.
    pub fn check_options(&self) -> Result<(), DataError> {
        let takes_noise = matches!(self.method, Method::Massart | Method::Perspectron);
        let takes_c = matches!(self.method, Method::Logistic | Method::Svm);
        let refused = |option, takers| {
            let name = self.method.name();
            Err(DataError::user(format!("{option}: the learner {name} takes none; {takers} do")))
        };
        match (self.noise, self.c) {
            (Some(_), _) if !takes_noise => refused("--noise", "massart and perspectron"),
            (_, Some(_)) if !takes_c => refused("--c", "logistic and svm"),
            _ => Ok(()),
        }
    }
}

/// Facts that a fit reports apart from its classifier.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The rate of wrong labels with which the learner explains the rows, if it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// The margin with which it does, as a share of the largest norm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// How the fit ended, if that says something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What was compared, best first: error and name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub compared: Vec<(f64, String)>,
    /// Number of them that are averaged.
    pub chosen: usize,
    /// Number of others that were dropped before they were compared on all rows.
    #[serde(default)]
    pub dropped: usize,
    /// Rows on which they were compared; each was labelled by fits that had not seen it.
    #[serde(default)]
    pub compared_on: usize,
    /// Rows learned from.
    #[serde(default)]
    pub learned_from: u64,
    /// The cross-validated error, and how it was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cross_validated: Option<f64>,
}
