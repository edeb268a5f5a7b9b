//! Labels and actions, in which rows and classes are given by their numbers.

use halfspaces_online::LabellingQuestion;
use std::collections::HashMap;

/// The label of a row of the current pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowLabel {
    /// The row.
    pub row: usize,
    /// Its class.
    pub class: usize,
    /// The prediction that was shown when the label was given; `None` if the label was known beforehand or imported.
    pub asked: Option<Prediction>,
    /// Whether a person changed the label later.
    pub changed: bool,
}

/// The prediction shown with a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The predicted class.
    pub predicted: usize,
    /// Its probability.
    pub probability: f64,
    /// The number of further corrections that was expected at that time.
    pub to_come: Option<f64>,
}

impl RowLabel {
    /// Whether the label answers a question and differs from the prediction.
    #[must_use]
    pub fn is_correction(&self) -> bool {
        self.asked.is_some_and(|asked| asked.predicted != self.class)
    }

    /// Whether a person gave the label in this session, by an answer or a change.
    #[must_use]
    pub fn is_by_person(&self) -> bool {
        self.asked.is_some() || self.changed
    }
}

/// An answer, skip or uncertain answer that can be undone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Action {
    /// Whether it is an answer, a skip or an uncertain answer.
    pub kind: ActionKind,
    /// The question that becomes open again.
    pub question: LabellingQuestion,
    /// The number of the event in the session, counted from 1.
    pub sequence: usize,
}

/// The kind of an [`Action`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionKind {
    /// An answer.
    Answer,
    /// A skip.
    Skip,
    /// An uncertain answer.
    Uncertain,
}

/// The map between the rows of the pool and the items.
#[derive(Debug, Clone)]
pub(crate) enum Rows {
    /// The first pool, where row and item numbers are the same.
    First(usize),
    Later {
        item_of: Vec<usize>,
        row_of: HashMap<usize, usize>,
    },
}

impl Rows {
    pub(crate) fn later(item_of: Vec<usize>) -> Rows {
        let row_of = item_of.iter().enumerate().map(|(row, item)| (*item, row)).collect();
        Rows::Later { item_of, row_of }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Rows::First(rows) => *rows,
            Rows::Later { item_of, .. } => item_of.len(),
        }
    }

    pub(crate) fn item(&self, row: usize) -> Option<usize> {
        match self {
            Rows::First(rows) => (row < *rows).then_some(row),
            Rows::Later { item_of, .. } => item_of.get(row).copied(),
        }
    }

    pub(crate) fn row(&self, item: usize) -> Option<usize> {
        match self {
            Rows::First(rows) => (item < *rows).then_some(item),
            Rows::Later { row_of, .. } => row_of.get(&item).copied(),
        }
    }
}
