//! Models of coordinates: a learner with its standardisation and calibration.

mod binary;
mod folds;
mod linear;
mod sparse;
mod stream;
mod sums;

use crate::design::DesignRows;
use crate::plan::{Findings, Method, Plan};
use binary::BinaryLearner;
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_frame::DataError;
use halfspaces_linalg::{
    ClassModel, Classifier, DensePoints, InputError, Params, Points, Threads, deciding_class,
};
use halfspaces_pac::Calibration;
use halfspaces_tables::{MulticlassTableModel, TableClassifier};
pub(crate) use linear::labels_of;
use linear::{Fitted, fitted};
use serde::{Deserialize, Serialize};
pub use stream::Batch;
pub(crate) use sums::{Part, Sums};

/// The minimum number of rows to which a calibration is fitted.
const MIN_CALIBRATION_ROWS: usize = 10;
/// The minimum number of held-out rows on which [`Method::Auto`] is calibrated, instead of keeping its cross-validated
/// calibration. That one belongs to fits other than the final one: the learner compares candidates on a part of the rows
/// and learns from all of them.
const MIN_RECALIBRATION_ROWS: usize = 1000;

/// A classifier of points with two or more classes 0, 1, ...
///
/// ```
/// use halfspaces_linalg::{Points, Threads};
/// use halfspaces_pipeline::{Design, Method, Model, Plan};
/// let points = Points::new((0..40).map(f64::from).collect(), 1)?;
/// let classes: Vec<usize> = (0..40).map(|i| usize::from(i >= 20)).collect();
/// let design = Design::Dense(points);
/// let (model, _) = Model::fit(&Plan::new(Method::Logistic), &design, &classes, None, None)?;
/// let found = model.decide(&design, Threads::ONE)?;
/// assert_eq!((found.classes[0], found.classes[39]), (0, 1));
/// assert!(found.probabilities.is_none(), "calibration needs held-out rows");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    method: Method,
    core: Core,
    /// The map from decision values to probabilities, fitted on held-out rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    calibration: Option<Calibration>,
}

/// The fitted classifier without its calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Core {
    /// An average of halfspaces of columns and kernel features, with its own calibration.
    Table(Box<MulticlassTableModel<usize>>),
    /// One halfspace or decision list, or one for each class.
    Linear {
        /// The standardisation of the columns; `None` for sparse points, which are not standardised.
        scale: Option<ZScore>,
        fitted: Fitted,
    },
}

/// The decisions of a model for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// The predicted class.
    pub classes: Vec<usize>,
    /// For two classes the decision value, positive for the second class; for more, the difference between the largest
    /// and the second largest decision value.
    pub values: Vec<f64>,
    /// The probability of each class; `None` if the model is not calibrated.
    pub probabilities: Option<Vec<Vec<f64>>>,
}

impl Model {
    /// Fits a model to points and their classes 0, 1, .., each of which must occur. [`Method::Auto`],
    /// [`Method::Logistic`] and [`Method::Svm`] support `weights`, one for each row, by which its loss is multiplied.
    /// Default: weights of 1. The scales of dense columns do not depend on weights. [`Method::Auto`] compares candidates
    /// on `groups` that they were not fitted to, so its cross-validated error is that on new groups. Default: each row is a
    /// separate group. The other learners compare nothing.
    ///
    /// # Errors
    /// If the learner does not support weights, or cannot learn from these points; for [`Method::Auto`] also if there are
    /// fewer than two groups.
    pub fn fit(
        plan: &Plan,
        design: &DesignRows<'_>,
        classes: &[usize],
        weights: Option<&[f64]>,
        groups: Option<&[usize]>,
    ) -> Result<(Model, Findings), DataError> {
        plan.check_options()?;
        if let Some(groups) = groups {
            InputError::check_len(classes.len(), groups.len())?;
        }
        if weights.is_some() {
            plan.check_weights("--weights")?;
        }
        let mut calibration = None;
        let (core, mut findings) = match (plan.method, design) {
            (Method::Auto, DesignRows::Dense(points)) => {
                table(plan, points, classes, weights, groups)?
            }
            (Method::Auto, DesignRows::Sparse(points)) => {
                let chosen = sparse::choose(plan, points, classes, weights, groups)?;
                calibration = Some(chosen.calibration);
                (Core::Linear { scale: None, fitted: chosen.fitted }, chosen.findings)
            }
            (_, DesignRows::Dense(points)) => {
                let scale = ZScore::fit(points)?;
                let scaled = scale.apply_on(points, plan.threads)?;
                let (fitted, findings) =
                    fitted(BinaryLearner::new(plan)?, &scaled, classes, weights, plan.threads)?;
                (Core::Linear { scale: Some(scale), fitted }, findings)
            }
            (_, DesignRows::Sparse(points)) => {
                let learner = BinaryLearner::for_sparse(plan, points)?;
                let (fitted, findings) = fitted(learner, points, classes, weights, plan.threads)?;
                (Core::Linear { scale: None, fitted }, findings)
            }
        };
        if findings.learned_from == 0 {
            let has_weight = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
            findings.learned_from = (0..classes.len()).filter(has_weight).count() as u64;
        }
        Ok((Model { method: plan.method, core, calibration }, findings))
    }

    /// Fits the calibration to the decision values of rows to which the model was not fitted, with a weight for each
    /// row. Default: weights of 1. Returns whether there are enough rows: ten, or 1000 for [`Method::Auto`], which has a
    /// cross-validated calibration and keeps it if there are fewer.
    ///
    /// # Errors
    /// [`InputError`] if a class is unknown to the model, or a weight is negative or not finite.
    pub fn calibrate(
        &mut self,
        values: &[Vec<f64>],
        classes: &[usize],
        weights: Option<&[f64]>,
    ) -> Result<bool, DataError> {
        let least = match self.method {
            Method::Auto => MIN_RECALIBRATION_ROWS,
            _ => MIN_CALIBRATION_ROWS,
        };
        if values.len() < least {
            return Ok(false);
        }
        let sums = values.first().map_or(0, Vec::len);
        let values = Points::new(values.concat(), sums)?;
        let weights = weights.map_or_else(|| vec![1.0; classes.len()], <[f64]>::to_vec);
        self.calibration = Some(Calibration::fit(&values, classes, &weights, 1.0)?);
        Ok(true)
    }

    /// Whether the model predicts probabilities.
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

    /// The weight of every coordinate, for each class or for the second of two classes. It applies to a change of one
    /// standard deviation, or of 1 if the points are sparse. `None` if the model is not one halfspace per class.
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

    /// Checks that the parts of a loaded model are consistent.
    ///
    /// # Errors
    /// [`InputError`] for a model that no fit produces.
    pub fn check_saved(&self) -> Result<(), InputError> {
        match &self.core {
            Core::Table(model) => {
                let auto = self.method == Method::Auto;
                InputError::check_state(auto, "only auto averages halfspaces")?;
                let numbered = model.classes().iter().enumerate().all(|(i, class)| i == *class);
                InputError::check_state(numbered, "classes must be numbered from 0")
            }
            Core::Linear { scale, .. } => {
                InputError::check_state(
                    self.method != Method::Auto || scale.is_none(),
                    "auto does not have a single model of standardised columns",
                )?;
                let dim = scale.as_ref().map_or(self.dim(), FeatureMap::output_dim);
                InputError::check_dim(dim, self.dim())
            }
        }
    }

    /// The decision values of every row: one value for two classes, otherwise one for each class.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::Overflow`].
    pub fn values(
        &self,
        design: &DesignRows<'_>,
        threads: Threads,
    ) -> Result<Vec<Vec<f64>>, DataError> {
        Ok(match (&self.core, design) {
            (Core::Table(model), DesignRows::Dense(points)) => {
                model.class_values_all(points, threads)?
            }
            (Core::Table(model), DesignRows::Sparse(points)) => {
                model.class_values_all(points, threads)?
            }
            (Core::Linear { scale, fitted }, DesignRows::Dense(points)) => match scale {
                Some(scale) => fitted.values(&scale.apply_on(points, threads)?, threads)?,
                None => fitted.values(points, threads)?,
            },
            (Core::Linear { scale, fitted }, DesignRows::Sparse(points)) => match scale {
                Some(scale) => fitted.values(&scale.apply_on(points, threads)?, threads)?,
                None => fitted.values(points, threads)?,
            },
        })
    }

    /// Decides every row.
    ///
    /// # Errors
    /// Same as [`Model::values`].
    pub fn decide(
        &self,
        design: &DesignRows<'_>,
        threads: Threads,
    ) -> Result<Decisions, DataError> {
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

/// Fits the table classifier.
fn table(
    plan: &Plan,
    points: &DensePoints<'_>,
    classes: &[usize],
    weights: Option<&[f64]>,
    groups: Option<&[usize]>,
) -> Result<(Core, Findings), DataError> {
    let params = TableClassifier::params().held_out(0.0).seed(plan.seed);
    let learner = params.threads(plan.threads).check()?;
    let model = match (groups, weights) {
        (Some(groups), _) => learner.fit_classes_by_group(points, classes, weights, groups)?,
        (None, Some(weights)) => learner.fit_classes_weighted(points, classes, weights)?,
        (None, None) => learner.fit_classes(points, classes)?,
    };
    let report = model.report();
    let entry = |e: &halfspaces_tables::ComparedCandidate| (e.error(), e.candidate().to_string());
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

/// The value itself if there is only one; otherwise the difference between the largest and the second largest value.
pub(crate) fn lead(values: &[f64]) -> f64 {
    if let [value] = values {
        return *value;
    }
    let best = deciding_class(values);
    let others = values.iter().enumerate().filter(|(class, _)| *class != best);
    values[best] - others.map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
}
