//! The Perspectron: halfspaces with a margin under Massart noise.
//!
//! The fit starts at w = 0. Every fresh example causes the update w -= λ (β sign(w·x) - y)/D(w·x) x with β = 1 - 2η. Then
//! w is projected onto the unit ball, except with [`Schedule::Paper`]. The update is in `fit/descend.rs`. Some or all iterates are candidates. The fit returns the candidate with the fewest errors on further fresh examples.
//!
//! *Guarantee.* Let ‖x‖ <= 1 and |w*·x| >= γ for a unit vector w*. Let each label be sign(w*·x), flipped with a
//! probability η(x) <= η. Then with probability at least 1 - δ, the error of the result is at most η + ε.
//!
//! | selection | training examples | candidates |
//! |---|---|---|
//! | [`Selection::AllIterates`] | ⌈lg(2/δ)⌉ runs of 16(1-η)²/(εγ)² steps | all iterates |
//! | [`Selection::Thinned`] | one run of 16(1-η)²(1+(1+γ)√(2 ln(3/δ)))²/(εγ)² steps | ((4η+2ε)/ε) ln(3/δ) |
//!
//! *Source.* CKST24 Algorithm 1, Lemmas 2 to 4, Theorem 3; [`Schedule::Paper`] has the constants as printed. The factor
//! (1-η), the denominator max(|w·x|, γ) and the thinned selection are ours; see docs/theory/perspectron-schedules.md,
//! massart-certificate.md and thinned-selection.md.
//!
//! Claims: P12p.

use super::common::{
    Common, Selection, choice_share, common_setters, fit_in_order, placement_setters, retention,
};
use crate::fit::{AverageBound, Fit, Fitting, Guarantee, Lane, Plan, Theorem};
use crate::fit::{Denominator, Direction, SignLink};

use crate::noise_setting::NoiseSetting;
use crate::schedule;
use crate::selection::Elimination;
use halfspaces_linalg::{ExampleStream, FitError, FitStream, InputError, Params, setters};

/// The constants of a [`Perspectron`]: as printed in CKST24, corrected, or ours.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{Perspectron, Schedule, Selection};
/// let steps = |schedule| -> Result<u64, halfspaces_linalg::InputError> {
///     let params = Perspectron::params(0.25, 0.5).excess(0.25).schedule(schedule);
///     Ok(params.selection(Selection::AllIterates).check()?.plan().run_length)
/// };
/// assert_eq!(steps(Schedule::Paper)?, 1024); // 16/(εγ)²
/// assert_eq!(steps(Schedule::Corrected)?, 576); // (1-η)² times as many
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Schedule {
    /// The constants as printed: D = |w·x| + γ, λ = γ/(2√T), and T = 16/(εγ)².
    Paper,
    /// The constants for D = |w·x| + γ with the bound |β sign(w·x) - y| <= 2(1-η) in place of 2.
    Corrected,
    /// The corrected constants with D = max(|w·x|, γ).
    #[default]
    Ours,
}

/// Unchecked parameters of a [`Perspectron`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{Perspectron, Schedule, Selection};
/// let params = Perspectron::params(0.2, 0.1)
///     .excess(0.05)
///     .failure(0.01)
///     .schedule(Schedule::Paper)
///     .selection(Selection::AllIterates);
/// assert_eq!(params.check()?.plan().runs, 8);
/// assert!(Perspectron::params(0.5, 0.1).check().is_err());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerspectronParams {
    setting: NoiseSetting,
    common: Common,
    schedule: Schedule,
    selection: Selection,
}

impl PerspectronParams {
    common_setters!(setting);
    placement_setters!();

    /// The constants of the fit. Default: [`Schedule::Ours`]. [`Schedule::Paper`] also turns off the projection, selects
    /// [`Selection::AllIterates`], and drops only candidates that cannot be chosen ([`Elimination::Lossless`]). To change
    /// these settings, call their setters afterwards.
    #[must_use]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        // The algorithm as printed in CKST24 does not project iterates, and compares all of them.
        self.common.project = schedule != Schedule::Paper;
        if schedule == Schedule::Paper {
            self.selection = Selection::AllIterates;
            self.common.elimination = Elimination::Lossless;
        }
        self
    }

    pub(crate) fn setting(&self) -> NoiseSetting {
        self.setting
    }

    pub(crate) fn with_setting(mut self, setting: NoiseSetting) -> Self {
        self.setting = setting;
        self
    }

    pub(crate) fn largest_margin(&self) -> f64 {
        self.common.radius
    }
}

impl Params for PerspectronParams {
    type Learner = Perspectron;
    type Error = InputError;

    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for η outside [0, 1/2), γ outside (0, R], ε or δ outside
    /// (0, 1), or a radius that is not positive and finite.
    fn check(self) -> Result<Perspectron, InputError> {
        self.common.check()?;
        self.setting.check_in_radius(self.common.radius)?;
        Ok(Perspectron(self))
    }
}

impl From<NoiseSetting> for PerspectronParams {
    fn from(setting: NoiseSetting) -> Self {
        PerspectronParams {
            setting,
            common: Common::default(),
            schedule: Schedule::default(),
            selection: Selection::default(),
        }
    }
}

/// The Perspectron, which learns a halfspace with a margin under Massart noise. Under this noise, each label may be
/// flipped with its own probability, which is at most η < 1/2.
///
/// The fit starts at w = 0. Every fresh example causes the update w -= λ (β sign(w·x) - y)/D(w·x) x with β = 1 - 2η and
/// D = max(|w·x|, γ), after which w is projected onto the unit ball. Some iterates are candidates. The fit returns the candidate with the fewest errors on further
/// fresh examples.
///
/// *Guarantee.* Let ‖x‖ <= 1 and |w*·x| >= γ for a unit vector w*. Let each label be sign(w*·x), flipped with a
/// probability η(x) <= η. Then with probability at least 1 - δ, the error of the result is at most η + ε.
///
/// *Cost.* The fit makes one pass. It takes one run of 16(1-η)²(1+(1+γ)√(2 ln(3/δ)))²/(εγ)² examples, at O(d) time
/// each. Then it takes (8/ε²) ln(6K/δ) examples, at no more than O(Kd) time each, to choose among K = ((4η+2ε)/ε)
/// ln(3/δ) candidates. The memory is O(Kd). [`Perspectron::plan`] returns these numbers. [`Selection::AllIterates`] has
/// shorter runs but keeps all iterates in memory.
///
/// *When to use it.* Use this learner if η and γ are known, for a stream or for a sample with enough examples for the
/// plan. Use [`GridPerspectron`](crate::GridPerspectron) if η is unknown, [`MarginSearch`](crate::MarginSearch) if γ is
/// unknown, and [`SamplePerspectron`](crate::SamplePerspectron) for a sample of fixed size. If the noise decreases with
/// the margin, as given by a known link function, [`GlmPerspectron`](crate::GlmPerspectron) reaches a lower error.
///
/// *Source.* CKST24 Algorithm 1, Lemmas 2 to 4, Theorem 3. The factor (1-η), the denominator and the thinned selection
/// are ours; see docs/theory/perspectron-schedules.md, massart-certificate.md and thinned-selection.md. *Claims:* P1,
/// P2, P3, P4, P4s, P8, P10, P13. The experiments of P1, P2, P4 and P4s apply this update in their own loops; P4 and P4s
/// do not project w.
///
/// ```
/// use halfspaces_linalg::{FitStream, Params};
/// use halfspaces_data::{Instance, MarginBall, Massart, Region, random_target};
/// use halfspaces_pac::Perspectron;
/// // Labels of points far from the boundary are flipped with probability 0.2, the others never.
/// let target = random_target(5, 1)?;
/// let noise = Massart::new(0.2, Region::Far(0.4))?;
/// let instance = Instance::new(MarginBall::new(&target, 0.2)?, target, noise)?;
/// let learner = Perspectron::params(0.2, 0.2).excess(0.25).failure(0.1).check()?;
/// let fit = learner.fit_stream(&mut instance.stream(2))?;
/// assert!(instance.population(5000, 3)?.error(fit.halfspace())?.mean() <= 0.2 + 0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Perspectron(PerspectronParams);

impl Perspectron {
    /// Creates parameters for labels that are flipped with a probability of at most `noise`, which is η in [0, 1/2),
    /// and for a margin of at least `margin`, which is γ in (0, R]. Here R is the radius. Defaults: ε = 0.1, δ = 0.05,
    /// R = 1.
    #[must_use]
    pub fn params(noise: f64, margin: f64) -> PerspectronParams {
        NoiseSetting::new(noise, margin).into()
    }

    /// The numbers of steps, candidates and examples of a fit.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let PerspectronParams { setting, common, schedule, selection } = self.0;
        let margin = common.placed_margin(setting.margin);
        plan(NoiseSetting { margin, ..setting }, schedule, selection)
    }

    /// Starts a fit to points in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`] if the candidates do not fit in memory.
    pub fn start(&self, dim: usize) -> Result<Fitting<SignLink>, InputError> {
        let plan = self.plan();
        let PerspectronParams { setting, common, schedule, selection } = self.0;
        let NoiseSetting { noise, excess, failure, .. } = setting;
        let retention = retention(plan, selection, common.seed)?;
        let direction = Direction {
            link: SignLink { level: 1.0 - 2.0 * noise },
            denominator: plan.denominator,
        };
        let lane = Lane::new(direction, plan.step, plan.runs, plan.run_length, retention);
        let noise = effective_noise(noise, schedule);
        let margin = common.placed_margin(setting.margin);
        let choice_failure = choice_share(failure, selection);
        let theorem = Theorem {
            guarantee: Guarantee { excess, failure },
            best_candidate: excess / 2.0,
            choice_failure,
            average: match plan.denominator {
                Denominator::Plus(_) => AverageBound::Plus { noise, margin, step: plan.step },
                Denominator::AtLeast(_) => AverageBound::AtLeast { noise, margin, step: plan.step },
            },
        };
        let settings = common.settings();
        Fitting::new(dim, vec![lane], plan.validation, settings, Some(theorem), choice_failure)
    }
}

impl FitStream for Perspectron {
    type Model = Fit;

    /// Fits a halfspace to a stream in one pass. If the stream ends early, [`Fit::termination`] is `ExamplesEnded`, and
    /// [`Fit::guarantee`] is computed for the number of examples used. To continue after a faulty example, use
    /// [`Perspectron::start`] and [`Fitting::advance`].
    fn fit_stream<S: ExampleStream>(&self, stream: &mut S) -> Result<Fit, FitError<S::Error>> {
        self.start(stream.dim())?.fit(stream)
    }
}

fit_in_order!(Perspectron: Fit);

/// Returns the η for which 1 - η is the bound on |β sign(w·x) - y|/2. The constants of CKST24 use the bound 1.
fn effective_noise(noise: f64, schedule: Schedule) -> f64 {
    if schedule == Schedule::Paper { 0.0 } else { noise }
}

fn plan(setting: NoiseSetting, schedule: Schedule, selection: Selection) -> Plan {
    let NoiseSetting { noise, margin, excess, failure } = setting;
    let bound = effective_noise(noise, schedule);
    let denominator = match schedule {
        Schedule::Paper | Schedule::Corrected => Denominator::Plus(margin),
        Schedule::Ours => Denominator::AtLeast(margin),
    };
    match selection {
        Selection::AllIterates => {
            let runs = schedule::runs(failure);
            let run_length = schedule::run_length(bound, excess, margin);
            let candidates = runs.saturating_mul(run_length);
            Plan {
                runs,
                run_length,
                step: schedule::step(bound, margin, run_length),
                denominator,
                candidates,
                validation: schedule::validation(candidates, excess, failure),
            }
        }
        Selection::Thinned => {
            let length = match denominator {
                Denominator::Plus(_) => schedule::thinned_run_length,
                Denominator::AtLeast(_) => schedule::thinned_run_length_max,
            };
            let run_length = length(bound, excess, margin, failure);
            let candidates = schedule::thinned_candidates(noise, excess, failure);
            Plan {
                runs: 1,
                run_length,
                step: schedule::step(bound, margin, run_length),
                denominator,
                candidates,
                validation: schedule::thinned_validation(candidates, excess, failure),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Stage;
    use crate::fit::descend::Iterate;
    use halfspaces_data::{
        Instance, LabelledPoints, MarginBall, Marginal, Massart, Rcn, Region, random_target,
    };
    use halfspaces_linalg::{
        Classifier, DenseRow, FitSample, Halfspace, Label, PointSet, Points, RowView, SparsePoints,
        Termination, kernels,
    };
    use proptest::prelude::*;

    fn instance(dim: usize, noise: f64, margin: f64) -> Instance<MarginBall, Rcn> {
        let target = random_target(dim, 5).unwrap();
        let ball = MarginBall::new(&target, margin).unwrap();
        Instance::new(ball, target, Rcn::new(noise).unwrap()).unwrap()
    }

    /// CKST24 Algorithm 1 as a plain loop. It collects all iterates of all runs and returns the iterate with the fewest
    /// errors.
    fn literal(plan: Plan, noise: f64, margin: f64, points: &Points, labels: &[Label]) -> Vec<f64> {
        let (dim, mut next) = (points.dim(), 0);
        let mut candidates = Vec::new();
        for _ in 0..plan.runs {
            let mut w = vec![0.0; dim];
            for _ in 0..plan.run_length {
                candidates.push(w.clone());
                let (x, y) = (points.row(next).unwrap().as_slice(), labels[next].as_f64());
                let value = kernels::dot(&w, x);
                let sign = if value >= 0.0 { 1.0 } else { -1.0 };
                let ratio = ((1.0 - 2.0 * noise) * sign - y) / (value.abs() + margin);
                let step = plan.step * ratio;
                w.iter_mut().zip(x).for_each(|(w, x)| *w -= step * x);
                next += 1;
            }
        }
        let errors = |w: &Vec<f64>| {
            let halfspace = Halfspace::new(w.clone()).unwrap();
            (next..next + plan.validation as usize)
                .filter(|&i| halfspace.label(points.row(i).unwrap()) != Ok(labels[i]))
                .count()
        };
        candidates.into_iter().min_by_key(errors).unwrap()
    }

    #[test]
    fn the_paper_schedule_is_the_printed_algorithm() {
        let (noise, margin) = (0.1, 0.5);
        let params = Perspectron::params(noise, margin).excess(0.6).failure(0.5);
        let params = params.schedule(Schedule::Paper).selection(Selection::AllIterates);
        let learner = params.check().unwrap();
        let plan = learner.plan();
        assert_eq!((plan.runs, plan.run_length, plan.candidates), (2, 178, 356));
        // The printed algorithm compares all candidates on all examples.
        assert_eq!(learner.0.common.elimination, Elimination::Lossless);
        let n = plan.examples() as usize;
        for seed in 0..4 {
            let (points, labels) = instance(4, noise, margin).sample(n, seed).unwrap();
            let fit =
                learner.fit_stream(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap();
            let literal = literal(plan, noise, margin, &points, &labels);
            assert_eq!(fit.halfspace().normal(), literal);
            assert_eq!(fit.candidates() as u64, plan.candidates);
            assert_eq!(fit.termination(), Termination::Converged);
            assert_eq!(fit.guarantee(), Some(Guarantee { excess: 0.6, failure: 0.5 }));
        }
    }

    /// Sparse rows, a different radius and an interruption do not change the fit.
    #[test]
    fn forms_agree() {
        let (noise, margin) = (0.2, 0.4);
        let params = Perspectron::params(noise, margin).excess(0.5).failure(0.4).seed(3);
        let learner = params.check().unwrap();
        let n = learner.plan().examples() as usize;
        let (points, labels) = instance(5, noise, margin).sample(n, 1).unwrap();
        let fit = learner.fit_stream(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap();

        let sparse = SparsePoints::from_dense(&points).unwrap();
        let same = learner.fit_stream(&mut LabelledPoints::new(&sparse, &labels).unwrap()).unwrap();
        assert_eq!(fit, same);

        let mut fitting = learner.start(5).unwrap();
        for (i, (x, y)) in points.rows().zip(&labels).enumerate() {
            if i % 1000 == 7 {
                fitting = fitting.clone();
            }
            fitting.observe(x, *y).unwrap();
        }
        assert_eq!(fitting.stage(), Stage::Complete);
        assert_eq!(fit, fitting.finish().unwrap());

        // The points and the margin are four times as large.
        let values = points.as_slice().iter().map(|v| 4.0 * v).collect();
        let large = Points::new(values, 5).unwrap();
        let params = Perspectron::params(noise, 4.0 * margin).excess(0.5).failure(0.4).seed(3);
        let learner = params.radius(4.0).check().unwrap();
        let scaled =
            learner.fit_stream(&mut LabelledPoints::new(&large, &labels).unwrap()).unwrap();
        assert_eq!(scaled.halfspace(), fit.halfspace());
        assert!(learner.start(5).unwrap().observe(large.row(0).unwrap(), labels[0]).is_ok());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_fit_goes_on() {
        let learner = Perspectron::params(0.2, 0.4).excess(0.5).failure(0.4).check().unwrap();
        let n = learner.plan().examples() as usize;
        let (points, labels) = instance(5, 0.2, 0.4).sample(n, 1).unwrap();
        let whole =
            learner.fit_stream(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap();
        let training = learner.plan().training() as usize;
        for cut in [0, 1, training - 1, training, training + 700, n] {
            let mut fitting = learner.start(5).unwrap();
            let mut rest = points.rows().zip(&labels);
            for (x, y) in rest.by_ref().take(cut) {
                fitting.observe(x, *y).unwrap();
            }
            let text = serde_json::to_string(&fitting).unwrap();
            let mut fitting: crate::Fitting<SignLink> = serde_json::from_str(&text).unwrap();
            for (x, y) in rest {
                fitting.observe(x, *y).unwrap();
            }
            assert_eq!(fitting.finish().unwrap(), whole, "{cut}");
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_fit_of_no_examples_is_refused() {
        let learner = Perspectron::params(0.2, 0.4).excess(0.5).failure(0.4).check().unwrap();
        let n = learner.plan().examples() as usize;
        let (points, labels) = instance(5, 0.2, 0.4).sample(n, 1).unwrap();
        let fit = learner.fit_stream(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap();
        let mut saved = serde_json::to_value(&fit).unwrap();
        *saved.pointer_mut("/origin/step").unwrap() = 0.into();
        assert!(serde_json::from_value::<crate::Fit>(saved.clone()).is_ok());
        *saved.pointer_mut("/training").unwrap() = 0.into();
        assert!(serde_json::from_value::<crate::Fit>(saved).is_err());
    }

    /// A modified file is rejected or loads without harm; it never causes a panic.
    #[cfg(feature = "serde")]
    #[test]
    fn a_broken_save_is_refused() {
        let learner = Perspectron::params(0.2, 0.4).excess(0.5).failure(0.4).check().unwrap();
        let n = learner.plan().training() as usize + 700;
        let (points, labels) = instance(5, 0.2, 0.4).sample(n, 1).unwrap();
        let mut fitting = learner.start(5).unwrap();
        for (x, y) in points.rows().zip(&labels) {
            fitting.observe(x, *y).unwrap();
        }
        let whole = serde_json::to_value(&fitting).unwrap();
        type Saved = crate::Fitting<SignLink>;
        assert!(serde_json::from_value::<Saved>(whole.clone()).is_ok());
        let layer = whole.pointer("/selector/layers/0").unwrap();
        let json = |value: &str| serde_json::from_str::<serde_json::Value>(value).unwrap();
        let breaks = [
            ("/selector/layers", serde_json::json!([layer, layer])),
            ("/selector/layers/0/examples", serde_json::json!(u64::MAX)),
            ("/selector/layers/0/depth", json("33")),
            ("/selector/layers/0/masks", json("[]")),
            ("/selector/layers/0/masks/0/0", serde_json::json!(u32::MAX)),
            ("/selector/layers/0/examples", json("0")),
            ("/selector/layers/0/depth", json("1")),
            ("/selector/stopped", json("true")),
            ("/selector/alive", json("[]")),
            ("/origins/0/lane", json("1")),
            ("/origins/0/step", json("0")),
            ("/origins/0/step", serde_json::json!(u64::MAX)),
            ("/dim", json("6")),
            ("/taken", json("1")),
            ("/training", json("0")),
            ("/longest", json("9")),
            ("/lanes", json("[]")),
            ("/origins", json("[]")),
            ("/placement/scale", json("-1.0")),
            ("/lanes/0/w/w", json("[1.0]")),
            ("/lanes/0/in_run", json("1")),
            ("/lanes/0/in_run", serde_json::json!(u64::MAX)),
            ("/lanes/0/run_length", json("0")),
            ("/lanes/0/direction/denominator/AtLeast", json("0.0")),
            ("/lanes/0/direction/link/level", json("1e300")),
            ("/lanes/0/retention/Drawn/steps", json("[5, 3]")),
            ("/lanes/0/retention/Drawn/steps", json("[]")),
            ("/lanes/0/retention/Drawn/next", json("1")),
            ("/reservoir/w", json("[]")),
            ("/reservoir/draw/step", json("0")),
            ("/reservoir/draw/next", json("0")),
            ("/reservoir/draw/draws", serde_json::json!(u64::MAX)),
            ("/theorem/guarantee/failure", json("2.0")),
            ("/theorem/choice_failure", json("0.5")),
            ("/selector/dim", json("0")),
            ("/selector/alive", json("[900]")),
            ("/selector/alive", json("[0]")),
            ("/selector/block", json("[1.0]")),
            ("/selector/errors/0", json("100000")),
            ("/selector/errors/0", json("0")),
            ("/selector/seen", serde_json::json!(u64::MAX)),
            ("/selector/failure", json("-1.0")),
        ];
        for (place, value) in breaks {
            let mut broken = whole.clone();
            *broken.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = value;
            assert!(serde_json::from_value::<Saved>(broken).is_err(), "{place}");
        }
    }

    /// Saved outcomes with inconsistent numbers are rejected, for example outcomes with more errors than examples.
    #[cfg(feature = "serde")]
    #[test]
    fn a_broken_outcome_is_refused() {
        let learner = Perspectron::params(0.2, 0.4).excess(0.5).failure(0.4).check().unwrap();
        let n = learner.plan().examples() as usize;
        let (points, labels) = instance(5, 0.2, 0.4).sample(n, 1).unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        let whole = serde_json::to_value(&fit).unwrap();
        assert_eq!(serde_json::from_value::<Fit>(whole.clone()).unwrap(), fit);
        for (place, value) in [
            ("/remaining", serde_json::json!(fit.candidates() + 1)),
            ("/remaining", serde_json::json!(0)),
            ("/candidates", serde_json::json!(0)),
            ("/errors", serde_json::json!(fit.validation() + 1)),
            ("/training", serde_json::json!(0)),
            ("/validation", serde_json::json!(0)),
            ("/origin/step", serde_json::json!(fit.training() + 1)),
            ("/termination", serde_json::json!("Stalled")),
            ("/termination", serde_json::json!({"CapReached": {"cap": 7}})),
            ("/guarantee/failure", serde_json::json!(1.5)),
            ("/guarantee/excess", serde_json::json!(-0.5)),
            ("/placement/scale", serde_json::json!(0.0)),
        ] {
            let mut broken = whole.clone();
            *broken.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = value.clone();
            assert!(serde_json::from_value::<Fit>(broken).is_err(), "{place}: {value}");
        }
    }

    #[test]
    fn lifting_finds_a_bias() {
        // Labels are positive where the first coordinate exceeds 0.3, within the ball of radius 2.
        let points = MarginBall::new(&random_target(3, 1).unwrap(), 0.01).unwrap();
        let points = points.sample(20_000, 3).unwrap();
        let values: Vec<f64> = points.as_slice().iter().map(|v| 2.0 * v).collect();
        let points = Points::new(values, 3).unwrap();
        let far: Vec<usize> = (0..points.len())
            .filter(|&i| (points.row(i).unwrap().as_slice()[0] - 0.6).abs() >= 0.5)
            .collect();
        let points = points.select(&far).unwrap();
        let labels: Vec<Label> =
            points.rows().map(|x| Label::from_sign(x.as_slice()[0] - 0.6)).collect();
        let params = Perspectron::params(0.0, 0.5).radius(2.0).lift(true).excess(0.4);
        let learner = params.check().unwrap();
        assert_eq!(learner.plan().denominator, Denominator::AtLeast(0.125));
        let fit = learner.fit_stream(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap();
        let wrong = points.rows().zip(&labels).filter(|(x, y)| fit.label(*x) != Ok(**y)).count();
        assert!(wrong * 20 < labels.len(), "{wrong} of {}", labels.len());
        let affine = fit.affine().unwrap();
        for x in points.rows() {
            let value = fit.decision_value(x).unwrap();
            let same = affine.decision_value(x).unwrap() / 2.0 / 2f64.sqrt();
            assert!((value - same).abs() < 1e-12);
        }
    }

    #[test]
    fn a_stream_that_ends_early_says_what_holds() {
        let learner = Perspectron::params(0.2, 0.4).excess(0.4).failure(0.1).check().unwrap();
        let plan = learner.plan();
        let training = plan.training() as usize;
        let instance = instance(5, 0.2, 0.4);
        let fit_of = |n: usize| {
            let (points, labels) = instance.sample(n, 1).unwrap();
            learner.fit_stream(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap()
        };
        let fit = fit_of(training / 2);
        assert_eq!(fit.termination(), Termination::ExamplesEnded);
        assert_eq!((fit.training() as usize, fit.validation()), (training / 2, 0));
        assert_eq!(fit.guarantee(), None);
        let average = fit.average_guarantee().unwrap();
        assert_eq!(average.failure, 0.1);
        // The fit took half of the examples that an average excess of 0.1 needs.
        assert!((0.1..0.2).contains(&average.excess), "{average:?}");
        let fit = fit_of(training + 300);
        assert_eq!(fit.termination(), Termination::ExamplesEnded);
        assert_eq!((fit.validation(), fit.average_guarantee()), (300, None));
        let guarantee = fit.guarantee().unwrap();
        assert_eq!(guarantee.failure, 0.1);
        assert!(guarantee.excess > 0.4 && guarantee.excess < 0.7, "{guarantee:?}");
        let one = fit_of(1);
        assert_eq!(one.halfspace().normal(), [0.0; 5]);
        assert_eq!((one.termination(), one.training()), (Termination::ExamplesEnded, 1));
    }

    /// If training ends early, the returned iterate is uniformly distributed among the iterates so far.
    #[test]
    fn the_reservoir_is_uniform() {
        let mut counts = [0u32; 4];
        for seed in 0..4000 {
            let params = Perspectron::params(0.2, 0.4).seed(seed);
            let mut fitting = params.check().unwrap().start(1).unwrap();
            for _ in 0..4 {
                fitting.observe(DenseRow::new(&[0.5]).unwrap(), Label::Positive).unwrap();
            }
            counts[fitting.finish().unwrap().origin().step as usize] += 1;
        }
        assert!(counts.iter().all(|c| (850..1150).contains(c)), "{counts:?}");
    }

    /// Under Massart noise, errors exceed η + ε far less often than the stated probability allows.
    #[test]
    fn the_error_is_as_guaranteed() {
        let target = random_target(6, 2).unwrap();
        let noise = Massart::new(0.25, Region::Far(0.5)).unwrap();
        let ball = MarginBall::new(&target, 0.25).unwrap();
        let instance = Instance::new(ball, target, noise).unwrap();
        let population = instance.population(4000, 9).unwrap();
        for schedule in [Schedule::Paper, Schedule::Corrected, Schedule::Ours] {
            let params = Perspectron::params(0.25, 0.25).excess(0.2).failure(0.1);
            let learner = params.schedule(schedule).check().unwrap();
            let fit = learner.fit_stream(&mut instance.stream(3)).unwrap();
            let error = population.error(fit.halfspace()).unwrap().mean();
            assert!(error <= 0.45, "{schedule:?}: {error}");
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let bad = [
            (Perspectron::params(0.5, 0.1), "noise", 0.5),
            (Perspectron::params(-0.1, 0.1), "noise", -0.1),
            (Perspectron::params(f64::NAN, 0.1), "noise", f64::NAN),
            (Perspectron::params(0.1, 0.0), "margin", 0.0),
            (Perspectron::params(0.1, 1.1), "margin", 1.1),
            (Perspectron::params(0.1, f64::NAN), "margin", f64::NAN),
            (Perspectron::params(0.1, 0.1).excess(0.0), "excess", 0.0),
            (Perspectron::params(0.1, 0.1).excess(1.0), "excess", 1.0),
            (Perspectron::params(0.1, 0.1).failure(0.0), "failure", 0.0),
            (Perspectron::params(0.1, 0.1).radius(0.0), "radius", 0.0),
            (Perspectron::params(0.1, 0.1).radius(f64::INFINITY), "radius", f64::INFINITY),
        ];
        for (params, expected, bad) in bad {
            let Err(InputError::ParameterOutOfRange { name, value, .. }) = params.check() else {
                panic!("{expected} = {bad} is accepted")
            };
            assert_eq!((name, value.to_bits()), (expected, bad.to_bits()));
        }
        let learner = Perspectron::params(0.1, 0.1).check().unwrap();
        assert_eq!(learner.start(0), Err(InputError::ZeroDimension));
        let mut fitting = learner.start(2).unwrap();
        let far = DenseRow::new(&[1.0, 0.1]).unwrap();
        let error = fitting.observe(far, Label::Positive).unwrap_err();
        assert_eq!(error, InputError::OutsideBall { row: 0, norm: 1.01f64.sqrt() });
        let wide = DenseRow::new(&[0.1, 0.1, 0.1]).unwrap();
        assert!(fitting.observe(wide, Label::Positive).is_err());
        assert_eq!(fitting.stage(), Stage::Training { taken: 0, total: learner.plan().training() });
        assert_eq!(fitting.finish(), Err(InputError::Empty));
        // There are more candidates than fit in memory.
        let fine = Perspectron::params(0.2, 0.1).excess(1e-300).check().unwrap();
        assert!(matches!(fine.start(3), Err(InputError::TooLarge { .. })));
        // The candidates are all iterates of a run of 10^15 steps.
        let tiny = Perspectron::params(0.1, 1e-7).selection(Selection::AllIterates);
        let error = tiny.check().unwrap().start(3).unwrap_err();
        assert!(matches!(error, InputError::TooLarge { .. }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        /// A projection never increases the distance to w*, and no step leaves the unit ball.
        #[test]
        fn projected_iterates_stay_in_the_ball(seed in 0u64..1000, noise in 0.0..0.45f64) {
            let target = random_target(3, seed).unwrap();
            let ball = MarginBall::new(&target, 0.3).unwrap();
            let instance =
                Instance::new(ball, target.clone(), Rcn::new(noise).unwrap()).unwrap();
            let (points, labels) = instance.sample(200, seed).unwrap();
            let direction = Direction {
                link: SignLink { level: 1.0 - 2.0 * noise },
                denominator: Denominator::AtLeast(0.3),
            };
            let mut held = Iterate::zero(3).unwrap();
            let far = |w: &[f64]| -> f64 {
                w.iter().zip(target.normal()).map(|(a, b)| (a - b).powi(2)).sum()
            };
            for (x, y) in points.rows().zip(&labels) {
                let norm_sq = x.norm_sq();
                let mut free = held.clone();
                free.descend_along(&direction, 0.5, false, (x, norm_sq), *y);
                held.descend_along(&direction, 0.5, true, (x, norm_sq), *y);
                prop_assert!(kernels::norm_sq(held.as_slice()) <= 1.0 + 1e-12);
                prop_assert!(far(held.as_slice()) <= far(free.as_slice()) + 1e-12);
            }
        }
    }

    /// With λ = 1/64 and the constants of CKST24, which use η = 0, the bound is 1/(4λt) + λ/γ² + √(2 ln(1/δ)/t)/γ =
    /// 1/4 + 1/16 + 1/2 at t = 64 and δ = e⁻².
    #[test]
    fn a_printed_fit_cut_short_is_judged_by_its_own_step() {
        let params = Perspectron::params(0.25, 0.5).excess(0.5).failure((-2f64).exp());
        let params = params.schedule(Schedule::Paper).selection(Selection::AllIterates);
        let learner = params.check().unwrap();
        assert_eq!((learner.plan().run_length, learner.plan().step), (256, 1.0 / 64.0));
        let points = Points::from_rows(&[[0.9]; 64]).unwrap();
        let fit = learner.fit(&points, &[Label::Positive; 64]).unwrap();
        let excess = fit.average_guarantee().unwrap().excess;
        assert!((excess - 0.8125).abs() < 1e-12, "{excess}");
    }
}
