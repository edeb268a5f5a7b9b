//! The explanation of a model that `explain` prints.

use super::rows::ExplainedRow;
use halfspaces_pipeline::{Importance, Rate};
use serde::Serialize;

/// The explanation; `--json` prints it as it is.
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    pub(super) learner: String,
    pub(super) classes: Vec<String>,
    pub(super) learned_from: u64,
    pub(super) held_out: Option<Rate>,
    /// The candidates that the model averages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) averaged: Vec<String>,
    /// Whether weights refer to a change of 1; otherwise they refer to a change of one standard deviation.
    pub(super) sparse: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) weights: Vec<ClassWeights>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) on_data: Option<OnData>,
    /// The rows of `--row`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) rows: Vec<ExplainedRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct ClassWeights {
    /// Positive weights favour this class.
    pub(super) class: String,
    /// The weights in order of decreasing absolute value.
    pub(super) weights: Vec<Weight>,
}

#[derive(Debug, Serialize)]
pub(super) struct Weight {
    pub(super) coordinate: String,
    pub(super) weight: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct OnData {
    pub(super) data: String,
    pub(super) rows: usize,
    pub(super) labelled: bool,
    /// The number of columns whose importance was measured.
    pub(super) columns_measured: usize,
    /// The most important columns.
    pub(super) importance: Importance,
    /// The histogram of margins; its outermost bins are unbounded.
    pub(super) margins: Vec<Bar>,
}

#[derive(Debug, Serialize)]
pub(super) struct Bar {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<f64>,
    pub(super) rows: usize,
}
