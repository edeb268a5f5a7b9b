//! The examples counted so far, and the candidates whose counting is deferred.

use super::mask::{ErrorMask, depth_of, retain, retained};
use super::screen::Block;
use halfspaces_linalg::Label;

/// So many numbers of past examples are stored at least.
pub(super) const MIN_HISTORY: usize = 1 << 20;

/// The examples counted so far, for candidates whose counting is deferred.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct History {
    /// Rows of each block.
    pub(super) sizes: Vec<usize>,
    /// Folded rows, as in a block.
    pub(super) folded: Vec<f64>,
    pub(super) labels: Vec<Label>,
}

impl History {
    /// Blocks stored.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether so many numbers more take no more room than those of the candidates, or 8 MB.
    pub(super) fn has_room(&self, numbers: usize, of_candidates: usize) -> bool {
        self.folded.len() + numbers <= of_candidates.max(MIN_HISTORY)
    }

    pub(super) fn push(&mut self, folded: &[f64], labels: &[Label]) {
        self.sizes.push(labels.len());
        self.folded.extend_from_slice(folded);
        self.labels.extend_from_slice(labels);
    }

    /// Examples stored.
    pub(super) fn examples(&self) -> u64 {
        self.labels.len() as u64
    }

    /// How many examples the first blocks have.
    fn examples_of(&self, blocks: usize) -> usize {
        self.sizes[..blocks].iter().sum()
    }

    /// How deep each layer of masks is after the first blocks: as the selector opens them.
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

    /// From none on: a number of blocks, how deep each layer of masks is after them, and their examples.
    pub(super) fn prefixes(&self) -> impl Iterator<Item = (usize, Vec<u32>, u64)> {
        (0..=self.len())
            .map(|blocks| (blocks, self.depths(blocks), self.examples_of(blocks) as u64))
    }

    /// A block and the layer of its masks; `None` after the last.
    pub(super) fn block(&self, dim: usize, block: usize) -> Option<(Block<'_>, usize)> {
        let rows = *self.sizes.get(block)?;
        let start = self.examples_of(block);
        let folded = &self.folded[start * dim..(start + rows) * dim];
        let labels = &self.labels[start..start + rows];
        Some((Block { folded, labels, dim }, self.depths(block + 1).len() - 1))
    }
}

/// Candidates whose counting is deferred, all of them after as many blocks.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Deferred {
    /// How many of the stored blocks they were counted on.
    pub(super) blocks: usize,
    pub(super) ids: Vec<usize>,
    /// For each layer the masks of these candidates, as they were then.
    pub(super) masks: Vec<Vec<ErrorMask>>,
}

impl Deferred {
    /// Adds those of a group that was counted on as many blocks.
    pub(super) fn join(&mut self, other: Deferred) {
        self.ids.extend(other.ids);
        self.masks.resize_with(other.masks.len(), Vec::new);
        self.masks.iter_mut().zip(other.masks).for_each(|(masks, more)| masks.extend(more));
    }

    /// Takes out those that stay deferred.
    pub(super) fn split_off(&mut self, blocks: usize, stay: &[bool]) -> Deferred {
        let masks = self.masks.iter().map(|masks| retained(masks, stay)).collect();
        let staying = Deferred { blocks, ids: retained(&self.ids, stay), masks };
        let go: Vec<bool> = stay.iter().map(|stays| !stays).collect();
        retain(&mut self.ids, &go);
        self.masks.iter_mut().for_each(|masks| retain(masks, &go));
        staying
    }
}
