//! A labelling session as its surfaces see it: a question that is open, and what can be done about it. Every event is on
//! the disk before it counts.

use super::worker::{Command, Snapshot, Worker};
use crate::error::{CliError, session_error};
use halfspaces_labelling::{ActionKind, ApplyError, Event, Record, SessionLog};
use halfspaces_online::{LabellingQuestion, LabellingSession, Outlook};
use std::time::Duration;

/// How long an answer waits for the model to learn from it. After that the next question is one that was chosen before.
const PATIENCE: Duration = Duration::from_millis(40);

#[derive(Debug)]
pub(super) struct Desk {
    log: SessionLog,
    worker: Worker,
    question: Option<LabellingQuestion>,
    snapshot: Snapshot,
}

/// Why something was not done.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It does not fit what the session is at, in words for the person.
    Unfit(String),
    /// The session file cannot be written, or the model is gone.
    Failed(CliError),
}

/// The answer or skip that a person means to take back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meant {
    pub(super) row: Option<usize>,
    pub(super) sequence: Option<usize>,
}

impl From<CliError> for Refusal {
    fn from(error: CliError) -> Refusal {
        Refusal::Failed(error)
    }
}

impl Desk {
    /// `session` knows the labels of `log`.
    pub(super) fn new(log: SessionLog, session: LabellingSession) -> Result<Desk, CliError> {
        let worker = Worker::start(session, log.record().skipped().count());
        let snapshot = worker.snapshot(Duration::ZERO);
        let mut desk = Desk { log, worker, question: None, snapshot };
        desk.next()?;
        Ok(desk)
    }

    pub(super) fn question(&self) -> Option<LabellingQuestion> {
        self.question
    }

    pub(super) fn record(&self) -> &Record {
        self.log.record()
    }

    pub(super) fn outlook(&self) -> Outlook {
        self.snapshot.outlook
    }

    /// Looks at what the model has learned since; the open question stays.
    pub(super) fn refresh(&mut self) {
        self.snapshot = self.worker.snapshot(Duration::ZERO);
    }

    /// Whether the model knows every answer.
    pub(super) fn is_settled(&self) -> bool {
        self.worker.knows_all(&self.snapshot)
    }

    /// Answers the open question, which is about `row`.
    pub(super) fn answer(&mut self, row: usize, class: usize) -> Result<(), Refusal> {
        let question = self.open(row)?;
        let event = Event::Answer {
            row,
            class: self.class_name(class)?,
            predicted: self.class_name(question.class)?,
            probability: question.probability,
            to_come: Some(self.snapshot.outlook.expected),
        };
        self.take(&event, Some(Command::Answer(question, class)))?;
        Ok(self.next()?)
    }

    /// Leaves the open question, which is about `row`, to the end.
    pub(super) fn skip(&mut self, row: usize) -> Result<(), Refusal> {
        let question = self.open(row)?;
        let predicted = self.class_name(question.class)?;
        let event = Event::Skip { row, predicted, probability: question.probability };
        self.take(&event, Some(Command::Skip))?;
        Ok(self.next()?)
    }

    /// Takes back the last answer or skip, whose question opens again. With `meant` it must be that one.
    pub(super) fn undo(&mut self, meant: Option<Meant>) -> Result<(), Refusal> {
        let Some(action) = self.record().last_action() else {
            return Err(Refusal::Unfit("there is nothing to take back".to_owned()));
        };
        let (question, sequence) = (action.question, action.sequence);
        let row = question.index;
        if let Some(meant) = meant {
            let is_that = meant.row.is_none_or(|meant| meant == row)
                && meant.sequence.is_none_or(|meant| meant == sequence);
            if !is_that {
                return Err(Refusal::Unfit(format!(
                    "the last answer is number {sequence}, about row {row}, not the one to be taken back"
                )));
            }
        }
        let command = match action.kind {
            ActionKind::Answer => Some(Command::Withdraw(row)),
            ActionKind::Skip => None,
        };
        self.take(&Event::Undo { row }, command)?;
        self.snapshot = self.worker.snapshot(PATIENCE);
        // A row that was skipped may have got its label by an import.
        if self.record().label(row).is_none() {
            self.question = Some(question)
        } else {
            self.next()?
        }
        Ok(())
    }

    /// Makes an answer that was given another one; the open question stays.
    pub(super) fn change(&mut self, row: usize, class: usize) -> Result<(), Refusal> {
        let class_name = self.class_name(class)?;
        if self.record().label(row) == Some(class) {
            return Ok(());
        }
        self.take(&Event::Change { row, class: class_name }, Some(Command::Change(row, class)))?;
        self.snapshot = self.worker.snapshot(PATIENCE);
        Ok(())
    }

    /// Ends the session and returns its log, and with `model` the model once it has learned from every answer.
    pub(super) fn finish(
        self,
        model: bool,
    ) -> Result<(SessionLog, Option<LabellingSession>), CliError> {
        let session = if model { Some(self.worker.finish()?) } else { None };
        Ok((self.log, session))
    }

    /// Rows that may be asked next.
    pub(super) fn ahead(&self, count: usize) -> Vec<usize> {
        let open =
            |row: &usize| self.record().label(*row).is_none() && !self.record().is_skipped(*row);
        let asked = self.question.map(|question| question.index);
        let rows = self.snapshot.questions.iter().map(|question| question.index);
        rows.filter(|row| open(row) && asked != Some(*row)).take(count).collect()
    }

    fn open(&self, row: usize) -> Result<LabellingQuestion, Refusal> {
        match self.question {
            Some(question) if question.index == row => Ok(question),
            _ => Err(Refusal::Unfit(format!("row {row} is not the one that is asked"))),
        }
    }

    fn class_name(&self, class: usize) -> Result<String, Refusal> {
        let classes = self.record().classes();
        let unknown = || Refusal::Unfit(format!("class {class} of {}", classes.len()));
        classes.get(class).cloned().ok_or_else(unknown)
    }

    fn take(&mut self, event: &Event, command: Option<Command>) -> Result<(), Refusal> {
        self.log.apply(event).map_err(|error| match error {
            ApplyError::Unfit(why) => Refusal::Unfit(why),
            ApplyError::File(error) => Refusal::Failed(session_error(&error)),
        })?;
        command.map_or(Ok(()), |command| Ok(self.worker.tell(command)?))
    }

    /// The surest question of those that are open by the record; those that were skipped only when no other is left.
    fn next(&mut self) -> Result<(), CliError> {
        self.snapshot = self.worker.snapshot(PATIENCE);
        if self.unskipped(&self.snapshot).is_none() {
            // Answers came so fast that the model knows no further question yet.
            self.snapshot = self.worker.wait(|snapshot| self.unskipped(snapshot).is_some())?;
        }
        let found = self.unskipped(&self.snapshot);
        self.question = found.or_else(|| self.first_skipped(&self.snapshot));
        Ok(())
    }

    fn unskipped(&self, snapshot: &Snapshot) -> Option<LabellingQuestion> {
        let record = self.record();
        let fits = |row: usize| record.label(row).is_none() && !record.is_skipped(row);
        snapshot.questions.iter().copied().find(|question| fits(question.index))
    }

    /// The question about the row that was skipped first.
    fn first_skipped(&self, snapshot: &Snapshot) -> Option<LabellingQuestion> {
        let mut questions = snapshot.questions.iter();
        let row = self.record().skipped().next()?;
        questions.find(|question| question.index == row).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_labelling::{Header, Opening, PoolId, SessionAccess, SessionFile};
    use halfspaces_linalg::{Params, Points};
    use halfspaces_online::LabellingParams;

    /// However slowly the model learns, each row is asked once, and all are asked: here it has no time at all.
    #[test]
    fn answers_faster_than_the_model_are_all_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let Opening::New(new) = SessionFile::open(&path, SessionAccess::Write).unwrap() else {
            panic!("a new file")
        };
        let (rows, classes) = (700, vec!["a".to_owned(), "b".to_owned()]);
        let pool = PoolId::without_keys("p", rows, 2, "0");
        let log = new.begin(Header::new(pool, classes, 0)).unwrap();
        let values = (0..2 * rows).map(|i| ((i * 7919) % 1009) as f64).collect();
        let points = Points::new(values, 2).unwrap();
        let session =
            LabellingParams::new(2).landmarks(20).check().unwrap().session(&points).unwrap();
        let mut desk = Desk::new(log, session).unwrap();
        let mut asked = vec![false; rows];
        while let Some(question) = desk.question() {
            let row = question.index;
            assert!(!std::mem::replace(&mut asked[row], true), "row {row} is asked twice");
            // As `answer` does, but without waiting for the model.
            let class = usize::from(row % 3 == 0);
            let name = |class: usize| ["a", "b"][class].to_owned();
            let (predicted, probability) = (name(question.class), question.probability);
            let event =
                Event::Answer { row, class: name(class), predicted, probability, to_come: None };
            assert!(desk.take(&event, Some(Command::Answer(question, class))).is_ok());
            desk.question = desk.unskipped(&desk.snapshot);
            if desk.question.is_none() {
                desk.next().unwrap();
            }
        }
        assert!(asked.into_iter().all(|asked| asked));
        let (log, session) = desk.finish(true).unwrap();
        let (record, session) = (log.record(), session.unwrap());
        assert_eq!((record.asked(), session.progress().answered), (rows, rows));
        assert_eq!(record.corrections(), session.progress().corrections);
    }
}
