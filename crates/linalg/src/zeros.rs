//! Buffers whose size comes from outside.

use crate::error::InputError;
use halfspaces_kernels::Aligned;

/// `rows * columns` zeros, or [`InputError::TooLarge`] where `vec![0.0; n]` would panic or abort.
///
/// # Errors
/// [`InputError::TooLarge`].
///
/// ```
/// use halfspaces_linalg::{InputError, zeros};
/// assert_eq!(zeros(2, 3)?, [0.0; 6]);
/// assert_eq!(zeros(usize::MAX, 2), Err(InputError::TooLarge { values: usize::MAX }));
/// # Ok::<(), InputError>(())
/// ```
pub fn zeros(rows: usize, columns: usize) -> Result<Vec<f64>, InputError> {
    let values = rows.saturating_mul(columns);
    // Asked for first, so that a refusal comes back as one; the buffer itself is then taken in the
    // way that leaves its pages untouched.
    let fits = Vec::<f64>::new().try_reserve_exact(values).is_ok();
    if fits { Ok(vec![0.0; values]) } else { Err(InputError::TooLarge { values }) }
}

/// [`zeros`] that begin where a line of the cache does.
///
/// # Errors
/// [`InputError::TooLarge`].
///
/// ```
/// use halfspaces_linalg::{InputError, aligned_zeros};
/// assert_eq!(*aligned_zeros::<f32>(2, 3)?, [0.0; 6]);
/// assert!(aligned_zeros::<f64>(usize::MAX, 2).is_err());
/// # Ok::<(), InputError>(())
/// ```
pub fn aligned_zeros<T: Copy + Default>(
    rows: usize,
    columns: usize,
) -> Result<Aligned<T>, InputError> {
    let values = rows.saturating_mul(columns);
    Aligned::zeros(values).map_err(|_| InputError::TooLarge { values })
}
