//! Finite classes of hypotheses for `Halving`. Claims: K1, K2.

use crate::error::OnlineError;
use crate::limits::MAX_CLASS;
use halfspaces_linalg::{InputError, RowView};

/// A finite class of hypotheses over R^d, evaluated in blocks of 64.
///
/// ```
/// use halfspaces_linalg::{Conjunction, DenseRow};
/// use halfspaces_online::{BooleanClass, FiniteClass};
/// let class = BooleanClass::<Conjunction>::conjunctions(1)?; // true, x, not x, false
/// let x = class.prepare(DenseRow::new(&[1.0])?)?;
/// // Two of the members 0 to 3 predict +1: the empty conjunction and x.
/// assert_eq!(class.positive(0, 0b1111, &x).count_ones(), 2);
/// assert_eq!((class.len(), class.dim()), (4, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FiniteClass {
    /// A point in the form that the class evaluates, computed once per point.
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

    /// A word whose bit `i` is set iff hypothesis `64 block + i` labels the point +1. Only the bits that are set in
    /// `alive` matter; the others may have any value.
    ///
    /// # Panics
    /// An implementation may panic if a bit of `alive` is set for an index beyond the end of the class.
    fn positive(&self, block: usize, alive: u64, x: &Self::Prepared) -> u64;
}

/// Evaluates a predicate on those hypotheses of a block whose bits in `alive` are set.
pub(super) fn positive_of(
    block: usize,
    mut alive: u64,
    is_positive: impl Fn(usize) -> bool,
) -> u64 {
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

pub(super) fn check_size(size: f64) -> Result<(), OnlineError> {
    if size <= MAX_CLASS as f64 { Ok(()) } else { Err(OnlineError::ClassTooLarge { size }) }
}
