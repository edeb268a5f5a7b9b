//! What a session has been told: the sum of its events, whether they happen now or are read from a file.

use halfspaces_online::{Answer, LabellingQuestion, Source};
use serde::{Deserialize, Serialize};

/// One line of a session file. Classes are written by name, rows count from 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Event {
    /// Labels known beforehand, or imported.
    Known { labels: Vec<(usize, String)> },
    /// An answer to a question, with what was predicted then and how many corrections were expected.
    Answer { row: usize, class: String, predicted: String, probability: f64, to_come: Option<f64> },
    /// A question left to the end.
    Skip { row: usize, predicted: String, probability: f64 },
    /// The last answer or skip, about this row, is taken back.
    Undo { row: usize },
    /// An answer that was given becomes another one.
    Change { row: usize, class: String },
}

/// A label that was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Given {
    pub(super) row: usize,
    pub(super) class: usize,
    /// What was predicted, unless the label was known beforehand.
    pub(super) asked: Option<Asked>,
}

/// The prediction that was answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Asked {
    pub(super) predicted: usize,
    pub(super) probability: f64,
    /// Corrections expected at that time.
    pub(super) to_come: Option<f64>,
}

impl Given {
    pub(super) fn is_correction(&self) -> bool {
        self.asked.is_some_and(|asked| asked.predicted != self.class)
    }
}

/// What can be taken back, with the question that opens again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Action {
    Answer(LabellingQuestion),
    Skip(LabellingQuestion),
}

impl Action {
    pub(super) fn question(self) -> LabellingQuestion {
        let (Action::Answer(question) | Action::Skip(question)) = self;
        question
    }
}

/// An event that can happen, with classes by number.
#[derive(Debug)]
pub(super) enum Step {
    Known(Vec<(usize, usize)>),
    Answer(usize, usize, Asked),
    Skip(LabellingQuestion),
    Undo,
    /// By place in the list of labels.
    Change(usize, usize),
}

/// All labels of a session, what was skipped, and what can be taken back.
#[derive(Debug, Clone)]
pub(super) struct Record {
    classes: Vec<String>,
    class_of: Vec<Option<usize>>,
    given: Vec<Given>,
    skipped: Vec<usize>,
    actions: Vec<Action>,
}

impl Record {
    pub(super) fn new(rows: usize, classes: Vec<String>) -> Record {
        let (given, skipped, actions) = (Vec::new(), Vec::new(), Vec::new());
        Record { classes, class_of: vec![None; rows], given, skipped, actions }
    }

    /// What an event comes to, or why it cannot have happened.
    pub(super) fn check(&self, event: &Event) -> Result<Step, String> {
        match event {
            Event::Known { labels } => {
                let mut known = Vec::with_capacity(labels.len());
                for (row, class) in labels {
                    known.push((*row, self.class(class)?));
                    self.check_open(*row)?;
                }
                let mut rows: Vec<usize> = known.iter().map(|(row, _)| *row).collect();
                rows.sort_unstable();
                if let Some(pair) = rows.windows(2).find(|pair| pair[0] == pair[1]) {
                    return Err(format!("row {} has two labels", pair[0]));
                }
                Ok(Step::Known(known))
            }
            Event::Answer { row, class, predicted, probability, to_come } => {
                let (class, predicted) = (self.class(class)?, self.class(predicted)?);
                self.check_open(*row)?;
                let (row, probability, to_come) = (*row, *probability, *to_come);
                Ok(Step::Answer(row, class, Asked { predicted, probability, to_come }))
            }
            Event::Skip { row, predicted, probability } => {
                let class = self.class(predicted)?;
                self.check_open(*row)?;
                let (index, probability) = (*row, *probability);
                Ok(Step::Skip(LabellingQuestion { index, class, probability }))
            }
            Event::Undo { row } => match self.actions.last() {
                Some(action) if action.question().index == *row => Ok(Step::Undo),
                _ => Err(format!("the last answer is not that of row {row}")),
            },
            Event::Change { row, class } => {
                let class = self.class(class)?;
                let place = self.given.iter().position(|given| given.row == *row);
                let place = place.ok_or_else(|| format!("row {row} has no answer to change"))?;
                Ok(Step::Change(place, class))
            }
        }
    }

    /// Takes in what an event came to, of a record that has not changed since.
    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Known(known) => {
                known.into_iter().for_each(|(row, class)| self.give(row, class, None))
            }
            Step::Answer(index, class, asked) => {
                self.give(index, class, Some(asked));
                let Asked { predicted, probability, .. } = asked;
                let question = LabellingQuestion { index, class: predicted, probability };
                self.actions.push(Action::Answer(question));
            }
            Step::Skip(question) => {
                self.skipped.retain(|row| *row != question.index);
                self.skipped.push(question.index);
                self.actions.push(Action::Skip(question));
            }
            Step::Undo => self.take_back(),
            Step::Change(place, class) => {
                let given = &mut self.given[place];
                given.class = class;
                self.class_of[given.row] = Some(class);
            }
        }
    }

    fn take_back(&mut self) {
        match self.actions.pop() {
            Some(Action::Answer(question)) => {
                self.given.retain(|given| given.row != question.index);
                self.class_of[question.index] = None;
            }
            Some(Action::Skip(question)) => self.skipped.retain(|row| *row != question.index),
            None => unreachable!("the caller has seen an action"),
        }
    }

    fn give(&mut self, row: usize, class: usize, asked: Option<Asked>) {
        self.class_of[row] = Some(class);
        self.skipped.retain(|other| *other != row);
        self.given.push(Given { row, class, asked });
    }

    fn class(&self, name: &str) -> Result<usize, String> {
        let place = self.classes.iter().position(|class| class == name);
        place.ok_or_else(|| format!("there is no class {name:?}"))
    }

    fn check_open(&self, row: usize) -> Result<(), String> {
        match self.class_of.get(row) {
            None => Err(format!("row {row} of {} rows, which count from 0", self.class_of.len())),
            Some(Some(_)) => Err(format!("row {row} has a label already")),
            Some(None) => Ok(()),
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.class_of.len()
    }

    pub(super) fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The label of a row.
    pub(super) fn label(&self, row: usize) -> Option<usize> {
        self.class_of.get(row).copied().flatten()
    }

    pub(super) fn given(&self) -> &[Given] {
        &self.given
    }

    pub(super) fn skipped(&self) -> &[usize] {
        &self.skipped
    }

    pub(super) fn last_action(&self) -> Option<Action> {
        self.actions.last().copied()
    }

    pub(super) fn asked(&self) -> usize {
        self.given.iter().filter(|given| given.asked.is_some()).count()
    }

    pub(super) fn corrections(&self) -> usize {
        self.given.iter().filter(|given| given.is_correction()).count()
    }

    /// The labels as a session of the library resumes from them.
    pub(super) fn answers(&self) -> Vec<Answer> {
        let source = |asked: Option<Asked>| match asked {
            Some(Asked { predicted, .. }) => Source::Asked { predicted },
            None => Source::Known,
        };
        let answer = |given: &Given| Answer {
            index: given.row,
            class: given.class,
            source: source(given.asked),
        };
        self.given.iter().map(answer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(row: usize, class: &str, predicted: &str) -> Event {
        let (class, predicted) = (class.to_owned(), predicted.to_owned());
        Event::Answer { row, class, predicted, probability: 0.75, to_come: None }
    }

    fn skip(row: usize) -> Event {
        Event::Skip { row, predicted: "a".into(), probability: 0.5 }
    }

    fn record() -> Record {
        Record::new(5, vec!["a".into(), "b".into()])
    }

    fn take(record: &mut Record, event: &Event) {
        let step = record.check(event).unwrap();
        record.take(step);
    }

    #[test]
    fn events_add_up() {
        let mut record = record();
        let known = Event::Known { labels: vec![(4, "b".into())] };
        let change = Event::Change { row: 0, class: "b".into() };
        for event in [known, answer(0, "a", "a"), skip(1), answer(2, "a", "b"), change] {
            take(&mut record, &event);
        }
        assert_eq!((record.asked(), record.corrections()), (2, 2));
        assert_eq!(
            [0, 1, 2, 3, 4].map(|row| record.label(row)),
            [Some(1), None, Some(0), None, Some(1)]
        );
        assert_eq!(record.skipped(), [1]);
        assert_eq!(record.answers()[0], Answer { index: 4, class: 1, source: Source::Known });
        // Backwards: the answer of row 2, the skip of row 1, the answer of row 0; labels known beforehand stay.
        for row in [2, 1, 0] {
            assert_eq!(record.last_action().unwrap().question().index, row);
            take(&mut record, &Event::Undo { row });
        }
        assert_eq!((record.given().len(), record.skipped().len()), (1, 0));
        assert_eq!(record.last_action(), None);
    }

    #[test]
    fn what_cannot_have_happened_is_refused() {
        let mut record = record();
        take(&mut record, &answer(0, "a", "a"));
        let known = |labels: &[(usize, &str)]| Event::Known {
            labels: labels.iter().map(|(row, class)| (*row, (*class).to_owned())).collect(),
        };
        for (event, said) in [
            (answer(0, "a", "a"), "row 0 has a label already"),
            (answer(5, "a", "a"), "row 5 of 5 rows, which count from 0"),
            (answer(1, "c", "a"), "there is no class \"c\""),
            (answer(1, "a", "c"), "there is no class \"c\""),
            (skip(0), "row 0 has a label already"),
            (Event::Undo { row: 1 }, "the last answer is not that of row 1"),
            (Event::Change { row: 1, class: "a".into() }, "row 1 has no answer to change"),
            (known(&[(1, "a"), (0, "a")]), "row 0 has a label already"),
            (known(&[(1, "a"), (1, "b")]), "row 1 has two labels"),
        ] {
            assert_eq!(record.check(&event).unwrap_err(), said);
        }
    }

    /// Whoever skips a row again has one row skipped, and it is asked after the others.
    #[test]
    fn a_row_skipped_again_is_skipped_once() {
        let mut record = record();
        for row in [1, 3, 1] {
            take(&mut record, &skip(row));
        }
        assert_eq!(record.skipped(), [3, 1]);
    }
}
