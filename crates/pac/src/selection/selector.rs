//! Selection among candidates by their errors on fresh examples.
//!
//! The selector counts the errors of sign(w·x) for every candidate w, on the same fresh examples. It selects the
//! candidate with the fewest errors; ties go to the earlier candidate (CKST24 Lemma 4). The count uses products of all
//! candidates with blocks of examples, in which every example is multiplied by its label (z = y x). Products are
//! computed in single precision, and again in double precision if they are too close to 0. The counts therefore equal
//! those of a plain loop, unless the products of that loop overflow or underflow.
//!
//! [`Elimination`] drops candidates early if they cannot win or are clearly worse. It also ends the count once the best
//! candidate is good enough (ours, docs/theory/thinned-selection.md). Two candidates are compared on the examples on
//! which exactly one of them errs, so the errors are stored as bit masks. Claims: P3, P7, P8.

use super::Elimination;
use super::history::{Deferred, History};
use super::mask::{
    BLOCK, ErrorMask, LANES, MaskLayer, PairCounts, add_pair_counts, depth_of, retain,
};
use super::screen::{Block, Scratch};
use crate::schedule;
use halfspaces_linalg::{InputError, Label, RowView, Threads};
use std::borrow::Cow;

/// The largest dimension at which errors are counted on blocks of examples. Longer rows are processed one at a time,
/// because they are sparse, or because a block of them would be large.
pub(super) const MAX_BLOCK_DIM: usize = 4096;

/// The candidates and their errors so far.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Selector<'c> {
    pub(super) dim: usize,
    /// The candidates w as rows, in the order in which they were added.
    pub(super) candidates: Cow<'c, [f64]>,
    /// For each candidate, its number of errors until it was dropped.
    pub(super) errors: Vec<u64>,
    /// The indices of the active candidates. Only the errors of active candidates are counted.
    pub(super) alive: Vec<usize>,
    pub(super) elimination: Elimination,
    /// The failure probability of the choice.
    pub(super) failure: f64,
    pub(super) planned: u64,
    pub(super) seen: u64,
    /// Whether the count ended early because the leader is good enough.
    pub(super) stopped: bool,
    /// The error masks of each active candidate, in the order of `alive`, as far as the memory limit allows.
    pub(super) layers: Vec<MaskLayer>,
    /// The leader of [`Elimination::EarlyStop`]: an active candidate that is close to the best.
    pub(super) leader: Option<usize>,
    /// Candidates whose errors are not counted under the current leader, because a test has shown that the leader is
    /// close enough to them. Candidates whose errors were counted on fewer blocks come first.
    pub(super) deferred: Vec<Deferred>,
    pub(super) history: History,
    /// The rows y x of the pending block.
    pub(super) block: Vec<f64>,
    pub(super) labels: Vec<Label>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) scratch: Scratch,
}

impl<'c> Selector<'c> {
    pub(crate) fn new(dim: usize, planned: u64, elimination: Elimination, failure: f64) -> Self {
        Selector {
            dim,
            candidates: Cow::Owned(Vec::new()),
            errors: Vec::new(),
            alive: Vec::new(),
            elimination,
            failure,
            planned,
            seen: 0,
            stopped: false,
            layers: Vec::new(),
            leader: None,
            deferred: Vec::new(),
            history: History::default(),
            block: Vec::new(),
            labels: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Replaces all candidates by the rows of `candidates`.
    pub(super) fn with_candidates(mut self, candidates: &'c [f64]) -> Self {
        let count = candidates.len() / self.dim;
        self.candidates = Cow::Borrowed(candidates);
        self.errors = vec![0; count];
        self.alive = (0..count).collect();
        self
    }

    /// Sets the number of threads. The counts do not depend on this number.
    pub(crate) fn with_threads(mut self, threads: Threads) -> Self {
        self.scratch.threads = threads;
        self
    }

    pub(crate) fn threads(&self) -> Threads {
        self.scratch.threads
    }

    /// Reserves memory for `count` more candidates.
    pub(crate) fn reserve(&mut self, count: u64) -> Result<(), InputError> {
        // A count beyond `usize` does not fit in memory.
        let values = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(self.dim))
            .unwrap_or(usize::MAX);
        self.candidates.to_mut().try_reserve(values).map_err(|_| InputError::TooLarge { values })
    }

    /// Adds a candidate. All candidates must be added before the first example.
    pub(crate) fn offer(&mut self, w: &[f64]) {
        debug_assert!(self.seen == 0 && w.len() == self.dim, "candidates come before examples");
        self.alive.push(self.errors.len());
        self.errors.push(0);
        self.candidates.to_mut().extend_from_slice(w);
    }

    pub(crate) fn len(&self) -> usize {
        self.errors.len()
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    pub(crate) fn planned(&self) -> u64 {
        self.planned
    }

    /// Whether the count is complete.
    pub(crate) fn is_over(&self) -> bool {
        self.stopped || self.seen >= self.planned
    }

    /// The number of candidates that can still win, including deferred ones.
    pub(crate) fn alive(&self) -> usize {
        self.alive.len() + self.deferred.iter().map(|group| group.ids.len()).sum::<usize>()
    }

    pub(crate) fn candidate(&self, index: usize) -> &[f64] {
        &self.candidates[index * self.dim..][..self.dim]
    }

    /// The candidates, in the order in which they were added.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &[f64]> {
        self.candidates.chunks_exact(self.dim)
    }

    /// Counts the errors on one example in the unit ball. Does nothing if the count is complete.
    pub(crate) fn observe<R: RowView>(&mut self, x: R, y: Label) {
        if self.is_over() {
            return;
        }
        self.seen += 1;
        if self.dim > MAX_BLOCK_DIM {
            // Few candidates of such a dimension fit in memory. These candidates have no masks.
            for &c in &self.alive {
                let row = &self.candidates[c * self.dim..][..self.dim];
                self.errors[c] += u64::from(Label::from_sign(x.dot(row)) != y);
            }
            if self.seen.is_multiple_of(BLOCK as u64) || self.is_check() {
                self.eliminate();
            }
            return;
        }
        let start = self.block.len();
        self.block.resize(start + self.dim, 0.0);
        x.add_scaled_to(y.as_f64(), &mut self.block[start..]);
        self.labels.push(y);
        let full = self.labels.len() == BLOCK || self.seen == self.planned;
        if full || self.is_check() {
            self.count_block();
            self.eliminate();
        }
    }

    /// Counts the errors on the pending examples, and returns the index and the number of errors of the best candidate.
    /// Ties go to the earlier candidate. There must be at least one candidate.
    pub(crate) fn best(&mut self) -> (usize, u64) {
        self.count_block();
        if self.stopped {
            #[expect(clippy::expect_used, reason = "the leader is what the count stops with")]
            let leader =
                self.leader.or(self.only_one()).expect("a count that stopped has a leader");
            return (leader, self.errors[leader]);
        }
        self.reactivate_all();
        let counts = self.alive.iter().map(|&c| (c, self.errors[c]));
        #[expect(clippy::expect_used, reason = "the best is never dropped")]
        counts.min_by_key(|&(c, errors)| (errors, c)).expect("one of the candidates is alive")
    }

    fn only_one(&self) -> Option<usize> {
        self.alive.first().copied().filter(|_| self.alive.len() == 1)
    }

    pub(super) fn count_block(&mut self) {
        if self.labels.is_empty() {
            return;
        }
        let rows = self.labels.len();
        // Candidates may be deferred only while all blocks are stored.
        let stores = self.elimination == Elimination::EarlyStop
            && self.history.examples() + rows as u64 == self.seen
            && self.history.has_room(rows * self.dim, self.candidates.len());
        // The reactivation comes before `open_masks`, because a reactivated candidate has masks only for the stored
        // blocks.
        if !stores {
            self.reactivate_all();
        }
        let masked = self.open_masks(rows);
        if !masked {
            self.reactivate_all();
        }
        let (folded, labels) = (std::mem::take(&mut self.block), std::mem::take(&mut self.labels));
        let last = self.layers.last_mut().filter(|_| masked);
        let masks = last.map(|layer| layer.masks.as_mut_slice());
        let block = Block { folded: &folded, labels: &labels, dim: self.dim };
        let Selector { candidates, alive, errors, scratch, .. } = self;
        scratch.count(candidates, alive, block, errors, masks);
        if masked && stores {
            self.history.push(&folded, &labels);
        }
        (self.block, self.labels) = (folded, labels);
        self.block.clear();
        self.labels.clear();
    }

    /// Prepares the last layer for the errors on the next `rows` examples. Returns whether the memory limit allows
    /// this. Within the limit, all layers take about as much memory as the candidates, or 256 bytes per candidate if
    /// that is more.
    fn open_masks(&mut self, rows: usize) -> bool {
        if !self.elimination.compares() {
            return false;
        }
        let depth = depth_of(rows);
        if self.layers.last().is_none_or(|last| last.depth + depth > u32::BITS) {
            if (self.layers.len() + 1) * self.alive() > self.room_for_masks() {
                return false;
            }
            let masks = vec![ErrorMask::default(); self.alive.len()];
            self.layers.push(MaskLayer { depth: 0, examples: 0, masks });
        }
        #[expect(clippy::expect_used, reason = "pushed above where there was none")]
        let last = self.layers.last_mut().expect("there is a layer with room");
        last.depth += depth;
        last.examples += rows as u64;
        true
    }

    /// The maximum number of masks.
    pub(super) fn room_for_masks(&self) -> usize {
        self.errors.len() * self.dim.div_ceil(LANES / 2).max(4)
    }

    /// Returns, for every active candidate, the number of examples on which exactly one of two candidates errs: this
    /// candidate or the candidate at `leader`. For examples without masks, the number is an upper bound: the sum of the
    /// errors of both candidates, but at most the number of these examples.
    pub(super) fn disagreements(&self, leader: usize) -> Vec<u64> {
        let mut counts = vec![PairCounts::default(); self.alive.len()];
        for layer in &self.layers {
            add_pair_counts(&layer.masks, &layer.masks[leader], &mut counts);
        }
        let unmasked = self.seen - self.layers.iter().map(|layer| layer.examples).sum::<u64>();
        let outside = |place: usize| {
            let outside = self.errors[self.alive[place]].checked_sub(counts[place].errors.into());
            #[expect(clippy::expect_used, reason = "also checked where a saved state is loaded")]
            outside.expect("a mask holds no more errors than were counted")
        };
        let of_leader = outside(leader);
        let at_most = |place: usize| {
            u64::from(counts[place].apart) + unmasked.min(outside(place) + of_leader)
        };
        (0..counts.len()).map(at_most).collect()
    }

    fn eliminate(&mut self) {
        if self.elimination == Elimination::EarlyStop {
            self.defer_or_stop();
            return;
        }
        if self.elimination == Elimination::Never || self.alive.len() < 2 {
            return;
        }
        let errors = self.errors_alive();
        let (leader, best) = self.first_best(&errors);
        let can_win = self.can_win(best);
        let mut keep: Vec<bool> = errors.iter().map(|e| *e <= can_win).collect();
        if self.is_check() {
            let apart = self.disagreements(leader);
            // The gap grows with the square root of the number of disagreements.
            let gap = self.gap(1);
            for ((keep, e), n) in keep.iter_mut().zip(&errors).zip(&apart) {
                *keep &= (e - best) as f64 <= gap * (*n as f64).sqrt();
            }
        }
        self.keep_alive(&keep);
    }

    /// The largest number of errors at which a candidate can still win against a candidate with `best` errors.
    pub(super) fn can_win(&self, best: u64) -> u64 {
        best.saturating_add(self.planned - self.seen)
    }

    /// The errors of the active candidates.
    pub(super) fn errors_alive(&self) -> Vec<u64> {
        self.alive.iter().map(|&c| self.errors[c]).collect()
    }

    /// Returns the first active candidate with the fewest errors, as a position among the active candidates, and its
    /// errors.
    pub(super) fn first_best(&self, errors: &[u64]) -> (usize, u64) {
        let places = errors.iter().enumerate();
        let best = places.min_by_key(|&(place, errors)| (*errors, self.alive[place]));
        #[expect(clippy::expect_used, reason = "the best is never dropped")]
        best.map(|(place, errors)| (place, *errors)).expect("one of the candidates is alive")
    }

    /// Drops the active candidates whose flag in `keep` is not set.
    pub(super) fn keep_alive(&mut self, keep: &[bool]) {
        if keep.contains(&false) {
            retain(&mut self.alive, keep);
            self.layers.iter_mut().for_each(|layer| retain(&mut layer.masks, keep));
        }
    }

    /// The joint failure probability of all tests of one type.
    pub(super) fn test_failure(&self) -> f64 {
        self.failure / if self.elimination == Elimination::EarlyStop { 4.0 } else { 2.0 }
    }

    /// Whether a check is due now. The first check is made after enough examples to drop a candidate that errs on half
    /// of the examples that the leader labels correctly.
    pub(super) fn is_check(&self) -> bool {
        if !self.elimination.compares() || self.seen >= self.planned {
            return false;
        }
        let power = |m: u64| m.is_power_of_two();
        let planned = power(self.seen) || (self.seen.is_multiple_of(3) && power(self.seen / 3));
        planned && self.seen as f64 > 2.0 * self.gap(self.seen)
    }

    /// A bound on a candidate's number of errors minus the leader's number of errors. It holds if the candidate is not
    /// worse than the leader, and exactly one of the two errs on `disagreements` examples.
    pub(super) fn gap(&self, disagreements: u64) -> f64 {
        let checks = schedule::elimination_checks(self.planned);
        let pairs = self.errors.len() as u64;
        schedule::elimination_gap(disagreements, pairs, checks, self.test_failure())
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
