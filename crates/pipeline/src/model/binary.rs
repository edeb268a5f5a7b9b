//! The learners for two classes, and the models that they fit.

use crate::plan::{Findings, Method, Plan};
use crate::streams;
use halfspaces_frame::DataError;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{
    AffineHalfspace, Classifier, FitSample, InputError, Label, LiftedRow, Params, PointSet,
    RowView, Termination, rng_for,
};
use halfspaces_online::{AveragedPerceptron, OnlineLearner};
use halfspaces_pac::{
    LinearSvm, LogisticRegression, PositionedFit, PositionedMassart, SamplePerspectron, SvmFit,
};
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_1_SQRT_2;

/// The number of passes that the perceptron and the Perspectron make over the rows.
const PASSES: u64 = 10;
/// The default noise rate η.
const DEFAULT_NOISE: f64 = 0.25;
/// The excess error ε of the massart learner, which does not need a margin. The value of ε is reduced if η + ε/2 would
/// exceed 1/2.
const EXCESS: f64 = 0.1;

/// A learner for two classes.
#[derive(Debug, Clone, Copy)]
pub(super) enum BinaryLearner {
    Massart(PositionedMassart),
    Perspectron(SamplePerspectron),
    Perceptron { seed: u64 },
    Logistic(LogisticRegression),
    Svm(LinearSvm),
}

/// A learner for two classes, combined with weights for the rows. Only logistic regression and the support vector
/// machine support weights. If `weights` is `None`, every row has weight 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighted<'a> {
    pub(super) learner: BinaryLearner,
    pub(super) weights: Option<&'a [f64]>,
}

/// A fitted model for two classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BinaryModel {
    /// A halfspace, with the noise rate, the margin and the termination if the learner reports them.
    Halfspace {
        halfspace: AffineHalfspace,
        noise: Option<f64>,
        margin: Option<f64>,
        termination: Option<Termination>,
    },
    /// A decision list of halfspaces in radially isotropic position. The list applies to points that are extended by a
    /// constant coordinate 1.
    List(Box<PositionedFit>),
}

impl BinaryLearner {
    /// Whether the decision values of the models that this learner fits are log odds.
    pub(super) fn gives_log_odds(&self) -> bool {
        matches!(self, BinaryLearner::Logistic(_))
    }

    /// Creates the learner of a plan, with the default accuracy.
    pub(super) fn new(plan: &Plan) -> Result<BinaryLearner, DataError> {
        BinaryLearner::build(plan, None)
    }

    /// Creates the learner of a plan. If the learner minimises a loss, it approximates the optimum with relative
    /// accuracy `tolerance`.
    pub(super) fn with_tolerance(plan: &Plan, tolerance: f64) -> Result<BinaryLearner, DataError> {
        BinaryLearner::build(plan, Some(tolerance))
    }

    fn build(plan: &Plan, tolerance: Option<f64>) -> Result<BinaryLearner, DataError> {
        let c = plan.c.unwrap_or(1.0);
        Ok(match plan.method {
            Method::Auto => unreachable!("auto is not a binary learner"),
            Method::Massart => {
                let noise = plan.noise.unwrap_or(DEFAULT_NOISE);
                let params = PositionedMassart::params(noise).excess(EXCESS.min(1.0 - 2.0 * noise));
                BinaryLearner::Massart(
                    params.held_out(0.0).seed(plan.seed).threads(plan.threads).check()?,
                )
            }
            Method::Perspectron => {
                let params = SamplePerspectron::params().passes(PASSES).seed(plan.seed);
                let params = params.threads(plan.threads);
                let params = plan.noise.map_or(params, |noise| params.noise(noise));
                BinaryLearner::Perspectron(params.check()?)
            }
            Method::Perceptron => BinaryLearner::Perceptron { seed: plan.seed },
            Method::Logistic => {
                let params = LogisticRegression::params().c(c).threads(plan.threads);
                let params = tolerance.map_or(params, |tolerance| params.tolerance(tolerance));
                BinaryLearner::Logistic(params.check()?)
            }
            Method::Svm => {
                let params = LinearSvm::params().c(c).threads(plan.threads).seed(plan.seed);
                let params = tolerance.map_or(params, |tolerance| params.tolerance(tolerance));
                BinaryLearner::Svm(params.check()?)
            }
        })
    }
}

impl FitSample for Weighted<'_> {
    type Model = BinaryModel;
    type Error = DataError;

    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<BinaryModel, DataError> {
        let halfspace = |halfspace: &AffineHalfspace, termination| BinaryModel::Halfspace {
            halfspace: halfspace.clone(),
            noise: None,
            margin: None,
            termination,
        };
        Ok(match &self.learner {
            BinaryLearner::Massart(learner) => {
                let fit = learner.fit(&points.lifted(), labels);
                let fit = fit.map_err(|error| DataError::user(error.to_string()))?;
                BinaryModel::List(Box::new(fit))
            }
            BinaryLearner::Perspectron(learner) => {
                let fit = learner.fit(points, labels)?;
                BinaryModel::Halfspace {
                    halfspace: fit.halfspace().clone(),
                    noise: Some(fit.noise()),
                    margin: Some(fit.margin()),
                    termination: None,
                }
            }
            BinaryLearner::Perceptron { seed } => {
                halfspace(&averaged_perceptron(points, labels, *seed)?, None)
            }
            BinaryLearner::Logistic(learner) => {
                let fit = learner.fit_weighted(points, labels, self.weights)?;
                halfspace(fit.halfspace(), Some(fit.termination()))
            }
            BinaryLearner::Svm(learner) => {
                BinaryModel::of_svm(&learner.fit_with(points, labels, self.weights, None)?)
            }
        })
    }
}

/// Fits the averaged perceptron to the points, extended by a constant coordinate. Every pass visits the points in the
/// same random order.
fn averaged_perceptron<P: PointSet>(
    points: &P,
    labels: &[Label],
    seed: u64,
) -> Result<AffineHalfspace, DataError> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.shuffle(&mut rng_for(streams::PASSES, seed));
    let mut learner = AveragedPerceptron::new(points.dim() + 1)?;
    for _ in 0..PASSES {
        for &i in &order {
            let Some(x) = points.row(i) else { unreachable!("the order contains row numbers") };
            learner.learn(LiftedRow::new(x), labels[i])?;
        }
    }
    unlifted(learner.average()?.normal())
}

/// Converts the weights of a halfspace of (x, 1)/√2 to an affine halfspace of x.
pub(super) fn unlifted(w: &[f64]) -> Result<AffineHalfspace, DataError> {
    let Some((bias, weights)) = w.split_last() else { unreachable!("points have coordinates") };
    let weights = weights.iter().map(|v| v * FRAC_1_SQRT_2).collect();
    Ok(AffineHalfspace::new(weights, bias * FRAC_1_SQRT_2)?)
}

impl BinaryModel {
    /// Creates the model from the halfspace of a fitted support vector machine.
    pub(super) fn of_svm(fit: &SvmFit) -> BinaryModel {
        let termination = Some(fit.termination());
        let halfspace = fit.halfspace().clone();
        BinaryModel::Halfspace { halfspace, noise: None, margin: None, termination }
    }

    /// The halfspace, or `None` if the model is a decision list.
    pub(super) fn halfspace(&self) -> Option<&AffineHalfspace> {
        match self {
            BinaryModel::Halfspace { halfspace, .. } => Some(halfspace),
            BinaryModel::List(_) => None,
        }
    }

    /// The estimates and the termination that the fit reported.
    pub(super) fn findings(&self) -> Findings {
        match self {
            BinaryModel::Halfspace { noise, margin, termination, .. } => Findings {
                noise: *noise,
                margin: *margin,
                ended: termination.filter(|t| !t.is_converged()).map(|t| t.to_string()),
                ..Findings::default()
            },
            BinaryModel::List(fit) => {
                let rules = fit.list().rules().len();
                let ended = fit.termination();
                let unit = if rules == 1 { "rule" } else { "rules" };
                Findings { ended: Some(format!("{rules} {unit}, {ended}")), ..Findings::default() }
            }
        }
    }
}

impl Classifier for BinaryModel {
    fn dim(&self) -> usize {
        match self {
            BinaryModel::Halfspace { halfspace, .. } => halfspace.dim(),
            BinaryModel::List(fit) => fit.dim() - 1,
        }
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        match self {
            BinaryModel::Halfspace { halfspace, .. } => halfspace.decision_value(x),
            BinaryModel::List(fit) => {
                InputError::check_dim(self.dim(), x.dim())?;
                fit.decision_value(LiftedRow::new(x))
            }
        }
    }
}
