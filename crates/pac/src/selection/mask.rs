//! The errors of candidates on blocks of examples, bit by bit.

use halfspaces_linalg::kernels::{Wide, run_wide};

/// Examples counted at once.
pub(super) const BLOCK: usize = 512;

/// Examples side by side in an [`ErrorMask`], 32 deep.
pub(super) const LANES: usize = 16;

/// Which of up to 512 examples a candidate errs on.
pub(super) type ErrorMask = [u32; LANES];

/// The errors of all candidates alive on some examples.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct MaskLayer {
    /// Bits in use.
    pub(super) depth: u32,
    pub(super) examples: u64,
    /// In the order of the candidates alive.
    pub(super) masks: Vec<ErrorMask>,
}

/// How many bits deep the errors on a block of examples are.
pub(super) fn depth_of(rows: usize) -> u32 {
    rows.div_ceil(LANES) as u32
}

/// Adds an error on the example at `place` among the `rows` screened last.
pub(super) fn set(mask: &mut ErrorMask, place: usize, rows: usize) {
    let above = rows.div_ceil(LANES) - 1 - place / LANES;
    mask[place % LANES] |= 1 << above;
}

/// The first bits of a mask `depth` deep: those of its first `then`.
pub(super) fn front(mask: &ErrorMask, depth: u32, then: u32) -> ErrorMask {
    mask.map(|lane| lane.unbounded_shr(depth - then))
}

/// How many errors a mask holds.
pub(super) fn errors_of(mask: &ErrorMask) -> u32 {
    mask.iter().map(|lane| lane.count_ones()).sum()
}

/// What masks tell of a candidate and the leader.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PairCounts {
    /// Errors of the candidate.
    pub(super) errors: u32,
    /// On how many examples exactly one of the two errs.
    pub(super) apart: u32,
}

/// Adds the errors of each mask, and those on which it and the leader's differ.
pub(super) fn add_pair_counts(
    masks: &[ErrorMask],
    of_leader: &ErrorMask,
    counts: &mut [PairCounts],
) {
    debug_assert_eq!(masks.len(), counts.len(), "one count per mask");
    run_wide(Compare { masks, of_leader, counts });
}

/// Compiled for the vector instructions that the processor turns out to have.
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

/// The values that are to be kept, one flag each.
pub(super) fn retained<T: Copy>(values: &[T], keep: &[bool]) -> Vec<T> {
    assert_eq!(values.len(), keep.len(), "one flag per value");
    let mut kept = Vec::with_capacity(keep.iter().filter(|keep| **keep).count());
    kept.extend(values.iter().zip(keep).filter(|(_, keep)| **keep).map(|(value, _)| *value));
    kept
}

/// Drops the values that are not to be kept.
pub(super) fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    assert_eq!(values.len(), keep.len(), "one flag per value");
    let mut place = 0;
    values.retain(|_| {
        place += 1;
        keep[place - 1]
    });
}
