//! One binary model for two classes, or one-vs-rest models.

use super::binary::{BinaryLearner, BinaryModel};
use crate::plan::Findings;
use halfspaces_frame::DataError;
use halfspaces_linalg::{ClassModel, FitSample, InputError, Label, PointSet, Threads};
use halfspaces_pac::{OneVsRest, OneVsRestModel};
use serde::{Deserialize, Serialize};

/// One binary model for two classes; otherwise one-vs-rest models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Fitted {
    Two(BinaryModel),
    Several(OneVsRestModel<BinaryModel>),
}

impl Fitted {
    /// One model of two classes, otherwise one model for each class; the points have these classes and weights.
    pub(super) fn joined<P: PointSet>(
        mut models: Vec<BinaryModel>,
        points: &P,
        classes: &[usize],
        weights: Option<&[f64]>,
    ) -> Result<Fitted, InputError> {
        Ok(match models.len() {
            1 => Fitted::Two(models.remove(0)),
            _ => Fitted::Several(OneVsRestModel::new(models, points, classes, weights)?),
        })
    }

    pub(super) fn values<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Vec<Vec<f64>>, InputError> {
        match self {
            Fitted::Two(model) => model.class_values_all(points, threads),
            Fitted::Several(model) => model.class_values_all(points, threads),
        }
    }
}

/// Fits one binary model for two classes; otherwise one-vs-rest models.
pub(super) fn fitted<P: PointSet>(
    learner: BinaryLearner,
    points: &P,
    classes: &[usize],
    threads: Threads,
) -> Result<(Fitted, Findings), DataError> {
    let count = classes.iter().max().map_or(0, |last| last + 1);
    if count == 2 {
        let model = learner.fit(points, &labels_of(classes, 1))?;
        let findings = model.findings();
        return Ok((Fitted::Two(model), findings));
    }
    let learner = match learner.gives_log_odds() {
        true => OneVsRest::of_log_odds(learner),
        false => OneVsRest::new(learner),
    };
    let model = learner.fit(points, classes, threads);
    let model = model.map_err(|e| DataError::user(e.to_string()))?;
    Ok((Fitted::Several(model), Findings::default()))
}

/// The labels of points: positive for one class, negative for all others.
pub(crate) fn labels_of(classes: &[usize], positive: usize) -> Vec<Label> {
    let sign = |c: &usize| if *c == positive { Label::Positive } else { Label::Negative };
    classes.iter().map(sign).collect()
}
