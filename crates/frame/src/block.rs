//! Numeric matrices that are stored as a whole instead of column by column.

use halfspaces_linalg::{PointSet, RowView, SparsePoints};

/// A numeric matrix: an NPY array, a column of lists, or the entries of a LIBSVM file or of a sparse matrix. The
/// columns of a block have names but no separate arrays.
///
/// ```
/// use halfspaces_frame::Block;
/// let block = Block::dense("x", vec![1.0, 2.0, 3.0, f64::NAN], vec![0, 1]);
/// assert_eq!((block.name(1), block.place("x1")), ("x1".to_owned(), Some(1)));
/// assert_eq!((block.rows(), block.dim()), (2, 2));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Numbers in row-major order, with NaN for missing numbers. The name of a column is a prefix followed by a number.
    Dense {
        /// One number for each cell.
        values: Vec<f64>,
        /// The numbers in the names of the columns, in ascending order.
        numbers: Vec<u32>,
        /// The prefix of the names, such as `x` for NPY arrays, whose columns are x0, x1, ...
        prefix: String,
    },
    /// The non-zero entries of a sparse matrix.
    Sparse(SparseBlock),
}

/// A sparse matrix whose column names consist of a prefix and consecutive numbers.
///
/// ```
/// use halfspaces_frame::{Block, SparseBlock};
/// use halfspaces_linalg::SparsePoints;
/// let points = SparsePoints::new(vec![0, 1, 3], vec![1, 0, 2], vec![2.0, 1.0, 3.0], 3)?;
/// let block = Block::Sparse(SparseBlock::new(points, "", 1));
/// assert_eq!((block.name(0), block.place("3")), ("1".to_owned(), Some(2)));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseBlock {
    points: SparsePoints,
    prefix: String,
    first: u32,
}

impl SparseBlock {
    /// Creates a matrix whose column names consist of `prefix` and consecutive numbers starting at `first`. For LIBSVM
    /// files, the prefix is empty and `first` is 1, or 0 if scikit-learn wrote the file. Columns of sparse matrices
    /// from `SciPy` are named x0, x1, ...
    #[must_use]
    pub fn new(points: SparsePoints, prefix: impl Into<String>, first: u32) -> SparseBlock {
        SparseBlock { points, prefix: prefix.into(), first }
    }

    /// The entries, without the column names.
    #[must_use]
    pub fn points(&self) -> &SparsePoints {
        &self.points
    }

    /// Converts the block to its entries, without the column names.
    #[must_use]
    pub fn into_points(self) -> SparsePoints {
        self.points
    }

    /// The prefix of the column names.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The number in the name of the first column. This is 0 for a LIBSVM file whose indices are counted from 0.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The number in the name of a column, or `None` if no column of such a block has this name. The number can be
    /// larger than that of every existing column.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u32> {
        column_number(name, &self.prefix)
    }

    /// A block with the entries `points` and the column names of this block.
    fn with_points(&self, points: SparsePoints) -> SparseBlock {
        SparseBlock { points, prefix: self.prefix.clone(), first: self.first }
    }
}

/// The number after the prefix of a column name, or `None` if something else follows the prefix.
fn column_number(name: &str, prefix: &str) -> Option<u32> {
    let digits = name.strip_prefix(prefix)?;
    let is_plain = digits.bytes().all(|b| b.is_ascii_digit())
        && !(digits.len() > 1 && digits.starts_with('0'));
    digits.parse().ok().filter(|_| is_plain)
}

impl From<SparsePoints> for SparseBlock {
    /// Names the columns 1, 2, .., as in LIBSVM files.
    fn from(points: SparsePoints) -> SparseBlock {
        SparseBlock::new(points, "", 1)
    }
}

impl Block {
    /// Creates a dense row-major matrix, in which NaN marks a missing number. The name of each column consists of
    /// `prefix` and the corresponding element of `numbers`.
    ///
    /// # Panics
    /// Panics if there are no columns or if the number of values is not a multiple of the number of columns.
    pub fn dense(prefix: impl Into<String>, values: Vec<f64>, numbers: Vec<u32>) -> Block {
        assert!(
            values.len().is_multiple_of(numbers.len()),
            "every row must have one value for each column"
        );
        Block::Dense { values, numbers, prefix: prefix.into() }
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Block::Dense { values, numbers, .. } => values.len() / numbers.len(),
            Block::Sparse(block) => block.points.len(),
        }
    }

    /// The number of columns.
    #[must_use]
    pub fn dim(&self) -> usize {
        match self {
            Block::Dense { numbers, .. } => numbers.len(),
            Block::Sparse(block) => block.points.dim(),
        }
    }

    /// The name of a column.
    #[must_use]
    pub fn name(&self, column: usize) -> String {
        match self {
            Block::Dense { numbers, prefix, .. } => format!("{prefix}{}", numbers[column]),
            Block::Sparse(block) => format!("{}{}", block.prefix, column + block.first as usize),
        }
    }

    /// The index of the column with this name, or `None` if there is no such column.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        let column = match self {
            Block::Dense { numbers, prefix, .. } => {
                numbers.binary_search(&column_number(name, prefix)?).ok()?
            }
            Block::Sparse(block) => block.number(name)?.checked_sub(block.first)? as usize,
        };
        (column < self.dim()).then_some(column)
    }

    /// A copy of the values of a column.
    ///
    /// # Panics
    /// Panics if there is no such column.
    #[must_use]
    pub fn column(&self, column: usize) -> Vec<f64> {
        assert!(column < self.dim(), "the block has {} columns", self.dim());
        match self {
            Block::Dense { values, numbers, .. } => {
                values.iter().skip(column).step_by(numbers.len()).copied().collect()
            }
            Block::Sparse(block) => {
                let value = |row: halfspaces_linalg::SparseRow<'_>| {
                    let at = row.columns().binary_search(&(column as u32));
                    at.map_or(0.0, |at| row.values()[at])
                };
                block.points.rows().map(value).collect()
            }
        }
    }

    /// Removes a column. The names of the other columns do not change, and a sparse block keeps its width.
    ///
    /// # Panics
    /// Panics if there is no such column.
    pub fn remove(&mut self, column: usize) {
        assert!(column < self.dim(), "the block has {} columns", self.dim());
        match self {
            Block::Dense { values, numbers, .. } => {
                let dim = numbers.len();
                let mut at = 0;
                values.retain(|_| {
                    at += 1;
                    (at - 1) % dim != column
                });
                numbers.remove(column);
            }
            Block::Sparse(block) => {
                let points = &mut block.points;
                let mut rest = match SparsePoints::empty(points.dim()) {
                    Ok(rest) => rest,
                    Err(error) => unreachable!("the width does not change: {error}"),
                };
                for row in points.rows() {
                    let kept = row.entries().filter(|(j, _)| *j != column);
                    let (columns, values): (Vec<u32>, Vec<f64>) =
                        kept.map(|(j, v)| (j as u32, v)).unzip();
                    if let Err(error) = rest.push(&columns, &values) {
                        unreachable!("a part of a valid row is valid: {error}");
                    }
                }
                *points = rest;
            }
        }
    }

    /// The number of values that are stored in memory.
    #[must_use]
    pub fn stored(&self) -> usize {
        match self {
            Block::Dense { values, .. } => values.len(),
            Block::Sparse(block) => block.points.stored(),
        }
    }

    /// Copies the rows with the indices `rows`, in that order.
    ///
    /// # Panics
    /// Panics if an index is out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Block {
        match self {
            Block::Dense { values, numbers, prefix } => {
                let dim = numbers.len();
                let mut chosen = Vec::with_capacity(rows.len() * dim);
                for row in rows {
                    chosen.extend_from_slice(&values[row * dim..(row + 1) * dim]);
                }
                Block::dense(prefix.clone(), chosen, numbers.clone())
            }
            Block::Sparse(block) => match block.points.select(rows) {
                Ok(chosen) => Block::Sparse(block.with_points(chosen)),
                Err(error) => unreachable!("the caller passes rows of the block: {error}"),
            },
        }
    }

    /// Keeps the rows with the indices `rows`, which must be ascending. The memory of the block is reused.
    ///
    /// # Panics
    /// Panics if an index is out of range or if `rows` is not ascending.
    #[must_use]
    pub fn into_rows(self, rows: &[usize]) -> Block {
        match self {
            Block::Dense { mut values, numbers, prefix } => {
                let dim = numbers.len();
                for (to, from) in rows.iter().enumerate() {
                    values.copy_within(from * dim..(from + 1) * dim, to * dim);
                }
                values.truncate(rows.len() * dim);
                Block::Dense { values, numbers, prefix }
            }
            Block::Sparse(SparseBlock { points, prefix, first }) => match points.into_rows(rows) {
                Ok(points) => Block::Sparse(SparseBlock { points, prefix, first }),
                Err(error) => unreachable!("the caller passes rows of the block: {error}"),
            },
        }
    }

    /// The values of a row that are non-zero or missing, with their column indices.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[must_use]
    pub fn entries(&self, row: usize) -> Vec<(usize, f64)> {
        match self {
            Block::Dense { values, numbers, .. } => {
                let row = &values[row * numbers.len()..(row + 1) * numbers.len()];
                row.iter().copied().enumerate().filter(|(_, v)| *v != 0.0).collect()
            }
            Block::Sparse(block) => match block.points.row(row) {
                Some(row) => row.entries().collect(),
                None => unreachable!("the caller passes a row of the block"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_have_the_same_columns() {
        let dense = Block::dense("x", vec![0.0, 2.0, 0.0, 1.0, 0.0, 3.0], vec![0, 1, 2]);
        let sparse =
            SparsePoints::new(vec![0, 1, 3], vec![1, 0, 2], vec![2.0, 1.0, 3.0], 3).unwrap();
        let sparse = Block::Sparse(sparse.into());
        for column in 0..3 {
            assert_eq!(dense.column(column), sparse.column(column));
        }
        for row in 0..2 {
            assert_eq!(dense.entries(row), sparse.entries(row));
        }
        for block in [&dense, &sparse] {
            let mut rest = block.clone();
            rest.remove(1);
            assert_eq!(rest.place(&block.name(2)).map(|at| rest.column(at)), Some(vec![0.0, 3.0]));
            assert_eq!((rest.rows(), rest.stored() < block.stored()), (2, true));
        }
        assert_eq!(dense.select(&[1]).entries(0), sparse.select(&[1]).entries(0));
        for block in [&dense, &sparse] {
            assert_eq!(block.clone().into_rows(&[1]), block.select(&[1]));
        }
        assert_eq!(
            (sparse.name(0), sparse.place("3"), sparse.place("4")),
            ("1".into(), Some(2), None)
        );
        assert_eq!(
            (sparse.place("0"), sparse.place("01"), dense.place("x2"), dense.place("x3")),
            (None, None, Some(2), None)
        );
    }
}
