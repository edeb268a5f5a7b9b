//! Reads sparse matrices that were written by `scipy.sparse.save_npz`.

use crate::block::{Block, SparseBlock};
use crate::budget::Budget;
use crate::error::DataError;
use crate::npy_archive::{Archive, check_end, open};
use crate::npy_header::{Header, Kind};
use crate::npy_items::{for_pieces, for_texts};
use crate::source::Source;
use halfspaces_linalg::{MAX_SPARSE_DIM, SparsePoints};
use std::collections::BTreeSet;
use std::io::Read;

/// The arrays that a file with a sparse matrix may contain.
const PARTS: [&str; 11] = [
    "format",
    "shape",
    "data",
    "indices",
    "indptr",
    "row",
    "col",
    "offsets",
    "blocksize",
    "_is_array",
    "index_dtype",
];

/// The names of the arrays that form a sparse matrix, if the archive contains one. Otherwise, the result is empty.
pub(crate) fn parts(names: &[String]) -> BTreeSet<&str> {
    let has = |part: &str| names.iter().any(|name| name == part);
    if !(has("format") && has("shape") && has("data")) {
        return BTreeSet::new();
    }
    names.iter().map(String::as_str).filter(|name| PARTS.contains(name)).collect()
}

/// Reads the sparse matrix. The columns are named x0, x1, .., like those of a dense array.
pub(crate) fn read(
    archive: &mut Archive<'_>,
    names: &[String],
    source: &Source,
) -> Result<Block, DataError> {
    let mut parts = Parts { archive, names, source };
    let format = parts.text("format")?;
    let [rows, columns] = parts.shape()?;
    let budget = source.budget();
    budget.take_columns(columns)?;
    budget.take_items::<usize>(rows + 1)?;
    let matrix = match format.as_str() {
        "csr" => {
            let starts: Vec<usize> = parts.integers("indptr", usize::MAX)?;
            check_starts(&starts, rows, "indptr")?;
            Csr { starts, columns: parts.integers("indices", columns)?, values: parts.values()? }
        }
        "csc" => {
            let starts: Vec<usize> = parts.integers("indptr", usize::MAX)?;
            check_starts(&starts, columns, "indptr")?;
            let rows_of: Vec<u32> = parts.integers("indices", rows)?;
            if starts.last() != Some(&rows_of.len()) {
                return Err(lengths_differ());
            }
            let mut columns_of = budget.room(rows_of.len())?;
            for (column, ends) in starts.windows(2).enumerate() {
                columns_of.resize(columns_of.len() + ends[1] - ends[0], column as u32);
            }
            Csr::from_entries(rows, &rows_of, &columns_of, &parts.values()?, budget)?
        }
        "coo" => {
            let rows_of: Vec<u32> = parts.integers("row", rows)?;
            let columns_of: Vec<u32> = parts.integers("col", columns)?;
            Csr::from_entries(rows, &rows_of, &columns_of, &parts.values()?, budget)?
        }
        other => {
            return Err(DataError::user(format!(
                "a SciPy sparse matrix in format `{other}` is not supported; save m.tocsr() instead"
            )));
        }
    };
    let points = matrix.into_points(columns)?;
    Ok(Block::Sparse(SparseBlock::new(points, "x", 0)))
}

/// The arrays of the archive, which are read by name.
struct Parts<'a, 's> {
    archive: &'a mut Archive<'s>,
    names: &'a [String],
    source: &'a Source,
}

impl Parts<'_, '_> {
    fn open(&mut self, part: &str) -> Result<(Header, impl Read), DataError> {
        let Some(at) = self.names.iter().position(|name| name == part) else {
            return Err(DataError::user(format!(
                "the sparse matrix has no array `{part}`; save it again with scipy.sparse.save_npz"
            )));
        };
        open(self.archive, at, self.source.name(), part)
    }

    fn text(&mut self, part: &str) -> Result<String, DataError> {
        let (header, mut reader) = self.open(part)?;
        let mut found = String::new();
        if header.item.kind.is_text() && header.items()? == 1 {
            for_texts(&mut reader, header.item, 1, |_, text| {
                found = text.map_err(DataError::user)?.to_owned();
                Ok(())
            })?;
        }
        Ok(found)
    }

    fn shape(&mut self) -> Result<[usize; 2], DataError> {
        let shape: Vec<usize> = self.integers("shape", usize::MAX)?;
        match shape[..] {
            [rows, columns] if rows > 0 && columns > 0 && rows.max(columns) <= MAX_SPARSE_DIM => {
                Ok([rows, columns])
            }
            _ => Err(DataError::user(format!(
                "a sparse matrix has shape {shape:?}; a table has two dimensions, at least one row and one column, and at \
                 most 2^31 rows or columns"
            ))),
        }
    }

    /// Reads an array of integers, which must be below `limit`.
    fn integers<T: TryFrom<u64>>(&mut self, part: &str, limit: usize) -> Result<Vec<T>, DataError> {
        let budget = self.source.budget();
        let fault =
            |what: String| DataError::user(format!("array `{part}` of the sparse matrix: {what}"));
        let (header, mut reader) = self.open(part)?;
        if !matches!(header.item.kind, Kind::Integer | Kind::Unsigned) {
            return Err(fault("it should contain integers; save the matrix again".to_owned()));
        }
        if header.shape.contains(&0) {
            return Ok(Vec::new());
        }
        let count = header.items()?;
        let mut integers: Vec<T> = budget.room(count)?;
        for_pieces(&mut reader, header.item, count, |piece| {
            for number in piece {
                let valid = *number >= 0.0 && *number < limit as f64;
                let integer = T::try_from(*number as u64).ok().filter(|_| valid);
                integers.push(integer.ok_or_else(|| {
                    fault(format!("{number} is outside the matrix; the file is damaged"))
                })?);
            }
            Ok(())
        })?;
        check_end(&mut reader)?;
        Ok(integers)
    }

    fn values(&mut self) -> Result<Vec<f64>, DataError> {
        let budget = self.source.budget();
        let (header, mut reader) = self.open("data")?;
        if header.item.kind.is_text() {
            return Err(DataError::user(
                "array `data` of the sparse matrix should contain numbers",
            ));
        }
        if header.shape.contains(&0) {
            return Ok(Vec::new());
        }
        let count = header.items()?;
        let mut values = budget.room(count)?;
        for_pieces(&mut reader, header.item, count, |piece| {
            if let Some(value) = piece.iter().find(|v| !v.is_finite()) {
                return Err(DataError::user(format!(
                    "an entry of the sparse matrix is {value}; write finite numbers, because sparse matrices cannot have missing values"
                )));
            }
            values.extend_from_slice(piece);
            Ok(())
        })?;
        check_end(&mut reader)?;
        Ok(values)
    }
}

fn check_starts(starts: &[usize], count: usize, part: &str) -> Result<(), DataError> {
    if starts.len() == count + 1 && starts.first() == Some(&0) && starts.is_sorted() {
        return Ok(());
    }
    Err(DataError::user(format!(
        "array `{part}` of the sparse matrix does not match its shape; the file is damaged"
    )))
}

/// Entries grouped by row. Within a row, the entries may be unsorted, and a column may occur more than once.
struct Csr {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Csr {
    /// Groups entries by row with a counting sort.
    fn from_entries(
        rows: usize,
        rows_of: &[u32],
        columns_of: &[u32],
        values_of: &[f64],
        budget: &Budget,
    ) -> Result<Csr, DataError> {
        let count = values_of.len();
        if rows_of.len() != count || columns_of.len() != count {
            return Err(lengths_differ());
        }
        let mut starts = vec![0; rows + 1];
        rows_of.iter().for_each(|row| starts[*row as usize + 1] += 1);
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let (mut columns, mut values) = (budget.room(count)?, budget.room(count)?);
        columns.resize(count, 0);
        values.resize(count, 0.0);
        for ((row, column), value) in rows_of.iter().zip(columns_of).zip(values_of) {
            let at = &mut next[*row as usize];
            columns[*at] = *column;
            values[*at] = *value;
            *at += 1;
        }
        Ok(Csr { starts, columns, values })
    }

    /// Sorts the entries of each row by column and adds up duplicate entries, as SciPy does.
    fn into_points(mut self, dim: usize) -> Result<SparsePoints, DataError> {
        let count = self.values.len();
        if self.columns.len() != count || self.starts.last() != Some(&count) {
            return Err(lengths_differ());
        }
        let mut kept = 0;
        let mut entries: Vec<(u32, f64)> = Vec::new();
        for row in 0..self.starts.len() - 1 {
            let range = self.starts[row]..self.starts[row + 1];
            let start = std::mem::replace(&mut self.starts[row], kept);
            debug_assert!(start >= kept, "rows can only become shorter");
            let columns = &self.columns[range.clone()];
            if columns.is_sorted_by(|a, b| a < b) {
                self.columns.copy_within(range.clone(), kept);
                self.values.copy_within(range.clone(), kept);
                kept += range.len();
                continue;
            }
            entries.clear();
            entries.extend(columns.iter().copied().zip(self.values[range].iter().copied()));
            entries.sort_by_key(|(column, _)| *column);
            for same in entries.chunk_by(|(a, _), (b, _)| a == b) {
                self.columns[kept] = same[0].0;
                self.values[kept] = same.iter().map(|(_, value)| value).sum();
                kept += 1;
            }
        }
        if let Some(end) = self.starts.last_mut() {
            *end = kept;
        }
        self.columns.truncate(kept);
        self.values.truncate(kept);
        Ok(SparsePoints::new(self.starts, self.columns, self.values, dim)?)
    }
}

fn lengths_differ() -> DataError {
    DataError::user("the arrays of the sparse matrix have different lengths; the file is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{PointSet, Points};

    #[test]
    fn entries_in_any_order_give_the_same_rows() {
        let budget = Budget::new(1 << 20);
        let csr =
            Csr::from_entries(3, &[2, 0, 2, 0], &[1, 3, 0, 1], &[5.0, 2.0, 4.0, 1.0], &budget);
        let points = csr.unwrap().into_points(4).unwrap();
        let rows = [[0.0, 1.0, 0.0, 2.0], [0.0; 4], [4.0, 5.0, 0.0, 0.0]];
        assert_eq!(points.to_dense().unwrap(), Points::from_rows(&rows).unwrap());
        let double = Csr {
            starts: vec![0, 3, 4],
            columns: vec![2, 1, 2, 0],
            values: vec![1.0, 2.0, 3.0, 4.0],
        };
        let points = double.into_points(3).unwrap();
        let rows = [[0.0, 2.0, 4.0], [4.0, 0.0, 0.0]];
        assert_eq!(
            (points.to_dense().unwrap(), points.stored()),
            (Points::from_rows(&rows).unwrap(), 3)
        );
        assert_eq!(points.len(), 2);
    }
}
