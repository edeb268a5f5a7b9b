//! Labelling sessions on rows that are spread over several processes.

use crate::blocks::{Ended, Everywhere};
use crate::error::Fault;
use halfspaces_linalg::Label;
use halfspaces_online::BlocksGreedy;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A row, whether its predicted class is the positive one, its decision value, and its coordinates.
type Question<'py> = (usize, bool, f64, Bound<'py, PyArray1<f64>>);

/// A labelling session of the greedy learner on rows that a function reaches.
#[pyclass(module = "halfspaces._core")]
pub(crate) struct BlocksLabeler {
    learner: BlocksGreedy,
    all: Everywhere,
}

#[pymethods]
impl BlocksLabeler {
    #[new]
    fn new(run: Py<PyAny>, rows: u64, dim: usize, batch: usize) -> PyResult<BlocksLabeler> {
        let learner = BlocksGreedy::new(dim, batch).map_err(Fault::from)?;
        Ok(BlocksLabeler { learner, all: Everywhere { run, rows } })
    }

    /// The open question; a new question may take a scan.
    fn ask<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Question<'py>>> {
        let BlocksLabeler { learner, all } = self;
        let question = learner.next(|scan| all.surest(scan))?;
        Ok(question.zip(learner.row()).map(|(question, x)| {
            let prediction = question.prediction;
            let positive = prediction.label == Label::Positive;
            (question.index, positive, prediction.value, PyArray1::from_slice(py, x))
        }))
    }

    /// Answers the open question. Returns the row, and whether the answer is a correction.
    fn answer(&mut self, positive: bool) -> PyResult<(usize, bool)> {
        let truth = if positive { Label::Positive } else { Label::Negative };
        let round = self.learner.answer(truth).map_err(Ended::from)?;
        Ok((round.index, round.is_mistake()))
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.learner.weights())
    }

    #[getter]
    fn labelled(&self) -> usize {
        self.learner.labelled()
    }

    #[getter]
    fn corrections(&self) -> usize {
        self.learner.mistakes()
    }

    #[getter]
    fn scans(&self) -> usize {
        self.learner.scans()
    }
}

/// Simulates a labelling session to its end, with the labels of the rows that `run` reaches.
#[pyfunction]
pub(crate) fn simulate_labelling_blocks<'py>(
    py: Python<'py>,
    run: Py<PyAny>,
    rows: u64,
    dim: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let all = Everywhere { run, rows };
    let simulated = py.detach(|| BlocksGreedy::simulate(dim, |scan| all.surest(scan)))?;
    let report = PyDict::new(py);
    report.set_item("weights", PyArray1::from_slice(py, simulated.weights()))?;
    let corrected: Vec<usize> = simulated.mistakes().iter().map(|round| round.index).collect();
    report.set_item("corrected", corrected)?;
    report.set_item("scans", simulated.scans())?;
    Ok(report)
}
