//! The ellipsoid method: a shrinking ellipsoid around a convex set.

use crate::{InputError, getters, kernels, load_checked, norm, zeros};

/// An ellipsoid {c + Bz : ‖z‖ <= 1} around a convex set, at first the unit ball, that shrinks with
/// every cut through its centre c.
///
/// A cut by a keeps the half {w : a · (w - c) >= 0}. The smallest ellipsoid around that half has centre
/// c + Bg/(d+1), g = Bᵀa/‖Bᵀa‖, is d/(d+1) as long along g and d/√(d²-1) as long across it.
///
/// *Guarantee.* A cut multiplies the volume by at most e^(-1/(2(d+1))): if the set holds a ball of radius r
/// that no cut touches, there are at most 2d(d+1) ln(1/r) cuts. (In one dimension the interval is halved,
/// and the bound holds as well.) As the centre of an online learner, `VersionSpace` of `halfspaces-online`,
/// it makes at most 2d(d+1) ln((1+γ)/γ) mistakes.
///
/// *Cost.* O(d²) time per cut, d² + d numbers of memory. The factor B is kept, never BBᵀ, whose condition
/// is the square: sets as thin as 1e-9 are within reach.
///
/// *When to use it.* Where cuts must not be stored, or need not pass through the origin. Centres that
/// remember their cuts need fewer of them.
///
/// *Source.* Kakade §3; Grötschel, Lovász and Schrijver 1988. Claims: K8, S6.
///
/// ```
/// use halfspaces_linalg::Ellipsoid;
/// let mut ellipsoid = Ellipsoid::new(2)?;
/// ellipsoid.cut(&[1.0, 0.0])?;
/// assert!((ellipsoid.centre()[0] - 1.0 / 3.0).abs() < 1e-15);
/// // The smallest ellipse around half the disc has 2/3 · 2/√3 of the disc's area.
/// assert!((ellipsoid.log_volume() - (4.0 / 27.0f64.sqrt()).ln()).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ellipsoid {
    centre: Vec<f64>,
    /// B by rows.
    factor: Vec<f64>,
    /// ln of the volume relative to the unit ball.
    log_volume: f64,
}

load_checked!(Ellipsoid { centre: Vec<f64>, factor: Vec<f64>, log_volume: f64 });

#[cfg(feature = "serde")]
impl Ellipsoid {
    /// Refuses what no cuts can have left behind.
    fn check_saved(&self) -> Result<(), InputError> {
        use crate::{Halfspace, PointSet, Points, log_abs_determinant};
        /// Relative error of a sum over the cuts.
        const SUM: f64 = 1e-9;
        /// Absolute error of ln |det B|, per dimension, where its pivots are within 1e10 of each other.
        const DETERMINANT: f64 = 1e-3;
        let log_volume = self.log_volume;
        let dim = Halfspace::new(self.centre.clone())?.dim();
        InputError::check_dim(dim, Points::new(self.factor.clone(), dim)?.len())?;
        InputError::check_parameter("log_volume", log_volume, log_volume.is_finite(), "finite")?;
        let per_cut = log_shrinkage(dim);
        let cuts = (log_volume / per_cut).round();
        let whole = cuts >= 0.0 && (log_volume - cuts * per_cut).abs() <= SUM * (1.0 - log_volume);
        InputError::check_state(
            whole,
            "the volume of the ellipsoid is not that of any number of cuts",
        )?;
        let agrees = log_abs_determinant(&self.factor, dim)
            .is_none_or(|log| (log - log_volume).abs() <= DETERMINANT * dim as f64);
        InputError::check_state(agrees, "the volume of the ellipsoid is not that of its axes")
    }
}

/// By what a cut multiplies the axis along it, and those across it.
fn shrinkage(dim: usize) -> (f64, f64) {
    let d = dim as f64;
    // In one dimension there is no across.
    (d / (d + 1.0), if dim > 1 { d / (d * d - 1.0).sqrt() } else { 1.0 })
}

/// ln of what a cut multiplies the volume by.
fn log_shrinkage(dim: usize) -> f64 {
    let (along, across) = shrinkage(dim);
    along.ln() + (dim as f64 - 1.0) * across.ln()
}

impl Ellipsoid {
    /// The unit ball of R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<Ellipsoid, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        let mut factor = zeros(dim, dim)?;
        factor.iter_mut().step_by(dim + 1).for_each(|v| *v = 1.0);
        Ok(Ellipsoid { centre: vec![0.0; dim], factor, log_volume: 0.0 })
    }

    /// Number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.centre.len()
    }

    getters! {
        /// The centre c.
        centre: &[f64],

        /// ln of the volume, relative to the unit ball.
        log_volume: f64,
    }

    /// Keeps the smallest ellipsoid around the half {w : a · (w - c) >= 0}.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::ZeroVector`] if Bᵀa is 0, which without rounding only
    /// a = 0 has; [`InputError::Overflow`] if it is not finite. The ellipsoid is then as it was.
    pub fn cut(&mut self, a: &[f64]) -> Result<(), InputError> {
        let d = self.centre.len();
        InputError::check_dim(d, a.len())?;
        // g = Bᵀa / ‖Bᵀa‖
        let mut g = vec![0.0; d];
        for (row, a_i) in self.factor.chunks_exact(d).zip(a) {
            kernels::axpy(*a_i, row, &mut g);
        }
        let length = norm(&g);
        if length == 0.0 {
            return Err(InputError::ZeroVector);
        }
        if !length.is_finite() {
            return Err(InputError::Overflow { row: 0 });
        }
        g.iter_mut().for_each(|v| *v /= length);

        let (along, across) = shrinkage(d);
        let dim = d as f64;
        for (row, c) in self.factor.chunks_exact_mut(d).zip(&mut self.centre) {
            let b = kernels::dot(row, &g);
            *c += b / (dim + 1.0);
            // across (B - Bg gᵀ) + along Bg gᵀ
            row.iter_mut().for_each(|v| *v *= across);
            kernels::axpy((along - across) * b, &g, row);
        }
        self.log_volume += log_shrinkage(d);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RngStream, normalise, rng_for};
    use rand::RngExt;

    /// Random unit vectors.
    fn directions(dim: usize, count: usize) -> Vec<Vec<f64>> {
        let mut rng = rng_for(RngStream::Caller, 1);
        let mut direction = || {
            let mut a: Vec<f64> = (0..dim).map(|_| rng.random::<f64>() - 0.5).collect();
            assert!(normalise(&mut a));
            a
        };
        (0..count).map(|_| direction()).collect()
    }

    /// The plain version: P = BBᵀ by the textbook formula.
    #[test]
    fn the_factor_follows_the_textbook_update() {
        let mut ellipsoid = Ellipsoid::new(3).unwrap();
        let mut p = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut c = [0.0; 3];
        for a in directions(3, 30) {
            ellipsoid.cut(&a).unwrap();
            let pa: Vec<f64> = p.iter().map(|row| kernels::dot(row, &a)).collect();
            let size = kernels::dot(&pa, &a).sqrt();
            for i in 0..3 {
                c[i] += pa[i] / size / 4.0;
                for j in 0..3 {
                    p[i][j] = 9.0 / 8.0 * (p[i][j] - 0.5 * pa[i] * pa[j] / (size * size));
                }
            }
            for i in 0..3 {
                assert!((ellipsoid.centre[i] - c[i]).abs() < 1e-10);
                for (j, p_ij) in p[i].iter().enumerate() {
                    let b = |i: usize| &ellipsoid.factor[3 * i..3 * i + 3];
                    let scale = (p[i][i] * p[j][j]).sqrt();
                    assert!((kernels::dot(b(i), b(j)) - p_ij).abs() < 1e-8 * scale);
                }
            }
        }
    }

    #[test]
    fn the_volume_is_that_of_the_axes_and_falls_as_stated() {
        for dim in [1, 2, 7] {
            let mut ellipsoid = Ellipsoid::new(dim).unwrap();
            for a in directions(dim, 20) {
                let before = ellipsoid.log_volume();
                ellipsoid.cut(&a).unwrap();
                let log = crate::log_abs_determinant(&ellipsoid.factor, dim).unwrap();
                assert!((log - ellipsoid.log_volume()).abs() < 1e-9);
                assert!(before - ellipsoid.log_volume() >= 1.0 / (2.0 * (dim as f64 + 1.0)));
            }
        }
    }

    #[test]
    fn bad_cuts_are_typed_and_change_nothing() {
        assert_eq!(Ellipsoid::new(0), Err(InputError::ZeroDimension));
        let mut ellipsoid = Ellipsoid::new(2).unwrap();
        assert!(matches!(ellipsoid.cut(&[1.0]), Err(InputError::DimensionMismatch { .. })));
        assert_eq!(ellipsoid.cut(&[0.0, 0.0]), Err(InputError::ZeroVector));
        assert_eq!(ellipsoid.cut(&[f64::INFINITY, 0.0]), Err(InputError::Overflow { row: 0 }));
        assert_eq!(ellipsoid, Ellipsoid::new(2).unwrap());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn saved_ellipsoids_are_checked_against_themselves() {
        use serde_json::{from_value, json, to_value};
        for dim in [1, 3] {
            let mut ellipsoid = Ellipsoid::new(dim).unwrap();
            // Long after its axes have become too different for a determinant.
            for a in directions(2 * dim, 200).iter().map(|a| &a[..dim]) {
                ellipsoid.cut(a).unwrap();
                let saved = to_value(&ellipsoid).unwrap();
                assert_eq!(from_value::<Ellipsoid>(saved).unwrap(), ellipsoid);
            }
            let mut along = Ellipsoid::new(dim).unwrap();
            let mut axis = vec![0.0; dim];
            axis[0] = 1.0;
            (0..300).for_each(|_| along.cut(&axis).unwrap());
            assert_eq!(from_value::<Ellipsoid>(to_value(&along).unwrap()).unwrap(), along);
        }
        let mut ellipsoid = Ellipsoid::new(2).unwrap();
        ellipsoid.cut(&[1.0, 0.0]).unwrap();
        let saved = to_value(&ellipsoid).unwrap();
        let per_cut = ellipsoid.log_volume();
        for (field, value) in [
            ("centre", json!([0.1])),
            ("centre", json!([0.1, null])),
            ("factor", json!([1.0, 0.0])),
            // Not a whole number of cuts, none, less than none; as many cuts with other axes.
            ("log_volume", json!(1.5 * per_cut)),
            ("log_volume", json!(0.0)),
            ("log_volume", json!(-per_cut)),
            ("factor", json!([1.0, 0.0, 0.0, 1.0])),
        ] {
            let mut changed = saved.clone();
            changed[field] = value.clone();
            assert!(from_value::<Ellipsoid>(changed).is_err(), "{field}: {value}");
        }
    }
}
