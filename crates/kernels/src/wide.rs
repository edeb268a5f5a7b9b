//! Any loop, compiled for the widest vectors that the processor has.

use crate::dispatch::dispatch;
use crate::vectors::{Kernel, Vectors};

/// A loop that the compiler turns into vector instructions, if it may use them: see [`run_wide`].
pub trait Wide {
    /// What comes out.
    type Output;

    /// The loop in plain Rust. `#[inline(always)]`, and all that it calls and that counts, closures too: what is not
    /// inlined is compiled without the instructions.
    fn run(self) -> Self::Output;
}

/// [`Wide::run`], compiled for the widest vectors that the processor has. Nothing is reordered and no multiplication
/// fused with an addition, so that the result is the one without.
///
/// ```
/// use halfspaces_kernels::{Wide, run_wide};
///
/// /// How many values are positive.
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
