//! Averages of halfspaces, of columns and of kernel values.

use crate::candidate::{ColumnScale, Scale};
use halfspaces_features::{FeatureMap, KernelValues};
use halfspaces_linalg::{
    AffineHalfspace, DenseRow, InputError, PointSet, Points, RowView, Threads, deciding_class,
    kernels, zeros,
};
use halfspaces_pac::TemperatureScaling;
use std::ops::Range;

/// Rows whose values are computed together; they do not depend on it.
const BLOCK: usize = 256;

/// Sums of halfspaces, of columns on two scales and of kernel values of these: one sum for two classes, its sign
/// deciding, otherwise one per class, the largest deciding.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawAveraged"))]
pub(crate) struct Averaged {
    standardised: Scale,
    ranked: Scale,
    parts: Vec<Part>,
    /// From sums to probabilities.
    scaling: TemperatureScaling,
}

/// Halfspaces of columns on one scale, or of their kernel values: one per sum.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Part {
    pub(crate) columns: ColumnScale,
    /// `None`: of the columns themselves.
    pub(crate) kernel: Option<KernelValues>,
    pub(crate) halfspaces: Vec<AffineHalfspace>,
}

/// What an [`Averaged`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawAveraged {
    standardised: Scale,
    ranked: Scale,
    parts: Vec<Part>,
    scaling: TemperatureScaling,
}

#[cfg(feature = "serde")]
impl TryFrom<RawAveraged> for Averaged {
    type Error = InputError;

    fn try_from(raw: RawAveraged) -> Result<Self, InputError> {
        let RawAveraged { standardised, ranked, parts, scaling } = raw;
        InputError::check_dim(standardised.input_dim(), ranked.input_dim())?;
        let scales =
            matches!(standardised, Scale::Standardised(_)) && matches!(ranked, Scale::Ranked(_));
        InputError::check_state(scales, "standardised columns first, ranked ones second")?;
        InputError::check_state(!parts.is_empty(), "a sum of no halfspaces")?;
        let sums = parts[0].halfspaces.len();
        InputError::check_state(sums > 0, "no halfspaces")?;
        for part in &parts {
            let one_per_sum = part.halfspaces.len() == sums;
            InputError::check_state(one_per_sum, "a halfspace for every sum")?;
            let features = match &part.kernel {
                Some(kernel) => {
                    InputError::check_dim(standardised.output_dim(), kernel.input_dim())?;
                    kernel.output_dim()
                }
                None => standardised.output_dim(),
            };
            for halfspace in &part.halfspaces {
                InputError::check_dim(features, halfspace.weights().len())?;
            }
        }
        Ok(Averaged { standardised, ranked, parts, scaling })
    }
}

impl Averaged {
    pub(crate) fn new(
        standardised: Scale,
        ranked: Scale,
        parts: Vec<Part>,
        scaling: TemperatureScaling,
    ) -> Averaged {
        assert!(!parts.is_empty(), "an average is one of candidates");
        Averaged { standardised, ranked, parts, scaling }
    }

    pub(crate) fn dim(&self) -> usize {
        self.standardised.input_dim()
    }

    /// Number of sums.
    pub(crate) fn sums(&self) -> usize {
        self.parts[0].halfspaces.len()
    }

    /// The probability of every class.
    pub(crate) fn probabilities(&self, values: &[f64]) -> Vec<f64> {
        self.scaling.probabilities(values)
    }

    fn scale(&self, columns: ColumnScale) -> &Scale {
        match columns {
            ColumnScale::Standardised => &self.standardised,
            ColumnScale::Ranked => &self.ranked,
        }
    }

    /// The sums of one row.
    pub(crate) fn row_values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        InputError::check_dim(self.dim(), x.dim())?;
        let mut dense = zeros(1, self.dim())?;
        x.add_scaled_to(1.0, &mut dense);
        // A row is finite.
        DenseRow::new(&dense)?;
        self.values(&Points::new(dense, self.dim())?, 0..1)
    }

    /// The sums of the points `rows`, row after row; a row alone has the same.
    fn values<P: PointSet>(&self, points: &P, rows: Range<usize>) -> Result<Vec<f64>, InputError> {
        let of_block = |error| match error {
            InputError::NonFinite { row, .. } | InputError::Overflow { row } => {
                InputError::Overflow { row: rows.start + row }
            }
            other => other,
        };
        let count = self.sums();
        let mut sums = zeros(rows.len(), count)?;
        for columns in [ColumnScale::Standardised, ColumnScale::Ranked] {
            let parts: Vec<&Part> =
                self.parts.iter().filter(|part| part.columns == columns).collect();
            if parts.is_empty() {
                continue;
            }
            let scale = self.scale(columns);
            let mut scaled = zeros(rows.len(), scale.output_dim())?;
            scale.map_rows(points, rows.clone(), &mut scaled)?;
            let scaled = Points::new(scaled, scale.output_dim()).map_err(of_block)?;
            for part in parts {
                let mapped;
                let features = match &part.kernel {
                    None => &scaled,
                    Some(kernel) => {
                        mapped = kernel.apply(&scaled).map_err(of_block)?;
                        &mapped
                    }
                };
                let rows = features.as_slice().chunks_exact(features.dim());
                for (sums, x) in sums.chunks_exact_mut(count).zip(rows) {
                    for (sum, h) in sums.iter_mut().zip(&part.halfspaces) {
                        *sum += kernels::dot(x, h.weights()) + h.bias();
                    }
                }
            }
        }
        match sums.chunks_exact(count).position(|sums| sums.iter().any(|sum| !sum.is_finite())) {
            None => Ok(sums),
            Some(row) => Err(InputError::Overflow { row: rows.start + row }),
        }
    }

    /// The classes of the points `rows`.
    pub(crate) fn classes_of_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
    ) -> Result<Vec<usize>, InputError> {
        InputError::check_dim(self.dim(), points.dim())?;
        if rows.end > points.len() {
            let index = points.len().max(rows.start);
            return Err(InputError::IndexOutOfRange { index, len: points.len() });
        }
        let mut classes = Vec::with_capacity(rows.len());
        for first in rows.clone().step_by(BLOCK) {
            let values = self.values(points, first..rows.end.min(first + BLOCK))?;
            classes.extend(values.chunks_exact(self.sums()).map(deciding_class));
        }
        Ok(classes)
    }

    /// The sums of every point, row after row.
    pub(crate) fn values_all<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Points, InputError> {
        InputError::check_dim(self.dim(), points.dim())?;
        let mut values = Vec::with_capacity(points.len() * self.sums());
        for block in threads.map_blocks(points.len(), BLOCK, |rows| self.values(points, rows)) {
            values.append(&mut block?);
        }
        Points::new(values, self.sums())
    }

    /// The class of every point.
    pub(crate) fn classes<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Vec<usize>, InputError> {
        let mut classes = Vec::with_capacity(points.len());
        let blocks =
            threads.map_blocks(points.len(), 2 * BLOCK, |rows| self.classes_of_rows(points, rows));
        for block in blocks {
            classes.append(&mut block?);
        }
        Ok(classes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn of_equal_values_the_first_decides() {
        assert_eq!(deciding_class(&[0.5, 1.0, 1.0]), 1);
        assert_eq!(deciding_class(&[-0.3; 3]), 0);
        assert_eq!((deciding_class(&[0.0]), deciding_class(&[-0.1])), (1, 0));
    }

    /// 4 · 1e308 is too large, in the second block of 256 rows.
    #[test]
    fn a_sum_that_overflows_names_its_row() {
        let points = Points::new([1.0, -1.0].repeat(10), 1).unwrap();
        let [standardised, ranked] = [ColumnScale::Standardised, ColumnScale::Ranked]
            .map(|columns| Scale::fit(columns, &points).unwrap());
        let halfspaces = vec![AffineHalfspace::new(vec![4.0], 0.0).unwrap()];
        let part = Part { columns: ColumnScale::Standardised, kernel: None, halfspaces };
        let scaling = TemperatureScaling::new(1.0).unwrap();
        let averaged = Averaged::new(standardised, ranked, vec![part], scaling);
        let mut values = vec![1.0; 300];
        values[280] = 1e308;
        let found = averaged.classes(&Points::new(values, 1).unwrap(), Threads::ONE);
        assert_eq!(found, Err(InputError::Overflow { row: 280 }));
    }
}
