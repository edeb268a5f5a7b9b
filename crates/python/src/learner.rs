//! The learners that fit a model to a sample, specified by name and parameters.

use crate::binary::Binary;
use crate::error::Fault;
use halfspaces_linalg::{
    AffineHalfspace, FitSample, Halfspace, InputError, Label, Params, PointSet, Threads,
};
use halfspaces_online::MarginPerceptron;
use halfspaces_pac::{
    Ckmy, Ddk, DescentFit, Dgt, LinearSvm, LogisticRegression, Margin, PositionedMassart,
    PositionedSchedule, SamplePerspectron,
};
use serde::Deserialize;
use std::f64::consts::FRAC_1_SQRT_2;

/// A learner and its parameters, with the names of the Python classes.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "learner", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Spec {
    /// The default classifier.
    Auto { held_out: f64, seed: u64 },
    /// The Perspectron for a sample.
    Perspectron {
        noise_rate: Option<f64>,
        margin: Option<f64>,
        passes: u64,
        candidates: u64,
        held_out: f64,
        fit_intercept: bool,
        seed: u64,
    },
    /// The decision list in radially isotropic position.
    Massart {
        noise_rate: f64,
        excess: f64,
        failure: f64,
        schedule: String,
        held_out: f64,
        fit_intercept: bool,
        seed: u64,
    },
    /// A linear support vector machine.
    Svm { c: f64, squared: bool, fit_intercept: bool, tol: f64, max_iter: u64, seed: u64 },
    /// Logistic regression.
    Logistic { c: f64, fit_intercept: bool, tol: f64, max_iter: u64 },
    /// The margin perceptron.
    Margin { max_iter: u64, fit_intercept: bool },
    /// DGT19.
    Dgt(Baseline),
    /// CKMY20.
    Ckmy(Baseline),
    /// DDK+23.
    Ddk(Baseline),
}

/// The parameters of the baseline learners.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    noise_rate: f64,
    margin: f64,
    excess: f64,
    max_steps: u64,
    fit_intercept: bool,
    seed: u64,
}

/// A learner for two classes, with its number of threads.
#[derive(Debug, Clone)]
pub(crate) struct Learner {
    pub(crate) spec: Spec,
    /// One weight for each row. Only the support vector machine and logistic regression support weights.
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) threads: Threads,
}

impl FitSample for Learner {
    type Model = Binary;
    type Error = Fault;

    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Binary, Fault> {
        let threads = self.threads;
        Ok(match &self.spec {
            Spec::Auto { .. } => unreachable!("the default classifier is not a binary learner"),
            Spec::Perspectron {
                noise_rate,
                margin,
                passes,
                candidates,
                held_out,
                fit_intercept,
                seed,
            } => {
                let params = SamplePerspectron::params().passes(*passes).candidates(*candidates);
                let params =
                    params.held_out(*held_out).lift(*fit_intercept).threads(threads).seed(*seed);
                let params = noise_rate.map_or(params, |noise| params.noise(noise));
                let params = margin.map_or(params, |margin| params.margin(Margin::Known(margin)));
                Binary::Perspectron(params.fit(points, labels)?)
            }
            Spec::Massart {
                noise_rate,
                excess,
                failure,
                schedule,
                held_out,
                fit_intercept,
                seed,
            } => {
                let schedule = match schedule.as_str() {
                    "practical" => PositionedSchedule::Practical,
                    "theorem" => PositionedSchedule::Theorem,
                    other => {
                        return Err(Fault::new(format!(
                            "schedule={other:?}: must be 'practical' or 'theorem'"
                        )));
                    }
                };
                let params =
                    PositionedMassart::params(*noise_rate).excess(*excess).failure(*failure);
                let params =
                    params.schedule(schedule).held_out(*held_out).seed(*seed).threads(threads);
                let learner = params.check()?;
                let fit = match fit_intercept {
                    true => learner.fit(&points.lifted(), labels),
                    false => learner.fit(points, labels),
                };
                let fit = Box::new(fit.map_err(Fault::new)?);
                Binary::Massart { fit, lifted: *fit_intercept }
            }
            Spec::Svm { c, squared, fit_intercept, tol, max_iter, seed } => {
                let params = LinearSvm::params().c(*c).squared(*squared).intercept(*fit_intercept);
                let params =
                    params.tolerance(*tol).max_passes(*max_iter).threads(threads).seed(*seed);
                let learner = params.check()?;
                let fit = learner.fit_with(points, labels, self.weights.as_deref(), None)?;
                Binary::halfspace(fit.halfspace(), fit.passes(), fit.termination())
            }
            Spec::Logistic { c, fit_intercept, tol, max_iter } => {
                let params = LogisticRegression::params().c(*c).intercept(*fit_intercept);
                let params = params.tolerance(*tol).max_steps(*max_iter).threads(threads);
                let learner = params.check()?;
                Binary::Logistic(learner.fit_weighted(points, labels, self.weights.as_deref())?)
            }
            Spec::Margin { max_iter, fit_intercept } => {
                let learner = MarginPerceptron::params().max_updates(*max_iter);
                let (fit, radius) = in_unit_ball(&learner, points, labels, *fit_intercept)?;
                let halfspace = placed_back(fit.halfspace(), radius, *fit_intercept)?;
                Binary::halfspace(&halfspace, fit.updates(), fit.termination())
            }
            Spec::Dgt(of) => {
                let params = Dgt::params(of.noise_rate, of.margin).excess(of.excess);
                let params = params.max_steps(of.max_steps).seed(of.seed);
                let (fit, radius) = in_unit_ball(&params, points, labels, of.fit_intercept)?;
                Binary::list(&fit, radius, of.fit_intercept)
            }
            Spec::Ckmy(of) => {
                let params = Ckmy::params(of.noise_rate, of.margin).excess(of.excess);
                let params = params.max_steps(of.max_steps).seed(of.seed);
                let (fit, radius) = in_unit_ball(&params, points, labels, of.fit_intercept)?;
                descended(&fit, radius, of.fit_intercept)?
            }
            Spec::Ddk(of) => {
                let params = Ddk::params(of.noise_rate, of.margin).excess(of.excess);
                let params = params.max_steps(of.max_steps).seed(of.seed);
                let (fit, radius) = in_unit_ball(&params, points, labels, of.fit_intercept)?;
                descended(&fit, radius, of.fit_intercept)?
            }
        })
    }
}

/// Fits a model to the points divided by their largest norm, with a constant coordinate if there is an intercept. Also
/// returns that norm.
fn in_unit_ball<L: FitSample, P: PointSet>(
    learner: &L,
    points: &P,
    labels: &[Label],
    lift: bool,
) -> Result<(L::Model, f64), Fault>
where
    L::Error: std::fmt::Display,
{
    let every: Vec<usize> = (0..points.len()).collect();
    let (points, radius) = match points.max_norm() > 0.0 {
        true => points.select(&every)?.rescaled_to_unit_ball()?,
        false => (points.select(&every)?, 1.0),
    };
    let points = if lift { points.lifted() } else { points };
    Ok((learner.fit(&points, labels).map_err(Fault::new)?, radius))
}

/// The halfspace for the original points.
fn placed_back(
    inside: &Halfspace,
    radius: f64,
    lifted: bool,
) -> Result<AffineHalfspace, InputError> {
    let w = inside.normal();
    if !lifted {
        return AffineHalfspace::new(w.iter().map(|v| v / radius).collect(), 0.0);
    }
    let Some((bias, weights)) = w.split_last() else { unreachable!("points have coordinates") };
    let weights = weights.iter().map(|v| v * FRAC_1_SQRT_2 / radius).collect();
    AffineHalfspace::new(weights, bias * FRAC_1_SQRT_2)
}

fn descended(fit: &DescentFit, radius: f64, lifted: bool) -> Result<Binary, Fault> {
    let halfspace = placed_back(fit.halfspace(), radius, lifted)?;
    Ok(Binary::halfspace(&halfspace, fit.steps(), fit.termination()))
}
