//! Labels, actions and events by number.

use crate::event::PoolId;
use halfspaces_online::LabellingQuestion;
use std::collections::HashMap;

/// A label of a row of the current pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Given {
    /// The row.
    pub row: usize,
    /// Its class.
    pub class: usize,
    /// The prediction that was answered; `None` if the label was known beforehand or imported.
    pub asked: Option<Asked>,
    /// Whether a person changed the label since.
    pub changed: bool,
}

/// A prediction that was answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// The class predicted.
    pub predicted: usize,
    /// Its probability.
    pub probability: f64,
    /// The number of corrections expected at that time.
    pub to_come: Option<f64>,
}

impl Given {
    /// Whether the label is the answer to a question and another one than predicted.
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

/// The last answer or skip, which can be taken back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Action {
    /// Whether it is an answer or a skip.
    pub kind: ActionKind,
    /// The question that opens again.
    pub question: LabellingQuestion,
    /// The number of its event in the session, counted from 1.
    pub sequence: usize,
}

/// What can be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionKind {
    /// An answer.
    Answer,
    /// A skip.
    Skip,
}

/// An event that fits its session, with items and classes by number.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Labels known beforehand: items and classes.
    Known(Vec<(usize, usize)>),
    /// An answer.
    Answer {
        /// The item.
        item: usize,
        /// Its class.
        class: usize,
        /// The prediction.
        asked: Asked,
    },
    /// A skip.
    Skip {
        /// The item.
        item: usize,
        /// The class predicted.
        predicted: usize,
        /// Its probability.
        probability: f64,
    },
    /// The last answer or skip, about this item, is taken back.
    Undo {
        /// The item.
        item: usize,
    },
    /// A label is changed by a person.
    Change {
        /// The item.
        item: usize,
        /// Its new class.
        class: usize,
    },
    /// The pool is another one.
    Pool {
        /// The pool.
        pool: Box<PoolId>,
        /// The item of each row.
        items: Vec<usize>,
    },
}

/// Which row of the pool is which item.
#[derive(Debug, Clone)]
pub(crate) enum Rows {
    /// The first pool: row 3 is item 3.
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
