//! For each point, a class that is given in advance. Part of `LabellingSession`. Claims: none.

use super::model::{Errors, Verdict};

/// A class for each point, or none for a point that is not asked about. These classes have no probabilities, and
/// answers do not change them.
#[derive(Debug, Clone)]
pub(super) struct Suggested {
    suggested: Vec<Option<usize>>,
    answered: Vec<Option<usize>>,
}

impl Suggested {
    pub(super) fn new(classes: &[Option<usize>]) -> Self {
        Suggested { suggested: classes.to_vec(), answered: vec![None; classes.len()] }
    }

    pub(super) fn len(&self) -> usize {
        self.suggested.len()
    }

    pub(super) fn class(&self, index: usize) -> Option<usize> {
        self.answered[index]
    }

    /// Whether there is a class to predict for the point.
    pub(super) fn has_prediction(&self, index: usize) -> bool {
        self.answered[index].or(self.suggested[index]).is_some()
    }

    /// Whether the point is asked about and has no answer.
    pub(super) fn is_open(&self, index: usize) -> bool {
        self.suggested[index].is_some() && self.answered[index].is_none()
    }

    /// Records the answer for a point; `None` withdraws it. If a point has no suggestion, its withdrawn answer becomes
    /// the suggestion.
    pub(super) fn set(&mut self, index: usize, class: Option<usize>) {
        if class.is_none() && self.suggested[index].is_none() {
            self.suggested[index] = self.answered[index];
        }
        self.answered[index] = class;
    }

    pub(super) fn verdict(&self, index: usize) -> Verdict {
        let Some(class) = self.answered[index].or(self.suggested[index]) else {
            unreachable!("only points with an answer or a suggestion are predicted, not {index}")
        };
        Verdict { class, score: 0.0 }
    }

    pub(super) fn next(&self, allowed: impl Fn(usize) -> bool) -> Option<usize> {
        (0..self.len()).find(|index| self.is_open(*index) && allowed(*index))
    }

    pub(super) fn score_of(&self, index: usize, class: usize) -> f64 {
        f64::from(u8::from(self.suggested[index] == Some(class)))
    }

    /// No errors are estimated.
    pub(super) fn errors(&self) -> Errors {
        let open = (0..self.len()).filter(|index| self.is_open(*index)).count();
        Errors { open, stated: 0.0, wrong_left_out: 0, stated_left_out: 0.0, factor: 1.0 }
    }
}
