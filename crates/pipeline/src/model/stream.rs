//! Learning in one pass from more rows than fit into memory.

use super::binary::{BinaryLearner, BinaryModel, unlifted};
use super::linear::{Fitted, labels_of};
use super::{Core, Model};
use crate::design::Design;
use crate::examples::Examples;
use crate::plan::{Findings, Method, Plan};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_frame::DataError;
use halfspaces_linalg::{FitStream, Label, LiftedRow, PointSet};
use halfspaces_online::{AveragedPerceptron, OnlineLearner};
use halfspaces_pac::OneVsRestModel;

/// A batch of points with their classes.
pub type Batch = (Design, Vec<usize>);

/// A stream of batches.
type Batches<'b> = &'b mut dyn Iterator<Item = Result<Batch, DataError>>;

impl Model {
    /// Whether a method learns from a stream. The others learn from a sample of the rows.
    #[must_use]
    pub fn streams(method: Method) -> bool {
        matches!(method, Method::Perceptron | Method::Massart)
    }

    /// Learns from `batches` and returns the number of rows used. Dense columns are standardised by a sample of the
    /// rows, which must contain every class.
    ///
    /// # Errors
    /// If a batch is an error, or the learner cannot learn from it.
    pub fn fit_stream(
        plan: &Plan,
        sample: &Design,
        classes: &[usize],
        batches: Batches<'_>,
    ) -> Result<(Model, Findings, u64), DataError> {
        let scale = match sample {
            Design::Dense(points) => Some(ZScore::fit(points)?),
            Design::Sparse(_) => None,
        };
        let scaled = |design: Design| -> Result<Design, DataError> {
            Ok(match (&scale, design) {
                (Some(scale), Design::Dense(points)) => {
                    Design::Dense(scale.apply_on(&points, plan.threads)?)
                }
                (_, design) => design,
            })
        };
        let count = classes.iter().max().map_or(0, |last| last + 1);
        let mut taken = 0;
        let mut batches = batches.map(|batch| {
            let (design, classes) = batch?;
            taken += design.len() as u64;
            Ok((scaled(design)?, classes))
        });
        let (fitted, findings) = if plan.method == Method::Massart {
            if count > 2 {
                return Err(DataError::user(
                    "--stream: massart learns two classes from a stream; name one by --positive, or use --learner perceptron",
                ));
            }
            super::sparse::check_massart(plan.method, sample.dim())?;
            let model = massart(plan, sample.dim(), &mut batches)?;
            if let BinaryModel::List(fit) = &model
                && fit.list().rules().is_empty()
            {
                return Err(DataError::user(format!(
                    "--stream: massart found no rule in {taken} rows, each of which it sees once; omit --stream, or use \
                     --learner perceptron"
                )));
            }
            let findings = model.findings();
            (Fitted::Two(model), findings)
        } else {
            let models = perceptrons(count, sample.dim(), &mut batches)?;
            let fitted = match scaled(sample.clone())? {
                Design::Dense(points) => joined(models, &points)?,
                Design::Sparse(points) => joined(models, &points)?,
            };
            (fitted, Findings::default())
        };
        let findings = Findings { learned_from: taken, ..findings };
        let core = Core::Linear { scale, fitted };
        Ok((Model { method: plan.method, core, calibration: None }, findings, taken))
    }
}

/// Fits the decision list for noisy labels to the examples in stream order.
fn massart(plan: &Plan, dim: usize, batches: Batches<'_>) -> Result<BinaryModel, DataError> {
    let BinaryLearner::Massart(learner) = BinaryLearner::new(plan)? else {
        unreachable!("the plan is for this learner")
    };
    let mut lifted = batches.map(|batch| {
        let (design, classes) = batch?;
        Ok((design.into_dense()?.lifted(), labels_of(&classes, 1)))
    });
    let mut examples = Examples::new(dim + 1, &mut lifted);
    let fit = learner.fit_stream(&mut examples).map_err(|e| DataError::user(e.to_string()))?;
    Ok(BinaryModel::List(Box::new(fit)))
}

/// Averaged perceptrons: one for two classes, otherwise one-vs-rest.
fn perceptrons(
    count: usize,
    dim: usize,
    batches: Batches<'_>,
) -> Result<Vec<BinaryModel>, DataError> {
    let sums = if count == 2 { 1 } else { count };
    let mut learners =
        (0..sums).map(|_| AveragedPerceptron::new(dim + 1)).collect::<Result<Vec<_>, _>>()?;
    for batch in batches {
        let (design, classes) = batch?;
        for (place, learner) in learners.iter_mut().enumerate() {
            let positive = if count == 2 { 1 } else { place };
            match &design {
                Design::Dense(points) => learn(learner, points, &classes, positive)?,
                Design::Sparse(points) => learn(learner, points, &classes, positive)?,
            }
        }
    }
    let model = |learner: &AveragedPerceptron| {
        let halfspace = unlifted(learner.average()?.normal())?;
        Ok(BinaryModel::Halfspace { halfspace, noise: None, margin: None, termination: None })
    };
    learners.iter().map(model).collect()
}

/// Learns from one pass over a batch.
fn learn<P: PointSet>(
    learner: &mut AveragedPerceptron,
    points: &P,
    classes: &[usize],
    positive: usize,
) -> Result<(), DataError> {
    for (x, class) in points.rows().zip(classes) {
        let truth = if *class == positive { Label::Positive } else { Label::Negative };
        learner.learn(LiftedRow::new(x), truth)?;
    }
    Ok(())
}

/// Combines the models into one classifier. With several classes, their values are scaled on a sample.
fn joined<P: PointSet>(mut models: Vec<BinaryModel>, sample: &P) -> Result<Fitted, DataError> {
    if models.len() == 1 {
        return Ok(Fitted::Two(models.remove(0)));
    }
    Ok(Fitted::Several(OneVsRestModel::new(models, sample)?))
}
