//! The GLM Perspectron, for noise whose rate decreases with the margin, as given by a known link function σ.
//!
//! The update is the Perspectron's update with σ(w·x) in place of β sign(w·x): w -= λ (σ(w·x) - y)/D(w·x) x.
//!
//! *Guarantee.* Let ‖x‖ <= 1 and |w*·x| >= γ for a unit vector w*. Let each label be sign(w*·x), flipped with a
//! probability of at most (1-|σ(w*·x)|)/2. Let the link function σ be non-decreasing with sign(t)σ(t) >= 0 and
//! ||σ(t)| - |σ(-t)|| <= τ. Then with probability at least 1 - δ, the error of the result is at most opt_RCN + τ/2 + ε,
//! where opt_RCN = E\[(1-|σ(w*·x)|)/2\].
//!
//! | schedule | D | steps of a run |
//! |---|---|---|
//! | [`GlmSchedule::Paper`] | abs(w·x) + γε/(2-ε) | 32/(ε⁴γ²), for which the proof in CKST24 fails |
//! | [`GlmSchedule::Corrected`] | abs(w·x) + γε/(4-ε) | 1024/(ε⁴γ²) |
//! | [`GlmSchedule::Ours`] | max(abs(w·x), γ/2) | 64/(εγ)²; 16(2+(2+γ)√(2 ln(3/δ)))²/(εγ)² with thinned selection |
//!
//! *Source.* CKST24 Algorithm 2, Lemmas 5 and 6, Claim 1, Theorem 4. The schedule `Ours` avoids the factor ε⁻²; the
//! proof is in docs/theory/glm-without-padding-loss.md. The argument of σ is clamped to \[-1, 1\]. Iterates are
//! projected onto the unit ball, except with `Paper`. Points must lie in the unit ball; if they do not, rescale the
//! points and the link function together.

use super::common::{Common, Selection, choice_share, common_setters, fit_in_order, retention};
use crate::fit::{AverageBound, Fit, Fitting, Guarantee, Lane, Plan, Theorem};
use crate::fit::{Denominator, Direction};
use crate::noise_setting::{NoiseSetting, check_margin, check_target};
use crate::schedule;
use crate::selection::Elimination;
use halfspaces_data::{Link, LinkError, check_link};
use halfspaces_linalg::{ExampleStream, FitError, FitStream, InputError, Params, setters};
use thiserror::Error;

/// The constants of a [`GlmPerspectron`]: as printed in CKST24, corrected, or ours.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_data::StandardLink;
/// use halfspaces_pac::{GlmPerspectron, GlmSchedule};
/// let examples = |schedule| -> Result<u64, Box<dyn std::error::Error>> {
///     let params = GlmPerspectron::params(StandardLink::clipped(2.0)?, 0.5).excess(0.25);
///     Ok(params.schedule(schedule).check()?.plan().examples())
/// };
/// assert!(examples(GlmSchedule::Ours)? < examples(GlmSchedule::Corrected)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GlmSchedule {
    /// The constants as printed: D = |w·x| + αγ with α = ε/(2-ε), and T = 32/(ε⁴γ²).
    Paper,
    /// The constants α = ε/(4-ε) and T = 1024/(ε⁴γ²), for which the proof holds.
    Corrected,
    /// Our constants: D = max(|w·x|, γ/2) and T = 64/(εγ)².
    #[default]
    Ours,
}

/// An error in the parameters of a [`GlmPerspectron`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_data::StandardLink;
/// use halfspaces_pac::{GlmError, GlmPerspectron, GlmSchedule, Selection};
/// let params = GlmPerspectron::params(StandardLink::clipped(2.0)?, 0.5);
/// let printed = params.schedule(GlmSchedule::Paper).selection(Selection::Thinned);
/// assert!(matches!(printed.check(), Err(GlmError::NoGuarantee { .. })));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GlmError {
    /// A parameter is out of range.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The function is not a link function.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// Thinned selection needs a bound on the average error of the iterates. Such a bound is proved only for
    /// [`GlmSchedule::Ours`].
    #[error("thinned selection is proved only for GlmSchedule::Ours; use Selection::AllIterates")]
    NoGuarantee {
        /// The requested schedule.
        schedule: GlmSchedule,
    },
}

/// Unchecked parameters of a [`GlmPerspectron`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_data::StandardLink;
/// use halfspaces_pac::{GlmPerspectron, GlmSchedule, Selection};
/// let link = StandardLink::logistic(2.0)?;
/// let ours = GlmPerspectron::params(link, 0.2).selection(Selection::AllIterates);
/// let corrected = ours.clone().schedule(GlmSchedule::Corrected);
/// let saved = corrected.check()?.plan().training() / ours.check()?.plan().training();
/// assert_eq!(saved, 1600); // 16/ε² for ε = 0.1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GlmParams<L> {
    link: L,
    margin: f64,
    excess: f64,
    failure: f64,
    common: Common,
    schedule: GlmSchedule,
    selection: Selection,
}

impl<L: Link + Clone> GlmParams<L> {
    common_setters!();

    /// The constants of the fit. Default: [`GlmSchedule::Ours`]. The other two schedules also select
    /// [`Selection::AllIterates`]. [`GlmSchedule::Paper`] drops only candidates that cannot be chosen
    /// ([`Elimination::Lossless`]). To change these settings, call their setters afterwards.
    #[must_use]
    pub fn schedule(mut self, schedule: GlmSchedule) -> Self {
        self.schedule = schedule;
        self.common.project = schedule != GlmSchedule::Paper;
        if schedule != GlmSchedule::Ours {
            self.selection = Selection::AllIterates;
        }
        if schedule == GlmSchedule::Paper {
            self.common.elimination = Elimination::Lossless;
        }
        self
    }
}

impl<L: Link + Clone> Params for GlmParams<L> {
    type Learner = GlmPerspectron<L>;
    type Error = GlmError;

    /// # Errors
    /// [`GlmError::Input`] for γ outside (0, 1], ε or δ outside (0, 1); [`GlmError::Link`] if the function does not
    /// satisfy the conditions of a link function on a grid of arguments; [`GlmError::NoGuarantee`].
    fn check(self) -> Result<GlmPerspectron<L>, GlmError> {
        check_target(self.excess, self.failure)?;
        self.common.check()?;
        check_margin(self.margin, self.common.radius)?;
        check_link(&self.link)?;
        if self.selection == Selection::Thinned && self.schedule != GlmSchedule::Ours {
            return Err(GlmError::NoGuarantee { schedule: self.schedule });
        }
        Ok(GlmPerspectron(self))
    }
}

/// The GLM Perspectron, which learns a halfspace under noise that decreases with the margin, as given by a known link
/// function σ.
///
/// The update is that of the [`Perspectron`](crate::Perspectron) with σ(w·x) in place of β sign(w·x): w -= λ (σ(w·x) -
/// y)/D(w·x) x with D = max(|w·x|, γ/2).
///
/// *Guarantee.* Let ‖x‖ <= 1 and |w*·x| >= γ for a unit vector w*. Let each label be sign(w*·x), flipped with a
/// probability of at most (1-|σ(w*·x)|)/2. Let the link function σ be non-decreasing with sign(t)σ(t) >= 0 and
/// ||σ(t)| - |σ(-t)|| <= τ. Then with probability at least 1 - δ, the error of the result is at most opt_RCN + τ/2 + ε,
/// where opt_RCN = E\[(1-|σ(w*·x)|)/2\].
///
/// *Cost.* The fit makes one pass over 16(2+(2+γ)√(2 ln(3/δ)))²/(εγ)² training examples, at O(d) time each, and over
/// the examples on which candidates are compared. The fit stores the candidates ([`GlmPerspectron::plan`]).
///
/// *When to use it.* Use this learner if the link function is known and points lie in the unit ball. If they do not,
/// rescale the points and the link function together. If the link function is unknown, use
/// [`Perspectron`](crate::Perspectron), which needs only a bound on the noise rate.
///
/// *Source.* CKST24 Algorithm 2, Lemmas 5 and 6, Claim 1, Theorem 4. The form without the factor ε⁻² is ours; see
/// docs/theory/glm-without-padding-loss.md. *Claims:* P5, P7, P15. The learner is also shown in P11.
///
/// ```
/// use halfspaces_linalg::{FitStream, Params};
/// use halfspaces_data::{GlmNoise, Instance, MarginBall, StandardLink, random_target};
/// use halfspaces_pac::GlmPerspectron;
/// let target = random_target(5, 1)?;
/// let link = StandardLink::logistic(6.0)?;
/// let noise = GlmNoise::new(link)?.with_margin(0.3)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.3)?, target, noise)?;
/// let learner = GlmPerspectron::params(link, 0.3).excess(0.4).failure(0.1).check()?;
/// let fit = learner.fit_stream(&mut instance.stream(2))?;
/// let population = instance.population(5000, 3)?;
/// assert!(population.error(fit.halfspace())?.mean() <= population.opt_rcn(&link).mean() + 0.4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GlmPerspectron<L>(GlmParams<L>);

impl<L: Link + Clone> GlmPerspectron<L> {
    /// Creates parameters for a link function and a margin of at least `margin`, which is γ in (0, 1]. Defaults: ε =
    /// 0.1, δ = 0.05.
    #[must_use]
    pub fn params(link: L, margin: f64) -> GlmParams<L> {
        let (schedule, selection) = (GlmSchedule::default(), Selection::default());
        let (excess, failure) = (NoiseSetting::DEFAULT_EXCESS, NoiseSetting::DEFAULT_FAILURE);
        let common = Common::default();
        GlmParams { link, margin, excess, failure, common, schedule, selection }
    }

    /// The numbers of steps, candidates and examples of a fit.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let GlmParams { link, common, schedule, selection, .. } = &self.0;
        let margin = common.placed_margin(self.0.margin);
        let (excess, failure) = (self.0.excess, self.0.failure);
        if *selection == Selection::Thinned {
            let run_length = schedule::glm_thinned_run_length(excess, margin, failure);
            let noise = schedule::glm_noise_bound(
                link.value(margin),
                link.value(-margin),
                link.asymmetry(),
            );
            let candidates = schedule::thinned_candidates(noise, excess, failure);
            return Plan {
                runs: 1,
                run_length,
                step: schedule::glm_step(margin, run_length),
                denominator: Denominator::AtLeast(margin / 2.0),
                candidates,
                validation: schedule::thinned_validation(candidates, excess, failure),
            };
        }
        let (run_length, step, denominator) = match schedule {
            GlmSchedule::Paper => {
                let run_length = schedule::glm_paper_run_length(excess, margin);
                let padding = schedule::paper_padding(excess) * margin;
                let step = schedule::glm_paper_step(excess, margin, run_length);
                (run_length, step, Denominator::Plus(padding))
            }
            GlmSchedule::Corrected => {
                let run_length = schedule::glm_corrected_run_length(excess, margin);
                let padding = schedule::padding(excess) * margin;
                let step = schedule::glm_corrected_step(excess, margin, run_length);
                (run_length, step, Denominator::Plus(padding))
            }
            GlmSchedule::Ours => {
                let run_length = schedule::glm_run_length(excess, margin);
                let step = schedule::glm_step(margin, run_length);
                (run_length, step, Denominator::AtLeast(margin / 2.0))
            }
        };
        let runs = schedule::runs(failure);
        let candidates = runs.saturating_mul(run_length);
        let validation = schedule::validation(candidates, excess, failure);
        Plan { runs, run_length, step, denominator, candidates, validation }
    }

    /// Starts a fit to points in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`] if the candidates do not fit in memory.
    pub fn start(&self, dim: usize) -> Result<Fitting<L>, InputError> {
        let plan = self.plan();
        let GlmParams { link, excess, failure, common, schedule, selection, .. } = &self.0;
        let retention = retention(plan, *selection, common.seed)?;
        let direction = Direction { link: link.clone(), denominator: plan.denominator };
        let lane = Lane::new(direction, plan.step, plan.runs, plan.run_length, retention);
        let margin = common.placed_margin(self.0.margin);
        let average = match schedule {
            GlmSchedule::Ours => AverageBound::Glm { margin, step: plan.step },
            GlmSchedule::Paper | GlmSchedule::Corrected => AverageBound::Unknown,
        };
        let choice_failure = choice_share(*failure, *selection);
        let theorem = Theorem {
            guarantee: Guarantee { excess: *excess, failure: *failure },
            best_candidate: excess / 2.0,
            choice_failure,
            average,
        };
        // The proof in CKST24 does not hold for the constants printed there.
        let theorem = Some(theorem).filter(|_| *schedule != GlmSchedule::Paper);
        let settings = common.settings();
        Fitting::new(dim, vec![lane], plan.validation, settings, theorem, choice_failure)
    }
}

impl<L: Link + Clone> FitStream for GlmPerspectron<L> {
    type Model = Fit;

    /// Fits a halfspace to a stream in one pass. If the stream ends early, [`Fit::termination`] is `ExamplesEnded`, and
    /// [`Fit::guarantee`] is computed for the number of examples used. To continue after a faulty example, use
    /// [`GlmPerspectron::start`] and [`Fitting::advance`].
    fn fit_stream<S: ExampleStream>(&self, stream: &mut S) -> Result<Fit, FitError<S::Error>> {
        self.start(stream.dim())?.fit(stream)
    }
}

fit_in_order!(GlmPerspectron<L>: Fit, L: Link + Clone);

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_noisier_side_determines_the_number_of_candidates() {
        let candidates = |p, n| {
            let link = halfspaces_data::StandardLink::two_rates(p, n).unwrap();
            GlmPerspectron::params(link, 0.5)
                .excess(0.2)
                .failure(0.1)
                .check()
                .unwrap()
                .plan()
                .candidates
        };
        // The noise bound is h = (1 - 0.4 + 0.4)/2 = 1/2, whichever side is noisier, and (4h + 2ε)/ε ln 30 = 40.8.
        assert_eq!((candidates(0.1, 0.3), candidates(0.3, 0.1)), (41, 41));
    }

    /// The printed algorithm compares all candidates on all examples.
    #[test]
    fn the_printed_schedule_drops_no_candidate_that_can_win() {
        let link = halfspaces_data::StandardLink::two_rates(0.1, 0.3).unwrap();
        let params = GlmPerspectron::params(link, 0.5);
        let elimination = |schedule| params.schedule(schedule).common.elimination;
        assert_eq!(elimination(GlmSchedule::Paper), Elimination::Lossless);
        assert_eq!(elimination(GlmSchedule::Ours), Elimination::default());
    }
}
