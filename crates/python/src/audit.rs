//! Label audits.

use crate::error::Fault;
use crate::frame::{Reading, Source};
use crate::pipeline::{Columns, arguments, named, notes_of};
use crate::rows::Rows;
use crate::run::{LARGE, run};
use halfspaces_frame::Hints;
use halfspaces_linalg::Threads;
use halfspaces_pipeline::{Audit, AuditResult, AuditTable, Method, Plan};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

/// The arguments of an audit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditArguments {
    learner: Method,
    folds: usize,
    failure: f64,
    seed: u64,
}

impl AuditArguments {
    fn audit(&self, threads: Threads) -> Audit {
        let plan = Plan { seed: self.seed, threads, ..Plan::new(self.learner) };
        Audit { plan, folds: self.folds, failure: self.failure }
    }
}

/// The options for reading the table of an audit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableArguments {
    label: String,
    columns: Columns,
    reading: Reading,
}

/// The ranking and the counts of an audit.
fn result<'py>(py: Python<'py>, found: &AuditResult) -> PyResult<Bound<'py, PyDict>> {
    let ranking = found.ranking.iter();
    let rows: Vec<i64> = ranking.clone().map(|suspect| suspect.row as i64).collect();
    let suggested: Vec<i64> = ranking.clone().map(|suspect| suspect.suggested as i64).collect();
    let agreement: Vec<f64> = ranking.map(|suspect| suspect.agreement).collect();
    let dict = PyDict::new(py);
    dict.set_item("row", PyArray1::from_vec(py, rows))?;
    dict.set_item("suggested", PyArray1::from_vec(py, suggested))?;
    dict.set_item("agreement", PyArray1::from_vec(py, agreement))?;
    dict.set_item("likely_wrong", found.likely)?;
    dict.set_item("at_most", found.at_most)?;
    dict.set_item("disagreements", found.disagreements)?;
    dict.set_item("baseline", found.baseline)?;
    Ok(dict)
}

/// Audits rows whose labels are the classes 0, .., `count` - 1.
#[pyfunction]
pub(crate) fn audit_rows<'py>(
    py: Python<'py>,
    rows: Rows<'_>,
    classes: PyReadonlyArray1<'_, i64>,
    count: usize,
    given: &Bound<'_, PyAny>,
    jobs: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let given: AuditArguments = arguments(given)?;
    let rows = rows.points()?;
    let classes: Vec<usize> = classes.as_slice()?.iter().map(|class| *class as usize).collect();
    let found = run(py, jobs, LARGE, |threads| {
        let audit = given.audit(threads);
        let table = match audit.plan.method {
            Method::Auto => rows.as_table()?,
            _ => None,
        };
        let rows = table.as_ref().unwrap_or(&rows);
        audit.run(rows, &classes, count).map_err(named)
    })?;
    result(py, &found)
}

/// Audits the labels of a table.
#[pyfunction]
pub(crate) fn audit_table<'py>(
    py: Python<'py>,
    source: Source<'_>,
    table: &Bound<'_, PyAny>,
    given: &Bound<'_, PyAny>,
    jobs: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let given: AuditArguments = arguments(given)?;
    let TableArguments { label, columns, reading } = arguments(table)?;
    let data = source.table()?;
    let (table, mut notes, twins, found) = run(py, jobs, LARGE, |threads| {
        let options = columns.options();
        let hints = options.with_texts(Hints::texts([&label]));
        let mut frame = data.read(&reading.options(threads)?, &hints)?;
        let notes = notes_of(&std::mem::take(&mut frame.notes));
        let table = AuditTable::new(frame, &label, &options).map_err(named)?;
        let (classes, count) = (&table.labels.of_row, table.labels.classes.len());
        let audit = given.audit(threads);
        let found = audit.run(&table.design, classes, count);
        let found = found.map_err(|error| named(error.at(&table.frame.source)))?;
        let twins = table.contradictions();
        Ok::<_, Fault>((table, notes, twins, found))
    })?;
    notes.extend(notes_of(&table.notes));
    let dict = result(py, &found)?;
    let labels = table.labels.of_row.iter().map(|class| *class as i64).collect();
    dict.set_item("label", PyArray1::from_vec(py, labels))?;
    dict.set_item("classes", &table.labels.classes)?;
    dict.set_item("notes", notes)?;
    if !twins.is_empty() {
        let twins = twins.iter().map(|twin| twin.map_or(-1, |row| row as i64)).collect();
        dict.set_item("contradicts", PyArray1::<i64>::from_vec(py, twins))?;
    }
    Ok(dict)
}
