//! Halving.
//!
//! Keep the hypotheses consistent with every label seen; predict by majority, ties +1.
//!
//! *Guarantee.* If some hypothesis of the class C explains all labels, at most lg |C| mistakes,
//! whatever the order: on a mistake at least half of the hypotheses are wrong and go.
//!
//! *Source.* Kakade Algorithm 1 and Theorem 2.2; for the grid class, Kakade §3 and Corollary 3.1, whose
//! printed size (⌈4dR‖w*‖/γ⌉ + 1)^d can be smaller than the class: 2⌈2dR‖w*‖/γ⌉ + 1 values a
//! coordinate it is ([`GridClass`], corrected).
//!
//! A class is any [`FiniteClass`]: it says how 64 hypotheses at a time label a point, and the
//! learner keeps one bit a hypothesis. Labels that no hypothesis explains are a status
//! ([`Halving::is_exhausted`]): the learner then predicts +1.

use crate::error::OnlineError;
use crate::learner::{OnlineLearner, Prediction};
use halfspaces_linalg::{
    BooleanConcept, BooleanPoint, Conjunction, DecisionList, Disjunction, Halfspace, InputError,
    Label, Literal, RowView, kernels,
};

/// Largest class the constructors of this module enumerate: 2^30 hypotheses, 128 MiB of bits.
pub const MAX_CLASS: u128 = 1 << 30;

/// A finite class of hypotheses over R^d, read in blocks of 64.
///
/// ```
/// use halfspaces_linalg::{Conjunction, DenseRow};
/// use halfspaces_online::{BooleanClass, FiniteClass};
/// let class = BooleanClass::<Conjunction>::conjunctions(1)?; // true, x, not x, false
/// let x = class.prepare(DenseRow::new(&[1.0])?)?;
/// // Of the block of members 0 to 63, those that say +: the empty one and x.
/// assert_eq!(class.positive(0, 0b1111, &x).count_ones(), 2);
/// assert_eq!((class.len(), class.dim()), (4, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FiniteClass {
    /// What is computed once a point, before its blocks are read.
    type Prepared;

    /// Number of hypotheses |C|.
    fn len(&self) -> usize;

    /// Whether the class is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of coordinates of the points.
    fn dim(&self) -> usize;

    /// Prepares a point of the right dimension.
    ///
    /// # Errors
    /// [`InputError`] for a point outside the domain of the class.
    fn prepare<R: RowView>(&self, x: R) -> Result<Self::Prepared, InputError>;

    /// Bit `i` set iff hypothesis `64 block + i` labels the point +1. Only the bits set in `alive`
    /// matter; the others may be left out.
    fn positive(&self, block: usize, alive: u64, x: &Self::Prepared) -> u64;
}

/// Evaluates a predicate on the hypotheses of a block that are alive.
fn positive_of(block: usize, mut alive: u64, is_positive: impl Fn(usize) -> bool) -> u64 {
    let mut word = 0;
    while alive != 0 {
        let bit = alive.trailing_zeros();
        if is_positive(64 * block + bit as usize) {
            word |= 1 << bit;
        }
        alive &= alive - 1;
    }
    word
}

/// The halving learner over a finite class.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Halfspace, Label};
/// use halfspaces_online::{Halving, HalfspaceClass, OnlineLearner};
/// let directions = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
/// let class = directions.map(|w| Halfspace::new(w.to_vec())).into_iter().collect::<Result<_, _>>()?;
/// let mut learner = Halving::new(HalfspaceClass::new(class)?)?;
/// let x = DenseRow::new(&[2.0, 1.0])?;
/// learner.observe(x, Label::Negative)?; // leaves (-1, 0) and (0, -1)
/// assert_eq!(learner.consistent(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawHalving<C>"))]
#[cfg_attr(
    feature = "serde",
    serde(bound(deserialize = "C: FiniteClass + serde::Deserialize<'de>"))
)]
pub struct Halving<C> {
    class: C,
    /// The blocks that still hold a consistent hypothesis, with their bits.
    alive: Vec<(usize, u64)>,
    consistent: u64,
    updates: u64,
}

/// What a [`Halving`] learner looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawHalving<C> {
    class: C,
    alive: Vec<(usize, u64)>,
    #[serde(deserialize_with = "crate::weights::saved::count")]
    updates: u64,
}

#[cfg(feature = "serde")]
impl<C: FiniteClass> TryFrom<RawHalving<C>> for Halving<C> {
    type Error = InputError;

    fn try_from(raw: RawHalving<C>) -> Result<Self, InputError> {
        let whole = Halving::new(raw.class)?;
        let mut consistent = 0;
        let mut blocks = whole.alive.iter();
        for &(index, bits) in &raw.alive {
            // Both lists go up; a block or bit that the class does not have is none of its own.
            let known = blocks.find(|(block, _)| *block == index);
            if known.is_none_or(|(_, all)| bits & !all != 0) {
                return Err(InputError::IndexOutOfRange { index, len: whole.alive.len() });
            }
            consistent += u64::from(bits.count_ones());
        }
        Ok(Halving { alive: raw.alive, consistent, updates: raw.updates, ..whole })
    }
}

impl<C: FiniteClass> Halving<C> {
    /// All hypotheses are consistent at first.
    ///
    /// # Errors
    /// [`InputError::Empty`] for an empty class, [`InputError::ZeroDimension`].
    pub fn new(class: C) -> Result<Self, InputError> {
        let size = class.len();
        if size == 0 {
            return Err(InputError::Empty);
        }
        if class.dim() == 0 {
            return Err(InputError::ZeroDimension);
        }
        let bits = |block: usize| match size - 64 * block {
            left @ 0..64 => (1 << left) - 1,
            _ => u64::MAX,
        };
        let alive = (0..size.div_ceil(64)).map(|block| (block, bits(block))).collect();
        Ok(Halving { class, alive, consistent: size as u64, updates: 0 })
    }

    /// The class.
    pub fn class(&self) -> &C {
        &self.class
    }

    /// Number of hypotheses consistent with every label seen.
    pub fn consistent(&self) -> u64 {
        self.consistent
    }

    /// Whether no hypothesis explains the labels seen; the mistake bound is then void.
    pub fn is_exhausted(&self) -> bool {
        self.consistent == 0
    }

    /// The hypotheses still consistent, by index.
    pub fn survivors(&self) -> impl Iterator<Item = usize> {
        self.alive.iter().flat_map(|&(block, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| 64 * block + bit)
        })
    }

    fn prepared<R: RowView>(&self, x: R) -> Result<C::Prepared, InputError> {
        InputError::check_dim(self.class.dim(), x.dim())?;
        self.class.prepare(x)
    }
}

impl<C: FiniteClass> OnlineLearner for Halving<C> {
    fn dim(&self) -> usize {
        self.class.dim()
    }

    /// The value is (votes for +1 minus votes for -1) / votes, in [-1, 1].
    fn predict<R: RowView>(&self, x: R) -> Result<Prediction, OnlineError> {
        let x = self.prepared(x)?;
        let votes = |&(block, bits): &(usize, u64)| {
            u64::from((self.class.positive(block, bits, &x) & bits).count_ones())
        };
        let positive: u64 = self.alive.iter().map(votes).sum();
        let total = self.consistent.max(1) as f64;
        Ok(Prediction::from_value((2.0 * positive as f64 - self.consistent as f64) / total))
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, OnlineError> {
        // A unanimous vote that was right leaves everyone where they are.
        if prediction.value.abs() >= 1.0 && prediction.label == truth {
            return Ok(false);
        }
        let x = self.prepared(x)?;
        let class = &self.class;
        let before = self.consistent;
        self.consistent = 0;
        self.alive.retain_mut(|(block, bits)| {
            let positive = class.positive(*block, *bits, &x);
            *bits &= if truth == Label::Positive { positive } else { !positive };
            self.consistent += u64::from(bits.count_ones());
            *bits != 0
        });
        let changed = self.consistent != before;
        self.updates += u64::from(changed);
        Ok(changed)
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

/// A list of halfspaces of one dimension.
///
/// ```
/// use halfspaces_linalg::Halfspace;
/// use halfspaces_online::{FiniteClass, HalfspaceClass};
/// let class = HalfspaceClass::new(vec![Halfspace::new(vec![1.0])?, Halfspace::new(vec![-1.0])?])?;
/// assert_eq!((class.len(), class.dim()), (2, 1));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<Halfspace>", into = "Vec<Halfspace>"))]
pub struct HalfspaceClass {
    hypotheses: Vec<Halfspace>,
}

impl TryFrom<Vec<Halfspace>> for HalfspaceClass {
    type Error = InputError;

    fn try_from(hypotheses: Vec<Halfspace>) -> Result<Self, InputError> {
        HalfspaceClass::new(hypotheses)
    }
}

impl From<HalfspaceClass> for Vec<Halfspace> {
    fn from(class: HalfspaceClass) -> Self {
        class.hypotheses
    }
}

impl HalfspaceClass {
    /// # Errors
    /// [`InputError::Empty`], [`InputError::DimensionMismatch`].
    pub fn new(hypotheses: Vec<Halfspace>) -> Result<Self, InputError> {
        let dim = hypotheses.first().ok_or(InputError::Empty)?.dim();
        hypotheses.iter().try_for_each(|h| InputError::check_dim(dim, h.dim()))?;
        Ok(HalfspaceClass { hypotheses })
    }

    /// The hypotheses.
    #[must_use]
    pub fn hypotheses(&self) -> &[Halfspace] {
        &self.hypotheses
    }
}

fn dense<R: RowView>(x: R) -> Vec<f64> {
    let mut values = vec![0.0; x.dim()];
    x.add_scaled_to(1.0, &mut values);
    values
}

impl FiniteClass for HalfspaceClass {
    type Prepared = Vec<f64>;

    fn len(&self) -> usize {
        self.hypotheses.len()
    }

    fn dim(&self) -> usize {
        self.hypotheses.first().map_or(0, Halfspace::dim)
    }

    fn prepare<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        Ok(dense(x))
    }

    fn positive(&self, block: usize, alive: u64, x: &Vec<f64>) -> u64 {
        positive_of(block, alive, |i| {
            self.hypotheses.get(i).is_some_and(|h| kernels::dot(h.normal(), x) >= 0.0)
        })
    }
}

/// Boolean concepts given one by one, or a whole class of them.
///
/// ```
/// use halfspaces_online::{BooleanClass, FiniteClass};
/// assert_eq!(BooleanClass::conjunctions(3)?.len(), 28); // 3^3, and the one that is never true
/// # Ok::<(), halfspaces_online::ClassError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawBooleanClass<B>"))]
#[cfg_attr(
    feature = "serde",
    serde(bound(deserialize = "B: BooleanConcept + serde::Deserialize<'de>"))
)]
pub struct BooleanClass<B> {
    concepts: Vec<B>,
    variables: usize,
}

/// What a [`BooleanClass`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawBooleanClass<B> {
    concepts: Vec<B>,
}

#[cfg(feature = "serde")]
impl<B: BooleanConcept> TryFrom<RawBooleanClass<B>> for BooleanClass<B> {
    type Error = InputError;

    fn try_from(raw: RawBooleanClass<B>) -> Result<Self, InputError> {
        BooleanClass::new(raw.concepts)
    }
}

/// A class too large to enumerate, or parameters that name none.
///
/// ```
/// use halfspaces_online::{ClassError, GridClass};
/// let ClassError::TooLarge { size } = GridClass::new(4, 1.0, 1.0, 0.01).unwrap_err() else { panic!() };
/// assert_eq!(size, 1601f64.powi(4));
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClassError {
    /// The class has more than [`MAX_CLASS`] members.
    #[error(
        "the class has {size:.3e} hypotheses, more than the {} that fit in memory; use a version-space learner instead",
        MAX_CLASS
    )]
    TooLarge {
        /// Its size.
        size: f64,
    },
    /// The parameters are out of range.
    #[error(transparent)]
    Input(#[from] InputError),
}

fn check_size(size: f64) -> Result<(), ClassError> {
    if size <= MAX_CLASS as f64 { Ok(()) } else { Err(ClassError::TooLarge { size }) }
}

impl<B: BooleanConcept> BooleanClass<B> {
    /// The given concepts, all over the same variables.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::DimensionMismatch`].
    pub fn new(concepts: Vec<B>) -> Result<Self, InputError> {
        let variables = concepts.first().ok_or(InputError::Empty)?.variables();
        concepts.iter().try_for_each(|c| InputError::check_dim(variables, c.variables()))?;
        Ok(BooleanClass { concepts, variables })
    }

    /// The concepts.
    #[must_use]
    pub fn concepts(&self) -> &[B] {
        &self.concepts
    }
}

/// Every pair of disjoint masks over `variables`: each variable positive, negative or absent.
fn disjoint_masks(variables: usize) -> impl Iterator<Item = (u64, u64)> {
    let full = (1u64 << variables) - 1;
    (0..=full).flat_map(move |positive| {
        // All subsets of the complement, from the largest to 0.
        let free = full & !positive;
        let mut next = Some(free);
        std::iter::from_fn(move || {
            let negative = next?;
            next = if negative == 0 { None } else { Some((negative - 1) & free) };
            Some((positive, negative))
        })
    })
}

/// 3^n + 1, checked against the largest class.
fn check_ternary(variables: usize) -> Result<(), ClassError> {
    let in_range = (1..=halfspaces_linalg::MAX_VARIABLES).contains(&variables);
    InputError::check_parameter("variables", variables as f64, in_range, "between 1 and 64")?;
    check_size(3f64.powi(variables as i32) + 1.0)
}

impl BooleanClass<Conjunction> {
    /// All 3^n + 1 conjunctions of literals over n variables, the unsatisfiable one included.
    ///
    /// # Errors
    /// [`ClassError::TooLarge`] naming the size; n outside 1..=64.
    pub fn conjunctions(variables: usize) -> Result<Self, ClassError> {
        check_ternary(variables)?;
        let never = Conjunction::new(variables, 1, 1);
        let all = disjoint_masks(variables).map(|(p, n)| Conjunction::new(variables, p, n));
        let concepts = all.chain([never]).collect::<Result<Vec<_>, _>>()?;
        Ok(BooleanClass { concepts, variables })
    }
}

impl BooleanClass<Disjunction> {
    /// All 3^n + 1 disjunctions of literals over n variables, the one always true included.
    ///
    /// # Errors
    /// [`ClassError::TooLarge`] naming the size; n outside 1..=64.
    pub fn disjunctions(variables: usize) -> Result<Self, ClassError> {
        check_ternary(variables)?;
        let always = Disjunction::new(variables, 1, 1);
        let all = disjoint_masks(variables).map(|(p, n)| Disjunction::new(variables, p, n));
        let concepts = all.chain([always]).collect::<Result<Vec<_>, _>>()?;
        Ok(BooleanClass { concepts, variables })
    }
}

impl BooleanClass<DecisionList> {
    /// All decision lists of at most `rules` rules that test different variables: Σ_r n!/(n-r)! 4^r
    /// 2 of them. Lists that say the same are counted as often as they are written.
    ///
    /// # Errors
    /// [`ClassError::TooLarge`] naming the size; n outside 1..=64.
    pub fn decision_lists(variables: usize, rules: usize) -> Result<Self, ClassError> {
        let in_range = (1..=halfspaces_linalg::MAX_VARIABLES).contains(&variables);
        InputError::check_parameter("variables", variables as f64, in_range, "between 1 and 64")?;
        let longest = rules.min(variables).min(DecisionList::MAX_RULES);
        let of_length = |r: usize| (0..r).map(|i| 4.0 * (variables - i) as f64).product::<f64>();
        check_size(2.0 * (0..=longest).map(of_length).sum::<f64>())?;

        let both = [Label::Negative, Label::Positive];
        let mut prefixes: Vec<Vec<(Literal, Label)>> = vec![vec![]];
        let mut concepts = Vec::new();
        for length in 0..=longest {
            for prefix in &prefixes {
                for default in both {
                    concepts.push(DecisionList::new(variables, prefix.clone(), default)?);
                }
            }
            if length == longest {
                break;
            }
            let mut longer = Vec::new();
            for prefix in &prefixes {
                let used = |v: usize| prefix.iter().any(|(literal, _)| literal.variable == v);
                for variable in (0..variables).filter(|v| !used(*v)) {
                    for (positive, label) in both.iter().flat_map(|l| [(false, *l), (true, *l)]) {
                        let mut rules = prefix.clone();
                        rules.push((Literal { variable, positive }, label));
                        longer.push(rules);
                    }
                }
            }
            prefixes = longer;
        }
        Ok(BooleanClass { concepts, variables })
    }
}

impl<B: BooleanConcept> FiniteClass for BooleanClass<B> {
    type Prepared = BooleanPoint;

    fn len(&self) -> usize {
        self.concepts.len()
    }

    fn dim(&self) -> usize {
        self.variables
    }

    fn prepare<R: RowView>(&self, x: R) -> Result<BooleanPoint, InputError> {
        BooleanPoint::from_row(x)
    }

    fn positive(&self, block: usize, alive: u64, x: &BooleanPoint) -> u64 {
        positive_of(block, alive, |i| {
            self.concepts.get(i).is_some_and(|c| c.label(*x) == Label::Positive)
        })
    }
}

/// The halfspaces whose coordinates are multiples `m s` of the step s = γ/(2Rd), |m| <= M with
/// M = ⌈2R‖w*‖d/γ⌉: if some w* separates points of norm at most R with margin γ, a member does so
/// with margin γ/2 (Kakade §3). The class has (2M + 1)^d members, none of which is stored.
///
/// ```
/// use halfspaces_online::{ClassError, FiniteClass, GridClass};
/// let class = GridClass::new(2, 1.0, 1.0, 0.5)?; // M = 8
/// assert_eq!(class.len(), 17 * 17);
/// assert!(matches!(GridClass::new(4, 1.0, 1.0, 0.01), Err(ClassError::TooLarge { .. })));
/// # Ok::<(), ClassError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawGridClass"))]
pub struct GridClass {
    dim: usize,
    /// Largest multiple M.
    most: usize,
    len: usize,
}

/// What a [`GridClass`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawGridClass {
    dim: usize,
    most: usize,
}

#[cfg(feature = "serde")]
impl TryFrom<RawGridClass> for GridClass {
    type Error = ClassError;

    fn try_from(raw: RawGridClass) -> Result<Self, ClassError> {
        GridClass::of_size(raw.dim, raw.most as f64)
    }
}

impl GridClass {
    /// All multiples up to `most` in `dim` coordinates.
    fn of_size(dim: usize, most: f64) -> Result<GridClass, ClassError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension.into());
        }
        InputError::check_parameter("largest multiple", most, most >= 1.0, "at least 1")?;
        let size = (2.0 * most + 1.0).powi(dim.min(1000) as i32);
        check_size(size)?;
        Ok(GridClass { dim, most: most as usize, len: size as usize })
    }

    /// The class for points of norm at most `radius` R and a separator of norm at most
    /// `target_norm` with margin `margin` γ.
    ///
    /// # Errors
    /// [`ClassError::TooLarge`] naming the size; parameters that are not positive and finite.
    pub fn new(
        dim: usize,
        radius: f64,
        target_norm: f64,
        margin: f64,
    ) -> Result<GridClass, ClassError> {
        for (name, value) in [("radius", radius), ("target_norm", target_norm), ("margin", margin)]
        {
            let in_range = value > 0.0 && value.is_finite();
            InputError::check_parameter(name, value, in_range, "positive and finite")?;
        }
        // A product below the range of f64 is still above 0.
        let most = (2.0 * radius * target_norm * dim as f64 / margin).ceil().max(1.0);
        GridClass::of_size(dim, most)
    }

    /// The hypothesis of an index, in multiples of the step.
    #[must_use]
    pub fn multiples(&self, index: usize) -> Vec<f64> {
        let base = 2 * self.most + 1;
        let mut rest = index;
        (0..self.dim)
            .map(|_| {
                let digit = rest % base;
                rest /= base;
                digit as f64 - self.most as f64
            })
            .collect()
    }
}

impl FiniteClass for GridClass {
    type Prepared = Vec<f64>;

    fn len(&self) -> usize {
        self.len
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn prepare<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        Ok(dense(x))
    }

    fn positive(&self, block: usize, alive: u64, x: &Vec<f64>) -> u64 {
        // The step scales every product alike, so the sign is that of the multiples' product.
        let (base, most) = (2 * self.most + 1, self.most as f64);
        positive_of(block, alive, |mut index| {
            let mut value = 0.0;
            for v in x {
                value += ((index % base) as f64 - most) * v;
                index /= base;
            }
            value >= 0.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RandomOrder, SmallestMarginMistake, bounds, run};
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::{Classifier, PointSet, Points};

    fn cube(n: usize) -> Points {
        let bit = |mask: u64, i: usize| (mask >> i & 1) as f64;
        let rows: Vec<Vec<f64>> =
            (0..1u64 << n).map(|mask| (0..n).map(|i| bit(mask, i)).collect()).collect();
        Points::from_rows(&rows).unwrap()
    }

    fn labels(concept: &impl BooleanConcept, points: &Points) -> Vec<Label> {
        points.rows().map(|x| concept.label(BooleanPoint::from_row(x).unwrap())).collect()
    }

    #[test]
    fn classes_have_their_sizes_and_no_member_twice() {
        let conjunctions = BooleanClass::conjunctions(4).unwrap();
        assert_eq!(conjunctions.len(), 82);
        let disjunctions = BooleanClass::disjunctions(4).unwrap();
        let points = cube(4);
        let behaviours = |class: &[Vec<Label>]| {
            class.iter().cloned().collect::<std::collections::HashSet<_>>().len()
        };
        let all: Vec<_> = conjunctions.concepts().iter().map(|c| labels(c, &points)).collect();
        assert_eq!(behaviours(&all), 82);
        let all: Vec<_> = disjunctions.concepts().iter().map(|c| labels(c, &points)).collect();
        assert_eq!(behaviours(&all), 82);
        // 2 (1 + 4·2 + 4·2·4·1) = 82 lists over two variables.
        assert_eq!(BooleanClass::decision_lists(2, 5).unwrap().len(), 82);
        assert!(matches!(
            BooleanClass::conjunctions(40),
            Err(ClassError::TooLarge { size }) if size > 1e19
        ));
        assert!(BooleanClass::decision_lists(20, 20).is_err());
    }

    #[test]
    fn no_conjunction_costs_more_than_the_logarithm() {
        let class = BooleanClass::conjunctions(4).unwrap();
        let points = cube(4);
        let bound = bounds::halving_mistakes(class.len() as f64);
        let mut most = 0;
        for target in class.concepts() {
            let labels = labels(target, &points);
            for seed in 0..3 {
                let learner = Halving::new(class.clone()).unwrap();
                let order = RandomOrder::new(seed);
                let (learner, transcript) = run(learner, &points, &labels, order).unwrap();
                assert!(transcript.mistakes() as f64 <= bound);
                // After the whole cube exactly the target is left.
                assert_eq!(learner.consistent(), 1);
                most = most.max(transcript.mistakes());
            }
        }
        assert!(most >= 3);
    }

    #[test]
    fn worked_by_hand() {
        // Three halfspaces over the line: +, +, -. At x = 1 the vote is 2 : 1.
        let class =
            HalfspaceClass::new([1.0, 2.0, -1.0].map(|w| Halfspace::new(vec![w]).unwrap()).into());
        let mut learner = Halving::new(class.unwrap()).unwrap();
        let one = Points::from_rows(&[[1.0]]).unwrap();
        let x = one.row(0).unwrap();
        let prediction = learner.observe(x, Label::Negative).unwrap();
        assert_eq!(prediction.value, 1.0 / 3.0);
        assert_eq!(learner.survivors().collect::<Vec<_>>(), [2]);
        // A label nobody explains exhausts the class; then it predicts +1.
        learner.observe(x, Label::Positive).unwrap();
        assert!(learner.is_exhausted());
        assert_eq!(learner.predict(x).unwrap().label, Label::Positive);
    }

    #[test]
    fn blocks_of_any_size_are_whole() {
        for size in [1, 63, 64, 65, 130] {
            let class = (0..size).map(|_| Halfspace::new(vec![1.0]).unwrap()).collect();
            let learner = Halving::new(HalfspaceClass::new(class).unwrap()).unwrap();
            assert_eq!(learner.survivors().count(), size);
        }
    }

    #[test]
    fn the_grid_separates_what_a_halfspace_separates() {
        for seed in 0..8 {
            let target = random_target(2, seed).unwrap();
            let points = MarginBall::new(&target, 0.3).unwrap().sample(200, seed + 50).unwrap();
            let labels = target.label_all(&points).unwrap();
            let class = GridClass::new(2, 1.0, 1.0, 0.3).unwrap();
            let bound = bounds::grid_halving_mistakes(2, 1.0, 1.0, 0.3);
            assert!((2f64.powf(bound) - class.len() as f64).abs() < 1e-6 * class.len() as f64);
            let adversary = SmallestMarginMistake::new(labels.clone());
            let (learner, transcript) =
                run(Halving::new(class).unwrap(), &points, &labels, adversary).unwrap();
            assert!(!learner.is_exhausted());
            assert!(transcript.mistakes() as f64 <= bound);
            // The survivors are exactly the members consistent with all labels.
            for index in 0..learner.class().len() {
                let h = Halfspace::new(learner.class().multiples(index)).unwrap();
                let consistent = h.label_all(&points).unwrap() == labels;
                assert_eq!(consistent, learner.survivors().any(|i| i == index));
            }
        }
    }

    #[test]
    fn a_class_too_large_is_refused_by_its_size() {
        // The size of d = 4, γ = .1 fits under 2^30: 161^4 = 6.7e8. d = 5 does not.
        assert!(GridClass::new(4, 1.0, 1.0, 0.1).is_ok());
        let error = GridClass::new(5, 1.0, 1.0, 0.1).unwrap_err();
        assert!(matches!(error, ClassError::TooLarge { size } if (3e11..4e11).contains(&size)));
        assert!(error.to_string().contains("3.281e11"), "{error}");
        assert!(GridClass::new(0, 1.0, 1.0, 0.1).is_err());
        assert!(GridClass::new(2, 1.0, 1.0, 0.0).is_err());
        assert!(GridClass::new(2, f64::NAN, 1.0, 0.1).is_err());
    }

    #[test]
    fn points_off_the_cube_are_refused_and_change_nothing() {
        let class = BooleanClass::conjunctions(2).unwrap();
        let mut learner = Halving::new(class).unwrap();
        let half = Points::from_rows(&[[0.5, 1.0]]).unwrap();
        let error = learner.observe(half.row(0).unwrap(), Label::Positive).unwrap_err();
        assert_eq!(error, InputError::NotBoolean { column: 0, value: 0.5 }.into());
        assert_eq!(learner.consistent(), 10);
    }
}
