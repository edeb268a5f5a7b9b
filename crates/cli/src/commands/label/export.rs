//! Labels as a file for other programs.

use super::items::Items;
use super::label_studio;
use super::lines::Line;
use clap::ValueEnum;
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
