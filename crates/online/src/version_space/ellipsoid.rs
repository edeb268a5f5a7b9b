//! The ellipsoid method as a centre of the version space. The ellipsoid itself is [`halfspaces_linalg::Ellipsoid`].
//!
//! *Guarantee.* Each cut multiplies the volume by at most e^(-1/(2(d+1))), and the version space contains a ball of
//! radius γ/(1+γ). The learner therefore makes at most 2d(d+1) ln((1+γ)/γ) mistakes.
//!
//! *Source.* Kakade §3. Claims: K8.

use super::learner::{Centre, check_cut};
use crate::bounds;
use halfspaces_linalg::{Ellipsoid, InputError};

/// Mean radius below which the ellipsoid is numerically a point.
const MIN_RADIUS: f64 = 1e-13;

impl Centre for Ellipsoid {
    fn dim(&self) -> usize {
        Ellipsoid::dim(self)
    }

    fn centre(&self) -> &[f64] {
        Ellipsoid::centre(self)
    }

    fn cut(&mut self, a: &[f64]) -> Result<(), InputError> {
        check_cut(Ellipsoid::dim(self), a)?;
        Ellipsoid::cut(self, a)
    }

    fn is_exhausted(&self) -> bool {
        self.log_volume() < Ellipsoid::dim(self) as f64 * MIN_RADIUS.ln()
    }

    fn mistake_bound(&self, margin: f64) -> Option<f64> {
        Some(bounds::ellipsoid_mistakes(Ellipsoid::dim(self), margin))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_runs::{against_the_adversary, needle};
    use super::*;
    use crate::{AsGiven, OnlineLearner, VersionSpace, run};
    use halfspaces_linalg::{Classifier, PointSet, Points};

    #[test]
    fn mistakes_keep_the_bound_and_the_target_stays_inside() {
        for (seed, dim) in [(1, 1), (2, 2), (3, 5), (4, 8)] {
            let (pool, learner, transcript) =
                against_the_adversary(Ellipsoid::new(dim).unwrap(), seed);
            let bound = learner.centre().mistake_bound(pool.margin()).unwrap();
            assert!(transcript.mistakes() as f64 <= bound, "d = {dim}");
            assert_eq!(learner.updates(), transcript.mistakes() as u64);
            assert!(!learner.centre().is_exhausted());
        }
    }

    /// A margin of 1e-9 gives a needle-shaped version space, for which `f64` cannot represent BBᵀ.
    #[test]
    fn a_margin_of_a_billionth_is_within_reach() {
        let gamma = 1e-9;
        // Two points confine the second coordinate to about γ.
        let (points, labels) = needle(gamma);
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
            let wrong = -learner.label(x).unwrap();
            learner.observe(x, wrong).unwrap();
        }
        assert!(learner.centre().is_exhausted());
        assert!(learner.updates() < 5000);
        assert_eq!(Ellipsoid::new(0), Err(InputError::ZeroDimension));
    }
}
