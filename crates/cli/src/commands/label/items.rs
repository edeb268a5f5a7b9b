//! The content shown for each row: text columns, an image, or features.

use super::images::Images;
use crate::error::CliError;
use crate::html::levels;
use crate::terminal::grid;
use halfspaces_frame::{Column, Frame, visible};
use halfspaces_labelling::{ItemKey, ShownImages};
use halfspaces_pipeline::{Recipe, TextParts};
use serde::Serialize;
use std::collections::BTreeMap;

/// The name under which the known label of a reviewed row is shown.
const KNOWN: &str = "known label";
/// Maximum number of feature columns shown on the page.
const MAX_FEATURES: usize = 24;
/// Maximum number of feature columns shown in the terminal.
const MAX_ON_LINE: usize = 12;
/// Maximum number of characters shown in the terminal.
const MAX_LINE: usize = 400;
/// Maximum number of characters of the name of a feature in the terminal.
const MAX_NAME: usize = 30;
/// Maximum number of characters in the list of recent answers.
const MAX_SHORT: usize = 60;

#[derive(Debug, Default)]
pub(super) struct Items {
    texts: Vec<Column>,
    images: Option<Images>,
    /// The first feature columns.
    features: Vec<Column>,
    /// The number of all feature columns.
    feature_count: usize,
    /// The column of ids.
    id: Option<Column>,
    keys: Vec<ItemKey>,
    /// The names of the columns of the pool.
    columns: Vec<String>,
    /// The information shown about the rows that are reviewed: the known label, or the answers of the annotators with
    /// their names.
    known: BTreeMap<usize, Vec<(String, String)>>,
    /// The recipe of the features and the text columns of the pool; `None` if the pool has no text column.
    learned: Option<(Recipe, Frame)>,
}

/// The content of a row on the page.
#[derive(Debug, Serialize)]
pub(super) struct Item {
    texts: Vec<Cell>,
    image: bool,
    features: Vec<Cell>,
    more_features: usize,
}

#[derive(Debug, Serialize)]
struct Cell {
    name: String,
    value: String,
    /// The parts of the value with their levels, from -3 (evidence against the predicted class) to 3 (evidence for it);
    /// empty if no word is marked.
    parts: Vec<(String, i8)>,
}

impl Items {
    /// Creates items that show text columns and images, or the features if there are neither.
    pub(super) fn new(texts: Vec<Column>, images: Option<Images>, features: &[Column]) -> Items {
        let is_shown = texts.is_empty() && images.is_none();
        let feature_count = if is_shown { features.len() } else { 0 };
        let features = features.iter().take(feature_count.min(MAX_FEATURES)).cloned().collect();
        Items {
            texts,
            images,
            features,
            feature_count,
            id: None,
            keys: Vec::new(),
            columns: Vec::new(),
            known: BTreeMap::new(),
            learned: None,
        }
    }

    /// Adds the recipe of the features, and the text columns of the pool. Both are needed to mark words.
    pub(super) fn with_recipe(self, recipe: Recipe, pool: &Frame) -> Items {
        let names = recipe.text_columns();
        let is_learned = |column: &&Column| names.contains(&column.name.as_str());
        let columns: Vec<Column> = pool.columns.iter().filter(is_learned).cloned().collect();
        let learned = (!columns.is_empty()).then(|| (recipe, Frame::new("pool", columns)));
        Items { learned, ..self }
    }

    /// Adds the known labels of the rows that are reviewed.
    pub(super) fn with_known(
        self,
        known: &[(usize, String)],
        rows: &BTreeMap<usize, usize>,
    ) -> Items {
        let mut of_rows: BTreeMap<_, _> = rows.keys().map(|row| (*row, Vec::new())).collect();
        let known = known.iter().filter(|(row, _)| rows.contains_key(row));
        of_rows.extend(known.map(|(row, label)| (*row, vec![(KNOWN.to_owned(), label.clone())])));
        self.with_answers(of_rows)
    }

    /// Adds the information shown about the rows that are reviewed: pairs of a name and an answer.
    pub(super) fn with_answers(self, known: BTreeMap<usize, Vec<(String, String)>>) -> Items {
        Items { known, ..self }
    }

    /// Adds the keys of the items and, if there is one, the column of ids.
    pub(super) fn with_keys(self, keys: Vec<ItemKey>, id: Option<Column>) -> Items {
        Items { keys, id, ..self }
    }

    /// Adds the names of the columns of the pool.
    pub(super) fn with_columns(self, columns: Vec<String>) -> Items {
        Items { columns, ..self }
    }

    /// Whether the pool has a column with this name.
    pub(super) fn is_column(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }

    pub(super) fn id(&self) -> Option<&Column> {
        self.id.as_ref()
    }

    /// The exported columns: the column of ids, unless it is shown, and the text columns.
    fn exported(&self) -> impl Iterator<Item = &Column> {
        let is_shown = |id: &&Column| self.texts.iter().any(|column| column.name == id.name);
        self.id.iter().filter(move |id| !is_shown(id)).chain(&self.texts)
    }

    /// The keys of all rows.
    pub(super) fn keys(&self) -> &[ItemKey] {
        &self.keys
    }

    pub(super) fn texts(&self) -> &[Column] {
        &self.texts
    }

    pub(super) fn images(&self) -> Option<&Images> {
        self.images.as_ref()
    }

    /// Whether some rows are reviewed. The number of wrong labels in the whole pool does not matter in a review.
    pub(super) fn is_review(&self) -> bool {
        !self.known.is_empty()
    }

    /// The known label of a row that is reviewed.
    pub(super) fn known_label(&self, row: usize) -> Option<&str> {
        let (name, label) = self.known.get(&row)?.first()?;
        (name == KNOWN).then_some(label.as_str())
    }

    /// The rows that are reviewed.
    pub(super) fn reviewed(&self) -> impl Iterator<Item = usize> {
        self.known.keys().copied()
    }

    /// The content of a row. Its words are marked according to the weights of the row's coordinates.
    pub(super) fn item(&self, row: usize, weights: Option<&[(usize, f64)]>) -> Item {
        let marks = weights.map_or_else(Vec::new, |weights| self.marks(row, weights));
        let cells = |columns: &[Column]| {
            let cell = |column: &Column| {
                let (name, value) = (column.name.clone(), column.values.text(row));
                // A table of --items may have a column of the same name with different texts.
                let is_shown = |text: &&TextParts| text.column == name && text.text == value;
                let parts = marks.iter().find(is_shown).map_or_else(Vec::new, marked_parts);
                Cell { name, value, parts }
            };
            columns.iter().map(cell).collect()
        };
        let known = self.known.get(&row).into_iter().flatten().map(|(name, value)| Cell {
            name: name.clone(),
            value: value.clone(),
            parts: Vec::new(),
        });
        let mut texts: Vec<Cell> = cells(&self.texts);
        texts.splice(0..0, known);
        Item {
            texts,
            image: self.image_name(row).is_some(),
            features: cells(&self.features),
            more_features: self.feature_count - self.features.len(),
        }
    }

    /// The texts of a row from which the model learns, split into parts.
    fn marks(&self, row: usize, weights: &[(usize, f64)]) -> Vec<TextParts> {
        let Some((recipe, pool)) = &self.learned else { return Vec::new() };
        let weight = |_: usize, at: usize| {
            weights.binary_search_by_key(&at, |(at, _)| *at).map_or(0.0, |place| weights[place].1)
        };
        recipe.text_parts(pool, &[row], &weight).into_iter().flatten().collect()
    }

    /// The exported cells of a row with the names of their columns: the id, the text columns and the image.
    pub(super) fn shown(&self, row: usize) -> Vec<(&str, String)> {
        let texts = self.exported().map(|column| (column.name.as_str(), column.values.text(row)));
        let image = self
            .images
            .as_ref()
            .map(|images| (images.column(), images.name(row).unwrap_or_default().to_owned()));
        texts.chain(image).collect()
    }

    /// The names of the columns of [`Items::shown`].
    pub(super) fn shown_names(&self) -> Vec<&str> {
        let texts = self.exported().map(|column| column.name.as_str());
        texts.chain(self.images.as_ref().map(Images::column)).collect()
    }

    /// A row as lines for the terminal: the known label, the texts and the image, then the names and values of the
    /// features, in columns.
    pub(super) fn lines(&self, row: usize, width: usize) -> Vec<String> {
        let line = |text: String| format!("  {}", visible(&plain(&text, MAX_LINE)));
        let known = self.known.get(&row).into_iter().flatten();
        let mut lines: Vec<String> =
            known.map(|(name, label)| line(format!("{name}: {label}"))).collect();
        match &self.texts[..] {
            [only] => lines.push(line(only.values.text(row))),
            several => {
                lines
                    .extend(several.iter().map(|c| line(format!("{}: {}", c.name, shown(c, row)))));
            }
        }
        lines.extend(self.image_name(row).map(|name| line(name.to_owned())));
        let features = self.features.iter().take(MAX_ON_LINE);
        let cell = |text: &str, most: usize| visible(&plain(text, most));
        let pair = |c: &Column| (cell(&c.name, MAX_NAME), cell(&shown(c, row), MAX_SHORT));
        lines.extend(grid(&features.map(pair).collect::<Vec<_>>(), width));
        if self.feature_count > MAX_ON_LINE {
            lines.push(format!("  … and {} more columns", self.feature_count - MAX_ON_LINE));
        }
        lines
    }

    /// A row as one line for the terminal.
    pub(super) fn line(&self, row: usize) -> String {
        let mut parts: Vec<String> = match &self.texts[..] {
            [only] => vec![only.values.text(row)],
            several => several.iter().map(|c| format!("{}: {}", c.name, shown(c, row))).collect(),
        };
        parts.extend(self.image_name(row).map(str::to_owned));
        let features = self.features.iter().take(MAX_ON_LINE);
        parts.extend(features.map(|c| format!("{} {}", c.name, shown(c, row))));
        let known = self.known.get(&row).into_iter().flatten();
        parts.splice(0..0, known.map(|(name, label)| format!("{name}: {label}")));
        let mut line = plain(&parts.join(", "), MAX_LINE);
        if self.feature_count > MAX_ON_LINE {
            line.push_str(", …");
        }
        line
    }

    /// The beginning of a row's text, or the name of its image, or its first features.
    pub(super) fn short(&self, row: usize) -> String {
        let text = self.texts.first().map(|column| column.values.text(row));
        let text = text.or_else(|| self.image_name(row).map(str::to_owned));
        plain(&text.unwrap_or_else(|| self.line(row)), MAX_SHORT)
    }

    pub(super) fn has_images(&self) -> bool {
        self.images.is_some()
    }

    /// The MIME type and the bytes of a row's image.
    pub(super) fn image(&self, row: usize) -> Result<(&'static str, Vec<u8>), CliError> {
        let none = || CliError::user(format!("row {row} has no image"));
        self.images.as_ref().ok_or_else(none)?.read(row)
    }

    /// The MIME type and the bytes of a small version of a row's image.
    pub(super) fn thumbnail(&self, row: usize) -> Result<(&'static str, Vec<u8>), CliError> {
        let none = || CliError::user(format!("row {row} has no image"));
        self.images.as_ref().ok_or_else(none)?.thumbnail(row)
    }

    fn image_name(&self, row: usize) -> Option<&str> {
        self.images.as_ref().and_then(|images| images.name(row))
    }
}

/// The parts of a text with their levels. Returns an empty list if no word is marked.
fn marked_parts(text: &TextParts) -> Vec<(String, i8)> {
    let levels = levels(text);
    if levels.iter().all(|level| *level == 0) {
        return Vec::new();
    }
    let parts = text.parts.iter().map(|(range, _)| text.text[range.clone()].to_owned());
    parts.zip(levels).collect()
}

/// The text of a cell, or `(missing)`.
fn shown(column: &Column, row: usize) -> String {
    if column.values.is_missing(row) { "(missing)".to_owned() } else { column.values.text(row) }
}

/// The first `max` characters, with control characters replaced by spaces.
fn plain(text: &str, max: usize) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let mut line: String = text.chars().take(max).map(visible).collect();
    if text.chars().nth(max).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_frame::Values;
    use halfspaces_pipeline::RecipeOptions;

    fn texts(name: &str, levels: &[&str]) -> Column {
        let codes = (0..levels.len() as u32).collect();
        Column { name: name.into(), values: Values::texts(codes, levels) }
    }

    fn numbers(name: &str, values: &[f64]) -> Column {
        Column { name: name.into(), values: Values::numbers(values.to_vec()) }
    }

    /// Words are marked according to the weights of their coordinates, but only if the shown text is the text from
    /// which the model learned.
    #[test]
    fn only_words_of_the_learned_text_are_marked() {
        let said = ["red apple", "green apple", "red pear"];
        let pool = Frame::new("pool", vec![texts("said", &said)]);
        let text = vec!["said".to_owned()];
        let options = RecipeOptions { text, ..RecipeOptions::default() };
        let (recipe, _) = Recipe::fit(&pool, &options).unwrap();
        let red = recipe.coordinates().iter().position(|name| name.ends_with("red")).unwrap();
        let weights = [(red, -2.0)];
        let items = |shown: &[&str]| Items::new(vec![texts("said", shown)], None, &[]);
        let shown = items(&said).with_recipe(recipe.clone(), &pool);
        let parts = |items: &Items, row| items.item(row, Some(&weights)).texts[0].parts.clone();
        let expected = [("red", -3), (" ", 0), ("apple", 0)].map(|(word, n)| (word.to_owned(), n));
        assert_eq!(parts(&shown, 0), expected);
        assert_eq!(parts(&shown, 1), []);
        assert_eq!(shown.item(0, None).texts[0].parts, []);
        let other = items(&["red wine", "x", "y"]).with_recipe(recipe, &pool);
        assert_eq!(parts(&other, 0), []);
    }

    #[test]
    fn texts_are_shown_or_else_features() {
        let features: Vec<Column> =
            (0..30).map(|j| numbers(&format!("x{j}"), &[f64::from(j), 0.5])).collect();
        let items = Items::new(vec![texts("text", &["one\u{1b}[31m two\n", "b"])], None, &features);
        assert_eq!(items.line(0), "one [31m two ");
        assert_eq!(items.item(1, None).features.len(), 0);
        assert_eq!(items.shown(1), [("text", "b".to_owned())]);
        assert_eq!(items.lines(0, 80), ["  one [31m two "]);
        // Characters that change the direction of writing are escaped.
        let turned = Items::new(vec![texts("text", &["a\u{202e}b"])], None, &[]);
        assert_eq!(turned.lines(0, 80), [r"  a\u{202e}b"]);
        let turned = Items::new(Vec::new(), None, &[texts("n\u{202e}", &["a\u{202e}b"])]);
        assert_eq!(turned.lines(0, 80), [r"  n\u{202e}  a\u{202e}b"]);
        let items = Items::new(Vec::new(), None, &features);
        let lines = items.lines(0, 40);
        assert_eq!(lines[0], "  x0  0    x1  1    x2    2    x3    3");
        assert_eq!(lines[3..], ["  … and 18 more columns"]);
        assert!(items.line(0).starts_with("x0 0, x1 1, ") && items.line(0).ends_with("x11 11, …"));
        assert_eq!(
            (items.item(0, None).features.len(), items.item(0, None).more_features),
            (24, 6)
        );
        assert_eq!(plain("abcdef", 3), "abc…");
        // The known label of a row that is reviewed comes first; it is not exported.
        let known = [(0, "cat".to_owned()), (1, "dog".to_owned())];
        let items = items.with_known(&known, &[(1, 0)].into());
        assert!(items.is_review() && items.line(0).starts_with("x0 0, "));
        assert!(items.line(1).starts_with("known label: dog, x0 0.5, "));
        assert_eq!(items.lines(1, 80)[0], "  known label: dog");
        assert_eq!((items.item(0, None).texts.len(), items.item(1, None).texts.len()), (0, 1));
        assert_eq!(items.shown(1), []);
    }
}
