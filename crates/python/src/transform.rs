//! Feature maps and the Forster transform.

use crate::error::Fault;
use crate::rows::{Rows, on_points};
use crate::run::{LARGE, run};
use halfspaces_features::{Distance, FeatureMap, Nystroem, RadialKernel, Ranks, choose_landmarks};
use halfspaces_forster::{Accuracy, ForsterTransform, Normalisation, Outcome};
use halfspaces_linalg::{InputError, Params, PointSet, Points, Threads};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};

/// A map to fit, with its parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "map", rename_all = "snake_case", deny_unknown_fields)]
enum Spec {
    Ranks,
    Nystroem { kernel: Distance, scale: Option<f64>, landmarks: usize, seed: u64 },
}

/// The landmarks and the kernel, from which the map is rebuilt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Landmarks {
    landmarks: Points,
    kernel: RadialKernel,
}

/// A Nyström map that can be saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Landmarks", into = "Landmarks")]
struct SavedNystroem {
    from: Landmarks,
    map: Nystroem,
}

impl TryFrom<Landmarks> for SavedNystroem {
    type Error = InputError;

    fn try_from(from: Landmarks) -> Result<SavedNystroem, InputError> {
        let map = Nystroem::new(from.landmarks.clone(), from.kernel)?;
        Ok(SavedNystroem { from, map })
    }
}

impl From<SavedNystroem> for Landmarks {
    fn from(saved: SavedNystroem) -> Landmarks {
        saved.from
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fitted {
    Ranks(Ranks),
    Nystroem(SavedNystroem),
    Forster(ForsterTransform),
}

/// A fitted map from points to points.
#[pyclass(frozen, module = "halfspaces._core")]
#[derive(Debug)]
pub(crate) struct Map {
    fitted: Fitted,
}

/// Fits the map `spec` to rows.
#[pyfunction]
pub(crate) fn fit_map(
    py: Python<'_>,
    spec: &Bound<'_, PyAny>,
    rows: Rows<'_>,
    jobs: usize,
) -> PyResult<Map> {
    let spec: Spec = pythonize::depythonize(spec).map_err(Fault::new)?;
    let rows = rows.points()?;
    let fitted = run(py, jobs, LARGE, |_| on_points!(&rows, points => fitted(&spec, points)))?;
    Ok(Map { fitted })
}

fn fitted<P: PointSet>(spec: &Spec, points: &P) -> Result<Fitted, InputError> {
    Ok(match spec {
        Spec::Ranks => Fitted::Ranks(Ranks::fit(points)?),
        Spec::Nystroem { kernel, scale, landmarks, seed } => {
            let landmarks = choose_landmarks(points, *landmarks, *seed)?;
            let scale = match scale {
                Some(scale) => *scale,
                None => kernel.median(points, *seed)?,
            };
            let kernel = RadialKernel::new(*kernel, scale)?;
            Fitted::Nystroem(Landmarks { landmarks, kernel }.try_into()?)
        }
    })
}

/// Brings rows into radially isotropic position. Returns the map and a report.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called with names from Python")]
pub(crate) fn fit_position<'py>(
    py: Python<'py>,
    rows: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    tol: f64,
    max_iter: usize,
    max_condition: f64,
    determinant: bool,
    jobs: usize,
) -> PyResult<(Map, Bound<'py, PyDict>)> {
    let rows = rows.points()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let fit = run(py, jobs, LARGE, |threads: Threads| {
        let params =
            ForsterTransform::params().accuracy(Accuracy::TwoSided(tol)).max_iterations(max_iter);
        let solver = params.max_condition(max_condition).threads(threads).check()?;
        let points = rows.into_dense()?;
        let fit = match weights {
            Some(weights) => solver.fit_weighted(&points, weights),
            None => solver.fit(&points),
        };
        fit.map_err(Fault::new)
    })?;
    let outcome = match fit.outcome() {
        Outcome::RadiallyIsotropic(_) => "radially_isotropic",
        Outcome::HeavySubspace(_) => "heavy_subspace",
        Outcome::Unresolved { .. } => "unresolved",
    };
    let position = fit.position();
    let transform = &position.transform;
    let of = if determinant { Normalisation::Determinant } else { Normalisation::Trace };
    let scatter = transform.scatter(of);
    let dim = transform.dim();
    let flat = (0..dim).flat_map(|i| (0..dim).map(move |j| (i, j))).map(|at| scatter[at]).collect();
    let (matrix, inner) = (transform.matrix(), transform.inner_dim());
    let flat_matrix =
        (0..dim).flat_map(|i| (0..inner).map(move |j| (i, j))).map(|at| matrix[at]).collect();
    let report = PyDict::new(py);
    report.set_item("outcome", outcome)?;
    report.set_item("termination", fit.termination().to_string())?;
    report.set_item("residual", position.certificate.residual())?;
    report.set_item(
        "n_iter",
        fit.levels().iter().map(halfspaces_forster::Level::steps).sum::<usize>(),
    )?;
    report.set_item("zero_rows", fit.zero_rows().to_vec())?;
    report.set_item("members", position.subspace.members().to_vec())?;
    report.set_item("scatter", PyArray1::from_vec(py, flat).reshape([dim, dim])?)?;
    report.set_item("matrix", PyArray1::from_vec(py, flat_matrix).reshape([dim, inner])?)?;
    report.set_item(
        "basis",
        PyArray1::from_vec(py, transform.basis().as_slice().to_vec()).reshape([inner, dim])?,
    )?;
    Ok((Map { fitted: Fitted::Forster(transform.clone()) }, report))
}

impl Map {
    /// The map of a Forster transform.
    pub(crate) fn of_forster(transform: ForsterTransform) -> Map {
        Map { fitted: Fitted::Forster(transform) }
    }
}

#[pymethods]
impl Map {
    /// Reads a map from the output of `Map.to_json`.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Map> {
        let fitted = serde_json::from_str(text);
        Ok(Map { fitted: fitted.map_err(|e| Fault::new(format!("not a map: {e}")))? })
    }

    /// The map as text.
    fn to_json(&self) -> PyResult<String> {
        Ok(serde_json::to_string(&self.fitted).map_err(Fault::new)?)
    }

    /// The number of features.
    #[getter]
    fn output_dim(&self) -> usize {
        match &self.fitted {
            Fitted::Ranks(map) => map.output_dim(),
            Fitted::Nystroem(saved) => saved.map.output_dim(),
            Fitted::Forster(map) => map.inner_dim(),
        }
    }

    /// The features of rows.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'_>,
        jobs: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.points()?;
        let (len, entries) = (rows.len(), rows.stored());
        let found = run(py, jobs, entries, |threads| match &self.fitted {
            Fitted::Ranks(map) => on_points!(&rows, points => map.apply_on(points, threads)),
            Fitted::Nystroem(saved) => {
                on_points!(&rows, points => saved.map.apply_on(points, threads))
            }
            Fitted::Forster(map) => map.apply(&rows.into_dense()?),
        })?;
        let dim = found.dim();
        PyArray1::from_vec(py, found.into_vec()).reshape([len, dim])
    }
}
