//! Tables of results.

/// A table: named columns, text cells.
///
/// ```
/// use halfspaces_eval::Table;
/// let mut table = Table::new("k3", "Mistakes", &["data", "mistakes"]);
/// table.push(vec!["sphere".into(), "12".into()]);
/// assert_eq!(table.to_csv(), "data,mistakes\nsphere,12\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// File name without ending.
    pub name: String,
    /// What the table shows.
    pub caption: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows of one cell a column.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(name: &str, caption: &str, columns: &[&str]) -> Table {
        Table {
            name: name.into(),
            caption: caption.into(),
            columns: columns.iter().map(|c| (*c).into()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, cut or filled with empty cells to the number of columns.
    pub fn push(&mut self, mut row: Vec<String>) {
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// The table as CSV with a header line.
    #[must_use]
    pub fn to_csv(&self) -> String {
        // Rows are public, so they may be uneven; each stays a record of its own.
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        for row in std::iter::once(&self.columns).chain(&self.rows) {
            // Writing to memory cannot fail.
            let _ = writer.write_record(row);
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_needed_and_rows_are_even() {
        let mut table = Table::new("t", "c", &["a", "b"]);
        table.push(vec!["x,y".into()]);
        table.push(vec!["say \"hi\"".into(), "2".into(), "dropped".into()]);
        assert_eq!(table.to_csv(), "a,b\n\"x,y\",\n\"say \"\"hi\"\"\",2\n");
    }
}
