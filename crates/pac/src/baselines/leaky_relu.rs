//! The LeakyReLU loss, minimised by the learners that preceded the Perspectron.

use halfspaces_linalg::{InputError, Label, PointSet, RowView};

/// The LeakyReLU loss, minimised by [`Ddk`](crate::Ddk), [`Ckmy`](crate::Ckmy) and [`Dgt`](crate::Dgt).
///
/// The loss is LeakyReLU_λ(t) = (1-λ)t for t >= 0 and λt for t < 0, taken at t = -y (w · x). It is convex in w for λ <=
/// 1/2. It measures the excess of a halfspace's error over λ, weighted by |w · x|:
///
/// - LeakyReLU_λ(-y (w · x)) = (1\[sign(w · x) != y\] - λ) |w · x|, so its mean over the label is
///   (P\[sign(w · x) != y | x\] - λ) |w · x| (DGT19, Claim 2.1);
/// - its subgradient in w is ½((1-2λ) sign(w · x) - y) x, of length at most 1-λ for ‖x‖ <= 1.
///
/// *Source.* CKST24, section 2 and equation (3), which lacks the factor x. At w · x = 0 the rule sign(0) = +1 selects
/// an element of the subdifferential.
///
/// ```
/// use halfspaces_linalg::Label;
/// use halfspaces_pac::LeakyRelu;
/// let loss = LeakyRelu::new(0.25)?;
/// assert_eq!((loss.value(2.0), loss.value(-2.0)), (1.5, -0.5));
/// // At w·x = -2 the label +1 is not predicted, so the loss is (1 - λ)|w·x|; the subgradient is -(1 - λ) x.
/// assert_eq!(loss.of_example(-2.0, Label::Positive), 1.5);
/// assert_eq!(loss.subgradient_factor(-2.0, Label::Positive), -0.75);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeakyRelu {
    leak: f64,
}

impl LeakyRelu {
    /// Creates the loss for a `leak` λ in [0, 1/2], where the loss is convex.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn new(leak: f64) -> Result<LeakyRelu, InputError> {
        let in_range = (0.0..=0.5).contains(&leak);
        InputError::check_parameter("leak", leak, in_range, "between 0 and 1/2")?;
        Ok(LeakyRelu { leak })
    }

    /// The leak λ.
    #[must_use]
    pub fn leak(self) -> f64 {
        self.leak
    }

    /// The loss at t.
    #[must_use]
    pub fn value(self, t: f64) -> f64 {
        if t >= 0.0 { (1.0 - self.leak) * t } else { self.leak * t }
    }

    /// The loss at t = -y (w · x), given w · x and y.
    #[must_use]
    pub fn of_example(self, product: f64, label: Label) -> f64 {
        self.value(-label.as_f64() * product)
    }

    /// The factor of x in the subgradient, ½((1-2λ) sign(w · x) - y), given w · x and y.
    #[must_use]
    pub fn subgradient_factor(self, product: f64, label: Label) -> f64 {
        let predicted = Label::from_sign(product);
        let slope = if predicted == label { -self.leak } else { 1.0 - self.leak };
        slope * predicted.as_f64()
    }

    /// The steepness 1-λ, which bounds the length of the subgradients for ‖x‖ <= 1.
    #[must_use]
    pub fn steepness(self) -> f64 {
        1.0 - self.leak
    }

    /// The mean loss over pairs (w · x, y). There must be at least one pair.
    pub(super) fn mean(self, examples: impl Iterator<Item = (f64, Label)>) -> f64 {
        let (mut sum, mut count) = (0.0, 0usize);
        for (product, label) in examples {
            sum += self.of_example(product, label);
            count += 1;
        }
        sum / count as f64
    }

    /// Writes the mean subgradient at `w` to `gradient`. The mean is over the points for which `included` returns
    /// `true` for w · x. The subgradient is zero if there are no such points.
    pub(super) fn mean_subgradient<P: PointSet>(
        self,
        points: &P,
        labels: &[Label],
        w: &[f64],
        included: impl Fn(f64) -> bool,
        gradient: &mut [f64],
    ) {
        gradient.fill(0.0);
        let mut count = 0usize;
        let mut factor = |product: f64, y: Label| {
            included(product).then(|| {
                count += 1;
                self.subgradient_factor(product, y)
            })
        };
        match points.as_dense() {
            Some(dense) => {
                halfspaces_kernels::combine(
                    dense.as_slice(),
                    w,
                    gradient,
                    #[inline(always)]
                    |i, product| factor(product, labels[i]),
                );
            }
            None => {
                for (x, y) in points.rows().zip(labels) {
                    if let Some(factor) = factor(x.dot(w), *y) {
                        x.add_scaled_to(factor, gradient);
                    }
                }
            }
        }
        // If there are no points, the sum is already zero.
        let count = count.max(1) as f64;
        gradient.iter_mut().for_each(|g| *g /= count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;
    use proptest::prelude::*;

    const LABELS: [Label; 2] = [Label::Negative, Label::Positive];

    #[test]
    fn worked_by_hand() {
        let loss = LeakyRelu::new(0.2).unwrap();
        // If the prediction is right, the loss is -λ|w·x| and the slope is -λ sign. If the prediction is wrong, they
        // are (1-λ)|w·x| and (1-λ) sign.
        let cases = [
            (0.5, Label::Positive, -0.1, -0.2),
            (0.5, Label::Negative, 0.4, 0.8),
            (-0.5, Label::Positive, 0.4, -0.8),
            (-0.5, Label::Negative, -0.1, 0.2),
            (0.0, Label::Positive, 0.0, -0.2),
            (0.0, Label::Negative, 0.0, 0.8),
        ];
        for (product, y, value, factor) in cases {
            assert!((loss.of_example(product, y) - value).abs() < 1e-16);
            assert_eq!(loss.subgradient_factor(product, y), factor);
            // Checks equation (3), with sign(0) = +1.
            let sign = Label::from_sign(product).as_f64();
            assert!((0.5 * (0.6 * sign - y.as_f64()) - factor).abs() < 1e-15);
        }
        assert_eq!(loss.steepness(), 0.8);
    }

    #[test]
    fn mean_by_hand() {
        let [n, p] = LABELS;
        let loss = LeakyRelu::new(0.25).unwrap();
        // The losses are 3/4 · 4 (wrong), -1/4 · 2 (right) and 3/4 · 2 (wrong), and their sum is 4.
        let mean = loss.mean([(4.0, n), (2.0, p), (-2.0, p), (0.0, p)].into_iter());
        assert_eq!(mean, 1.0);
    }

    #[test]
    fn mean_subgradient_by_hand() {
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [-0.5, 0.5]]).unwrap();
        let [n, p] = LABELS;
        let loss = LeakyRelu::new(0.25).unwrap();
        let mut gradient = [9.0; 2];
        // For w = (1, 0), the products are 1 (wrong, factor 3/4), 0 (right, factor -1/4) and -1/2 (right, factor +1/4).
        loss.mean_subgradient(&points, &[n, p, n], &[1.0, 0.0], |_| true, &mut gradient);
        assert_eq!(gradient, [(0.75 - 0.125) / 3.0, (-0.25 + 0.125) / 3.0]);
        loss.mean_subgradient(&points, &[n, p, n], &[1.0, 0.0], |v| v.abs() <= 0.5, &mut gradient);
        assert_eq!(gradient, [-0.0625, -0.0625]);
        loss.mean_subgradient(&points, &[n, p, n], &[1.0, 0.0], |_| false, &mut gradient);
        assert_eq!(gradient, [0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn a_subgradient_lies_below_the_loss(
            leak in 0.0..=0.5f64, at in -1.0..1.0f64, to in -1.0..1.0f64, positive: bool,
        ) {
            let loss = LeakyRelu::new(leak).unwrap();
            let y = LABELS[usize::from(positive)];
            for at in [at, 0.0] {
                let slope = loss.subgradient_factor(at, y);
                let tangent = loss.of_example(at, y) + slope * (to - at);
                prop_assert!(loss.of_example(to, y) >= tangent - 1e-15);
                // Checks Claim 2.1 of DGT19.
                let error = if Label::from_sign(at) == y { 0.0 } else { 1.0 };
                prop_assert!((loss.of_example(at, y) - (error - leak) * at.abs()).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn beyond_one_half_it_is_refused() {
        for leak in [-0.1, 0.51, f64::NAN] {
            assert!(LeakyRelu::new(leak).is_err());
        }
    }
}
