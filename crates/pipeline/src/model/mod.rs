//! Models of coordinates: a learner, its scale, and its calibration.

mod binary;
mod linear;
mod sparse;
mod stream;

use crate::design::Design;
use crate::plan::{Findings, Method, Plan};
use binary::BinaryLearner;
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_frame::DataError;
use halfspaces_linalg::{
    ClassModel, Classifier, InputError, Params, Points, Threads, deciding_class,
};
use halfspaces_pac::TemperatureScaling;
use halfspaces_tables::{TableClassesModel, TableClassifier};
use linear::{Fitted, fitted};
use serde::{Deserialize, Serialize};
pub use stream::Batch;

/// Fewest rows that a calibration is fitted to.
pub const MIN_CALIBRATION_ROWS: usize = 10;
/// Fewest rows held out by which the calibration of the table classifier, which comes from cross-validation, is replaced:
/// from this many on it compares on a part of the rows and learns from all, so that its own is of other fits.
const MIN_RECALIBRATION_ROWS: usize = 1000;

/// A model of two or more classes 0, 1, .. of coordinates.
///
/// ```
/// use halfspaces_linalg::{Points, Threads};
/// use halfspaces_pipeline::{Design, Method, Model, Plan};
/// let points = Points::new((0..40).map(f64::from).collect(), 1)?;
/// let classes: Vec<usize> = (0..40).map(|i| usize::from(i >= 20)).collect();
/// let design = Design::Dense(points);
/// let (model, _) = Model::fit(&Plan::new(Method::Logistic), &design, &classes, None)?;
/// let found = model.decide(&design, Threads::ONE)?;
/// assert_eq!((found.classes[0], found.classes[39]), (0, 1));
/// assert!(found.probabilities.is_none(), "rows held out calibrate it");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    method: Method,
    core: Core,
    /// From decision values to probabilities, fitted to rows held out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    calibration: Option<TemperatureScaling>,
}

/// The part that was learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Core {
    /// An average of halfspaces of columns and kernel features, with a calibration of its own.
    Table(Box<TableClassesModel<usize>>),
    /// One halfspace or decision list, or one for each class.
    Linear {
        /// How columns are standardised; `None` for sparse points, which are taken as they are.
        scale: Option<ZScore>,
        fitted: Fitted,
    },
}

/// The decisions of a model, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// The class.
    pub classes: Vec<usize>,
    /// Of two classes the decision value, positive for the second; of more, by how much the largest value exceeds the next.
    pub values: Vec<f64>,
    /// The probability of every class; `None` if the model has no calibration.
    pub probabilities: Option<Vec<Vec<f64>>>,
}

impl Model {
    /// Learns from points and their classes 0, 1, .., each of which must occur. Weights, one for each row, are for
    /// [`Method::Auto`] alone.
    ///
    /// # Errors
    /// If the learner has no use for weights, or cannot learn from these points.
    pub fn fit(
        plan: &Plan,
        design: &Design,
        classes: &[usize],
        weights: Option<&[f64]>,
    ) -> Result<(Model, Findings), DataError> {
        plan.check_options()?;
        if weights.is_some() && (plan.method != Method::Auto || matches!(design, Design::Sparse(_)))
        {
            return Err(DataError::user(format!(
                "--weights: the learner {} of {} points takes none; use --learner auto on a table",
                plan.method.name(),
                if matches!(design, Design::Sparse(_)) { "sparse" } else { "dense" }
            )));
        }
        let (core, mut findings) = match (plan.method, design) {
            (Method::Auto, Design::Dense(points)) => table(plan, points, classes, weights)?,
            (Method::Auto, Design::Sparse(points)) => {
                let (fitted, findings) = sparse::choose(plan, points, classes)?;
                (Core::Linear { scale: None, fitted }, findings)
            }
            (_, Design::Dense(points)) => {
                let scale = ZScore::fit(points)?;
                let scaled = scale.apply_on(points, plan.threads)?;
                let (fitted, findings) =
                    fitted(BinaryLearner::new(plan)?, &scaled, classes, plan.threads)?;
                (Core::Linear { scale: Some(scale), fitted }, findings)
            }
            (_, Design::Sparse(points)) => {
                let learner = BinaryLearner::for_sparse(plan, points)?;
                let (fitted, findings) = fitted(learner, points, classes, plan.threads)?;
                (Core::Linear { scale: None, fitted }, findings)
            }
        };
        if findings.learned_from == 0 {
            findings.learned_from = classes.len() as u64;
        }
        Ok((Model { method: plan.method, core, calibration: None }, findings))
    }

    /// Fits the calibration to the decision values of rows that the model was not learned from. The table classifier, which has
    /// one from cross-validation, keeps its own unless there are 1000 rows or more.
    ///
    /// # Errors
    /// [`InputError`] for a class that the model does not have.
    pub fn calibrate(&mut self, values: &[Vec<f64>], classes: &[usize]) -> Result<(), DataError> {
        let least = match self.core {
            Core::Table(_) => MIN_RECALIBRATION_ROWS,
            Core::Linear { .. } => MIN_CALIBRATION_ROWS,
        };
        if values.len() < least {
            return Ok(());
        }
        let sums = values.first().map_or(0, Vec::len);
        let values = Points::new(values.concat(), sums)?;
        let weights = vec![1.0; classes.len()];
        self.calibration = Some(TemperatureScaling::fit(&values, classes, &weights, 1.0)?);
        Ok(())
    }

    /// Whether the model gives probabilities.
    #[must_use]
    pub fn has_probabilities(&self) -> bool {
        matches!(self.core, Core::Table(_)) || self.calibration.is_some()
    }

    /// The learner.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        match &self.core {
            Core::Table(model) => model.dim(),
            Core::Linear { fitted: Fitted::Two(model), .. } => model.dim(),
            Core::Linear { fitted: Fitted::Several(model), .. } => model.dim(),
        }
    }

    /// Number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        match &self.core {
            Core::Table(model) => model.class_count(),
            Core::Linear { fitted: Fitted::Two(_), .. } => 2,
            Core::Linear { fitted: Fitted::Several(model), .. } => model.classes(),
        }
    }

    /// For each class, or for the second of two alone, the weight of every coordinate: for a change by one standard deviation,
    /// or by 1 where points are sparse. `None` if there is no single halfspace for each class.
    #[must_use]
    pub fn weights(&self) -> Option<Vec<Vec<f64>>> {
        let Core::Linear { fitted, .. } = &self.core else { return None };
        match fitted {
            Fitted::Two(model) => Some(vec![model.halfspace()?.weights().to_vec()]),
            Fitted::Several(model) => (0..model.classes())
                .map(|class| Some(model.model(class)?.halfspace()?.weights().to_vec()))
                .collect(),
        }
    }

    /// Whether the parts of a loaded model fit together.
    pub(crate) fn check_saved(&self) -> Result<(), InputError> {
        match &self.core {
            Core::Table(model) => {
                let auto = self.method == Method::Auto;
                InputError::check_state(auto, "an average of halfspaces is learned by auto")?;
                let numbered = model.classes().iter().enumerate().all(|(i, class)| i == *class);
                InputError::check_state(numbered, "classes are numbered from 0")
            }
            Core::Linear { scale, .. } => {
                InputError::check_state(
                    self.method != Method::Auto || scale.is_none(),
                    "auto has no single model of standardised columns",
                )?;
                let dim = scale.as_ref().map_or(self.dim(), FeatureMap::output_dim);
                InputError::check_dim(dim, self.dim())
            }
        }
    }

    /// The decision values of every row: one for two classes, otherwise one for each class.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::Overflow`].
    pub fn values(&self, design: &Design, threads: Threads) -> Result<Vec<Vec<f64>>, DataError> {
        Ok(match (&self.core, design) {
            (Core::Table(model), Design::Dense(points)) => {
                model.class_values_all(points, threads)?
            }
            (Core::Table(model), Design::Sparse(points)) => {
                model.class_values_all(points, threads)?
            }
            (Core::Linear { scale, fitted }, Design::Dense(points)) => match scale {
                Some(scale) => fitted.values(&scale.apply_on(points, threads)?, threads)?,
                None => fitted.values(points, threads)?,
            },
            (Core::Linear { scale, fitted }, Design::Sparse(points)) => match scale {
                Some(scale) => fitted.values(&scale.apply_on(points, threads)?, threads)?,
                None => fitted.values(points, threads)?,
            },
        })
    }

    /// Decides every row.
    ///
    /// # Errors
    /// As [`Model::values`].
    pub fn decide(&self, design: &Design, threads: Threads) -> Result<Decisions, DataError> {
        let values = self.values(design, threads)?;
        let probabilities = |values: &Vec<f64>| match (&self.calibration, &self.core) {
            (Some(calibration), _) => Some(calibration.probabilities(values)),
            (None, Core::Table(model)) => model.class_probabilities(values),
            (None, Core::Linear { .. }) => None,
        };
        Ok(Decisions {
            classes: values.iter().map(|values| deciding_class(values)).collect(),
            values: values.iter().map(|values| lead(values)).collect(),
            probabilities: values.iter().map(probabilities).collect(),
        })
    }
}

/// The table classifier.
fn table(
    plan: &Plan,
    points: &Points,
    classes: &[usize],
    weights: Option<&[f64]>,
) -> Result<(Core, Findings), DataError> {
    let params = TableClassifier::params().held_out(0.0).seed(plan.seed);
    let learner = params.threads(plan.threads).check()?;
    let model = match weights {
        Some(weights) => learner.fit_classes_weighted(points, classes, weights)?,
        None => learner.fit_classes(points, classes)?,
    };
    let report = model.report();
    let entry = |e: &halfspaces_tables::Compared| (e.error, e.candidate.to_string());
    let findings = Findings {
        compared: report.compared().iter().map(entry).collect(),
        dropped: report.dropped().len(),
        chosen: report.chosen().count(),
        compared_on: report.compared_on(),
        learned_from: report.learned_from() as u64,
        cross_validated: Some(report.error()),
        ..Findings::default()
    };
    Ok((Core::Table(Box::new(model)), findings))
}

/// A single value itself; of several, by how much the largest exceeds the next.
fn lead(values: &[f64]) -> f64 {
    if let [value] = values {
        return *value;
    }
    let best = deciding_class(values);
    let others = values.iter().enumerate().filter(|(class, _)| *class != best);
    values[best] - others.map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
}
