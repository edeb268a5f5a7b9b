//! Labels as a file for other programs.

use super::items::Items;
use super::label_studio;
use super::record::{Given, Record};
use clap::ValueEnum;
use halfspaces_online::{LabellingQuestion, LabellingSession};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::Path;

/// Formats of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Columns row, what is shown of the item, label, source, probability
    Csv,
    /// One JSON object per row
    Jsonl,
    /// Label Studio's JSON of tasks
    Labelstudio,
}

impl ExportFormat {
    /// By the ending of a file's name.
    pub(super) fn of(path: &Path) -> ExportFormat {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl" | "ndjson") => ExportFormat::Jsonl,
            Some("json") => ExportFormat::Labelstudio,
            _ => ExportFormat::Csv,
        }
    }
}

/// A row as it is exported.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) row: usize,
    pub(super) label: String,
    pub(super) source: Source,
    /// Of the label predicted, of rows that nobody has labelled.
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
    fn name(self) -> &'static str {
        match self {
            Source::Confirmed => "confirmed",
            Source::Corrected => "corrected",
            Source::Known => "known",
            Source::Predicted => "predicted",
        }
    }
}

/// The labels by row; with a session also what it predicts of the others.
pub(super) fn lines(record: &Record, predictions: Option<&LabellingSession>) -> Vec<Line> {
    let mut given: Vec<Option<&Given>> = vec![None; record.rows()];
    record.given().iter().for_each(|label| given[label.row] = Some(label));
    let classes = record.classes();
    let mut lines = Vec::new();
    for (row, given) in given.into_iter().enumerate() {
        let line = match (given, predictions) {
            (Some(given), _) => {
                let source = match given.asked {
                    None => Source::Known,
                    Some(_) if given.is_correction() => Source::Corrected,
                    Some(_) => Source::Confirmed,
                };
                Line { row, label: classes[given.class].clone(), source, probability: None }
            }
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

pub(super) fn write(
    out: &mut dyn Write,
    format: ExportFormat,
    lines: &[Line],
    items: &Items,
) -> io::Result<()> {
    match format {
        ExportFormat::Csv => write_csv(out, lines, items),
        ExportFormat::Jsonl => {
            for line in lines {
                let shown: Map<String, Value> = items
                    .shown(line.row)
                    .into_iter()
                    .map(|(name, text)| (name.to_owned(), text.into()))
                    .collect();
                let Line { row, label, source, probability } = line;
                let source = source.name();
                let mut value =
                    json!({ "row": row, "label": label, "source": source, "item": shown });
                if let Some(probability) = probability {
                    value["probability"] = json!(probability);
                }
                writeln!(out, "{value}")?;
            }
            Ok(())
        }
        ExportFormat::Labelstudio => label_studio::write(out, lines, items),
    }
}

fn write_csv(out: &mut dyn Write, lines: &[Line], items: &Items) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let mut header = vec!["row"];
    header.extend(items.shown_names());
    header.extend(["label", "source", "probability"]);
    writer.write_record(header)?;
    for line in lines {
        let probability = line.probability.map(|p| format!("{p:.4}")).unwrap_or_default();
        let mut cells = vec![line.row.to_string()];
        cells.extend(items.shown(line.row).into_iter().map(|(_, text)| text));
        cells.extend([line.label.clone(), line.source.name().to_owned(), probability]);
        writer.write_record(cells)?;
    }
    writer.flush()
}
