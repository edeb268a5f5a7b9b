//! The examples used so far, and the deferred candidates.

use super::mask::{ErrorMask, depth_of, retain, retained};
use super::screen::Block;
use halfspaces_linalg::Label;

/// The number of values of past examples that may be stored even if the candidates need less memory.
pub(super) const MIN_HISTORY: usize = 1 << 20;

/// The examples used so far, stored for deferred candidates.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct History {
    /// The number of rows of each block.
    pub(super) sizes: Vec<usize>,
    /// Rows multiplied by their labels, as in a block.
    pub(super) folded: Vec<f64>,
    pub(super) labels: Vec<Label>,
}

impl History {
    /// The number of blocks stored.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether the history stays within its memory limit with `numbers` more values. The limit is the memory of the
    /// candidates or 8 MB, whichever is larger.
    pub(super) fn has_room(&self, numbers: usize, of_candidates: usize) -> bool {
        self.folded.len() + numbers <= of_candidates.max(MIN_HISTORY)
    }

    pub(super) fn push(&mut self, folded: &[f64], labels: &[Label]) {
        self.sizes.push(labels.len());
        self.folded.extend_from_slice(folded);
        self.labels.extend_from_slice(labels);
    }

    /// The number of examples stored.
    pub(super) fn examples(&self) -> u64 {
        self.labels.len() as u64
    }

    /// The number of examples in the first `blocks` blocks.
    fn examples_of(&self, blocks: usize) -> usize {
        self.sizes[..blocks].iter().sum()
    }

    /// The depth of each layer of masks after the first `blocks` blocks. The selector creates layers of the same
    /// depths.
    pub(super) fn depths(&self, blocks: usize) -> Vec<u32> {
        let mut depths: Vec<u32> = Vec::new();
        for rows in &self.sizes[..blocks] {
            let depth = depth_of(*rows);
            match depths.last_mut().filter(|last| **last + depth <= u32::BITS) {
                Some(last) => *last += depth,
                None => depths.push(depth),
            }
        }
        depths
    }

    /// Returns three values for each number of blocks, starting with 0: this number, the depth of each layer of masks
    /// after these blocks, and the number of examples in these blocks.
    pub(super) fn prefixes(&self) -> impl Iterator<Item = (usize, Vec<u32>, u64)> {
        (0..=self.len())
            .map(|blocks| (blocks, self.depths(blocks), self.examples_of(blocks) as u64))
    }

    /// Returns a block and the index of its layer of masks. Returns `None` after the last block.
    pub(super) fn block(&self, dim: usize, block: usize) -> Option<(Block<'_>, usize)> {
        let rows = *self.sizes.get(block)?;
        let start = self.examples_of(block);
        let folded = &self.folded[start * dim..(start + rows) * dim];
        let labels = &self.labels[start..start + rows];
        Some((Block { folded, labels, dim }, self.depths(block + 1).len() - 1))
    }
}

/// A group of candidates that were deferred after the same number of blocks.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Deferred {
    /// The number of stored blocks on which the errors of these candidates were counted.
    pub(super) blocks: usize,
    pub(super) ids: Vec<usize>,
    /// The masks of these candidates for each layer, as they were when the candidates were deferred.
    pub(super) masks: Vec<Vec<ErrorMask>>,
}

impl Deferred {
    /// Adds the candidates of another group whose errors were counted on the same blocks.
    pub(super) fn join(&mut self, other: Deferred) {
        self.ids.extend(other.ids);
        self.masks.resize_with(other.masks.len(), Vec::new);
        self.masks.iter_mut().zip(other.masks).for_each(|(masks, more)| masks.extend(more));
    }

    /// Removes the candidates that stay deferred, and returns them as a group.
    pub(super) fn split_off(&mut self, blocks: usize, stay: &[bool]) -> Deferred {
        let masks = self.masks.iter().map(|masks| retained(masks, stay)).collect();
        let staying = Deferred { blocks, ids: retained(&self.ids, stay), masks };
        let go: Vec<bool> = stay.iter().map(|stays| !stays).collect();
        retain(&mut self.ids, &go);
        self.masks.iter_mut().for_each(|masks| retain(masks, &go));
        staying
    }
}
