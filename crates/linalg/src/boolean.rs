//! Boolean concepts over {0,1}^n that are halfspaces: conjunctions, disjunctions and decision lists.
//!
//! Each concept labels a [`BooleanPoint`]. It can also be written as a halfspace over lifted points
//! ([`crate::PointSet::lifted`]) that gives the same labels on the whole cube (Notes21). For a decision list of length
//! r, this halfspace has weights ±2^(r-i) for the rules and ±1/2 for the default label, so its margin is about 2^-r.
//! Learners that depend on the margin are slow on decision lists.

use crate::error::InputError;
use crate::halfspace::Halfspace;
use crate::label::Label;
use crate::row::RowView;

/// Maximum number of variables. Each variable is one bit of a `u64`.
pub const MAX_VARIABLES: usize = 64;

/// A point of {0,1}^n, n <= 64, as a bit mask.
///
/// ```
/// use halfspaces_linalg::{BooleanPoint, DenseRow};
/// let point = BooleanPoint::from_row(DenseRow::new(&[1.0, 0.0, 1.0])?)?;
/// assert_eq!(point.mask(), 0b101);
/// assert!(BooleanPoint::from_row(DenseRow::new(&[0.5])?).is_err());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BooleanPoint(u64);

impl BooleanPoint {
    /// Reads a row whose coordinates are all 0 or 1.
    ///
    /// # Errors
    /// [`InputError::NotBoolean`], which contains the first value that is neither 0 nor 1;
    /// [`InputError::ParameterOutOfRange`] for more than [`MAX_VARIABLES`] coordinates.
    #[allow(clippy::float_cmp, reason = "0 and 1 are exact")]
    pub fn from_row<R: RowView>(row: R) -> Result<BooleanPoint, InputError> {
        check_variables(row.dim())?;
        let mut mask = 0;
        for (column, value) in row.entries() {
            if value == 1.0 {
                mask |= 1 << column;
            } else if value != 0.0 {
                return Err(InputError::NotBoolean { column, value });
            }
        }
        Ok(BooleanPoint(mask))
    }

    /// The point whose variable `i` is true iff bit `i` is set.
    #[must_use]
    pub fn from_mask(mask: u64) -> BooleanPoint {
        BooleanPoint(mask)
    }

    /// The bit mask; bit `i` is the value of variable `i`.
    #[must_use]
    pub fn mask(self) -> u64 {
        self.0
    }
}

fn check_variables(n: usize) -> Result<(), InputError> {
    let in_range = (1..=MAX_VARIABLES).contains(&n);
    InputError::check_parameter("variables", n as f64, in_range, "between 1 and 64")
}

/// A variable or its negation.
///
/// ```
/// use halfspaces_linalg::{BooleanConcept, BooleanPoint, Classifier, DecisionList, Label, Literal};
/// // If x1 is false then -, else +.
/// let rule = (Literal { variable: 1, positive: false }, Label::Negative);
/// let list = DecisionList::new(2, vec![rule], Label::Positive)?;
/// assert_eq!(list.label(BooleanPoint::from_mask(0b01)), Label::Negative);
/// assert_eq!(list.label(BooleanPoint::from_mask(0b10)), Label::Positive);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Literal {
    /// Index of the variable, counted from 0.
    pub variable: usize,
    /// The value of the variable that makes the literal true.
    pub positive: bool,
}

impl Literal {
    /// Whether the literal is true at `x`. The index of the variable must be less than the number of variables of the
    /// point.
    fn holds(self, x: BooleanPoint) -> bool {
        (x.0 >> self.variable & 1 == 1) == self.positive
    }

    fn check(self, variables: usize) -> Result<(), InputError> {
        if self.variable < variables {
            Ok(())
        } else {
            Err(InputError::IndexOutOfRange { index: self.variable, len: variables })
        }
    }

    /// Adds `scale` times the literal's value, 0 or 1, to an affine form.
    fn add_to(self, scale: f64, weights: &mut [f64], bias: &mut f64) {
        if !self.positive {
            *bias += scale;
        }
        weights[self.variable] += if self.positive { scale } else { -scale };
    }
}

/// A concept over {0,1}^n.
///
/// ```
/// use halfspaces_linalg::{BooleanConcept, BooleanPoint, Classifier, Disjunction, PointSet, Points};
/// let or = Disjunction::new(2, 0b01, 0b10)?; // x0 or not x1
/// let cube = Points::from_rows(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])?;
/// let by_halfspace = or.to_halfspace()?.label_all(&cube.lifted())?;
/// let by_concept: Vec<_> = (0..4).map(|mask| or.label(BooleanPoint::from_mask(mask))).collect();
/// assert_eq!(by_halfspace, by_concept);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub trait BooleanConcept {
    /// Number of variables n.
    fn variables(&self) -> usize;

    /// The label of a point.
    fn label(&self, x: BooleanPoint) -> Label;

    /// The halfspace over lifted points that agrees with the concept on the cube.
    ///
    /// # Errors
    /// Never fails for concepts created by this crate's constructors.
    fn to_halfspace(&self) -> Result<Halfspace, InputError>;
}

/// A conjunction (AND) of literals: positive iff all are true. The empty conjunction is always positive.
///
/// ```
/// use halfspaces_linalg::{BooleanConcept, BooleanPoint, Classifier, Conjunction, Label};
/// let and = Conjunction::new(3, 0b001, 0b100)?; // x0 and not x2
/// assert_eq!(and.label(BooleanPoint::from_mask(0b011)), Label::Positive);
/// assert_eq!(and.label(BooleanPoint::from_mask(0b101)), Label::Negative);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conjunction {
    variables: usize,
    /// Variables that must be true.
    required: u64,
    /// Variables that must be false.
    forbidden: u64,
}

/// A disjunction (OR) of literals: positive iff at least one is true. The empty disjunction is always negative.
///
/// ```
/// use halfspaces_linalg::{BooleanConcept, BooleanPoint, Classifier, Disjunction, Label};
/// let or = Disjunction::new(3, 0b001, 0b100)?; // x0 or not x2
/// assert_eq!(or.label(BooleanPoint::from_mask(0b100)), Label::Negative);
/// assert_eq!(or.label(BooleanPoint::from_mask(0b000)), Label::Positive);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Disjunction {
    variables: usize,
    positive: u64,
    negative: u64,
}

fn check_masks(variables: usize, a: u64, b: u64) -> Result<(), InputError> {
    check_variables(variables)?;
    // A shift by all 64 bits gives 0.
    let beyond = (a | b).unbounded_shr(variables as u32);
    if beyond == 0 {
        Ok(())
    } else {
        let index = variables + beyond.trailing_zeros() as usize;
        Err(InputError::IndexOutOfRange { index, len: variables })
    }
}

/// Adds to an affine form one literal for each bit that is set.
fn add_masks(positive: u64, negative: u64, weights: &mut [f64], bias: &mut f64) {
    for variable in 0..weights.len() {
        for (mask, sign) in [(positive, true), (negative, false)] {
            if mask >> variable & 1 == 1 {
                Literal { variable, positive: sign }.add_to(1.0, weights, bias);
            }
        }
    }
}

impl Conjunction {
    /// Creates the conjunction that is positive iff all variables in the mask `required` are true and all variables in
    /// `forbidden` are false. If a variable is in both masks, the conjunction is never satisfied.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`], [`InputError::IndexOutOfRange`].
    pub fn new(variables: usize, required: u64, forbidden: u64) -> Result<Self, InputError> {
        check_masks(variables, required, forbidden)?;
        Ok(Conjunction { variables, required, forbidden })
    }
}

impl BooleanConcept for Conjunction {
    fn variables(&self) -> usize {
        self.variables
    }

    fn label(&self, x: BooleanPoint) -> Label {
        if x.0 & self.required == self.required && x.0 & self.forbidden == 0 {
            Label::Positive
        } else {
            Label::Negative
        }
    }

    /// The halfspace of the affine form (number of true literals) - (number of literals) + 1/2.
    fn to_halfspace(&self) -> Result<Halfspace, InputError> {
        let literals = self.required.count_ones() + self.forbidden.count_ones();
        let (mut weights, mut bias) = (vec![0.0; self.variables], 0.5 - f64::from(literals));
        add_masks(self.required, self.forbidden, &mut weights, &mut bias);
        Halfspace::from_affine(weights, bias)
    }
}

impl Disjunction {
    /// Creates the disjunction that is positive iff a variable in the mask `positive` is true or a variable in
    /// `negative` is false.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`], [`InputError::IndexOutOfRange`].
    pub fn new(variables: usize, positive: u64, negative: u64) -> Result<Self, InputError> {
        check_masks(variables, positive, negative)?;
        Ok(Disjunction { variables, positive, negative })
    }
}

impl BooleanConcept for Disjunction {
    fn variables(&self) -> usize {
        self.variables
    }

    fn label(&self, x: BooleanPoint) -> Label {
        if x.0 & self.positive != 0 || !x.0 & self.negative != 0 {
            Label::Positive
        } else {
            Label::Negative
        }
    }

    /// The halfspace of the affine form (number of true literals) - 1/2.
    fn to_halfspace(&self) -> Result<Halfspace, InputError> {
        let (mut weights, mut bias) = (vec![0.0; self.variables], -0.5);
        add_masks(self.positive, self.negative, &mut weights, &mut bias);
        Halfspace::from_affine(weights, bias)
    }
}

/// A decision list: the rules are tried in order, and the first rule whose literal is true gives the label. If no
/// literal is true, the list returns the default label.
///
/// ```
/// use halfspaces_linalg::{BooleanConcept, BooleanPoint, Classifier, DecisionList, Label, Literal};
/// let rule = |variable, label| (Literal { variable, positive: true }, label);
/// let list = DecisionList::new(
///     2,
///     vec![rule(1, Label::Negative), rule(0, Label::Positive)],
///     Label::Negative,
/// )?;
/// assert_eq!(list.label(BooleanPoint::from_mask(0b01)), Label::Positive);
/// assert_eq!(list.label(BooleanPoint::from_mask(0b11)), Label::Negative);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DecisionList {
    variables: usize,
    rules: Vec<(Literal, Label)>,
    default: Label,
}

impl DecisionList {
    /// Maximum number of rules. Up to this length, the weights 2^(r-i) and the default 1/2 can be added in `f64`
    /// without rounding.
    pub const MAX_RULES: usize = 50;

    /// Creates a list over `variables` variables.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for too many variables or rules;
    /// [`InputError::IndexOutOfRange`] for a literal of a variable that does not exist.
    pub fn new(
        variables: usize,
        rules: Vec<(Literal, Label)>,
        default: Label,
    ) -> Result<DecisionList, InputError> {
        check_variables(variables)?;
        let length = rules.len();
        let in_range = length <= Self::MAX_RULES;
        InputError::check_parameter("rules", length as f64, in_range, "at most 50")?;
        rules.iter().try_for_each(|(literal, _)| literal.check(variables))?;
        Ok(DecisionList { variables, rules, default })
    }

    /// The rules, in order.
    #[must_use]
    pub fn rules(&self) -> &[(Literal, Label)] {
        &self.rules
    }
}

impl BooleanConcept for DecisionList {
    fn variables(&self) -> usize {
        self.variables
    }

    fn label(&self, x: BooleanPoint) -> Label {
        let rule = self.rules.iter().find(|(literal, _)| literal.holds(x));
        rule.map_or(self.default, |(_, label)| *label)
    }

    /// The halfspace of the affine form Σ ±2^(r-i) [literal i is true] ± 1/2. The weight of each rule exceeds the sum
    /// of all later weights.
    fn to_halfspace(&self) -> Result<Halfspace, InputError> {
        let (mut weights, mut bias) = (vec![0.0; self.variables], 0.5 * self.default.as_f64());
        for (after, (literal, label)) in self.rules.iter().rev().enumerate() {
            let scale = label.as_f64() * 2f64.powi(after as i32);
            literal.add_to(scale, &mut weights, &mut bias);
        }
        Halfspace::from_affine(weights, bias)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Classifier, PointSet, Points};
    use proptest::prelude::*;

    /// All points of {0,1}^n as rows.
    fn cube(n: usize) -> Points {
        let rows = (0..1u64 << n)
            .map(|mask| (0..n).map(|i| (mask >> i & 1) as f64).collect())
            .collect::<Vec<Vec<f64>>>();
        Points::from_rows(&rows).unwrap()
    }

    fn agrees_on_the_cube(concept: &impl BooleanConcept) {
        let points = cube(concept.variables());
        let halfspace = concept.to_halfspace().unwrap();
        for (x, lifted) in points.rows().zip(points.lifted().rows()) {
            let label = concept.label(BooleanPoint::from_row(x).unwrap());
            assert_eq!(halfspace.label(lifted).unwrap(), label);
            // A sum of integers and 1/2 is never 0, so no point is on the boundary.
            let value = halfspace.decision_value(lifted).unwrap() * 2f64.sqrt();
            assert!(value.abs() > 0.499);
        }
    }

    proptest! {
        #[test]
        fn every_concept_is_its_halfspace(
            required in 0u64..64, forbidden in 0u64..64,
            rules in prop::collection::vec((0usize..6, any::<bool>(), any::<bool>()), 0..9),
            default in any::<bool>(),
        ) {
            let label = |positive| if positive { Label::Positive } else { Label::Negative };
            agrees_on_the_cube(&Conjunction::new(6, required, forbidden).unwrap());
            agrees_on_the_cube(&Disjunction::new(6, required, forbidden).unwrap());
            let rules = rules
                .into_iter()
                .map(|(variable, positive, out)| (Literal { variable, positive }, label(out)))
                .collect();
            agrees_on_the_cube(&DecisionList::new(6, rules, label(default)).unwrap());
        }
    }

    #[test]
    fn bad_concepts_are_refused() {
        assert!(Conjunction::new(0, 0, 0).is_err());
        assert!(Conjunction::new(65, 0, 0).is_err());
        assert_eq!(
            Conjunction::new(3, 0b1000, 0),
            Err(InputError::IndexOutOfRange { index: 3, len: 3 })
        );
        assert!(Disjunction::new(64, u64::MAX, 0).is_ok());
        let far = vec![(Literal { variable: 2, positive: true }, Label::Positive)];
        assert!(DecisionList::new(2, far, Label::Positive).is_err());
        let long = vec![(Literal { variable: 0, positive: true }, Label::Positive); 51];
        assert!(DecisionList::new(1, long, Label::Positive).is_err());
    }
}
