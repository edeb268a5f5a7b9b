//! The ellipsoid method as a centre of the version space.
//!
//! Keep an ellipsoid {c + Bz : ‖z‖ <= 1} around the version space, at first the unit ball. A cut a
//! that the centre violates leaves at most the half {a · (w - c) >= 0}; the smallest ellipsoid around
//! that half has centre c + Bg/(d+1), g = Bᵀa/‖Bᵀa‖, is d/(d+1) as long along g and d/√(d²-1) as
//! long across it.
//!
//! *Guarantee.* Each cut multiplies the volume by at most e^(-1/(2(d+1))), and the version space
//! holds a ball of radius γ/(1+γ), so at most 2d(d+1) ln((1+γ)/γ) mistakes for d >= 2. (For d = 1
//! the interval is halved: the bound holds as well.)
//!
//! *Source.* Kakade §3, Notes21; Grötschel, Lovász and Schrijver 1988. The factor B is kept, never BBᵀ,
//! whose condition is the square: γ = 1e-9 is within reach.

use super::learner::Centre;
use crate::bounds;
use crate::error::OnlineError;
use halfspaces_linalg::{InputError, kernels, norm, zeros};

/// Mean radius below which the ellipsoid cannot be told from a point.
const MIN_RADIUS: f64 = 1e-13;

/// The ellipsoid method. O(d²) a cut.
///
/// ```
/// use halfspaces_online::{Centre, Ellipsoid};
/// let mut ellipsoid = Ellipsoid::new(2)?;
/// ellipsoid.cut(&[1.0, 0.0])?;
/// assert!((ellipsoid.centre()[0] - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawEllipsoid"))]
pub struct Ellipsoid {
    centre: Vec<f64>,
    /// B by rows.
    factor: Vec<f64>,
    /// ln of the volume relative to the unit ball.
    log_volume: f64,
}

/// What an [`Ellipsoid`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawEllipsoid {
    centre: Vec<f64>,
    factor: Vec<f64>,
    log_volume: f64,
}

#[cfg(feature = "serde")]
impl TryFrom<RawEllipsoid> for Ellipsoid {
    type Error = InputError;

    fn try_from(raw: RawEllipsoid) -> Result<Self, InputError> {
        use halfspaces_linalg::{Halfspace, PointSet, Points};
        let centre = Halfspace::new(raw.centre)?.into_normal();
        let factor = Points::new(raw.factor, centre.len())?;
        InputError::check_dim(centre.len(), factor.len())?;
        let log_volume = raw.log_volume;
        InputError::check_parameter("log_volume", log_volume, log_volume.is_finite(), "finite")?;
        Ok(Ellipsoid { centre, factor: factor.into_vec(), log_volume })
    }
}

impl Ellipsoid {
    /// The unit ball of R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`].
    pub fn new(dim: usize) -> Result<Ellipsoid, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        let mut factor = zeros(dim, dim)?;
        factor.iter_mut().step_by(dim + 1).for_each(|v| *v = 1.0);
        Ok(Ellipsoid { centre: vec![0.0; dim], factor, log_volume: 0.0 })
    }

    /// ln of the volume, relative to the unit ball.
    #[must_use]
    pub fn log_volume(&self) -> f64 {
        self.log_volume
    }
}

impl Centre for Ellipsoid {
    fn dim(&self) -> usize {
        self.centre.len()
    }

    fn centre(&self) -> &[f64] {
        &self.centre
    }

    fn cut(&mut self, a: &[f64]) -> Result<(), OnlineError> {
        let d = self.centre.len();
        InputError::check_dim(d, a.len())?;
        // g = Bᵀa / ‖Bᵀa‖
        let mut g = vec![0.0; d];
        for (row, a_i) in self.factor.chunks_exact(d).zip(a) {
            kernels::axpy(*a_i, row, &mut g);
        }
        let length = norm(&g);
        if length == 0.0 || !length.is_finite() {
            return Err(OnlineError::Overflow);
        }
        g.iter_mut().for_each(|v| *v /= length);

        let dim = d as f64;
        let along = dim / (dim + 1.0);
        // In one dimension there is no across.
        let across = if d > 1 { dim / (dim * dim - 1.0).sqrt() } else { 1.0 };
        for (row, c) in self.factor.chunks_exact_mut(d).zip(&mut self.centre) {
            let b = kernels::dot(row, &g);
            *c += b / (dim + 1.0);
            // across (B - Bg gᵀ) + along Bg gᵀ
            row.iter_mut().for_each(|v| *v *= across);
            kernels::axpy((along - across) * b, &g, row);
        }
        self.log_volume += along.ln() + (dim - 1.0) * across.ln();
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        self.log_volume < self.centre.len() as f64 * MIN_RADIUS.ln()
    }

    fn mistake_bound(&self, margin: f64) -> Option<f64> {
        Some(bounds::ellipsoid_mistakes(self.centre.len(), margin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsGiven, OnlineLearner, SmallestMarginMistake, VersionSpace, run};
    use halfspaces_data::{MarginBall, Marginal, Realizable, random_target};
    use halfspaces_linalg::{Classifier, Label, PointSet, Points};

    /// The plain version: P = BBᵀ by the textbook formula.
    #[test]
    fn the_factor_follows_the_textbook_update() {
        let mut ellipsoid = Ellipsoid::new(3).unwrap();
        let mut p = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut c = [0.0; 3];
        for seed in 0..30 {
            let a = random_target(3, seed).unwrap().into_normal();
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
    fn mistakes_keep_the_bound_and_the_target_stays_inside() {
        for (seed, dim) in [(1, 1), (2, 2), (3, 5), (4, 8)] {
            let target = random_target(dim, seed).unwrap();
            let ball = MarginBall::new(&target, 0.02).unwrap().sample(400, seed + 9).unwrap();
            let pool = Realizable::new(ball.normalised().unwrap(), target).unwrap();
            let learner = VersionSpace::new(Ellipsoid::new(dim).unwrap());
            let adversary = SmallestMarginMistake::new(pool.labels().to_vec());
            let (learner, transcript) =
                run(learner, pool.points(), pool.labels(), adversary).unwrap();
            let bound = learner.centre().mistake_bound(pool.margin()).unwrap();
            assert!(transcript.mistakes() as f64 <= bound, "d = {dim}");
            assert_eq!(learner.updates(), transcript.mistakes() as u64);
            assert!(!learner.centre().is_exhausted());
        }
    }

    /// A margin of 1e-9: a needle of a version space, which BBᵀ in f64 could not hold.
    #[test]
    fn a_margin_of_a_billionth_is_within_reach() {
        let gamma = 1e-9;
        // Two points pin the second coordinate down to about γ.
        let points =
            Points::from_rows(&[[gamma, 1.0], [gamma, -1.0]]).unwrap().normalised().unwrap();
        let labels = [Label::Negative; 2];
        let mut learner = VersionSpace::new(Ellipsoid::new(2).unwrap());
        let mut mistakes = 0;
        let bound = learner.centre().mistake_bound(gamma).unwrap();
        for _ in 0..2000 {
            let (after, transcript) = run(learner, &points, &labels, AsGiven::new()).unwrap();
            learner = after;
            mistakes += transcript.mistakes();
            if transcript.mistakes() == 0 {
                break;
            }
        }
        assert_eq!(learner.halfspace().unwrap().label_all(&points).unwrap(), labels);
        assert!(mistakes > 20 && mistakes as f64 <= bound, "{mistakes} of {bound}");
    }

    #[test]
    fn contradictions_exhaust_the_set() {
        let mut learner = VersionSpace::new(Ellipsoid::new(2).unwrap());
        let one = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        let x = one.row(0).unwrap();
        for _ in 0..5000 {
            let wrong = -learner.predict(x).unwrap().label;
            learner.observe(x, wrong).unwrap();
        }
        assert!(learner.centre().is_exhausted());
        assert!(learner.updates() < 5000);
        assert_eq!(Ellipsoid::new(0), Err(InputError::ZeroDimension));
    }
}
