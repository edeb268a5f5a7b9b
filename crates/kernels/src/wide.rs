//! Runs arbitrary loops compiled for the widest vectors of the processor.

use crate::dispatch::dispatch;
use crate::vectors::{Kernel, Vectors};

/// A loop that the compiler can vectorise if the wide instructions are enabled; see [`run_wide`].
pub trait Wide {
    /// The result of the loop.
    type Output;

    /// Runs the loop, which is written in plain Rust. This method and every speed-critical function and closure that it
    /// calls must be `#[inline(always)]`: a function that is not inlined is compiled without the wide instructions.
    fn run(self) -> Self::Output;
}

/// Runs [`Wide::run`], compiled for the widest vectors of the processor. No operation is reordered and no
/// multiplication is fused with an addition, so the result equals that of the plain loop.
///
/// ```
/// use halfspaces_kernels::{Wide, run_wide};
///
/// /// The number of positive values.
/// struct Positive<'a>(&'a [f32]);
///
/// impl Wide for Positive<'_> {
///     type Output = usize;
///
///     #[inline(always)]
///     fn run(self) -> usize {
///         self.0.iter().filter(|value| **value > 0.0).count()
///     }
/// }
///
/// let values = [1.0, -2.0, 3.0];
/// assert_eq!(run_wide(Positive(&values)), 2);
/// assert_eq!(run_wide(Positive(&values)), Positive(&values).run());
/// ```
#[inline]
pub fn run_wide<W: Wide>(work: W) -> W::Output {
    dispatch(Plain(work))
}

struct Plain<W>(W);

impl<W: Wide> Kernel for Plain<W> {
    type Output = W::Output;

    #[inline(always)]
    fn run<V: Vectors>(self, _: V) -> W::Output {
        self.0.run()
    }
}
