//! Streams gathered into sparse collections.

use super::ReadError;
use halfspaces_linalg::{ExampleStream, Label, RowView, SparsePoints};

/// All points of a stream, sparse; zeros are not stored.
pub(super) fn sparse<S: ExampleStream<Error = ReadError>>(
    stream: &mut S,
) -> Result<(SparsePoints, Vec<Label>), ReadError> {
    let dim = stream.dim();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut labels = Vec::new();
    while let Some((row, label)) = stream.next_row()? {
        for (j, value) in row.entries().filter(|&(_, value)| value != 0.0) {
            // No stream has more coordinates than fit.
            columns.push(j as u32);
            values.push(value);
        }
        starts.push(values.len());
        labels.push(label);
    }
    Ok((SparsePoints::new(starts, columns, values, dim)?, labels))
}
