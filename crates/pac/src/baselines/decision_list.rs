//! Decision lists of halfspaces: the improper hypotheses of DGT19.

use halfspaces_linalg::{Classifier, Halfspace, InputError, Label, RowView, getters, load_checked};

/// A rule (w, t) of a decision list: if |w · x| >= t, the label is sign(w · x).
///
/// ```
/// use halfspaces_linalg::Halfspace;
/// use halfspaces_pac::ThresholdRule;
/// let rule = ThresholdRule::new(Halfspace::new(vec![1.0, 0.0])?, 0.5)?;
/// assert_eq!(rule.threshold(), 0.5);
/// assert!(ThresholdRule::new(Halfspace::new(vec![1.0])?, -0.5).is_err());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ThresholdRule {
    halfspace: Halfspace,
    threshold: f64,
}

load_checked!(ThresholdRule { halfspace: Halfspace, threshold: f64 } => ThresholdRule::new);

impl ThresholdRule {
    /// Creates the rule from the halfspace w and the threshold t >= 0.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn new(halfspace: Halfspace, threshold: f64) -> Result<ThresholdRule, InputError> {
        let in_range = threshold >= 0.0 && threshold.is_finite();
        InputError::check_parameter("threshold", threshold, in_range, "finite and at least 0")?;
        Ok(ThresholdRule { halfspace, threshold })
    }

    getters! {
        /// The halfspace w.
        halfspace: &Halfspace,

        /// The threshold t.
        threshold: f64,
    }

    /// Whether the rule applies to a point with the product w · x.
    pub(crate) fn covers(&self, product: f64) -> bool {
        product.abs() >= self.threshold
    }
}

/// A decision list of halfspaces: the improper hypothesis of [`Dgt`](crate::Dgt).
///
/// The first rule (w, t) in the list with |w · x| >= t predicts sign(w · x). If no rule applies, the list predicts the
/// default label. The decision value is w · x of the rule that applies. If no rule applies, it is the number closest to
/// 0 with the sign of the default label. Each evaluated rule takes O(d) time.
///
/// *Source.* \[DGT19\], from memory; CKST24 §1 says only that this hypothesis is improper.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Halfspace, Label};
/// use halfspaces_pac::{DecisionListOfHalfspaces, ThresholdRule};
/// let rule = |w: [f64; 2], t| ThresholdRule::new(Halfspace::new(w.to_vec())?, t);
/// let rules = vec![rule([1.0, 0.0], 0.5)?, rule([0.0, 1.0], 0.5)?];
/// let list = DecisionListOfHalfspaces::new(2, rules, Label::Negative)?;
/// // Both rules apply to the first point, only the second rule to the second, and no rule to the third.
/// for (x, rule, label) in [
///     ([0.6, -0.6], Some(0), Label::Positive),
///     ([0.4, 0.6], Some(1), Label::Positive),
///     ([0.4, 0.4], None, Label::Negative),
/// ] {
///     let x = DenseRow::new(&x)?;
///     assert_eq!((list.rule_for(x)?, list.label(x)?), (rule, label));
/// }
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DecisionListOfHalfspaces {
    dim: usize,
    rules: Vec<ThresholdRule>,
    default: Label,
}

load_checked!(DecisionListOfHalfspaces { dim: usize, rules: Vec<ThresholdRule>, default: Label } => DecisionListOfHalfspaces::new);

impl DecisionListOfHalfspaces {
    /// Creates a list for points of R^`dim`. Without rules, the list predicts `default` everywhere.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::DimensionMismatch`] for a rule of a different dimension.
    pub fn new(
        dim: usize,
        rules: Vec<ThresholdRule>,
        default: Label,
    ) -> Result<DecisionListOfHalfspaces, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        rules.iter().try_for_each(|rule| InputError::check_dim(dim, rule.halfspace.dim()))?;
        Ok(DecisionListOfHalfspaces { dim, rules, default })
    }

    getters! {
        /// The rules, in order.
        rules: &[ThresholdRule],

        /// The label of points to which no rule applies.
        default_label: Label => default,
    }

    /// The index of the first rule that applies to `x`, or `None` if no rule applies.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::Overflow`].
    pub fn rule_for<R: RowView>(&self, x: R) -> Result<Option<usize>, InputError> {
        Ok(self.answer(x)?.map(|(rule, _)| rule))
    }

    /// The index of the first rule that applies, and the product w · x of this rule.
    fn answer<R: RowView>(&self, x: R) -> Result<Option<(usize, f64)>, InputError> {
        InputError::check_dim(self.dim, x.dim())?;
        for (i, rule) in self.rules.iter().enumerate() {
            let product = rule.halfspace.decision_value(x)?;
            if rule.covers(product) {
                return Ok(Some((i, product)));
            }
        }
        Ok(None)
    }
}

impl Classifier for DecisionListOfHalfspaces {
    fn dim(&self) -> usize {
        self.dim
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let default = || match self.default {
            Label::Positive => 0.0,
            Label::Negative => -f64::MIN_POSITIVE,
        };
        Ok(self.answer(x)?.map_or_else(default, |(_, product)| product))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{DenseRow, Points};

    fn rule(w: &[f64], t: f64) -> ThresholdRule {
        ThresholdRule::new(Halfspace::new(w.to_vec()).unwrap(), t).unwrap()
    }

    #[test]
    fn a_threshold_of_zero_covers_everything() {
        let rules = vec![rule(&[-1.0], 0.7), rule(&[1.0], 0.0), rule(&[-1.0], 0.0)];
        let list = DecisionListOfHalfspaces::new(1, rules, Label::Negative).unwrap();
        let points = Points::new(vec![0.7, 0.69, 0.0, -0.1, -1.0], 1).unwrap();
        let [p, n] = [Label::Positive, Label::Negative];
        assert_eq!(list.label_all(&points).unwrap(), [n, p, p, n, p]);
        assert_eq!(list.rule_for(DenseRow::new(&[0.0]).unwrap()), Ok(Some(1)));
    }

    #[test]
    fn bad_input_is_typed() {
        for threshold in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(ThresholdRule::new(Halfspace::new(vec![1.0]).unwrap(), threshold).is_err());
        }
        let new = DecisionListOfHalfspaces::new;
        assert_eq!(new(0, vec![], Label::Positive), Err(InputError::ZeroDimension));
        assert!(new(2, vec![rule(&[1.0], 0.0)], Label::Positive).is_err());
        let list = new(2, vec![], Label::Positive).unwrap();
        assert!(list.label(DenseRow::new(&[1.0]).unwrap()).is_err());
        assert_eq!(list.label(DenseRow::new(&[-1.0, 0.0]).unwrap()), Ok(Label::Positive));
    }
}
