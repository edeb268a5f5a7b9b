//! Instances for the tests of the learners.

use crate::{Classifier, ErrorCount};
use halfspaces_data::{MarginBall, Marginal, random_target};
use halfspaces_linalg::{Halfspace, InputError, Label, Points, margins};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A target and the ball with a margin around its boundary.
pub(crate) struct Instance {
    pub(crate) target: Halfspace,
    marginal: MarginBall,
}

impl Instance {
    pub(crate) fn new(dim: usize, margin: f64, seed: u64) -> Instance {
        let target = random_target(dim, seed).unwrap();
        let marginal = MarginBall::new(&target, margin).unwrap();
        Instance { target, marginal }
    }

    /// `n` points, the label of x flipped with probability `flip`(|w* · x|).
    pub(crate) fn sample(
        &self,
        n: usize,
        seed: u64,
        flip: impl Fn(f64) -> f64,
    ) -> (Points, Vec<Label>) {
        let points = self.marginal.sample(n, seed).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
        let label = |m: f64| {
            let clean = Label::of_sign(m);
            if rng.random::<f64>() < flip(m.abs()) { -clean } else { clean }
        };
        let products = margins(&points, self.target.normal()).unwrap();
        (points, products.into_iter().map(label).collect())
    }

    /// Error on 20 000 fresh points: standard deviation at most 0.0036.
    pub(crate) fn fresh_error<C: Classifier>(&self, c: &C, flip: impl Fn(f64) -> f64) -> f64 {
        let (points, labels) = self.sample(20_000, 0xf4e5, flip);
        ErrorCount::of(c, &points, &labels).unwrap().rate()
    }
}

/// Massart noise of rate `noise`, all of it far from the boundary.
pub(crate) fn only_far(noise: f64) -> impl Fn(f64) -> f64 {
    move |margin| if margin >= 0.4 { noise } else { 0.0 }
}

/// No points, one label too few, a point outside the ball.
pub(crate) fn assert_bad_input(fit: impl Fn(&Points, &[Label]) -> Result<(), InputError>) {
    let none = Points::new(vec![], 2).unwrap();
    assert_eq!(fit(&none, &[]), Err(InputError::Empty));
    let points = Points::from_rows(&[[1.0, 0.0], [0.0, -1.0], [0.0, 0.5]]).unwrap();
    assert_eq!(fit(&points, &[Label::Positive, Label::Negative, Label::Positive]), Ok(()));
    let short = fit(&points, &[Label::Positive]);
    assert_eq!(short, Err(InputError::LengthMismatch { points: 3, labels: 1 }));
    let far = Points::from_rows(&[[1.0, 0.0], [1.0, 0.1]]).unwrap();
    let outside = fit(&far, &[Label::Positive; 2]);
    let name = "norm of the point";
    assert!(matches!(outside, Err(InputError::ParameterOutOfRange { name: n, .. }) if n == name));
}
