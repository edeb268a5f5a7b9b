//! Finite classes of hypotheses. Part of `Halving`. Claims: K1, K2.

use halfspaces_linalg::{InputError, RowView};

/// Largest class that a constructor of a class enumerates: 2^30 hypotheses, 128 MiB of bits.
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
    /// What is computed once per point, before its blocks are read.
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
    ///
    /// # Panics
    /// An implementation may panic if `alive` has a bit beyond the class.
    fn positive(&self, block: usize, alive: u64, x: &Self::Prepared) -> u64;
}

/// Evaluates a predicate on the hypotheses of a block that are alive.
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

pub(super) fn check_size(size: f64) -> Result<(), ClassError> {
    if size <= MAX_CLASS as f64 { Ok(()) } else { Err(ClassError::TooLarge { size }) }
}
