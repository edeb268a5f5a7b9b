//! A table in memory: columns of numbers or of texts, with where each row came from.

use crate::error::CliError;
use crate::names::suggestion;

/// The code of a missing text.
pub(crate) const MISSING: u32 = u32::MAX;

/// A table: named columns of the same length.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    /// The columns, in the order of the file.
    pub(crate) columns: Vec<Column>,
    /// Number of rows.
    pub(crate) rows: usize,
    /// The file, for messages.
    pub(crate) source: String,
    /// Where each row came from.
    pub(crate) places: Places,
    /// Whether a column that is not there holds zeros, as in LIBSVM files.
    pub(crate) sparse: bool,
    /// What whoever uses a column must know, by its name.
    pub(crate) remarks: Vec<(String, Remark)>,
}

/// What is to be said of a column, if it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Remark {
    /// The file has it, but values of its type are not read: it is none of the frame's columns.
    Unread {
        /// The type.
        kind: String,
    },
    /// An integer of more digits than a number holds, the first, was rounded.
    Rounded {
        /// Its row.
        row: usize,
        /// It.
        cell: String,
    },
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: String,
    /// One value per row.
    pub(crate) values: Values,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// Finite numbers; NaN where one is missing.
    Numbers(Vec<f64>),
    /// Texts, each as its place in `levels`, in order of appearance; [`MISSING`] where one is missing.
    Texts {
        /// One code per row.
        codes: Vec<u32>,
        /// The different texts.
        levels: Vec<String>,
    },
}

impl Values {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Values::Numbers(values) => values.len(),
            Values::Texts { codes, .. } => codes.len(),
        }
    }

    /// The text of a row as the file has it, or the number's shortest form; empty where missing.
    pub(crate) fn text(&self, row: usize) -> String {
        match self {
            Values::Numbers(values) if values[row].is_nan() => String::new(),
            Values::Numbers(values) => values[row].to_string(),
            Values::Texts { codes, levels } if codes[row] != MISSING => {
                levels[codes[row] as usize].clone()
            }
            Values::Texts { .. } => String::new(),
        }
    }

    /// Whether a row has no value.
    pub(crate) fn is_missing(&self, row: usize) -> bool {
        match self {
            Values::Numbers(values) => values[row].is_nan(),
            Values::Texts { codes, .. } => codes[row] == MISSING,
        }
    }

    fn select(&self, rows: &[usize]) -> Values {
        match self {
            Values::Numbers(values) => Values::Numbers(rows.iter().map(|i| values[*i]).collect()),
            Values::Texts { codes, levels } => Values::Texts {
                codes: rows.iter().map(|i| codes[*i]).collect(),
                levels: levels.clone(),
            },
        }
    }
}

/// Where rows came from: what they are called, and their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// "line" or "row".
    unit: &'static str,
    numbers: Numbers,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Numbers {
    /// One after the other from this one.
    From(u64),
    List(Vec<u64>),
}

impl Places {
    /// Rows counted from 1, of a file without lines.
    pub(crate) fn rows() -> Places {
        Places { unit: "row", numbers: Numbers::From(1) }
    }

    /// The lines of a text file at which rows begin.
    pub(crate) fn lines(lines: Vec<u64>) -> Places {
        let first = lines.first().copied().unwrap_or(1);
        let consecutive = lines.iter().zip(first..).all(|(line, expected)| *line == expected);
        let numbers = if consecutive { Numbers::From(first) } else { Numbers::List(lines) };
        Places { unit: "line", numbers }
    }

    fn number(&self, row: usize) -> u64 {
        match &self.numbers {
            Numbers::From(first) => first + row as u64,
            Numbers::List(list) => list[row],
        }
    }

    fn select(&self, rows: &[usize]) -> Places {
        let list = rows.iter().map(|row| self.number(*row)).collect();
        Places { unit: self.unit, numbers: Numbers::List(list) }
    }
}

impl Frame {
    /// A column by its name.
    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Removes a column and hands it out.
    pub(crate) fn take(&mut self, name: &str) -> Result<Column, CliError> {
        match self.columns.iter().position(|column| column.name == name) {
            Some(at) => Ok(self.columns.remove(at)),
            None => Err(self.no_column(name)),
        }
    }

    /// What is to be said of a column.
    pub(crate) fn remark(&self, name: &str) -> Option<&Remark> {
        self.remarks.iter().find(|(column, _)| column == name).map(|(_, remark)| remark)
    }

    /// There is no such column, with the nearest that are; or it is one that is not read.
    pub(crate) fn no_column(&self, name: &str) -> CliError {
        if let Some(Remark::Unread { kind }) = self.remark(name) {
            return CliError::user(format!(
                "{}, column `{name}`: values of type {kind} are not read; convert it, or leave it out by --drop '{name}'",
                self.source
            ));
        }
        let hint = suggestion(name, &self.names());
        CliError::user(format!("{}: there is no column `{name}`{hint}", self.source))
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// The rows at `rows`, in that order.
    pub(crate) fn select_rows(&self, rows: &[usize]) -> Frame {
        let column = |c: &Column| Column { name: c.name.clone(), values: c.values.select(rows) };
        Frame {
            columns: self.columns.iter().map(column).collect(),
            rows: rows.len(),
            source: self.source.clone(),
            places: self.places.select(rows),
            sparse: self.sparse,
            remarks: self.remarks.clone(),
        }
    }

    /// "data.csv, line 7": where a row came from.
    pub(crate) fn place(&self, row: usize) -> String {
        format!("{}, {} {}", self.source, self.places.unit, self.places.number(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_places() {
        let texts =
            Values::Texts { codes: vec![0, MISSING, 1], levels: vec!["a".into(), "b".into()] };
        let frame = Frame {
            columns: vec![
                Column { name: "x".into(), values: Values::Numbers(vec![1.0, 2.5, f64::NAN]) },
                Column { name: "c".into(), values: texts },
            ],
            rows: 3,
            source: "t.csv".into(),
            places: Places::lines(vec![2, 3, 5]),
            sparse: false,
            remarks: Vec::new(),
        };
        let part = frame.select_rows(&[2, 1]);
        assert_eq!(
            (part.place(0), part.place(1)),
            ("t.csv, line 5".into(), "t.csv, line 3".into())
        );
        assert_eq!(
            (part.columns[0].values.text(0), part.columns[1].values.text(0)),
            (String::new(), "b".into())
        );
        assert_eq!(
            (part.columns[0].values.text(1), part.columns[1].values.text(1)),
            ("2.5".into(), String::new())
        );
        assert!(part.columns[1].values.is_missing(1) && !part.columns[0].values.is_missing(1));
        let error = frame.clone().take("X").unwrap_err().to_string();
        assert_eq!(error, "t.csv: there is no column `X`; did you mean `x`?");
        assert_eq!(
            Places::lines(vec![4, 5, 6]),
            Places { unit: "line", numbers: Numbers::From(4) }
        );
    }
}
