//! The controller of a labelling session, which the terminal and the page share: the open question and the actions of
//! the person. Every event is written to the disk before it takes effect.

use crate::asking::{Asker, Command, Snapshot};
use crate::error::{ApplyError, SessionError};
use crate::event::{Event, Header};
use crate::file::SessionLog;
use crate::record::Record;
use crate::row_label::{Action, ActionKind};
use halfspaces_frame::{DataError, visible};
use halfspaces_online::{Doubt, LabellingQuestion, LabellingSession, Outlook};

/// The model suggests stopping if at most this share of all labels still has to be corrected ([`Outlook::within`]).
pub const ACCEPTED_WRONG: f64 = 0.05;

/// A running session: its log, its model, and the open question.
///
/// ```
/// use halfspaces_labelling::{Asking, Controller, Direct, Header, PoolId, SessionLog};
/// use halfspaces_linalg::{Points, Threads};
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1]])?;
/// let pool = PoolId::without_keys("pool.csv", 3, 2, "00");
/// let log = SessionLog::in_memory(Header::new(pool, vec!["left".into(), "right".into()], 0))?;
/// let model = log.model(&points, Threads::ONE)?;
/// let mut controller = Controller::new(log, Direct::new(model, Asking::default()))?;
/// while let Some(question) = controller.question() {
///     let class = usize::from(question.index < 2);
///     controller.answer(question.index, class).expect("this row is asked");
/// }
/// assert_eq!(controller.record().answered(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Controller<A> {
    log: SessionLog,
    asker: A,
    question: Option<LabellingQuestion>,
    snapshot: Snapshot,
}

/// The reason why an action was not performed.
#[derive(Debug)]
pub enum ActionError {
    /// The action does not fit the current state; the session continues.
    Rejected(String),
    /// The session file cannot be written, or the model has stopped; the session ends.
    Failed(DataError),
}

/// The answer or skip that is to be undone; both fields are optional.
#[derive(Debug, Clone, Copy)]
pub struct UndoTarget {
    /// The row of the action.
    pub row: Option<usize>,
    /// The number of the event in the session, counted from 1.
    pub sequence: Option<usize>,
}

impl From<DataError> for ActionError {
    fn from(error: DataError) -> ActionError {
        ActionError::Failed(error)
    }
}

impl<A: Asker> Controller<A> {
    /// Starts a session. The model must have learned the labels of `log`.
    ///
    /// # Errors
    /// Returns an error if the model has stopped.
    pub fn new(log: SessionLog, asker: A) -> Result<Controller<A>, DataError> {
        let snapshot = asker.latest();
        let mut controller = Controller { log, asker, question: None, snapshot };
        controller.next()?;
        Ok(controller)
    }

    /// The open question; `None` if every row has a label or is uncertain.
    #[must_use]
    pub fn question(&self) -> Option<LabellingQuestion> {
        self.question
    }

    /// The probability of the predicted class. Returns `None` if the predictions are suggestions without probabilities.
    /// Also returns `None` if a class has no labelled row yet, unless the predictions are those of a given model.
    #[must_use]
    pub fn probability(&self) -> Option<f64> {
        let is_known = self.snapshot.advised || self.record().has_every_class();
        let question = self.question.filter(|_| is_known && self.snapshot.has_probabilities);
        question.map(|question| question.probability)
    }

    /// Whether the predictions are suggestions given in advance, which have no probabilities.
    #[must_use]
    pub fn is_suggested(&self) -> bool {
        !self.snapshot.has_probabilities
    }

    /// The events so far and the state derived from them.
    #[must_use]
    pub fn record(&self) -> &Record {
        self.log.record()
    }

    /// The expected number of further corrections.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        self.snapshot.outlook
    }

    /// Whether every row has a label, or at most a fraction `share` of all labels still has to be corrected if
    /// labelling continues ([`Outlook::within`]). Returns `false` as long as rows are open and a class has no label,
    /// unless the predictions are those of a given model.
    #[must_use]
    pub fn can_stop(&self, share: f64) -> bool {
        let Outlook { open, .. } = self.snapshot.outlook;
        open == 0 || self.probability().is_some() && self.snapshot.outlook.within(share)
    }

    /// A note that at most a fraction [`ACCEPTED_WRONG`] of all labels still has to be corrected. Returns `None` if
    /// more corrections may be needed, or if every row has a label.
    #[must_use]
    pub fn stop_advice(&self) -> Option<String> {
        let may_stop = self.question.is_some() && self.can_stop(ACCEPTED_WRONG);
        may_stop.then(|| {
            let share = 100.0 * ACCEPTED_WRONG;
            format!(
                "The model expects to correct at most {share} % of all labels if you go on; if you stop now, more of them may be wrong."
            )
        })
    }

    /// The weights of the coordinates of the open question's row for the predicted class; `None` if the model has no
    /// weights or has not computed them yet.
    #[must_use]
    pub fn weights(&self) -> Option<&[(usize, f64)]> {
        let asked = self.question?;
        let is_asked = |(question, _): &&(LabellingQuestion, Vec<(usize, f64)>)| {
            (question.index, question.class) == (asked.index, asked.class)
        };
        self.snapshot.weights.iter().find(is_asked).map(|(_, weights)| weights.as_slice())
    }

    /// Takes a new snapshot of the model; the open question does not change.
    pub fn refresh(&mut self) {
        self.snapshot = self.asker.latest();
    }

    /// Waits until the model has learned from every answer.
    ///
    /// # Errors
    /// Returns an error if the model has stopped.
    pub fn settle(&mut self) -> Result<(), DataError> {
        self.snapshot = self.asker.wait(|_| false)?;
        Ok(())
    }

    /// Whether the model has learned from every answer.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.asker.is_up_to_date(&self.snapshot)
    }

    /// Answers the open question, which must be about `row`.
    ///
    /// # Errors
    /// [`ActionError::Rejected`] if the open question is about another row or there is no such class;
    /// [`ActionError::Failed`] if the event was not saved.
    pub fn answer(&mut self, row: usize, class: usize) -> Result<(), ActionError> {
        let question = self.open(row)?;
        let event = Event::Answer {
            row,
            class: self.class_name(class)?,
            predicted: self.class_name(question.class)?,
            probability: question.probability,
            to_come: self.snapshot.to_come(),
        };
        self.take(&event, Some(Command::Answer(question, class)))?;
        Ok(self.next()?)
    }

    /// Postpones the open question, which must be about `row`, until all other rows have been asked about.
    ///
    /// # Errors
    /// [`ActionError::Rejected`] if the open question is about another row; [`ActionError::Failed`] if the event was
    /// not saved.
    pub fn skip(&mut self, row: usize) -> Result<(), ActionError> {
        let question = self.open(row)?;
        let predicted = self.class_name(question.class)?;
        let event = Event::Skip { row, predicted, probability: question.probability };
        self.take(&event, Some(Command::Skip(question)))?;
        Ok(self.next()?)
    }

    /// Records that the person cannot tell the class of the open question's row, which must be `row`.
    ///
    /// # Errors
    /// [`ActionError::Rejected`] if the open question is about another row; [`ActionError::Failed`] if the event was
    /// not saved.
    pub fn uncertain(&mut self, row: usize) -> Result<(), ActionError> {
        let question = self.open(row)?;
        let predicted = self.class_name(question.class)?;
        let event = Event::Uncertain { row, predicted, probability: question.probability };
        self.take(&event, Some(Command::Skip(question)))?;
        Ok(self.next()?)
    }

    /// Undoes the most recent answer, skip or uncertain answer and opens its question again. If `target` is given, the
    /// most recent action must be the one that `target` describes.
    ///
    /// # Errors
    /// [`ActionError::Rejected`] if there is no such action; [`ActionError::Failed`] if the event was not saved.
    pub fn undo(&mut self, target: Option<UndoTarget>) -> Result<(), ActionError> {
        let Some(action) = self.record().last_action() else {
            return Err(ActionError::Rejected("there is nothing to undo".to_owned()));
        };
        let (question, sequence) = (action.question, action.sequence);
        let row = question.index;
        if let Some(target) = target {
            let matches = target.row.is_none_or(|expected| expected == row)
                && target.sequence.is_none_or(|expected| expected == sequence);
            if !matches {
                return Err(ActionError::Rejected(format!(
                    "the last action (number {sequence}, about row {row}) is not the one to undo"
                )));
            }
        }
        let command = match action.kind {
            ActionKind::Answer => Command::Withdraw(row),
            ActionKind::Skip | ActionKind::Uncertain => Command::Unskip(row),
        };
        self.take(&Event::Undo { row }, Some(command))?;
        // An earlier skip or uncertain answer about the row may apply again.
        if self.record().is_skipped(row) || self.record().is_uncertain(row) {
            self.asker.send(Command::Skip(question))?;
        }
        self.question = Some(question);
        // An import may have labelled a skipped row in the meantime.
        self.keep_question()
    }

    /// Describes the action that an undo would revert, such as "the answer `dog` about row 3"; `None` if there is none. A
    /// later change of the answer is reverted together with it.
    #[must_use]
    pub fn undo_text(&self) -> Option<String> {
        let record = self.record();
        let Action { kind, question, .. } = record.last_action()?;
        let row = question.index;
        Some(match (kind, record.label(row)) {
            (ActionKind::Answer, Some(class)) => {
                format!("the answer `{}` about row {row}", visible(&record.classes()[class]))
            }
            (ActionKind::Answer, None) => format!("the answer about row {row}"),
            (ActionKind::Skip, _) => format!("the skip of row {row}"),
            (ActionKind::Uncertain, _) => format!("the uncertain answer about row {row}"),
        })
    }

    /// Changes an earlier answer, or gives an uncertain row a class. The open question does not change unless it is about
    /// this row.
    ///
    /// # Errors
    /// [`ActionError::Rejected`] if the row has no answer or there is no such class; [`ActionError::Failed`] if the
    /// event was not saved.
    pub fn change(&mut self, row: usize, class: usize) -> Result<(), ActionError> {
        let class_name = self.class_name(class)?;
        if self.record().label(row) == Some(class) {
            return Ok(());
        }
        if self.record().is_uncertain(row) {
            let is_row = |question: &&LabellingQuestion| question.index == row;
            let has_row = |snapshot: &Snapshot| snapshot.questions.iter().any(|q| q.index == row);
            let snapshot = self.asker.wait(has_row)?;
            let Some(question) = snapshot.questions.iter().find(is_row) else {
                unreachable!("the model has a question about each row that is set aside")
            };
            let event = Event::Answer {
                row,
                class: class_name,
                predicted: self.class_name(question.class)?,
                probability: question.probability,
                to_come: snapshot.to_come(),
            };
            self.take(&event, Some(Command::Answer(*question, class)))?;
        } else {
            let event = Event::Change { row, class: class_name };
            self.take(&event, Some(Command::Change(row, class)))?;
        }
        self.keep_question()
    }

    /// Adds labels that are not answers to questions, given as pairs of a row and its class. The open question does not
    /// change unless its row gets a label.
    ///
    /// # Errors
    /// [`ActionError::Rejected`] if a row already has a label or a row or class does not exist; [`ActionError::Failed`]
    /// if the event was not saved. If the labels are rejected, none of them is added.
    pub fn known(&mut self, labels: &[(usize, usize)]) -> Result<(), ActionError> {
        if let Some((row, _)) = labels.iter().find(|(row, _)| self.record().label(*row).is_some()) {
            return Err(ActionError::Rejected(format!("row {row} already has a label")));
        }
        let named = |&(row, class): &(usize, usize)| Ok((row, self.class_name(class)?));
        let named = labels.iter().map(named).collect::<Result<_, ActionError>>()?;
        self.take(&Event::Known { labels: named }, Some(Command::Known(labels.to_vec())))?;
        self.keep_question()
    }

    /// The header of the session.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.log.header()
    }

    /// The model.
    #[must_use]
    pub fn asker(&self) -> &A {
        &self.asker
    }

    /// The answers that are least consistent with the other answers, except those that have been changed since.
    pub fn doubts(&self) -> impl Iterator<Item = &Doubt> {
        let doubts = self.snapshot.doubts.iter();
        doubts.filter(|doubt| self.record().label(doubt.index) == Some(doubt.class))
    }

    /// Ends the session and returns its log. If `model` is true, also returns the model, after it has learned from
    /// every answer.
    ///
    /// # Errors
    /// Returns an error if the model has stopped.
    pub fn finish(self, model: bool) -> Result<(SessionLog, Option<LabellingSession>), DataError> {
        let session = if model { Some(self.asker.finish()?) } else { None };
        Ok((self.log, session))
    }

    /// Up to `count` rows that are likely to be asked about next.
    #[must_use]
    pub fn ahead(&self, count: usize) -> Vec<usize> {
        let open = |row: &usize| is_open(self.record(), *row);
        let asked = self.question.map(|question| question.index);
        let rows = self.snapshot.questions.iter().map(|question| question.index);
        rows.filter(|row| open(row) && asked != Some(*row)).take(count).collect()
    }

    fn open(&self, row: usize) -> Result<LabellingQuestion, ActionError> {
        match self.question {
            Some(question) if question.index == row => Ok(question),
            _ => Err(ActionError::Rejected(format!("row {row} is not the row being asked about"))),
        }
    }

    fn class_name(&self, class: usize) -> Result<String, ActionError> {
        let classes = self.record().classes();
        let count = classes.len();
        let unknown = || {
            ActionError::Rejected(format!(
                "there is no class number {class}; there are {count} classes, numbered from 0"
            ))
        };
        classes.get(class).cloned().ok_or_else(unknown)
    }

    fn take(&mut self, event: &Event, command: Option<Command>) -> Result<(), ActionError> {
        let applied = match self.log.apply(event) {
            Ok(()) => Ok(()),
            // The event was applied, so the model must also learn from it.
            Err(ApplyError::File(error @ SessionError::Lost { .. })) => Err(error),
            Err(ApplyError::File(error)) => return Err(ActionError::Failed(error.into())),
            Err(ApplyError::Unfit(why)) => return Err(ActionError::Rejected(why)),
        };
        if let Some(command) = command {
            self.asker.send(command)?;
        }
        if let Err(error) = applied {
            self.keep_question()?;
            return Err(ActionError::Failed(error.into()));
        }
        Ok(())
    }

    /// Takes a new snapshot, and opens the next question if the row of the open question now has a label.
    fn keep_question(&mut self) -> Result<(), ActionError> {
        let has_label = |question: LabellingQuestion| self.record().label(question.index).is_some();
        if self.question.is_some_and(has_label) {
            return Ok(self.next()?);
        }
        self.snapshot = self.asker.soon();
        Ok(())
    }

    /// Opens the next question. Skipped rows are asked about only if no other rows are left.
    fn next(&mut self) -> Result<(), DataError> {
        self.snapshot = self.asker.soon();
        if self.unskipped(&self.snapshot).is_none() {
            // Answers came faster than the model was updated, so the snapshot has no further question.
            self.snapshot = self.asker.wait(|snapshot| self.unskipped(snapshot).is_some())?;
        }
        let found = self.unskipped(&self.snapshot);
        self.question = found.or_else(|| self.first_skipped(&self.snapshot));
        Ok(())
    }

    fn unskipped(&self, snapshot: &Snapshot) -> Option<LabellingQuestion> {
        let record = self.record();
        snapshot.questions.iter().copied().find(|question| is_open(record, question.index))
    }

    /// The question about the earliest skipped row.
    fn first_skipped(&self, snapshot: &Snapshot) -> Option<LabellingQuestion> {
        let mut questions = snapshot.questions.iter();
        let row = self.record().skipped().next()?;
        questions.find(|question| question.index == row).copied()
    }
}

/// Whether a row has no label and is neither skipped nor uncertain.
fn is_open(record: &Record, row: usize) -> bool {
    record.label(row).is_none() && !record.is_skipped(row) && !record.is_uncertain(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asking::{Asking, Direct};
    use crate::event::PoolId;
    use halfspaces_linalg::{Params, Points};
    use halfspaces_online::Labelling;
    use std::cell::RefCell;
    use std::collections::VecDeque;

    fn new_log(rows: usize, classes: &[&str]) -> SessionLog {
        let classes = classes.iter().map(|name| (*name).to_owned()).collect();
        let pool = PoolId::without_keys("p", rows, 2, "0");
        SessionLog::in_memory(Header::new(pool, classes, 0)).unwrap()
    }

    /// A model that executes commands only while a caller waits for it.
    #[derive(Debug)]
    struct Late {
        direct: RefCell<Direct>,
        pending: RefCell<VecDeque<Command>>,
    }

    impl Asker for Late {
        fn send(&mut self, command: Command) -> Result<(), DataError> {
            self.pending.get_mut().push_back(command);
            Ok(())
        }

        fn latest(&self) -> Snapshot {
            self.direct.borrow().latest()
        }

        fn soon(&self) -> Snapshot {
            self.latest()
        }

        fn wait(&self, enough: impl Fn(&Snapshot) -> bool) -> Result<Snapshot, DataError> {
            while !enough(&self.latest()) {
                let Some(command) = self.pending.borrow_mut().pop_front() else { break };
                self.direct.borrow_mut().send(command)?;
            }
            Ok(self.latest())
        }

        fn is_up_to_date(&self, _: &Snapshot) -> bool {
            self.pending.borrow().is_empty()
        }

        fn finish(self) -> Result<LabellingSession, DataError> {
            self.wait(|_| false)?;
            self.direct.into_inner().finish()
        }
    }

    /// Every row is asked about exactly once, even if the model executes commands only when the controller has to wait
    /// for it.
    #[test]
    fn answers_faster_than_the_model_are_all_taken() {
        let rows = 700;
        let log = new_log(rows, &["a", "b"]);
        let values = (0..2 * rows).map(|i| ((i * 7919) % 1009) as f64).collect();
        let points = Points::new(values, 2).unwrap();
        let session = Labelling::params(2).landmarks(20).check().unwrap().session(&points).unwrap();
        let direct = RefCell::new(Direct::new(session, Asking::default()));
        let late = Late { direct, pending: RefCell::default() };
        let mut controller = Controller::new(log, late).unwrap();
        let mut asked = vec![false; rows];
        while let Some(question) = controller.question() {
            let row = question.index;
            assert!(!std::mem::replace(&mut asked[row], true), "row {row} is asked twice");
            controller.answer(row, usize::from(row % 3 == 0)).unwrap();
        }
        assert!(asked.into_iter().all(|asked| asked));
        let (log, session) = controller.finish(true).unwrap();
        let (record, session) = (log.record(), session.unwrap());
        assert_eq!((record.asked(), session.progress().answered), (rows, rows));
        assert_eq!(record.corrections(), session.progress().corrections);
    }

    /// Rows to review are asked about before rows with surer predictions. If a class is sought, that class decides the
    /// order instead.
    #[test]
    fn rows_to_review_are_asked_first_and_a_sought_class_decides_the_order() {
        let rows = 40;
        let values: Vec<f64> = (0..2 * rows).map(|i| ((i * 7919) % 1009) as f64).collect();
        let points = Points::new(values, 2).unwrap();
        let session =
            || Labelling::params(2).landmarks(20).check().unwrap().session(&points).unwrap();
        let play = |asking: Asking| {
            let log = new_log(rows, &["a", "b"]);
            let mut controller = Controller::new(log, Direct::new(session(), asking)).unwrap();
            let mut asked = Vec::new();
            for _ in 0..12 {
                let question = controller.question().unwrap();
                asked.push(question);
                controller.answer(question.index, question.index % 2).unwrap();
            }
            asked
        };
        let indices = |asking: Asking| -> Vec<usize> {
            play(asking).iter().map(|question| question.index).collect()
        };
        let first = |places: &[(usize, usize)]| Asking {
            first: places.iter().copied().collect(),
            ..Asking::default()
        };
        assert_eq!(indices(first(&[(31, 0), (7, 1), (20, 2)]))[..3], [31, 7, 20]);
        assert_eq!(indices(first(&[(31, 2), (7, 0), (20, 1)]))[..3], [7, 20, 31]);
        let mut equal = indices(first(&[(31, 0), (7, 0), (20, 0)]))[..3].to_vec();
        equal.sort_unstable();
        assert_eq!(equal, [7, 20, 31]);
        // A shuffled order depends on the seed only, and rows that come first still come first.
        let shuffled = |seed| indices(Asking { shuffled: Some(seed), ..Asking::default() });
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        assert!(!shuffled(1).is_sorted() && shuffled(1)[..3] != indices(Asking::default())[..3]);
        let both = Asking { shuffled: Some(1), ..first(&[(31, 0), (7, 1)]) };
        assert!(indices(both)[..2].iter().all(|index| [7, 31].contains(index)));
        let mut other = session();
        for question in play(Asking { seek: Some(1), ..Asking::default() }) {
            assert_eq!(question, other.likeliest(1, 1).unwrap()[0]);
            other.ask(question).unwrap();
            other.answer(question.index % 2).unwrap();
        }
    }

    /// The model may expect no corrections while a class has no label, but it cannot know.
    #[test]
    fn nobody_is_told_to_stop_before_every_class_has_a_label() {
        let rows = 60;
        let log = new_log(rows, &["a", "b", "c"]);
        let values = (0..rows).flat_map(|row| [10.0 * (row % 2) as f64, (row % 7) as f64 / 7.0]);
        let points = Points::new(values.collect(), 2).unwrap();
        let labelling = Labelling::params(3).landmarks(20).check().unwrap();
        let session = labelling.session(&points).unwrap();
        let mut controller = Controller::new(log, Direct::new(session, Asking::default())).unwrap();
        let mut within = 0;
        while let Some(question) = controller.question() {
            within += usize::from(controller.outlook().within(0.05));
            assert!(!controller.can_stop(0.05) && controller.stop_advice().is_none());
            controller.answer(question.index, question.index % 2).unwrap();
        }
        assert!(within > 0 && controller.can_stop(0.0) && controller.stop_advice().is_none());
    }

    /// The questions are the same as those of a second session that looks for scarce classes and gets the same answers
    /// and skips.
    #[test]
    fn scarce_classes_are_asked_first() {
        let rows = 90;
        let log = new_log(rows, &["a", "b", "c"]);
        let truth = |row: usize| if row.is_multiple_of(15) { 2 } else { row % 2 };
        let place = |row: usize| [(0.0, 0.0), (4.0, 0.0), (0.0, 4.0)][truth(row)];
        let noise = |i: usize| ((i * 7919) % 1009) as f64 / 1009.0;
        let values = (0..rows).flat_map(|row| {
            let (x, y) = place(row);
            [x + noise(2 * row), y + noise(2 * row + 1)]
        });
        let points = Points::new(values.collect(), 2).unwrap();
        let labelling = Labelling::params(3).landmarks(20).check().unwrap();
        let mut other = labelling.session(&points).unwrap();
        let asking = Asking { rare: true, weights: true, ..Asking::default() };
        let mut controller = Controller::new(log, Direct::new(other.clone(), asking)).unwrap();
        let (mut scarce, mut between) = (0, 0);
        for step in 0..91 {
            let expected = match other.scarce_class() {
                Some(class) => {
                    scarce += 1;
                    other.likeliest(class, 1).unwrap().first().copied().or_else(|| other.next())
                }
                None => other.next(),
            };
            let question = controller.question().unwrap();
            assert_eq!(Some(question), expected, "{step}");
            assert_eq!(controller.weights(), None);
            let outlook = controller.outlook();
            let is_known = controller.record().has_every_class();
            assert_eq!(controller.stop_advice().is_some(), is_known && outlook.within(0.05));
            between += usize::from(!outlook.within(0.05) && outlook.within(0.07));
            other.ask(question).unwrap();
            let row = question.index;
            if step == 30 {
                controller.skip(row).unwrap();
                other.skip().unwrap();
            } else {
                // Some answers are wrong, so that the model is not sure of its last predictions.
                let class = if row % 4 == 1 { 2 - truth(row) } else { truth(row) };
                controller.answer(row, class).unwrap();
                other.answer(class).unwrap();
            }
        }
        assert!(controller.question().is_none() && scarce > 50);
        assert!(between > 0 && controller.stop_advice().is_none(), "{between}");
    }

    /// An undone answer about an uncertain row leaves it uncertain, also in the model.
    #[test]
    fn the_model_and_the_record_set_the_same_rows_aside() {
        let values: Vec<f64> = (0..12).map(|i| ((i * 7919) % 1009) as f64).collect();
        let points = Points::new(values, 2).unwrap();
        let session = Labelling::params(2).check().unwrap().session(&points).unwrap();
        let log = new_log(6, &["a", "b"]);
        let mut controller = Controller::new(log, Direct::new(session, Asking::default())).unwrap();
        let agree = |controller: &Controller<Direct>| {
            let record = controller.record();
            let aside = |row: &usize| record.is_skipped(*row) || record.is_uncertain(*row);
            let mut of_model = controller.asker().session().skipped().to_vec();
            of_model.sort_unstable();
            assert_eq!(of_model, (0..6).filter(aside).collect::<Vec<_>>());
        };
        let row = controller.question().unwrap().index;
        controller.uncertain(row).unwrap();
        let other = controller.question().unwrap().index;
        controller.change(row, 1).unwrap();
        assert_eq!(controller.question().unwrap().index, other, "another row stays open");
        agree(&controller);
        controller.undo(None).unwrap();
        assert_eq!(controller.question().unwrap().index, row);
        agree(&controller);
        // The row of the open question gets a class, so another question is opened.
        controller.change(row, 1).unwrap();
        assert_ne!(controller.question().unwrap().index, row);
        controller.undo(None).unwrap();
        agree(&controller);
    }

    /// A row that was skipped twice is still skipped when the second skip is undone, also in the model.
    #[test]
    fn an_earlier_skip_applies_again() {
        let points = Points::from_rows(&[[1.0], [-2.0]]).unwrap();
        let session = Labelling::params(2).check().unwrap().session(&points).unwrap();
        let log = new_log(2, &["a", "b"]);
        let mut controller = Controller::new(log, Direct::new(session, Asking::default())).unwrap();
        let skip = |controller: &mut Controller<Direct>| {
            let row = controller.question().unwrap().index;
            controller.skip(row).unwrap();
            row
        };
        let (first, _, again) =
            (skip(&mut controller), skip(&mut controller), skip(&mut controller));
        assert_eq!(first, again, "only skipped rows are left");
        controller.undo(None).unwrap();
        let mut of_model = controller.asker().session().skipped().to_vec();
        of_model.sort_unstable();
        assert_eq!((of_model, controller.record().is_skipped(first)), (vec![0, 1], true));
    }

    /// Labels that are not answers to questions are learned, do not count as corrections, and close the open question
    /// about their row.
    #[test]
    fn known_labels_are_taken_at_any_time() {
        let points = Points::from_rows(&[[1.0], [-2.0], [3.0], [-4.0]]).unwrap();
        let session = Labelling::params(2).check().unwrap().session(&points).unwrap();
        let log = new_log(4, &["a", "b"]);
        let mut controller = Controller::new(log, Direct::new(session, Asking::default())).unwrap();
        let open = controller.question().unwrap().index;
        let other = (open + 1) % 4;
        controller.known(&[(other, 1)]).unwrap();
        assert_eq!(controller.question().unwrap().index, open);
        controller.known(&[(open, 0)]).unwrap();
        assert_ne!(controller.question().unwrap().index, open);
        assert_eq!(controller.asker().session().class(open), Some(0));
        let record = controller.record();
        assert_eq!((record.answered(), record.asked(), record.corrections()), (2, 0, 0));
        for wrong in [[(open, 1)], [(9, 0)], [((open + 2) % 4, 2)]] {
            assert!(matches!(controller.known(&wrong), Err(ActionError::Rejected(_))), "{wrong:?}");
        }
        assert_eq!(controller.record().events().len(), 2);
    }
}
