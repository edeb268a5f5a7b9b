//! Writes labels as CSV, JSON Lines or Label Studio tasks.

use super::exported::{ExportedRow, Source, answers_json};
use super::items::Items;
use super::label_studio;
use crate::output::copied_names;
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Columns row (data rows, counted from 0), the shown columns, label, source and probability; a shown column that
    /// has one of these names is called `kept NAME`
    Csv,
    /// One JSON object per row, with the same fields
    Jsonl,
    /// Label Studio tasks (JSON)
    Labelstudio,
}

impl ExportFormat {
    /// The format that belongs to the extension of a file name; case is ignored.
    pub(super) fn of(path: &Path) -> ExportFormat {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("jsonl" | "ndjson") => ExportFormat::Jsonl,
            Some("json") => ExportFormat::Labelstudio,
            _ => ExportFormat::Csv,
        }
    }
}

/// An existing output that contains only this session's labels and predictions. Replacing the file loses no labels.
#[derive(Debug)]
pub(super) struct Replaceable {
    bytes: Vec<u8>,
}

impl Replaceable {
    /// Reads the file at `path`, which has this format. Returns `None` if the file has a label that is not in `export`
    /// (the text that the session would write now), or has any other line. Predictions may differ, because they depend
    /// on the order in which the model learned the labels.
    pub(super) fn read(path: &Path, format: ExportFormat, export: &[u8]) -> Option<Replaceable> {
        let bytes = std::fs::read(path).ok()?;
        let is_own = kept(&bytes, format).is_subset(&kept(export, format));
        is_own.then_some(Replaceable { bytes })
    }

    /// Whether the file has not changed since it was read.
    pub(super) fn is_unchanged(&self, path: &Path) -> bool {
        std::fs::read(path).is_ok_and(|bytes| bytes == self.bytes)
    }
}

/// The lines of an export that are not predictions: the cells of each line of a CSV file, otherwise each line as a
/// whole, without the comma between JSON tasks.
fn kept(export: &[u8], format: ExportFormat) -> HashSet<Vec<Vec<u8>>> {
    if format == ExportFormat::Csv {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.has_headers(false).flexible(true).from_reader(export);
        let lines = reader.byte_records().map_while(Result::ok);
        let lines: Vec<Vec<Vec<u8>>> =
            lines.map(|line| line.iter().map(<[u8]>::to_vec).collect()).collect();
        let at = lines.first().and_then(|names| names.iter().position(|name| name == b"source"));
        let predicted = Source::Predicted.name().as_bytes();
        let is_predicted = |line: &Vec<Vec<u8>>| {
            at.and_then(|at| line.get(at)).is_some_and(|source| source == predicted)
        };
        return lines.into_iter().filter(|line| !is_predicted(line)).collect();
    }
    let lines = export.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b",").unwrap_or(line));
    let is_predicted = |line: &[u8]| match serde_json::from_slice::<Value>(line) {
        Ok(value) if format == ExportFormat::Labelstudio => label_studio::is_predicted(&value),
        Ok(value) => value.get("source").is_some_and(|name| *name == Source::Predicted.name()),
        Err(_) => false,
    };
    lines.filter(|line| !is_predicted(line)).map(|line| vec![line.to_vec()]).collect()
}

pub(super) fn write(
    out: &mut dyn Write,
    format: ExportFormat,
    rows: &[ExportedRow],
    items: &Items,
) -> io::Result<()> {
    match format {
        ExportFormat::Csv => write_csv(out, rows, items),
        ExportFormat::Jsonl => {
            for exported in rows {
                let shown: Map<String, Value> = items
                    .shown(exported.row)
                    .into_iter()
                    .map(|(name, text)| (name.to_owned(), text.into()))
                    .collect();
                let ExportedRow { row, label, source, probability, answers } = exported;
                let source = source.name();
                let mut value =
                    json!({ "row": row, "label": label, "source": source, "item": shown });
                if let Some(probability) = probability {
                    value["probability"] = json!(probability);
                }
                if !answers.is_empty() {
                    value["answers"] = answers_json(answers);
                }
                writeln!(out, "{value}")?;
            }
            Ok(())
        }
        ExportFormat::Labelstudio => label_studio::write(out, rows, items),
    }
}

fn write_csv(out: &mut dyn Write, rows: &[ExportedRow], items: &Items) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let mut own = ["row", "label", "source", "probability"].map(str::to_owned).to_vec();
    let answers = rows.first().map_or(&[][..], |row| &row.answers);
    own.extend(answers.iter().map(|(name, _)| format!("label by {name}")));
    let shown = copied_names(items.shown_names(), &own);
    writer.write_record(own[..1].iter().chain(&shown).chain(&own[1..]))?;
    for row in rows {
        let probability = row.probability.map(|p| format!("{p:.4}")).unwrap_or_default();
        let mut cells = vec![row.row.to_string()];
        cells.extend(items.shown(row.row).into_iter().map(|(_, text)| text));
        cells.extend([row.label.clone(), row.source.name().to_owned(), probability]);
        cells.extend(row.answers.iter().map(|(_, answer)| answer.clone()));
        writer.write_record(cells)?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_gives_the_format_in_any_case() {
        for (name, format) in [
            ("o.JSON", ExportFormat::Labelstudio),
            ("o.json", ExportFormat::Labelstudio),
            ("o.JsonL", ExportFormat::Jsonl),
            ("o.NDJSON", ExportFormat::Jsonl),
            ("o.CSV", ExportFormat::Csv),
            ("o", ExportFormat::Csv),
        ] {
            assert_eq!(ExportFormat::of(Path::new(name)), format, "{name}");
        }
    }
}
