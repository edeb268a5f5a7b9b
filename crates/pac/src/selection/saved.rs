//! Checks of saved selectors: the saved state must be reachable by some sequence of examples.

use super::Elimination;
use super::history::{History, MIN_HISTORY};
use super::mask::{BLOCK, LANES, MaskLayer, PairCounts, add_pair_counts};
use super::selector::{MAX_BLOCK_DIM, Selector};
use crate::saved::saved;
use halfspaces_linalg::{DenseRow, InputError, Label};

impl History {
    /// Whether the lengths of the history are consistent with each other.
    fn is_sound(&self, dim: usize) -> bool {
        self.sizes.iter().all(|rows| (1..=BLOCK).contains(rows))
            && self.sizes.iter().sum::<usize>() == self.labels.len()
            && self.folded.len() == self.labels.len().saturating_mul(dim)
            && self.folded.iter().all(|v| v.is_finite())
    }
}

impl MaskLayer {
    fn is_sound(&self, alive: usize) -> bool {
        let depth = u64::from(self.depth);
        self.masks.len() == alive
            && (1..=u32::BITS).contains(&self.depth)
            && (depth..=depth * LANES as u64).contains(&self.examples)
            && self.masks.iter().flatten().all(|lane| lane.unbounded_shr(self.depth) == 0)
    }
}

impl Selector<'_> {
    /// Rejects states that no sequence of examples can produce, for candidates of dimension `dim`. If all examples are
    /// stored, the errors on them are counted again. Otherwise every dropped candidate must have enough errors to be
    /// dropped, and no candidate may be deferred.
    pub(crate) fn check_saved(&self, dim: usize) -> Result<(), InputError> {
        let count = self.errors.len();
        let rows = self.labels.len();
        let shapes = self.dim == dim
            && self.candidates.len() == count.saturating_mul(dim)
            && self.block.len() == rows.saturating_mul(dim)
            && rows < BLOCK
            && (dim <= MAX_BLOCK_DIM || rows == 0);
        saved("candidates", count as f64, shapes)?;
        let finite = self.candidates.iter().chain(&self.block).all(|v| v.is_finite());
        InputError::check_state(finite, "a candidate or an example is not finite")?;
        let failure = self.failure > 0.0 && self.failure <= 1.0;
        saved("failure of the choice", self.failure, failure)?;
        let counted = self.seen.checked_sub(rows as u64).filter(|_| self.seen <= self.planned);
        let Some(counted) = counted else {
            return saved("validation examples", self.seen as f64, false);
        };
        saved("candidates", 0.0, self.seen == 0 || count > 0)?;
        InputError::check_state(
            self.history.is_sound(dim),
            "the stored examples do not match their sizes",
        )?;
        let whole = self.elimination == Elimination::EarlyStop
            && dim <= MAX_BLOCK_DIM
            && self.history.examples() == counted;
        if whole {
            let again = self.counted_again();
            let reason = "recounting the stored examples leads to a different state";
            return InputError::check_state(again == *self, reason);
        }
        self.check_without_history(counted)
    }

    /// Counts the errors of the same candidates again, on the stored and the pending examples.
    fn counted_again(&self) -> Selector<'_> {
        let mut again = Selector::new(self.dim, self.planned, self.elimination, self.failure)
            .with_candidates(&self.candidates);
        let folded = self.history.folded.iter().chain(&self.block).copied();
        let unfold = |(y, z): (&Label, &[f64])| (*y, z.iter().map(|v| v * y.as_f64()).collect());
        let folded: Vec<f64> = folded.collect();
        let rows: Vec<(Label, Vec<f64>)> = self
            .history
            .labels
            .iter()
            .chain(&self.labels)
            .zip(folded.chunks_exact(self.dim))
            .map(unfold)
            .collect();
        for (y, x) in &rows {
            #[expect(clippy::expect_used, reason = "checked before")]
            let x = DenseRow::new(x).expect("stored examples are finite");
            again.observe(x, *y);
        }
        again
    }

    fn check_without_history(&self, counted: u64) -> Result<(), InputError> {
        let count = self.errors.len();
        let none = self.deferred.is_empty();
        saved("deferred candidates", self.deferred.len() as f64, none)?;
        // Examples are stored until the memory limit for examples or the limit for masks is reached.
        let (dim, limit) = (self.dim, self.candidates.len().max(MIN_HISTORY));
        let stores = self.elimination == Elimination::EarlyStop && dim <= MAX_BLOCK_DIM;
        let none = !stores && self.history.len() > 0;
        saved("stored examples", self.history.examples() as f64, !none)?;
        let full = counted.saturating_mul(dim as u64) > limit as u64
            || self.layers.len() >= self.room_for_masks() / count.max(1);
        saved("stored examples", self.history.examples() as f64, !stores || full)?;
        let fewer = self.history.examples() < counted || self.history.len() == 0;
        saved("stored examples", self.history.examples() as f64, fewer)?;
        let mut alive = vec![false; count];
        let once = |&c: &usize| alive.get_mut(c).is_some_and(|a| !std::mem::replace(a, true));
        let at_least = if self.seen == 0 { count } else { count.min(1) };
        let listed = self.alive.iter().all(once) && self.alive.len() >= at_least;
        saved("candidates alive", self.alive.len() as f64, listed)?;
        let leads = |leader: usize| {
            self.elimination == Elimination::EarlyStop && self.alive.contains(&leader)
        };
        InputError::check_state(
            self.leader.is_none_or(leads),
            "the leader is not an active candidate",
        )?;
        let ends = self.leader.is_some() || self.alive.len() == 1;
        let stops = self.elimination == Elimination::EarlyStop && self.seen > 0 && ends;
        saved("end of the count", self.seen as f64, !self.stopped || stops)?;
        let possible = self.errors.iter().all(|&e| e <= counted);
        InputError::check_state(possible, "a candidate has more errors than counted examples")?;
        let dropped = self.errors.iter().zip(&alive).filter(|(_, alive)| !**alive);
        let worse = self.least_errors_dropped(counted);
        let worse = dropped.map(|(errors, _)| *errors).all(|e| worse.is_some_and(|w| e as f64 > w));
        InputError::check_state(worse, "a dropped candidate has too few errors to be dropped")?;
        self.check_layers(counted)
    }

    /// Returns a number of errors that every dropped candidate must exceed, or `None` if candidates are never dropped.
    fn least_errors_dropped(&self, counted: u64) -> Option<f64> {
        let alive = self.alive.iter().map(|&c| self.errors[c]);
        // Since a candidate was dropped, the number of errors of the best candidate has grown by at most the number of
        // examples that followed.
        let can_win = alive.min().map(|best| best.saturating_add(self.planned - counted));
        // The number of errors of a dropped candidate exceeds that of another candidate by more than gap·√n, where n is
        // the number of disagreements.
        let gap = self.gap(1).powi(2) * (1.0 - 1e-9);
        let can_win = can_win.map(|most| most as f64);
        match self.elimination {
            Elimination::Never => None,
            Elimination::Lossless => can_win,
            Elimination::Statistical => can_win.map(|most| most.min(gap)),
            Elimination::EarlyStop => Some(gap),
        }
    }

    /// Checks that the masks agree with the error counts.
    fn check_layers(&self, counted: u64) -> Result<(), InputError> {
        let masks = self.elimination.compares() && self.dim <= MAX_BLOCK_DIM;
        let sound = self.layers.iter().all(|layer| layer.is_sound(self.alive.len()));
        let fits = sound && (masks || self.layers.is_empty());
        saved("masks", self.layers.len() as f64, fits)?;
        let masked = self.layers.iter().fold(0, |sum: u64, l| sum.saturating_add(l.examples));
        saved("masked examples", masked as f64, masked <= counted)?;
        let mut counts = vec![PairCounts::default(); self.alive.len()];
        for layer in &self.layers {
            add_pair_counts(&layer.masks, &[0; LANES], &mut counts);
        }
        let unmasked = counted - masked;
        let fits = |(counts, &c): (&PairCounts, &usize)| {
            let outside = self.errors[c].checked_sub(counts.errors.into());
            outside.is_some_and(|outside| outside <= unmasked)
        };
        let consistent = counts.iter().zip(&self.alive).all(fits);
        saved("errors in masks", masked as f64, consistent)
    }
}
