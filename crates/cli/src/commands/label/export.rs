//! Writes labels as CSV, JSON Lines or Label Studio tasks.

use super::exported::{ExportedRow, answers_json};
use super::items::Items;
use super::label_studio;
use crate::output::copied_name;
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
    /// The format for the extension of a file name; upper and lower case are not distinguished.
    pub(super) fn of(path: &Path) -> ExportFormat {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("jsonl" | "ndjson") => ExportFormat::Jsonl,
            Some("json") => ExportFormat::Labelstudio,
            _ => ExportFormat::Csv,
        }
    }
}

/// An existing output that contains only lines with this session's labels. Nothing is lost if it is replaced.
#[derive(Debug)]
pub(super) struct Replaceable {
    bytes: Vec<u8>,
}

impl Replaceable {
    /// Reads the file at `path`. Returns `None` if it has a line that is not in `export`, the text that the session
    /// would write now. Commas between JSON tasks are ignored.
    pub(super) fn read(path: &Path, export: &[u8]) -> Option<Replaceable> {
        let bytes = std::fs::read(path).ok()?;
        let lines = |of: &'_ [u8]| -> HashSet<Vec<u8>> {
            let lines = of.split(|byte| *byte == b'\n');
            lines.map(|line| line.strip_suffix(b",").unwrap_or(line).to_vec()).collect()
        };
        lines(&bytes).is_subset(&lines(export)).then_some(Replaceable { bytes })
    }

    /// Whether the file has not changed since it was read.
    pub(super) fn is_unchanged(&self, path: &Path) -> bool {
        std::fs::read(path).is_ok_and(|bytes| bytes == self.bytes)
    }
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
    let shown: Vec<String> =
        items.shown_names().into_iter().map(|name| copied_name(name, &own)).collect();
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
