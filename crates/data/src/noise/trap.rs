//! Massart noise under which logistic regression and the support vector machine fail.

use super::instance::Instance;
use super::model::{Massart, Region};
use crate::distributions::finite::FiniteSupport;
use halfspaces_linalg::{Halfspace, InputError, Points};

/// The fraction of the points of [`massart_trap`] that lie far from the boundary and whose labels are flipped with
/// probability η.
const TRAP_FAR: f64 = 0.4;

/// The fraction of the points that rotate the minimiser of the surrogate loss away from w*.
const TRAP_LEVERS: f64 = 0.2;

/// The fraction of the points that the minimiser of the surrogate loss misclassifies.
const TRAP_VICTIMS: f64 = 0.4;

/// Massart noise of rate η in the plane that misleads logistic regression and the linear support vector machine. The
/// minimisers of their population losses err on more than η + 0.1 of the labels, while w* errs on 0.4 η of them.
///
/// The target w* is the first axis. Each point and its negative are equally likely:
///
/// | fraction | point | flipped | |
/// |---|---|---|---|
/// | 0.4 | (1, 0) | with probability η | far |
/// | 0.2 | (γ, -0.9) | never | levers |
/// | 0.4 | (γ, 1.5 γ) | never | victims |
///
/// A convex loss penalises a flipped label in proportion to its margin. The far points therefore keep w short along w*
/// (about 1 for the hinge loss, ln((1 - η)/η) for the logistic loss). Such a w gives points at the margin γ a value
/// close to 0. The losses of the levers, which are long along the second axis, then rotate w towards that axis. The
/// victims are short in both directions, so their losses have little influence, and w misclassifies them: the error is
/// 0.4 η + 0.4 = η + 0.4 - 0.6 η.
///
/// If η >= 0.3 and γ <= 0.05, no bound on ‖w‖ changes this (measured). Under weaker noise, a sufficiently small bound
/// may help.
///
/// # Errors
/// [`InputError::ParameterOutOfRange`] unless the `rate` η is in (0, 0.45] and 0 < `margin` γ <= min(η/2, 0.1); larger
/// margins do not mislead the surrogate losses.
///
/// ```
/// use halfspaces_data::massart_trap;
/// use halfspaces_linalg::Halfspace;
/// let trap = massart_trap(0.3, 0.1)?;
/// let population = trap.exact_population()?;
/// assert!((population.opt().mean() - 0.12).abs() < 1e-12);
/// // The minimiser of the hinge loss has margin 1 on the far points and on the levers.
/// let svm = Halfspace::new(vec![1.0, -1.0])?;
/// assert!((population.error(&svm)?.mean() - 0.52).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn massart_trap(
    rate: f64,
    margin: f64,
) -> Result<Instance<FiniteSupport, Massart>, InputError> {
    let inside = rate > 0.0 && rate <= 0.45;
    InputError::check_parameter("noise rate", rate, inside, "above 0 and at most 0.45")?;
    let inside = margin > 0.0 && margin <= 0.1 && margin <= rate / 2.0;
    let requirement = "above 0, at most 0.1 and at most half the noise rate";
    InputError::check_parameter("margin", margin, inside, requirement)?;
    let kinds = [
        ([1.0, 0.0], TRAP_FAR),
        ([margin, -0.9], TRAP_LEVERS),
        ([margin, 1.5 * margin], TRAP_VICTIMS),
    ];
    let rows: Vec<[f64; 2]> = kinds.iter().flat_map(|(x, _)| [*x, x.map(|v| -v)]).collect();
    let weights: Vec<f64> = kinds.iter().flat_map(|(_, share)| [*share; 2]).collect();
    let marginal = FiniteSupport::new(Points::from_rows(&rows)?, &weights)?;
    let noise = Massart::new(rate, Region::Far(0.5))?;
    Instance::new(marginal, Halfspace::new(vec![1.0, 0.0])?, noise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Population;
    use halfspaces_linalg::{PointSet, RowView};

    /// The derivative of the logistic loss ln(1 + e^-t) with respect to t = y w · x.
    fn logistic(t: f64) -> f64 {
        -1.0 / (1.0 + t.exp())
    }

    /// The derivative of the hinge loss max(0, 1 - t), smoothed over a width of 0.01 so that gradient descent
    /// converges. The smoothing moves the minimiser by about 0.01.
    fn hinge(t: f64) -> f64 {
        -((1.0 - t) / 0.01).clamp(0.0, 1.0)
    }

    /// Plain gradient descent on the loss of the population, projected onto the ball of the given radius. The descent
    /// stops when the steps are nearly zero.
    fn minimiser(
        population: &Population,
        slope: fn(f64) -> f64,
        step: f64,
        radius: f64,
    ) -> Halfspace {
        let mut w = [0.0, 0.0];
        for _ in 0..200_000 {
            let before = w;
            for (i, (x, truth)) in population.points().rows().zip(population.truth()).enumerate() {
                let t = truth.as_f64() * x.dot(&before);
                let flip = population.flip_probabilities()[i];
                let mean = (1.0 - flip) * slope(t) - flip * slope(-t);
                let pull = -step * population.weight(i) * truth.as_f64() * mean;
                x.add_scaled_to(pull, &mut w);
            }
            let shrink = (radius / w[0].hypot(w[1])).min(1.0);
            w = w.map(|v| v * shrink);
            if (w[0] - before[0]).hypot(w[1] - before[1]) < 1e-7 * step {
                return Halfspace::new(w.to_vec()).unwrap();
            }
        }
        panic!("no convergence")
    }

    #[test]
    fn the_trap_fools_convex_losses_and_not_the_target() {
        for (rate, margin) in [(0.1, 0.05), (0.2, 0.1), (0.3, 0.05), (0.4, 0.1), (0.45, 0.08)] {
            let trap = massart_trap(rate, margin).unwrap();
            let population = trap.exact_population().unwrap();
            let error = |h: &Halfspace| population.error(h).unwrap().mean();
            assert!(error(trap.target()) <= 0.4 * rate + 1e-12);
            assert!(population.points().max_norm() <= 1.0);
            assert!(population.margins().iter().all(|t| t.abs() >= margin));
            let free = |slope, step| minimiser(&population, slope, step, f64::INFINITY);
            for w in [free(logistic, 4.0), free(hinge, 0.02)] {
                assert!(error(&w) > rate + 0.1, "η = {rate}, γ = {margin}: {w:?}");
            }
        }
        // Without noise, minimising the hinge loss gives the target's labels, so it is the noise that misleads.
        let trap = massart_trap(0.3, 0.1).unwrap();
        let points = trap.marginal().points().clone();
        let clean = Population::with_flips(points, trap.target(), vec![0.0; 6]).unwrap();
        let w = minimiser(&clean, hinge, 0.02, f64::INFINITY);
        assert!(clean.error(&w).unwrap().mean() < 1e-12);
    }

    #[test]
    fn no_bound_on_the_norm_saves_them_from_strong_noise() {
        for (rate, margin) in [(0.3, 0.05), (0.4, 0.05)] {
            let population = massart_trap(rate, margin).unwrap().exact_population().unwrap();
            for radius in [0.1, 0.3, 0.7, 1.0, 1.3, 2.0, 5.0] {
                for (slope, step) in [(logistic as fn(f64) -> f64, 4.0), (hinge, 0.02)] {
                    let w = minimiser(&population, slope, step, radius);
                    let error = population.error(&w).unwrap().mean();
                    assert!(error > rate + 0.1, "η = {rate}, γ = {margin}, radius {radius}: {w:?}");
                }
            }
        }
    }

    #[test]
    fn the_trap_needs_noise_and_a_small_margin() {
        for (rate, margin) in [(0.0, 0.05), (0.5, 0.1), (0.1, 0.06), (0.3, 0.0), (0.4, 0.11)] {
            assert!(massart_trap(rate, margin).is_err());
        }
        assert!(massart_trap(f64::NAN, 0.1).is_err() && massart_trap(0.3, f64::NAN).is_err());
    }
}
