//! Computes the identity of a pool from its table and from the content that is shown with its rows.

use crate::cells::{Cells, column_number, look_alikes};
use crate::event::{CellIds, ItemIds, ItemSpec, PoolId};
use crate::keys::{ItemKey, KeyBuilder};
use halfspaces_frame::{Block, Column, DataError, DateOrder, Frame, MISSING, Reading, Values};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The keys and the second keys of all rows. The list of second keys may be empty.
type Keys = (Vec<ItemKey>, Vec<ItemKey>);

/// The images that are shown with the rows of a pool.
pub trait ShownImages {
    /// A hash of the content of each row's image; `None` for a row without an image.
    ///
    /// # Errors
    /// Returns an error if an image cannot be read.
    fn contents(&self) -> Result<Vec<Option<String>>, DataError>;

    /// The file name of a row's image, as given.
    fn name(&self, row: usize) -> Option<&str>;
}

/// The tables and images from which the keys of items are computed.
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// use halfspaces_labelling::{ItemSource, ItemSpec};
/// let column = Column { name: "x".into(), values: Values::numbers(vec![1.0, 2.5, 1.0]) };
/// let frame = Frame::new("t.csv", vec![column]);
/// let source = ItemSource { frame: &frame, shown: None, images: None, cells: None };
/// let by = ItemSpec { columns: vec!["x".into()], ..ItemSpec::default() };
/// let keys = source.identify(by, None, None)?.items.expect("a new pool has keys").keys;
/// assert!(keys[0] == keys[2] && keys[0] != keys[1]);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Clone, Copy)]
pub struct ItemSource<'a> {
    /// The table.
    pub frame: &'a Frame,
    /// A second table, which is only shown.
    pub shown: Option<&'a Frame>,
    /// The images that are shown.
    pub images: Option<&'a dyn ShownImages>,
    /// The cells of both tables as they are in the files; `None` if `frame` and `shown` have not been changed since they
    /// were read.
    pub cells: Option<&'a Cells>,
}

impl std::fmt::Debug for ItemSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = (&self.frame.source, self.shown.map(|shown| &shown.source));
        f.debug_tuple("ItemSource").field(&names).field(&self.images.is_some()).finish()
    }
}

impl ItemSource<'_> {
    /// Computes the identity of the pool. `before` is the pool in the previous run of the session.
    ///
    /// # Errors
    /// Returns an error if a column by which items are identified is missing, an image cannot be read, or an id is
    /// missing or repeated.
    pub fn identify(
        &self,
        spec: ItemSpec,
        id: Option<&Column>,
        before: Option<&PoolId>,
    ) -> Result<PoolId, DataError> {
        let source = &self.frame.source;
        let old = before.and_then(|pool| Some((pool, pool.items.as_ref()?)));
        let mut keys = KeyBuilder::new(self.frame.rows);
        let missing = self.add_columns(&mut keys, &spec);
        let matrix = self.frame.block.as_ref();
        match (&spec.matrix_without, matrix) {
            (Some(without), Some(matrix)) => add_matrix(&mut keys, matrix, without),
            (Some(_), None) => {
                return Err(DataError::user(format!(
                    "{source}: the session identifies its items by the numbers of a matrix, but this table has no such \
                     numbers; pass the same kind of file, or another file with --session"
                )));
            }
            (None, _) => {}
        }
        // The keys of a matrix that is not part of the contents.
        let mut of_table = keys.clone();
        if let (None, Some(matrix)) = (&spec.matrix_without, matrix) {
            add_matrix(&mut of_table, matrix, &[]);
        }
        let of_table = of_table.finish();
        let read: Cells;
        let cells = match self.cells {
            Some(cells) => cells,
            None => {
                read = Cells::of(self.frame, self.shown);
                &read
            }
        };
        let mut table = String::new();
        let contents = match missing {
            Some(name) if id.is_none() => {
                return Err(DataError::user(format!(
                    "{source}: the table has no column `{name}`, by which the session identifies its items; restore \
                     the column, or pass another file with --session"
                )));
            }
            Some(_) => None,
            None => {
                table = KeyBuilder::fingerprint(&of_table);
                self.add_shown(keys, &spec)?
            }
        };
        let matrix = matrix.filter(|_| spec.matrix_without.is_some());
        let columns = spec.columns.len() + matrix.map_or(0, Block::dim);
        let (keys, contents) = match (id, contents) {
            (Some(id), contents) => (self.ids(id)?, contents.map_or(Vec::new(), |(keys, _)| keys)),
            (None, Some(keys)) => keys,
            // Nothing is shown in this run. If the table is unchanged, the keys of the previous run still apply.
            (None, None) => match old {
                Some((pool, items)) if items.table == table => {
                    self.check_table(items, cells, &of_table)?;
                    return Ok(pool.clone());
                }
                Some((_, items)) if items.cells.is_none() && self.is_partial(items) => {
                    return Err(self.is_unknown());
                }
                _ => {
                    return Err(DataError::user(format!(
                        "{source}: the rows have changed, and the session identifies its items also by the texts or \
                         images shown with them; pass the same --items and --image, or another file with --session"
                    )));
                }
            },
        };
        let rows = if id.is_none() { cells.rows().to_vec() } else { Vec::new() };
        let dates = self.dates(&spec);
        let cells = CellIds { table: cells.fingerprint(), rows, dates };
        let cells = Some(Box::new(cells));
        let items = ItemIds { by: spec, table, keys, contents, cells };
        Ok(PoolId::new(source, columns, items))
    }

    /// The order of day and month in each column of dates.
    fn dates(&self, spec: &ItemSpec) -> BTreeMap<String, DateOrder> {
        let by_name = self.columns_by_name();
        let order = |name: &String| match by_name.get(name.as_str())? {
            Values::Moments(_) => match self.frame.record(name)?.rule.reading {
                Reading::Date(format) => Some((name.clone(), format.order)),
                _ => None,
            },
            Values::Numbers(_) | Values::Texts(_) => None,
        };
        spec.columns.iter().filter_map(order).collect()
    }

    /// Checks that no row of the table can have been exchanged with another one, although the keys `of_table` are the
    /// same as in the previous run.
    fn check_table(
        &self,
        items: &ItemIds,
        cells: &Cells,
        of_table: &[ItemKey],
    ) -> Result<(), DataError> {
        match &items.cells {
            Some(before) if before.table == cells.fingerprint() => return Ok(()),
            None if self.is_partial(items) => return Err(self.is_unknown()),
            _ => {}
        }
        let alike = look_alikes(of_table, cells.of_table()).into_iter().next();
        let Some(rows) = alike else { return Ok(()) };
        let Some((row, differing)) = cells.example(&rows) else {
            unreachable!("two rows of a set differ")
        };
        Err(DataError::user(format!(
            "{}: the table has changed, and rows {} and {row} may have been exchanged, because they are read as equal \
             but differ in {differing}; pass the same --items and --image, or another file with --session",
            self.frame.source, rows[0]
        )))
    }

    /// Whether [`ItemIds::table`] of an earlier version does not depend on all of this table's contents.
    fn is_partial(&self, items: &ItemIds) -> bool {
        let is_matrix_left_out = self.frame.block.is_some() && items.by.matrix_without.is_none();
        items.by.columns.is_empty() || is_matrix_left_out
    }

    /// The error for a session of an earlier version that does not contain the identity of its table.
    fn is_unknown(&self) -> DataError {
        DataError::user(format!(
            "{}: an earlier version wrote the session, which identifies its items by the texts or images shown with \
             them; it is unknown whether these are the same rows: pass the same --items and --image, or another file \
             with --session",
            self.frame.source
        ))
    }

    /// The columns outside of the block. A search for each name would take quadratic time.
    fn columns_by_name(&self) -> HashMap<&str, &Values> {
        self.frame.columns.iter().map(|column| (column.name.as_str(), &column.values)).collect()
    }

    /// Adds the columns of the table to the keys; returns the first missing column, if any.
    fn add_columns<'s>(&self, keys: &mut KeyBuilder, spec: &'s ItemSpec) -> Option<&'s str> {
        let by_name = self.columns_by_name();
        let in_block = |name| self.frame.block.as_ref().and_then(|_| self.frame.column(name));
        for name in &spec.columns {
            let values = by_name.get(name.as_str()).map(|values| Cow::Borrowed(*values));
            match values.or_else(|| in_block(name)) {
                Some(values) => add(keys, &values),
                None if self.frame.is_sparse() => keys.numbers(&vec![0.0; self.frame.rows]),
                None => return Some(name),
            }
        }
        None
    }

    /// Adds the content shown with the rows; returns `None` if some of this content is missing in this run. If there
    /// are images, each row gets a second key. It does not depend on the file name, unless several images have the same
    /// content.
    fn add_shown(&self, mut keys: KeyBuilder, spec: &ItemSpec) -> Result<Option<Keys>, DataError> {
        for name in &spec.shown {
            let values = self.shown.and_then(|shown| shown.column(name));
            let Some(values) = values else { return Ok(None) };
            add(&mut keys, &values);
        }
        if !spec.images {
            return Ok(Some((keys.finish(), Vec::new())));
        }
        let Some(images) = self.images else { return Ok(None) };
        let contents = images.contents()?;
        let mut copies: HashMap<&str, usize> = HashMap::new();
        contents.iter().flatten().for_each(|content| *copies.entry(content).or_default() += 1);
        let (mut named, mut unnamed) = (Vec::new(), Vec::new());
        for (row, content) in contents.iter().enumerate() {
            let content = content.as_deref().unwrap_or_default();
            let name = format!("{content} {}", images.name(row).unwrap_or_default());
            let is_unique = copies.get(content) == Some(&1);
            unnamed.push(if is_unique { content.to_owned() } else { name.clone() });
            named.push(name);
        }
        let of_row = contents.iter().enumerate().map(|(row, text)| text.as_ref().map(|_| row));
        let of_row: Vec<Option<usize>> = of_row.collect();
        let mut without_names = keys.clone();
        keys.texts(&named, &of_row);
        without_names.texts(&unnamed, &of_row);
        Ok(Some((keys.finish(), without_names.finish())))
    }

    /// The keys that are computed from ids. All ids must be present and unique.
    fn ids(&self, column: &Column) -> Result<Vec<ItemKey>, DataError> {
        let name = &column.name;
        let from = self.shown.filter(|shown| shown.has(name)).unwrap_or(self.frame);
        let mut first: HashMap<String, usize> = HashMap::with_capacity(column.values.len());
        let mut keys = Vec::with_capacity(column.values.len());
        for row in 0..column.values.len() {
            if column.values.is_missing(row) {
                let place = from.place(row);
                return Err(DataError::user(format!(
                    "{place}, column `{name}`: the id is missing; --id needs an id in every row"
                )));
            }
            let text = column.values.text(row);
            keys.push(ItemKey::of_text(&text));
            if let Some(before) = first.insert(text.clone(), row) {
                let place = from.place(row);
                return Err(DataError::user(format!(
                    "{place}, column `{name}`: the id {text:?} is already used at {}; --id needs unique ids",
                    from.place(before)
                )));
            }
        }
        Ok(keys)
    }
}

/// Adds the entries of a matrix to the keys, except for the columns `without`.
fn add_matrix(keys: &mut KeyBuilder, matrix: &Block, without: &[String]) {
    let left_out: HashSet<usize> = without.iter().filter_map(|name| matrix.place(name)).collect();
    for row in 0..matrix.rows() {
        let mut entries = matrix.entries(row);
        entries.retain(|(column, _)| !left_out.contains(column));
        let entries = entries.into_iter();
        keys.entries(row, entries.map(|(column, value)| (column_number(matrix, column), value)));
    }
}

fn add(keys: &mut KeyBuilder, values: &Values) {
    match values {
        Values::Numbers(numbers) => keys.numbers(numbers.values()),
        Values::Texts(texts) => {
            let levels: Vec<&str> = texts.levels().collect();
            let level = |code: &u32| (*code != MISSING).then_some(*code as usize);
            keys.texts(&levels, &texts.codes().iter().map(level).collect::<Vec<_>>());
        }
        Values::Moments(_) => {
            let texts: Vec<String> = (0..values.len()).map(|row| values.text(row)).collect();
            let levels: Vec<&str> = texts.iter().map(String::as_str).collect();
            let of_row = (0..values.len()).map(|row| (!values.is_missing(row)).then_some(row));
            keys.texts(&levels, &of_row.collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_frame::SparseBlock;
    use halfspaces_linalg::SparsePoints;

    fn frame(name: &str, number: f64, code: u32) -> Frame {
        let columns = vec![
            Column { name: name.into(), values: Values::numbers(vec![number, 1.0]) },
            Column { name: "c".into(), values: Values::texts(vec![code, 0], &["", "a"]) },
        ];
        Frame::new("t.csv", columns)
    }

    #[test]
    fn items_are_identified_by_their_content() {
        let by = |columns: &[&str]| {
            let columns = columns.iter().map(|name| (*name).to_owned()).collect();
            ItemSpec { columns, ..ItemSpec::default() }
        };
        let keys = |frame: &Frame, columns: &[&str]| {
            let sources = ItemSource { frame, shown: None, images: None, cells: None };
            sources.identify(by(columns), None, None).unwrap().items.unwrap().keys
        };
        let one = keys(&frame("x", 0.5, 1), &["x", "c"]);
        assert_eq!(keys(&frame("x", 0.5, 1), &["x", "c"]), one);
        for other in [frame("x", 0.25, 1), frame("x", 0.5, 0), frame("x", 0.5, MISSING)] {
            let other = keys(&other, &["x", "c"]);
            assert!(other[0] != one[0] && other[1] == one[1]);
        }
        let error =
            ItemSource { frame: &frame("x", 0.5, 1), shown: None, images: None, cells: None }
                .identify(by(&["y"]), None, None)
                .unwrap_err();
        assert!(error.to_string().contains("no column `y`"), "{error}");
    }

    /// The keys distinguish the rows of a matrix and are the same for a dense and a sparse matrix.
    #[test]
    fn rows_of_a_matrix_are_identified_by_their_numbers() {
        let of_block = |block: Block| Frame {
            rows: block.rows(),
            block: Some(block),
            ..Frame::new("m", vec![])
        };
        let dense = |values: &[f64]| of_block(Block::dense("x", values.to_vec(), vec![0, 1, 2]));
        let keys = |frame: &Frame, without: &[&str]| {
            let without = without.iter().map(|name| (*name).to_owned()).collect();
            let by = ItemSpec { matrix_without: Some(without), ..ItemSpec::default() };
            let id = ItemSource { frame, shown: None, images: None, cells: None }
                .identify(by, None, None)
                .unwrap();
            assert_eq!(id.columns, 3);
            id.items.unwrap().keys
        };
        let one = keys(&dense(&[0.0, 2.0, 0.0, 2.0, 0.0, 3.0]), &[]);
        assert_ne!(one[0], one[1]);
        // The cases: the same number in another column, another number, a missing number, and an additional number.
        for row in [[2.0, 0.0, 0.0], [0.0, 2.5, 0.0], [0.0, f64::NAN, 0.0], [0.0, 2.0, 1.0]] {
            let other = keys(&dense(&[&row[..], &[2.0, 0.0, 3.0]].concat()), &[]);
            assert!(other[0] != one[0] && other[1] == one[1], "{row:?}");
        }
        let points =
            SparsePoints::new(vec![0, 1, 3], vec![1, 0, 2], vec![2.0, 2.0, 3.0], 3).unwrap();
        let sparse = of_block(Block::Sparse(SparseBlock::new(points, "x", 0)));
        assert_eq!(keys(&sparse, &[]), one);
        // A column of labels is not part of the contents.
        let without = keys(&dense(&[0.0, 2.0, 7.0, 2.0, 0.0, 8.0]), &["x2"]);
        assert_eq!(without, keys(&dense(&[0.0, 2.0, 0.0, 2.0, 0.0, 9.0]), &["x2"]));
        let by = ItemSpec { matrix_without: Some(vec![]), ..ItemSpec::default() };
        let table = frame("x", 0.5, 1);
        let source = ItemSource { frame: &table, shown: None, images: None, cells: None };
        assert!(source.identify(by, None, None).unwrap_err().to_string().contains("a matrix"));
    }

    /// A session whose items are identified by shown texts is resumed without them only for the same matrix.
    #[test]
    fn a_matrix_without_its_texts_must_be_the_same() {
        let matrix = |values: &[f64]| {
            let block = Block::dense("x", values.to_vec(), vec![0, 1]);
            Frame { rows: block.rows(), block: Some(block), ..Frame::new("m", vec![]) }
        };
        let texts = Values::texts(vec![0, 1, 2], &["p", "q", "r"]);
        let shown = Frame::new("t.csv", vec![Column { name: "t".into(), values: texts }]);
        let first = matrix(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let by = ItemSpec { shown: vec!["t".into()], ..ItemSpec::default() };
        let source = |frame| ItemSource { frame, shown: None, images: None, cells: None };
        let with = ItemSource { shown: Some(&shown), ..source(&first) };
        let before = with.identify(by.clone(), None, None).unwrap();
        let resumed = |frame, before| source(frame).identify(by.clone(), None, Some(before));
        assert_eq!(resumed(&first, &before).unwrap(), before);
        let turned = matrix(&[5.0, 6.0, 3.0, 4.0, 1.0, 2.0]);
        let why = resumed(&turned, &before).unwrap_err().to_string();
        assert!(why.contains("the rows have changed") && why.contains("--items"), "{why}");
        // Files of earlier versions do not contain the identity of the matrix.
        let mut old = before.clone();
        if let Some(items) = &mut old.items {
            items.cells = None;
            items.table = KeyBuilder::fingerprint(&KeyBuilder::new(3).finish());
        }
        for frame in [&first, &turned] {
            let why = resumed(frame, &old).unwrap_err().to_string();
            assert!(why.contains("pass the same --items and --image"), "{why}");
        }
    }

    /// Rows that differ only in the form of their cells may have been exchanged.
    #[test]
    fn a_table_without_its_texts_must_have_the_same_cells() {
        let table = |levels: &[&str]| {
            let values = Values::texts(vec![0, 1, 2], levels);
            Frame::new("t.csv", vec![Column { name: "x".into(), values }])
        };
        let shown = table(&["p", "q", "r"]);
        let by =
            ItemSpec { columns: vec!["x".into()], shown: vec!["x".into()], ..ItemSpec::default() };
        let source = |frame| ItemSource { frame, shown: None, images: None, cells: None };
        let first = table(&["1.10", "1.1", "a"]);
        let with = ItemSource { shown: Some(&shown), ..source(&first) };
        let before = with.identify(by.clone(), None, None).unwrap();
        let resumed = |frame| source(frame).identify(by.clone(), None, Some(&before));
        assert_eq!(resumed(&first).unwrap(), before);
        let turned = table(&["1.1", "1.10", "a"]);
        let why = resumed(&turned).unwrap_err().to_string();
        assert!(why.contains("rows 0 and 1 may have been exchanged"), "{why}");
        assert!(why.contains("column `x`: `1.1` and `1.10`"), "{why}");
        // All keys of this table are different, so no rows can have been exchanged.
        let unique = table(&["1.10", "2", "a"]);
        let with = ItemSource { shown: Some(&shown), ..source(&unique) };
        let before = with.identify(by.clone(), None, None).unwrap();
        let other = table(&["1.1", "2.0", "a"]);
        assert_eq!(source(&other).identify(by, None, Some(&before)).unwrap(), before);
    }
}
