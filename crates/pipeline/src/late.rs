//! Notes on values that occur only in later chunks of a table, although the columns were determined from the first rows.

use halfspaces_frame::{ColumnRecord, ColumnRule, Frame, MissingSearch, Reading, Values};
use std::collections::BTreeMap;

/// The values of a table that is read in chunks, as far as they concern its notes.
#[derive(Debug, Default)]
pub(crate) struct LateValues {
    /// For each column of numbers, the search for a number that marks missing values.
    searches: BTreeMap<String, MissingSearch>,
    /// The columns that are left out because they are constant.
    constant: BTreeMap<String, Constant>,
}

#[derive(Debug, Default)]
struct Constant {
    rule: ColumnRule,
    /// The value of the first row. The inner value is `None` if it is missing.
    first: Option<Option<Value>>,
    /// The origin of the first row with another value.
    differs: Option<String>,
}

#[derive(Debug, PartialEq)]
enum Value {
    Number(f64),
    Text(String),
}

impl LateValues {
    /// Creates the notes on columns of numbers and on the columns that are constant in the first rows. `records` says how
    /// the first rows were read.
    pub(crate) fn new<'n>(
        numbers: impl IntoIterator<Item = &'n str>,
        constant: &[String],
        records: &[ColumnRecord],
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
                constant.add(chunk, &column.values);
            }
        }
    }

    /// The notes on the rows read so far. `size` is the number of first rows, and `notes` are the notes on them.
    pub(crate) fn notes(self, source: &str, size: usize, notes: &[String]) -> Vec<String> {
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
                    "{place}, column `{name}`: its value differs from that of all of the first {size} rows; the column is left \
                     out as constant; shuffle the file, or fit without --stream"
                ));
            }
        }
        late
    }
}

impl Constant {
    fn add(&mut self, chunk: &Frame, values: &Values) {
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
            if code.is_some() && code == last {
                continue;
            }
            last = code;
            let value = self.value(values, row);
            match &self.first {
                None => self.first = Some(value),
                Some(first) if *first == value => {}
                Some(_) => self.differs = Some(chunk.place(row)),
            }
        }
    }

    /// The value of a row by the rule of the column, or `None` if it is missing.
    fn value(&self, values: &Values, row: usize) -> Option<Value> {
        let text = values.text(row);
        if values.is_missing(row) || self.rule.is_missing(&text) {
            return None;
        }
        let number = match &self.rule.reading {
            Reading::Number(format) => format.parse(&text),
            _ => None,
        };
        Some(number.map_or(Value::Text(text), Value::Number))
    }
}
