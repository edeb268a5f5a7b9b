//! What a fit is asked for, and what it finds.

use crate::error::CliError;
use clap::ValueEnum;
use halfspaces_linalg::Threads;
use serde::{Deserialize, Serialize};

/// Which learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    /// Many halfspaces of columns and of kernel features, compared, the best averaged. If unsure, use this
    Auto,
    /// Labels wrong with a probability of at most --noise, wherever they are; no margin needed
    Massart,
    /// One halfspace, noise rate and margin found on the way
    Perspectron,
    /// The averaged perceptron, ten passes
    Perceptron,
    /// Logistic regression
    Logistic,
    /// Linear support vector machine
    Svm,
}

impl Method {
    /// The name as on the command line.
    pub(crate) fn name(self) -> &'static str {
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

/// What a fit is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) method: Method,
    /// η, for the learners that take it.
    pub(crate) noise: Option<f64>,
    /// C of logistic regression and of the support vector machine; by default 1.
    pub(crate) c: Option<f64>,
    pub(crate) seed: u64,
    pub(crate) threads: Threads,
}

impl Plan {
    /// Refuses an option that the learner would not heed.
    pub(crate) fn check_options(&self) -> Result<(), CliError> {
        let takes_noise = matches!(self.method, Method::Massart | Method::Perspectron);
        let takes_c = matches!(self.method, Method::Logistic | Method::Svm);
        let refused = |option, takers| {
            let name = self.method.name();
            Err(CliError::user(format!("{option}: the learner {name} takes none; {takers} do")))
        };
        match (self.noise, self.c) {
            (Some(_), _) if !takes_noise => refused("--noise", "massart and perspectron"),
            (_, Some(_)) if !takes_c => refused("--c", "logistic and svm"),
            _ => Ok(()),
        }
    }
}

/// What a fit found beside the classifier.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Findings {
    /// The rate of wrong labels with which the learner explains the rows, if it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<f64>,
    /// The margin with which it does, as a share of the largest norm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) margin: Option<f64>,
    /// How the fit ended, if that says something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
    /// What was compared, best first: error and name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) compared: Vec<(f64, String)>,
    /// How many of them are averaged.
    pub(crate) chosen: usize,
    /// How many others were dropped before they were compared on all rows.
    #[serde(default)]
    pub(crate) dropped: usize,
}
