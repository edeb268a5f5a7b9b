//! The GLM Perspectron for noise that exceeds the noise of the link function by an unknown amount.
//!
//! One GLM Perspectron runs for each guess ζ̃ = 0, ..., 1/2 of the misspecification, with the link function σ_ζ̃
//! ([`Misspecified`]). All of them learn from the same examples, and each has half the excess as its target. Of all
//! their candidates, the fit returns the candidate with the fewest errors on fresh examples.
//!
//! *Guarantee.* With probability at least 1 - δ, the error is at most opt_RCN + ζ + τ/2 + ε for the smallest ζ for
//! which the misspecified model holds. Some guess ζ̃ lies in [ζ, ζ + ε/2), and the model also holds for ζ̃. The best
//! candidate of this guess has an error of at most opt_RCN + ζ̃ + τ/2 + ε/4, and the choice among the candidates adds
//! at most ε/4.
//!
//! *Source.* Ours; see docs/theory/misspecified-links.md. The grid and the choice are those of CKST24 Appendix A.

use super::common::{Common, Selection, choice_share, common_setters, fit_in_order};
use super::glm::GlmError;
use crate::fit::{AverageBound, Fit, Fitting, Guarantee, Lane, Retention, Theorem};
use crate::fit::{Denominator, Direction};
use crate::noise_setting::{NoiseSetting, check_margin, check_target};
use crate::{schedule, streams};
use halfspaces_data::{Link, Misspecified, check_link};
use halfspaces_linalg::{ExampleStream, FitError, FitStream, InputError, Params, rng_for, setters};

/// Unchecked parameters of a [`MisspecifiedGlm`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_data::StandardLink;
/// use halfspaces_pac::MisspecifiedGlm;
/// let learner = MisspecifiedGlm::params(StandardLink::clipped(2.0)?, 0.5).excess(0.25).check()?;
/// assert_eq!(learner.guesses(), [0.5, 0.375, 0.25, 0.125, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MisspecifiedGlmParams<L> {
    link: L,
    margin: f64,
    excess: f64,
    failure: f64,
    common: Common,
    selection: Selection,
}

impl<L: Link + Clone> MisspecifiedGlmParams<L> {
    common_setters!();
}

impl<L: Link + Clone> Params for MisspecifiedGlmParams<L> {
    type Learner = MisspecifiedGlm<L>;
    type Error = GlmError;

    /// # Errors
    /// [`GlmError::Input`] for γ outside (0, 1], ε outside [1e-4, 1) or δ outside (0, 1); [`GlmError::Link`] if the
    /// function does not satisfy the conditions of a link function on a grid of arguments.
    fn check(self) -> Result<MisspecifiedGlm<L>, GlmError> {
        check_target(self.excess, self.failure)?;
        let in_range = self.excess >= schedule::MIN_GRID_STEP;
        InputError::check_parameter("excess", self.excess, in_range, "at least 1e-4 for a grid")?;
        self.common.check()?;
        check_margin(self.margin, self.common.radius)?;
        check_link(&self.link)?;
        Ok(MisspecifiedGlm(self))
    }
}

/// The GLM Perspectron for noise that exceeds the noise of a link function by an unknown amount ζ.
///
/// Each label is sign(w*·x), flipped with a probability that is at most (1-|σ(w*·x)|)/2 + ζ and at most 1/2. If ζ is
/// known, use [`GlmPerspectron`](crate::GlmPerspectron) with the link function [`Misspecified`], which needs only a
/// quarter of the examples.
///
/// *Guarantee.* With probability at least 1 - δ, the error is at most opt_RCN + ζ + τ/2 + ε for the smallest ζ for
/// which the model holds. The symbols σ, τ, w*, γ and opt_RCN are those of [`GlmPerspectron`](crate::GlmPerspectron).
///
/// *Cost.* The fit makes one pass over about four times as many examples as [`GlmPerspectron`](crate::GlmPerspectron)
/// needs. The time per example is O(d) for each of the 1/ε + 1 guesses. The fit stores all candidates.
///
/// *Source.* Ours, with the grid of CKST24 Appendix A; see docs/theory/misspecified-links.md. *Claims:* P15u.
///
/// ```
/// use halfspaces_linalg::{FitStream, Params};
/// use halfspaces_data::{GlmNoise, Instance, MarginBall, StandardLink, random_target};
/// use halfspaces_pac::MisspecifiedGlm;
/// let target = random_target(3, 1)?;
/// let noise = GlmNoise::new(StandardLink::massart(0.1)?)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.5)?, target, noise)?;
/// // According to the given link function, no label is wrong.
/// let told = StandardLink::massart(0.0)?;
/// let learner = MisspecifiedGlm::params(told, 0.5).excess(0.4).failure(0.2).check()?;
/// let fit = learner.fit_stream(&mut instance.stream(2))?;
/// assert!(instance.population(2000, 3)?.error(fit.halfspace())?.mean() <= 0.1 + 0.4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MisspecifiedGlm<L>(MisspecifiedGlmParams<L>);

impl<L: Link + Clone> MisspecifiedGlm<L> {
    /// Creates parameters for a link function and a margin of at least `margin`, which is γ in (0, 1]. Defaults: ε =
    /// 0.1, δ = 0.05.
    #[must_use]
    pub fn params(link: L, margin: f64) -> MisspecifiedGlmParams<L> {
        let (excess, failure) = (NoiseSetting::DEFAULT_EXCESS, NoiseSetting::DEFAULT_FAILURE);
        let (common, selection) = (Common::default(), Selection::default());
        MisspecifiedGlmParams { link, margin, excess, failure, common, selection }
    }

    /// The guesses ζ̃ of a fit; [`crate::Origin::lane`] is an index into this list.
    #[must_use]
    pub fn guesses(&self) -> Vec<f64> {
        schedule::noise_grid(self.0.excess).into_iter().map(|level| (1.0 - level) / 2.0).collect()
    }

    /// The number of runs of each guess, the number of steps of a run, and the number of candidates.
    fn plan_of(&self, link: &Misspecified<L>) -> (u64, u64, u64) {
        let MisspecifiedGlmParams { margin, excess, failure, selection, .. } = self.0;
        let excess = excess / 2.0;
        match selection {
            Selection::AllIterates => {
                let runs = schedule::runs(failure);
                let run_length = schedule::glm_run_length(excess, margin);
                (runs, run_length, runs.saturating_mul(run_length))
            }
            Selection::Thinned => {
                let run_length = schedule::glm_thinned_run_length(excess, margin, failure);
                let at = [margin, -margin].map(|t| link.value(t));
                let noise = schedule::glm_noise_bound(at[0], at[1], link.asymmetry());
                (1, run_length, schedule::thinned_candidates(noise, excess, failure))
            }
        }
    }

    /// The link functions of all guesses.
    fn links(&self) -> Result<Vec<Misspecified<L>>, InputError> {
        let link = |extra| Misspecified::new(self.0.link.clone(), extra);
        self.guesses().into_iter().map(link).collect()
    }

    /// Starts a fit to points in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`] if the candidates do not fit in memory.
    pub fn start(&self, dim: usize) -> Result<Fitting<Misspecified<L>>, InputError> {
        let MisspecifiedGlmParams { margin, excess, failure, common, selection, .. } = &self.0;
        let mut rng = rng_for(streams::RETENTION, common.seed);
        let (mut lanes, mut all) = (Vec::new(), 0u64);
        for link in self.links()? {
            let (runs, run_length, candidates) = self.plan_of(&link);
            all = all.saturating_add(candidates);
            let retention = match selection {
                Selection::AllIterates => Retention::All,
                Selection::Thinned => Retention::drawn(candidates, run_length, &mut rng)?,
            };
            let direction = Direction { link, denominator: Denominator::AtLeast(margin / 2.0) };
            let step = schedule::glm_step(*margin, run_length);
            lanes.push(Lane::new(direction, step, runs, run_length, retention));
        }
        let choice_failure = choice_share(*failure, *selection);
        let theorem = Theorem {
            guarantee: Guarantee { excess: *excess, failure: *failure },
            best_candidate: 0.75 * excess,
            choice_failure,
            average: AverageBound::Unknown,
        };
        let validation = schedule::grid_validation(all, *excess, choice_failure);
        Fitting::new(dim, lanes, validation, common.settings(), Some(theorem), choice_failure)
    }
}

impl<L: Link + Clone> FitStream for MisspecifiedGlm<L> {
    type Model = Fit;

    /// Fits a halfspace to a stream in one pass. If the stream ends early, [`Fit::termination`] is `ExamplesEnded`, and
    /// [`Fit::guarantee`] is computed for the number of examples used.
    fn fit_stream<S: ExampleStream>(&self, stream: &mut S) -> Result<Fit, FitError<S::Error>> {
        self.start(stream.dim())?.fit(stream)
    }
}

fit_in_order!(MisspecifiedGlm<L>: Fit, L: Link + Clone);

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::StandardLink;

    /// For γ = 1/2, ε = 1/2, δ = 1/4 and σ = sign, the guesses are 1/2, 1/4 and 0, each with the target excess ε/2.
    #[test]
    fn guesses_are_worked_by_hand() {
        let link = StandardLink::massart(0.0).unwrap();
        let learner = |selection| {
            let params = MisspecifiedGlm::params(link, 0.5).excess(0.5).failure(0.25);
            params.selection(selection).check().unwrap()
        };
        let all = learner(Selection::AllIterates);
        assert_eq!(all.guesses(), [0.5, 0.25, 0.0]);
        let plans = |l: &MisspecifiedGlm<StandardLink>| -> Vec<(u64, u64, u64)> {
            l.links().unwrap().iter().map(|link| l.plan_of(link)).collect()
        };
        // The run length is 64/(ε/2 · γ)² = 4096.
        assert_eq!(plans(&all), [(3, 4096, 12_288); 3]);
        // The run length is 16 (2 + 2.5 √(2 ln 12))²/(ε/2 · γ)² = 58_620. There are (4h + ε)/(ε/2) ln 12 candidates,
        // and h = ζ̃ here.
        let few = plans(&learner(Selection::Thinned));
        assert_eq!(few.iter().map(|p| p.2).collect::<Vec<_>>(), [25, 15, 5]);
        let length = 16.0 * (2.0 + 2.5 * (2.0 * 12f64.ln()).sqrt()).powi(2) / 0.125f64.powi(2);
        assert!(few.iter().all(|p| p.0 == 1 && p.1 == length.ceil() as u64));
    }
}
