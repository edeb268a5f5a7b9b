//! Labelling sessions, which use the same session file and the same order of questions as the command.

use crate::error::Fault;
use crate::frame::Table;
use crate::rows::{DesignRows, Rows};
use crate::run::run;
use halfspaces_frame::{Block, Column, DataError, Frame, Hints, ReadOptions, SparseBlock, Values};
use halfspaces_labelling::{
    ActionError, ApplyError, Asking, Controller, Direct, Header, ItemSource, ItemSpec, Opening,
    PoolId, Record, ResumedPool, SessionAccess, SessionFile, SessionLog,
};
use halfspaces_linalg::{PointSet, Threads};
use halfspaces_online::{LabellingQuestion, Outlook};
use halfspaces_pipeline::{Design, Recipe, RecipeOptions, Unseen};
use numpy::{PyArray1, ToPyArray};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// The name of an array in a session file.
const SOURCE: &str = "X";

/// A row, its predicted class, and the probability of that class if every class has a label.
type Question = (usize, usize, Option<f64>);

/// Pairs of a row and a class.
type Labels = Vec<(usize, usize)>;

/// A labelling session.
#[pyclass(module = "halfspaces._core")]
pub(crate) struct Session {
    /// `None` after the session has been closed.
    controller: Option<Controller<Direct>>,
    jobs: usize,
    notes: Vec<String>,
}

/// The options of a new or resumed session.
#[derive(FromPyObject)]
struct Options {
    /// The names of the classes; `None` to take those of the session file.
    classes: Option<Vec<String>>,
    /// The names of the columns; `None` for a matrix whose columns are x0, x1, ..
    names: Option<Vec<String>>,
    ids: Option<Vec<String>>,
    seed: u64,
    path: Option<PathBuf>,
    rare: bool,
    seek: Option<usize>,
    keep_found: bool,
}

impl From<DataErrorOf> for PyErr {
    fn from(DataErrorOf(error): DataErrorOf) -> PyErr {
        let message = for_python(&error.to_string());
        match error.kind() {
            halfspaces_frame::DataErrorKind::Input => PyValueError::new_err(message),
            halfspaces_frame::DataErrorKind::System => PyOSError::new_err(message),
        }
    }
}

/// An error of a session or its file.
struct DataErrorOf(DataError);

/// Rewrites a message of the command in terms of Python arguments.
fn for_python(message: &str) -> String {
    message
        .replace("another file with --session", "another file as session")
        .replace("another file to --session", "another file as session")
        .replace("--session needs", "session needs")
        .replace("with --session", "with session=")
        .replace("with --id COLUMN", "with ids")
        .replace("with `label --keep-found`", "with keep_found=True")
        .replace("; run the same command again", "; open it again")
}

/// Replaces the advice to pass `--use`, because a session on an array or a data frame has no such option.
fn without_option(note: String) -> String {
    match note.split_once("; pass --use ") {
        Some((what, _)) => format!("{what}; rename it to learn from it"),
        None => note,
    }
}

fn failed(error: impl Into<DataError>) -> Fault {
    Fault::new(for_python(&error.into().to_string()))
}

impl Options {
    /// The rows as a table. A matrix is treated like a NumPy file, and named columns like other tables.
    fn frame(&mut self, rows: &Rows<'_>) -> PyResult<Frame> {
        let Some((values, dim)) = rows.dense_values()? else {
            let DesignRows::Sparse(points) = rows.points()? else {
                unreachable!("the rows have no dense values")
            };
            let rows = points.len();
            let block = Block::Sparse(SparseBlock::new(points.into_owned(), "x", 0));
            return Ok(Frame { block: Some(block), rows, ..Frame::new(SOURCE, Vec::new()) });
        };
        if let Some(names) = self.names.take() {
            let table = Table::of_numbers(SOURCE, &names, values).map_err(Fault::new)?;
            let (reading, hints) = (ReadOptions::default(), Hints::default());
            return Ok(table.read(&reading, &hints).map_err(failed)?);
        }
        let columns = u32::try_from(dim).map_err(Fault::new)?;
        let block = Block::dense("x", values.to_vec(), (0..columns).collect());
        let rows = values.len() / dim;
        Ok(Frame { block: Some(block), rows, ..Frame::new(SOURCE, Vec::new()) })
    }

    /// The identity of the rows, computed as in the previous run of the session, if there is one.
    fn identify(&self, frame: &Frame, before: Option<&PoolId>) -> Result<PoolId, Fault> {
        let id = self.ids.as_ref().map(|ids| {
            let codes = (0..ids.len() as u32).collect();
            Column { name: "id".to_owned(), values: Values::texts(codes, ids) }
        });
        let of_session = before.and_then(|pool| pool.items.as_ref()).map(|items| items.by.clone());
        let spec = match of_session {
            Some(spec) if spec.id.is_some() != id.is_some() => {
                return Err(Fault::new(match spec.id {
                    Some(_) => "ids: the session identifies its rows by ids; pass the same ids",
                    None => {
                        "ids: the session identifies its rows by their content; omit ids, or pass another file as session"
                    }
                }));
            }
            Some(spec) => spec,
            None => ItemSpec {
                id: id.as_ref().map(|id| id.name.clone()),
                columns: frame.columns.iter().map(|column| column.name.clone()).collect(),
                matrix_without: frame.block.as_ref().map(|_| Vec::new()),
                ..ItemSpec::default()
            },
        };
        let source = ItemSource { frame, shown: None, images: None, cells: None };
        source.identify(spec, id.as_ref(), before).map_err(failed)
    }

    fn open(
        &self,
        frame: &Frame,
        path: &Path,
        notes: &mut Vec<String>,
    ) -> Result<SessionLog, Fault> {
        match SessionFile::open(path, SessionAccess::Write).map_err(failed)? {
            Opening::New(new) => new.begin(self.header(frame)?).map_err(failed),
            Opening::Existing(mut log) => {
                if let Some(named) = &self.classes
                    && named != log.record().classes()
                {
                    return Err(Fault::new(format!(
                        "classes={named:?}: the classes of the session {} are {:?}; pass classes=None, or another file as session",
                        path.display(),
                        log.record().classes()
                    )));
                }
                let id = self.identify(frame, Some(log.record().pool()))?;
                let first_version = PoolId::without_keys(SOURCE, id.rows, id.columns, "");
                let resumed = ResumedPool {
                    id: &id,
                    first_version: &first_version,
                    cells: None,
                    keep_found: self.keep_found,
                };
                let (_, event) = resumed.resume(&log, path, notes).map_err(failed)?;
                if let Some(event) = event {
                    log.apply(&event).map_err(|error| match error {
                        ApplyError::Unfit(why) => Fault::new(why),
                        ApplyError::File(error) => failed(error),
                    })?;
                }
                Ok(*log)
            }
        }
    }

    fn header(&self, frame: &Frame) -> Result<Header, Fault> {
        let Some(classes) = &self.classes else {
            return Err(Fault::new(
                "classes=None: a new session needs the names of at least two classes",
            ));
        };
        Ok(Header::new(self.identify(frame, None)?, classes.clone(), self.seed))
    }
}

impl Session {
    fn controller(&self) -> PyResult<&Controller<Direct>> {
        self.controller.as_ref().ok_or_else(closed)
    }

    /// Performs an action of the person who labels, without holding the interpreter's lock.
    fn act(
        &mut self,
        py: Python<'_>,
        action: impl FnOnce(&mut Controller<Direct>) -> Result<(), ActionError> + Send,
    ) -> PyResult<Option<Question>> {
        let controller = self.controller.as_mut().ok_or_else(closed)?;
        let jobs = self.jobs;
        let done = py.detach(|| {
            if jobs == 1 {
                return Ok(action(controller));
            }
            let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
            pool.map(|pool| pool.install(|| action(controller)))
        });
        match done.map_err(|error| PyRuntimeError::new_err(format!("n_jobs={jobs}: {error}")))? {
            Ok(()) => self.question(),
            Err(ActionError::Rejected(why)) => Err(PyValueError::new_err(why)),
            Err(ActionError::Failed(error)) => Err(DataErrorOf(error).into()),
        }
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("the session is closed; make a new Labeler with the same session file")
}

#[pymethods]
impl Session {
    /// Starts a session, or resumes the one in the file.
    #[new]
    fn new(py: Python<'_>, rows: Rows<'_>, options: Options, jobs: usize) -> PyResult<Session> {
        let mut options = options;
        let frame = options.frame(&rows)?;
        let entries = rows.entries();
        let (controller, notes) = run(py, jobs, entries, |threads| {
            let mut notes = Vec::new();
            // The model is computed before a new file is written.
            let (recipe, of_recipe) =
                Recipe::fit(&frame, &RecipeOptions::default()).map_err(failed)?;
            notes.extend(of_recipe.into_iter().map(without_option));
            let points = recipe.apply(&frame, Unseen::Error).map_err(failed)?;
            let log = match &options.path {
                Some(path) => options.open(&frame, path, &mut notes)?,
                None => SessionLog::in_memory(options.header(&frame)?).map_err(failed)?,
            };
            drop(frame);
            let model = model(&log, &points, threads)?;
            let asking = Asking { rare: options.rare, seek: options.seek, ..Asking::default() };
            let controller = Controller::new(log, Direct::new(model, asking)).map_err(failed)?;
            Ok::<_, Fault>((controller, notes))
        })?;
        Ok(Session { controller: Some(controller), jobs, notes })
    }

    /// The notes about the rows and the session file.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    #[getter]
    fn classes(&self) -> PyResult<Vec<String>> {
        Ok(self.controller()?.record().classes().to_vec())
    }

    #[getter]
    fn seed(&self) -> PyResult<u64> {
        Ok(self.controller()?.header().seed)
    }

    /// The open question.
    fn question(&self) -> PyResult<Option<Question>> {
        let controller = self.controller()?;
        let question =
            |LabellingQuestion { index, class, .. }| (index, class, controller.probability());
        Ok(controller.question().map(question))
    }

    /// Answers the open question, which must be about `row`.
    fn answer(&mut self, py: Python<'_>, row: usize, class: usize) -> PyResult<Option<Question>> {
        self.act(py, |controller| controller.answer(row, class))
    }

    /// Adds labels that are not answers to questions, and changes the labels of rows that already have a label.
    fn tell(&mut self, py: Python<'_>, labels: Labels) -> PyResult<Option<Question>> {
        self.act(py, |controller| {
            let record = controller.record();
            let (rows, classes) = (record.rows(), record.classes().len());
            if let Some((row, class)) = labels.iter().find(|(r, c)| *r >= rows || *c >= classes) {
                return Err(ActionError::Rejected(format!(
                    "row {row}, class {class}: there are {rows} rows and {classes} classes, counted from 0"
                )));
            }
            let is_new = |(row, _): &(usize, usize)| controller.record().label(*row).is_none();
            let (new, old): (Vec<_>, Vec<_>) = labels.into_iter().partition(is_new);
            if !new.is_empty() {
                controller.known(&new)?;
            }
            old.into_iter().try_for_each(|(row, class)| controller.change(row, class))
        })
    }

    fn skip(&mut self, py: Python<'_>, row: usize) -> PyResult<Option<Question>> {
        self.act(py, |controller| controller.skip(row))
    }

    fn uncertain(&mut self, py: Python<'_>, row: usize) -> PyResult<Option<Question>> {
        self.act(py, |controller| controller.uncertain(row))
    }

    fn undo(&mut self, py: Python<'_>) -> PyResult<Option<Question>> {
        self.act(py, |controller| controller.undo(None))
    }

    /// The class of each row and its probability: 1 for a label, otherwise that of the prediction.
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn predictions<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
        let controller = self.controller()?;
        let (record, model) = (controller.record(), controller.asker().session());
        let mut classes = Vec::with_capacity(record.rows());
        let mut probabilities = Vec::with_capacity(record.rows());
        for row in 0..record.rows() {
            let (class, probability) = match record.label(row) {
                Some(class) => (class, 1.0),
                None => {
                    let predicted = model.predict(row).map_err(Fault::new)?;
                    (predicted.class, predicted.probability)
                }
            };
            classes.push(class as i64);
            probabilities.push(probability);
        }
        Ok((classes.to_pyarray(py), probabilities.to_pyarray(py)))
    }

    /// Pairs of a row and a class, in the order in which rows were first labelled.
    fn labels(&self) -> PyResult<Labels> {
        Ok(labels(self.controller()?.record()))
    }

    /// The numbers of all rows, labelled rows, rows labelled in answer to a question, skipped rows, uncertain rows, and
    /// corrections.
    fn progress(&self) -> PyResult<(usize, usize, usize, usize, usize, usize)> {
        let record = self.controller()?.record();
        let (skipped, uncertain) = (record.skipped().count(), record.uncertain().count());
        let (answered, asked) = (record.answered(), record.asked());
        Ok((record.rows(), answered, asked, skipped, uncertain, record.corrections()))
    }

    /// Skipped rows and uncertain rows.
    fn aside(&self) -> PyResult<(Vec<usize>, Vec<usize>)> {
        let record = self.controller()?.record();
        Ok((record.skipped().collect(), record.uncertain().collect()))
    }

    /// The expected number of further corrections, the ends of its interval, and the number of open rows.
    fn outlook(&self) -> PyResult<(f64, f64, f64, usize)> {
        let Outlook { expected, low, high, open, .. } = self.controller()?.outlook();
        Ok((expected, low, high, open))
    }

    fn can_stop(&self, share: f64) -> PyResult<bool> {
        Ok(self.controller()?.can_stop(share))
    }

    /// The answers that are least consistent with the other answers. Each is given by its row, its class, the class
    /// predicted from the other answers, and the probability of the answer according to them.
    fn doubts(&self, count: usize) -> PyResult<Vec<(usize, usize, usize, f64)>> {
        let doubts = self.controller()?.asker().session().doubts(count);
        let parts = |d: &halfspaces_online::Doubt| (d.index, d.class, d.predicted, d.probability);
        Ok(doubts.iter().map(parts).collect())
    }

    #[getter]
    fn capacity(&self) -> PyResult<Option<usize>> {
        Ok(self.controller()?.asker().session().capacity())
    }

    /// Ends the session and releases its file.
    fn close(&mut self) {
        self.controller = None;
    }
}

fn model(
    log: &SessionLog,
    points: &Design,
    threads: Threads,
) -> Result<halfspaces_online::LabellingSession, Fault> {
    match points {
        Design::Dense(points) => log.model(points, threads),
        Design::Sparse(points) => log.model(points, threads),
    }
    .map_err(failed)
}

fn labels(record: &Record) -> Labels {
    record.row_labels().map(|given| (given.row, given.class)).collect()
}

/// The key of each class in a widget; the empty string if no key is left for a class.
#[pyfunction]
pub(crate) fn class_keys(classes: Vec<String>) -> Vec<String> {
    let keys = halfspaces_labelling::class_keys(&classes);
    keys.into_iter().map(|key| key.map_or_else(String::new, String::from)).collect()
}

/// The names of the classes of a session file and its labels, as pairs of a row and a class. The file is only read.
#[pyfunction]
pub(crate) fn session_labels(path: PathBuf) -> PyResult<(Vec<String>, Labels)> {
    match SessionFile::open(&path, SessionAccess::Read).map_err(failed)? {
        Opening::New(_) => Ok((Vec::new(), Vec::new())),
        Opening::Existing(log) => Ok((log.record().classes().to_vec(), labels(log.record()))),
    }
}
