//! Hashes the cells of rows as they are in the table, and finds rows that differ although their keys are equal.

use crate::event::PoolId;
use crate::keys::{ItemKey, KeyBuilder, NUMBER, STIR, TEXT_END, stir, stir_bytes};
use halfspaces_frame::{Block, Column, Frame, MISSING, Values, short, visible};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The hash of a missing cell.
const MISSING_CELL: u64 = 0x0f0f_aaaa_5555_0005;

/// The cells of all rows of a table and of the table that is shown with it.
///
/// Keys of items ignore differences that depend on how a table is read: `1.10` and `1.1` are the same number. If the
/// column was read as texts, a person sees these rows as different, and their cells differ. In a column of numbers,
/// their cells are equal.
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// use halfspaces_labelling::Cells;
/// let values = Values::texts(vec![0, 1, 0], &["1.10", "1.1"]);
/// let frame = Frame::new("t.csv", vec![Column { name: "x".into(), values }]);
/// let cells = Cells::of(&frame, None);
/// assert_eq!(cells.difference(0, 1).as_deref(), Some("column `x`: `1.10` and `1.1`"));
/// assert_eq!(cells.difference(0, 2), None);
/// ```
#[derive(Debug, Clone)]
pub struct Cells {
    /// The columns of both tables.
    columns: Vec<Column>,
    /// The hash of each row of the table.
    of_table: Vec<ItemKey>,
    /// The hash of each row, computed from both tables.
    of_row: Vec<ItemKey>,
}

impl Cells {
    /// Reads the cells of a table and of a second table, which is only shown.
    ///
    /// # Panics
    /// Panics if the tables have different numbers of rows.
    #[must_use]
    pub fn of(frame: &Frame, shown: Option<&Frame>) -> Cells {
        let mut state = vec![STIR; frame.rows];
        add_table(&mut state, frame);
        let of_table: Vec<ItemKey> = state.iter().copied().map(ItemKey::of_word).collect();
        if let Some(shown) = shown {
            assert_eq!(shown.rows, frame.rows, "the tables have the same rows");
            add_table(&mut state, shown);
        }
        let columns = frame.columns.iter().chain(shown.iter().flat_map(|shown| &shown.columns));
        let of_row = state.into_iter().map(ItemKey::of_word).collect();
        Cells { columns: columns.cloned().collect(), of_table, of_row }
    }

    /// The hash of each row.
    pub(crate) fn rows(&self) -> &[ItemKey] {
        &self.of_row
    }

    /// The hash of each row of the first table.
    pub(crate) fn of_table(&self) -> &[ItemKey] {
        &self.of_table
    }

    /// A hash of the first table.
    pub(crate) fn fingerprint(&self) -> String {
        KeyBuilder::fingerprint(&self.of_table)
    }

    /// The first difference between two rows, with both values; `None` if the rows are exact copies of each other.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[must_use]
    pub fn difference(&self, a: usize, b: usize) -> Option<String> {
        if self.of_row[a] == self.of_row[b] {
            return None;
        }
        let shown = |values: &Values, row: usize| match values.text(row) {
            text if text.is_empty() => "an empty cell".to_owned(),
            text => format!("`{}`", visible(&short(&text))),
        };
        let differing = self.columns.iter().find_map(|Column { name, values }| {
            let found =
                || format!("column `{name}`: {} and {}", shown(values, a), shown(values, b));
            (values.text(a) != values.text(b)).then(found)
        });
        Some(differing.unwrap_or_else(|| "the numbers of the matrix".to_owned()))
    }

    /// The first of these rows that differs from the first row, and the difference.
    pub(crate) fn example(&self, rows: &[usize]) -> Option<(usize, String)> {
        rows.iter().find_map(|row| Some((*row, self.difference(rows[0], *row)?)))
    }

    /// A note on the rows of a new session that a person may see as different, although the keys of their items are
    /// equal; `None` if there are no such rows.
    ///
    /// # Panics
    /// Panics if the pool does not have the same rows.
    #[must_use]
    pub fn look_alikes(&self, pool: &PoolId) -> Option<String> {
        let sets = look_alikes(&pool.items.as_ref()?.keys, &self.of_row);
        let set = sets.first()?;
        let Some((row, how)) = self.example(set) else { unreachable!("two rows of a set differ") };
        let count: usize = sets.iter().map(Vec::len).sum();
        Some(format!(
            "note: {}: {count} rows are read as equal to other rows, but may look different: rows {} and {row} differ in \
             {how}; if they change later, the session may be refused: pass --id COLUMN if the table has unique ids",
            pool.source, set[0]
        ))
    }
}

/// The sets of rows whose keys are equal although their cells differ.
pub(crate) fn look_alikes(keys: &[ItemKey], cells: &[ItemKey]) -> Vec<Vec<usize>> {
    let mut first: HashMap<ItemKey, usize> = HashMap::with_capacity(keys.len());
    let mut differing: HashSet<ItemKey> = HashSet::new();
    for (row, key) in keys.iter().enumerate() {
        let before = *first.entry(*key).or_insert(row);
        if cells[before] != cells[row] {
            differing.insert(*key);
        }
    }
    let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, key) in keys.iter().enumerate().filter(|(_, key)| differing.contains(*key)) {
        sets.entry(first[key]).or_default().push(row);
    }
    sets.into_values().collect()
}

/// Adds the cells of a table to the hashes of its rows. The order of the columns does not matter.
fn add_table(state: &mut [u64], frame: &Frame) {
    let mut columns: Vec<&Column> = frame.columns.iter().collect();
    columns.sort_by(|a, b| a.name.cmp(&b.name));
    for Column { name, values } in columns {
        let name = stir_bytes(0, name.as_bytes());
        let mut add = |row: usize, cell: u64| state[row] = stir(state[row], stir(name, cell));
        match values {
            Values::Numbers(numbers) => {
                numbers.values().iter().enumerate().for_each(|(row, v)| add(row, number(*v)));
            }
            Values::Texts(texts) => {
                let levels: Vec<u64> = texts.levels().map(text).collect();
                for (row, code) in texts.codes().iter().enumerate() {
                    add(row, if *code == MISSING { MISSING_CELL } else { levels[*code as usize] });
                }
            }
            Values::Moments(_) => (0..values.len()).for_each(|row| {
                add(row, text(&values.text(row)));
            }),
        }
    }
    if let Some(block) = &frame.block {
        for (row, state) in state.iter_mut().enumerate() {
            let entries = block.entries(row);
            let count = entries.len() as u64;
            for (column, value) in entries {
                *state = stir(stir(*state, column_number(block, column)), number(value));
            }
            *state = stir(*state, count);
        }
    }
}

/// The number by which a column of a matrix is identified.
pub(crate) fn column_number(block: &Block, column: usize) -> u64 {
    match block {
        Block::Dense { numbers, .. } => u64::from(numbers[column]),
        Block::Sparse(block) => column as u64 + u64::from(block.first()),
    }
}

fn number(value: f64) -> u64 {
    // Adding zero turns -0 into 0.
    if value.is_nan() { MISSING_CELL } else { stir(NUMBER, (value + 0.0).to_bits()) }
}

/// The hash of a text. A text that is exactly the shortest form of a number has the hash of this number, so that it
/// does not matter whether its column was read as numbers or as texts.
fn text(text: &str) -> u64 {
    match text.parse::<f64>() {
        _ if text.is_empty() => MISSING_CELL,
        Ok(value) if value.is_finite() && (value + 0.0).to_string() == text => number(value),
        _ => stir(stir_bytes(0, text.as_bytes()), TEXT_END),
    }
}
