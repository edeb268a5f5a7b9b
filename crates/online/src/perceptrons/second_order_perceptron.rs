//! The second-order perceptron.

use super::weights::{Weights, linear_classifier};
use crate::protocol::{OnlineLearner, Prediction};
use crate::scale::positive_norm_sq;
use halfspaces_linalg::{InputError, Label, RowView, kernels, load_checked, zeros};

/// The largest ‖x‖²/a for which the factor represents S accurately enough: the smallest singular value of the factor,
/// √a, is then still a thousand times the rounding error of its largest singular value.
const MAX_CONDITION: f64 = 1e26;

/// The second-order perceptron: a perceptron that whitens the data with the points on which it made mistakes.
///
/// With S = aI + Σ x x' and v = Σ y x over the mistakes so far, it predicts sign(v' (S + x x')⁻¹ x), which equals
/// sign(v' S⁻¹ x).
///
/// *Guarantee.* If a unit u separates the points with margin γ, the learner makes at most (1/γ) √((a + u'Mu) ln det(I +
/// M/a)) mistakes for every order of the points, where M = Σ x x' over the mistakes
/// ([`crate::bounds::second_order_mistakes`]). This is less than the perceptron's bound if the points lie near a
/// low-dimensional subspace. The bound holds for ‖x‖²/a up to 1e26; longer points are rejected.
///
/// *Cost.* O(d²) memory; O(d) time per point, O(d²) per mistake.
///
/// *When to use it.* For correlated or badly scaled features in up to a few thousand dimensions. A good first choice of
/// `a` is about ‖x‖²; a large `a` reduces the method to the perceptron.
///
/// *Method.* The learner keeps a triangular matrix R with R'R = S and a vector z with R'z = v. Givens rotations update
/// both with each new row (x, y); this is the QR form of recursive least squares. The learner never computes S⁻¹,
/// because rounding makes this matrix indefinite once ‖x‖²/a reaches 1e16.
///
/// *Source.* Cesa-Bianchi, Conconi and Gentile 2005, Theorem 3.1. Claims: K13, S6.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Label};
/// use halfspaces_online::{OnlineLearner, SecondOrderPerceptron};
/// let mut learner = SecondOrderPerceptron::new(2, 1.0)?;
/// let x = DenseRow::new(&[3.0, 0.0])?;
/// learner.observe(x, Label::Negative)?;
/// assert!((learner.decision_value(x)? + 0.9).abs() < 1e-15); // -9/(1 + 9)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SecondOrderPerceptron {
    factor: Factor,
    /// S⁻¹ v = R⁻¹ z, the hypothesis.
    weights: Weights,
}

/// The factor of S from which the hypothesis is computed.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Factor {
    a: f64,
    /// The upper triangular matrix R by rows; row j starts with column j. Its diagonal is at least √a.
    triangle: Vec<f64>,
    /// The vector z, with R'z = v.
    rhs: Weights,
    updates: u64,
}

impl Factor {
    fn dim(&self) -> usize {
        self.rhs.dim()
    }

    /// The positions of the diagonal of R in the triangle.
    fn diagonal(&self) -> impl Iterator<Item = usize> {
        let d = self.dim();
        (0..d).scan(0, move |next, j| {
            let at = *next;
            *next += d - j;
            Some(at)
        })
    }

    /// Adds x xᵀ to S and y x to v. Uses x as scratch space.
    fn add(&mut self, mut x: &mut [f64], mut y: f64) {
        let mut triangle = &mut self.triangle[..];
        for z in self.rhs.as_mut_slice() {
            let (row, below) = triangle.split_at_mut(x.len());
            // The rotation that turns (r, x_j) into (‖(r, x_j)‖, 0).
            if x[0] != 0.0 {
                let length = row[0].hypot(x[0]);
                let (cos, sin) = (row[0] / length, x[0] / length);
                row[0] = length;
                for (r, v) in row[1..].iter_mut().zip(&mut x[1..]) {
                    (*r, *v) = (cos * *r + sin * *v, cos * *v - sin * *r);
                }
                (*z, y) = (cos * *z + sin * y, cos * y - sin * *z);
            }
            (triangle, x) = (below, &mut x[1..]);
        }
        self.updates += 1;
    }

    /// R⁻¹ z.
    fn solve(&self) -> Vec<f64> {
        let mut weights = self.rhs.as_slice().to_vec();
        let mut end = self.triangle.len();
        for j in (0..weights.len()).rev() {
            let (head, tail) = weights.split_at_mut(j + 1);
            let row = &self.triangle[end - tail.len() - 1..end];
            head[j] = (head[j] - kernels::dot(&row[1..], tail)) / row[0];
            end -= row.len();
        }
        weights
    }
}

load_checked!(SecondOrderPerceptron { factor: Factor, weights: Weights });

#[cfg(feature = "serde")]
impl SecondOrderPerceptron {
    /// Rejects a saved state that no run can reach.
    fn check_saved(&self) -> Result<(), InputError> {
        let Factor { a, triangle, rhs, updates } = &self.factor;
        InputError::check_parameter("a", *a, *a > 0.0 && a.is_finite(), "positive and finite")?;
        InputError::check_dim(rhs.dim(), self.weights.dim())?;
        let entries = rhs.dim() * (rhs.dim() + 1) / 2;
        InputError::check_state(triangle.len() == entries, "a triangle without d(d+1)/2 numbers")?;
        let finite = triangle.iter().all(|entry| entry.is_finite());
        InputError::check_state(finite, "a triangle entry that is not finite")?;
        let positive = self.factor.diagonal().all(|at| triangle[at] > 0.0);
        InputError::check_state(positive, "a diagonal entry that is not positive")?;
        InputError::check_state(*updates < 1 << 53, "2^53 or more updates")
    }
}

linear_classifier!(SecondOrderPerceptron);

impl SecondOrderPerceptron {
    /// Starts with S = aI in R^`dim`, where a > 0. A large a reduces the method to the perceptron.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::TooLarge`], [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, a: f64) -> Result<Self, InputError> {
        InputError::check_parameter("a", a, a > 0.0 && a.is_finite(), "positive and finite")?;
        let rhs = Weights::zero(dim)?;
        let triangle = zeros(dim.div_ceil(2), dim + usize::from(dim.is_multiple_of(2)))?;
        let mut factor = Factor { a, triangle, rhs, updates: 0 };
        for at in factor.diagonal().collect::<Vec<_>>() {
            factor.triangle[at] = a.sqrt();
        }
        Ok(SecondOrderPerceptron { factor, weights: Weights::zero(dim)? })
    }

    /// ln det(I + M/a) over the mistakes so far, for [`crate::bounds::second_order_mistakes`].
    #[must_use]
    pub fn log_det(&self) -> f64 {
        let root = self.factor.a.sqrt();
        self.factor.diagonal().map(|at| 2.0 * (self.factor.triangle[at] / root).ln()).sum()
    }
}

impl OnlineLearner for SecondOrderPerceptron {
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        self.weights.check(x)?;
        if !prediction.is_wrong(truth) {
            return Ok(false);
        }
        let condition = positive_norm_sq(x)? / self.factor.a;
        let resolved = condition <= MAX_CONDITION;
        let advice = "at most 1e26; rescale the points or choose a larger a";
        InputError::check_parameter("squared norm over a", condition, resolved, advice)?;
        let mut dense = vec![0.0; self.factor.dim()];
        x.add_scaled_to(1.0, &mut dense);
        self.factor.add(&mut dense, truth.as_f64());
        self.weights.as_mut_slice().copy_from_slice(&self.factor.solve());
        debug_assert!(
            self.weights().iter().all(|w| w.is_finite()),
            "entries of R and z are bounded"
        );
        Ok(true)
    }

    fn updates(&self) -> u64 {
        self.factor.updates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Perceptron, RandomOrder, SmallestMarginMistake, bounds, run};
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::{Classifier, DenseRow, Halfspace, PointSet, Points};

    #[test]
    fn points_beyond_the_resolution_are_refused_and_change_nothing() {
        let mut learner = SecondOrderPerceptron::new(1, 1e-200).unwrap();
        let before = learner.clone();
        let x = DenseRow::new(&[1e120]).unwrap();
        let error = learner.observe(x, Label::Negative).unwrap_err();
        assert!(matches!(error, InputError::ParameterOutOfRange { .. }), "{error}");
        assert_eq!(learner, before);
        let x = DenseRow::new(&[1e-87]).unwrap();
        learner.observe(x, Label::Negative).unwrap();
        assert!(learner.decision_value(x).unwrap() < -0.99);
    }

    fn scaled(points: &Points, factor: f64) -> Points {
        Points::new(points.as_slice().iter().map(|v| v * factor).collect(), points.dim()).unwrap()
    }

    /// Plays a run. Returns the learner, the number of its mistakes, and the bound of the theorem on this number.
    fn played(points: &Points, target: &Halfspace, a: f64) -> (SecondOrderPerceptron, usize, f64) {
        let labels = target.label_all(points).unwrap();
        let gamma = target.margin_on(points, &labels).unwrap();
        let learner = SecondOrderPerceptron::new(points.dim(), a).unwrap();
        let adversary = SmallestMarginMistake::new(labels.clone());
        let (learner, transcript) = run(learner, points, &labels, adversary).unwrap();
        let mistaken = transcript.rounds().iter().filter(|r| r.is_mistake());
        let quadratic: f64 =
            mistaken.map(|r| points.row(r.index).unwrap().dot(target.normal()).powi(2)).sum();
        let bound = bounds::second_order_mistakes(a, quadratic, learner.log_det(), gamma);
        (learner, transcript.mistakes(), bound)
    }

    #[test]
    fn mistakes_stay_below_the_realised_bound() {
        for (seed, a) in [(1, 0.1), (2, 1.0), (3, 10.0)] {
            let target = random_target(5, seed).unwrap();
            let points = MarginBall::new(&target, 0.05).unwrap().sample(400, seed + 9).unwrap();
            let (_, mistakes, bound) = played(&points, &target, a);
            assert!(mistakes > 3 && mistakes as f64 <= bound);
        }
    }

    /// A learner that maintains the inverse of S fails here, because the inverse becomes indefinite. It makes 380
    /// mistakes instead of 39, and its bound is NaN.
    #[test]
    fn the_bound_is_kept_at_every_scale() {
        for seed in 1..4 {
            let target = random_target(20, seed).unwrap();
            let points = MarginBall::new(&target, 0.02).unwrap().sample(500, seed + 9).unwrap();
            let mut most = 0;
            for scale in [1.0, 1e4, 1e8, 1e11, 1e13] {
                let (learner, mistakes, bound) = played(&scaled(&points, scale), &target, 1.0);
                assert!(mistakes as f64 <= bound, "{scale:e}: {mistakes} of {bound}");
                assert!(learner.weights().iter().all(|w| w.is_finite()));
                // For a << ‖x‖², the value of a does not matter: the hypothesis is a least-squares fit of the mistakes.
                most = if scale < 1e5 { mistakes } else { most };
                assert!(mistakes <= 2 * most, "{scale:e}: {mistakes}, {most} before");
            }
            // Powers of two scale without rounding.
            let (learner, mistakes, _) = played(&points, &target, 2f64.powi(-60));
            let (same, again, _) = played(&scaled(&points, 2f64.powi(30)), &target, 1.0);
            assert_eq!((mistakes, learner.log_det()), (again, same.log_det()));
        }
    }

    /// A number with twice the precision of `f64`, represented as the sum of two `f64` numbers.
    #[derive(Clone, Copy)]
    struct Double(f64, f64);

    impl Double {
        fn sum(self, other: Double) -> Double {
            let high = self.0 + other.0;
            let part = high - self.0;
            let low = (self.0 - (high - part)) + (other.0 - part) + self.1 + other.1;
            let total = high + low;
            Double(total, low - (total - high))
        }

        fn times(self, other: Double) -> Double {
            let high = self.0 * other.0;
            let low = self.0.mul_add(other.0, -high) + (self.0 * other.1 + self.1 * other.0);
            let total = high + low;
            Double(total, low - (total - high))
        }

        fn over(self, other: Double) -> Double {
            let first = self.0 / other.0;
            let rest = self.sum(other.times(Double(-first, 0.0)));
            let second = rest.0 / other.0;
            let left = rest.sum(other.times(Double(-second, 0.0)));
            Double(first, 0.0).sum(Double(second, 0.0)).sum(Double(left.0 / other.0, 0.0))
        }
    }

    /// Test oracle: the textbook form, which updates S⁻¹ by the Sherman-Morrison formula in 32 digits.
    struct Plain {
        inverse: Vec<Vec<Double>>,
        sum: Vec<Double>,
    }

    impl Plain {
        fn new(dim: usize, a: f64) -> Plain {
            let entry = |i, j| {
                if i == j { Double(1.0, 0.0).over(Double(a, 0.0)) } else { Double(0.0, 0.0) }
            };
            let inverse = (0..dim).map(|i| (0..dim).map(|j| entry(i, j)).collect()).collect();
            Plain { inverse, sum: vec![Double(0.0, 0.0); dim] }
        }

        fn solve(&self, v: &[Double]) -> Vec<Double> {
            let dot = |row: &Vec<Double>| {
                row.iter().zip(v).fold(Double(0.0, 0.0), |sum, (r, v)| sum.sum(r.times(*v)))
            };
            self.inverse.iter().map(dot).collect()
        }

        fn add(&mut self, x: &[f64], y: f64) {
            let x: Vec<Double> = x.iter().map(|v| Double(*v, 0.0)).collect();
            let solved = self.solve(&x);
            let growth =
                x.iter().zip(&solved).fold(Double(1.0, 0.0), |s, (x, v)| s.sum(x.times(*v)));
            for (row, s) in self.inverse.iter_mut().zip(&solved) {
                for (entry, t) in row.iter_mut().zip(&solved) {
                    let change = s.times(*t).over(growth);
                    *entry = entry.sum(Double(-change.0, -change.1));
                }
            }
            for (sum, v) in self.sum.iter_mut().zip(&x) {
                *sum = sum.sum(v.times(Double(y, 0.0)));
            }
        }
    }

    #[test]
    fn the_weights_are_those_of_the_plain_form_in_twice_the_digits() {
        let target = random_target(6, 5).unwrap();
        let points = MarginBall::new(&target, 0.02).unwrap().sample(60, 6).unwrap();
        for (scale, tolerance) in [(1e-3, 1e-12), (1.0, 1e-12), (1e4, 1e-9), (1e7, 1e-6)] {
            let points = scaled(&points, scale);
            let mut learner = SecondOrderPerceptron::new(6, 1.0).unwrap();
            let mut plain = Plain::new(6, 1.0);
            for x in points.rows() {
                let truth = target.label(x).unwrap();
                if learner.observe(x, truth).unwrap().is_wrong(truth) {
                    plain.add(x.as_slice(), truth.as_f64());
                    let expected = plain.solve(&plain.sum);
                    let size = expected.iter().map(|v| v.0.abs()).fold(0.0, f64::max);
                    for (w, expected) in learner.weights().iter().zip(expected) {
                        assert!((w - expected.0).abs() <= tolerance * size, "{scale:e}");
                    }
                }
            }
            assert!(learner.updates() > 3);
        }
    }

    #[test]
    fn a_large_a_is_the_perceptron() {
        let target = random_target(4, 5).unwrap();
        let points = MarginBall::new(&target, 0.02).unwrap().sample(500, 6).unwrap();
        let labels = target.label_all(&points).unwrap();
        let order = || RandomOrder::new(7);
        let huge = SecondOrderPerceptron::new(4, 1e12).unwrap();
        let (_, like) = run(huge, &points, &labels, order()).unwrap();
        let (_, plain) = run(Perceptron::new(4).unwrap(), &points, &labels, order()).unwrap();
        assert_eq!(like.mistakes(), plain.mistakes());
    }

    #[test]
    fn bad_input_is_typed() {
        for a in [0.0, -1.0, f64::NAN] {
            assert!(SecondOrderPerceptron::new(2, a).is_err());
        }
        assert!(SecondOrderPerceptron::new(0, 1.0).is_err());
        for dim in 1..6 {
            let learner = SecondOrderPerceptron::new(dim, 4.0).unwrap();
            assert_eq!(learner.factor.triangle.len(), dim * (dim + 1) / 2);
            assert_eq!(learner.log_det(), 0.0);
        }
    }

    #[test]
    fn the_log_determinant_is_worked_by_hand() {
        // det(I + xx'/4) = 1 + ‖x‖²/4 = 7.25.
        let mut learner = SecondOrderPerceptron::new(2, 4.0).unwrap();
        learner.observe(DenseRow::new(&[3.0, 4.0]).unwrap(), Label::Negative).unwrap();
        assert!((learner.log_det() - 7.25f64.ln()).abs() < 1e-12, "{}", learner.log_det());
    }
}
