//! Fitted models for two or more classes.

use crate::binary::{Binary, Fact};
use crate::error::Fault;
use crate::learner::{Learner, Spec};
use crate::rows::{DesignRows, Rows, on_points};
use crate::run::{LARGE, run};
use halfspaces_linalg::{
    AffineHalfspace, ClassModel, Classifier, FitSample, InputError, Label, PointSet, Threads,
    checkpoint, deciding_class,
};
use halfspaces_pac::{ErrorBound, ErrorCount, OneVsRest, OneVsRestModel};
use halfspaces_pipeline::{Findings, Method, Plan, split};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The number of rows that a thread classifies at a time.
const BLOCK: usize = 2048;

/// The parts of a model, as they are saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fitted {
    /// The default classifier, and its errors on held-out rows.
    Auto { model: Box<halfspaces_pipeline::Model>, held_out: Option<ErrorCount> },
    /// One model, positive for the second class.
    Two(Binary),
    /// One model for each class.
    Several(OneVsRestModel<Binary>),
}

/// A fitted model for classes 0, 1, ...
#[pyclass(frozen, module = "halfspaces._core")]
#[derive(Debug)]
pub(crate) struct Model {
    fitted: Fitted,
    /// The classes with at least one training row; `None` unless all rows of some class were held out. This field is
    /// not saved.
    known: Option<Vec<usize>>,
    /// What the default classifier reports about its fit. This field is not saved.
    findings: Option<Findings>,
}

/// Fits the learner `spec` to rows of the classes 0, 1, .., each of which must occur.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>,
    spec: &Bound<'_, PyAny>,
    rows: Rows<'_>,
    classes: PyReadonlyArray1<'_, i64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    jobs: usize,
) -> PyResult<Model> {
    let spec: Spec = pythonize::depythonize(spec).map_err(Fault::new)?;
    let rows = rows.points()?;
    let classes: Vec<usize> = classes.as_slice()?.iter().map(|class| *class as usize).collect();
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    run(py, jobs, LARGE, |threads| {
        fitted(spec, rows, &classes, weights, threads).map_err(Fault::by_parameter)
    })
}

fn fitted(
    spec: Spec,
    rows: DesignRows<'_>,
    classes: &[usize],
    weights: Option<&[f64]>,
    threads: Threads,
) -> Result<Model, Fault> {
    if let Spec::Auto { held_out, seed } = spec {
        return automatic(held_out, seed, &rows, classes, weights, threads);
    }
    let weights = weights.map(<[f64]>::to_vec);
    let fitted = on_points!(&rows, points => learned(spec, points, classes, weights, threads))?;
    Ok(Model { fitted, known: None, findings: None })
}

/// Fits the default classifier, and counts its errors on held-out rows. If all rows of a class are held out, the class
/// is not learned, and its rows count as errors.
fn automatic(
    share: f64,
    seed: u64,
    design: &DesignRows<'_>,
    classes: &[usize],
    weights: Option<&[f64]>,
    threads: Threads,
) -> Result<Model, Fault> {
    let in_range = (0.0..1.0).contains(&share);
    InputError::check_parameter("held_out", share, in_range, "at least 0 and below 1")?;
    let plan = Plan { seed, threads, ..Plan::new(Method::Auto) };
    let table = design.as_table()?;
    let design = table.as_ref().unwrap_or(design);
    let (learn, rest) = split(classes.len(), Some(share), seed);
    if rest.is_empty() {
        let (model, findings) =
            halfspaces_pipeline::Model::fit(&plan, design, classes, weights, None)?;
        let fitted = Fitted::Auto { model: Box::new(model), held_out: None };
        return Ok(Model { fitted, known: None, findings: Some(findings) });
    }
    let known: BTreeSet<usize> = learn.iter().map(|row| classes[*row]).collect();
    let known: Vec<usize> = known.into_iter().collect();
    if known.len() < 2 {
        return Err(Fault::new(format!(
            "held_out = {share}: the rows to learn from belong to one class; hold out fewer rows"
        )));
    }
    let number = |row: &usize| known.binary_search(&classes[*row]).ok();
    let learned: Vec<usize> = learn.iter().filter_map(number).collect();
    let weights: Option<Vec<f64>> =
        weights.map(|weights| learn.iter().map(|row| weights[*row]).collect());
    let (fitted, held) = (design.select(&learn)?, design.select(&rest)?);
    let fit = halfspaces_pipeline::Model::fit(&plan, &fitted, &learned, weights.as_deref(), None);
    let (mut model, findings) = fit?;
    let values = model.values(&held, threads)?;
    let wrong =
        values.iter().zip(&rest).filter(|(of, row)| Some(deciding_class(of)) != number(row));
    let held_out = Some(ErrorCount::new(wrong.count(), rest.len())?);
    let of_known = values.into_iter().zip(&rest).filter_map(|(of, row)| Some((of, number(row)?)));
    let (values, truth): (Vec<Vec<f64>>, Vec<usize>) = of_known.unzip();
    model.calibrate(&values, &truth, None)?;
    let all = classes.iter().max().map_or(0, |last| last + 1);
    let fitted = Fitted::Auto { model: Box::new(model), held_out };
    let known = (known.len() < all).then_some(known);
    Ok(Model { fitted, known, findings: Some(findings) })
}

fn learned<P: PointSet>(
    spec: Spec,
    points: &P,
    classes: &[usize],
    weights: Option<Vec<f64>>,
    threads: Threads,
) -> Result<Fitted, Fault> {
    if classes.iter().max() > Some(&1) {
        // The threads are divided among the classes.
        let of_odds = weights.clone();
        let is_logistic = matches!(spec, Spec::Logistic { .. });
        let learner = Learner { spec, weights, threads: Threads::ONE };
        let learner =
            if is_logistic { OneVsRest::of_log_odds(learner) } else { OneVsRest::new(learner) };
        let model = learner.fit_weighted(points, classes, of_odds.as_deref(), threads)?;
        return Ok(Fitted::Several(model));
    }
    let sign = |class: &usize| if *class == 1 { Label::Positive } else { Label::Negative };
    let labels: Vec<Label> = classes.iter().map(sign).collect();
    Ok(Fitted::Two(Learner { spec, weights, threads }.fit(points, &labels)?))
}

/// One value per row for two classes, or one per row and class.
pub(crate) fn values_of<M: ClassModel + Sync, P: PointSet>(
    model: &M,
    points: &P,
    threads: Threads,
) -> Result<Vec<f64>, InputError> {
    InputError::check_dim(model.point_dim(), points.dim())?;
    let block = |rows: std::ops::Range<usize>| -> Result<Vec<f64>, InputError> {
        checkpoint();
        let mut values = Vec::with_capacity(rows.len());
        for row in rows {
            let Some(x) = points.row(row) else { unreachable!("blocks are within the rows") };
            values.extend(model.class_values(x).map_err(|error| error.at_row(row))?);
        }
        Ok(values)
    };
    let mut all = Vec::new();
    for values in threads.map_blocks(points.len(), BLOCK, block) {
        all.append(&mut values?);
    }
    Ok(all)
}

impl Fitted {
    fn classes(&self) -> usize {
        match self {
            Fitted::Auto { model, .. } => model.classes(),
            Fitted::Two(_) => 2,
            Fitted::Several(model) => model.classes(),
        }
    }

    /// Rejects a saved model that no fit can produce.
    fn check_saved(&self) -> Result<(), InputError> {
        if let Fitted::Auto { model, .. } = self {
            return model.check_saved();
        }
        self.parts().into_iter().try_for_each(Binary::check_saved)
    }

    /// Whether the decision values are log odds of logistic regression.
    fn is_logistic(&self) -> bool {
        let parts = self.parts();
        !parts.is_empty() && parts.iter().all(|part| matches!(part, Binary::Logistic(_)))
    }

    /// The binary models.
    fn parts(&self) -> Vec<&Binary> {
        match self {
            Fitted::Auto { .. } => Vec::new(),
            Fitted::Two(model) => vec![model],
            Fitted::Several(model) => {
                (0..model.classes()).filter_map(|class| model.model(class)).collect()
            }
        }
    }
}

#[pymethods]
impl Model {
    /// Reads a model from the text of `Model.to_json`.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Model> {
        let refused = |reason: String| Fault::new(format!("not a model: {reason}"));
        let fitted: Fitted = serde_json::from_str(text).map_err(|e| refused(e.to_string()))?;
        fitted.check_saved().map_err(|e| refused(e.to_string()))?;
        Ok(Model { fitted, known: None, findings: None })
    }

    /// The model as text.
    fn to_json(&self) -> PyResult<String> {
        Ok(serde_json::to_string(&self.fitted).map_err(Fault::new)?)
    }

    /// The number of classes.
    #[getter]
    fn classes(&self) -> usize {
        self.fitted.classes()
    }

    /// The classes that the newly fitted model knows; `None` if it knows all classes.
    #[getter]
    fn known(&self) -> Option<Vec<usize>> {
        self.known.clone()
    }

    /// The decision values: one column for two classes, otherwise one for each class.
    fn values<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'_>,
        jobs: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.points()?;
        let (len, entries) = (rows.len(), rows.stored());
        let values = run(py, jobs, entries, |threads| match &self.fitted {
            Fitted::Auto { model, .. } => {
                let values = model.values(&rows, threads)?;
                Ok::<Vec<f64>, Fault>(values.concat())
            }
            Fitted::Two(model) => {
                Ok(on_points!(&rows, points => values_of(model, points, threads))?)
            }
            Fitted::Several(model) => {
                Ok(on_points!(&rows, points => values_of(model, points, threads))?)
            }
        })?;
        let columns = if self.fitted.classes() == 2 && !matches!(self.fitted, Fitted::Several(_)) {
            1
        } else {
            self.fitted.classes()
        };
        PyArray1::from_vec(py, values).reshape([len, columns])
    }

    /// The probability of each class, or `None` if the model has no probabilities.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'_>,
        jobs: usize,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let rows = rows.points()?;
        let (len, entries) = (rows.len(), rows.stored());
        let found = run(py, jobs, entries, |threads| match &self.fitted {
            Fitted::Auto { model, .. } => {
                let decided = model.decide(&rows, threads)?;
                Ok::<_, Fault>(decided.probabilities.map(|found| found.concat()))
            }
            Fitted::Two(model @ Binary::Logistic(_)) => {
                let values = on_points!(&rows, points => values_of(model, points, threads))?;
                let both = values.into_iter().flat_map(|value| {
                    let (right, wrong) = logistic(value);
                    [wrong, right]
                });
                Ok(Some(both.collect()))
            }
            Fitted::Several(model) if self.fitted.is_logistic() => {
                let odds = on_points!(&rows, points => values_of(model, points, threads))?;
                let mut all: Vec<f64> = odds.into_iter().map(log_probability).collect();
                all.chunks_mut(model.classes()).for_each(normalise);
                Ok(Some(all))
            }
            Fitted::Two(_) | Fitted::Several(_) => Ok(None),
        })?;
        found
            .map(|found: Vec<f64>| {
                PyArray1::from_vec(py, found).reshape([len, self.fitted.classes()])
            })
            .transpose()
    }

    /// The weights and intercepts of the decision values; `None` if a part of the model is not a halfspace.
    #[expect(clippy::type_complexity, reason = "two arrays, or none")]
    fn coefficients<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)>> {
        let parts = self.fitted.parts();
        let found: Option<Vec<&AffineHalfspace>> =
            parts.iter().map(|part| part.coefficients()).collect();
        let Some(found) = found.filter(|found| !found.is_empty()) else { return Ok(None) };
        let odds = |class: usize| match &self.fitted {
            Fitted::Several(model) => model.log_odds(class),
            Fitted::Auto { .. } | Fitted::Two(_) => None,
        };
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        for (class, halfspace) in found.iter().enumerate() {
            let (slope, bias) = match odds(class) {
                Some(odds) => (odds.slope(), odds.of(halfspace.bias())),
                None => (1.0, halfspace.bias()),
            };
            weights.extend(halfspace.weights().iter().map(|w| slope * w));
            biases.push(bias);
        }
        let weights = PyArray1::from_vec(py, weights).reshape([found.len(), found[0].dim()])?;
        Ok(Some((weights, PyArray1::from_vec(py, biases))))
    }

    /// The report of the fit of each binary model, or of the default classifier.
    fn facts(&self) -> Vec<BTreeMap<&'static str, Fact>> {
        if let (Fitted::Auto { held_out, .. }, Some(findings)) = (&self.fitted, &self.findings) {
            return vec![facts_of(findings, *held_out)];
        }
        self.fitted.parts().into_iter().map(|part| part.facts().into_iter().collect()).collect()
    }

    /// An upper bound on the error on new rows, which fails with probability at most `failure`; `None` if no rows were
    /// held out. For several classes, it is the sum of the bounds of the binary models, each with an equal share of
    /// `failure`. The default classifier has one bound for all classes.
    fn error_bound(&self, failure: f64) -> PyResult<Option<f64>> {
        if let Fitted::Auto { held_out, .. } = &self.fitted {
            let bound = held_out.map(|count| count.error_bound(failure)).transpose();
            return Ok(bound.map_err(Fault::from)?.map(ErrorBound::value));
        }
        let in_range = failure > 0.0 && failure < 1.0;
        InputError::check_parameter("failure", failure, in_range, "above 0 and below 1")
            .map_err(Fault::from)?;
        let parts = self.fitted.parts();
        let share = failure / parts.len().max(1) as f64;
        let mut sum = 0.0;
        for part in &parts {
            let Some(bound) = part.error_bound(share) else { return Ok(None) };
            sum += bound.map_err(Fault::from)?.value();
        }
        Ok((!parts.is_empty()).then_some(sum.min(1.0)))
    }
}

/// The report of the default classifier.
fn facts_of(findings: &Findings, held_out: Option<ErrorCount>) -> BTreeMap<&'static str, Fact> {
    let chosen = findings.compared.iter().take(findings.chosen).map(|(_, name)| name.clone());
    let mut facts = BTreeMap::from([
        ("learned_from", Fact::Count(findings.learned_from)),
        ("compared_on", Fact::Count(findings.compared_on as u64)),
        ("chosen", Fact::Names(chosen.collect())),
    ]);
    facts.extend(
        findings.cross_validated.map(|error| ("cross_validated_error", Fact::Number(error))),
    );
    if let Some(count) = held_out {
        facts.insert("held_out", Fact::Count(count.points() as u64));
        facts.insert("held_out_errors", Fact::Count(count.errors() as u64));
    }
    facts
}

/// Computes ln(1/(1 + e^-t)).
fn log_probability(odds: f64) -> f64 {
    odds.min(0.0) - (-odds.abs()).exp().ln_1p()
}

/// Given the logarithms of some numbers, computes numbers that have the same proportions and the sum 1. The results are
/// correct even if all the given numbers are so small that they would underflow.
fn normalise(logarithms: &mut [f64]) {
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logarithms.iter_mut().for_each(|value| *value = (*value - most).exp());
    let sum: f64 = logarithms.iter().sum();
    logarithms.iter_mut().for_each(|value| *value /= sum);
}

/// Computes 1/(1 + e^-t) and 1/(1 + e^t).
fn logistic(value: f64) -> (f64, f64) {
    let small = (-value.abs()).exp();
    let (large, small) = (1.0 / (1.0 + small), small / (1.0 + small));
    if value >= 0.0 { (large, small) } else { (small, large) }
}
