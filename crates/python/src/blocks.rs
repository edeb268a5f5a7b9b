//! Jobs over rows that are spread over several processes: a job is sent as bytes, and its partial results come back as
//! bytes.

use crate::error::Fault;
use crate::rows::Rows;
use crate::run::run;
use crate::transform::Map;
use halfspaces_forster::{
    Accuracy, ForsterError, ForsterPass, ForsterSum, ForsterTransform, Level, LevelEnd,
};
use halfspaces_linalg::{
    AffineHalfspace, BLOCK_ROWS, DensePoints, InputError, Label, LargestMargins, MarginScan,
    MergeError, Params, Partial, PointSet, Points, Termination, Threads,
};
use halfspaces_online::{
    EpochPass, EpochSum, OnlineError, ShardedPerceptron, SurestRows, SurestScan,
};
use halfspaces_pac::{
    CandidateErrors, ErrorCounts, LogisticFit, LogisticPass, LogisticRegression, LogisticSum,
};
use halfspaces_pipeline::{AuditPass, AuditSums, PartsAudit};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A pass over all rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Job {
    Forster(ForsterPass),
    Logistic(LogisticPass),
    Epoch(EpochPass),
    Surest(SurestScan),
    Margins(MarginScan),
    Candidates(CandidateErrors),
    Audit(AuditPass),
}

/// The result of a job on some blocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Part {
    Forster(Partial<ForsterSum>),
    Logistic(Partial<LogisticSum>),
    Epoch(Partial<EpochSum>),
    Surest(Partial<SurestRows>),
    Margins(Partial<LargestMargins>),
    Candidates(Partial<ErrorCounts>),
    Audit(Partial<AuditSums>),
}

impl Job {
    fn partial(
        &self,
        first: u64,
        points: &DensePoints<'_>,
        labels: &[Label],
        threads: Threads,
    ) -> Result<Part, InputError> {
        Ok(match self {
            Job::Forster(job) => Part::Forster(job.partial(first, points, threads)?),
            Job::Logistic(job) => Part::Logistic(job.partial(first, points, labels, threads)?),
            Job::Epoch(job) => Part::Epoch(job.partial(first, points, labels, threads)?),
            Job::Surest(job) => Part::Surest(job.partial(first, points, labels, threads)?),
            Job::Margins(job) => Part::Margins(job.partial(first, points, threads)?),
            Job::Candidates(job) => Part::Candidates(job.partial(first, points, labels, threads)?),
            Job::Audit(job) => Part::Audit(job.partial(first, points, threads)?),
        })
    }
}

impl Part {
    fn merge(&mut self, other: Part) -> Result<(), MergeError> {
        match (self, other) {
            (Part::Forster(part), Part::Forster(other)) => part.merge(other),
            (Part::Logistic(part), Part::Logistic(other)) => part.merge(other),
            (Part::Epoch(part), Part::Epoch(other)) => part.merge(other),
            (Part::Surest(part), Part::Surest(other)) => part.merge(other),
            (Part::Margins(part), Part::Margins(other)) => part.merge(other),
            (Part::Candidates(part), Part::Candidates(other)) => part.merge(other),
            (Part::Audit(part), Part::Audit(other)) => part.merge(other),
            _ => Err(MergeError::Unlike),
        }
    }
}

fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>, Fault> {
    postcard::to_allocvec(value).map_err(Fault::new)
}

fn from_bytes<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, Fault> {
    postcard::from_bytes(bytes).map_err(|e| Fault::new(format!("not a {what}: {e}")))
}

/// The number of rows of a block.
#[pyfunction]
pub(crate) fn block_rows() -> usize {
    BLOCK_ROWS
}

/// Checks that a part begins with a whole block.
pub(crate) fn check_first(first: usize) -> Result<(), Fault> {
    if first.is_multiple_of(BLOCK_ROWS) {
        return Ok(());
    }
    let text = format!("first={first}: a part must begin at a multiple of {BLOCK_ROWS} rows");
    Err(Fault::new(text))
}

/// Runs `job` on rows, the first of which is row `first` of all rows. The `classes` are 0 or 1; the array is empty if
/// the job needs no classes.
#[pyfunction]
pub(crate) fn partial<'py>(
    py: Python<'py>,
    job: &[u8],
    rows: Rows<'_>,
    classes: PyReadonlyArray1<'_, i64>,
    first: usize,
    jobs: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let job: Job = from_bytes("job", job)?;
    check_first(first)?;
    let labels: Vec<Label> =
        classes.as_slice()?.iter().map(|class| Label::from_sign(*class as f64 - 0.5)).collect();
    let rows = rows.points_from(first)?;
    let part = run(py, jobs, rows.stored(), |threads: Threads| {
        let points = rows.into_dense()?;
        let block = (first / BLOCK_ROWS) as u64;
        let of_table = |error: InputError| match error {
            InputError::Overflow { row } | InputError::Underflow { row } => {
                error.at_row(first + row)
            }
            InputError::OutsideBall { row, .. } => error.at_row(first + row),
            other => other,
        };
        let part = job.partial(block, &points, &labels, threads).map_err(of_table)?;
        to_bytes(&part)
    })?;
    Ok(PyBytes::new(py, &part))
}

/// Joins partial results of one job.
#[pyfunction]
pub(crate) fn merge<'py>(py: Python<'py>, parts: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let mut all: Option<Part> = None;
    for bytes in parts {
        let part: Part = from_bytes("partial result", &bytes)?;
        match &mut all {
            None => all = Some(part),
            Some(all) => all.merge(part).map_err(Fault::new)?,
        }
    }
    let Some(all) = all else { return Err(Fault::new("parts: at least one is needed").into()) };
    Ok(PyBytes::new(py, &to_bytes(&all)?))
}

/// The reason why a fit ends early: a fault in the input, or an exception raised by the function that runs the jobs.
pub(crate) enum Ended {
    Fault(Fault),
    Raised(PyErr),
}

impl From<InputError> for Ended {
    fn from(error: InputError) -> Ended {
        Ended::Fault(error.into())
    }
}

impl From<OnlineError> for Ended {
    fn from(error: OnlineError) -> Ended {
        Ended::Fault(Fault::new(error))
    }
}

impl From<Fault> for Ended {
    fn from(fault: Fault) -> Ended {
        Ended::Fault(fault)
    }
}

impl From<Ended> for PyErr {
    fn from(ended: Ended) -> PyErr {
        match ended {
            Ended::Fault(fault) => fault.into(),
            Ended::Raised(error) => error,
        }
    }
}

/// All rows, represented by a Python function that maps a job to its joined partial results.
pub(crate) struct Everywhere {
    pub(crate) run: Py<PyAny>,
    pub(crate) rows: u64,
}

impl Everywhere {
    /// The total of a job over all rows.
    fn total(&self, job: &Job) -> Result<Part, Ended> {
        let job = to_bytes(job)?;
        let bytes = Python::attach(|py| {
            py.check_signals()?;
            let answer = self.run.call1(py, (PyBytes::new(py, &job),))?;
            answer.extract::<Vec<u8>>(py)
        });
        Ok(from_bytes("partial result", &bytes.map_err(Ended::Raised)?)?)
    }

    fn finish<S: halfspaces_linalg::Sum>(&self, part: Partial<S>) -> Result<S, Ended> {
        let blocks = self.rows.div_ceil(BLOCK_ROWS as u64);
        let total = part.finish(blocks).map_err(|e| Ended::Fault(Fault::new(e)))?;
        total.ok_or_else(|| InputError::Empty.into())
    }

    /// Rejects a total whose number of rows differs from the announced number.
    fn check_rows(&self, rows: u64) -> Result<(), Ended> {
        if rows == self.rows {
            return Ok(());
        }
        let text = format!("the parts have {rows} rows, but {} were announced", self.rows);
        Err(Ended::Fault(Fault::new(text)))
    }
}

fn unlike() -> Ended {
    Ended::Fault(Fault::new("the function returned the result of another job"))
}

/// The total of `$job` as the sum of variant `$kind`.
macro_rules! total {
    ($all:expr, $kind:ident, $job:expr) => {
        match $all.total(&Job::$kind($job))? {
            Part::$kind(part) => $all.finish(part),
            _ => Err(unlike()),
        }
    };
}

impl Everywhere {
    /// The total of a scan for the surest rows.
    pub(crate) fn surest(&self, scan: &SurestScan) -> Result<SurestRows, Ended> {
        let found = total!(self, Surest, scan.clone())?;
        self.check_rows(found.rows())?;
        Ok(found)
    }
}

/// Transforms the rows that `run` reaches so that they are in radially isotropic position. Returns the map and a
/// report.
#[pyfunction]
pub(crate) fn fit_position_blocks<'py>(
    py: Python<'py>,
    run: Py<PyAny>,
    rows: u64,
    dim: usize,
    tol: f64,
    max_iter: usize,
    max_condition: f64,
) -> PyResult<(Map, Bound<'py, PyDict>)> {
    let all = Everywhere { run, rows };
    let params = ForsterTransform::params().accuracy(Accuracy::TwoSided(tol));
    let params = params.max_iterations(max_iter).max_condition(max_condition);
    let solver = params.check().map_err(Fault::from)?;
    let fit = py.detach(|| {
        let mut ended = None;
        let fit = solver.fit_blocks(dim, |pass| {
            let total = || total!(all, Forster, pass.clone());
            total().map_err(|error| ended = Some(error)).ok()
        });
        match (fit, ended) {
            (Err(ForsterError::PassFailed), Some(ended)) => Err(ended),
            (fit, _) => fit.map_err(|error| Ended::Fault(Fault::new(error))),
        }
    })?;
    let outcome = match fit.end() {
        LevelEnd::Isotropic => "radially_isotropic",
        LevelEnd::Heavy(_) => "heavy_subspace",
        LevelEnd::Unresolved(_) => "unresolved",
    };
    let (transform, report) = (fit.transform(), PyDict::new(py));
    report.set_item("outcome", outcome)?;
    report.set_item("residual", fit.certificate().residual())?;
    report.set_item("n_iter", fit.levels().iter().map(Level::steps).sum::<usize>())?;
    report.set_item("passes", fit.passes())?;
    report.set_item("zero_rows", rows - fit.rows())?;
    report.set_item("members", fit.members())?;
    let inner = transform.inner_dim();
    let matrix = transform.matrix();
    let flat = matrix.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<f64>>());
    report.set_item("matrix", PyArray1::from_vec(py, flat.collect()).reshape([dim, inner])?)?;
    let basis = PyArray1::from_slice(py, transform.basis().as_slice());
    report.set_item("basis", basis.reshape([inner, dim])?)?;
    Ok((Map::of_forster(transform.clone()), report))
}

/// Fits a logistic regression to rows that `run` reaches.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called with names from Python")]
pub(crate) fn fit_logistic_blocks<'py>(
    py: Python<'py>,
    run: Py<PyAny>,
    rows: u64,
    dim: usize,
    c: f64,
    fit_intercept: bool,
    tol: f64,
    max_iter: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let params = LogisticRegression::params().c(c).intercept(fit_intercept);
    let learner = params.tolerance(tol).max_steps(max_iter).check().map_err(Fault::from)?;
    let blocks = rows.div_ceil(BLOCK_ROWS as u64);
    let fit = logistic(py, run, (rows, blocks), dim, &learner)?;
    let report = halfspace_report(py, fit.halfspace())?;
    report.set_item("objective", fit.objective())?;
    report.set_item("n_iter", fit.steps())?;
    report.set_item("converged", fit.termination() == Termination::Converged)?;
    report.set_item("termination", fit.termination().to_string())?;
    Ok(report)
}

/// Fits a logistic regression to `rows` rows of R^`dim` that `run` reaches. They are in `blocks` blocks, which may have
/// other rows as well.
pub(crate) fn logistic(
    py: Python<'_>,
    run: Py<PyAny>,
    (rows, blocks): (u64, u64),
    dim: usize,
    learner: &LogisticRegression,
) -> PyResult<LogisticFit> {
    let all = Everywhere { run, rows };
    let fit = py.detach(|| {
        learner.fit_blocks(dim, |pass| {
            let Part::Logistic(part) = all.total(&Job::Logistic(pass.clone()))? else {
                return Err(unlike());
            };
            let sum = part.finish(blocks).map_err(|e| Ended::Fault(Fault::new(e)))?;
            let sum = sum.ok_or(Ended::from(InputError::Empty))?;
            all.check_rows(sum.rows())?;
            Ok(sum)
        })
    })?;
    Ok(fit)
}

/// Runs a job of [`logistic`] on selected rows of consecutive blocks, the first of which is block `first`. For each row
/// of `rows`, `label` returns the label, or `None` if the row is not selected.
pub(crate) fn logistic_partial(
    job: &[u8],
    first: u64,
    rows: &DensePoints<'_>,
    dim: usize,
    label: impl Fn(&[f64]) -> Option<Label>,
) -> Result<Vec<u8>, Fault> {
    let Job::Logistic(job) = from_bytes("job", job)? else {
        return Err(Fault::new("the job is not that of a logistic regression"));
    };
    let mut all = Partial::default();
    let blocks = rows.as_slice().chunks(BLOCK_ROWS * rows.dim());
    for (block, rows_of) in (first..).zip(blocks) {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for row in rows_of.chunks_exact(rows.dim()) {
            if let Some(label) = label(row) {
                values.extend_from_slice(&row[..dim]);
                labels.push(label);
            }
        }
        let part = if labels.is_empty() {
            Partial::of_block(block, job.nothing())
        } else {
            job.partial(block, &Points::new(values, dim)?, &labels, Threads::ONE)?
        };
        all.merge(part).map_err(Fault::new)?;
    }
    to_bytes(&Part::Logistic(all))
}

/// Audits judged rows that `run` reaches.
pub(crate) fn audit(
    py: Python<'_>,
    run: Py<PyAny>,
    rows: u64,
    (classes, folds): (usize, usize),
    failure: f64,
    count: usize,
) -> PyResult<PartsAudit> {
    let all = Everywhere { run, rows };
    let found = py.detach(|| {
        PartsAudit::run(classes, folds, failure, count, |pass| total!(all, Audit, pass.clone()))
    })?;
    all.check_rows(found.rows)?;
    Ok(found)
}

/// Fits an averaged perceptron to rows that `run` reaches; each block is a shard.
#[pyfunction]
pub(crate) fn fit_perceptron_blocks<'py>(
    py: Python<'py>,
    run: Py<PyAny>,
    rows: u64,
    dim: usize,
    epochs: usize,
    fit_intercept: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let all = Everywhere { run, rows };
    let learner = ShardedPerceptron { epochs, intercept: fit_intercept };
    let fit = py.detach(|| {
        learner.fit_blocks(dim, |epoch| {
            let sum: EpochSum = total!(all, Epoch, epoch.clone())?;
            all.check_rows(sum.rows())?;
            Ok::<_, Ended>(sum)
        })
    })?;
    let report = halfspace_report(py, fit.halfspace())?;
    report.set_item("mistakes", fit.mistakes().to_vec())?;
    report.set_item("shards", fit.shards())?;
    Ok(report)
}

fn halfspace_report<'py>(
    py: Python<'py>,
    halfspace: &AffineHalfspace,
) -> PyResult<Bound<'py, PyDict>> {
    let report = PyDict::new(py);
    report.set_item("weights", PyArray1::from_slice(py, halfspace.weights()))?;
    report.set_item("bias", halfspace.bias())?;
    Ok(report)
}

/// The `count` rows with the largest |w · x| among those that `run` reaches, each with its value of |w · x|.
#[pyfunction]
pub(crate) fn largest_margins_blocks(
    py: Python<'_>,
    run: Py<PyAny>,
    rows: u64,
    w: PyReadonlyArray1<'_, f64>,
    count: usize,
) -> PyResult<Vec<(f64, usize)>> {
    let all = Everywhere { run, rows };
    let scan = MarginScan { w: w.as_slice()?.to_vec(), count };
    let found: LargestMargins = py.detach(|| total!(all, Margins, scan))?;
    all.check_rows(found.rows())?;
    Ok(found.margins().to_vec())
}

/// For each halfspace, the number of rows that it misclassifies among those that `run` reaches.
#[pyfunction]
pub(crate) fn count_errors_blocks(
    py: Python<'_>,
    run: Py<PyAny>,
    rows: u64,
    weights: PyReadonlyArray2<'_, f64>,
    biases: PyReadonlyArray1<'_, f64>,
) -> PyResult<Vec<u64>> {
    let all = Everywhere { run, rows };
    let weights = weights.as_array();
    let pairs = weights.rows().into_iter().zip(biases.as_slice()?);
    let candidates = pairs.map(|(w, b)| AffineHalfspace::new(w.to_vec(), *b));
    let candidates = candidates.collect::<Result<_, _>>().map_err(Fault::from)?;
    let counts: ErrorCounts =
        py.detach(|| total!(all, Candidates, CandidateErrors { candidates }))?;
    all.check_rows(counts.rows())?;
    Ok(counts.errors().to_vec())
}
