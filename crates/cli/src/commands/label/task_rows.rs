//! Matches Label Studio tasks to rows of the pool.

use super::images::is_image;
use super::items::Items;
use halfspaces_frame::Column;
use halfspaces_labelling::{ItemKey, ShownImages};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::HashMap;

/// The field for the row number in tasks that this program writes.
pub(super) const ROW: &str = "row";
/// The field for the item's key in tasks that this program writes.
pub(super) const ITEM: &str = "halfspaces_item";

/// Number of digits in the prefix that Label Studio adds to the names of uploaded files.
const PREFIX_DIGITS: usize = 8;

/// The result of [`TaskRows::find`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RowMatch {
    One(usize),
    /// No row agrees with all fields of the task.
    None,
    /// The task has no field that identifies rows.
    NoField,
    /// Several rows agree with the task.
    Several(Vec<usize>),
}

/// The index of a column, and whether the task contains a number or a boolean in it. If so, the values of the column
/// are compared as numbers or booleans.
type Compared = (usize, bool);

/// Rows, indexed by the text of certain columns.
type RowsByTexts = HashMap<Vec<String>, Vec<usize>>;

/// An index of the rows of a pool by their keys, ids, texts and images.
#[derive(Debug)]
pub(super) struct TaskRows<'a> {
    items: &'a Items,
    by_key: HashMap<ItemKey, Vec<usize>>,
    by_id: HashMap<String, Vec<usize>>,
    /// Indexes by the texts of some columns, created when a task first needs them.
    by_texts: RefCell<HashMap<Vec<Compared>, RowsByTexts>>,
    images: ImageRows,
}

impl<'a> TaskRows<'a> {
    pub(super) fn new(items: &'a Items) -> TaskRows<'a> {
        let mut by_key: HashMap<ItemKey, Vec<usize>> = HashMap::new();
        for (row, key) in items.keys().iter().enumerate() {
            by_key.entry(*key).or_default().push(row);
        }
        let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
        if let Some(column) = items.id() {
            for row in 0..column.values.len() {
                by_id.entry(column.values.text(row)).or_default().push(row);
            }
        }
        let images = ImageRows::new(items);
        TaskRows { items, by_key, by_id, by_texts: RefCell::default(), images }
    }

    /// The row that a task with these data is about. The row must agree with the data in every shown column that the
    /// data contain.
    pub(super) fn find(&self, data: &Map<String, Value>) -> RowMatch {
        let mut rows: Option<Vec<usize>> = None;
        let mut narrow = |fitting: &[usize]| match &mut rows {
            Some(rows) => rows.retain(|row| fitting.binary_search(row).is_ok()),
            None => rows = Some(fitting.to_vec()),
        };
        let key = data.get(ITEM).and_then(Value::as_str).and_then(ItemKey::from_hex);
        if let Some(key) = key.filter(|_| !self.by_key.is_empty()) {
            narrow(self.by_key.get(&key).map_or(&[], Vec::as_slice));
        }
        let id = self.items.id().and_then(|column| text(data.get(&column.name)?));
        // A data frame may have converted the ids to floating-point numbers.
        let id = id.map(|id| match id.strip_suffix(".0") {
            Some(whole) if !self.by_id.contains_key(&id) => whole.to_owned(),
            _ => id,
        });
        if let Some(id) = id {
            narrow(self.by_id.get(&id).map_or(&[], Vec::as_slice));
        }
        if let Some(fitting) = self.by_shown_texts(data) {
            narrow(&fitting);
        }
        if let Some(fitting) = self.images.find(data) {
            narrow(&fitting);
        }
        let Some(rows) = rows else { return RowMatch::NoField };
        let is_column = |name: &str| self.items.texts().iter().any(|column| column.name == name);
        let number = data.get(ROW).filter(|_| !is_column(ROW)).and_then(Value::as_u64);
        match rows[..] {
            [] => RowMatch::None,
            [row] => RowMatch::One(row),
            // Several rows have the same content; the row number in our own exports distinguishes them.
            _ => match number.and_then(|n| rows.iter().find(|row| **row as u64 == n)) {
                Some(row) => RowMatch::One(*row),
                None => RowMatch::Several(rows),
            },
        }
    }

    /// The rows whose text columns agree with the data; `None` if the data contain none of these columns.
    fn by_shown_texts(&self, data: &Map<String, Value>) -> Option<Vec<usize>> {
        let value = |column: &Column| data.get(&column.name).filter(|value| text(value).is_some());
        let columns: Vec<(Compared, &Column, String)> = (self.items.texts().iter().enumerate())
            .filter_map(|(place, column)| {
                let value = value(column)?;
                let is_typed = value.is_number() || value.is_boolean();
                Some(((place, is_typed), column, compared(&text(value)?, is_typed)))
            })
            .collect();
        if columns.is_empty() {
            return None;
        }
        let places: Vec<Compared> = columns.iter().map(|(place, ..)| *place).collect();
        let wanted: Vec<String> = columns.iter().map(|(.., wanted)| wanted.clone()).collect();
        let mut by_texts = self.by_texts.borrow_mut();
        let index = by_texts.entry(places).or_insert_with(|| {
            let mut index = RowsByTexts::new();
            let rows = columns[0].1.values.len();
            for row in 0..rows {
                let text = |(place, column, _): &(Compared, &Column, String)| {
                    compared(&column.values.text(row), place.1)
                };
                index.entry(columns.iter().map(text).collect()).or_default().push(row);
            }
            index
        });
        Some(index.get(&wanted).cloned().unwrap_or_default())
    }
}

/// The normal form of a text for comparisons: with Unix line ends or, if `is_typed`, as a number or a lower-case
/// boolean.
fn compared(text: &str, is_typed: bool) -> String {
    let number = text.trim().parse::<f64>().ok().filter(|_| is_typed);
    match number.filter(|value| value.is_finite()) {
        Some(value) => value.to_string(),
        None if is_typed => text.to_lowercase(),
        None => text.replace("\r\n", "\n"),
    }
}

/// The text of a value; `None` for arrays and objects.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// An index of rows by the names of their images.
#[derive(Debug, Default)]
struct ImageRows {
    column: Option<String>,
    by_name: HashMap<String, Vec<usize>>,
    /// The rows by file name without folders, in the form of the names that Label Studio gives to uploaded files.
    by_file: HashMap<String, Vec<usize>>,
}

impl ImageRows {
    fn new(items: &Items) -> ImageRows {
        let mut rows = ImageRows::default();
        let Some(images) = items.images() else { return rows };
        rows.column = Some(images.column().to_owned());
        for row in 0..images.rows() {
            let Some(name) = images.name(row) else { continue };
            let name = name.replace('\\', "/");
            let file = uploaded(name.rsplit('/').next().unwrap_or(&name));
            rows.by_file.entry(file).or_default().push(row);
            rows.by_name.entry(name).or_default().push(row);
        }
        rows
    }

    /// The rows whose image is named in the data; `None` if the data name no image. A field whose name differs from
    /// that of the image column is used only if it is the only field that names an image.
    fn find(&self, data: &Map<String, Value>) -> Option<Vec<usize>> {
        let column = self.column.as_ref()?;
        let named = match data.get(column).and_then(Value::as_str) {
            Some(named) => named,
            None => {
                let mut named = data.values().filter_map(Value::as_str).filter(|v| is_image(v));
                let only = named.next()?;
                if named.next().is_some() {
                    return None;
                }
                only
            }
        };
        Some(self.by_path(named))
    }

    fn by_path(&self, named: &str) -> Vec<usize> {
        if let Some(rows) = self.by_name.get(named) {
            return rows.clone();
        }
        // The name is that of a local file on the machine that runs Label Studio. The root folder of Label Studio may
        // contain ours.
        if let Some((_, path)) = named.split_once("?d=") {
            let path = decoded(path).replace('\\', "/");
            let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
            let mut paths = std::iter::once(path.as_str()).chain(ends);
            return paths.find_map(|end| self.by_name.get(end)).cloned().unwrap_or_default();
        }
        // Label Studio removes the folder of an uploaded file and adds a prefix to its name.
        let file = decoded(named.rsplit('/').next().unwrap_or(named));
        let plain = file.split_once('-').filter(|(prefix, _)| {
            prefix.len() == PREFIX_DIGITS && prefix.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        let rows = plain.and_then(|(_, plain)| self.by_file.get(&uploaded(plain)));
        rows.cloned().unwrap_or_default()
    }
}

/// The name of a file after an upload to Label Studio: spaces become underscores, and other special characters are
/// removed.
fn uploaded(file: &str) -> String {
    let keeps = |c: &char| c.is_alphanumeric() || "-_.".contains(*c);
    file.trim().replace(' ', "_").chars().filter(keeps).collect()
}

/// Decodes percent-encoding in a path.
fn decoded(path: &str) -> String {
    let bytes = path.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                decoded.push(byte);
                at += 3;
            }
            _ => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::label::images::Images;
    use halfspaces_frame::Values;
    use serde_json::json;

    fn column(name: &str, texts: &[&str]) -> Column {
        let codes = (0..texts.len() as u32).collect();
        Column { name: name.into(), values: Values::texts(codes, texts) }
    }

    fn find(items: &Items, data: Value) -> RowMatch {
        TaskRows::new(items).find(data.as_object().unwrap())
    }

    #[test]
    fn images_are_found_by_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["pet/a 1.png", "b.png", "other/b.png", "deadbeef-c.png"];
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let images =
            Images::from_column(&column("file", &names), folder.path(), folder.path(), |_| {
                String::new()
            });
        let items = Items::new(Vec::new(), Some(images.unwrap()), &[]);
        for (path, found) in [
            ("pet/a 1.png", RowMatch::One(0)),
            ("/data/local-files/?d=pet/a%201.png", RowMatch::One(0)),
            ("/data/local-files/?d=root/pet/a 1.png", RowMatch::One(0)),
            ("/data/upload/3/0123abcd-a_1.png", RowMatch::One(0)),
            ("/data/upload/3/0123abcd-b.png", RowMatch::Several(vec![1, 2])),
            ("/data/local-files/?d=other/b.png", RowMatch::One(2)),
            ("/data/upload/3/0123abcd-deadbeef-c.png", RowMatch::One(3)),
            ("/data/upload/3/01234567-c.png", RowMatch::None),
            ("best-b.png", RowMatch::None),
            ("far/b.png", RowMatch::None),
        ] {
            assert_eq!(find(&items, json!({ "file": path })), found, "{path}");
            assert_eq!(find(&items, json!({ "picture": path })), found, "{path}");
        }
        let two = json!({ "left": "b.png", "right": "pet/a 1.png" });
        assert_eq!(find(&items, two), RowMatch::NoField);
    }

    #[test]
    fn all_shown_columns_must_agree() {
        let texts = vec![column("a", &["x", "x", "7"]), column("b", &["1", "2", "3"])];
        let items = Items::new(texts, None, &[])
            .with_keys(Vec::new(), Some(column("no", &["p", "q", "r"])));
        for (data, found) in [
            (json!({ "a": "x" }), RowMatch::Several(vec![0, 1])),
            (json!({ "a": "x", "b": "2" }), RowMatch::One(1)),
            (json!({ "a": "x", "b": 2.0 }), RowMatch::One(1)),
            (json!({ "a": "07", "b": 3 }), RowMatch::None),
            (json!({ "a": "x", "b": "3" }), RowMatch::None),
            (json!({ "a": "x", "no": "q" }), RowMatch::One(1)),
            (json!({ "a": "7", "no": "q" }), RowMatch::None),
            (json!({ "no": "r", "c": "x" }), RowMatch::One(2)),
            (json!({ "c": "x", "row": 1 }), RowMatch::NoField),
            (json!({ "a": "x", "row": 1 }), RowMatch::One(1)),
            (json!({ "a": "7", "row": 1 }), RowMatch::One(2)),
        ] {
            assert_eq!(find(&items, data.clone()), found, "{data}");
        }
    }
}
