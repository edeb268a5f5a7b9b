//! Computes the identity of a pool from its table and from the content that is shown with its rows.

use crate::event::{ItemIds, ItemSpec, PoolId};
use crate::keys::{ItemKey, KeyBuilder};
use halfspaces_frame::{Block, Column, DataError, Frame, MISSING, Values};
use std::collections::{HashMap, HashSet};

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
/// let source = ItemSource { frame: &frame, shown: None, images: None };
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
        if let Some(without) = &spec.matrix_without {
            let Some(matrix) = &self.frame.block else {
                return Err(DataError::user(format!(
                    "{source}: the session identifies its items by the numbers of a matrix, but this table has no such \
                    numbers; pass the same kind of file, or another file with --session"
                )));
            };
            let left_out: HashSet<usize> =
                without.iter().filter_map(|name| matrix.place(name)).collect();
            let name = |column: usize| match matrix {
                Block::Dense { numbers, .. } => u64::from(numbers[column]),
                Block::Sparse(block) => column as u64 + u64::from(block.first()),
            };
            for row in 0..matrix.rows() {
                let mut entries = matrix.entries(row);
                entries.retain(|(column, _)| !left_out.contains(column));
                keys.entries(row, entries.into_iter().map(|(column, v)| (name(column), v)));
            }
        }
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
                table = KeyBuilder::fingerprint(&keys.clone().finish());
                self.add_shown(keys, &spec)?
            }
        };
        let matrix = self.frame.block.as_ref().filter(|_| spec.matrix_without.is_some());
        let columns = spec.columns.len() + matrix.map_or(0, Block::dim);
        let (keys, contents) = match (id, contents) {
            (Some(id), contents) => (self.ids(id)?, contents.map_or(Vec::new(), |(keys, _)| keys)),
            (None, Some(keys)) => keys,
            // Nothing is shown in this run. If the table is unchanged, the keys of the previous run still apply.
            (None, None) => match old {
                Some((pool, items)) if items.table == table => return Ok(pool.clone()),
                _ => {
                    return Err(DataError::user(format!(
                        "{source}: the rows have changed, and the session identifies its items also by the texts or \
                         images shown with them; pass the same --items and --image, or another file with --session"
                    )));
                }
            },
        };
        let items = ItemIds { by: spec, table, keys, contents };
        Ok(PoolId::new(source, columns, items))
    }

    /// Adds the columns of the table to the keys; returns the first missing column, if any.
    fn add_columns<'s>(&self, keys: &mut KeyBuilder, spec: &'s ItemSpec) -> Option<&'s str> {
        for name in &spec.columns {
            match self.frame.column(name) {
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
            let sources = ItemSource { frame, shown: None, images: None };
            sources.identify(by(columns), None, None).unwrap().items.unwrap().keys
        };
        let one = keys(&frame("x", 0.5, 1), &["x", "c"]);
        assert_eq!(keys(&frame("x", 0.5, 1), &["x", "c"]), one);
        for other in [frame("x", 0.25, 1), frame("x", 0.5, 0), frame("x", 0.5, MISSING)] {
            let other = keys(&other, &["x", "c"]);
            assert!(other[0] != one[0] && other[1] == one[1]);
        }
        let error = ItemSource { frame: &frame("x", 0.5, 1), shown: None, images: None }
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
            let id =
                ItemSource { frame, shown: None, images: None }.identify(by, None, None).unwrap();
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
        let source = ItemSource { frame: &table, shown: None, images: None };
        assert!(source.identify(by, None, None).unwrap_err().to_string().contains("a matrix"));
    }
}
