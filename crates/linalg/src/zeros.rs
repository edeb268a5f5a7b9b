//! Buffers whose size is determined by the caller's data.

use crate::error::InputError;
use halfspaces_kernels::Aligned;

/// Allocates `rows * columns` zeros. Returns [`InputError::TooLarge`] where `vec![0.0; n]` would panic or abort. Large
/// buffers are placed in large pages if the system has them.
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

/// Reserves capacity for `more` additional values, like [`Vec::try_reserve`]. Large buffers are placed in large pages
/// if the system has them.
///
/// # Errors
/// [`InputError::TooLarge`]. After an error `values` is unchanged.
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

/// Same as [`zeros`], but the buffer is aligned to a cache line.
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

/// An empty buffer that is aligned to a cache line, with capacity for `rows * columns` values.
///
/// # Errors
/// [`InputError::TooLarge`].
///
/// ```
/// use halfspaces_linalg::{InputError, aligned_with_capacity};
/// let mut values = aligned_with_capacity(2, 3)?;
/// values.extend_from_slice(&[1.0; 6]);
/// assert_eq!(*values, [1.0; 6]);
/// assert!(aligned_with_capacity::<f64>(usize::MAX, 2).is_err());
/// # Ok::<(), InputError>(())
/// ```
pub fn aligned_with_capacity<T: Copy + Default>(
    rows: usize,
    columns: usize,
) -> Result<Aligned<T>, InputError> {
    let values = rows.saturating_mul(columns);
    Aligned::with_capacity(values).map_err(|_| InputError::TooLarge { values })
}
