//! Which row of the pool a task of Label Studio is about.

use super::images::is_image;
use super::items::Items;
use crate::frame::Column;
use halfspaces_labelling::ItemKey;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::HashMap;

/// The name of a row's number in the data of our own tasks.
pub(super) const ROW: &str = "row";
/// The name of an item's key in the data of our own tasks.
pub(super) const ITEM: &str = "halfspaces_item";

/// Digits of the prefix that Label Studio puts before the name of a file that was uploaded.
const PREFIX_DIGITS: usize = 8;

/// The answer of [`TaskRows::find`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Row(usize),
    /// No row fits all that the task holds.
    Nowhere,
    /// The task holds nothing by which rows are known.
    NoField,
    Several(Vec<usize>),
}

/// A column by its place, and whether its texts are compared as numbers and truths, as the task holds one.
type Compared = (usize, bool);

/// Rows by the texts of some columns.
type RowsByTexts = HashMap<Vec<String>, Vec<usize>>;

/// The rows of a pool by what is shown of them.
#[derive(Debug)]
pub(super) struct TaskRows<'a> {
    items: &'a Items,
    by_key: HashMap<ItemKey, Vec<usize>>,
    by_id: HashMap<String, Vec<usize>>,
    /// By the texts of some of the columns.
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

    /// The row that a task with these data is about. Everything that is shown of a row and that the data hold must agree.
    pub(super) fn find(&self, data: &Map<String, Value>) -> Found {
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
        // A data frame may have made numbers of ids.
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
        let Some(rows) = rows else { return Found::NoField };
        let is_column = |name: &str| self.items.texts().iter().any(|column| column.name == name);
        let number = data.get(ROW).filter(|_| !is_column(ROW)).and_then(Value::as_u64);
        match rows[..] {
            [] => Found::Nowhere,
            [row] => Found::Row(row),
            // Rows that show the same: the number of the row in our own exports tells them apart.
            _ => match number.and_then(|n| rows.iter().find(|row| **row as u64 == n)) {
                Some(row) => Found::Row(*row),
                None => Found::Several(rows),
            },
        }
    }

    /// The rows whose texts agree with all that the data hold of them; `None` if the data hold none.
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

/// A text as it is compared: with the line ends of one system, or as a number or a truth.
fn compared(text: &str, is_typed: bool) -> String {
    let number = text.trim().parse::<f64>().ok().filter(|_| is_typed);
    match number.filter(|value| value.is_finite()) {
        Some(value) => value.to_string(),
        None if is_typed => text.to_lowercase(),
        None => text.replace("\r\n", "\n"),
    }
}

/// The text of a value; `None` of lists and objects.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Rows by the names of their images.
#[derive(Debug, Default)]
struct ImageRows {
    column: Option<String>,
    by_name: HashMap<String, Vec<usize>>,
    /// By the name of the file without folders, as Label Studio writes it after an upload.
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

    /// The rows whose image the data name; `None` if they name none. A field of another name than the column of images
    /// counts only if it is the only one that names an image.
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
        // Files that lie on Label Studio's machine: its folder may begin above ours.
        if let Some((_, path)) = named.split_once("?d=") {
            let path = decoded(path).replace('\\', "/");
            let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
            let mut paths = std::iter::once(path.as_str()).chain(ends);
            return paths.find_map(|end| self.by_name.get(end)).cloned().unwrap_or_default();
        }
        // Files that were uploaded lose their folder and get a prefix.
        let file = decoded(named.rsplit('/').next().unwrap_or(named));
        let plain = file.split_once('-').filter(|(prefix, _)| {
            prefix.len() == PREFIX_DIGITS && prefix.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        let rows = plain.and_then(|(_, plain)| self.by_file.get(&uploaded(plain)));
        rows.cloned().unwrap_or_default()
    }
}

/// The name of a file as Label Studio writes it after an upload: spaces become underscores, other signs are left out.
fn uploaded(file: &str) -> String {
    let keeps = |c: &char| c.is_alphanumeric() || "-_.".contains(*c);
    file.trim().replace(' ', "_").chars().filter(keeps).collect()
}

/// A path in an address, `%20` read as a space.
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
    use crate::frame::Values;
    use serde_json::json;

    fn column(name: &str, texts: &[&str]) -> Column {
        let codes = (0..texts.len() as u32).collect();
        Column { name: name.into(), values: Values::texts(codes, texts) }
    }

    fn find(items: &Items, data: Value) -> Found {
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
            ("pet/a 1.png", Found::Row(0)),
            ("/data/local-files/?d=pet/a%201.png", Found::Row(0)),
            ("/data/local-files/?d=root/pet/a 1.png", Found::Row(0)),
            ("/data/upload/3/0123abcd-a_1.png", Found::Row(0)),
            ("/data/upload/3/0123abcd-b.png", Found::Several(vec![1, 2])),
            ("/data/local-files/?d=other/b.png", Found::Row(2)),
            ("/data/upload/3/0123abcd-deadbeef-c.png", Found::Row(3)),
            ("/data/upload/3/01234567-c.png", Found::Nowhere),
            ("best-b.png", Found::Nowhere),
            ("far/b.png", Found::Nowhere),
        ] {
            assert_eq!(find(&items, json!({ "file": path })), found, "{path}");
            assert_eq!(find(&items, json!({ "picture": path })), found, "{path}");
        }
        let two = json!({ "left": "b.png", "right": "pet/a 1.png" });
        assert_eq!(find(&items, two), Found::NoField);
    }

    #[test]
    fn all_that_is_shown_must_agree() {
        let texts = vec![column("a", &["x", "x", "7"]), column("b", &["1", "2", "3"])];
        let items =
            Items::new(texts, None, &[]).known_by(Vec::new(), Some(column("no", &["p", "q", "r"])));
        for (data, found) in [
            (json!({ "a": "x" }), Found::Several(vec![0, 1])),
            (json!({ "a": "x", "b": "2" }), Found::Row(1)),
            (json!({ "a": "x", "b": 2.0 }), Found::Row(1)),
            (json!({ "a": "07", "b": 3 }), Found::Nowhere),
            (json!({ "a": "x", "b": "3" }), Found::Nowhere),
            (json!({ "a": "x", "no": "q" }), Found::Row(1)),
            (json!({ "a": "7", "no": "q" }), Found::Nowhere),
            (json!({ "no": "r", "c": "x" }), Found::Row(2)),
            (json!({ "c": "x", "row": 1 }), Found::NoField),
            (json!({ "a": "x", "row": 1 }), Found::Row(1)),
            (json!({ "a": "7", "row": 1 }), Found::Row(2)),
        ] {
            assert_eq!(find(&items, data.clone()), found, "{data}");
        }
    }
}
