//! Tables of results.

/// A table with named columns and text cells.
///
/// ```
/// use halfspaces_eval::Table;
/// let mut table = Table::new("k3", "Mistakes", &["data", "mistakes"]);
/// table.push(vec!["sphere".into(), "12".into()]);
/// assert_eq!(table.to_csv(), "data,mistakes\nsphere,12\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// File name without extension.
    pub name: String,
    /// A description of the table.
    pub caption: String,
    columns: Vec<String>,
    /// The rows, each with one cell per column.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates an empty table.
    #[must_use]
    pub fn new(name: &str, caption: &str, columns: &[&str]) -> Table {
        Table {
            name: name.into(),
            caption: caption.into(),
            columns: columns.iter().map(|c| (*c).into()).collect(),
            rows: Vec::new(),
        }
    }

    /// Names of the columns.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows, each with one cell per column.
    #[must_use]
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Adds a row.
    ///
    /// # Panics
    /// Panics if the number of cells differs from the number of columns.
    pub fn push(&mut self, row: Vec<String>) {
        let (cells, columns) = (row.len(), self.columns.len());
        assert_eq!(cells, columns, "table {}: a row has one cell per column", self.name);
        self.rows.push(row);
    }

    /// The table as CSV with a header line.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in std::iter::once(&self.columns).chain(&self.rows) {
            let written = writer.write_record(row);
            written.unwrap_or_else(|e| {
                unreachable!("writing rows of equal length to memory cannot fail: {e}")
            });
        }
        let bytes = writer.into_inner();
        let bytes = bytes.unwrap_or_else(|e| unreachable!("writing to memory cannot fail: {e}"));
        String::from_utf8(bytes).unwrap_or_else(|e| unreachable!("only text was written: {e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_needed() {
        let mut table = Table::new("t", "c", &["a", "b"]);
        table.push(vec!["x,y".into(), String::new()]);
        table.push(vec!["say \"hi\"".into(), "2".into()]);
        assert_eq!(table.to_csv(), "a,b\n\"x,y\",\n\"say \"\"hi\"\"\",2\n");
    }

    #[test]
    #[should_panic(expected = "table t: a row has one cell per column")]
    fn a_row_with_a_cell_too_many_is_no_row() {
        Table::new("t", "c", &["a"]).push(vec!["1".into(), "2".into()]);
    }
}
