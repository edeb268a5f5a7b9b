//! Learns in one pass from more rows than fit into memory.

use super::binary::{BinaryLearner, BinaryModel, unlifted};
use super::linear::{Fitted, labels_of};
use super::{Core, Model};
use crate::design::Design;
use crate::examples::Examples;
use crate::plan::{Findings, Method, Plan};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_frame::DataError;
use halfspaces_linalg::{
    FitStream, Halfspace, InputError, Label, LiftedRow, PointSet, RowView, Threads,
};
use halfspaces_online::{Arow, AveragedPerceptron, OnlineLearner};

/// The parameter r of [`Arow`], as a multiple of the mean of ‖x‖² + 1. This multiple was chosen on texts and synthetic
/// sparse rows, with clean and noisy labels. The errors change little if the multiple is between 0.3 and 1.
const AROW_R: f64 = 0.5;

/// A batch of points with their classes.
pub type Batch = (Design, Vec<usize>);

/// A stream of batches.
type Batches<'b> = &'b mut dyn Iterator<Item = Result<Batch, DataError>>;

impl Model {
    /// Whether `method` learns from a stream of points in the format of `points`. The other methods learn from a sample
    /// of the rows.
    #[must_use]
    pub fn streams(method: Method, points: &Design) -> bool {
        match method {
            Method::Perceptron | Method::Massart => true,
            Method::Auto => matches!(points, Design::Sparse(_)),
            Method::Perspectron | Method::Logistic | Method::Svm => false,
        }
    }

    /// Fits a model to `batches` in one pass. Returns the model, its findings and the number of rows used. The
    /// standardisation of dense columns is computed from `sample`, a sample of the rows that must contain every class.
    ///
    /// # Errors
    /// Returns an error if a batch is an error or if the learner cannot learn from a batch.
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
                    "--stream: massart learns only two classes from a stream; pass the positive class with --positive, or use --learner perceptron",
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
            let dim = sample.dim() + 1;
            let models = if plan.method == Method::Auto {
                let learner = Arow::new(dim, AROW_R * mean_norm_sq(sample))?;
                one_pass(plan.threads, learner, count, &mut batches, Arow::halfspace)?
            } else {
                let learner = AveragedPerceptron::new(dim)?;
                one_pass(plan.threads, learner, count, &mut batches, AveragedPerceptron::average)?
            };
            let fitted = match scaled(sample.clone())? {
                Design::Dense(points) => Fitted::joined(models, &points, classes, None)?,
                Design::Sparse(points) => Fitted::joined(models, &points, classes, None)?,
            };
            (fitted, Findings::default())
        };
        let findings = Findings { learned_from: taken, ..findings };
        let core = Core::Linear { scale, fitted };
        Ok((Model { method: plan.method, core, calibration: None }, findings, taken))
    }
}

/// Fits the decision list of [`Method::Massart`] to the examples, in the order of the stream.
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

/// The mean of ‖x‖² + 1 over the rows, or 1 if there are no rows.
fn mean_norm_sq(design: &Design) -> f64 {
    let mean = |norms: f64| norms / design.len().max(1) as f64;
    1.0 + match design {
        Design::Dense(points) => mean(points.rows().map(RowView::norm_sq).sum()),
        Design::Sparse(points) => mean(points.rows().map(RowView::norm_sq).sum()),
    }
}

/// Learns in one pass over the batches with copies of `learner`. Two classes need one copy, and more classes need one
/// copy per class, which learns one-vs-rest.
fn one_pass<L: OnlineLearner + Clone + Send>(
    threads: Threads,
    learner: L,
    count: usize,
    batches: Batches<'_>,
    halfspace: impl Fn(&L) -> Result<Halfspace, InputError>,
) -> Result<Vec<BinaryModel>, DataError> {
    let mut learners = vec![learner; if count == 2 { 1 } else { count }];
    for batch in batches {
        let (design, classes) = batch?;
        let learned = threads.map_with(
            learners.iter_mut().enumerate(),
            || (),
            |(), (place, learner)| {
                let positive = if count == 2 { 1 } else { place };
                match &design {
                    Design::Dense(points) => learn(learner, points, &classes, positive),
                    Design::Sparse(points) => learn(learner, points, &classes, positive),
                }
            },
        );
        learned.into_iter().collect::<Result<(), InputError>>()?;
    }
    let model = |learner: &L| {
        let halfspace = unlifted(halfspace(learner)?.normal())?;
        Ok(BinaryModel::Halfspace { halfspace, noise: None, margin: None, termination: None })
    };
    learners.iter().map(model).collect()
}

/// Updates a learner with each row of a batch, in order.
fn learn<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    classes: &[usize],
    positive: usize,
) -> Result<(), InputError> {
    for (x, class) in points.rows().zip(classes) {
        let truth = if *class == positive { Label::Positive } else { Label::Negative };
        learner.learn(LiftedRow::new(x), truth)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Points, SparsePoints};

    /// The default learner is [`Arow`], with r equal to half the mean squared norm of the lifted rows. The default
    /// learner does not learn from streams of dense rows.
    #[test]
    fn the_default_learner_streams_sparse_rows() {
        let rows: Vec<[f64; 3]> = (0..90u32)
            .map(|i| [f64::from(i % 2), f64::from(i % 3), f64::from(u32::from(i % 5 == 0))])
            .collect();
        let dense = Points::from_rows(&rows).unwrap();
        let points = SparsePoints::from_dense(&dense).unwrap();
        let classes: Vec<usize> = (0..90).map(|i| usize::from(i % 7 < 3)).collect();
        let norms: f64 = rows.iter().flatten().map(|x| x * x).sum();
        let mut learner = Arow::new(4, 0.5 * (1.0 + norms / 90.0)).unwrap();
        for (x, class) in points.rows().zip(&classes) {
            let truth = if *class == 1 { Label::Positive } else { Label::Negative };
            learner.observe(LiftedRow::new(x), truth).unwrap();
        }
        let sample = Design::Sparse(points);
        let plan = Plan::new(Method::Auto);
        let mut batches = [Ok((sample.clone(), classes.clone()))].into_iter();
        let (model, findings, taken) =
            Model::fit_stream(&plan, &sample, &classes, &mut batches).unwrap();
        assert_eq!((findings.learned_from, taken), (90, 90));
        let Core::Linear { fitted: Fitted::Two(BinaryModel::Halfspace { halfspace, .. }), .. } =
            &model.core
        else {
            unreachable!("two classes have one halfspace")
        };
        let expected = unlifted(learner.halfspace().unwrap().normal()).unwrap();
        assert_eq!((halfspace.weights(), halfspace.bias()), (expected.weights(), expected.bias()));
        assert!(Model::streams(Method::Auto, &sample));
        assert!(!Model::streams(Method::Auto, &Design::Dense(dense)));
    }
}
