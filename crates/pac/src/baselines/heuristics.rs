//! The two heuristics of CKST24 Appendix B for generalized linear models. CKST24 leaves it open whether they learn.
//! **No guarantee.**

use super::unit_ball::check_point;
use crate::NoiseSetting;
use crate::push_away::{check_margin, push_away};
use crate::streams;
use halfspaces_data::{Link, random_target_with_rng};
use halfspaces_linalg::{
    ExampleStream, FitError, FitSample, FitStream, Halfspace, InputError, Label, Params, PointSet,
    RowView, Termination, classify_by, getters, kernels, normalise, rng_for, setters, zeros,
};

/// The step size λ = γ²ε/144, which minimises -2λε + λ²‖g‖² for ‖g‖ = 12/γ.
fn heuristic_step(margin: f64, excess: f64) -> f64 {
    margin * margin * excess / 144.0
}

/// The number ⌈576/(γε)²⌉ of steps that reduce a potential of at most 4 to 0, if each step reduces it by ε²γ²/144.
fn heuristic_steps(margin: f64, excess: f64) -> u64 {
    // The factor prevents an additional step if rounding puts the number just above an integer.
    (576.0 / (margin * excess).powi(2) * (1.0 - 1e-12)).ceil() as u64
}

/// One of the two heuristics.
///
/// ```
/// use halfspaces_data::StandardLink;
/// use halfspaces_linalg::{FitSample, Label, Params, Points};
/// use halfspaces_pac::{GlmHeuristic, Heuristic};
/// // On a line no direction is orthogonal to ŵ, so the tangential heuristic never moves.
/// let (link, points) = (StandardLink::massart(0.1)?, Points::new(vec![1.0; 9], 1)?);
/// let learner = GlmHeuristic::params(Heuristic::Tangential { cosine: 0.9 }, link, 0.5).step_size(0.6);
/// let mistakes = learner.check()?.fit(&points, &[Label::Negative; 9])?.mistakes();
/// assert!(mistakes == 0 || mistakes == 9);
/// let learner = GlmHeuristic::params(Heuristic::NormDependent, link, 0.5).step_size(0.6);
/// assert!(learner.check()?.fit(&points, &[Label::Negative; 9])?.mistakes() <= 1);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Heuristic {
    /// Takes steps orthogonal to ŵ.
    Tangential {
        /// The guess of cos θ, in (0, 1].
        cosine: f64,
    },
    /// Takes steps proportional to ‖w‖.
    NormDependent,
}

/// Unchecked parameters of [`GlmHeuristic`].
///
/// ```
/// use halfspaces_data::StandardLink;
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{GlmHeuristic, Heuristic};
/// let params = GlmHeuristic::params(Heuristic::NormDependent, StandardLink::massart(0.1)?, 0.3);
/// assert!(params.excess(0.2).seed(1).check().is_ok());
/// assert!(params.step_size(0.0).check().is_err());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct HeuristicParams<L> {
    heuristic: Heuristic,
    link: L,
    margin: f64,
    excess: f64,
    step_size: Option<f64>,
    max_steps: Option<u64>,
    keep_every: u64,
    seed: u64,
}

impl<L: Link> HeuristicParams<L> {
    setters! {
        /// The excess ε, which determines the step size and the number of steps. Default: 0.1.
        excess: f64,

        /// The step size λ. Default: γ²ε/144.
        step_size: Some(f64),

        /// The cap on the number of steps, at least 1. Default: no cap, which means ⌈576/(γε)²⌉ steps.
        max_steps: Some(u64),

        /// The interval k: every k-th iterate and the last iterate are stored. Default: 1000.
        keep_every: u64,

        /// The seed for the first direction. Default: 0.
        seed: u64,
    }
}

impl<L: Link> Params for HeuristicParams<L> {
    type Learner = GlmHeuristic<L>;
    type Error = InputError;

    fn check(self) -> Result<GlmHeuristic<L>, InputError> {
        let check = InputError::check_parameter;
        check_margin(self.margin)?;
        let in_range = self.excess > 0.0 && self.excess < 1.0;
        check("excess", self.excess, in_range, "above 0 and below 1")?;
        if let Heuristic::Tangential { cosine } = self.heuristic {
            check("cosine", cosine, cosine > 0.0 && cosine <= 1.0, "above 0 and at most 1")?;
        }
        if let Some(size) = self.step_size {
            check("step_size", size, size > 0.0 && size.is_finite(), "positive and finite")?;
        }
        if let Some(steps) = self.max_steps {
            check("max_steps", steps as f64, steps > 0, "at least 1")?;
        }
        check("keep_every", self.keep_every as f64, self.keep_every > 0, "at least 1")?;
        Ok(GlmHeuristic(self))
    }
}

/// The two heuristics of CKST24 Appendix B for generalized linear models. **No guarantee**: CKST24 asks whether they
/// learn from O(1/(γε)²) examples, and shows where its proofs fail for them.
///
/// Both heuristics maintain a direction ŵ and push each example away from the boundary of ŵ
/// ([`PushAway`](crate::PushAway)). They step along T(x)/|ŵ · T(x)| instead of padding the denominator. Lemma 8 bounds
/// the length of that vector by 6/γ.
///
/// - *Tangential* ("non-convex projections"): g = (σ(ŵ · x cos θ) - y) T(x)/|ŵ · T(x)|, and ŵ <- ŵ - λg⊥, scaled to
///   norm 1. Here g⊥ is the component of g orthogonal to ŵ, and θ is the angle between ŵ and the target. This angle is
///   unknown, so the heuristic uses a fixed guess of cos θ.
/// - *Norm-dependent step*: g = (σ(ŵ · x) - y) T(x)/|ŵ · T(x)|, and w <- w - λ‖w‖g, projected onto the unit ball. Since
///   g depends only on ŵ, and the step only on ‖w‖, the directions are those of ŵ <- ŵ - λg, scaled to norm 1. The
///   implementation computes these directions, so the norm cannot drift.
///
/// Thus the two heuristics differ in two ways: only the second keeps the component of g along ŵ, and only the first
/// uses cos θ. The first direction is random. The step size λ = γ²ε/144 and the number of steps 576/(γε)² come from the
/// potential ‖ŵ - w*‖². With these values and ‖g‖ <= 12/γ, the potential would decrease to 0 if its recursion had only
/// its first three terms.
///
/// *Termination.* The result is `Converged` after all 576/(γε)² steps, and `CapReached` or `ExamplesEnded` after fewer
/// steps.
///
/// *Cost.* Each example takes O(d) time. The memory is O(d), plus O(d) per stored iterate.
///
/// *When to use it.* Use the heuristics for experiments. For a guarantee, use
/// [`GlmPerspectron`](crate::GlmPerspectron).
///
/// *Source.* CKST24 Appendix B. Claims: none; the heuristics are only shown in P11.
///
/// ```
/// use halfspaces_data::{Link, MarginBall, Marginal, random_target};
/// use halfspaces_linalg::{Classifier, FitSample, Params, Termination};
/// use halfspaces_pac::{GlmHeuristic, Heuristic};
///
/// /// Random classification noise of rate 1/10.
/// struct Flips;
///
/// impl Link for Flips {
///     fn value(&self, t: f64) -> f64 {
///         0.8 * if t >= 0.0 { 1.0 } else { -1.0 }
///     }
///
///     fn asymmetry(&self) -> f64 {
///         0.0
///     }
/// }
///
/// let target = random_target(3, 1)?;
/// let points = MarginBall::new(&target, 0.3)?.sample(2000, 2)?;
/// let labels = target.label_all(&points)?;
/// let learner = GlmHeuristic::params(Heuristic::NormDependent, Flips, 0.3)
///     .step_size(0.01)
///     .keep_every(500)
///     .check()?;
/// let run = learner.fit(&points, &labels)?;
/// assert_eq!((run.steps(), run.iterates().len()), (2000, 4));
/// assert_eq!(run.termination(), Termination::ExamplesEnded);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GlmHeuristic<L>(HeuristicParams<L>);

/// The result of [`GlmHeuristic`]: iterates to choose from, without a guarantee. As a classifier, the result predicts
/// with the last iterate.
///
/// ```
/// use halfspaces_data::StandardLink;
/// use halfspaces_linalg::{FitSample, Label, Params, Points, Termination};
/// use halfspaces_pac::{GlmHeuristic, Heuristic};
/// let params = GlmHeuristic::params(Heuristic::NormDependent, StandardLink::massart(0.1)?, 0.3);
/// let points = Points::new(vec![1.0; 5], 1)?;
/// let run = params.keep_every(2).max_steps(4).check()?.fit(&points, &[Label::Positive; 5])?;
/// // After steps 2 and 4.
/// assert_eq!((run.steps(), run.iterates().len()), (4, 2));
/// assert_eq!(run.termination(), Termination::CapReached { cap: 4 });
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HeuristicRun {
    iterates: Vec<Halfspace>,
    keep_every: u64,
    steps: u64,
    mistakes: u64,
    termination: Termination,
}

impl HeuristicRun {
    /// The directions after every k-th step, in order, and after the last step.
    #[must_use]
    pub fn iterates(&self) -> &[Halfspace] {
        &self.iterates
    }

    /// The last direction.
    #[must_use]
    pub fn last(&self) -> &Halfspace {
        &self.iterates[self.iterates.len() - 1]
    }

    getters! {
        /// The number of steps.
        steps: u64,

        /// The number of examples that the direction before the step misclassified. This number divided by the number
        /// of steps is an unbiased estimate of the average error of the iterates on fresh examples.
        mistakes: u64,

        /// How the run ended; see [`GlmHeuristic`].
        termination: Termination,
    }
}

classify_by!(HeuristicRun, last());

impl<L: Link> GlmHeuristic<L> {
    /// Creates parameters for a link function σ and a margin γ. Defaults: ε = 0.1, every 1000th iterate stored, seed 0.
    pub fn params(heuristic: Heuristic, link: L, margin: f64) -> HeuristicParams<L> {
        HeuristicParams {
            heuristic,
            link,
            margin,
            excess: NoiseSetting::DEFAULT_EXCESS,
            step_size: None,
            max_steps: None,
            keep_every: 1000,
            seed: 0,
        }
    }
}

impl<L: Link> FitStream for GlmHeuristic<L> {
    type Model = HeuristicRun;

    /// Learns from a stream of examples in the unit ball. If there are no examples, returns the first direction.
    ///
    /// # Errors
    /// [`FitError`] for an error of the stream or a faulty example.
    fn fit_stream<S: ExampleStream>(
        &self,
        stream: &mut S,
    ) -> Result<HeuristicRun, FitError<S::Error>> {
        let mut run = Run::new(&self.0, stream.dim()).map_err(FitError::Input)?;
        while run.steps < run.limit {
            let taken = run.steps;
            match stream.next_row().map_err(|source| FitError::Stream { taken, source })? {
                Some((x, y)) => {
                    run.step(x, y).map_err(|source| FitError::at_example(taken, source))?;
                }
                None => break,
            }
        }
        run.finish().map_err(FitError::Input)
    }
}

impl<L: Link> FitSample for GlmHeuristic<L> {
    type Model = HeuristicRun;
    type Error = InputError;

    /// Learns from a sample in the unit ball. Each point is used once, in order.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`], [`InputError::TooLarge`], [`InputError::OutsideBall`].
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<HeuristicRun, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        if labels.is_empty() {
            return Err(InputError::Empty);
        }
        let mut run = Run::new(&self.0, points.dim())?;
        for (x, y) in points.rows().zip(labels) {
            if run.steps == run.limit {
                break;
            }
            run.step(x, *y)?;
        }
        run.finish()
    }
}

/// A run in progress.
struct Run<'a, L> {
    params: &'a HeuristicParams<L>,
    step_size: f64,
    planned: u64,
    limit: u64,
    /// The direction ŵ.
    direction: Vec<f64>,
    /// The point T(x).
    pushed: Vec<f64>,
    iterates: Vec<Halfspace>,
    steps: u64,
    mistakes: u64,
}

/// Draws the first direction, a random unit vector.
fn start(dim: usize, seed: u64) -> Result<Vec<f64>, InputError> {
    Ok(random_target_with_rng(dim, &mut rng_for(streams::HEURISTIC_START, seed))?.into_normal())
}

impl<'a, L: Link> Run<'a, L> {
    fn new(params: &'a HeuristicParams<L>, dim: usize) -> Result<Self, InputError> {
        let HeuristicParams { margin, excess, step_size, max_steps, seed, .. } = *params;
        let planned = heuristic_steps(margin, excess);
        Ok(Run {
            params,
            step_size: step_size.unwrap_or_else(|| heuristic_step(margin, excess)),
            planned,
            limit: max_steps.unwrap_or(planned).min(planned),
            direction: start(dim, seed)?,
            pushed: zeros(1, dim)?,
            iterates: Vec::new(),
            steps: 0,
            mistakes: 0,
        })
    }

    fn step<R: RowView>(&mut self, x: R, y: Label) -> Result<(), InputError> {
        InputError::check_dim(self.direction.len(), x.dim())?;
        check_point(x)?;
        let value = x.dot(&self.direction);
        let of_pushed = push_away(&self.direction, self.params.margin, x, &mut self.pushed)?;
        let cosine = match self.params.heuristic {
            Heuristic::Tangential { cosine } => cosine,
            Heuristic::NormDependent => 1.0,
        };
        // Here g = residual · T(x)/|ŵ · T(x)|, and its component along ŵ is residual · sign(ŵ · T(x)).
        let residual = self.params.link.clamped(value * cosine) - y.as_f64();
        let along = match self.params.heuristic {
            Heuristic::Tangential { .. } => residual * Label::from_sign(of_pushed).as_f64(),
            Heuristic::NormDependent => 0.0,
        };
        let mut next: Vec<f64> =
            self.direction.iter().map(|w| (1.0 + self.step_size * along) * w).collect();
        kernels::axpy(-self.step_size * residual / of_pushed.abs(), &self.pushed, &mut next);
        // A step to 0, which has no direction, is skipped.
        if normalise(&mut next) {
            self.direction = next;
        }
        self.mistakes += u64::from(Label::from_sign(value) != y);
        self.steps += 1;
        if self.steps.is_multiple_of(self.params.keep_every) {
            self.retain()?;
        }
        Ok(())
    }

    fn retain(&mut self) -> Result<(), InputError> {
        self.iterates.push(Halfspace::new(self.direction.clone())?);
        Ok(())
    }

    fn finish(mut self) -> Result<HeuristicRun, InputError> {
        let keep_every = self.params.keep_every;
        if self.steps == 0 || !self.steps.is_multiple_of(keep_every) {
            self.retain()?;
        }
        let Run { iterates, steps, mistakes, planned, limit, .. } = self;
        let termination = if steps == planned {
            Termination::Converged
        } else if steps == limit {
            Termination::CapReached { cap: limit }
        } else {
            Termination::ExamplesEnded
        };
        Ok(HeuristicRun { iterates, keep_every, steps, mistakes, termination })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PushAway;
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::{Classifier, DenseRow, Points, SparsePoints, angle, norm};
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// The link function σ(t) = sign(t)(s + (1-s)|t|).
    #[derive(Debug, Clone, Copy)]
    struct Ramp(f64);

    impl Link for Ramp {
        fn value(&self, t: f64) -> f64 {
            Label::from_sign(t).as_f64() * (self.0 + (1.0 - self.0) * t.abs())
        }

        fn asymmetry(&self) -> f64 {
            0.0
        }
    }

    fn sample(n: usize, dim: usize, link: Ramp, seed: u64) -> (Points, Vec<Label>, Halfspace) {
        let target = random_target(dim, seed).unwrap();
        let points = MarginBall::new(&target, 0.3).unwrap().sample(n, seed + 1).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed + 2);
        let mut label = |x: DenseRow<'_>| {
            let mean = link.value(target.decision_value(x).unwrap());
            Label::from_sign(mean - (2.0 * rng.random::<f64>() - 1.0))
        };
        let labels = points.rows().map(&mut label).collect();
        (points, labels, target)
    }

    /// A stream of the examples of a sample, followed by an error if requested.
    struct Replay<'a>(&'a Points, &'a [Label], usize, bool);

    impl ExampleStream for Replay<'_> {
        type Row<'a>
            = DenseRow<'a>
        where
            Self: 'a;
        type Error = &'static str;

        fn dim(&self) -> usize {
            self.0.dim()
        }

        fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, &'static str> {
            let Some(x) = self.0.row(self.2) else {
                return if self.3 { Err("faulty") } else { Ok(None) };
            };
            self.2 += 1;
            Ok(Some((x, self.1[self.2 - 1])))
        }
    }

    const BOTH: [Heuristic; 2] = [Heuristic::Tangential { cosine: 0.9 }, Heuristic::NormDependent];

    /// Compares the directions with the recursions as CKST24 states them, for w of any norm.
    #[test]
    fn directions_follow_the_printed_recursions() {
        let link = Ramp(0.5);
        let (points, labels, _) = sample(300, 3, link, 4);
        let (margin, lambda) = (0.3, 0.02);
        for heuristic in BOTH {
            let params =
                GlmHeuristic::params(heuristic, link, margin).step_size(lambda).keep_every(1);
            let run = params.check().unwrap().fit(&points, &labels).unwrap();
            assert_eq!((run.steps(), run.termination()), (300, Termination::ExamplesEnded));
            let mut w = start(3, 0).unwrap();
            w.iter_mut().for_each(|v| *v *= 0.37);
            let mut mistakes = 0;
            for ((x, y), iterate) in points.rows().zip(&labels).zip(run.iterates()) {
                let size = norm(&w);
                let unit: Vec<f64> = w.iter().map(|v| v / size).collect();
                let pushed = PushAway::new(&Halfspace::new(w.clone()).unwrap(), margin).unwrap();
                let pushed = pushed.apply(x).unwrap();
                let value = kernels::dot(&unit, x.as_slice());
                mistakes += u64::from(Label::from_sign(value) != *y);
                let divisor = kernels::dot(&unit, &pushed).abs();
                let g = |t: f64| -> Vec<f64> {
                    let factor = (link.clamped(t) - y.as_f64()) / divisor;
                    pushed.iter().map(|v| factor * v).collect()
                };
                match heuristic {
                    Heuristic::Tangential { cosine } => {
                        let mut across = g(value * cosine);
                        let along = kernels::dot(&across, &unit);
                        kernels::axpy(-along, &unit, &mut across);
                        assert!(kernels::dot(&across, &unit).abs() < 1e-12);
                        w = unit;
                        kernels::axpy(-lambda, &across, &mut w);
                    }
                    Heuristic::NormDependent => {
                        kernels::axpy(-lambda * size, &g(value), &mut w);
                        let size = norm(&w);
                        if size > 1.0 {
                            w.iter_mut().for_each(|v| *v /= size);
                        }
                    }
                }
                assert!(angle(&w, iterate.normal()).unwrap() < 1e-9);
                assert!((norm(iterate.normal()) - 1.0).abs() < 1e-12);
            }
            assert_eq!(run.mistakes(), mistakes);
        }
    }

    #[test]
    fn both_learn_an_easy_model() {
        let link = Ramp(0.6);
        let (points, labels, target) = sample(6000, 5, link, 9);
        for heuristic in BOTH {
            let params = GlmHeuristic::params(heuristic, link, 0.3).step_size(0.005).seed(3);
            let learner = params.keep_every(500).check().unwrap();
            let run = learner.fit(&points, &labels).unwrap();
            assert_eq!(run.iterates().len(), 12);
            let start = random_target(5, 3).unwrap().angle_to(&target).unwrap();
            let last = run.iterates()[11].angle_to(&target).unwrap();
            assert!(start > 1.0 && last < 0.35, "{heuristic:?}: {start} to {last}");
            let flips = labels.iter().zip(target.label_all(&points).unwrap());
            let least = flips.filter(|(y, truth)| *y != truth).count() as u64;
            assert!(run.mistakes() < least + 600, "{} against {least}", run.mistakes());
        }
    }

    #[test]
    fn streams_samples_and_sparse_rows_agree() {
        let link = Ramp(0.5);
        let (points, labels, _) = sample(250, 4, link, 2);
        for heuristic in BOTH {
            let params = GlmHeuristic::params(heuristic, link, 0.3).keep_every(100);
            let learner = params.max_steps(250).check().unwrap();
            let run = learner.fit(&points, &labels).unwrap();
            assert_eq!(
                (run.iterates().len(), run.termination()),
                (3, Termination::CapReached { cap: 250 })
            );
            assert_eq!(learner.fit_stream(&mut Replay(&points, &labels, 0, true)).unwrap(), run);
            let sparse = SparsePoints::from_dense(&points).unwrap();
            assert_eq!(learner.fit(&sparse, &labels).unwrap(), run);
            // After the last example, the stream ends or returns its error.
            let longer = params.max_steps(251).check().unwrap();
            let ended = longer.fit_stream(&mut Replay(&points, &labels, 0, false)).unwrap();
            assert_eq!((ended.steps(), ended.termination()), (250, Termination::ExamplesEnded));
            let error = longer.fit_stream(&mut Replay(&points, &labels, 0, true)).unwrap_err();
            assert_eq!(error, FitError::Stream { taken: 250, source: "faulty" });
            assert_eq!(error.to_string(), "after 250 examples: faulty");
        }
    }

    #[test]
    fn the_step_is_the_best_for_the_three_terms() {
        let (margin, excess) = (0.2, 0.1);
        let drift = |l: f64| -2.0 * l * excess + (l * 12.0 / margin).powi(2);
        let best = heuristic_step(margin, excess);
        assert!(drift(best) < drift(0.99 * best) && drift(best) < drift(1.01 * best));
        let steps = heuristic_steps(margin, excess) as f64;
        assert!(4.0 + steps * drift(best) <= 1e-9 && 4.0 + (steps - 2.0) * drift(best) > 0.0);
        // If there are no examples, the first direction is returned.
        let learner = GlmHeuristic::params(BOTH[1], Ramp(0.5), margin).check().unwrap();
        let none = Points::new(vec![], 3).unwrap();
        assert_eq!(learner.fit(&none, &[]), Err(InputError::Empty));
        let run = learner.fit_stream(&mut Replay(&none, &[], 0, false)).unwrap();
        assert_eq!(run.iterates(), [Halfspace::new(start(3, 0).unwrap()).unwrap()]);
    }

    #[test]
    fn bad_input_is_typed() {
        let params = |margin| GlmHeuristic::params(Heuristic::NormDependent, Ramp(0.5), margin);
        for bad in [
            params(0.0),
            params(1.5),
            params(0.5).excess(0.0),
            params(0.5).step_size(f64::INFINITY),
            params(0.5).max_steps(0),
            params(0.5).keep_every(0),
        ] {
            assert!(bad.check().is_err());
        }
        let flat = Heuristic::Tangential { cosine: 0.0 };
        assert!(GlmHeuristic::params(flat, Ramp(0.5), 0.5).check().is_err());
        let learner = params(0.5).check().unwrap();
        let points = Points::from_rows(&[[0.1, 0.2]]).unwrap();
        assert!(learner.fit(&points, &[]).is_err());
        let far = Points::from_rows(&[[0.1, 0.2], [1.0, 1.0]]).unwrap();
        let labels = [Label::Positive; 2];
        assert!(learner.fit(&far, &labels).is_err());
        let error = learner.fit_stream(&mut Replay(&far, &labels, 0, false)).unwrap_err();
        assert!(matches!(error, FitError::Example { taken: 1, .. }));
    }

    #[test]
    fn all_steps_of_the_schedule_are_a_converged_run() {
        // Since 576/(γε)² is just above 577, the schedule has 578 steps. A larger cap changes nothing.
        let points = Points::new(vec![1.0; 600], 1).unwrap();
        let params = GlmHeuristic::params(BOTH[1], Ramp(0.5), 1.0).excess(0.9991324);
        assert_eq!(heuristic_steps(1.0, 0.9991324), 578);
        for (params, steps, termination) in [
            (params, 578, Termination::Converged),
            (params.max_steps(579), 578, Termination::Converged),
            (params.max_steps(577), 577, Termination::CapReached { cap: 577 }),
        ] {
            let run = params.check().unwrap().fit(&points, &[Label::Positive; 600]).unwrap();
            assert_eq!((run.steps(), run.termination()), (steps, termination));
        }
    }
}
