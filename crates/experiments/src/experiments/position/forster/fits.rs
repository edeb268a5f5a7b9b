//! Fits, and the independent check of everything they report.

use super::workload::{Kind, Outcome, STRICT};
use crate::experiments::common::*;
use halfspaces_data::{Gaussian, HeavyCase, Marginal, Planted, Rotation};
use halfspaces_forster::{
    Accuracy, ForsterTransform, Isotropy, Normalisation, Outcome as Found, Position, Subspace,
};
use halfspaces_linalg::{Params, PointSet, Points, kernels, normalise};

/// Membership tolerance of every fit.
const MEMBERSHIP: f64 = 1e-10;

/// Largest rounding difference between eigenvalues or residuals computed in two ways.
const ROUNDING: f64 = 1e-12;

/// With δ below this value, points at distance 1e-9 from a subspace may stay unresolved. A rounding error of 1e-16 is
/// magnified by 1e9, and this constant is ten times the product.
const NOISE_FLOOR: f64 = 1e-6;

/// Numbers of points of the scatter experiment.
const SCATTER_POINTS: [usize; 3] = [1000, 10_000, 100_000];

/// Number of starts of the search for the worst direction.
const SEARCHES: usize = 12;

/// Number of moves from each start.
const MOVES: usize = 60;

/// Returns residual/δ and whether everything that a fit reports about its position is correct for the points.
fn recheck(
    points: &Points,
    position: &Position,
    accuracy: Accuracy,
    heavy: bool,
) -> Result<(f64, bool), Failure> {
    let subspace = &position.subspace;
    let unit = position.transform.apply(&points.select(subspace.members())?)?;
    let isotropy = Isotropy::measure(&unit)?;
    let residual = match accuracy {
        Accuracy::OneSided(_) => 1.0 - isotropy.least(),
        Accuracy::TwoSided(_) => isotropy.residual(),
    };
    let same = (isotropy.least() - position.certificate.least()).abs() <= ROUNDING
        && (isotropy.largest() - position.certificate.largest()).abs()
            <= ROUNDING * isotropy.largest();
    let again =
        Subspace::certify(points, None, subspace.basis().clone(), subspace.span_dim(), MEMBERSHIP)?;
    // The fractions are compared exactly, as integers computed from the counts.
    let nonzero = points.norms().iter().filter(|r| **r > 0.0).count();
    let (inside, k) = (again.members().len(), again.dim());
    let shares = (inside * again.span_dim()).cmp(&(k * nonzero));
    let counts = if heavy {
        k < again.span_dim() && shares.is_ge()
    } else {
        k == again.span_dim() && inside == nonzero
    };
    let same_subspace = again.members() == subspace.members()
        && (again.largest_inside() - subspace.largest_inside()).abs() <= ROUNDING
        && position.transform.basis() == subspace.basis();
    Ok((residual / accuracy.delta(), same && same_subspace && counts))
}

/// Whether `found` is the planted subspace: it has the same dimension and contains all planted points, and its other
/// points are within twice the tolerance of the planted subspace.
fn is_planted(found: &Subspace, planted: &Planted) -> bool {
    let inside = |i: &usize| found.members().binary_search(i).is_ok();
    found.dim() == planted.dim
        && planted.members.iter().all(inside)
        && found.members().iter().all(|i| planted.distances[*i] <= 2.0 * MEMBERSHIP)
}

/// The smallest fraction of unit vectors x with |u·x| >= 1/(2√k), found by a search over u. The search turns u away
/// from points that barely reach the threshold.
fn worst_fraction(unit: &Points, rng: &mut ChaCha8Rng) -> f64 {
    let k = unit.dim();
    let threshold = 0.5 / (k as f64).sqrt();
    let values =
        |u: &[f64]| -> Vec<f64> { unit.rows().map(|x| kernels::dot(x.as_slice(), u)).collect() };
    let row = |i: usize| match unit.row(i) {
        Some(x) => x.as_slice(),
        None => unreachable!("i is the index of a point"),
    };
    let count = |v: &[f64]| v.iter().filter(|t| t.abs() >= threshold).count();
    let mut least = unit.len();
    for search in 0..SEARCHES {
        // Half of the starts are random, and half are orthogonal to some of the points.
        let mut u: Vec<f64> = (0..k).map(|_| rng.random_range(-1.0..1.0)).collect();
        for _ in 0..if search % 2 == 0 { 0 } else { k - 1 } {
            let x = row(rng.random_range(0..unit.len()));
            kernels::axpy(-kernels::dot(&u, x), x, &mut u);
        }
        // The start is skipped if no direction is orthogonal to the points drawn.
        if !normalise(&mut u) {
            continue;
        }
        let mut present = values(&u);
        let mut best = count(&present);
        least = least.min(best);
        for _ in 0..MOVES {
            // Turns away from one of the points that exceed the threshold by the smallest amounts.
            let mut reaching: Vec<(f64, usize)> = present
                .iter()
                .zip(0..)
                .filter(|(t, _)| t.abs() >= threshold)
                .map(|(t, i)| (t.abs(), i))
                .collect();
            reaching.sort_by(|a, b| a.0.total_cmp(&b.0));
            let near = reaching.len().min(4);
            if near == 0 {
                break;
            }
            let (size, i) = reaching[rng.random_range(0..near)];
            let mut moved = u.clone();
            let excess = (size - 0.99 * threshold) * present[i].signum();
            kernels::axpy(-excess, row(i), &mut moved);
            if !normalise(&mut moved) {
                break;
            }
            let after = values(&moved);
            let reached = count(&after);
            if reached <= best {
                (u, present, best) = (moved, after, reached);
            }
        }
        least = least.min(best);
    }
    least as f64 / unit.len() as f64
}

/// Number of copies of the basis in [`soft_margin_tight`].
const COPIES: usize = 5;

/// Unit vectors of R^k, k >= 3, such that the smallest eigenvalue of Σ x xᵀ/n is 1/(2k) up to the effect of one point.
/// The number of points with |x_1| >= 1/(2√k) is the smallest possible. One in 4k-1 points is e_1. The others have
/// |x_1| just below the threshold and are spread evenly over the other axes.
fn soft_margin_tight(k: usize) -> Result<Points, Failure> {
    let groups = COPIES * (k - 1);
    let along = 0.5 / (k as f64).sqrt() * (1.0 - 1e-9);
    let across = (1.0 - along * along).sqrt();
    let mut rows = vec![vec![0.0; k]; (4 * k - 1) * groups + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        // One more point than the fraction requires, because the others stay below the threshold.
        if i <= groups {
            row[0] = 1.0;
        } else {
            let j = i - groups - 1;
            row[0] = along;
            row[1 + j / 2 % (k - 1)] = if j.is_multiple_of(2) { across } else { -across };
        }
    }
    Ok(Points::from_rows(&rows)?)
}

/// Measures the points of [`soft_margin_tight`] without a transform.
pub(super) fn soft(dim: usize, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let points = soft_margin_tight(dim)?;
    let isotropy = Isotropy::measure(&points)?;
    let accuracy = Accuracy::OneSided(0.5);
    // The smaller of the search result and the fraction for the first axis, for which the points are constructed.
    let threshold = 0.5 / (dim as f64).sqrt();
    let reach = points.rows().filter(|x| x.as_slice()[0].abs() >= threshold).count();
    let fraction = worst_fraction(&points, rng).min(reach as f64 / points.len() as f64);
    Ok(Outcome {
        kind: Kind::Isotropic,
        excusable: false,
        residual_share: (1.0 - isotropy.least()) / accuracy.delta(),
        certified: isotropy.least() >= 0.5,
        must_be_found: false,
        exact: false,
        iterations: 0,
        condition: 1.0,
        soft_margin: Some(fraction * 4.0 * dim as f64),
        slope: None,
        covariance_slope: None,
    })
}

/// Makes one fit and checks everything it reports.
pub(super) fn fit(
    points: &Points,
    delta: f64,
    case: Option<&HeavyCase>,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let accuracy =
        if delta > STRICT { Accuracy::OneSided(delta) } else { Accuracy::TwoSided(delta) };
    let solver = ForsterTransform::params().accuracy(accuracy).membership(MEMBERSHIP).check()?;
    let fit = solver.fit(points)?;
    let position = fit.position();
    let (kind, heavy) = match fit.outcome() {
        Found::RadiallyIsotropic(_) => (Kind::Isotropic, false),
        Found::HeavySubspace(_) => (Kind::Heavy, true),
        Found::Unresolved { .. } => (Kind::Unresolved, !position.subspace.members().is_empty()),
    };
    let (residual_share, certified) = if kind == Kind::Unresolved {
        (0.0, false)
    } else {
        recheck(points, position, accuracy, heavy)?
    };
    let exact = case.is_some_and(|case| {
        case.planted().iter().any(|planted| is_planted(&position.subspace, planted))
    });
    let noisy = case.is_some_and(|case| case.noise() > 0.0);
    let obstruction = case.map_or(0.0, HeavyCase::obstruction);
    let boundary = case.is_some() && obstruction == 0.0;
    // One-sided radially isotropic position within 1/2 is the premise of the soft margin.
    let soft_margin = if kind != Kind::Unresolved && position.certificate.holds_within(0.5) {
        let unit = position.transform.apply(&points.select(position.subspace.members())?)?;
        Some(worst_fraction(&unit, rng) * 4.0 * unit.dim() as f64)
    } else {
        None
    };
    let steps = |l: &halfspaces_forster::Level| l.fixed_point_steps + l.newton_steps;
    Ok(Outcome {
        kind,
        excusable: boundary || (noisy && delta < NOISE_FLOOR),
        residual_share,
        certified,
        must_be_found: !noisy && obstruction > delta,
        exact,
        iterations: fit.levels().iter().map(steps).max().unwrap_or(0),
        condition: fit.levels().iter().map(|l| l.condition).fold(0.0, f64::max).min(1e300),
        soft_margin,
        slope: None,
        covariance_slope: None,
    })
}

/// Σ x xᵀ, scaled to trace d.
fn covariance(points: &Points) -> Vec<Vec<f64>> {
    let dim = points.dim();
    let mut sum = vec![vec![0.0; dim]; dim];
    for x in points.rows() {
        for (row, v) in sum.iter_mut().zip(x.as_slice()) {
            kernels::axpy(*v, x.as_slice(), row);
        }
    }
    let trace: f64 = sum.iter().enumerate().map(|(i, row)| row[i]).sum();
    sum.iter_mut().flatten().for_each(|v| *v *= dim as f64 / trace);
    sum
}

/// Fits the slope of ln(relative Frobenius error) against ln n for the scatter estimate from n elliptical points.
pub(super) fn scatter(dim: usize, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let rotation = Rotation::random_with_rng(dim, rng)?;
    let condition: f64 = 100.0;
    let steps = (dim - 1) as f64;
    // The true scatter is that of the points x Q, where the axes of x fall from 1 to 1/condition. It is scaled to trace
    // dim.
    let axes: Vec<f64> = (0..dim).map(|j| condition.powf(-2.0 * j as f64 / steps)).collect();
    let trace: f64 = axes.iter().sum();
    let mut rows = vec![vec![0.0; dim]; dim];
    for (j, row) in rows.iter_mut().enumerate() {
        row[j] = (axes[j] * dim as f64 / trace).sqrt();
    }
    let root = rotation.apply(&Points::from_rows(&rows)?)?;
    let (mut logs, mut of_covariance, mut outcome) = (Vec::new(), Vec::new(), None);
    for n in SCATTER_POINTS {
        let mut values = Gaussian::new(dim, condition)?.sample_with_rng(n, rng)?.into_vec();
        // The points are elliptical but not normal: the radii have no finite mean, and the scatter must not depend on
        // them.
        for row in values.chunks_exact_mut(dim) {
            let inverse: f64 = rng.random_range(1e-12..1.0);
            row.iter_mut().for_each(|v| *v /= inverse);
        }
        let points = rotation.apply(&Points::new(values, dim)?)?;
        let solver = ForsterTransform::params().check()?;
        let result = solver.fit(&points)?;
        let estimate = result.transform().scatter(Normalisation::Trace);
        let covariance = covariance(&points);
        let (mut error, mut null_error, mut size) = (0.0, 0.0, 0.0);
        for i in 0..dim {
            for j in 0..dim {
                let truth: f64 = root.rows().map(|r| r.as_slice()[i] * r.as_slice()[j]).sum();
                error += (estimate[(i, j)] - truth).powi(2);
                null_error += (covariance[i][j] - truth).powi(2);
                size += truth * truth;
            }
        }
        logs.push(((n as f64).ln(), 0.5 * (error / size).ln()));
        of_covariance.push(0.5 * (null_error / size).ln());
        let accuracy = Accuracy::TwoSided(1e-6);
        let (residual_share, certified) = recheck(&points, result.position(), accuracy, false)?;
        let isotropic = matches!(result.outcome(), Found::RadiallyIsotropic(_));
        outcome = Some(Outcome {
            kind: if isotropic { Kind::Isotropic } else { Kind::Unresolved },
            excusable: false,
            residual_share,
            certified,
            must_be_found: false,
            exact: false,
            iterations: result.levels().iter().map(|l| l.fixed_point_steps).max().unwrap_or(0),
            condition: 1.0,
            soft_margin: None,
            slope: None,
            covariance_slope: None,
        });
    }
    let (x, y): (Vec<f64>, Vec<f64>) = logs.into_iter().unzip();
    let mut outcome = outcome.ok_or("no sample sizes")?;
    outcome.slope = Some(stats::slope(&x, &y).ok_or("the error of the scatter is not finite")?);
    outcome.covariance_slope = stats::slope(&x, &of_covariance);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::Excess;
    use halfspaces_data::HeavyKind;

    #[test]
    fn a_wrong_position_is_noticed() {
        let case = HeavyCase::new(HeavyKind::Gaussian, 5, 2, 50, Excess::Share(0.1), 1).unwrap();
        let solver = ForsterTransform::params().check().unwrap();
        let fit = solver.fit(case.points()).unwrap();
        let accuracy = Accuracy::TwoSided(1e-6);
        let (share, certified) = recheck(case.points(), fit.position(), accuracy, true).unwrap();
        assert!(certified && share <= 1.0);
        assert!(!recheck(case.points(), fit.position(), accuracy, false).unwrap().1);
        // The same position, checked against other points.
        let other = HeavyCase::new(HeavyKind::Gaussian, 5, 2, 50, Excess::Share(0.1), 2).unwrap();
        let checked = recheck(other.points(), fit.position(), accuracy, true);
        assert!(checked.is_err() || !checked.unwrap().1);
    }

    #[test]
    fn a_point_within_the_tolerance_may_belong_to_a_planted_subspace() {
        // The plane of the first two axes in R^3 with its share of points, and one more point 8e-11 away from it.
        let mut rows: Vec<[f64; 3]> = (0..8).map(|i| [1.0, f64::from(i) - 3.5, 0.0]).collect();
        rows.extend([[1.0, 9.0, 8e-11 * 82f64.sqrt()], [0.5, 1.0, 2.0], [1.0, -2.0, 3.0]]);
        rows.push([2.0, 1.0, -1.0]);
        let points = Points::from_rows(&rows).unwrap();
        let solver = ForsterTransform::params().membership(MEMBERSHIP).check().unwrap();
        let fit = solver.fit(&points).unwrap();
        let found = &fit.position().subspace;
        assert_eq!((found.dim(), found.members()), (2, &[0, 1, 2, 3, 4, 5, 6, 7, 8][..]));
        let norm = |row: &[f64; 3]| row.iter().map(|v| v * v).sum::<f64>().sqrt();
        let distances: Vec<f64> = rows.iter().map(|row| row[2].abs() / norm(row)).collect();
        let planted = Planted { dim: 2, members: (0..8).collect(), distances };
        assert!(is_planted(found, &planted));
        let mut other = planted.clone();
        other.distances[8] = 2.1e-10;
        assert!(!is_planted(found, &other), "a point beyond the tolerance");
        let missing = Planted { members: (0..10).collect(), ..planted.clone() };
        assert!(!is_planted(found, &missing), "a point of the planted subspace is missing");
        assert!(!is_planted(found, &Planted { dim: 1, ..planted }));
    }

    #[test]
    fn the_search_finds_the_direction_without_points() {
        // 39 of the 40 points lie on a line of the plane. In the direction orthogonal to this line, the fraction is
        // small.
        let mut rows = vec![[1.0, 0.0]; 39];
        rows.push([0.0, 1.0]);
        let unit = Points::from_rows(&rows).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert!(worst_fraction(&unit, &mut rng) * 8.0 < 1.0);
    }
}
