//! Early stopping: the count ends once the leader is good enough. It skips candidates whose error is known to be close
//! to the error of the leader. *Source.* Ours; see docs/theory/thinned-selection.md, "Ending the count". Claims: P8.

use super::history::Deferred;
use super::mask::{ErrorMask, PairCounts, add_pair_counts, errors_of, front, retained};
use super::selector::Selector;
use crate::schedule;

/// The leader is replaced if its error rate exceeds that of the best active candidate by more than this fraction of the
/// allowed excess. The allowed excess is the amount by which the error of the chosen candidate may exceed the error of
/// the best candidate. The fraction is above 0, because every new leader reactivates deferred candidates.
const LEADER_SLACK: f64 = 0.125;

impl Selector<'_> {
    /// Drops candidates that are clearly worse than the leader, and defers candidates that are close to the leader.
    /// Stops the count if no other candidate is active.
    pub(super) fn defer_or_stop(&mut self) {
        if self.alive.len() < 2 && self.deferred.is_empty() {
            self.stopped = true;
        }
        if self.alive.len() < 2 || !self.is_check() {
            return;
        }
        let pairs = self.errors.len() as u64;
        let accuracy = schedule::choice_accuracy(pairs, self.planned, self.failure);
        let test = schedule::CloseEnough::new(accuracy, pairs, self.test_failure());
        let (leader, errors) = loop {
            let errors = self.errors_alive();
            let (best, least) = self.first_best(&errors);
            let place = self.leader.and_then(|l| self.alive.iter().position(|c| *c == l));
            let near = |place: &usize| {
                (errors[*place] - least) as f64 <= LEADER_SLACK * accuracy * self.seen as f64
            };
            if let Some(place) = place.filter(near) {
                break (place, errors);
            }
            // It may take more examples to show that the new leader is close to a deferred candidate.
            self.leader = Some(self.alive[best]);
            self.reactivate(best, |(ahead, apart), m| test.is_passed(ahead, apart, m));
        };
        let apart = self.disagreements(leader);
        let gap = self.gap(1);
        let ahead = |e: &u64| e.cast_signed() - errors[leader].cast_signed();
        let not_worse = |(e, n): (&u64, &u64)| ahead(e) as f64 <= gap * (*n as f64).sqrt();
        let keep: Vec<bool> = errors.iter().zip(&apart).map(not_worse).collect();
        let passed = |(place, (e, n)): (usize, (&u64, &u64))| {
            place != leader && test.is_passed(ahead(e), *n, self.seen)
        };
        let passes: Vec<bool> = errors.iter().zip(&apart).enumerate().map(passed).collect();
        let others = keep.iter().zip(&passes).filter(|(keep, passes)| **keep && !**passes).count();
        self.stopped = others <= 1;
        if !self.stopped && self.history.examples() == self.seen {
            let defer: Vec<bool> = keep.iter().zip(&passes).map(|(k, p)| *k && *p).collect();
            let ids = retained(&self.alive, &defer);
            if !ids.is_empty() {
                let masks = self.layers.iter().map(|layer| retained(&layer.masks, &defer));
                let masks = masks.collect();
                self.deferred.push(Deferred { blocks: self.history.len(), ids, masks });
            }
            let keep: Vec<bool> = keep.iter().zip(&passes).map(|(k, p)| *k && !*p).collect();
            self.keep_alive(&keep);
        } else {
            self.keep_alive(&keep);
        }
    }

    /// Counts the errors of all deferred candidates on the examples that they missed.
    pub(super) fn reactivate_all(&mut self) {
        self.reactivate_by(None, |_, _| false);
    }

    /// Decides for each deferred candidate whether it `stays` deferred under a new leader. The arguments of `stays` are
    /// the candidate's errors minus the leader's errors, the number of examples on which exactly one of the two errs,
    /// and the number of examples. If a candidate does not stay, its errors on the next block that it missed are
    /// counted, and it is tested again. After the last block, the candidate is active.
    fn reactivate(&mut self, leader: usize, stays: impl Fn((i64, u64), u64) -> bool) {
        self.reactivate_by(Some(leader), stays);
    }

    fn reactivate_by(&mut self, leader: Option<usize>, stays: impl Fn((i64, u64), u64) -> bool) {
        let mut groups = std::mem::take(&mut self.deferred).into_iter().peekable();
        let Some(first) = groups.peek().map(|group| group.blocks) else { return };
        let history = std::mem::take(&mut self.history);
        let depths = history.depths(history.len());
        debug_assert_eq!(depths.len(), self.layers.len(), "all blocks are stored");
        let mut active = Deferred { blocks: first, ids: Vec::new(), masks: Vec::new() };
        for (blocks, depths_then, examples) in history.prefixes().skip(first) {
            while let Some(group) = groups.next_if(|group| group.blocks == blocks) {
                active.join(group);
            }
            let mut counts = vec![PairCounts::default(); active.ids.len()];
            let mut of_leader = 0;
            let layers = active.masks.iter().zip(&self.layers).zip(depths_then.iter().zip(&depths));
            for ((masks, layer), (then, now)) in layers {
                // The leader's errors on the first blocks only.
                let of_leader_then =
                    leader.map_or(ErrorMask::default(), |l| front(&layer.masks[l], *now, *then));
                of_leader += i64::from(errors_of(&of_leader_then));
                add_pair_counts(masks, &of_leader_then, &mut counts);
            }
            let ahead = |counts: &PairCounts| i64::from(counts.errors) - of_leader;
            let stays = |counts: &PairCounts| stays((ahead(counts), counts.apart.into()), examples);
            let stay: Vec<bool> = counts.iter().map(stays).collect();
            let staying = active.split_off(blocks, &stay);
            if !staying.ids.is_empty() {
                self.deferred.push(staying);
            }
            if let Some((block, layer)) = history.block(self.dim, blocks) {
                if active.masks.len() <= layer {
                    active.masks.push(vec![ErrorMask::default(); active.ids.len()]);
                }
                let masks = Some(active.masks[layer].as_mut_slice());
                let Selector { candidates, errors, scratch, .. } = self;
                scratch.count(candidates, &active.ids, block, errors, masks);
            }
        }
        self.history = history;
        self.alive.extend(active.ids);
        self.layers
            .iter_mut()
            .zip(active.masks)
            .for_each(|(layer, masks)| layer.masks.extend(masks));
    }
}
