//! Pipelines and audits of tables that several processes hold in parts.

use crate::blocks::{audit, check_first, logistic, logistic_partial};
use crate::error::Fault;
use crate::frame::{Reading, Source};
use crate::pipeline::{FitArguments, TablePipeline, arguments, named, notes_of};
use crate::rows::Rows;
use crate::run::{LARGE, run};
use halfspaces_frame::Frame;
use halfspaces_linalg::{BLOCK_ROWS, InputError, Label, Params, PointSet, Points, Threads};
use halfspaces_pac::{LogisticFit, LogisticRegression};
use halfspaces_pipeline::Survey;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What to do about values that occur only in later rows.
const ADVICE: &str = "shuffle the rows, or pass a larger first_rows";

/// A plan for fits to a table in parts, with the options for reading the parts.
#[pyclass(frozen, module = "halfspaces._core")]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PartsPlan {
    plan: halfspaces_pipeline::PartsPlan,
    reading: Reading,
}

/// The counts of the rows of each part, and of all rows.
#[pyclass(frozen, module = "halfspaces._core")]
#[derive(Debug)]
pub(crate) struct PartsSurvey {
    all: Survey,
    parts: Vec<Survey>,
}

/// Models do not have a compact form, so plans and fits are exchanged as JSON.
fn to_json(value: &impl Serialize) -> PyResult<Vec<u8>> {
    Ok(serde_json::to_vec(value).map_err(Fault::new)?)
}

fn from_json<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> PyResult<T> {
    Ok(serde_json::from_slice(bytes).map_err(|e| Fault::new(format!("not a {what}: {e}")))?)
}

/// The rows, one after another, as an array with `width` columns.
fn array(py: Python<'_>, values: Vec<f64>, width: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = values.len() / width;
    PyArray1::from_vec(py, values).reshape([rows, width])
}

impl PartsPlan {
    /// Reads a part, and passes it to `work` without the interpreter's lock.
    fn on_part<T: Send>(
        &self,
        py: Python<'_>,
        part: Source<'_>,
        first: u64,
        work: impl FnOnce(Frame) -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        let part = part.table()?;
        run(py, 1, LARGE, |threads| {
            let reading = self.reading.options(threads)?;
            work(part.read_part(first, &reading, &self.plan.hints()).map_err(named)?)
        })
    }
}

#[pymethods]
impl PartsPlan {
    /// Learns the columns and the classes from the first rows of a table of `rows` rows.
    #[new]
    fn new(
        py: Python<'_>,
        head: Source<'_>,
        first_rows: usize,
        rows: u64,
        folds: Option<usize>,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<PartsPlan> {
        let given: FitArguments = arguments(given)?;
        let reading = given.reading.clone();
        let options = given.options(Threads::ONE);
        let head = head.table()?;
        let of_rows = reading.clone().of_parts();
        let plan = run(py, 1, LARGE, |threads| {
            let told = reading.options(threads)?;
            let plan =
                halfspaces_pipeline::PartsPlan::new(first_rows, rows, folds, &options, |hints| {
                    head.clone().read(&told, hints)
                });
            plan.map_err(named)
        })?;
        Ok(PartsPlan { plan, reading: of_rows })
    }

    /// Reads the bytes of a plan.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<PartsPlan> {
        from_json("plan", bytes)
    }

    /// The plan as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &to_json(self)?))
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.plan.classes().to_vec()
    }

    /// The number of coordinates.
    #[getter]
    fn dim(&self) -> usize {
        self.plan.dim()
    }

    /// The columns that become coordinates, and the column of labels.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.plan.columns()
    }

    /// Counts the rows of a part.
    fn survey<'py>(
        &self,
        py: Python<'py>,
        part: Source<'_>,
        first: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let survey =
            self.on_part(py, part, first, |part| self.plan.survey(part, first).map_err(named))?;
        Ok(PyBytes::new(py, &to_json(&survey)?))
    }

    /// The groups of the training rows.
    fn training(&self, survey: &PartsSurvey) -> Vec<bool> {
        self.plan.training(&survey.all)
    }

    /// For each fold of an audit, the groups of the other rows.
    fn other_folds(&self) -> Vec<Vec<bool>> {
        self.plan.other_folds()
    }

    /// The notes on all rows.
    fn notes(&self, survey: &PartsSurvey) -> Vec<String> {
        notes_of(&self.plan.notes(&survey.all, ADVICE))
    }

    /// The points of the rows of a part in the groups that `keep` selects; their classes and their groups are the last
    /// two columns.
    fn points<'py>(
        &self,
        py: Python<'py>,
        part: Source<'_>,
        first: u64,
        keep: Vec<bool>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.on_part(py, part, first, |part| {
            let (points, keys) = self.plan.points(part, first, &keep).map_err(named)?;
            let mut all = Vec::with_capacity(keys.len() * (self.plan.dim() + 2));
            for (row, (class, group)) in points.as_slice().chunks_exact(self.plan.dim()).zip(keys) {
                all.extend_from_slice(row);
                all.extend([class as f64, group as f64]);
            }
            Ok(all)
        })?;
        array(py, values, self.plan.dim() + 2)
    }

    /// Checks that each class has a row in the groups that `keep` selects.
    fn check_classes(&self, survey: &PartsSurvey, keep: Vec<bool>, remedy: &str) -> PyResult<()> {
        Ok(self.plan.check_classes(&survey.all, &keep, remedy).map_err(named)?)
    }

    /// Fits a logistic regression to `rows` of `all_rows` rows that `run` reaches.
    fn fit<'py>(
        &self,
        py: Python<'py>,
        run: Py<PyAny>,
        rows: u64,
        all_rows: u64,
        c: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let params = LogisticRegression::params();
        let params = c.map_or(params, |c| params.c(c));
        let learner = params.check().map_err(Fault::from)?;
        let blocks = all_rows.div_ceil(BLOCK_ROWS as u64);
        let fit = logistic(py, run, (rows, blocks), self.plan.dim(), &learner)?;
        Ok(PyBytes::new(py, &to_json(&fit)?))
    }

    /// The decision values of the held-out rows of a part. The last column contains the class, or -1 if the label is
    /// unknown.
    fn held_out<'py>(
        &self,
        py: Python<'py>,
        part: Source<'_>,
        first: u64,
        fits: Vec<Vec<u8>>,
        keep: Vec<bool>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let fits = fits_of(&fits)?;
        let width = fits.len();
        let values = self.on_part(py, part, first, |part| {
            let (model, _) = self.plan.model(&fits).map_err(named)?;
            let (values, classes) =
                self.plan.held_out(&model, part, first, &keep).map_err(named)?;
            let mut all = Vec::with_capacity(values.len() * (width + 1));
            for (values, class) in values.into_iter().zip(classes) {
                all.extend(values);
                all.push(class.map_or(-1.0, |class| class as f64));
            }
            Ok(all)
        })?;
        array(py, values, width + 1)
    }

    /// Applies the fits of each fold to the rows of the fold.
    fn judged<'py>(
        &self,
        py: Python<'py>,
        part: Source<'_>,
        first: u64,
        fits: Vec<Vec<Vec<u8>>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let fits = fits.iter().map(|fits| fits_of(fits)).collect::<PyResult<Vec<_>>>()?;
        let values = self.on_part(py, part, first, |part| {
            let models = fits.iter().map(|fits| Ok(self.plan.model(fits).map_err(named)?.0));
            let models = models.collect::<Result<Vec<_>, Fault>>()?;
            let judged: Points = self.plan.judged(&models, part, first).map_err(named)?;
            Ok(judged.into_vec())
        })?;
        array(py, values, halfspaces_pipeline::PartsPlan::JUDGED)
    }

    /// The pipeline and its notes. `held_out` are the rows of `held_out` of all parts, in the order of the parts.
    fn finish(
        &self,
        survey: &PartsSurvey,
        keep: Vec<bool>,
        fits: Vec<Vec<u8>>,
        held_out: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<(TablePipeline, Vec<String>)> {
        let fits = fits_of(&fits)?;
        let fitted = self.plan.model(&fits).map_err(named)?;
        let (mut values, mut truth) = (Vec::new(), Vec::new());
        for row in held_out.as_array().rows() {
            let row = row.to_vec();
            let (found, class) = row.split_at(fits.len());
            values.push(found.to_vec());
            truth.push((class[0] >= 0.0).then_some(class[0] as usize));
        }
        let plan = self.plan.clone();
        let held_out = (values, &truth[..]);
        let (pipeline, notes) =
            plan.finish(&survey.all, &keep, fitted, held_out, ADVICE).map_err(named)?;
        Ok((TablePipeline { pipeline }, notes_of(&notes)))
    }
}

fn fits_of(fits: &[Vec<u8>]) -> PyResult<Vec<LogisticFit>> {
    fits.iter().map(|bytes| from_json("fit", bytes)).collect()
}

/// Runs jobs of [`PartsPlan::fit`] on rows of [`PartsPlan::points`], the first of which is row `first` of all these rows.
/// Each job comes with its positive class and the groups of its rows.
#[pyfunction]
pub(crate) fn run_on_points<'py>(
    py: Python<'py>,
    jobs: Vec<(Vec<u8>, usize, Vec<bool>)>,
    rows: Rows<'_>,
    first: usize,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    check_first(first)?;
    let rows = rows.points_from(first)?;
    let parts = run(py, 1, LARGE, |_| {
        let points = rows.into_dense()?;
        let Some(dim) = points.dim().checked_sub(2) else {
            return Err(InputError::ZeroDimension.into());
        };
        let partial = |(job, positive, keep): &(Vec<u8>, usize, Vec<bool>)| {
            let label = |row: &[f64]| {
                let is_kept = keep.get(row[dim + 1] as usize).copied().unwrap_or_default();
                let is_positive = row[dim] as usize == *positive;
                is_kept.then_some(if is_positive { Label::Positive } else { Label::Negative })
            };
            logistic_partial(job, (first / BLOCK_ROWS) as u64, &points, dim, label)
        };
        jobs.iter().map(partial).collect::<Result<Vec<_>, Fault>>()
    })?;
    Ok(parts.iter().map(|part| PyBytes::new(py, part)).collect())
}

#[pymethods]
impl PartsSurvey {
    /// Joins the surveys of all parts, in the order of the parts.
    #[new]
    fn new(surveys: Vec<Vec<u8>>) -> PyResult<PartsSurvey> {
        let parts = surveys.iter().map(|bytes| from_json("survey", bytes));
        let parts = parts.collect::<PyResult<Vec<Survey>>>()?;
        let Some(mut all) = parts.first().cloned() else {
            return Err(Fault::new("the table has no rows").into());
        };
        parts[1..].iter().for_each(|part| all.merge(part.clone()));
        Ok(PartsSurvey { all, parts })
    }

    /// For each part, the number of rows with a known label in the groups that `keep` selects.
    fn known(&self, keep: Vec<bool>) -> Vec<u64> {
        self.parts.iter().map(|part| part.known(&keep)).collect()
    }
}

/// Audits the judged rows that `run` reaches, and finds the first `count` rows of the ranking.
#[pyfunction]
pub(crate) fn audit_judged<'py>(
    py: Python<'py>,
    run: Py<PyAny>,
    rows: u64,
    classes: usize,
    folds: usize,
    failure: f64,
    count: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let found = audit(py, run, rows, (classes, folds), failure, count)?;
    let numbers = |of: &dyn Fn(&halfspaces_pipeline::TopSuspect) -> i64| {
        PyArray1::from_vec(py, found.top.iter().map(of).collect())
    };
    let dict = PyDict::new(py);
    dict.set_item("row", numbers(&|suspect| suspect.row as i64))?;
    dict.set_item("label", numbers(&|suspect| suspect.label as i64))?;
    dict.set_item("suggested", numbers(&|suspect| suspect.suggested as i64))?;
    let agreement = found.top.iter().map(|suspect| suspect.agreement).collect();
    dict.set_item("agreement", PyArray1::<f64>::from_vec(py, agreement))?;
    dict.set_item("likely_wrong", found.likely)?;
    dict.set_item("at_most", found.at_most)?;
    dict.set_item("disagreements", found.disagreements)?;
    dict.set_item("baseline", found.baseline)?;
    Ok(dict)
}
