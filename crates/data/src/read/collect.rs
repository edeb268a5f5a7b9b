//! Streams gathered into collections.

use super::ReadError;
use halfspaces_linalg::{ExampleStream, Label, Points, RowView, SparsePoints};

/// All points of a stream of `rows` examples called `name`, dense.
pub(super) fn dense<S: ExampleStream<Error = ReadError>>(
    mut stream: S,
    name: &str,
    rows: u64,
) -> Result<(Points, Vec<Label>), ReadError> {
    let dim = stream.dim();
    let too_large = || ReadError::TooLarge { name: name.to_owned(), rows, dim };
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    let size = usize::try_from(rows).ok().and_then(|n| n.checked_mul(dim)).ok_or_else(too_large)?;
    values.try_reserve_exact(size).map_err(|_| too_large())?;
    while let Some((row, label)) = stream.next_row()? {
        let start = values.len();
        values.resize(start + dim, 0.0);
        for (j, value) in row.entries() {
            values[start + j] = value;
        }
        labels.push(label);
    }
    Ok((Points::new(values, dim)?, labels))
}

/// All points of a stream, sparse; zeros are not stored.
pub(super) fn sparse<S: ExampleStream<Error = ReadError>>(
    mut stream: S,
) -> Result<(SparsePoints, Vec<Label>), ReadError> {
    let dim = stream.dim();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut labels = Vec::new();
    while let Some((row, label)) = stream.next_row()? {
        for (j, value) in row.entries().filter(|&(_, value)| value != 0.0) {
            columns.push(j as u32);
            values.push(value);
        }
        starts.push(values.len());
        labels.push(label);
    }
    Ok((SparsePoints::new(starts, columns, values, dim)?, labels))
}
