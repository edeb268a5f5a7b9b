//! Learning from more rows than memory holds, a batch at a time, each seen once.

use super::binary::{BinaryLearner, BinaryModel, unlifted};
use super::learned::{Fitted, Learned, Standardised};
use super::plan::{Findings, Method, Plan};
use crate::error::CliError;
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::{DenseRow, ExampleStream, FitSample, FitStream, Label, PointSet, Points};
use halfspaces_online::{AveragedPerceptron, OnlineLearner};
use halfspaces_pac::OneVsRest;

/// Points and their classes.
pub(crate) type Batch = (Points, Vec<usize>);

/// Batches one after the other.
pub(crate) type Batches<'b> = &'b mut dyn Iterator<Item = Result<Batch, CliError>>;

impl Learned {
    /// Whether a method learns from a stream; the others learn from a sample of its rows.
    pub(crate) fn streams(method: Method) -> bool {
        matches!(method, Method::Perceptron | Method::Massart)
    }

    /// Learns from `batches`. The columns are standardised by a sample of the rows, in which every class occurs. With the number of
    /// rows learned from.
    pub(crate) fn fit_stream(
        plan: &Plan,
        sample: &Points,
        classes: &[usize],
        batches: Batches<'_>,
    ) -> Result<(Learned, Findings, u64), CliError> {
        let scale = ZScore::fit(sample)?;
        let count = classes.iter().max().map_or(0, |last| last + 1);
        let mut taken = 0;
        let mut scaled = batches.map(|batch| {
            let (points, classes) = batch?;
            taken += points.len() as u64;
            Ok((scale.apply_on(&points, plan.threads)?.lifted(), classes))
        });
        let (model, findings) = if plan.method == Method::Massart {
            if count > 2 {
                return Err(CliError::user(
                    "--stream: massart learns two classes from a stream; name one by --positive, or use --learner perceptron",
                ));
            }
            let BinaryLearner::Massart(learner) = BinaryLearner::new(plan)? else {
                unreachable!("the plan is for this learner")
            };
            let mut examples =
                Examples { batches: &mut scaled, batch: None, at: 0, dim: sample.dim() + 1 };
            let fit =
                learner.fit_stream(&mut examples).map_err(|e| CliError::user(e.to_string()))?;
            if fit.list().rules().is_empty() {
                return Err(CliError::user(format!(
                    "--stream: massart found no rule in {taken} rows, of which it sees each once; leave --stream out, or use \
                     --learner perceptron"
                )));
            }
            let model = BinaryModel::List(Box::new(fit));
            let findings = model.findings();
            (Fitted::Two(model), findings)
        } else {
            let models = perceptrons(count, sample.dim() + 1, &mut scaled)?;
            (
                joined(models, &scale.apply_on(sample, plan.threads)?, classes, plan)?,
                Findings::default(),
            )
        };
        let learned = Standardised { by: plan.method, scale, model, scaling: None };
        Ok((Learned::Standardised(Box::new(learned)), findings, taken))
    }
}

/// Averaged perceptrons, one for two classes, else one per class against the rest.
fn perceptrons(
    count: usize,
    dim: usize,
    batches: Batches<'_>,
) -> Result<Vec<BinaryModel>, CliError> {
    let sums = if count == 2 { 1 } else { count };
    let mut learners =
        (0..sums).map(|_| AveragedPerceptron::new(dim)).collect::<Result<Vec<_>, _>>()?;
    for batch in batches {
        let (points, classes) = batch?;
        for (place, learner) in learners.iter_mut().enumerate() {
            let positive = if count == 2 { 1 } else { place };
            for (x, class) in points.rows().zip(&classes) {
                let truth = if *class == positive { Label::Positive } else { Label::Negative };
                learner.learn(x, truth)?;
            }
        }
    }
    let model = |learner: &AveragedPerceptron| {
        let halfspace = unlifted(learner.average()?.normal())?;
        Ok(BinaryModel::Halfspace { halfspace, noise: None, margin: None, termination: None })
    };
    learners.iter().map(model).collect()
}

/// The models as one classifier; values of several are measured on a sample.
fn joined(
    mut models: Vec<BinaryModel>,
    sample: &Points,
    classes: &[usize],
    plan: &Plan,
) -> Result<Fitted, CliError> {
    if models.len() == 1 {
        return Ok(Fitted::Two(models.remove(0)));
    }
    let learned = LearnedBefore { models, classes: classes.to_vec() };
    let model = OneVsRest::new(learned).fit(sample, classes, plan.threads);
    Ok(Fitted::Several(model.map_err(|e| CliError::user(e.to_string()))?))
}

/// Hands out models that were learned before: of the class whose first point is the first positive one.
struct LearnedBefore {
    models: Vec<BinaryModel>,
    classes: Vec<usize>,
}

impl FitSample for LearnedBefore {
    type Model = BinaryModel;
    type Error = CliError;

    fn fit<P: PointSet>(&self, _: &P, labels: &[Label]) -> Result<BinaryModel, CliError> {
        let first = labels.iter().position(|y| *y == Label::Positive);
        let Some(first) = first else { unreachable!("every class has a point in the sample") };
        Ok(self.models[self.classes[first]].clone())
    }
}

/// The rows of batches, one at a time.
struct Examples<'b> {
    batches: Batches<'b>,
    batch: Option<Batch>,
    at: usize,
    dim: usize,
}

impl ExampleStream for Examples<'_> {
    type Row<'a>
        = DenseRow<'a>
    where
        Self: 'a;
    type Error = CliError;

    fn dim(&self) -> usize {
        self.dim
    }

    fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, CliError> {
        while self.batch.as_ref().is_none_or(|(points, _)| self.at == points.len()) {
            match self.batches.next() {
                None => return Ok(None),
                Some(batch) => (self.batch, self.at) = (Some(batch?), 0),
            }
        }
        let Some((points, classes)) = &self.batch else { unreachable!("there is a row left") };
        let row = self.at;
        self.at += 1;
        let Some(x) = points.row(row) else { unreachable!("there is a row left") };
        Ok(Some((x, if classes[row] == 1 { Label::Positive } else { Label::Negative })))
    }
}
