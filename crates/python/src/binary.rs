//! Fitted models for two classes.

use halfspaces_linalg::{
    AffineHalfspace, Classifier, InputError, LiftedRow, RowView, ScaledRow, Termination,
};
use halfspaces_pac::{
    DecisionListOfHalfspaces, DgtFit, ErrorBound, LogisticFit, PositionedFit, SampleFit,
};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// A model for two classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Binary {
    /// One halfspace.
    Halfspace { halfspace: AffineHalfspace, iterations: u64, termination: Termination },
    /// Logistic regression.
    Logistic(LogisticFit),
    /// The Perspectron's halfspace.
    Perspectron(SampleFit),
    /// A decision list in radially isotropic position.
    Massart { fit: Box<PositionedFit>, lifted: bool },
    /// A decision list of halfspaces that act on the points divided by `radius`.
    List { list: DecisionListOfHalfspaces, radius: f64, lifted: bool, termination: Termination },
}

impl Binary {
    pub(crate) fn halfspace(
        halfspace: &AffineHalfspace,
        iterations: u64,
        termination: Termination,
    ) -> Binary {
        Binary::Halfspace { halfspace: halfspace.clone(), iterations, termination }
    }

    pub(crate) fn list(fit: &DgtFit, radius: f64, lifted: bool) -> Binary {
        let (list, termination) = (fit.list().clone(), fit.termination());
        Binary::List { list, radius, lifted, termination }
    }

    /// Rejects a saved model that no fit can produce.
    pub(crate) fn check_saved(&self) -> Result<(), InputError> {
        let (dim, lifted) = match self {
            Binary::Massart { fit, lifted } => (fit.dim(), *lifted),
            Binary::List { list, radius, lifted, .. } => {
                InputError::check_parameter(
                    "radius",
                    *radius,
                    *radius > 0.0 && radius.is_finite(),
                    "positive and finite",
                )?;
                (list.dim(), *lifted)
            }
            _ => return Ok(()),
        };
        InputError::check_state(!lifted || dim > 1, "a lifted point has two coordinates or more")
    }

    /// The weights and the intercept; `None` if the model is a decision list.
    pub(crate) fn coefficients(&self) -> Option<&AffineHalfspace> {
        match self {
            Binary::Halfspace { halfspace, .. } => Some(halfspace),
            Binary::Logistic(fit) => Some(fit.halfspace()),
            Binary::Perspectron(fit) => Some(fit.halfspace()),
            Binary::Massart { .. } | Binary::List { .. } => None,
        }
    }

    pub(crate) fn error_bound(&self, failure: f64) -> Option<Result<ErrorBound, InputError>> {
        match self {
            Binary::Perspectron(fit) => Some(fit.error_bound(failure)),
            Binary::Massart { fit, .. } if fit.held_out().is_some() => {
                Some(fit.error_bound(failure))
            }
            _ => None,
        }
    }

    /// The facts that the fit reports, each with its name and a number or a string.
    pub(crate) fn facts(&self) -> Vec<(&'static str, Fact)> {
        let end = |termination: Termination| ("termination", Fact::Text(termination.to_string()));
        match self {
            Binary::Halfspace { iterations, termination, .. } => {
                vec![("n_iter", Fact::Count(*iterations)), end(*termination)]
            }
            Binary::Logistic(fit) => {
                vec![("n_iter", Fact::Count(fit.steps())), end(fit.termination())]
            }
            Binary::Perspectron(fit) => vec![
                ("n_iter", Fact::Count(fit.steps())),
                ("noise_rate", Fact::Number(fit.noise())),
                ("margin", Fact::Number(fit.margin())),
                ("held_out", Fact::Count(fit.held_out())),
                ("held_out_errors", Fact::Count(fit.held_out_errors())),
            ],
            Binary::Massart { fit, .. } => {
                let mut facts = vec![
                    ("n_rules", Fact::Count(fit.list().rules().len() as u64)),
                    end(fit.termination()),
                ];
                if let Some(count) = fit.held_out() {
                    facts.push(("held_out", Fact::Count(count.points() as u64)));
                    facts.push(("held_out_errors", Fact::Count(count.errors() as u64)));
                }
                facts
            }
            Binary::List { list, termination, .. } => {
                vec![("n_rules", Fact::Count(list.rules().len() as u64)), end(*termination)]
            }
        }
    }
}

/// A number, a string or names that a fit reports.
#[derive(Debug, Clone, PartialEq, Serialize, IntoPyObject)]
pub(crate) enum Fact {
    Count(u64),
    Number(f64),
    Text(String),
    Names(Vec<String>),
}

impl Classifier for Binary {
    fn dim(&self) -> usize {
        match self {
            Binary::Massart { fit, lifted } => fit.dim() - usize::from(*lifted),
            Binary::List { list, lifted, .. } => list.dim() - usize::from(*lifted),
            Binary::Halfspace { halfspace, .. } => halfspace.dim(),
            Binary::Logistic(fit) => fit.dim(),
            Binary::Perspectron(fit) => fit.dim(),
        }
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        match self {
            Binary::Halfspace { halfspace, .. } => halfspace.decision_value(x),
            Binary::Logistic(fit) => fit.decision_value(x),
            Binary::Perspectron(fit) => fit.decision_value(x),
            Binary::Massart { fit, lifted: true } => {
                InputError::check_dim(self.dim(), x.dim())?;
                fit.decision_value(LiftedRow::new(x))
            }
            Binary::Massart { fit, lifted: false } => fit.decision_value(x),
            Binary::List { list, radius, lifted, .. } => {
                InputError::check_dim(self.dim(), x.dim())?;
                let x = ScaledRow::new(x, 1.0 / radius);
                if *lifted {
                    list.decision_value(LiftedRow::new(x))
                } else {
                    list.decision_value(x)
                }
            }
        }
    }
}
