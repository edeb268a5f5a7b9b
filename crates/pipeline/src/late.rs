//! Notes on values that occur only in later chunks of a table, although the columns were determined from the first rows.

use halfspaces_frame::{ColumnRecord, ColumnRule, Frame, MissingSearch, Reading, Values};
use std::collections::BTreeMap;

/// The information on the values of a table read in chunks that is needed for its notes.
#[derive(Debug, Default)]
pub(crate) struct LateValues {
    /// For each column of numbers, the search for a number that marks missing values.
    searches: BTreeMap<String, MissingSearch>,
    /// The columns that are left out because they are constant.
    constant: BTreeMap<String, Constant>,
    /// The number of first rows, from which the columns were determined.
    size: usize,
    /// The number of rows read so far.
    rows: usize,
}

#[derive(Debug, Default)]
struct Constant {
    rule: ColumnRule,
    /// The majority value of the first rows, or `None` if this value is missing, and its lead in the majority vote.
    /// Some of the first rows are held out and may have other values.
    most: Option<Value>,
    votes: usize,
    /// The place of the first row after these that has another value.
    differs: Option<String>,
}

#[derive(Debug, PartialEq)]
enum Value {
    Number(f64),
    Moment(i64),
    Text(String),
}

impl LateValues {
    /// Starts to track the columns of numbers and the columns that are constant in the first `size` rows. `records`
    /// says how these rows were read.
    pub(crate) fn new<'n>(
        numbers: impl IntoIterator<Item = &'n str>,
        constant: &[String],
        records: &[ColumnRecord],
        size: usize,
    ) -> LateValues {
        let rule = |name: &String| {
            let record = records.iter().find(|record| record.name == *name);
            record.map_or_else(ColumnRule::default, |record| record.rule.clone())
        };
        let column =
            |name: &String| (name.clone(), Constant { rule: rule(name), ..Constant::default() });
        LateValues {
            searches: numbers
                .into_iter()
                .map(|name| (name.to_owned(), Default::default()))
                .collect(),
            constant: constant.iter().map(column).collect(),
            size,
            rows: 0,
        }
    }

    /// Adds the next rows.
    pub(crate) fn add(&mut self, chunk: &Frame) {
        for column in &chunk.columns {
            if let Values::Numbers(numbers) = &column.values
                && let Some(search) = self.searches.get_mut(&column.name)
            {
                search.add(numbers.values().iter().copied());
            }
            if let Some(constant) = self.constant.get_mut(&column.name) {
                constant.add(chunk, &column.values, self.size.saturating_sub(self.rows));
            }
        }
        self.rows += chunk.rows;
    }

    /// The notes on the rows read so far. `notes` are the notes on the first rows.
    pub(crate) fn notes(self, source: &str, notes: &[String]) -> Vec<String> {
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
                     constant; shuffle the file, or fit without --stream",
                    self.size
                ));
            }
        }
        late
    }
}

impl Constant {
    /// Adds the next rows, of which `first` are among the first rows of the table.
    fn add(&mut self, chunk: &Frame, values: &Values, first: usize) {
        // A column that is not used is read as texts, so most rows have the same code as the row before.
        let mut last = None;
        for row in 0..chunk.rows {
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
