//! What was learned, and what it decides of points.

use super::binary::{BinaryLearner, BinaryModel};
use super::plan::{Findings, Method, Plan};
use crate::error::CliError;
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::{
    Classifier, FitSample, InputError, Label, Params, PointSet, Points, Threads,
};
use halfspaces_pac::{OneVsRest, OneVsRestModel, TemperatureScaling};
use halfspaces_tables::{TableClassesModel, TableClassifier};
use serde::{Deserialize, Serialize};

/// Rows decided at a time by one thread; the decisions do not depend on it.
const BLOCK: usize = 1024;
/// Fewest rows that probabilities are learned from.
const MIN_SCALED: usize = 10;

/// What was learned: a classifier of points into classes 0, 1, ..
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "lowercase")]
pub(crate) enum Learned {
    /// By [`Method::Auto`].
    Auto {
        /// The model.
        model: Box<TableClassesModel<usize>>,
    },
    /// By any other method.
    Standardised(Box<Standardised>),
}

/// A classifier of standardised columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Standardised {
    pub(super) by: Method,
    pub(super) scale: ZScore,
    pub(super) model: Fitted,
    /// From values to probabilities, if there were rows held out to learn it from.
    pub(super) scaling: Option<TemperatureScaling>,
}

/// One binary model for two classes, else one per class against the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Fitted {
    Two(BinaryModel),
    Several(OneVsRestModel<BinaryModel>),
}

/// What is decided of points, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decisions {
    /// The class.
    pub(crate) classes: Vec<usize>,
    /// Of two classes the decision value, positive for the second; of more, by how much the largest value of a class
    /// exceeds the next.
    pub(crate) values: Vec<f64>,
    /// The probability of every class, if the model has any.
    pub(crate) probabilities: Option<Vec<Vec<f64>>>,
}

impl Learned {
    /// Learns from points and their classes 0, 1, .., `count` of them.
    pub(crate) fn fit(
        plan: &Plan,
        points: &Points,
        classes: &[usize],
        weights: Option<&[f64]>,
    ) -> Result<(Learned, Findings), CliError> {
        if plan.method == Method::Auto {
            let params = TableClassifier::params().held_out(0.0).seed(plan.seed);
            let learner = params.threads(plan.threads).check()?;
            let model = match weights {
                Some(weights) => learner.fit_classes_weighted(points, classes, weights)?,
                None => learner.fit_classes(points, classes)?,
            };
            let report = model.report();
            let entry = |e: &halfspaces_tables::Compared| (e.error, e.candidate.to_string());
            let findings = Findings {
                compared: report.compared().iter().map(entry).collect(),
                dropped: report.dropped().len(),
                chosen: report.chosen().count(),
                ..Findings::default()
            };
            return Ok((Learned::Auto { model: Box::new(model) }, findings));
        }
        assert!(weights.is_none(), "the command refuses weights for other learners");
        let scale = ZScore::fit(points)?;
        let scaled = scale.apply_on(points, plan.threads)?;
        let learner = BinaryLearner::new(plan)?;
        let count = classes.iter().max().map_or(0, |last| last + 1);
        let (model, findings) = if count == 2 {
            let sign = |c: &usize| if *c == 1 { Label::Positive } else { Label::Negative };
            let labels: Vec<Label> = classes.iter().map(sign).collect();
            let model = learner.fit(&scaled, &labels)?;
            let findings = model.findings();
            (Fitted::Two(model), findings)
        } else {
            let model = OneVsRest::new(learner).fit(&scaled, classes, plan.threads);
            let model = model.map_err(|e| CliError::user(e.to_string()))?;
            (Fitted::Several(model), Findings::default())
        };
        let learned = Standardised { by: plan.method, scale, model, scaling: None };
        Ok((Learned::Standardised(Box::new(learned)), findings))
    }

    /// Learns how values become probabilities, from rows that the model was not learned from.
    pub(crate) fn calibrate(
        &mut self,
        points: &Points,
        classes: &[usize],
        threads: Threads,
    ) -> Result<(), CliError> {
        if let Learned::Standardised(learned) = self {
            if points.len() < MIN_SCALED {
                return Ok(());
            }
            let values = learned.class_values(points, threads)?;
            let values = Points::new(values.concat(), learned.sums())?;
            let weights = vec![1.0; classes.len()];
            learned.scaling = Some(TemperatureScaling::fit(&values, classes, &weights, 1.0)?);
        }
        Ok(())
    }

    /// Whether it gives probabilities.
    pub(crate) fn has_probabilities(&self) -> bool {
        match self {
            Learned::Auto { .. } => true,
            Learned::Standardised(learned) => learned.scaling.is_some(),
        }
    }

    /// Which learner it is by.
    pub(crate) fn method(&self) -> Method {
        match self {
            Learned::Auto { .. } => Method::Auto,
            Learned::Standardised(learned) => learned.by,
        }
    }

    /// Number of coordinates of the points.
    pub(crate) fn dim(&self) -> usize {
        match self {
            Learned::Auto { model } => model.dim(),
            Learned::Standardised(learned) => learned.scale.input_dim(),
        }
    }

    /// Number of classes.
    pub(crate) fn classes(&self) -> usize {
        match self {
            Learned::Auto { model } => model.classes().len(),
            Learned::Standardised(learned) => match &learned.model {
                Fitted::Two(_) => 2,
                Fitted::Several(model) => model.classes(),
            },
        }
    }

    /// Per class, or for the second of two alone, the weight of every coordinate, as a change by one standard deviation;
    /// none if there is no single halfspace per class.
    pub(crate) fn weights(&self) -> Option<Vec<Vec<f64>>> {
        let Learned::Standardised(learned) = self else { return None };
        match &learned.model {
            Fitted::Two(model) => Some(vec![model.halfspace()?.weights().to_vec()]),
            Fitted::Several(model) => (0..model.classes())
                .map(|class| Some(model.model(class)?.halfspace()?.weights().to_vec()))
                .collect(),
        }
    }

    /// Whether what was loaded fits together.
    pub(crate) fn check_saved(&self) -> Result<(), InputError> {
        match self {
            Learned::Auto { model } => {
                let numbered = model.classes().iter().enumerate().all(|(i, class)| i == *class);
                InputError::check_state(numbered, "classes are numbered from 0")
            }
            Learned::Standardised(learned) => {
                InputError::check_state(
                    learned.by != Method::Auto,
                    "auto has no single model of standardised columns",
                )?;
                let dim = match &learned.model {
                    Fitted::Two(model) => model.dim(),
                    Fitted::Several(model) => model.dim(),
                };
                InputError::check_dim(learned.scale.output_dim(), dim)
            }
        }
    }

    /// Decides every row.
    pub(crate) fn decide(&self, points: &Points, threads: Threads) -> Result<Decisions, CliError> {
        match self {
            Learned::Auto { model } => {
                let values = model.values_all(points, threads)?;
                let mut classes = Vec::with_capacity(points.len());
                let mut probabilities = Vec::with_capacity(points.len());
                for row in values.rows() {
                    let (class, shares) = model.judge(row.as_slice())?;
                    classes.push(*class);
                    probabilities.push(shares);
                }
                let values = values.rows().map(|row| lead(row.as_slice())).collect();
                Ok(Decisions { classes, values, probabilities: Some(probabilities) })
            }
            Learned::Standardised(learned) => {
                let values = learned.class_values(points, threads)?;
                let class = |values: &Vec<f64>| match values[..] {
                    [value] => usize::from(Label::from_sign(value) == Label::Positive),
                    _ => largest(values),
                };
                Ok(Decisions {
                    classes: values.iter().map(class).collect(),
                    values: values.iter().map(|values| lead(values)).collect(),
                    probabilities: (learned.scaling.as_ref())
                        .map(|by| values.iter().map(|values| by.probabilities(values)).collect()),
                })
            }
        }
    }
}

impl Standardised {
    /// Number of values per point: one for two classes, else one per class.
    fn sums(&self) -> usize {
        match &self.model {
            Fitted::Two(_) => 1,
            Fitted::Several(model) => model.classes(),
        }
    }

    fn class_values(&self, points: &Points, threads: Threads) -> Result<Vec<Vec<f64>>, CliError> {
        let scaled = self.scale.apply_on(points, threads)?;
        let block = |rows: std::ops::Range<usize>| -> Result<Vec<Vec<f64>>, InputError> {
            rows.map(|row| {
                let Some(x) = scaled.row(row) else { unreachable!("blocks are within the points") };
                let values = match &self.model {
                    Fitted::Two(model) => model.decision_value(x).map(|value| vec![value]),
                    Fitted::Several(model) => model.values(x),
                };
                values.map_err(|error| error.at_row(row))
            })
            .collect()
        };
        let mut values = Vec::with_capacity(points.len());
        for block in threads.map_blocks(points.len(), BLOCK, block) {
            values.append(&mut block?);
        }
        Ok(values)
    }
}

/// The place of the largest value, the first of equal ones.
fn largest(values: &[f64]) -> usize {
    let mut best = 0;
    for (class, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = class;
        }
    }
    best
}

/// One value itself; of several, by how much the largest exceeds the next.
fn lead(values: &[f64]) -> f64 {
    if let [value] = values {
        return *value;
    }
    let best = largest(values);
    let others = values.iter().enumerate().filter(|(class, _)| *class != best);
    values[best] - others.map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
}
