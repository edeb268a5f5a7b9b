//! Data sets: samples with known targets and noise, traps, heavy subspaces, and the built-in tables.

use crate::error::Fault;
use crate::rows::Rows;
use crate::streams;
use halfspaces_data::{
    Builtin, Excess, Gaussian, HeavyCase, HeavyKind, IllConditionedBall, Instance, MarginBall,
    MarginShell, Marginal, Massart, Realizable, Region, SpikedBall, StudentT, centroid_target,
    flip_labels, flip_probabilities, margin_perceptron_tight, massart_trap, perceptron_tight,
    random_target,
};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::{Classifier, Halfspace, InputError, Label, PointSet, Points, rng_for};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::Deserialize;

/// The rows, their labels, their labels without noise, and the weights of the target.
type Sample<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
);

/// The rows on which labels are noisy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Where {
    Everywhere,
    Far,
    Near,
}

impl Where {
    fn region(self, threshold: f64) -> Region {
        match self {
            Where::Everywhere => Region::Everywhere,
            Where::Far => Region::Far(threshold),
            Where::Near => Region::Near(threshold),
        }
    }
}

/// A sample to draw.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    distribution: Distribution,
    rows: usize,
    dim: usize,
    margin: f64,
    condition: f64,
    freedom: f64,
    share: f64,
    rate: f64,
    r#where: Where,
    threshold: f64,
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Distribution {
    MarginBall,
    MarginShell,
    IllConditionedBall,
    SpikedBall,
    Gaussian,
    StudentT,
}

fn numbers(labels: &[Label]) -> Vec<i64> {
    labels.iter().map(|label| if *label == Label::Positive { 1 } else { -1 }).collect()
}

fn matrix(py: Python<'_>, points: Points) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let (rows, dim) = (points.len(), points.dim());
    PyArray1::from_vec(py, points.into_vec()).reshape([rows, dim])
}

fn sample<'py>(
    py: Python<'py>,
    points: Points,
    labels: &[Label],
    target: &Halfspace,
) -> PyResult<Sample<'py>> {
    let clean = target.label_all(&points).map_err(Fault::from)?;
    Ok((
        matrix(py, points)?,
        PyArray1::from_vec(py, numbers(labels)),
        PyArray1::from_vec(py, numbers(&clean)),
        PyArray1::from_vec(py, target.normal().to_vec()),
    ))
}

/// Draws labelled rows with a random target.
#[pyfunction]
pub(crate) fn draw<'py>(py: Python<'py>, spec: &Bound<'_, PyAny>) -> PyResult<Sample<'py>> {
    let spec: Spec = pythonize::depythonize(spec).map_err(Fault::new)?;
    let (points, labels, target) = py.detach(|| drawn(&spec)).map_err(Fault::from)?;
    sample(py, points, &labels, &target)
}

fn drawn(spec: &Spec) -> Result<(Points, Vec<Label>, Halfspace), InputError> {
    let Spec { dim, margin, condition, .. } = *spec;
    let target = random_target(dim, spec.seed)?;
    match spec.distribution {
        Distribution::MarginBall => noisy(MarginBall::new(&target, margin)?, target, spec),
        Distribution::MarginShell => {
            noisy(MarginShell::new(&target, margin, spec.share)?, target, spec)
        }
        Distribution::IllConditionedBall => {
            noisy(IllConditionedBall::new(&target, margin, condition)?, target, spec)
        }
        Distribution::SpikedBall => {
            let towards = random_target(dim, spec.seed.wrapping_add(1))?;
            noisy(SpikedBall::new(&target, margin, &towards, spec.share)?, target, spec)
        }
        Distribution::Gaussian => noisy(Gaussian::new(dim, condition)?, target, spec),
        Distribution::StudentT => noisy(StudentT::new(dim, spec.freedom, condition)?, target, spec),
    }
}

fn noisy<M: Marginal>(
    marginal: M,
    target: Halfspace,
    spec: &Spec,
) -> Result<(Points, Vec<Label>, Halfspace), InputError> {
    let noise = Massart::new(spec.rate, spec.r#where.region(spec.threshold))?;
    let instance = Instance::new(marginal, target.clone(), noise)?;
    let (points, labels) = instance.sample(spec.rows, spec.seed)?;
    Ok((points, labels, target))
}

/// Draws rows with Massart noise that misleads convex losses.
#[pyfunction]
pub(crate) fn draw_trap(
    py: Python<'_>,
    rows: usize,
    rate: f64,
    margin: f64,
    seed: u64,
) -> PyResult<Sample<'_>> {
    let trap = massart_trap(rate, margin).map_err(Fault::from)?;
    let (points, labels) = trap.sample(rows, seed).map_err(Fault::from)?;
    sample(py, points, &labels, trap.target())
}

/// Rows on which a perceptron makes as many mistakes as its bound allows. If a margin is given, the rows are those for
/// the margin perceptron.
#[pyfunction]
pub(crate) fn tight(py: Python<'_>, dim: usize, margin: Option<f64>) -> PyResult<Sample<'_>> {
    let found = match margin {
        Some(margin) => margin_perceptron_tight(margin),
        None => perceptron_tight(dim),
    };
    let (points, labels, target) = found.map_err(Fault::from)?.into_parts();
    sample(py, points, &labels, &target)
}

/// The dimension of each planted subspace and the rows in it.
type PlantedRows<'py> = Vec<(usize, Bound<'py, PyArray1<i64>>)>;

/// Draws rows with a heavy subspace.
#[pyfunction]
pub(crate) fn draw_heavy<'py>(
    py: Python<'py>,
    kind: &str,
    rows: usize,
    dim: usize,
    heavy_dim: usize,
    excess: Option<f64>,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray2<f64>>, PlantedRows<'py>)> {
    let kinds = HeavyKind::ALL.into_iter();
    let named = kinds.clone().find(|known| name_of(*known) == kind);
    let Some(kind) = named else {
        let known: Vec<String> = kinds.map(name_of).collect();
        return Err(
            Fault::new(format!("kind={kind:?}: must be one of {}", known.join(", "))).into()
        );
    };
    let excess = match excess {
        None => Excess::OnePoint,
        Some(0.0) => Excess::Boundary,
        Some(share) => Excess::Share(share),
    };
    let case = HeavyCase::new(kind, dim, heavy_dim, rows, excess, seed).map_err(Fault::from)?;
    let planted = case.planted().iter().map(|planted| {
        let members = planted.members.iter().map(|row| *row as i64).collect();
        (planted.dim, PyArray1::from_vec(py, members))
    });
    let planted = planted.collect();
    Ok((matrix(py, case.points().clone())?, planted))
}

/// The name of a kind, such as `two_planes`.
fn name_of(kind: HeavyKind) -> String {
    let mut name = String::new();
    for (place, letter) in format!("{kind:?}").chars().enumerate() {
        if letter.is_ascii_uppercase() && place > 0 {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// A built-in table: rows, labels of 1 and -1, the names of the columns, and a description.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "a tuple for Python")]
pub(crate) fn load_table<'py>(
    py: Python<'py>,
    name: &str,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>, Vec<String>, String)> {
    let Some(table) = Builtin::ALL.into_iter().find(|table| table.name() == name) else {
        let known = Builtin::ALL.map(Builtin::name).join(", ");
        return Err(Fault::new(format!("name={name:?}: must be one of {known}")).into());
    };
    let (points, labels, names) = table.load().map_err(Fault::from)?.into_parts();
    let text = format!("{}. {}. {}", table.description(), table.source(), table.licence());
    Ok((matrix(py, points)?, PyArray1::from_vec(py, numbers(&labels)), names, text))
}

/// Flips labels of rows with Massart noise around the halfspace between the class means of the standardised columns.
/// `classes` are 0 and 1. Returns the noisy classes and the probability with which each was flipped.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two arrays")]
pub(crate) fn add_noise<'py>(
    py: Python<'py>,
    rows: Rows<'_>,
    classes: PyReadonlyArray1<'_, i64>,
    rate: f64,
    area: &str,
    share: f64,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>)> {
    let area = match area {
        "everywhere" => Where::Everywhere,
        "far" => Where::Far,
        "near" => Where::Near,
        _ => {
            let what = "must be 'everywhere', 'far' or 'near'";
            return Err(Fault::new(format!("where={area:?}: {what}")).into());
        }
    };
    let rows = rows.points()?;
    let sign = |class: &i64| if *class == 1 { Label::Positive } else { Label::Negative };
    let labels: Vec<Label> = classes.as_slice()?.iter().map(sign).collect();
    let found = py.detach(|| -> Result<_, InputError> {
        let points = rows.into_dense()?;
        let points = ZScore::fit(&points)?.apply(&points)?.lifted().rescaled_to_unit_ball()?.0;
        let target = centroid_target(&points, &labels)?;
        let pool = Realizable::new(points, target)?;
        InputError::check_parameter(
            "share",
            share,
            share > 0.0 && share <= 1.0,
            "above 0 and at most 1",
        )?;
        let values = pool.points().rows().map(|x| pool.target().decision_value(x));
        let mut sizes = values.map(|v| v.map(f64::abs)).collect::<Result<Vec<f64>, _>>()?;
        sizes.sort_by(f64::total_cmp);
        let noisy = ((sizes.len() as f64 * share).ceil() as usize).clamp(1, sizes.len());
        let threshold = match area {
            Where::Far => sizes[sizes.len() - noisy],
            Where::Near | Where::Everywhere => sizes[noisy - 1],
        };
        let noise = Massart::new(rate, area.region(threshold))?;
        let flips = flip_probabilities(&pool, &noise, None)?;
        let noisy = flip_labels(&labels, &flips, rng_for(streams::FLIPS, seed))?;
        Ok((noisy, flips))
    });
    let (noisy, flips) = found.map_err(Fault::from)?;
    let classes = noisy.iter().map(|label| i64::from(*label == Label::Positive)).collect();
    Ok((PyArray1::from_vec(py, classes), PyArray1::from_vec(py, flips)))
}
