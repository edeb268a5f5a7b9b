//! The model: a decision list of positioned rules.
//!
//! Claims: PM.

use super::rule::{PositionedRule, Scratch};
use halfspaces_linalg::{Classifier, InputError, Label, PointSet, RowView, load_checked};
use std::ops::Range;

/// The numbers of points that reach a rule, that the rule covers, and that the rule misclassifies.
///
/// ```
/// use halfspaces_pac::RuleCount;
/// let count = RuleCount { left: 100, inside: 50, errors: 10 };
/// assert_eq!((count.share(), count.error_rate()), (0.5, 0.2));
/// // (10 - 0.25·50)/100.
/// assert_eq!(count.signed_sum(0.25), -0.025);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RuleCount {
    /// The number of points that no earlier rule covers, not counting points at the origin.
    pub left: usize,
    /// The number of these points that the rule covers.
    pub inside: usize,
    /// The number of covered points that the rule misclassifies.
    pub errors: usize,
}

impl RuleCount {
    /// The fraction of the remaining points that the rule covers, or 0 if no points remain.
    #[must_use]
    pub fn share(self) -> f64 {
        self.inside as f64 / self.left.max(1) as f64
    }

    /// The conditional error: the fraction of covered points that the rule misclassifies, or 0 if the rule covers no
    /// points.
    #[must_use]
    pub fn error_rate(self) -> f64 {
        self.errors as f64 / self.inside.max(1) as f64
    }

    /// The signed sum Ĝ. It is the mean over the remaining points of a value that is 1\[wrong\] - λ if the rule covers
    /// the point, and 0 otherwise. It is at most 0 if and only if the conditional error is at most λ.
    #[must_use]
    pub fn signed_sum(self, leak: f64) -> f64 {
        (self.errors as f64 - leak * self.inside as f64) / self.left.max(1) as f64
    }

    /// Whether errors <= inside <= left.
    #[cfg(feature = "serde")]
    pub(super) fn is_possible(self) -> bool {
        self.errors <= self.inside && self.inside <= self.left
    }
}

/// A decision list of positioned rules: the improper hypothesis of
/// [`PositionedMassart`](crate::PositionedMassart).
///
/// A point gets its label from the first rule that covers it. Points that no rule covers get the default label. The
/// origin gets the label +1, as with every homogeneous halfspace. The decision value is v·f(x) of the rule that covers
/// the point; for a constant rule it is ±1. If no rule covers the point, the decision value is the number closest to 0
/// with the sign of the default label. At the origin it is 0. Each evaluated rule takes O(dk) time. Sparse points are
/// converted to dense points one at a time.
///
/// Labels do not change when a point is multiplied by a positive number.
///
/// ```
/// use halfspaces_forster::ForsterTransform;
/// use halfspaces_linalg::{Classifier, DenseRow, Label, Params, Points};
/// use halfspaces_pac::{PositionedAnswer, PositionedDecisionList, PositionedRule};
/// // Three of four points lie on the first axis: a subspace that gets its own rule.
/// let points = Points::from_rows(&[[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])?;
/// let axis = ForsterTransform::params().check()?.fit(&points)?.transform().clone();
/// let rule = PositionedRule::new(axis, 1e-10, PositionedAnswer::Constant(Label::Negative))?;
/// let list = PositionedDecisionList::new(2, vec![rule], Label::Positive)?;
/// assert_eq!(list.rule_for(DenseRow::new(&[7.0, 0.0])?)?, Some(0));
/// assert_eq!(list.label(DenseRow::new(&[7.0, 0.0])?)?, Label::Negative);
/// assert_eq!(list.label(DenseRow::new(&[7.0, 0.1])?)?, Label::Positive);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PositionedDecisionList {
    dim: usize,
    rules: Vec<PositionedRule>,
    default: Label,
}

load_checked! {
    PositionedDecisionList {
        dim: usize,
        rules: Vec<PositionedRule>,
        default: Label,
    } => PositionedDecisionList::new
}

/// The rule or label that applies to a point.
enum Answer {
    Origin,
    Rule { index: usize, value: f64 },
    Default,
}

impl PositionedDecisionList {
    /// Creates a list for points of R^`dim`. Without rules, the list predicts `default` everywhere except at the
    /// origin.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::DimensionMismatch`] for a rule of a different dimension.
    pub fn new(
        dim: usize,
        rules: Vec<PositionedRule>,
        default: Label,
    ) -> Result<PositionedDecisionList, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        rules.iter().try_for_each(|rule| InputError::check_dim(dim, rule.dim()))?;
        Ok(PositionedDecisionList { dim, rules, default })
    }

    /// The rules, in order.
    #[must_use]
    pub fn rules(&self) -> &[PositionedRule] {
        &self.rules
    }

    /// The label of points that no rule covers.
    #[must_use]
    pub fn default_label(&self) -> Label {
        self.default
    }

    /// The index of the first rule that covers `x`. Returns `None` at the origin, and if no rule covers `x`.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn rule_for<R: RowView>(&self, x: R) -> Result<Option<usize>, InputError> {
        InputError::check_dim(self.dim, x.dim())?;
        Ok(match self.answer(x, &mut Scratch::default()) {
            Answer::Rule { index, .. } => Some(index),
            Answer::Origin | Answer::Default => None,
        })
    }

    /// Counts, for each rule, the labelled points that reach it, that it covers, and that it misclassifies. On the part
    /// of the sample on which regions were chosen, these counts equal those in the certificates.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`], [`InputError::DimensionMismatch`].
    pub fn count<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
    ) -> Result<Vec<RuleCount>, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        InputError::check_dim(self.dim, points.dim())?;
        let mut counts = vec![RuleCount { left: 0, inside: 0, errors: 0 }; self.rules.len()];
        let mut scratch = Scratch::default();
        for (x, y) in points.rows().zip(labels) {
            let met = match self.answer(x, &mut scratch) {
                Answer::Origin => 0,
                Answer::Default => self.rules.len(),
                Answer::Rule { index, value } => {
                    counts[index].inside += 1;
                    counts[index].errors += usize::from(Label::from_sign(value) != *y);
                    index + 1
                }
            };
            counts[..met].iter_mut().for_each(|count| count.left += 1);
        }
        Ok(counts)
    }

    fn answer<R: RowView>(&self, x: R, scratch: &mut Scratch) -> Answer {
        if scratch.load(x) { self.answer_loaded(scratch) } else { Answer::Origin }
    }

    fn answer_loaded(&self, scratch: &mut Scratch) -> Answer {
        for (index, rule) in self.rules.iter().enumerate() {
            if let Some(value) = rule.value(scratch) {
                return Answer::Rule { index, value };
            }
        }
        Answer::Default
    }

    /// The label of the point in `scratch`, which must not be the origin.
    pub(super) fn label_loaded(&self, scratch: &mut Scratch) -> Label {
        Label::from_sign(self.value_of(&self.answer_loaded(scratch)))
    }

    fn value<R: RowView>(&self, x: R, scratch: &mut Scratch) -> f64 {
        self.value_of(&self.answer(x, scratch))
    }

    fn value_of(&self, answer: &Answer) -> f64 {
        match *answer {
            Answer::Origin => 0.0,
            Answer::Rule { value, .. } => value,
            Answer::Default => match self.default {
                Label::Positive => 0.0,
                Label::Negative => -f64::MIN_POSITIVE,
            },
        }
    }
}

impl Classifier for PositionedDecisionList {
    fn dim(&self) -> usize {
        self.dim
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        InputError::check_dim(self.dim, x.dim())?;
        Ok(self.value(x, &mut Scratch::default()))
    }

    fn label_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
    ) -> Result<Vec<Label>, InputError> {
        InputError::check_dim(self.dim, points.dim())?;
        let mut scratch = Scratch::default();
        rows.map(|row| {
            let x = points.row(row);
            let x = x.ok_or(InputError::IndexOutOfRange { index: row, len: points.len() })?;
            Ok(Label::from_sign(self.value(x, &mut scratch)))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::PositionedAnswer;
    use super::*;
    use halfspaces_forster::ForsterTransform;
    use halfspaces_linalg::{DenseRow, Halfspace, Params, Points, SparsePoints, Threads};

    /// A list with a rule for the first axis and a rule for points above 0.5 in the plane.
    fn list() -> PositionedDecisionList {
        let solver = ForsterTransform::params().check().unwrap();
        let line = [[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [0.0, 1.0]];
        let line = solver.fit(&Points::from_rows(&line).unwrap()).unwrap();
        let plane = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let plane = solver.fit(&plane).unwrap();
        let direction =
            plane.transform().halfspace_inside(&Halfspace::new(vec![0.0, 1.0]).unwrap());
        let answer = PositionedAnswer::Halfspace { direction: direction.unwrap(), threshold: 0.5 };
        let constant = PositionedAnswer::Constant(Label::Negative);
        let rules = vec![
            PositionedRule::new(line.transform().clone(), 1e-10, constant).unwrap(),
            PositionedRule::new(plane.transform().clone(), 1e-10, answer).unwrap(),
        ];
        PositionedDecisionList::new(2, rules, Label::Negative).unwrap()
    }

    const ROWS: [[f64; 2]; 7] = [
        [1.0, 0.0],
        [-3.0, 0.0],
        [1.0, 1.0],
        [0.1, -5.0],
        [5.0, 1.0],
        [0.0, 0.0],
        [1e-300, 1e-300],
    ];

    #[test]
    fn the_first_rule_that_applies_answers() {
        let (list, points) = (list(), Points::from_rows(&ROWS).unwrap());
        let [p, n] = [Label::Positive, Label::Negative];
        let labels = list.label_all(&points).unwrap();
        assert_eq!(labels, [n, n, p, n, n, p, p]);
        let rules: Vec<_> = points.rows().map(|x| list.rule_for(x).unwrap()).collect();
        assert_eq!(rules, [Some(0), Some(0), Some(1), Some(1), None, None, Some(1)]);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        assert_eq!(list.label_all(&sparse).unwrap(), labels);
        assert_eq!(list.label_all_on(&points, Threads::all()).unwrap(), labels);
        for (dense, sparse) in points.rows().zip(sparse.rows()) {
            let [a, b] = [list.decision_value(dense), list.decision_value(sparse)];
            assert_eq!(a, b);
            assert_eq!(list.label(dense).unwrap(), Label::from_sign(a.unwrap()));
        }
    }

    #[test]
    fn counts_are_those_of_the_first_rule() {
        let (list, points) = (list(), Points::from_rows(&ROWS).unwrap());
        let labels = [Label::Positive; 7];
        let counts = list.count(&points, &labels).unwrap();
        // The origin reaches no rule.
        assert_eq!(counts[0], RuleCount { left: 6, inside: 2, errors: 2 });
        assert_eq!(counts[1], RuleCount { left: 4, inside: 3, errors: 1 });
        assert!(list.count(&points, &labels[1..]).is_err());
        let nothing = RuleCount { left: 0, inside: 0, errors: 0 };
        assert_eq!(
            (nothing.share(), nothing.error_rate(), nothing.signed_sum(0.3)),
            (0.0, 0.0, 0.0)
        );
    }

    #[test]
    fn bad_input_is_typed() {
        let list = list();
        let wide = DenseRow::new(&[1.0; 3]).unwrap();
        assert!(list.label(wide).is_err() && list.rule_for(wide).is_err());
        let points = Points::new(vec![1.0; 3], 3).unwrap();
        assert!(list.label_all(&points).is_err() && list.label_rows(&points, 0..1).is_err());
        assert!(list.count(&points, &[Label::Positive]).is_err());
        let new = PositionedDecisionList::new;
        assert_eq!(new(0, vec![], Label::Positive), Err(InputError::ZeroDimension));
        assert!(new(3, list.rules.clone(), Label::Positive).is_err());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn saved_lists_are_checked() {
        let list = list();
        let text = serde_json::to_string(&list).unwrap();
        assert_eq!(serde_json::from_str::<PositionedDecisionList>(&text).unwrap(), list);
        for (from, to) in [
            (r#""dim":2,"rules""#, r#""dim":3,"rules""#),
            (r#""threshold":0.5"#, r#""threshold":-0.5"#),
            (r#""membership":1e-10"#, r#""membership":1.5"#),
        ] {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text, "{from}");
            assert!(serde_json::from_str::<PositionedDecisionList>(&broken).is_err(), "{to}");
        }
    }
}
