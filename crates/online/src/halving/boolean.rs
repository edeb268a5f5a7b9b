//! Classes of Boolean concepts.
//!
//! Claims: K1.

use super::finite::{FiniteClass, check_size, positive_of};
use crate::error::OnlineError;
use halfspaces_linalg::{
    BooleanConcept, BooleanPoint, Conjunction, DecisionList, Disjunction, InputError, Label,
    Literal, RowView,
};

/// A finite class of Boolean concepts: either a given list, or all concepts of one form.
///
/// ```
/// use halfspaces_online::{BooleanClass, FiniteClass};
/// assert_eq!(BooleanClass::conjunctions(3)?.len(), 28); // 3^3 and the unsatisfiable one
/// # Ok::<(), halfspaces_online::OnlineError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BooleanClass<B> {
    concepts: Vec<B>,
    variables: usize,
}

impl<B: BooleanConcept> BooleanClass<B> {
    /// A class of the given concepts, which must all have the same number of variables.
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

/// All pairs of disjoint masks over `variables` variables: each variable occurs positively, negatively or not at all.
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

/// Checks that a class of 3^n + 1 concepts is not too large.
fn check_ternary(variables: usize) -> Result<(), OnlineError> {
    let in_range = (1..=halfspaces_linalg::MAX_VARIABLES).contains(&variables);
    InputError::check_parameter("variables", variables as f64, in_range, "between 1 and 64")?;
    check_size(3f64.powi(variables as i32) + 1.0)
}

impl BooleanClass<Conjunction> {
    /// All 3^n + 1 conjunctions of literals over n variables, including the unsatisfiable one.
    ///
    /// # Errors
    /// [`OnlineError::ClassTooLarge`], which contains the size of the class; [`InputError::ParameterOutOfRange`] for n
    /// outside 1..=64.
    pub fn conjunctions(variables: usize) -> Result<Self, OnlineError> {
        check_ternary(variables)?;
        let never = Conjunction::new(variables, 1, 1);
        let all = disjoint_masks(variables).map(|(p, n)| Conjunction::new(variables, p, n));
        let concepts = all.chain([never]).collect::<Result<Vec<_>, _>>()?;
        Ok(BooleanClass { concepts, variables })
    }
}

impl BooleanClass<Disjunction> {
    /// All 3^n + 1 disjunctions of literals over n variables, including the one that is always true.
    ///
    /// # Errors
    /// [`OnlineError::ClassTooLarge`], which contains the size of the class; [`InputError::ParameterOutOfRange`] for n
    /// outside 1..=64.
    pub fn disjunctions(variables: usize) -> Result<Self, OnlineError> {
        check_ternary(variables)?;
        let always = Disjunction::new(variables, 1, 1);
        let all = disjoint_masks(variables).map(|(p, n)| Disjunction::new(variables, p, n));
        let concepts = all.chain([always]).collect::<Result<Vec<_>, _>>()?;
        Ok(BooleanClass { concepts, variables })
    }
}

impl BooleanClass<DecisionList> {
    /// All decision lists of at most `rules` rules that test distinct variables. There are Σ_r n!/(n-r)! 4^r 2 of these
    /// lists; different lists count separately even if they define the same concept.
    ///
    /// # Errors
    /// [`OnlineError::ClassTooLarge`], which contains the size of the class; [`InputError::ParameterOutOfRange`] for n
    /// outside 1..=64.
    pub fn decision_lists(variables: usize, rules: usize) -> Result<Self, OnlineError> {
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
        positive_of(block, alive, |i| self.concepts[i].label(*x) == Label::Positive)
    }
}
