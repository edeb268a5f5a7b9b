//! Bit masks of the errors of candidates on blocks of examples.

use halfspaces_linalg::kernels::{Wide, run_wide};

/// The number of examples whose errors are counted at once.
pub(super) const BLOCK: usize = 512;

/// The number of 32-bit words in an [`ErrorMask`].
pub(super) const LANES: usize = 16;

/// A mask of up to 512 examples. A bit is set if a candidate errs on the example.
pub(super) type ErrorMask = [u32; LANES];

/// The errors of all active candidates on some examples.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct MaskLayer {
    /// The number of bits in use per word.
    pub(super) depth: u32,
    pub(super) examples: u64,
    /// One mask per active candidate, in the order of the candidates.
    pub(super) masks: Vec<ErrorMask>,
}

/// The number of bits per word for a block of `rows` examples.
pub(super) fn depth_of(rows: usize) -> u32 {
    rows.div_ceil(LANES) as u32
}

/// Marks an error on the example at `place` of the last block, which has `rows` examples.
pub(super) fn set(mask: &mut ErrorMask, place: usize, rows: usize) {
    let above = rows.div_ceil(LANES) - 1 - place / LANES;
    mask[place % LANES] |= 1 << above;
}

/// Returns the first `then` of the `depth` bits in each word of a mask.
pub(super) fn front(mask: &ErrorMask, depth: u32, then: u32) -> ErrorMask {
    mask.map(|lane| lane.unbounded_shr(depth - then))
}

/// The number of errors in a mask.
pub(super) fn errors_of(mask: &ErrorMask) -> u32 {
    mask.iter().map(|lane| lane.count_ones()).sum()
}

/// The counts that compare a candidate with the leader.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PairCounts {
    /// The number of errors of the candidate.
    pub(super) errors: u32,
    /// The number of examples on which exactly one of the two errs.
    pub(super) apart: u32,
}

/// Adds the number of errors of each mask, and the number of bits in which the mask differs from the leader's mask.
pub(super) fn add_pair_counts(
    masks: &[ErrorMask],
    of_leader: &ErrorMask,
    counts: &mut [PairCounts],
) {
    debug_assert_eq!(masks.len(), counts.len(), "one count per mask");
    run_wide(Compare { masks, of_leader, counts });
}

/// The loop of [`add_pair_counts`], compiled for the vector instructions available at run time.
struct Compare<'a> {
    masks: &'a [ErrorMask],
    of_leader: &'a ErrorMask,
    counts: &'a mut [PairCounts],
}

impl Wide for Compare<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (counts, mask) in self.counts.iter_mut().zip(self.masks) {
            for (a, b) in mask.iter().zip(self.of_leader) {
                counts.errors += a.count_ones();
                counts.apart += (a ^ b).count_ones();
            }
        }
    }
}

/// Returns the values whose flag in `keep` is set.
pub(super) fn retained<T: Copy>(values: &[T], keep: &[bool]) -> Vec<T> {
    assert_eq!(values.len(), keep.len(), "one flag per value");
    let mut kept = Vec::with_capacity(keep.iter().filter(|keep| **keep).count());
    kept.extend(values.iter().zip(keep).filter(|(_, keep)| **keep).map(|(value, _)| *value));
    kept
}

/// Removes the values whose flag in `keep` is not set.
pub(super) fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    assert_eq!(values.len(), keep.len(), "one flag per value");
    let mut place = 0;
    values.retain(|_| {
        place += 1;
        keep[place - 1]
    });
}
