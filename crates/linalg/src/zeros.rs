//! Buffers whose size comes from outside.

use crate::error::InputError;
use halfspaces_kernels::Aligned;

/// `rows * columns` zeros, or [`InputError::TooLarge`] where `vec![0.0; n]` would panic or abort. Large ones lie in large
/// pages, where the system has them.
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
    halfspaces_kernels::zeros(values).map_err(|_| InputError::TooLarge { values })
}

/// Room for as many more values, as [`Vec::try_reserve`] makes it, in large pages where the values are many and the
/// system has them.
///
/// # Errors
/// [`InputError::TooLarge`]; `values` is as before.
///
/// ```
/// use halfspaces_linalg::{InputError, reserve};
/// let mut values = vec![1.0];
/// reserve(&mut values, 10)?;
/// assert!(values.capacity() > 10);
/// assert!(reserve(&mut values, usize::MAX).is_err());
/// # Ok::<(), InputError>(())
/// ```
pub fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), InputError> {
    let all = values.len().saturating_add(more);
    halfspaces_kernels::reserve(values, more).map_err(|_| InputError::TooLarge { values: all })
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

/// Room for `rows * columns` numbers, as [`aligned_zeros`] has it, none of which is there yet.
///
/// # Errors
/// [`InputError::TooLarge`].
///
/// ```
/// use halfspaces_linalg::{InputError, aligned_room};
/// let mut values = aligned_room(2, 3)?;
/// values.extend_from_slice(&[1.0; 6]);
/// assert_eq!(*values, [1.0; 6]);
/// assert!(aligned_room::<f64>(usize::MAX, 2).is_err());
/// # Ok::<(), InputError>(())
/// ```
pub fn aligned_room<T: Copy + Default>(
    rows: usize,
    columns: usize,
) -> Result<Aligned<T>, InputError> {
    let values = rows.saturating_mul(columns);
    Aligned::with_capacity(values).map_err(|_| InputError::TooLarge { values })
}
