//! Matches Label Studio tasks to rows of the pool.

use super::images::is_image;
use super::items::Items;
use halfspaces_frame::Column;
use halfspaces_labelling::{ItemKey, ShownImages};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

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

    /// Reads the paths of local images from the data of all tasks. Their root folder in Label Studio may contain the
    /// folder of our images.
    pub(super) fn read_paths(&mut self, tasks: &[Map<String, Value>]) {
        self.images.read_paths(tasks.iter());
    }

    /// Notes on the paths of images.
    pub(super) fn notes(&self) -> Vec<String> {
        self.images.notes.clone()
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
        // Only the row number in our own exports refers to this pool.
        let number = data.get(ROW).filter(|_| key.is_some() && !is_column(ROW));
        let number = number.and_then(Value::as_u64);
        match rows[..] {
            [] => RowMatch::None,
            [row] => RowMatch::One(row),
            // Several rows have the same content; the row number distinguishes them.
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

/// The normal form of a text for comparisons, without surrounding blanks, which the reader of the pool removes as well:
/// a number or a lower-case boolean if `is_typed`, otherwise a text with Unix line ends.
fn compared(text: &str, is_typed: bool) -> String {
    let number = text.trim().parse::<f64>().ok().filter(|_| is_typed);
    match number.filter(|value| value.is_finite()) {
        Some(value) => value.to_string(),
        None if is_typed => text.trim().to_lowercase(),
        None => text.trim().replace("\r\n", "\n"),
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
    /// The rows of each file name. The names have no folders and are spelt as Label Studio names uploaded files.
    by_file: HashMap<String, Vec<usize>>,
    /// The folder of the images.
    folder: PathBuf,
    /// The path prefix that Label Studio adds to the image names of local files: empty, or a path with a slash at the
    /// end. `None` if it differs between tasks.
    prefix: Option<String>,
    notes: Vec<String>,
}

impl ImageRows {
    fn new(items: &Items) -> ImageRows {
        let mut rows = ImageRows::default();
        let Some(images) = items.images() else { return rows };
        rows.column = Some(images.column().to_owned());
        rows.folder = images.folder().to_owned();
        rows.prefix = Some(String::new());
        for row in 0..images.rows() {
            let Some(name) = images.name(row) else { continue };
            let name = name.replace('\\', "/");
            let file = uploaded(name.rsplit('/').next().unwrap_or(&name));
            rows.by_file.entry(file).or_default().push(row);
            rows.by_name.entry(name).or_default().push(row);
        }
        rows
    }

    /// The rows whose image is named in the data; `None` if the data name no image.
    fn find(&self, data: &Map<String, Value>) -> Option<Vec<usize>> {
        Some(self.by_path(self.named(data)?))
    }

    /// The name of the image in the data. A field whose name differs from that of the image column is used only if it is
    /// the only field that names an image.
    fn named<'d>(&self, data: &'d Map<String, Value>) -> Option<&'d str> {
        let column = self.column.as_ref()?;
        if let Some(named) = data.get(column).and_then(Value::as_str) {
            return Some(named);
        }
        let mut named = data.values().filter_map(Value::as_str).filter(|v| is_image(v));
        let only = named.next()?;
        named.next().is_none().then_some(only)
    }

    /// Finds the folder that precedes the names of images in the paths of all tasks. It must be the end of the path of
    /// our own folder, because an image in another folder may have the same name.
    fn read_paths<'d>(&mut self, tasks: impl Iterator<Item = &'d Map<String, Value>>) {
        let mut common: Option<Vec<String>> = None;
        let (mut seen, mut elsewhere): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for data in tasks {
            let named = self.named(data).filter(|named| !self.by_name.contains_key(*named));
            let Some(path) = named.and_then(local_path) else { continue };
            let starts = path.match_indices('/').map(|(at, _)| at + 1);
            let starts = std::iter::once(0).chain(starts);
            let of_image: Vec<&str> = starts
                .filter(|at| self.by_name.contains_key(&path[*at..]))
                .map(|at| &path[..at])
                .collect();
            if of_image.is_empty() {
                continue;
            }
            let is_ours = |prefix: &&str| self.folder.ends_with(prefix.trim_end_matches('/'));
            let ours: Vec<String> = of_image
                .into_iter()
                .filter(|prefix| prefix.is_empty() || is_ours(prefix))
                .map(str::to_owned)
                .collect();
            let Some(first) = ours.first() else {
                elsewhere.push(path);
                continue;
            };
            if !seen.contains(first) {
                seen.push(first.clone());
            }
            match &mut common {
                None => common = Some(ours),
                Some(common) => common.retain(|prefix| ours.contains(prefix)),
            }
        }
        self.prefix = common.map_or(Some(String::new()), |common| common.first().cloned());
        match &self.prefix {
            None => self.notes.push(format!(
                "the paths of its images begin with different folders ({}), so it is unknown which images they are; not \
                 imported: write all paths in the same way",
                seen.iter().map(|prefix| format!("`{prefix}`")).collect::<Vec<_>>().join(", ")
            )),
            Some(prefix) if prefix.is_empty() => {}
            Some(prefix) => self.notes.push(format!(
                "`{prefix}` at the beginning of the paths of its images is left out"
            )),
        }
        if let Some(first) = elsewhere.first() {
            self.notes.push(format!(
                "{} of the paths of its images, such as `{first}`, lead to another folder than {}; not imported: if these \
                 are the same images, correct the paths or rename the folder",
                elsewhere.len(),
                self.folder.display()
            ));
        }
    }

    fn by_path(&self, named: &str) -> Vec<usize> {
        if let Some(rows) = self.by_name.get(named) {
            return rows.clone();
        }
        // The name is that of a local file on the machine that runs Label Studio.
        if let Some(path) = local_path(named) {
            let name = self.prefix.as_ref().and_then(|prefix| path.strip_prefix(prefix.as_str()));
            let rows = name.and_then(|name| self.by_name.get(name));
            return rows.cloned().unwrap_or_default();
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

/// The path of a local file in the form that Label Studio gives it; `None` if the name has another form.
fn local_path(named: &str) -> Option<String> {
    let (_, path) = named.split_once("?d=")?;
    Some(decoded(path).replace('\\', "/"))
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
            ("/data/local-files/?d=root/pet/a 1.png", RowMatch::None),
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

    /// The images of another folder have the same names.
    #[test]
    fn the_folder_of_local_files_is_that_of_the_pool() {
        let folder = tempfile::tempdir().unwrap();
        let dogs = folder.path().join("im/dogs");
        std::fs::create_dir_all(&dogs).unwrap();
        let names = ["000.png", "001.png"];
        names.iter().for_each(|name| std::fs::write(dogs.join(name), name).unwrap());
        let images = Images::from_column(&column("file", &names), &dogs, &dogs, |_| String::new());
        let items = Items::new(Vec::new(), Some(images.unwrap()), &[]);
        let found = |paths: &[&str]| {
            let data = |path: &&str| {
                let data = json!({ "image": format!("/data/local-files/?d={path}") });
                data.as_object().unwrap().clone()
            };
            let tasks: Vec<_> = paths.iter().map(data).collect();
            let mut rows = TaskRows::new(&items);
            rows.read_paths(&tasks);
            let found: Vec<_> = tasks.iter().map(|data| rows.find(data)).collect();
            (found, rows.notes().join("; "))
        };
        let both = [RowMatch::One(0), RowMatch::One(1)];
        let (rows, notes) = found(&["000.png", "001.png"]);
        assert!(rows == both && notes.is_empty(), "{notes}");
        for prefix in ["dogs/", "im/dogs/"] {
            let (rows, notes) = found(&[&format!("{prefix}000.png"), &format!("{prefix}001.png")]);
            assert!(rows == both && notes.contains(&format!("`{prefix}` at the")), "{notes}");
        }
        for path in ["cats/001.png", "other/dogs/001.png"] {
            let (rows, notes) = found(&[path, "dogs/000.png"]);
            assert_eq!(rows, [RowMatch::None, RowMatch::One(0)]);
            assert!(
                notes.contains(&format!("such as `{path}`, lead to another folder")),
                "{notes}"
            );
        }
        let (rows, notes) = found(&["dogs/000.png", "im/dogs/001.png"]);
        assert_eq!(rows, [RowMatch::None, RowMatch::None]);
        assert!(notes.contains("different folders (`dogs/`, `im/dogs/`)"), "{notes}");
    }

    #[test]
    fn all_shown_columns_must_agree() {
        let texts = vec![column("a", &["x", "x", "7"]), column("b", &["1", "2", "3"])];
        let own = ItemKey::of_text("x");
        let keys = vec![own, own, ItemKey::of_text("7")];
        let items =
            Items::new(texts, None, &[]).with_keys(keys, Some(column("no", &["p", "q", "r"])));
        for (data, found) in [
            (json!({ "a": "x" }), RowMatch::Several(vec![0, 1])),
            (json!({ "a": "x", "b": "2" }), RowMatch::One(1)),
            (json!({ "a": " x\n", "b": "2 " }), RowMatch::One(1)),
            (json!({ "a": "x", "b": 2.0 }), RowMatch::One(1)),
            (json!({ "a": "07", "b": 3 }), RowMatch::None),
            (json!({ "a": "x", "b": "3" }), RowMatch::None),
            (json!({ "a": "x", "no": "q" }), RowMatch::One(1)),
            (json!({ "a": "7", "no": "q" }), RowMatch::None),
            (json!({ "no": "r", "c": "x" }), RowMatch::One(2)),
            (json!({ "c": "x", "row": 1 }), RowMatch::NoField),
            // Another program may number other rows.
            (json!({ "a": "x", "row": 1 }), RowMatch::Several(vec![0, 1])),
            (json!({ "a": "x", "row": 1, ITEM: own.to_string() }), RowMatch::One(1)),
            (json!({ "a": "7", "row": 1 }), RowMatch::One(2)),
        ] {
            assert_eq!(find(&items, data.clone()), found, "{data}");
        }
    }
}
