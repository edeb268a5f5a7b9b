//! The labels of a session row by row, as they are exported.

use halfspaces_labelling::{Given, Record};
use halfspaces_online::{LabellingQuestion, LabellingSession};

/// A row as it is exported.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) row: usize,
    pub(super) label: String,
    pub(super) source: Source,
    /// The probability of a label that was predicted.
    pub(super) probability: Option<f64>,
}

/// Where a label comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Confirmed,
    Corrected,
    Known,
    Predicted,
}

impl Source {
    pub(super) fn name(self) -> &'static str {
        match self {
            Source::Confirmed => "confirmed",
            Source::Corrected => "corrected",
            Source::Known => "known",
            Source::Predicted => "predicted",
        }
    }
}

fn source(given: &Given) -> Source {
    match given.asked {
        // A label that was known is no longer so once a person has changed it.
        None if given.changed => Source::Corrected,
        None => Source::Known,
        Some(_) if given.is_correction() => Source::Corrected,
        Some(_) => Source::Confirmed,
    }
}

/// The labels by row; with a session also what it predicts of the others.
pub(super) fn lines(record: &Record, predictions: Option<&LabellingSession>) -> Vec<Line> {
    let classes = record.classes();
    let mut lines = Vec::new();
    for row in 0..record.rows() {
        let line = match (record.given_at(row), predictions) {
            (Some(given), _) => Line {
                row,
                label: classes[given.class].clone(),
                source: source(&given),
                probability: None,
            },
            (None, Some(session)) => {
                let LabellingQuestion { class, probability, .. } = match session.predict(row) {
                    Ok(question) => question,
                    Err(error) => unreachable!("a row of the pool: {error}"),
                };
                let label = classes[class].clone();
                Line { row, label, source: Source::Predicted, probability: Some(probability) }
            }
            (None, None) => continue,
        };
        lines.push(line);
    }
    lines
}
