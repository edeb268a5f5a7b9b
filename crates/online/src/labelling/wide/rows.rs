//! Sparse rows with single-precision values. Part of `LabellingSession`. Claims: none.

use halfspaces_linalg::{InputError, PointSet, RowView, reserve};

/// Rows in compressed form. Zero entries are not stored, so dense and sparse points give the same rows.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    /// The position at which each column is stored.
    places: Vec<u32>,
}

impl Rows {
    /// An empty list of rows. Columns with many entries in `points` are stored together, so that a product with a dense
    /// vector reads less memory.
    pub(super) fn for_points<P: PointSet>(points: &P) -> Rows {
        let mut counts = vec![0usize; points.dim()];
        for row in points.rows() {
            row.entries().filter(|(_, v)| *v != 0.0).for_each(|(column, _)| counts[column] += 1);
        }
        let mut columns: Vec<usize> = (0..counts.len()).collect();
        columns.sort_by_key(|column| std::cmp::Reverse(counts[*column]));
        let mut places = vec![0; columns.len()];
        columns.iter().enumerate().for_each(|(place, column)| places[*column] = place as u32);
        Rows { starts: vec![0], columns: Vec::new(), values: Vec::new(), places }
    }

    /// Appends a row, multiplied by `factor`.
    ///
    /// # Errors
    /// [`InputError::TooLarge`]; in this case no row is added.
    pub(super) fn push<R: RowView>(&mut self, row: R, factor: f64) -> Result<(), InputError> {
        let stored = row.entries().filter(|(_, v)| *v != 0.0).count();
        reserve(&mut self.columns, stored)?;
        reserve(&mut self.values, stored)?;
        for (column, value) in row.entries().filter(|(_, v)| *v != 0.0) {
            self.columns.push(self.places[column]);
            self.values.push((value * factor) as f32);
        }
        self.starts.push(self.values.len());
        Ok(())
    }

    /// Drops all rows except the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.starts.truncate(len + 1);
        self.columns.truncate(self.starts[len]);
        self.values.truncate(self.starts[len]);
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn dim(&self) -> usize {
        self.places.len()
    }

    /// Number of stored values.
    pub(super) fn stored(&self) -> usize {
        self.values.len()
    }

    /// The columns and values of a row.
    #[inline(always)]
    pub(super) fn row(&self, index: usize) -> (&[u32], &[f32]) {
        let stored = self.starts[index]..self.starts[index + 1];
        (&self.columns[stored.clone()], &self.values[stored])
    }

    /// The columns stored at these positions.
    pub(super) fn original(&self, places: &[u32]) -> Vec<usize> {
        let mut columns = vec![0; self.places.len()];
        self.places
            .iter()
            .enumerate()
            .for_each(|(column, place)| columns[*place as usize] = column);
        places.iter().map(|place| columns[*place as usize]).collect()
    }

    /// Adds `factor` times a row to `to`.
    pub(super) fn add_to(&self, index: usize, factor: f32, to: &mut [f32]) {
        let (columns, values) = self.row(index);
        for (column, value) in columns.iter().zip(values) {
            to[*column as usize] += factor * value;
        }
    }

    /// The inner product of a row with a dense vector, computed in running sums that are added in a fixed order.
    #[inline(always)]
    pub(super) fn dot(&self, index: usize, with: &[f32]) -> f32 {
        const LANES: usize = 4;
        let (columns, values) = self.row(index);
        let (columns_of_4, more_columns) = columns.as_chunks::<LANES>();
        let (values_of_4, more_values) = values.as_chunks::<LANES>();
        let mut sums = [0.0f32; LANES];
        for (j, v) in columns_of_4.iter().zip(values_of_4) {
            for lane in 0..LANES {
                sums[lane] += v[lane] * with[j[lane] as usize];
            }
        }
        for (lane, (j, v)) in more_columns.iter().zip(more_values).enumerate() {
            sums[lane] += v * with[*j as usize];
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }
}

/// The inner product of two dense rows, computed in running sums that are added in a fixed order.
#[inline(always)]
pub(super) fn dense_dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let n = a.len().min(b.len());
    let (a, a_rest) = a[..n].as_chunks::<LANES>();
    let (b, b_rest) = b[..n].as_chunks::<LANES>();
    let mut sums = [0.0f32; LANES];
    for (x, y) in a.iter().zip(b) {
        for ((s, x), y) in sums.iter_mut().zip(x).zip(y) {
            *s += x * y;
        }
    }
    for ((s, x), y) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *s += x * y;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Points, SparsePoints};

    #[test]
    fn dense_and_sparse_points_give_the_same_rows() {
        let values: Vec<f64> = (0..60).map(|i| f64::from((i * 7) % 5) - 1.0).collect();
        let points = Points::new(values, 12).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let (mut a, mut b) = (Rows::for_points(&points), Rows::for_points(&sparse));
        points.rows().for_each(|row| a.push(row, 0.5).unwrap());
        sparse.rows().for_each(|row| b.push(row, 0.5).unwrap());
        let with: Vec<f32> = (0..12).map(|i| 1.0 + i as f32).collect();
        for i in 0..5 {
            assert_eq!(a.row(i), b.row(i));
            let row = &points.as_slice()[12 * i..][..12];
            let placed = |column: usize| a.places[column] as usize;
            let by_hand: f64 =
                row.iter().enumerate().map(|(j, x)| 0.5 * x * f64::from(with[placed(j)])).sum();
            assert_eq!(f64::from(a.dot(i, &with)), by_hand);
            let mut sum = vec![1.0; 12];
            a.add_to(i, 2.0, &mut sum);
            assert!(row.iter().enumerate().all(|(j, x)| f64::from(sum[placed(j)]) == 1.0 + x));
        }
        let count =
            |j: usize| points.as_slice().iter().skip(j).step_by(12).filter(|v| **v != 0.0).count();
        let mut by_place: Vec<usize> = (0..12).collect();
        by_place.sort_by_key(|j| a.places[*j]);
        assert!(by_place.is_sorted_by(|i, j| count(*i) >= count(*j)));
        assert_eq!(a.stored(), points.as_slice().iter().filter(|v| **v != 0.0).count());
        a.truncate(2);
        assert_eq!((a.len(), a.row(1)), (2, b.row(1)));
    }

    #[test]
    fn a_dense_product_covers_every_coordinate() {
        for n in [0, 1, 15, 16, 17, 40] {
            let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let by_hand: f32 = a.iter().map(|v| v * v).sum();
            assert_eq!(dense_dot(&a, &a), by_hand, "{n}");
        }
    }
}
