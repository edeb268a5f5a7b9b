//! Notes on values that occur only in later chunks of a table, although the columns were determined from the first rows.

use crate::recipe::Recipe;
use halfspaces_frame::{
    Block, ColumnRecord, ColumnRule, Frame, MissingSearch, Reading, SparseBlock, Values,
};
use halfspaces_linalg::{PointSet, RowView};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The information on the values of a table read in chunks that is needed for its notes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LateValues {
    /// For each column of numbers, the search for a number that marks missing values.
    searches: BTreeMap<String, MissingSearch>,
    /// The columns that are left out because they are constant.
    constant: BTreeMap<String, Constant>,
    /// For each column of numbers or dates without missing values in the training rows among the first rows, the first
    /// later row with a missing value, and the number of such rows.
    complete: BTreeMap<String, (Option<String>, u64)>,
    entries: LateEntries,
    /// The number of first rows, from which the columns were determined.
    size: usize,
    /// The number of rows read so far.
    rows: usize,
}

/// Columns of a sparse table that the recipe leaves out because they do not occur in the first rows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct LateEntries {
    /// Whether the recipe has the column with this number, or the user dropped the column. The list is empty if the
    /// recipe has no such columns.
    known: Vec<bool>,
    /// For each other column in the first rows, its first value, the number of rows in which it occurs, and whether it
    /// has only this value.
    first: HashMap<u32, (f64, usize, bool)>,
    /// The other columns in later rows, and the first of them with its row.
    late: HashSet<u32>,
    example: Option<(String, String)>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Constant {
    rule: ColumnRule,
    /// The majority value of the first rows, or `None` if this value is missing, and its lead in the majority vote.
    /// Some of the first rows are held out and may have other values.
    most: Option<Value>,
    votes: usize,
    /// Whether the majority value is known, because all first rows have been read.
    is_settled: bool,
    /// The place of the first row after these that has another value.
    differs: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Value {
    Number(f64),
    Moment(i64),
    Text(String),
}

impl LateValues {
    /// Starts to track the columns of a recipe that was fitted to training rows among the first `size` rows. `records`
    /// says how these rows were read, and `dropped` are the columns that the user dropped.
    pub(crate) fn new(
        recipe: &Recipe,
        records: &[ColumnRecord],
        dropped: &[String],
        size: usize,
    ) -> LateValues {
        let rule = |name: &String| {
            let record = records.iter().find(|record| record.name == *name);
            record.map_or_else(ColumnRule::default, |record| record.rule.clone())
        };
        let column =
            |name: &String| (name.clone(), Constant { rule: rule(name), ..Constant::default() });
        let mut numbers = recipe.entries.clone();
        if !numbers.is_empty() {
            numbers.extend(dropped.iter().filter_map(|name| recipe.entry_number(name)));
        }
        let mut known = vec![false; numbers.iter().max().map_or(0, |last| *last as usize + 1)];
        numbers.into_iter().for_each(|number| known[number as usize] = true);
        let searched = recipe.number_columns().map(|name| (name.to_owned(), Default::default()));
        let complete = recipe.complete_columns().map(|name| (name.to_owned(), (None, 0)));
        LateValues {
            searches: searched.collect(),
            constant: recipe.constant().iter().map(column).collect(),
            complete: complete.collect(),
            entries: LateEntries { known, ..LateEntries::default() },
            size,
            rows: 0,
        }
    }

    /// Starts to track a part of the table that begins at row `first`. This value must have tracked the first rows,
    /// and nothing else; it knows the values of the constant columns.
    pub(crate) fn at(&self, first: usize) -> LateValues {
        let mut part = self.clone();
        part.searches.values_mut().for_each(|search| *search = MissingSearch::default());
        part.constant.values_mut().for_each(|constant| constant.is_settled = true);
        part.rows = first;
        part
    }

    /// Adds the result for the part that follows.
    pub(crate) fn merge(&mut self, later: LateValues) {
        for (name, search) in later.searches {
            self.searches.entry(name).or_default().merge(search);
        }
        for (name, constant) in later.constant {
            let known = self.constant.entry(name).or_default();
            known.differs = known.differs.take().or(constant.differs);
        }
        for (name, (place, count)) in later.complete {
            let known = self.complete.entry(name).or_default();
            *known = (known.0.take().or(place), known.1 + count);
        }
        self.rows = later.rows;
    }

    /// Adds the next rows.
    pub(crate) fn add(&mut self, chunk: &Frame) {
        let first = self.size.saturating_sub(self.rows).min(chunk.rows);
        if let Some(Block::Sparse(block)) = &chunk.block
            && !self.entries.known.is_empty()
        {
            self.entries.add(chunk, block, first, self.size);
        }
        for column in &chunk.columns {
            if let Some((place, count)) = self.complete.get_mut(&column.name) {
                let missing = (first..chunk.rows).filter(|row| column.values.is_missing(*row));
                let rows: Vec<usize> = missing.collect();
                *count += rows.len() as u64;
                if let (None, Some(row)) = (&place, rows.first()) {
                    *place = Some(chunk.place(*row));
                }
            }
            if let Values::Numbers(numbers) = &column.values
                && let Some(search) = self.searches.get_mut(&column.name)
            {
                search.add(numbers.values().iter().copied());
            }
            if let Some(constant) = self.constant.get_mut(&column.name) {
                constant.add(chunk, &column.values, first);
            }
        }
        self.rows += chunk.rows;
    }

    /// The notes on the rows read so far. `notes` are the notes on the first rows, and `advice` says what to do about
    /// values that occur only in later rows.
    pub(crate) fn notes(self, source: &str, notes: &[String], advice: &str) -> Vec<String> {
        let mut late = Vec::new();
        for (name, search) in self.searches {
            let about = format!("{source}, column `{name}`: ");
            if let Some(note) = search.note() {
                let of_first =
                    format!("{about}{} is in ", note.split(' ').next().unwrap_or_default());
                if !notes.iter().any(|known| known.starts_with(&of_first)) {
                    late.push(about + &note);
                }
            }
        }
        for (name, constant) in self.constant {
            if let Some(place) = constant.differs {
                late.push(format!(
                    "{place}, column `{name}`: its value differs from that of the first {} rows; the column is left out as \
                     constant; {advice}",
                    self.size
                ));
            }
        }
        for (name, (place, count)) in self.complete {
            if let Some(place) = place {
                late.push(format!(
                    "{place}, column `{name}`: its values are missing in {count} rows, but in none of the training rows among the \
                     first {} rows; they are replaced by the median; {advice}",
                    self.size
                ));
            }
        }
        late.extend(self.entries.note(self.size, advice));
        late
    }
}

impl LateEntries {
    /// Adds the next rows, of which `first` are among the first `size` rows of the table.
    fn add(&mut self, chunk: &Frame, block: &SparseBlock, first: usize, size: usize) {
        for (row, x) in block.points().rows().enumerate() {
            for (column, value) in x.entries() {
                let number = column as u32 + block.first();
                if self.known.get(number as usize).copied().unwrap_or_default() {
                    continue;
                }
                if row < first {
                    let (one, rows, is_same) = self.first.entry(number).or_insert((value, 0, true));
                    *rows += 1;
                    *is_same &= (*one - value).abs() <= 0.0;
                    continue;
                }
                let is_constant = self.first.get(&number).is_some_and(|(one, rows, is_same)| {
                    *is_same && *rows == size && (one - value).abs() <= 0.0
                });
                if !is_constant && self.late.insert(number) {
                    let name = || format!("{}{number}", block.prefix());
                    self.example.get_or_insert_with(|| (chunk.place(row), name()));
                }
            }
        }
    }

    fn note(self, size: usize, advice: &str) -> Option<String> {
        let (place, name) = self.example?;
        let others = match self.late.len() - 1 {
            0 => String::new(),
            1 => ", like one other column".to_owned(),
            others => format!(", like {others} other columns"),
        };
        Some(format!(
            "{place}, column `{name}`: it does not occur, or has one value, in the training rows among the first {size} rows, so it \
             is left out{others}; {advice}"
        ))
    }
}

impl Constant {
    /// Adds the next rows, of which `first` are among the first rows of the table.
    fn add(&mut self, chunk: &Frame, values: &Values, first: usize) {
        // A column that is not used is read as texts, so most rows have the same code as the row before.
        let mut last = None;
        for row in if self.is_settled { first } else { 0 }..chunk.rows {
            if self.differs.is_some() {
                return;
            }
            let code = match values {
                Values::Texts(texts) => Some(texts.codes()[row]),
                _ => None,
            };
            if row >= first && code.is_some() && code == last {
                continue;
            }
            last = code;
            let value = self.value(values, row);
            match (row < first, value == self.most) {
                (true, true) => self.votes += 1,
                (true, false) if self.votes == 0 => (self.most, self.votes) = (value, 1),
                (true, false) => self.votes -= 1,
                (false, true) => {}
                (false, false) => self.differs = Some(chunk.place(row)),
            }
        }
    }

    /// The value of a row, read by the rule of the column, or `None` if it is missing.
    fn value(&self, values: &Values, row: usize) -> Option<Value> {
        let text = values.text(row);
        if values.is_missing(row) || self.rule.is_missing(&text) {
            return None;
        }
        Some(match &self.rule.reading {
            Reading::Number(format) => format.parse(&text).map_or(Value::Text(text), Value::Number),
            Reading::Date(format) => format.parse(&text).map_or(Value::Text(text), Value::Moment),
            Reading::Boolean => Value::Text(text.to_lowercase()),
            Reading::Text => Value::Text(text),
        })
    }
}
