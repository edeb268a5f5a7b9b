//! The ellipsoid method: a shrinking ellipsoid that contains a convex set.

use crate::{InputError, getters, kernels, norm, zeros};

/// An ellipsoid {c + Bz : ‖z‖ <= 1} that contains a convex set. It starts as the unit ball and shrinks with every cut
/// through its centre c.
///
/// A cut with normal a keeps the half {w : a · (w - c) >= 0}. The smallest ellipsoid around that half has the centre
/// c + Bg/(d+1), where g = Bᵀa/‖Bᵀa‖. The axis along g is multiplied by d/(d+1), and all axes orthogonal to g are
/// multiplied by d/√(d²-1).
///
/// *Guarantee.* Each cut multiplies the volume by at most e^(-1/(2(d+1))). If the set contains a ball of radius r that
/// no cut intersects, there are at most 2d(d+1) ln(1/r) cuts. (In one dimension each cut halves the interval, so the
/// bound is valid there too.) An online learner that predicts with the centre (`VersionSpace` of `halfspaces-online`)
/// makes at most 2d(d+1) ln((1+γ)/γ) mistakes.
///
/// *Cost.* Each cut takes O(d²) time, and the ellipsoid stores d² + d numbers. It stores the factor B instead of BBᵀ,
/// whose condition number is the square of that of B. The ellipsoid can therefore shrink around sets of width 1e-9.
///
/// *When to use it.* Use the ellipsoid if the cuts should not be stored, or if they do not all pass through the origin.
/// Methods that store their cuts to compute a centre need fewer cuts.
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
pub struct Ellipsoid {
    centre: Vec<f64>,
    /// B, row by row.
    factor: Vec<f64>,
    /// ln of the volume, relative to that of the unit ball.
    log_volume: f64,
}

/// The factors by which a cut multiplies the axis along g and the axes orthogonal to g.
fn shrinkage(dim: usize) -> (f64, f64) {
    let d = dim as f64;
    // In one dimension there is no orthogonal axis.
    (d / (d + 1.0), if dim > 1 { d / (d * d - 1.0).sqrt() } else { 1.0 })
}

/// ln of the factor by which a cut multiplies the volume.
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

        /// ln of the volume, relative to that of the unit ball.
        log_volume: f64,
    }

    /// Replaces the ellipsoid by the smallest one around its half {w : a · (w - c) >= 0}.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::ZeroVector`] if Bᵀa is 0, which without rounding implies a = 0;
    /// [`InputError::Overflow`] if Bᵀa is not finite. After an error the ellipsoid is unchanged.
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
            // The new factor is across (B - Bg gᵀ) + along Bg gᵀ.
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
        let mut rng = rng_for(RngStream::CALLER, 1);
        let mut direction = || {
            let mut a: Vec<f64> = (0..dim).map(|_| rng.random::<f64>() - 0.5).collect();
            assert!(normalise(&mut a));
            a
        };
        (0..count).map(|_| direction()).collect()
    }

    /// Compares BBᵀ with a matrix P that is updated by the textbook formula.
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
                let factor = faer::MatRef::from_row_major_slice(&ellipsoid.factor, dim, dim);
                let log = factor.determinant().abs().ln();
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
}
