//! The Perspectron for an unknown noise rate and, optionally, an unknown margin.
//!
//! One Perspectron runs for each guess β̃ = 0, ε, 2ε, ..., 1 of β = 1 - 2η. If the margin is also unknown, one
//! Perspectron runs for each pair of such a guess and a margin R, R/2, R/4, ... down to the smallest margin. All
//! Perspectrons learn from the same examples, and each has half the excess as its target. Of all their candidates, the
//! fit returns the candidate with the fewest errors on fresh examples.
//!
//! *Guarantee.* Let η be the smallest noise rate for which the Massart model holds, and let γ be at least the smallest
//! guess of the margin. Then with probability at least 1 - δ, the error is at most η + ε. Some guess has β - ε < β̃ <=
//! β, so its noise rate η̃ lies in [η, η + ε/2). Massart noise of rate η is also Massart noise of the larger rate η̃.
//! The best candidate of this guess has an error of at most η̃ + ε/4, and the choice among the candidates adds at most
//! ε/4.
//!
//! *Source.* CKST24 Appendix A. [`GridSchedule::Paper`] is the grid as printed there: guesses in [0, 1/2], each with
//! the target excess ε. Lemma 7 proves nothing for this grid. The other schedule is a corrected grid; see
//! docs/theory/perspectron-schedules.md.

use super::common::{
    Common, Selection, choice_share, common_setters, fit_in_order, placement_setters,
};
use super::margin::Margin;
use crate::fit::{AverageBound, Fit, Fitting, Guarantee, Lane, Retention, Theorem};
use crate::fit::{Denominator, Direction, SignLink};
use crate::noise_setting::{NoiseSetting, check_target};
use crate::streams;

use crate::schedule;
use crate::selection::Elimination;
use halfspaces_linalg::{ExampleStream, FitError, FitStream, InputError, Params, rng_for, setters};

/// The guesses and the constants of a [`GridPerspectron`]: as printed in CKST24, or corrected.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{GridPerspectron, GridSchedule, Margin};
/// let noises = |schedule| -> Result<Vec<f64>, halfspaces_linalg::InputError> {
///     let params = GridPerspectron::params(Margin::Known(0.5)).excess(0.5).schedule(schedule);
///     Ok(params.check()?.guesses().iter().map(|guess| guess.noise).collect())
/// };
/// // The grid as printed has no guess below a noise rate of 1/4.
/// assert_eq!(noises(GridSchedule::Paper)?, [0.5, 0.25]);
/// assert_eq!(noises(GridSchedule::Corrected)?, [0.5, 0.25, 0.0]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GridSchedule {
    /// The grid as printed in CKST24: β̃ in [0, 1/2], with the constants for a known noise rate. No guarantee is proved
    /// for this grid. The printed algorithm compares all iterates; this schedule does not, because all iterates of all
    /// guesses would amount to a million candidates.
    Paper,
    /// The corrected grid: β̃ in [0, 1], half the excess as the target of each guess, and a more accurate choice.
    #[default]
    Corrected,
}

/// Unchecked parameters of a [`GridPerspectron`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{GridPerspectron, Margin};
/// let learner = GridPerspectron::params(Margin::Known(0.2)).excess(0.25).check()?;
/// assert_eq!(learner.guesses().len(), 5);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridParams {
    margin: Margin,
    excess: f64,
    failure: f64,
    common: Common,
    schedule: GridSchedule,
    selection: Selection,
}

impl GridParams {
    common_setters!();
    placement_setters!();

    /// The guesses and the constants of the fit. Default: [`GridSchedule::Corrected`]. [`GridSchedule::Paper`] also
    /// turns off the projection, and drops only candidates that cannot be chosen ([`Elimination::Lossless`]). To change
    /// these settings, call their setters afterwards.
    #[must_use]
    pub fn schedule(mut self, schedule: GridSchedule) -> Self {
        self.schedule = schedule;
        self.common.project = schedule != GridSchedule::Paper;
        if schedule == GridSchedule::Paper {
            self.common.elimination = Elimination::Lossless;
        }
        self
    }
}

impl Params for GridParams {
    type Learner = GridPerspectron;
    type Error = InputError;

    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a margin outside (0, R], ε outside [1e-4, 1), δ outside
    /// (0, 1), a radius that is not positive and finite, or a smallest margin below 2⁻⁶⁰ R.
    fn check(self) -> Result<GridPerspectron, InputError> {
        check_target(self.excess, self.failure)?;
        self.common.check()?;
        let excess = self.excess;
        let in_range = excess >= schedule::MIN_GRID_STEP;
        InputError::check_parameter("excess", excess, in_range, "at least 1e-4 for a grid")?;
        self.margin.check(self.common.radius)?;
        Ok(GridPerspectron(self))
    }
}

/// A guess of the noise rate and the margin, with its numbers of runs, steps and candidates.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{GridPerspectron, Margin};
/// let learner = GridPerspectron::params(Margin::Known(0.5)).excess(0.25).check()?;
/// for guess in learner.guesses() {
///     assert!((0.0..=0.5).contains(&guess.noise) && guess.candidates > 0);
///     assert_eq!(guess.margin, 0.5);
/// }
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guess {
    /// The noise rate η̃ = (1 - β̃)/2.
    pub noise: f64,
    /// The margin γ̃ of the original points.
    pub margin: f64,
    /// The number of runs.
    pub runs: u64,
    /// The number of steps per run.
    pub run_length: u64,
    /// The maximum number of candidates.
    pub candidates: u64,
}

/// The Perspectron for an unknown noise rate and, optionally, an unknown margin.
///
/// One Perspectron learns from the same examples for each guess of η (and of γ), with half the excess as its target. Of
/// all their candidates, the fit returns the candidate with the fewest errors on fresh examples.
///
/// *Guarantee.* Let η be the smallest noise rate for which the Massart model holds, and let γ be at least the smallest
/// guess of the margin. Then with probability at least 1 - δ, the error is at most η + ε.
///
/// *Cost.* The fit makes one pass. The number of examples is the largest number that any guess needs, with the target
/// excess ε/2. The time per example is O(d) per guess. There are 1/ε + 1 guesses per guess of the margin. The fit
/// stores all candidates.
///
/// *When to use it.* Use this learner for a stream under Massart noise of unknown rate. If the rate is known,
/// [`Perspectron`](crate::Perspectron) and [`MarginSearch`](crate::MarginSearch) need only a quarter of the examples.
/// For a sample of fixed size, use [`SamplePerspectron`](crate::SamplePerspectron).
///
/// *Source.* CKST24 Appendix A, corrected, because no guarantee is proved for the printed grid
/// ([`GridSchedule::Paper`]); see docs/theory/perspectron-schedules.md. *Claims:* P6.
///
/// ```
/// use halfspaces_linalg::{FitStream, Params};
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_pac::{GridPerspectron, Margin};
/// let target = random_target(3, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.4)?, target, Rcn::new(0.1)?)?;
/// let learner = GridPerspectron::params(Margin::Known(0.4)).excess(0.4).failure(0.2).check()?;
/// let fit = learner.fit_stream(&mut instance.stream(2))?;
/// assert!(instance.population(1000, 3)?.error(fit.halfspace())?.mean() <= 0.1 + 0.4);
/// println!("best guess: noise rate {}", learner.guesses()[fit.origin().lane].noise);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridPerspectron(GridParams);

impl GridPerspectron {
    /// Creates parameters for a margin that is known or bounded from below. Defaults: ε = 0.1, δ = 0.05.
    #[must_use]
    pub fn params(margin: Margin) -> GridParams {
        let (schedule, selection) = (GridSchedule::default(), Selection::default());
        let (excess, failure) = (NoiseSetting::DEFAULT_EXCESS, NoiseSetting::DEFAULT_FAILURE);
        GridParams { margin, excess, failure, common: Common::default(), schedule, selection }
    }

    /// The guesses of a fit; [`crate::Origin::lane`] is an index into this list.
    #[must_use]
    pub fn guesses(&self) -> Vec<Guess> {
        let GridParams { margin, excess: target, failure, common, schedule, selection } = self.0;
        let mut levels = schedule::noise_grid(target);
        let (excess, bound): (f64, fn(f64) -> f64) = match schedule {
            GridSchedule::Paper => {
                levels.retain(|level| *level <= 0.5);
                (target, |_| 0.0)
            }
            GridSchedule::Corrected => (target / 2.0, |noise| noise),
        };
        let mut guesses = Vec::new();
        for guessed in margin.guesses(common.radius) {
            let placed = common.placed_margin(guessed);
            for level in &levels {
                let noise = (1.0 - level) / 2.0;
                guesses.push(match selection {
                    Selection::AllIterates => {
                        let runs = schedule::runs(failure);
                        let run_length = schedule::run_length(bound(noise), excess, placed);
                        let candidates = runs.saturating_mul(run_length);
                        Guess { noise, margin: guessed, runs, run_length, candidates }
                    }
                    Selection::Thinned => {
                        let length = match schedule {
                            GridSchedule::Paper => schedule::thinned_run_length,
                            GridSchedule::Corrected => schedule::thinned_run_length_max,
                        };
                        let run_length = length(bound(noise), excess, placed, failure);
                        let candidates = schedule::thinned_candidates(noise, excess, failure);
                        Guess { noise, margin: guessed, runs: 1, run_length, candidates }
                    }
                });
            }
        }
        guesses
    }

    /// The number T₁ of training examples: the largest number that any guess needs.
    #[must_use]
    pub fn training(&self) -> u64 {
        let steps = |g: Guess| g.runs.saturating_mul(g.run_length);
        self.guesses().into_iter().map(steps).max().unwrap_or(0)
    }

    /// The number |T₂| of fresh examples for the validation of candidates.
    #[must_use]
    pub fn validation(&self) -> u64 {
        let GridParams { excess, failure, schedule, selection, .. } = self.0;
        let candidates =
            self.guesses().iter().fold(0u64, |sum, g| sum.saturating_add(g.candidates));
        let share = choice_share(failure, selection);
        match schedule {
            GridSchedule::Paper => schedule::validation(candidates, excess, failure),
            GridSchedule::Corrected => schedule::grid_validation(candidates, excess, share),
        }
    }

    /// Starts a fit to points in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`] if the candidates do not fit in memory.
    pub fn start(&self, dim: usize) -> Result<Fitting<SignLink>, InputError> {
        let GridParams { excess, failure, common, schedule, selection, .. } = self.0;
        let mut rng = rng_for(streams::RETENTION, common.seed);
        let lane = |guess: &Guess| {
            let margin = common.placed_margin(guess.margin);
            let link = SignLink { level: 1.0 - 2.0 * guess.noise };
            let (denominator, bound) = match schedule {
                GridSchedule::Paper => (Denominator::Plus(margin), 0.0),
                GridSchedule::Corrected => (Denominator::AtLeast(margin), guess.noise),
            };
            let retention = match selection {
                Selection::AllIterates => Retention::All,
                Selection::Thinned => {
                    Retention::drawn(guess.candidates, guess.run_length, &mut rng)?
                }
            };
            let step = schedule::step(bound, margin, guess.run_length);
            let direction = Direction { link, denominator };
            Ok(Lane::new(direction, step, guess.runs, guess.run_length, retention))
        };
        let lanes = self.guesses().iter().map(lane).collect::<Result<_, InputError>>()?;
        let choice_failure = choice_share(failure, selection);
        let theorem = Theorem {
            guarantee: Guarantee { excess, failure },
            best_candidate: 0.75 * excess,
            choice_failure,
            average: AverageBound::Unknown,
        };
        // Nothing is proved for the grid of CKST24.
        let theorem = Some(theorem).filter(|_| schedule != GridSchedule::Paper);
        let settings = common.settings();
        Fitting::new(dim, lanes, self.validation(), settings, theorem, choice_failure)
    }
}

impl FitStream for GridPerspectron {
    type Model = Fit;

    /// Fits a halfspace to a stream in one pass. If the stream ends early, [`Fit::termination`] is `ExamplesEnded`, and
    /// [`Fit::guarantee`] is computed for the number of examples used. To continue after a faulty example, use
    /// [`GridPerspectron::start`] and [`Fitting::advance`].
    fn fit_stream<S: ExampleStream>(&self, stream: &mut S) -> Result<Fit, FitError<S::Error>> {
        self.start(stream.dim())?.fit(stream)
    }
}

fit_in_order!(GridPerspectron: Fit);

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{FitSample, Label};

    fn learner(schedule: GridSchedule, selection: Selection) -> GridPerspectron {
        let params = GridPerspectron::params(Margin::Known(0.5)).excess(0.5).failure(0.25);
        params.schedule(schedule).selection(selection).check().unwrap()
    }

    /// For γ = ε = 1/2 and δ = 1/4, there are three guesses of the noise rate, each with the target excess ε/2 and
    /// three runs.
    #[test]
    fn guesses_are_worked_by_hand() {
        let corrected = learner(GridSchedule::Corrected, Selection::AllIterates);
        // The run length is 16 (1-η)²/(ε/2 · γ)² = 1024 (1-η)².
        let lengths = |l: &GridPerspectron| -> Vec<(u64, u64, u64)> {
            l.guesses().iter().map(|g| (g.runs, g.run_length, g.candidates)).collect()
        };
        let expected = [(3, 256, 768), (3, 576, 1728), (3, 1024, 3072)];
        assert_eq!(lengths(&corrected), expected);
        assert_eq!(corrected.training(), 3072);
        // The number of examples is (32/ε²) ln(2 · 5568/(δ/2)) = 1458.9.
        assert_eq!(corrected.validation(), 1459);
        let paper = learner(GridSchedule::Paper, Selection::AllIterates);
        assert_eq!(lengths(&paper), [(3, 256, 768); 2]);
        // The printed algorithm compares all candidates on all examples.
        assert_eq!(paper.0.common.elimination, Elimination::Lossless);
        // The number of examples is (8/ε²) ln(4 · 1536/δ) = 323.5.
        assert_eq!(paper.validation(), 324);
        // The run length is 16 (1-η)² (1 + (1+γ) √(2 ln 12))²/(ε/2 · γ)², and there are (4η + ε)/(ε/2) ln 12
        // candidates.
        let thinned = learner(GridSchedule::Corrected, Selection::Thinned);
        let expected = [(1, 4831, 25), (1, 10_870, 15), (1, 19_323, 5)];
        assert_eq!(lengths(&thinned), expected);
        // The number of examples is (32/ε²) ln(2 · 45/(δ/3)) = 894.04.
        assert_eq!(thinned.validation(), 895);
    }

    #[test]
    fn a_fit_cut_short_says_by_how_much_its_choice_is_off() {
        let learner = learner(GridSchedule::Corrected, Selection::Thinned);
        let n = learner.training() as usize + 100;
        let points = halfspaces_linalg::Points::from_rows(&vec![[0.6, 0.2]; n]).unwrap();
        let fit = learner.fit(&points, &vec![Label::Positive; n]).unwrap();
        assert_eq!(fit.validation(), 100);
        let off = schedule::validation_accuracy(fit.candidates() as u64, 100, 0.25 / 6.0);
        let excess = fit.guarantee().unwrap().excess;
        assert!((excess - (0.375 + 2.0 * off)).abs() < 1e-12, "{excess}");
    }
}
