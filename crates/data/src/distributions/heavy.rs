//! Points with planted heavy subspaces. They are hard cases for algorithms that must distinguish such points from
//! points in general position.
//!
//! A subspace of dimension k is heavy if it contains more than k/d of the points. A case specifies how many points lie
//! in its planted subspace, from exactly the fraction k/d to far more, and how the points inside and outside are
//! distributed. The case records the ground truth: the planted subspaces and their members.

use super::marginal::{Clusters, Gaussian, Marginal, StudentT};
use super::rotation::Rotation;
use crate::streams;
use halfspaces_linalg::{
    InputError, PointSet, Points, getters, kernels, normalise, reserve, rng_for,
};
use rand::{Rng, RngExt};

/// The distribution of the points of a [`HeavyCase`].
///
/// ```
/// use halfspaces_data::{Excess, HeavyCase, HeavyKind};
/// // Two planes of R^6, each with one point more than a third of the 60 points, and their span.
/// let case = HeavyCase::new(HeavyKind::TwoPlanes, 6, 2, 60, Excess::OnePoint, 1)?;
/// let planted: Vec<_> = case.planted().iter().map(|v| (v.dim, v.members.len())).collect();
/// assert_eq!(planted, [(2, 21), (2, 21), (4, 42)]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeavyKind {
    /// Standard normal, both inside and outside the planted subspace.
    Gaussian,
    /// Normal with condition number 10³, both inside and outside the planted subspace.
    Elliptical,
    /// Normal, with norms scaled by random factors between 10^-6 and 10^6.
    Norms6,
    /// Normal, with norms scaled by random factors between 10^-150 and 10^150.
    Norms150,
    /// Normal; every direction occurs up to four times, with random scales and signs.
    Duplicates,
    /// Normal, with a second heavy subspace inside the first, of half its dimension (if k = 1, only the first).
    Nested,
    /// Normal, with two heavy subspaces of dimension k (if 2k > d, only one, as in `Gaussian`).
    TwoPlanes,
    /// Small integers: points inside the subspace are combinations of k integer vectors, and points outside are general
    /// integer vectors.
    Integer,
    /// Encoded categories, which are not rotated: rows of zeros and ones, mostly with one or two ones per row. There
    /// are few distinct rows, and each is repeated many times. A row outside the planted subspace has a one in a column
    /// that does not belong to the subspace, and may also have a one in a column that does. If the excess is large,
    /// some smaller subspaces, spanned by some columns of the planted subspace, are heavy as well.
    OneHot,
    /// Tight clusters, both inside and outside the planted subspace.
    Clustered,
    /// Student-t with one degree of freedom and condition number 10⁶, both inside and outside the planted subspace.
    StudentT,
    /// Normal, where each member is at a relative distance of 1e-9 from its subspace. With a tolerance below 1e-9, no
    /// subspace is heavy. Radially isotropic position is then possible, but only with a very ill-conditioned transform.
    Noisy,
}

impl HeavyKind {
    /// All kinds.
    pub const ALL: [HeavyKind; 12] = [
        HeavyKind::Gaussian,
        HeavyKind::Elliptical,
        HeavyKind::Norms6,
        HeavyKind::Norms150,
        HeavyKind::Duplicates,
        HeavyKind::Nested,
        HeavyKind::TwoPlanes,
        HeavyKind::Integer,
        HeavyKind::OneHot,
        HeavyKind::Clustered,
        HeavyKind::StudentT,
        HeavyKind::Noisy,
    ];
}

/// The amount by which the fraction of the points in a planted subspace exceeds k/d.
///
/// ```
/// use halfspaces_data::{Excess, HeavyCase, HeavyKind};
/// let members = |excess| -> Result<usize, halfspaces_linalg::InputError> {
///     let case = HeavyCase::new(HeavyKind::Gaussian, 4, 2, 60, excess, 1)?;
///     Ok(case.planted()[0].members.len())
/// };
/// // For a plane, k/d of the 60 points is 30, so 30 points are outside.
/// assert_eq!((members(Excess::Boundary)?, members(Excess::Share(0.5))?), (30, 45));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Excess {
    /// The fraction is exactly k/d.
    Boundary,
    /// The subspace contains one point more than k/d of the points.
    OnePoint,
    /// The fraction is k/d plus this part of the remainder 1 - k/d; the part must be in (0, 0.7]. The subspace contains
    /// at least one point more than k/d of the points.
    Share(f64),
}

/// A planted subspace.
///
/// ```
/// use halfspaces_data::{Excess, HeavyCase, HeavyKind};
/// let case = HeavyCase::new(HeavyKind::Integer, 4, 1, 40, Excess::OnePoint, 1)?;
/// let line = &case.planted()[0];
/// // Heavy: it contains more than k/d of the points.
/// assert!(line.members.len() * 4 > line.dim * 40 && line.members.is_sorted());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Planted {
    /// Dimension of the subspace.
    pub dim: usize,
    /// The indices of the points in the subspace, in increasing order: the planted points, and others that happen to
    /// lie in it.
    pub members: Vec<usize>,
    /// Distance of every point from the subspace, relative to the norm of the point. If the norms range over many
    /// powers of ten, the distance of a point outside the subspace may be below any tolerance.
    pub distances: Vec<f64>,
}

/// Maximum relative distance of a member from its subspace that may be due to rounding alone.
const ROUNDING: f64 = 1e-13;
/// Relative distance of the members of a [`HeavyKind::Noisy`] subspace.
const NOISE: f64 = 1e-9;

/// Points with known heavy subspaces.
///
/// ```
/// use halfspaces_data::{Excess, HeavyCase, HeavyKind};
/// use halfspaces_linalg::PointSet;
/// let case = HeavyCase::new(HeavyKind::Gaussian, 6, 2, 60, Excess::OnePoint, 1)?;
/// assert_eq!((case.points().len(), case.points().dim()), (60, 6));
/// assert_eq!(case.planted()[0].dim, 2);
/// assert_eq!(case.planted()[0].members.len(), 21); // 2/6 of 60, plus one
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HeavyCase {
    points: Points,
    planted: Vec<Planted>,
    noise: f64,
}

impl HeavyCase {
    /// Draws a case in R^`dim` with a heavy subspace of dimension `heavy_dim`, using the random stream of `seed`.
    /// `points` is rounded up to a multiple of `dim`.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] unless 1 <= `heavy_dim` < `dim`, `points` >= 5 `dim` and the fraction of
    /// [`Excess::Share`] is in (0, 0.7]; [`InputError::TooLarge`].
    pub fn new(
        kind: HeavyKind,
        dim: usize,
        heavy_dim: usize,
        points: usize,
        excess: Excess,
        seed: u64,
    ) -> Result<HeavyCase, InputError> {
        HeavyCase::with_rng(
            kind,
            dim,
            heavy_dim,
            points,
            excess,
            &mut rng_for(streams::PLANTED_SUBSPACES, seed),
        )
    }

    /// Same as [`HeavyCase::new`], with the caller's random number generator.
    ///
    /// # Errors
    /// Same as [`HeavyCase::new`].
    pub fn with_rng<R: Rng + ?Sized>(
        kind: HeavyKind,
        dim: usize,
        heavy_dim: usize,
        points: usize,
        excess: Excess,
        rng: &mut R,
    ) -> Result<HeavyCase, InputError> {
        let check = InputError::check_parameter;
        let (d, k) = (dim, heavy_dim);
        check("heavy_dim", k as f64, 1 <= k && k < d, "at least 1 and below the dimension")?;
        check("points", points as f64, points / 5 >= d, "at least 5 times the dimension")?;
        if let Excess::Share(share) = excess {
            check("share", share, 0.0 < share && share <= 0.7, "above 0 and at most 0.7")?;
        }
        let n = points.div_ceil(d).saturating_mul(d);
        // If the points do not fit in memory, the function returns an error here.
        reserve(&mut Vec::<f64>::new(), n.saturating_mul(d))?;
        let inside = inside_count(n, k, d, excess);
        let outside = n - inside;
        // Both subspaces must fit: together they must have at most d dimensions and at most n points.
        let two = kind == HeavyKind::TwoPlanes && 2 * k <= d && 2 * inside <= n;

        // Each block consists of the coordinates that are not zero and the number of its points.
        let mut blocks: Vec<(Vec<usize>, usize)> = Vec::new(); // (coordinates, points)
        let low: Vec<usize> = (0..k).collect();
        let half = k.div_ceil(2);
        if two {
            blocks.push((low.clone(), inside));
            blocks.push(((k..2 * k).collect(), inside));
            blocks.push(((0..d).collect(), n - 2 * inside));
        } else if kind == HeavyKind::Nested && k > 1 {
            // A subspace of half the dimension of V. It contains its share of the points in V, plus the same excess.
            let core = inside_count(inside, half, k, excess).min(inside - (k - half));
            blocks.push(((0..half).collect(), core));
            blocks.push((low.clone(), inside - core));
            blocks.push(((0..d).collect(), outside));
        } else {
            blocks.push((low.clone(), inside));
            blocks.push(((0..d).collect(), outside));
        }
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
        if kind == HeavyKind::OneHot {
            rows = one_hot(k, inside, rng);
            for mut row in one_hot(d - k, outside, rng) {
                let category = rng.random_range(0..2 * k);
                row.splice(0..0, (0..k).map(|j| f64::from(u8::from(j == category))));
                rows.push(row);
            }
            rows.iter_mut().for_each(|row| row.resize(d, 0.0));
        } else {
            for (coordinates, count) in &blocks {
                for drawn in draw(kind, coordinates.len(), *count, rng)? {
                    let mut row = vec![0.0; d];
                    coordinates.iter().zip(drawn).for_each(|(j, v)| row[*j] = v);
                    rows.push(row);
                }
            }
        }
        if kind == HeavyKind::Noisy {
            for row in rows.iter_mut().take(inside) {
                let mut noise = vec![0.0; d];
                Gaussian::new(d, 1.0)?.sample_into(rng, &mut noise);
                noise.iter_mut().take(k).for_each(|v| *v = 0.0);
                if normalise(&mut noise) {
                    kernels::axpy(NOISE * kernels::norm_sq(row).sqrt(), &noise, row);
                }
            }
        }

        // The map is a rotation, except that integers are transformed by an integer map and categories are left
        // unchanged.
        let turned = match kind {
            HeavyKind::Integer => integer_turn(&rows, rng)?,
            HeavyKind::OneHot => Points::from_rows(&rows)?,
            _ => Rotation::random_with_rng(d, rng)?.apply(&Points::from_rows(&rows)?)?,
        };
        let spread = match kind {
            HeavyKind::Norms6 => 6.0,
            HeavyKind::Norms150 => 150.0,
            _ => 0.0,
        };
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, rng.random_range(0..=i));
        }
        let mut values = turned.select(&order)?.into_vec();
        for row in values.chunks_exact_mut(d) {
            let exponent: f64 = rng.random_range(-1.0..1.0);
            let scale = if spread > 0.0 { 10f64.powf(spread * exponent) } else { 1.0 };
            row.iter_mut().for_each(|v| *v *= scale);
        }
        let points = Points::new(values, d)?;

        // Ground truth: a point lies in a planted subspace iff its coordinates outside the subspace were zero before
        // the map.
        let mut spaces: Vec<Vec<usize>> = vec![low];
        if two {
            spaces.push((k..2 * k).collect());
            if 2 * k < d {
                spaces.push((0..2 * k).collect());
            }
        } else if kind == HeavyKind::Nested && k > 1 {
            spaces.push((0..half).collect());
        }
        let noise = if kind == HeavyKind::Noisy { NOISE } else { 0.0 };
        let planted = spaces.iter().map(|space| {
            let distance = |i: usize| {
                let row = &rows[order[i]];
                let across: f64 =
                    (0..d).filter(|j| !space.contains(j)).map(|j| row[j] * row[j]).sum();
                (across / kernels::norm_sq(row)).sqrt()
            };
            let distances: Vec<f64> = (0..n).map(distance).collect();
            let inside = |i: &usize| distances[*i] <= 1.5 * noise + ROUNDING;
            Planted { dim: space.len(), members: (0..n).filter(inside).collect(), distances }
        });
        let planted = planted.collect();
        Ok(HeavyCase { points, planted, noise })
    }

    getters! {
        /// The points.
        points: &Points,

        /// The planted subspaces; the first has the requested dimension and excess.
        planted: &[Planted],

        /// Relative distance of the members from their subspace; 0 except for [`HeavyKind::Noisy`].
        noise: f64,
    }

    /// The maximum of (N/n - k/d)/(1 - k/d) over the planted subspaces, where N of the n points lie in a subspace of
    /// dimension k. If the subspace is exact, every transform has λmin(M) <= 1 minus this value. At the boundary k/d
    /// the value is 0.
    #[must_use]
    pub fn obstruction(&self) -> f64 {
        let (n, d) = (self.points.len() as f64, self.points.dim() as f64);
        let of = |planted: &Planted| {
            let share = planted.dim as f64 / d;
            (planted.members.len() as f64 / n - share) / (1.0 - share)
        };
        self.planted.iter().map(of).fold(0.0, f64::max)
    }
}

fn inside_count(n: usize, k: usize, d: usize, excess: Excess) -> usize {
    let least = n * k / d;
    match excess {
        Excess::Boundary => least,
        Excess::OnePoint => least + 1,
        Excess::Share(share) => {
            let fair = k as f64 / d as f64;
            let count = n as f64 * (fair + share * (1.0 - fair));
            // The factor prevents an integer that rounding has increased slightly from being rounded up.
            let count = (count * (1.0 - 4.0 * f64::EPSILON)).ceil() as usize;
            count.clamp(least + 1, n - 1)
        }
    }
}

/// Draws `count` points of the given kind in R^`dim`.
fn draw<R: Rng + ?Sized>(
    kind: HeavyKind,
    dim: usize,
    count: usize,
    rng: &mut R,
) -> Result<Vec<Vec<f64>>, InputError> {
    let sample = match kind {
        HeavyKind::Elliptical => Gaussian::new(dim, 1e3)?.sample_with_rng(count, rng)?,
        HeavyKind::StudentT => StudentT::new(dim, 1.0, 1e6)?.sample_with_rng(count, rng)?,
        HeavyKind::Clustered => {
            let centres = Gaussian::new(dim, 1.0)?.sample_with_rng(2 * dim + 2, rng)?;
            Clusters::new(centres, 0.05)?.sample_with_rng(count, rng)?
        }
        HeavyKind::Integer => {
            let mut values = vec![0.0; count * dim];
            for row in values.chunks_exact_mut(dim) {
                while row.iter().all(|v| *v == 0.0) {
                    row.iter_mut().for_each(|v| *v = f64::from(rng.random_range(-3..=3)));
                }
            }
            Points::new(values, dim)?
        }
        _ => Gaussian::new(dim, 1.0)?.sample_with_rng(count, rng)?,
    };
    let mut rows: Vec<Vec<f64>> = sample.rows().map(|x| x.as_slice().to_vec()).collect();
    if kind == HeavyKind::Duplicates {
        // Every point repeats an earlier one, except for every fourth point and the first `dim` points, which span the
        // space.
        for i in dim..count {
            if i % 4 != 0 {
                let earlier = i - i % 4;
                let scale =
                    f64::from(rng.random_range(1..=8)) * if rng.random() { 1.0 } else { -1.0 };
                if earlier >= dim {
                    rows[i] = rows[earlier].iter().map(|v| v * scale).collect();
                }
            }
        }
    }
    Ok(rows)
}

/// Draws `count` rows of `dim` columns. The rows e_i and e_i + e_(i+1) occur equally often, and the remaining rows are
/// random non-zero rows of zeros and ones. No proper subspace contains its share of the rows.
fn one_hot<R: Rng + ?Sized>(dim: usize, count: usize, rng: &mut R) -> Vec<Vec<f64>> {
    // The pairs (i, i + 1) are cyclic; two columns form only one pair, and one column forms none.
    let pairs = if dim > 2 { dim } else { dim - 1 };
    let mut rows = Vec::with_capacity(count);
    for _ in 0..count / (dim + pairs) {
        for (i, ones) in (0..dim).map(|i| (i, 1)).chain((0..pairs).map(|i| (i, 2))) {
            let mut row = vec![0.0; dim];
            (0..ones).for_each(|step| row[(i + step) % dim] = 1.0);
            rows.push(row);
        }
    }
    while rows.len() < count {
        let row: Vec<f64> = (0..dim).map(|_| f64::from(u8::from(rng.random::<bool>()))).collect();
        if row.iter().any(|v| *v > 0.0) {
            rows.push(row);
        }
    }
    rows
}

/// Multiplies the rows by a unimodular matrix of small integers: a unit lower triangular matrix times a unit upper
/// triangular one, with few non-zero entries off the diagonal.
fn integer_turn<R: Rng + ?Sized>(rows: &[Vec<f64>], rng: &mut R) -> Result<Points, InputError> {
    let mut turned = rows.to_vec();
    let d = rows.first().map_or(0, Vec::len);
    for _ in 0..2 * d {
        let (from, to) = (rng.random_range(0..d), rng.random_range(0..d));
        let sign = if rng.random() { 1.0 } else { -1.0 };
        if from != to {
            turned.iter_mut().for_each(|row| row[to] += sign * row[from]);
        }
    }
    Points::from_rows(&turned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance of x from the span of the rows, by Gram-Schmidt.
    fn distance(basis: &[Vec<f64>], x: &[f64]) -> f64 {
        let mut x = x.to_vec();
        assert!(normalise(&mut x));
        for _ in 0..2 {
            for b in basis {
                kernels::axpy(-kernels::dot(b, &x), b, &mut x);
            }
        }
        kernels::norm_sq(&x).sqrt()
    }

    #[test]
    fn shares_that_come_out_even_are_kept() {
        // The share of a plane in R^6 is a third of the 60 points, that is, 20. With half of the other 40 points, the
        // plane has 40 points in total.
        assert_eq!(inside_count(60, 2, 6, Excess::Share(0.5)), 40);
        assert_eq!(inside_count(60, 2, 6, Excess::Share(0.51)), 41);
        assert_eq!(inside_count(60, 2, 6, Excess::Boundary), 20);
    }

    #[test]
    fn the_planted_members_span_their_dimension_and_the_others_lie_outside() {
        for kind in HeavyKind::ALL {
            for (d, k) in [(5, 1), (6, 2), (8, 4), (7, 6)] {
                for excess in [Excess::Boundary, Excess::OnePoint, Excess::Share(0.6)] {
                    let case = HeavyCase::new(kind, d, k, 10 * d, excess, 3).unwrap();
                    assert_eq!(case.planted()[0].dim, k);
                    let first = case.planted()[0].members.len();
                    let least = 10 * k;
                    assert!(first >= least + usize::from(excess != Excess::Boundary));
                    if kind != HeavyKind::Integer {
                        assert_eq!(first, inside_count(10 * d, k, d, excess), "{kind:?}");
                    }
                    for planted in case.planted() {
                        let close = (10.0 * case.noise()).max(1e-12);
                        let mut basis: Vec<Vec<f64>> = Vec::new();
                        let row = |i: usize| case.points().row(i).unwrap().as_slice().to_vec();
                        for &i in &planted.members {
                            let mut x = row(i);
                            assert!(normalise(&mut x));
                            if distance(&basis, &x) > 1e-7 {
                                for _ in 0..2 {
                                    for b in &basis {
                                        kernels::axpy(-kernels::dot(b, &x), b, &mut x);
                                    }
                                }
                                assert!(normalise(&mut x));
                                basis.push(x);
                            }
                        }
                        assert_eq!(basis.len(), planted.dim, "{kind:?} d = {d}, k = {k}");
                        for i in 0..case.points().len() {
                            let inside = planted.members.contains(&i);
                            let near = distance(&basis, &row(i)) <= 1e2 * close;
                            assert_eq!(inside, near, "{kind:?} d = {d}, k = {k}, point {i}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_obstruction_is_the_excess_over_what_is_missing() {
        let case = |excess| HeavyCase::new(HeavyKind::Gaussian, 5, 2, 100, excess, 1).unwrap();
        assert!(case(Excess::Boundary).obstruction().abs() < 1e-15);
        assert!((case(Excess::OnePoint).obstruction() - 0.01 / 0.6).abs() < 1e-15);
        assert!((case(Excess::Share(0.5)).obstruction() - 0.5).abs() < 1e-15);
        assert_eq!(case(Excess::Boundary), case(Excess::Boundary));
    }

    #[test]
    fn parameters_are_checked() {
        let new = |d, k, n, excess| HeavyCase::new(HeavyKind::Gaussian, d, k, n, excess, 1);
        for (d, k, n) in [(5, 0, 50), (5, 5, 50), (5, 2, 24)] {
            let error = new(d, k, n, Excess::Boundary).unwrap_err();
            assert!(matches!(error, InputError::ParameterOutOfRange { .. }));
        }
        for share in [0.0, 0.8, f64::NAN] {
            assert!(new(5, 2, 50, Excess::Share(share)).is_err());
        }
    }
}
