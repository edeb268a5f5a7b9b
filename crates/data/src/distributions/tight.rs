//! Pools on which the mistake bounds of perceptrons are attained, either exactly or nearly.

use super::realizable::Realizable;
use halfspaces_linalg::{Halfspace, InputError, Points, kernels, norm, zeros};

/// The standard basis of R^d, with all points labelled -1. The margin is γ = 1/√d, and the perceptron makes d = 1/γ²
/// mistakes for every order of the points, so its bound cannot be improved by any constant factor.
///
/// (`w = 0` predicts +1, and so does every later hypothesis on the basis vectors not yet seen.)
///
/// # Errors
/// [`InputError::ZeroDimension`], [`InputError::TooLarge`].
///
/// ```
/// let tight = halfspaces_data::perceptron_tight(25)?;
/// assert!((tight.margin() - 0.2).abs() < 1e-15);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn perceptron_tight(dim: usize) -> Result<Realizable<Points>, InputError> {
    let mut values = zeros(dim, dim)?;
    let mut target = zeros(1, dim)?;
    target.fill(-1.0);
    values.iter_mut().step_by(dim + 1).for_each(|v| *v = 1.0);
    Realizable::new(Points::new(values, dim)?, Halfspace::new(target)?)
}

/// The amount by which w · x is below the threshold 1 when a point x of [`margin_perceptron_tight`] is visited.
const BELOW_THRESHOLD: f64 = 1e-12;

/// Unit points of R³ with margin γ, all labelled +1. If the points are visited in this order, the margin perceptron
/// makes all but about two of the 3/γ² updates that its bound allows, and ends with a margin close to γ/3. During this
/// single pass, each point x has w · x = 1 (minus 1e-12) when it is visited, so ‖w‖² grows by 3 at each step while
/// w · w\* grows by γ. Neither constant of Harvey18 Theorem 2.1 can therefore be improved if the violated points are
/// chosen cyclically.
///
/// (Such a point exists unless w is too close to w\*.)
///
/// # Errors
/// [`InputError::ParameterOutOfRange`] unless γ is in [1e-3, 0.5].
///
/// ```
/// let tight = halfspaces_data::margin_perceptron_tight(0.1)?;
/// assert_eq!(tight.labels().len(), 298); // of 3/γ² = 300
/// assert!((tight.margin() - 0.1).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn margin_perceptron_tight(margin: f64) -> Result<Realizable<Points>, InputError> {
    let in_range = (1e-3..=0.5).contains(&margin);
    InputError::check_parameter("margin", margin, in_range, "at least 0.001 and at most 0.5")?;
    let target = [1.0, 0.0, 0.0];
    let mut values = Vec::new();
    let mut w = [0.0; 3];
    loop {
        let across = norm(&w[1..]);
        // In the plane orthogonal to w*, (u, v) is the unit vector along the component of w, and (-v, u) is orthogonal
        // to it. The two are arbitrary if w = 0.
        let [u, v] = if across > 0.0 { [w[1] / across, w[2] / across] } else { [1.0, 0.0] };
        let along_u = if across > 0.0 {
            (1.0 - BELOW_THRESHOLD - w[0] * margin) / across
        } else {
            (1.0 - margin * margin).sqrt()
        };
        let rest = 1.0 - margin * margin - along_u * along_u;
        // At w = 0, the remainder is only a rounding error.
        if rest < 0.0 && across > 0.0 {
            break;
        }
        let along_v = rest.max(0.0).sqrt();
        let x = [margin, along_u * u - along_v * v, along_u * v + along_v * u];
        kernels::axpy(1.0, &x, &mut w);
        values.extend(x);
    }
    Realizable::new(Points::new(values, 3)?, Halfspace::new(target.to_vec())?)
}

/// The distance of the points of [`modified_perceptron_tight`] from the band when they are visited, relative to σ.
const OUTSIDE_BAND: f64 = 1e-9;

/// Unit points of R³ on the boundary of the target, labelled +1 because w\* · x = 0. If the points are visited in this
/// order, the modified perceptron, started at (α, √(1-α²), 0), makes all but a fraction of about σ²/2 of the
/// ⌊2 ln(1/α)/σ²⌋ mistakes that its bound allows. Each point is just outside the band, w · x = -σ‖w‖ (1 + 1e-9), when
/// it is visited, so ‖w‖² is multiplied by 1 - σ² while w · w\* = α is constant. The constant of Notes21's bound
/// therefore cannot be improved. The bound would be exact with -ln(1-σ²) in place of σ².
///
/// (Such a point exists while the component of w orthogonal to w\* is longer than σ‖w‖.)
///
/// # Errors
/// [`InputError::ParameterOutOfRange`] unless α is in [1e-3, 0.9] and σ in [0.01, 0.4].
///
/// ```
/// let tight = halfspaces_data::modified_perceptron_tight(0.1, 0.2)?;
/// assert_eq!(tight.labels().len(), 112); // of ⌊2 ln(10)/0.04⌋ = 115
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn modified_perceptron_tight(alpha: f64, sigma: f64) -> Result<Realizable<Points>, InputError> {
    let in_range = (1e-3..=0.9).contains(&alpha);
    InputError::check_parameter("alpha", alpha, in_range, "at least 0.001 and at most 0.9")?;
    let in_range = (0.01..=0.4).contains(&sigma);
    InputError::check_parameter("sigma", sigma, in_range, "at least 0.01 and at most 0.4")?;
    let mut values = Vec::new();
    let mut w = [alpha, (1.0 - alpha * alpha).sqrt(), 0.0];
    loop {
        let across = norm(&w[1..]);
        let along = sigma * (1.0 + OUTSIDE_BAND) * norm(&w) / across;
        if along > 1.0 {
            break;
        }
        let [u, v] = [w[1] / across, w[2] / across];
        let rest = (1.0 - along * along).sqrt();
        let x = [0.0, -along * u - rest * v, -along * v + rest * u];
        kernels::axpy(-kernels::dot(&w, &x), &x, &mut w);
        values.extend(x);
    }
    Realizable::new(Points::new(values, 3)?, Halfspace::new(vec![1.0, 0.0, 0.0])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Label, PointSet};

    #[test]
    fn it_is_the_negative_basis() {
        let tight = perceptron_tight(2).unwrap();
        assert_eq!(tight.points().as_slice(), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(tight.labels(), [Label::Negative; 2]);
        assert_eq!(perceptron_tight(0), Err(InputError::ZeroDimension));
    }

    #[test]
    fn each_point_is_at_the_threshold_when_its_turn_comes() {
        for (margin, count) in [(0.1, 298), (0.05, 1198), (0.5, 10)] {
            let tight = margin_perceptron_tight(margin).unwrap();
            assert_eq!(tight.points().len(), count);
            let mut w = [0.0; 3];
            for (i, x) in tight.points().rows().enumerate() {
                let x = x.as_slice();
                assert!((norm(x) - 1.0).abs() < 1e-12 && x[0] == margin);
                let value = kernels::dot(x, &w);
                assert!(i == 0 || (value < 1.0 && value > 1.0 - 1e-11), "{value}");
                kernels::axpy(1.0, x, &mut w);
            }
            let last = tight.points().rows().all(|x| kernels::dot(x.as_slice(), &w) > 1.0);
            assert!(last, "no point is violated in the end");
        }
        assert!(margin_perceptron_tight(0.0).is_err() && margin_perceptron_tight(0.6).is_err());
    }

    #[test]
    fn each_point_is_just_outside_the_band_when_its_turn_comes() {
        for (alpha, sigma) in [(0.5f64, 0.05f64), (0.1, 0.2), (1e-3, 0.4)] {
            let tight = modified_perceptron_tight(alpha, sigma).unwrap();
            assert!(tight.margin() == 0.0 && tight.labels().iter().all(|y| *y == Label::Positive));
            let mut w = [alpha, (1.0 - alpha * alpha).sqrt(), 0.0];
            for x in tight.points().rows().map(|x| x.as_slice()) {
                assert!((norm(x) - 1.0).abs() < 1e-12 && x[0] == 0.0);
                let (value, edge) = (kernels::dot(x, &w), -sigma * norm(&w));
                assert!(value < edge && value > edge * (1.0 + 1e-8), "{value} {edge}");
                kernels::axpy(-value, x, &mut w);
            }
            // ‖w‖² = (1 - σ²)^M, and multiplying it by two more factors 1 - σ² would give a value below α².
            let most = 2.0 * alpha.ln() / (-sigma * sigma).ln_1p();
            let count = tight.points().len() as f64;
            assert!(count <= most && count > most - 2.0, "{count} {most}");
        }
        for (alpha, sigma) in [(0.0, 0.1), (0.95, 0.1), (0.5, 0.0), (0.5, 0.5)] {
            assert!(modified_perceptron_tight(alpha, sigma).is_err());
        }
    }
}
