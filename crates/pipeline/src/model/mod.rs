//! Models that classify points: a fitted learner with its standardisation and calibration.

mod binary;
mod folds;
mod linear;
mod sparse;
mod stream;
mod sums;

use crate::design::DesignRows;
use crate::plan::{Findings, Method, Plan};
use binary::{BinaryLearner, BinaryModel};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_frame::DataError;
use halfspaces_linalg::{
    ClassModel, Classifier, DensePoints, InputError, Params, PointSet, Points, Threads,
    deciding_class, zeros,
};
use halfspaces_pac::{Calibration, LogOdds, LogisticFit, OneVsRestModel};
use halfspaces_tables::{MulticlassTableModel, TableClassifier};
pub(crate) use linear::labels_of;
use linear::{Fitted, fitted};
use serde::{Deserialize, Serialize};
use std::ops::Range;
pub use stream::Batch;
pub(crate) use sums::{Part, Sums};

/// The minimum number of rows to which a calibration is fitted.
const MIN_CALIBRATION_ROWS: usize = 10;
/// The minimum number of held-out rows for recalibrating a model of [`Method::Auto`]. With fewer rows, the model keeps
/// its cross-validated calibration. The cross-validated calibration is based on fits other than the final one, because
/// the learner compares candidates on a part of the rows but fits the final model to all of them.
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
    /// The map from decision values to probabilities, fitted to held-out rows or to cross-validated values.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    calibration: Option<Calibration>,
}

/// The fitted classifier without its calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Core {
    /// An average of halfspaces of columns and of kernel features, with its own calibration.
    Table(Box<MulticlassTableModel<usize>>),
    /// One halfspace or decision list for two classes, or one per class.
    Linear {
        /// The standardisation of the columns, or `None` for sparse points, which are not standardised.
        scale: Option<ZScore>,
        fitted: Fitted,
    },
}

/// The decision values of standardised points. Only a block of points is standardised at a time.
fn scaled_values<P: PointSet + Sync>(
    scale: &ZScore,
    fitted: &Fitted,
    points: &P,
    threads: Threads,
) -> Result<Vec<Vec<f64>>, InputError> {
    const BLOCK: usize = 2048;
    InputError::check_dim(scale.input_dim(), points.dim())?;
    let of_block = |rows: Range<usize>| {
        let first = rows.start;
        let in_block = |error| match error {
            InputError::NonFinite { row, .. } | InputError::Overflow { row } => {
                InputError::Overflow { row: first + row }
            }
            other => other,
        };
        let mut scaled = zeros(rows.len(), scale.output_dim())?;
        scale.map_rows(points, rows, &mut scaled)?;
        let scaled = Points::new(scaled, scale.output_dim()).map_err(in_block)?;
        fitted.values(&scaled, Threads::ONE).map_err(in_block)
    };
    let mut values = Vec::with_capacity(points.len());
    for block in threads.map_blocks(points.len(), BLOCK, of_block) {
        values.append(&mut block?);
    }
    Ok(values)
}

/// Returns an error if all rows of a class have weight 0.
fn check_class_weights(classes: &[usize], weights: &[f64]) -> Result<(), DataError> {
    InputError::check_len(classes.len(), weights.len())?;
    let mut seen = vec![false; classes.iter().max().map_or(0, |last| last + 1)];
    let positive = classes.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
    positive.for_each(|(class, _)| seen[*class] = true);
    if seen.contains(&false) {
        return Err(DataError::user(
            "--weights: every row of a class has weight 0; give one of them a positive weight",
        ));
    }
    Ok(())
}

/// The decisions of a model for some rows, with one element for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// The predicted class.
    pub classes: Vec<usize>,
    /// The decision value. For two classes, it is positive for the second class. For more classes, it is the difference
    /// between the largest and the second largest of the classes' values.
    pub values: Vec<f64>,
    /// The probability of each class, or `None` if the model is not calibrated.
    pub probabilities: Option<Vec<Vec<f64>>>,
}

impl Model {
    /// Fits a model to points and their classes 0, 1, .., each of which must occur. The loss of each row is multiplied
    /// by its weight in `weights`, which [`Method::Auto`], [`Method::Logistic`] and [`Method::Svm`] support. The
    /// default weight is 1. The standardisation of dense columns does not depend on the weights. [`Method::Auto`]
    /// compares its candidates on `groups` to which they were not fitted, so its cross-validated error estimates the
    /// error on new groups. By default, each row is a separate group. The other learners ignore `groups`, because they
    /// do not compare candidates.
    ///
    /// # Errors
    /// Returns an error if `weights` are given to a learner that does not support them, if all rows of a class have
    /// weight 0, or if the learner cannot learn from these points. [`Method::Auto`] also returns an error if there are
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
        if let Some(weights) = weights {
            plan.check_weights("--weights")?;
            check_class_weights(classes, weights)?;
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

    /// Fits the calibration to decision values of models that were not fitted to the rows. These are the values of this
    /// model on held-out rows, or those of the models of a cross-validation. `weights` contains a weight for each row;
    /// the default weight is 1. Returns whether there were enough rows to fit the calibration. At least ten rows are
    /// needed. [`Method::Auto`] needs at least 1000; with fewer rows, it keeps its cross-validated calibration. It also
    /// keeps a calibration that was fitted to at least as many spare rows, to which the model was not fitted.
    ///
    /// # Errors
    /// Returns [`InputError`] if a class is unknown to the model or if a weight is negative or not finite.
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
        let spare = match &self.core {
            Core::Table(model) => model.report().calibrated_on(),
            Core::Linear { .. } => 0,
        };
        if values.len() < least || values.len() <= spare {
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

    /// The learner that fitted the model.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// The number of coordinates of a point.
    #[must_use]
    pub fn dim(&self) -> usize {
        match &self.core {
            Core::Table(model) => model.dim(),
            Core::Linear { fitted: Fitted::Two(model), .. } => model.dim(),
            Core::Linear { fitted: Fitted::Several(model), .. } => model.dim(),
        }
    }

    /// The number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        match &self.core {
            Core::Table(model) => model.class_count(),
            Core::Linear { fitted: Fitted::Two(_), .. } => 2,
            Core::Linear { fitted: Fitted::Several(model), .. } => model.classes(),
        }
    }

    /// The weights of the coordinates, as one vector for each class, or as a single vector for the second of two
    /// classes. A weight is the effect of changing a coordinate by one standard deviation, or by 1 if the points are
    /// sparse. Returns `None` if the model does not consist of one halfspace per vector.
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
    /// Returns [`InputError`] for a model that no fit produces.
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

    /// The decision values of every row. There is one value for two classes, and one value per class otherwise.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if the points do not have the dimension of the model; [`InputError::Overflow`]
    /// if a decision value exceeds the range of `f64`.
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
                Some(scale) => scaled_values(scale, fitted, points, threads)?,
                None => fitted.values(points, threads)?,
            },
            (Core::Linear { scale, fitted }, DesignRows::Sparse(points)) => match scale {
                Some(scale) => scaled_values(scale, fitted, points, threads)?,
                None => fitted.values(points, threads)?,
            },
        })
    }

    /// Predicts the class of every row.
    ///
    /// # Errors
    /// Returns the same errors as [`Model::values`].
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

impl Model {
    /// Creates the model of [`Method::Logistic`] from fits to points that were standardised by `scale`: one fit for two
    /// classes, positive for the second class, otherwise one fit for each class.
    pub(crate) fn of_logistic(
        scale: ZScore,
        fits: &[LogisticFit],
    ) -> Result<(Model, Findings), InputError> {
        let model = |fit: &LogisticFit| {
            let termination = Some(fit.termination());
            let halfspace = fit.halfspace().clone();
            BinaryModel::Halfspace { halfspace, noise: None, margin: None, termination }
        };
        let (fitted, findings) = match fits {
            [fit] => {
                let model = model(fit);
                let findings = model.findings();
                (Fitted::Two(model), findings)
            }
            fits => {
                let parts = fits.iter().map(|fit| (model(fit), LogOdds::SAME)).collect();
                (Fitted::Several(OneVsRestModel::of_parts(parts)?), Findings::default())
            }
        };
        let core = Core::Linear { scale: Some(scale), fitted };
        Ok((Model { method: Method::Logistic, core, calibration: None }, findings))
    }
}

/// Fits the default learner for dense points, the table classifier.
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

/// The value itself if there is only one value; otherwise the difference between the largest and the second largest
/// value.
pub(crate) fn lead(values: &[f64]) -> f64 {
    if let [value] = values {
        return *value;
    }
    let best = deciding_class(values);
    let others = values.iter().enumerate().filter(|(class, _)| *class != best);
    values[best] - others.map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
}
