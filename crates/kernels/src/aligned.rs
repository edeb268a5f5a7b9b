//! Numbers that begin where a line of the cache does.

use crate::pages::zeros;
use std::collections::TryReserveError;
use std::ops::{Deref, DerefMut};

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Numbers of which the first lies at the beginning of a line of the cache. Vectors as long as a line, one behind the
/// other from there on, lie in one line each; elsewhere each lies across two, and is read and written twice.
///
/// ```
/// use halfspaces_kernels::Aligned;
///
/// let mut numbers = Aligned::<f64>::zeros(10)?;
/// numbers[3] = 1.0;
/// assert_eq!(numbers.iter().sum::<f64>(), 1.0);
/// assert_eq!(numbers.as_ptr() as usize % 64, 0);
/// # Ok::<(), std::collections::TryReserveError>(())
/// ```
#[derive(Debug)]
pub struct Aligned<T> {
    /// Never given a new length, which might move what it holds.
    buffer: Vec<T>,
    first: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// As many zeros. An error if the memory does not hold them.
    pub fn zeros(len: usize) -> Result<Aligned<T>, TryReserveError> {
        let buffer = zeros(len.saturating_add(Self::SPARE))?;
        Ok(Aligned::held(buffer, len))
    }

    /// Numbers of a line more than are asked for, to begin with one.
    const SPARE: usize = LINE / size_of::<T>();

    fn held(buffer: Vec<T>, len: usize) -> Aligned<T> {
        let first = buffer.as_ptr().align_offset(LINE);
        assert!(first <= buffer.len() - len, "numbers whose size divides a line can begin one");
        Aligned { buffer, first, len }
    }
}

/// A copy.
impl<T: Copy + Default> From<&[T]> for Aligned<T> {
    fn from(numbers: &[T]) -> Aligned<T> {
        let buffer = vec![T::default(); numbers.len() + Self::SPARE];
        let mut aligned = Aligned::held(buffer, numbers.len());
        aligned.copy_from_slice(numbers);
        aligned
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.buffer[self.first..][..self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.buffer[self.first..][..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_begin_with_a_line() {
        // Of all sizes, kept at once so that they lie at different places.
        let doubles: Vec<_> = (0..300).map(|len| Aligned::<f64>::zeros(len).unwrap()).collect();
        let singles: Vec<_> = (0..300).map(|len| Aligned::<f32>::zeros(len).unwrap()).collect();
        for (len, (d, s)) in doubles.iter().zip(&singles).enumerate() {
            assert_eq!((d.len(), s.len()), (len, len));
            assert_eq!((d.as_ptr() as usize % LINE, s.as_ptr() as usize % LINE), (0, 0));
            assert!(d.iter().all(|v| *v == 0.0) && s.iter().all(|v| *v == 0.0));
        }
    }

    #[test]
    fn a_copy_is_equal() {
        let numbers: Vec<f64> = (0..20).map(f64::from).collect();
        for len in 0..20 {
            let copy = Aligned::from(&numbers[..len]);
            assert_eq!((&*copy, copy.as_ptr() as usize % LINE), (&numbers[..len], 0));
        }
    }

    #[test]
    fn more_than_there_is_memory_for_is_refused() {
        assert!(Aligned::<f64>::zeros(usize::MAX).is_err());
        assert!(Aligned::<f32>::zeros(usize::MAX / 4 - 3).is_err());
    }
}
