//! Reads the tasks of an import from a file.

use crate::error::CliError;
use halfspaces_frame::{Frame, Hints, ReadOptions, read_bytes};
use serde_json::Value;
use std::path::Path;

/// Reads the tasks of a file in JSON or JSON Lines, or of a table in any format that a pool can have. Also returns the
/// notes of the table reader.
pub(super) fn read(path: &Path) -> Result<(Vec<Value>, Vec<String>), CliError> {
    let name = path.display();
    let failed = |why: String| CliError::user(format!("{name}: {why}"));
    let bytes = std::fs::read(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let mut notes = Vec::new();
    let tasks = if is_json(path, &bytes) {
        let text = String::from_utf8(bytes).map_err(|error| {
            failed(format!("the file is not in UTF-8 ({error}); save it as JSON in UTF-8"))
        })?;
        array(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(failed)?
    } else {
        // A word such as `None` is kept, because it may be a class.
        let options = ReadOptions { header: Some(true), ..ReadOptions::default() };
        let all = Hints { others_are_texts: true, ..Hints::default() };
        let name = name.to_string();
        let frame = read_bytes(&name, bytes.clone(), &options, &all)?;
        let hints = Hints::verbatim(frame.names().into_iter().map(|name| name.into_owned()));
        let frame = read_bytes(&name, bytes, &options, &hints)?;
        notes.extend(frame.notes.iter().map(|text| format!("note: {text}")));
        table(&frame)
    };
    Ok((tasks, notes))
}

/// Parses a list of tasks, or tasks one after another, as in JSON Lines.
pub(super) fn array(text: &str) -> Result<Vec<Value>, String> {
    let tasks = match text.trim_start().starts_with('{') {
        true => serde_json::Deserializer::from_str(text).into_iter().collect(),
        false => serde_json::from_str(text),
    };
    tasks.map_err(|error| {
        format!("tasks in JSON: {error}; export from Label Studio as JSON, JSON-MIN or CSV")
    })
}

/// Whether a file contains JSON and not a table. The extension of its name decides or, if the extension is another one,
/// the first character of the file.
fn is_json(path: &Path, bytes: &[u8]) -> bool {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("json" | "jsonl" | "ndjson") => true,
        Some("csv" | "tsv" | "txt") => false,
        _ => matches!(bytes.trim_ascii_start().first(), Some(b'[' | b'{')),
    }
}

/// The rows of a table; each of them becomes an object.
pub(super) fn table(frame: &Frame) -> Vec<Value> {
    let value = |cell: String| match serde_json::from_str::<Value>(&cell) {
        // Label Studio writes several choices as JSON in one cell.
        Ok(value) if value.is_object() || value.is_array() => value,
        _ => Value::from(cell),
    };
    let names = frame.names();
    let columns: Vec<_> =
        names.iter().filter_map(|name| Some((name, frame.column(name)?))).collect();
    let object = |row: usize| {
        let cells = columns.iter().map(|(name, of)| ((**name).to_string(), value(of.text(row))));
        Value::Object(cells.collect())
    };
    (0..frame.rows).map(object).collect()
}
