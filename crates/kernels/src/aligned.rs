//! Numbers that begin where a line of the cache does.

use crate::pages::{reserve, zeros};
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
    /// Never longer than there is room, which would move what it holds.
    buffer: Vec<T>,
    first: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// As many zeros. An error if the memory does not hold them.
    pub fn zeros(len: usize) -> Result<Aligned<T>, TryReserveError> {
        let buffer = zeros(len.saturating_add(Self::SPARE))?;
        Ok(Aligned::held(buffer, len))
    }

    /// Room for as many numbers, of which there are none yet: what is written once need not be zero before. An error if the
    /// memory does not hold them.
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

    /// Copies of `numbers` behind the others.
    ///
    /// # Panics
    /// If there is no room for them.
    pub fn extend_from_slice(&mut self, numbers: &[T]) {
        let room = self.buffer.capacity() - self.buffer.len();
        assert!(numbers.len() <= room, "as many numbers as room was made for");
        self.buffer.extend_from_slice(numbers);
    }

    /// Numbers of a line more than are asked for, to begin with one.
    const SPARE: usize = LINE / size_of::<T>();

    fn held(mut buffer: Vec<T>, len: usize) -> Aligned<T> {
        let first = buffer.as_ptr().align_offset(LINE);
        assert!(first <= buffer.len() - len, "numbers whose size divides a line can begin one");
        buffer.truncate(first + len);
        Aligned { buffer, first }
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
    #[should_panic(expected = "as many numbers as room was made for")]
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
