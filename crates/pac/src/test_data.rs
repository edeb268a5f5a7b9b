//! Data for the tests of the learners.

use crate::ErrorCount;
use halfspaces_data::{Gaussian, MarginBall, Marginal, random_target};
use halfspaces_linalg::{
    Classifier, Halfspace, InputError, Label, PointSet, Points, kernels, margins, normalise,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A target and a distribution of points with a margin around its boundary.
pub(crate) struct Instance {
    pub(crate) target: Halfspace,
    marginal: MarginBall,
    /// The unit vector along which points are skewed; it is orthogonal to the target. It is `None` if points are not
    /// skewed.
    skew: Option<Vec<f64>>,
    margin: f64,
}

impl Instance {
    /// Creates an instance whose points are uniform in the ball, outside the margin. The mean of y x is along the
    /// target, so a single step from 0 finds the target.
    pub(crate) fn new(dim: usize, margin: f64, seed: u64) -> Instance {
        let target = random_target(dim, seed).unwrap();
        let marginal = MarginBall::new(&target, margin).unwrap();
        Instance { target, marginal, skew: None, margin }
    }

    /// Creates an instance with skewed points, for margins γ up to 0.2. Each point x with label y has y x = (γ + 0.2 m)
    /// w* ± 0.8 u + 0.4 r, where u is orthogonal to w*. Here m is the margin of a uniform point, and r consists of the
    /// remaining components of that point. The sign is + for 7 points in 10. The mean of y x is mainly along u, and a
    /// halfspace along u misclassifies the remaining 3 points in 10.
    pub(crate) fn skewed(dim: usize, margin: f64, seed: u64) -> Instance {
        let mut skew = random_target(dim, seed + 1000).unwrap().into_normal();
        let plain = Instance::new(dim, margin, seed);
        let along = kernels::dot(&skew, plain.target.normal());
        kernels::axpy(-along, plain.target.normal(), &mut skew);
        assert!(normalise(&mut skew));
        Instance { skew: Some(skew), ..plain }
    }

    fn points(&self, n: usize, seed: u64) -> Points {
        let points = self.marginal.sample(n, seed).unwrap();
        let Some(skew) = &self.skew else { return points };
        let (w, mut rng) = (self.target.normal(), ChaCha8Rng::seed_from_u64(seed ^ 0x5c3));
        let mut rows: Vec<Vec<f64>> = points.rows().map(|x| x.as_slice().to_vec()).collect();
        for x in &mut rows {
            let (m, s) = (kernels::dot(x, w), kernels::dot(x, skew));
            let y = Label::from_sign(m).as_f64();
            let side = if rng.random::<f64>() < 0.7 { 0.8 } else { -0.8 };
            x.iter_mut().for_each(|v| *v *= 0.4);
            kernels::axpy(y * (self.margin + 0.2 * m.abs()) - 0.4 * m, w, x);
            kernels::axpy(y * side - 0.4 * s, skew, x);
        }
        Points::from_rows(&rows).unwrap()
    }

    /// Draws `n` points. The label of x is flipped with probability `flip`(|w* · x|).
    pub(crate) fn sample(
        &self,
        n: usize,
        seed: u64,
        flip: impl Fn(f64) -> f64,
    ) -> (Points, Vec<Label>) {
        let points = self.points(n, seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
        let label = |m: f64| {
            let clean = Label::from_sign(m);
            if rng.random::<f64>() < flip(m.abs()) { -clean } else { clean }
        };
        let products = margins(&points, self.target.normal()).unwrap();
        (points, products.into_iter().map(label).collect())
    }

    /// The error of `c` on 20 000 fresh points, with a standard deviation of at most 0.0036.
    pub(crate) fn fresh_error<C: Classifier>(&self, c: &C, flip: impl Fn(f64) -> f64) -> f64 {
        let (points, labels) = self.sample(20_000, 0xf4e5, flip);
        ErrorCount::count(c, &points, &labels).unwrap().rate()
    }
}

/// Massart noise of rate `noise` on points with a margin of at least `from`, and no noise on points closer to the
/// boundary.
pub(crate) fn only_far(noise: f64, from: f64) -> impl Fn(f64) -> f64 {
    move |margin| if margin >= from { noise } else { 0.0 }
}

/// Gaussian points with condition number 3, with the labels of a halfspace. A tenth of the labels are flipped.
pub(crate) fn noisy(n: usize, dim: usize, seed: u64) -> (Points, Vec<Label>) {
    noisy_gaussian(n, dim, seed, false)
}

/// [`noisy`] points, with half of their entries zero.
pub(crate) fn noisy_with_zeros(n: usize, dim: usize, seed: u64) -> (Points, Vec<Label>) {
    noisy_gaussian(n, dim, seed, true)
}

fn noisy_gaussian(n: usize, dim: usize, seed: u64, zeros: bool) -> (Points, Vec<Label>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let points = Gaussian::new(dim, 3.0).unwrap().sample(n, seed).unwrap();
    let mut keep = |v: f64| if !zeros || rng.random::<bool>() { v } else { 0.0 };
    let values = points.into_vec().into_iter().map(&mut keep).collect();
    let points = Points::new(values, dim).unwrap();
    let labels = random_target(dim, seed + 1).unwrap().label_all(&points).unwrap();
    let flip = |y: Label, u: f64| if u < 0.1 { -y } else { y };
    (points, labels.into_iter().map(|y| flip(y, rng.random())).collect())
}

/// Asserts that `fit` returns the right errors if there are no points, if there are too few labels, and if a point is
/// outside the ball.
pub(crate) fn assert_bad_input(fit: impl Fn(&Points, &[Label]) -> Result<(), InputError>) {
    let none = Points::new(vec![], 2).unwrap();
    assert_eq!(fit(&none, &[]), Err(InputError::Empty));
    let points = Points::from_rows(&[[1.0, 0.0], [0.0, -1.0], [0.0, 0.5]]).unwrap();
    assert_eq!(fit(&points, &[Label::Positive, Label::Negative, Label::Positive]), Ok(()));
    let short = fit(&points, &[Label::Positive]);
    assert_eq!(short, Err(InputError::LengthMismatch { points: 3, labels: 1 }));
    let far = Points::from_rows(&[[1.0, 0.0], [1.0, 0.1]]).unwrap();
    let outside = fit(&far, &[Label::Positive; 2]);
    assert!(matches!(outside, Err(InputError::OutsideBall { row: 1, .. })), "{outside:?}");
}
