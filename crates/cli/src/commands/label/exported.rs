//! The exported rows of a session.

use halfspaces_labelling::{Record, RowLabel};
use halfspaces_online::{LabellingQuestion, LabellingSession};
use serde_json::Value;

/// A row of an export.
#[derive(Debug)]
pub(super) struct ExportedRow {
    pub(super) row: usize,
    pub(super) label: String,
    pub(super) source: Source,
    /// The probability of a predicted label; `None` if a class has no labelled row yet, or the label is a suggestion.
    pub(super) probability: Option<f64>,
    /// The name and the answer of each annotator, if several sessions are merged.
    pub(super) answers: Vec<(String, String)>,
}

/// The answers of annotators as an object.
pub(super) fn answers_json(answers: &[(String, String)]) -> Value {
    answers.iter().map(|(name, answer)| (name.clone(), Value::from(answer.clone()))).collect()
}

/// The origin of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Confirmed,
    Corrected,
    Known,
    Predicted,
    /// The person could not tell the class; the label is empty.
    Uncertain,
    /// Decided in a review of merged sessions.
    Reviewed,
    /// Given by all annotators who answered, if at least two did.
    Agreed,
    /// Given by more annotators than any other class.
    Most,
    /// Given by the only annotator who answered.
    Single,
    /// Several classes are tied for the largest number of annotators; the label is empty.
    Tied,
}

impl Source {
    pub(super) fn name(self) -> &'static str {
        match self {
            Source::Confirmed => "confirmed",
            Source::Corrected => "corrected",
            Source::Known => "known",
            Source::Predicted => "predicted",
            Source::Uncertain => "uncertain",
            Source::Reviewed => "reviewed",
            Source::Agreed => "agreed",
            Source::Most => "most",
            Source::Single => "single",
            Source::Tied => "tied",
        }
    }
}

fn source(given: &RowLabel) -> Source {
    match given.asked {
        // A known label that a person has changed is a correction.
        None if given.changed => Source::Corrected,
        None => Source::Known,
        Some(_) if given.is_correction() => Source::Corrected,
        Some(_) => Source::Confirmed,
    }
}

/// The labelled and uncertain rows of a session. If a model is given, also the other rows, with the predictions of the
/// model.
pub(super) fn exported_rows(
    record: &Record,
    predictions: Option<&LabellingSession>,
) -> Vec<ExportedRow> {
    let classes = record.classes();
    let advised = predictions.is_some_and(LabellingSession::follows_advice);
    let is_known = predictions.is_some_and(LabellingSession::has_probabilities);
    let has_probabilities = advised || is_known && record.has_every_class();
    let mut rows = Vec::new();
    for row in 0..record.rows() {
        let exported = match (record.row_label(row), predictions) {
            (Some(given), _) => ExportedRow {
                row,
                label: classes[given.class].clone(),
                source: source(&given),
                probability: None,
                answers: Vec::new(),
            },
            (None, _) if record.is_uncertain(row) => ExportedRow {
                row,
                label: String::new(),
                source: Source::Uncertain,
                probability: None,
                answers: Vec::new(),
            },
            (None, Some(session)) => {
                let LabellingQuestion { class, probability, .. } = match session.predict(row) {
                    Ok(question) => question,
                    Err(error) => unreachable!("the row is in the pool: {error}"),
                };
                let label = classes[class].clone();
                ExportedRow {
                    row,
                    label,
                    source: Source::Predicted,
                    probability: has_probabilities.then_some(probability),
                    answers: Vec::new(),
                }
            }
            (None, None) => continue,
        };
        rows.push(exported);
    }
    rows
}
