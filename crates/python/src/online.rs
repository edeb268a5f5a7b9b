//! Online learners: one for two classes, otherwise one for each class.

use crate::error::Fault;
use crate::model::values_of;
use crate::rows::{DesignRows, Rows, on_points};
use crate::run::run;
use crate::streams;
use halfspaces_linalg::{
    ClassModel, Classifier, DensePoints, Halfspace, InputError, Label, LiftedRow, PointSet,
    RowView, ScaledRow, Steps, Threads, checkpoint, rng_for,
};
use halfspaces_online::{
    Aggressiveness, Arow, AveragedPerceptron, Horizon, Kernel, KernelPerceptron, MassartSetting,
    OnlineLearner, OnlineMassart, PassiveAggressive, Perceptron, SecondOrderPerceptron,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::{RwLock, RwLockReadGuard, TryLockError};

/// The number of rows that one of several learners processes before the next learner processes the same rows. It is
/// also the number of rows between two checkpoints.
const BLOCK: usize = 256;

/// The number of rows that a kernel learner processes between two checkpoints.
const KERNEL_BLOCK: usize = 1024;

/// A learner and its parameters, with the names of the Python classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "learner", rename_all = "snake_case", deny_unknown_fields)]
enum Spec {
    Perceptron,
    Averaged,
    PassiveAggressive { c: Option<f64>, damped: bool },
    SecondOrder { a: f64 },
    Arow { r: f64 },
    Massart { noise_rate: f64, margin: f64, radius: f64 },
    Kernel { kernel: Kernel, budget: Option<usize> },
}

/// The state of one learner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Learner {
    Perceptron(Perceptron),
    Averaged(AveragedPerceptron),
    PassiveAggressive(PassiveAggressive),
    SecondOrder(SecondOrderPerceptron),
    Arow(Arow),
    Massart(OnlineMassart),
    Kernel(Box<KernelPerceptron>),
}

/// Calls the same code for learners of every kind.
macro_rules! each {
    ($learner:expr, $name:ident => $body:expr) => {
        match $learner {
            Learner::Perceptron($name) => $body,
            Learner::Averaged($name) => $body,
            Learner::PassiveAggressive($name) => $body,
            Learner::SecondOrder($name) => $body,
            Learner::Arow($name) => $body,
            Learner::Massart($name) => $body,
            Learner::Kernel($name) => $body,
        }
    };
}

impl Learner {
    fn decider(&self) -> Result<Decider<'_>, InputError> {
        let weights = match self {
            Learner::Kernel(learner) => return Ok(Decider::Kernel(learner)),
            Learner::Averaged(learner) => learner.average()?.into_normal(),
            Learner::Perceptron(learner) => learner.weights().to_vec(),
            Learner::PassiveAggressive(learner) => learner.weights().to_vec(),
            Learner::SecondOrder(learner) => learner.weights().to_vec(),
            Learner::Arow(learner) => learner.weights().to_vec(),
            Learner::Massart(learner) => learner.weights().to_vec(),
        };
        Ok(Decider::Halfspace(Halfspace::new(weights)?))
    }
}

impl Spec {
    fn start(self, dim: usize) -> Result<Learner, InputError> {
        Ok(match self {
            Spec::Perceptron => Learner::Perceptron(Perceptron::new(dim)?),
            Spec::Averaged => Learner::Averaged(AveragedPerceptron::new(dim)?),
            Spec::PassiveAggressive { c, damped } => {
                let aggressiveness = match (c, damped) {
                    (None, _) => Aggressiveness::Unbounded,
                    (Some(c), false) => Aggressiveness::Capped(c),
                    (Some(c), true) => Aggressiveness::Damped(c),
                };
                Learner::PassiveAggressive(PassiveAggressive::new(dim, aggressiveness)?)
            }
            Spec::SecondOrder { a } => Learner::SecondOrder(SecondOrderPerceptron::new(dim, a)?),
            Spec::Arow { r } => Learner::Arow(Arow::new(dim, r)?),
            Spec::Massart { noise_rate: noise, margin, radius } => {
                InputError::check_parameter(
                    "radius",
                    radius,
                    radius > 0.0 && radius.is_finite(),
                    "positive and finite",
                )?;
                let setting = MassartSetting { noise, margin };
                Learner::Massart(OnlineMassart::new(dim, setting, Horizon::Anytime)?)
            }
            Spec::Kernel { kernel, budget } => {
                let learner = KernelPerceptron::new(dim, kernel)?;
                let learner =
                    budget.map_or(Ok(learner.clone()), |budget| learner.with_budget(budget))?;
                Learner::Kernel(Box::new(learner))
            }
        })
    }

    /// The number by which points are divided.
    fn radius(self) -> Option<f64> {
        if let Spec::Massart { radius, .. } = self { Some(radius) } else { None }
    }
}

/// A part of a model that makes decisions.
enum Decider<'a> {
    Halfspace(Halfspace),
    Kernel(&'a KernelPerceptron),
}

/// The model of the current state.
struct Deciders<'a> {
    parts: Vec<Decider<'a>>,
    dim: usize,
    lift: bool,
    radius: Option<f64>,
}

impl Deciders<'_> {
    fn values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        let value = |part: &Decider<'_>| match part {
            Decider::Halfspace(halfspace) => halfspace.decision_value(x),
            Decider::Kernel(learner) => learner.decision_value(x),
        };
        self.parts.iter().map(value).collect()
    }

    fn lifted_values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        if self.lift { self.values(LiftedRow::new(x)) } else { self.values(x) }
    }
}

impl ClassModel for Deciders<'_> {
    fn class_count(&self) -> usize {
        self.parts.len().max(2)
    }

    fn point_dim(&self) -> usize {
        self.dim
    }

    fn class_values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        match self.radius {
            Some(radius) => self.lifted_values(ScaledRow::new(x, 1.0 / radius)),
            None => self.lifted_values(x),
        }
    }
}

/// The parts of a state, as they are saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State {
    spec: Spec,
    classes: usize,
    dim: usize,
    lift: bool,
    rounds: u64,
    learners: Vec<Learner>,
}

/// Learning from rows that are scaled and lifted before the update.
trait LearnFrom: OnlineLearner {
    /// Learns from a row, which is divided by the radius if there is one and lifted if there is an intercept.
    fn learn_from<R: RowView>(
        &mut self,
        x: R,
        (radius, lift): (Option<f64>, bool),
        truth: Label,
    ) -> Result<(), InputError> {
        match (radius, lift) {
            (Some(radius), true) => {
                self.observe(LiftedRow::new(ScaledRow::new(x, 1.0 / radius)), truth)?
            }
            (Some(radius), false) => self.observe(ScaledRow::new(x, 1.0 / radius), truth)?,
            (None, true) => self.observe(LiftedRow::new(x), truth)?,
            (None, false) => self.observe(x, truth)?,
        };
        Ok(())
    }
}

impl<L: OnlineLearner> LearnFrom for L {}

/// An online learner for classes 0, 1, ...
#[pyclass(frozen, module = "halfspaces._core")]
#[derive(Debug)]
pub(crate) struct Online {
    state: RwLock<State>,
}

/// The error of a call that cannot lock the learner, because another call uses it or because a panic broke it.
fn in_use<G>(error: TryLockError<G>) -> PyErr {
    PyRuntimeError::new_err(match error {
        TryLockError::WouldBlock => {
            "another thread is using this learner; let one thread at a time learn from rows"
        }
        TryLockError::Poisoned(_) => {
            "the learner is broken, because a fault in it ended the learning"
        }
    })
}

impl Online {
    fn of(state: State) -> Online {
        Online { state: RwLock::new(state) }
    }

    fn read(&self) -> PyResult<RwLockReadGuard<'_, State>> {
        self.state.try_read().map_err(in_use)
    }
}

impl State {
    /// Learns from rows in this order, a block at a time. Each row that a learner has learned from counts as a step.
    fn learn<P: PointSet>(
        &mut self,
        points: &P,
        classes: &[i64],
        mut order: impl Iterator<Item = usize>,
        steps: &Steps,
    ) -> Result<(), InputError> {
        let form = (self.spec.radius(), self.lift);
        let count = self.learners.len();
        let mut block = Vec::with_capacity(BLOCK);
        loop {
            block.clear();
            block.extend(order.by_ref().take(BLOCK));
            if block.is_empty() {
                return Ok(());
            }
            checkpoint();
            for (place, learner) in (0..).zip(&mut self.learners) {
                let positive = if count == 1 { 1 } else { place };
                each!(learner, learner => for row in &block {
                    let Some(x) = points.row(*row) else { unreachable!("orders contain row numbers") };
                    let truth =
                        if classes[*row] == positive { Label::Positive } else { Label::Negative };
                    learner.learn_from(x, form, truth).map_err(|error| error.at_row(*row))?;
                });
            }
            self.rounds += block.len() as u64;
            steps.advance((block.len() * count) as u64);
        }
    }

    /// Learns from rows in this order. Kernel learners process many dense rows at a time.
    fn learn_rows(
        &mut self,
        rows: &DesignRows<'_>,
        classes: &[i64],
        order: impl Iterator<Item = usize>,
        threads: Threads,
        steps: &Steps,
    ) -> Result<(), InputError> {
        match (rows, self.spec) {
            (DesignRows::Dense(points), Spec::Kernel { .. }) => {
                let order: Vec<usize> = order.collect();
                let in_order: Vec<i64> = order.iter().map(|row| classes[*row]).collect();
                self.learn_with_kernel(&points.select(&order)?, &in_order, threads, steps)
            }
            _ => on_points!(rows, points => self.learn(points, classes, order, steps)),
        }
    }

    /// Rejects numbers that are not classes of the learner.
    fn check_classes(&self, classes: &[i64]) -> Result<(), Fault> {
        let known = |class: &i64| usize::try_from(*class).is_ok_and(|of| of < self.classes);
        match classes.iter().find(|class| !known(class)) {
            None => Ok(()),
            Some(class) => {
                Err(Fault::new(format!("class {class}: the learner has {} classes", self.classes)))
            }
        }
    }

    /// Learns with a kernel from dense rows, using one matrix product for many rows at a time.
    fn learn_with_kernel(
        &mut self,
        points: &DensePoints<'_>,
        classes: &[i64],
        threads: Threads,
        steps: &Steps,
    ) -> Result<(), InputError> {
        let count = self.learners.len();
        for (place, learner) in (0..).zip(&mut self.learners) {
            let Learner::Kernel(learner) = learner else {
                unreachable!("all learners are of one kind")
            };
            let positive = if count == 1 { 1 } else { place };
            let sign =
                |class: &i64| if *class == positive { Label::Positive } else { Label::Negative };
            let labels: Vec<Label> = classes.iter().map(sign).collect();
            // The computation can stop between two blocks.
            for from in (0..points.len()).step_by(KERNEL_BLOCK) {
                checkpoint();
                let rows: Vec<usize> = (from..points.len().min(from + KERNEL_BLOCK)).collect();
                let labels = &labels[from..from + rows.len()];
                learner.learn_all_on(&points.select(&rows)?, labels, threads)?;
                steps.advance(rows.len() as u64);
            }
        }
        self.rounds += points.len() as u64;
        Ok(())
    }

    fn deciders(&self) -> Result<Deciders<'_>, InputError> {
        let parts = self.learners.iter().map(Learner::decider).collect::<Result<_, _>>()?;
        Ok(Deciders { parts, dim: self.dim, lift: self.lift, radius: self.spec.radius() })
    }

    fn check(&self) -> Result<(), String> {
        let count = if self.classes == 2 { 1 } else { self.classes };
        if self.classes < 2 || self.learners.len() != count {
            return Err(format!("{} learners for {} classes", self.learners.len(), self.classes));
        }
        let dim = self.dim + usize::from(self.lift);
        for learner in &self.learners {
            let found = each!(learner, learner => learner.dim());
            if found != dim {
                return Err(format!(
                    "a learner for {found} coordinates, but the points have {dim}"
                ));
            }
        }
        Ok(())
    }
}

#[pymethods]
impl Online {
    /// Starts the learner `spec` for points of `dim` coordinates.
    #[new]
    fn new(
        spec: &Bound<'_, PyAny>,
        classes: usize,
        dim: usize,
        fit_intercept: bool,
    ) -> PyResult<Online> {
        let spec: Spec = pythonize::depythonize(spec).map_err(Fault::new)?;
        let count = if classes == 2 { 1 } else { classes };
        let learner = spec.start(dim + usize::from(fit_intercept)).map_err(Fault::from)?;
        let learners = vec![learner; count];
        Ok(Online::of(State { spec, classes, dim, lift: fit_intercept, rounds: 0, learners }))
    }

    /// Reads a state from the text of `Online.to_json`.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Online> {
        let state: State =
            serde_json::from_str(text).map_err(|e| Fault::new(format!("not a learner: {e}")))?;
        state.check().map_err(|fault| Fault::new(format!("not a learner: {fault}")))?;
        Ok(Online::of(state))
    }

    /// The state as text.
    fn to_json(&self) -> PyResult<String> {
        Ok(serde_json::to_string(&*self.read()?).map_err(Fault::new)?)
    }

    /// Learns from rows `passes` times, each time in a random order, or in the given order if there is no seed.
    fn learn(
        &self,
        py: Python<'_>,
        rows: Rows<'_>,
        classes: PyReadonlyArray1<'_, i64>,
        passes: u64,
        seed: Option<u64>,
        jobs: usize,
    ) -> PyResult<()> {
        let rows = rows.points()?;
        let mut guard = self.state.try_write().map_err(in_use)?;
        let state = &mut *guard;
        let classes = classes.as_slice()?;
        state.check_classes(classes)?;
        let entries = rows.stored().saturating_mul(passes as usize);
        run(py, jobs, entries, |threads| {
            InputError::check_dim(state.dim, rows.dim())?;
            InputError::check_len(rows.len(), classes.len())?;
            let of_pass = rows.len() * state.learners.len();
            let steps = Steps::plan(passes.saturating_mul(of_pass as u64));
            let mut rng = seed.map(|seed| rng_for(streams::PASSES, seed));
            for _ in 0..passes {
                let Some(rng) = &mut rng else {
                    state.learn_rows(&rows, classes, 0..rows.len(), threads, &steps)?;
                    continue;
                };
                let mut order: Vec<usize> = (0..rows.len()).collect();
                order.shuffle(rng);
                state.learn_rows(&rows, classes, order.into_iter(), threads, &steps)?;
            }
            Ok::<(), InputError>(())
        })
    }

    /// The decision values: one column for two classes, otherwise one for each class.
    fn values<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'_>,
        jobs: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.points()?;
        let state = &*self.read()?;
        let values = run(py, jobs, rows.stored(), |threads| {
            let model = state.deciders()?;
            on_points!(&rows, points => values_of(&model, points, threads))
        })?;
        PyArray1::from_vec(py, values).reshape([rows.len(), state.learners.len()])
    }

    /// The weights and intercepts; `None` for kernels.
    #[expect(clippy::type_complexity, reason = "two arrays, or none")]
    fn coefficients<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)>> {
        let state = self.read()?;
        let model = state.deciders().map_err(Fault::from)?;
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        let scale = if model.lift { FRAC_1_SQRT_2 } else { 1.0 };
        let radius = model.radius.unwrap_or(1.0);
        for part in &model.parts {
            let Decider::Halfspace(halfspace) = part else { return Ok(None) };
            let w = halfspace.normal();
            weights.extend(w[..model.dim].iter().map(|v| v * scale / radius));
            biases.push(w.get(model.dim).map_or(0.0, |bias| bias * scale));
        }
        let weights = PyArray1::from_vec(py, weights).reshape([model.parts.len(), model.dim])?;
        Ok(Some((weights, PyArray1::from_vec(py, biases))))
    }

    /// The number of rows learned from, over all passes.
    #[getter]
    fn rounds(&self) -> PyResult<u64> {
        Ok(self.read()?.rounds)
    }

    /// The number of updates of all learners.
    #[getter]
    fn updates(&self) -> PyResult<u64> {
        let state = self.read()?;
        Ok(state.learners.iter().map(|learner| each!(learner, of => of.updates())).sum())
    }

    /// The number of supports of all learners; `None` if the learners have no kernel.
    #[getter]
    fn supports(&self) -> PyResult<Option<usize>> {
        let of = |learner: &Learner| match learner {
            Learner::Kernel(learner) => Some(learner.supports()),
            _ => None,
        };
        Ok(self.read()?.learners.iter().map(of).sum())
    }
}
