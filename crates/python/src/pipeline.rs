//! Pipelines from tables to predictions.

use crate::error::Fault;
use crate::frame::{Reading, Source, Table, by_argument};
use crate::run::{LARGE, run};
use halfspaces_frame::{DataError, Frame};
use halfspaces_linalg::Threads;
use halfspaces_pipeline::{
    Costs, Decisions, Evaluation, FitOptions, Method, Pipeline, Plan, RecipeOptions, SplitBy,
    Unseen,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The columns that a recipe learns from.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Columns {
    drop: Vec<String>,
    text: Vec<String>,
    hash_bits: Option<u32>,
    r#use: Vec<String>,
}

impl Columns {
    pub(crate) fn options(self) -> RecipeOptions {
        RecipeOptions {
            drop: self.drop,
            text: self.text,
            hash_bits: self.hash_bits,
            use_columns: self.r#use,
            ..RecipeOptions::default()
        }
    }
}

/// The arguments of a fit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FitArguments {
    label: String,
    positive: Option<String>,
    learner: Method,
    noise: Option<f64>,
    c: Option<f64>,
    weights: Option<String>,
    balanced: bool,
    holdout: Option<f64>,
    group: Option<String>,
    time: Option<String>,
    skip_unlabelled: bool,
    columns: Columns,
    pub(crate) reading: Reading,
    seed: u64,
}

impl FitArguments {
    pub(crate) fn options(self, threads: Threads) -> FitOptions {
        let split = match (self.group, self.time) {
            (Some(column), _) => SplitBy::Group(column),
            (None, Some(column)) => SplitBy::Time(column),
            (None, None) => SplitBy::Random,
        };
        FitOptions {
            label: self.label,
            positive: self.positive,
            plan: Plan {
                method: self.learner,
                noise: self.noise,
                c: self.c,
                seed: self.seed,
                threads,
            },
            weights: self.weights,
            balanced: self.balanced,
            holdout: self.holdout,
            split,
            skip_unlabelled: self.skip_unlabelled,
            recipe: self.columns.options(),
            ragged: self.reading.ragged(),
        }
    }
}

/// The arguments that determine how decisions are made.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DecideArguments {
    unseen: Unseen,
    costs: Option<Vec<(String, f64)>>,
    threshold: Option<f64>,
    reading: Reading,
}

/// An evaluation with the mean costs per row.
#[derive(Debug, Serialize)]
struct Evaluated {
    data: String,
    #[serde(flatten)]
    evaluation: Evaluation,
}

/// The numbers of the classes, the decision values, the probabilities and notes.
type Decided<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Option<Bound<'py, PyArray2<f64>>>,
    Vec<String>,
);

/// A fitted pipeline.
#[pyclass(frozen, module = "halfspaces._core")]
#[derive(Debug)]
pub(crate) struct TablePipeline {
    pub(crate) pipeline: Pipeline,
}

/// Converts arguments, which must have the names of the fields.
pub(crate) fn arguments<T: serde::de::DeserializeOwned>(of: &Bound<'_, PyAny>) -> PyResult<T> {
    Ok(pythonize::depythonize(of).map_err(Fault::new)?)
}

/// An error of a library, in which options are named as Python arguments.
pub(crate) fn named(error: DataError) -> Fault {
    Fault::new(by_argument(&error.to_string()).replace("use unseen zero", "pass unseen='zero'"))
}

/// Notes of a library, in which options are named as Python arguments.
pub(crate) fn notes_of(notes: &[String]) -> Vec<String> {
    notes.iter().map(|note| by_argument(note)).collect()
}

/// Fits a pipeline to a table. Also returns notes on decisions that could be wrong.
#[pyfunction]
pub(crate) fn fit_pipeline(
    py: Python<'_>,
    source: Source<'_>,
    given: &Bound<'_, PyAny>,
    jobs: usize,
) -> PyResult<(TablePipeline, Vec<String>)> {
    let given: FitArguments = arguments(given)?;
    let table = source.table()?;
    let (pipeline, notes) = run(py, jobs, LARGE, |threads| fitted(table, given, threads))?;
    Ok((TablePipeline { pipeline }, notes))
}

fn fitted(
    table: Table,
    given: FitArguments,
    threads: Threads,
) -> Result<(Pipeline, Vec<String>), Fault> {
    let reading = given.reading.options(threads)?;
    let options = given.options(threads);
    options.check().map_err(named)?;
    let mut frame = table.read(&reading, &options.hints()).map_err(named)?;
    let mut notes = notes_of(&std::mem::take(&mut frame.notes));
    let (pipeline, more) = Pipeline::fit(frame, &options).map_err(named)?;
    notes.extend(notes_of(&more));
    Ok((pipeline, notes))
}

impl TablePipeline {
    /// Reads a table according to the rules that were determined in the fit. The columns `others` are read as texts.
    fn frame(
        &self,
        table: Table,
        given: &DecideArguments,
        others: &[String],
        threads: Threads,
    ) -> Result<Frame, Fault> {
        let reading = given.reading.options(threads)?;
        let read = |options: &_, hints: &_| table.read(options, hints);
        self.pipeline.table(&reading, others, &[], read).map_err(named)
    }

    fn decided(
        &self,
        frame: &Frame,
        given: &DecideArguments,
        threads: Threads,
    ) -> Result<Decisions, Fault> {
        let found = self.pipeline.decide(frame, given.unseen, threads).map_err(named)?;
        let classes = self.pipeline.classes();
        let costs = match (&given.costs, given.threshold) {
            (_, Some(threshold)) => Costs::of_threshold(classes, threshold),
            (Some(costs), None) => Costs::new(classes, costs),
            (None, None) => return Ok(found),
        };
        costs.and_then(|costs| costs.decide(&found)).map_err(named)
    }
}

#[pymethods]
impl TablePipeline {
    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8], name: &str) -> PyResult<TablePipeline> {
        Ok(TablePipeline { pipeline: Pipeline::read(bytes, name).map_err(named)? })
    }

    /// Loads a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<TablePipeline> {
        Ok(TablePipeline { pipeline: Pipeline::load(&path).map_err(named)? })
    }

    /// The bytes of the model file.
    fn to_bytes(&self) -> PyResult<Vec<u8>> {
        let mut bytes = Vec::new();
        self.pipeline.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the model file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.pipeline.save(&path).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// The column of labels.
    #[getter]
    fn label(&self) -> &str {
        self.pipeline.label_column()
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.pipeline.classes().to_vec()
    }

    /// The names of the coordinates.
    #[getter]
    fn coordinates(&self) -> Vec<String> {
        self.pipeline.recipe().coordinates()
    }

    /// The names of the columns that the model learned from.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.pipeline.recipe().places().into_iter().map(|(name, _)| name).collect()
    }

    /// The report of the fit, with the error on held-out rows.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let report = self.pipeline.report();
        let found = pythonize::pythonize(py, report).map_err(Fault::new)?;
        let held_out = report.held_out().map_err(named)?;
        found.set_item("held_out", pythonize::pythonize(py, &held_out).map_err(Fault::new)?)?;
        Ok(found)
    }

    /// Predicts the classes of the rows of a table.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        source: Source<'_>,
        given: &Bound<'_, PyAny>,
        jobs: usize,
    ) -> PyResult<Decided<'py>> {
        let given: DecideArguments = arguments(given)?;
        let table = source.table()?;
        let (found, notes) = run(py, jobs, LARGE, |threads| {
            let frame = self.frame(table, &given, &[], threads)?;
            let found = self.decided(&frame, &given, threads)?;
            Ok::<_, Fault>((found, notes_of(&frame.notes)))
        })?;
        let rows = found.classes.len();
        let classes = found.classes.into_iter().map(|class| class as i64).collect();
        let probabilities = found.probabilities.map(|found| {
            PyArray1::from_vec(py, found.concat()).reshape([rows, self.pipeline.classes().len()])
        });
        Ok((
            PyArray1::from_vec(py, classes),
            PyArray1::from_vec(py, found.values),
            probabilities.transpose()?,
            notes,
        ))
    }

    /// Compares the decisions with the labels in a column.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        source: Source<'_>,
        label: Option<String>,
        given: &Bound<'_, PyAny>,
        jobs: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
        let given: DecideArguments = arguments(given)?;
        let table = source.table()?;
        let label = label.unwrap_or_else(|| self.pipeline.label_column().to_owned());
        let (found, notes) = run(py, jobs, LARGE, |threads| {
            let frame = self.frame(table, &given, std::slice::from_ref(&label), threads)?;
            let truth = self.pipeline.true_classes(&frame, &label).map_err(named)?;
            let found = self.decided(&frame, &given, threads)?;
            let evaluation = Evaluation::new(self.pipeline.classes(), &found, &truth.of_row);
            let evaluation = evaluation.map_err(named)?;
            let notes = [notes_of(&frame.notes), notes_of(&truth.notes)].concat();
            Ok::<_, Fault>((Evaluated { data: frame.source, evaluation }, notes))
        })?;
        Ok((pythonize::pythonize(py, &found).map_err(Fault::new)?, notes))
    }
}
