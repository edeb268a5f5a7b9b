//! Label Studio's JSON: tasks with data, annotations and predictions of kind "choices".

use super::items::Items;
use super::lines::{Line, Source};
use crate::error::CliError;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

/// The key of a row's number in the data of our own tasks.
const ROW: &str = "row";

pub(super) fn write(out: &mut dyn Write, lines: &[Line], items: &Items) -> io::Result<()> {
    writeln!(out, "[")?;
    for (place, line) in lines.iter().enumerate() {
        let mut data = Map::new();
        data.insert(ROW.to_owned(), line.row.into());
        data.extend(
            items.shown(line.row).into_iter().map(|(name, text)| (name.to_owned(), text.into())),
        );
        let choice = json!([{
            "from_name": "label", "to_name": "item", "type": "choices", "value": { "choices": [line.label] },
        }]);
        let mut task =
            json!({ "id": line.row + 1, "data": data, "annotations": [], "predictions": [] });
        if line.source == Source::Predicted {
            task["predictions"] = json!([{ "result": choice, "score": line.probability }]);
        } else {
            task["annotations"] = json!([{ "result": choice }]);
        }
        let comma = if place + 1 < lines.len() { "," } else { "" };
        writeln!(out, "{task}{comma}")?;
    }
    writeln!(out, "]")
}

/// The labels of an export, as (row, class). A task is about the row that its data name, or else whose text or image they
/// hold. Tasks without an annotation are left out.
pub(super) fn read(
    path: &Path,
    rows: usize,
    items: &Items,
) -> Result<Vec<(usize, String)>, CliError> {
    let name = path.display();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| CliError::user(format!("{name}: cannot be read: {error}")))?;
    parse(&text, rows, items).map_err(|why| CliError::user(format!("{name}: {why}")))
}

fn parse(text: &str, rows: usize, items: &Items) -> Result<Vec<(usize, String)>, String> {
    let tasks: Vec<Value> = serde_json::from_str(text)
        .map_err(|error| format!("{error}; export from Label Studio as JSON"))?;
    let mut by_text: Option<HashMap<String, Option<usize>>> = None;
    let mut labels = Vec::new();
    for (number, task) in tasks.iter().enumerate().map(|(n, task)| (n + 1, task)) {
        let at = |why: String| format!("task {number}: {why}");
        let data = task.get("data").and_then(Value::as_object);
        let data = data.ok_or_else(|| {
            at("has no data; export from Label Studio as JSON, not as JSON-MIN".to_owned())
        })?;
        let Some(class) = choice(task).map_err(at)? else { continue };
        let row = match data.get(ROW).and_then(Value::as_u64) {
            Some(row) => usize::try_from(row).ok().filter(|row| *row < rows),
            None => {
                let by_text = by_text.get_or_insert_with(|| rows_by_text(rows, items));
                data.values()
                    .filter_map(Value::as_str)
                    .flat_map(names)
                    .find_map(|text| by_text.get(text).copied().flatten())
            }
        };
        let advice = "its data hold no number `row` and no text or image that one row alone shows (--show, --image)";
        labels.push((row.ok_or_else(|| at(format!("is about no row: {advice}")))?, class));
    }
    Ok(labels)
}

/// The rows by what is shown of them; `None` where two rows show the same.
fn rows_by_text(rows: usize, items: &Items) -> HashMap<String, Option<usize>> {
    let mut found: HashMap<String, Option<usize>> = HashMap::new();
    for row in 0..rows {
        for (_, text) in items.shown(row) {
            let entry = found.entry(text).or_insert(Some(row));
            if *entry != Some(row) {
                *entry = None;
            }
        }
    }
    found
}

/// A text, and what may be the name of a file in it: Label Studio puts folders and a random prefix before those of
/// files that were uploaded.
fn names(text: &str) -> Vec<&str> {
    let path = text.split_once("?d=").map_or(text, |(_, path)| path);
    let file = path.rsplit('/').next().unwrap_or(path);
    let plain = file.split_once('-').map_or(file, |(_, plain)| plain);
    vec![text, path, file, plain]
}

/// The one choice of the last annotation that was not cancelled.
fn choice(task: &Value) -> Result<Option<String>, String> {
    let empty = Vec::new();
    let annotations = task.get("annotations").or_else(|| task.get("completions"));
    let annotations = annotations.and_then(Value::as_array).unwrap_or(&empty);
    let cancelled = |annotation: &&Value| {
        annotation.get("was_cancelled").and_then(Value::as_bool) == Some(true)
    };
    let Some(annotation) = annotations.iter().rfind(|annotation| !cancelled(annotation)) else {
        return Ok(None);
    };
    let results = annotation.get("result").and_then(Value::as_array).unwrap_or(&empty);
    let choices: Vec<&Value> = results
        .iter()
        .filter_map(|result| result.pointer("/value/choices").and_then(Value::as_array))
        .flatten()
        .collect();
    match choices[..] {
        [] => Ok(None),
        [Value::String(class)] => Ok(Some(class.clone())),
        _ => Err("has several choices; one class per row is understood".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Column, Values};

    fn items() -> Items {
        let levels = ["a dog", "a cat", "a dog", "pet/0004.png"].map(str::to_owned).to_vec();
        let values = Values::texts(vec![0, 1, 2, 3], &levels);
        Items::new(vec![Column { name: "text".into(), values }], None, &[])
    }

    fn task(data: &str, choices: &str) -> String {
        format!(
            r#"{{"data":{data},"annotations":[{{"result":[{{"type":"choices","value":{{"choices":{choices}}}}}]}}]}}"#
        )
    }

    #[test]
    fn what_is_written_is_read() {
        let line =
            |row, label: &str, source| Line { row, label: label.into(), source, probability: None };
        let lines = [
            line(0, "dog", Source::Confirmed),
            line(1, "cat \"x\" <b>", Source::Known),
            Line { probability: Some(0.75), ..line(2, "dog", Source::Predicted) },
        ];
        let mut bytes = Vec::new();
        write(&mut bytes, &lines, &items()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let labels = parse(&text, 4, &items()).unwrap();
        assert_eq!(
            labels,
            [(0, "dog".to_owned()), (1, "cat \"x\" <b>".to_owned())],
            "a prediction is no label"
        );
        let mut empty = Vec::new();
        write(&mut empty, &[], &items()).unwrap();
        assert_eq!(parse(std::str::from_utf8(&empty).unwrap(), 4, &items()), Ok(Vec::new()));
    }

    #[test]
    fn tasks_are_found_by_their_text() {
        let cancelled = r#"{"data":{"row":0},"annotations":[{"was_cancelled":true,"result":[]}]}"#;
        let text = format!(
            "[{},{},{cancelled}]",
            task(r#"{"any":"a cat"}"#, r#"["cat"]"#),
            task(r#"{"image":"/data/local-files/?d=pet/0004.png"}"#, r#"["dog"]"#)
        );
        assert_eq!(
            parse(&text, 4, &items()).unwrap(),
            [(1, "cat".to_owned()), (3, "dog".to_owned())]
        );
        for (task, why) in [
            (task(r#"{"text":"a dog"}"#, r#"["dog"]"#), "task 1: is about no row"),
            (task(r#"{"row":4}"#, r#"["dog"]"#), "task 1: is about no row"),
            (task(r#"{"row":1}"#, r#"["dog","cat"]"#), "task 1: has several choices"),
            (r#"{"text":"a dog","label":"dog"}"#.to_owned(), "not as JSON-MIN"),
            ("nothing".to_owned(), "export from Label Studio as JSON"),
        ] {
            let said = parse(&format!("[{task}]"), 4, &items()).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
