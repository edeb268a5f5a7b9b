//! Buffers that begin at a cache line.

use crate::pages::{reserve, zeros};
use std::collections::TryReserveError;
use std::ops::{Deref, DerefMut};

/// Bytes in a cache line.
const LINE: usize = 64;

/// A buffer whose first number lies at the beginning of a cache line. If consecutive vectors have the length of a cache
/// line, each of them then lies in one line. Without this alignment, each vector would span two lines, and each line
/// would be read and written twice.
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
    /// This buffer must never grow beyond its capacity, because a reallocation would move the numbers.
    buffer: Vec<T>,
    first: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// Allocates `len` zeros. Returns an error if the memory cannot be allocated.
    pub fn zeros(len: usize) -> Result<Aligned<T>, TryReserveError> {
        let buffer = zeros(len.saturating_add(Self::SPARE))?;
        Ok(Aligned::from_buffer(buffer, len))
    }

    /// An empty buffer with capacity for `len` numbers, for values that are written once and need not be zeroed first.
    /// Returns an error if the memory cannot be allocated.
    ///
    /// ```
    /// let mut numbers = halfspaces_kernels::Aligned::with_capacity(3)?;
    /// numbers.extend_from_slice(&[1.0, 2.0]);
    /// numbers.extend_from_slice(&[3.0]);
    /// assert_eq!(*numbers, [1.0, 2.0, 3.0]);
    /// # Ok::<(), std::collections::TryReserveError>(())
    /// ```
    pub fn with_capacity(len: usize) -> Result<Aligned<T>, TryReserveError> {
        let mut buffer: Vec<T> = Vec::new();
        reserve(&mut buffer, len.saturating_add(Self::SPARE))?;
        let first = buffer.as_ptr().align_offset(LINE);
        buffer.resize(first, T::default());
        Ok(Aligned { buffer, first })
    }

    /// Appends copies of `numbers`.
    ///
    /// # Panics
    /// Panics if the capacity is too small.
    pub fn extend_from_slice(&mut self, numbers: &[T]) {
        let room = self.buffer.capacity() - self.buffer.len();
        assert!(numbers.len() <= room, "at most as many numbers as the capacity");
        self.buffer.extend_from_slice(numbers);
    }

    /// Number of additional elements that are allocated, so that the first number can be placed at the start of a cache
    /// line.
    const SPARE: usize = LINE / size_of::<T>();

    fn from_buffer(mut buffer: Vec<T>, len: usize) -> Aligned<T> {
        let first = buffer.as_ptr().align_offset(LINE);
        assert!(
            first <= buffer.len() - len,
            "numbers whose size divides the size of a line can be aligned to a line"
        );
        buffer.truncate(first + len);
        Aligned { buffer, first }
    }
}

/// Copies the numbers.
impl<T: Copy + Default> From<&[T]> for Aligned<T> {
    fn from(numbers: &[T]) -> Aligned<T> {
        let buffer = vec![T::default(); numbers.len() + Self::SPARE];
        let mut aligned = Aligned::from_buffer(buffer, numbers.len());
        aligned.copy_from_slice(numbers);
        aligned
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.buffer[self.first..]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.buffer[self.first..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_begin_with_a_line() {
        // All buffers are kept at the same time, so that they lie at different addresses.
        let doubles: Vec<_> = (0..300).map(|len| Aligned::<f64>::zeros(len).unwrap()).collect();
        let singles: Vec<_> = (0..300).map(|len| Aligned::<f32>::zeros(len).unwrap()).collect();
        for (len, (d, s)) in doubles.iter().zip(&singles).enumerate() {
            assert_eq!((d.len(), s.len()), (len, len));
            assert_eq!((d.as_ptr() as usize % LINE, s.as_ptr() as usize % LINE), (0, 0));
            assert!(d.iter().all(|v| *v == 0.0) && s.iter().all(|v| *v == 0.0));
        }
    }

    #[test]
    fn numbers_are_written_into_the_room() {
        for len in 0..100 {
            let numbers: Vec<f64> = (0..len).map(f64::from).collect();
            let mut written = Aligned::with_capacity(numbers.len()).unwrap();
            let begin = written.as_ptr();
            numbers.chunks(7).for_each(|part| written.extend_from_slice(part));
            assert_eq!((&*written, written.as_ptr()), (&*numbers, begin));
            assert_eq!(begin as usize % LINE, 0);
        }
    }

    #[test]
    #[should_panic(expected = "at most as many numbers as the capacity")]
    fn more_than_there_is_room_for_are_refused() {
        let mut written = Aligned::with_capacity(100).unwrap();
        let room = written.buffer.capacity() - written.first;
        written.extend_from_slice(&vec![0.0; room + 1]);
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
        assert!(Aligned::<f64>::with_capacity(usize::MAX).is_err());
    }
}
