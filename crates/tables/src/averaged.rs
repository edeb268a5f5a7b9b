//! Averages of halfspaces over columns and over kernel values.

use crate::candidate::{ColumnScale, Scale};
use crate::parts::{TablePart, TableScale};
use halfspaces_features::{FeatureMap, KernelValues};
#[cfg(feature = "serde")]
use halfspaces_linalg::load_checked;
use halfspaces_linalg::{
    AffineHalfspace, DenseRow, InputError, PointSet, Points, RowView, Threads, deciding_class,
    kernels, zeros,
};
use halfspaces_pac::Calibration;
use std::ops::Range;

/// Number of rows whose values are computed together. The values do not depend on this number.
const BLOCK: usize = 256;

/// Sums of halfspaces over the columns and over kernel values of the columns. The columns are scaled in several ways.
/// With two classes there is one output, whose sign determines the class. Otherwise there is one output per class, and
/// the class with the largest output is predicted.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(crate) struct Averaged {
    standardised: Scale,
    /// The ranked scale; `None` if no part needs it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    ranked: Option<Scale>,
    /// The centred scale; `None` if no part needs it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    centred: Option<Scale>,
    parts: Vec<Part>,
    /// Turns decision values into probabilities.
    scaling: Calibration,
}

/// Halfspaces over the columns in one scale, or over kernel values of these columns. There is one halfspace per output.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Part {
    pub(crate) columns: ColumnScale,
    /// The kernel; `None` for halfspaces over the columns.
    pub(crate) kernel: Option<KernelValues>,
    pub(crate) halfspaces: Vec<AffineHalfspace>,
}

#[cfg(feature = "serde")]
load_checked!(Averaged {
    standardised: Scale,
    #[serde(default)]
    ranked: Option<Scale>,
    #[serde(default)]
    centred: Option<Scale>,
    parts: Vec<Part>,
    scaling: Calibration,
});

#[cfg(feature = "serde")]
impl Averaged {
    /// Checks the scales, the number of halfspaces per output, and the dimensions.
    fn check_saved(&self) -> Result<(), InputError> {
        let Averaged { standardised, ranked, centred, parts, .. } = self;
        for scale in [ranked, centred].into_iter().flatten() {
            InputError::check_dim(standardised.input_dim(), scale.input_dim())?;
        }
        let scales = matches!(standardised, Scale::Standardised(_))
            && matches!(ranked, None | Some(Scale::Ranked(_)))
            && matches!(centred, None | Some(Scale::Centred(_)));
        InputError::check_state(scales, "each scale has the kind of its field")?;
        let has_scale = |part: &Part| self.scale(part.columns).is_some();
        InputError::check_state(parts.iter().all(has_scale), "each part has a scale")?;
        InputError::check_state(!parts.is_empty(), "an average has at least one part")?;
        let outputs = self.outputs();
        InputError::check_state(outputs > 0, "a part has at least one halfspace")?;
        for part in parts {
            let one_per_output = part.halfspaces.len() == outputs;
            InputError::check_state(one_per_output, "each part has a halfspace for each output")?;
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
        Ok(())
    }
}

impl Averaged {
    /// Creates the average and keeps the scales that its parts need. `scales` contains the standardised scale, the
    /// ranked scale and, for a wide table, the centred scale, in this order.
    pub(crate) fn new(scales: Vec<Scale>, parts: Vec<Part>, scaling: Calibration) -> Averaged {
        assert!(!parts.is_empty(), "an average has at least one part");
        let mut scales = scales.into_iter();
        let Some(standardised) = scales.next() else {
            unreachable!("every table has standardised columns")
        };
        let mut needed = |columns| {
            scales.next().filter(|_| parts.iter().any(|part: &Part| part.columns == columns))
        };
        let (ranked, centred) = (needed(ColumnScale::Ranked), needed(ColumnScale::Centred));
        Averaged { standardised, ranked, centred, parts, scaling }
    }

    pub(crate) fn dim(&self) -> usize {
        self.standardised.input_dim()
    }

    /// The number of decision values of a row.
    pub(crate) fn outputs(&self) -> usize {
        self.parts[0].halfspaces.len()
    }

    /// Replaces the map from decision values to probabilities.
    pub(crate) fn with_scaling(self, scaling: Calibration) -> Averaged {
        Averaged { scaling, ..self }
    }

    /// The map from decision values to probabilities.
    pub(crate) fn scaling(&self) -> Calibration {
        self.scaling
    }

    /// The summands with their scales.
    pub(crate) fn parts(&self) -> impl Iterator<Item = TablePart<'_>> {
        self.parts.iter().filter_map(|part| {
            let scale = match self.scale(part.columns)? {
                Scale::Standardised(scale) | Scale::Centred(scale) => TableScale::Standard(scale),
                Scale::Ranked(ranks) => TableScale::Ranks(ranks),
            };
            Some(TablePart { scale, kernel: part.kernel.as_ref(), halfspaces: &part.halfspaces })
        })
    }

    /// The probability of each class.
    pub(crate) fn probabilities(&self, values: &[f64]) -> Vec<f64> {
        self.scaling.probabilities(values)
    }

    fn scale(&self, columns: ColumnScale) -> Option<&Scale> {
        match columns {
            ColumnScale::Standardised => Some(&self.standardised),
            ColumnScale::Ranked => self.ranked.as_ref(),
            ColumnScale::Centred => self.centred.as_ref(),
        }
    }

    /// The decision values of one row.
    pub(crate) fn row_values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        InputError::check_dim(self.dim(), x.dim())?;
        let mut dense = zeros(1, self.dim())?;
        x.add_scaled_to(1.0, &mut dense);
        // Checks that the row is finite.
        DenseRow::new(&dense)?;
        self.values(&Points::new(dense, self.dim())?, 0..1)
    }

    /// The decision values of the points with indices `rows`, row by row. The values of a row are the same as if the
    /// row were processed alone.
    fn values<P: PointSet>(&self, points: &P, rows: Range<usize>) -> Result<Vec<f64>, InputError> {
        let as_overflow = |error| match error {
            InputError::NonFinite { row, .. } | InputError::Overflow { row } => {
                InputError::Overflow { row: rows.start + row }
            }
            other => other,
        };
        let count = self.outputs();
        let mut values = zeros(rows.len(), count)?;
        for columns in [ColumnScale::Standardised, ColumnScale::Ranked, ColumnScale::Centred] {
            let parts: Vec<&Part> =
                self.parts.iter().filter(|part| part.columns == columns).collect();
            let Some(scale) = self.scale(columns).filter(|_| !parts.is_empty()) else {
                continue;
            };
            let mut scaled = zeros(rows.len(), scale.output_dim())?;
            scale.map_rows(points, rows.clone(), &mut scaled)?;
            let scaled = Points::new(scaled, scale.output_dim()).map_err(as_overflow)?;
            for part in parts {
                let mapped;
                let features = match &part.kernel {
                    None => &scaled,
                    Some(kernel) => {
                        mapped = kernel.apply(&scaled).map_err(as_overflow)?;
                        &mapped
                    }
                };
                let rows = features.as_slice().chunks_exact(features.dim());
                for (values, x) in values.chunks_exact_mut(count).zip(rows) {
                    for (value, h) in values.iter_mut().zip(&part.halfspaces) {
                        *value += kernels::dot(x, h.weights()) + h.bias();
                    }
                }
            }
        }
        let is_overflow = |values: &[f64]| values.iter().any(|value| !value.is_finite());
        match values.chunks_exact(count).position(is_overflow) {
            None => Ok(values),
            Some(row) => Err(InputError::Overflow { row: rows.start + row }),
        }
    }

    /// The classes of the points with indices `rows`.
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
            classes.extend(values.chunks_exact(self.outputs()).map(deciding_class));
        }
        Ok(classes)
    }

    /// The decision values of all points, one row per point.
    pub(crate) fn values_all<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Points, InputError> {
        InputError::check_dim(self.dim(), points.dim())?;
        let mut values = Vec::with_capacity(points.len() * self.outputs());
        for block in threads.map_blocks(points.len(), BLOCK, |rows| self.values(points, rows)) {
            values.append(&mut block?);
        }
        Points::new(values, self.outputs())
    }

    /// The classes of all points.
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
    fn ties_go_to_the_first_class() {
        assert_eq!(deciding_class(&[0.5, 1.0, 1.0]), 1);
        assert_eq!(deciding_class(&[-0.3; 3]), 0);
        assert_eq!((deciding_class(&[0.0]), deciding_class(&[-0.1])), (1, 0));
    }

    /// The value 4 · 1e308 overflows in the second block of 256 rows.
    #[test]
    fn an_overflow_names_its_row() {
        let points = Points::new([1.0, -1.0].repeat(10), 1).unwrap();
        let scales = [ColumnScale::Standardised, ColumnScale::Ranked]
            .map(|columns| Scale::fit(columns, &points).unwrap());
        let halfspaces = vec![AffineHalfspace::new(vec![4.0], 0.0).unwrap()];
        let part = Part { columns: ColumnScale::Standardised, kernel: None, halfspaces };
        let scaling = Calibration::new(1.0, 1.0, 1.0, 0.0, 1.0).unwrap();
        let averaged = Averaged::new(scales.to_vec(), vec![part], scaling);
        let mut values = vec![1.0; 300];
        values[280] = 1e308;
        let found = averaged.classes(&Points::new(values, 1).unwrap(), Threads::ONE);
        assert_eq!(found, Err(InputError::Overflow { row: 280 }));
    }
}
