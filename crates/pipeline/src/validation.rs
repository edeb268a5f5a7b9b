//! Cross-validation, held-out errors and calibration.

use crate::design::Design;
use crate::model::Model;
use crate::plan::Plan;
use halfspaces_frame::DataError;
use halfspaces_linalg::{PointSet, RowView, deciding_class};
use halfspaces_pac::ErrorCount;
use halfspaces_tables::group_folds;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The number of folds of the cross-validation.
pub(crate) const FOLDS: usize = 5;

/// The result of [`measure`] on held-out rows.
pub(crate) struct Measured {
    pub(crate) errors: ErrorCount,
    /// The class that is predicted for every row. `None` if the predictions differ or if every row has this class.
    only: Option<usize>,
}

impl Measured {
    /// A note if the model predicts the same class for every held-out row.
    pub(crate) fn note(&self, source: &str, classes: &[String]) -> Option<String> {
        let class = &classes[self.only?];
        Some(format!("{source}: the model predicts `{class}` for every held-out row"))
    }
}

/// A function that returns the weights of some held-out rows, given their indices and classes. It returns `None` if all
/// weights are 1.
pub(crate) type WeightsOf<'a> = &'a dyn Fn(&[usize], &[usize]) -> Option<Vec<f64>>;

/// Counts the errors of a model on held-out rows. If `weights` is given, the model is then calibrated on these rows.
pub(crate) fn measure(
    model: &mut Model,
    held_out: &Design,
    truth: &[Option<usize>],
    plan: &Plan,
    weights: Option<WeightsOf<'_>>,
) -> Result<Measured, DataError> {
    let values = model.values(held_out, plan.threads)?;
    measure_values(model, values, truth, weights)
}

/// Like [`measure`], for the decision values of the held-out rows.
pub(crate) fn measure_values(
    model: &mut Model,
    values: Vec<Vec<f64>>,
    truth: &[Option<usize>],
    weights: Option<WeightsOf<'_>>,
) -> Result<Measured, DataError> {
    let first = values.first().map(|values| deciding_class(values));
    let only = first.filter(|first| {
        values.iter().all(|values| deciding_class(values) == *first)
            && truth.iter().any(|class| *class != Some(*first))
    });
    let is_wrong =
        |(values, truth): &(&Vec<f64>, &Option<usize>)| Some(deciding_class(values)) != **truth;
    let wrong = values.iter().zip(truth).filter(is_wrong).count();
    if let Some(weights) = weights {
        // Rows with unknown classes count as errors and are not used for calibration.
        let places: Vec<usize> = (0..truth.len()).filter(|place| truth[*place].is_some()).collect();
        let known = values.into_iter().zip(truth).filter_map(|(v, class)| Some((v, (*class)?)));
        let (values, classes): (Vec<Vec<f64>>, Vec<usize>) = known.unzip();
        model.calibrate(&values, &classes, weights(&places, &classes).as_deref())?;
    }
    Ok(Measured { errors: ErrorCount::new(wrong, truth.len())?, only })
}

/// A hash of the coordinates of each row.
pub(crate) fn row_hashes(design: &Design) -> Box<dyn Iterator<Item = u64> + '_> {
    fn hash(entries: impl Iterator<Item = (usize, f64)>) -> u64 {
        let mut hasher = FxHasher::default();
        // Adding 0 turns -0 into 0, which is the same value. The bytes are swapped because the hash mixes low bits
        // best, and numbers such as 1 differ only in their high bits.
        entries
            .for_each(|(at, value)| (at, (value + 0.0).to_bits().swap_bytes()).hash(&mut hasher));
        hasher.finish()
    }
    match design {
        Design::Dense(points) => Box::new(points.rows().map(|row| hash(row.entries()))),
        Design::Sparse(points) => Box::new(points.rows().map(|row| hash(row.entries()))),
    }
}

/// The decision values of each row, from a model that is fitted without the fold of the row. Returns `None` if a fold
/// is empty, or if, for some fold, a class has no row of positive weight in the other folds. All rows of a group are in
/// the same fold. By default, each row is a separate group and has weight 1.
pub(crate) fn cross_validated(
    plan: &Plan,
    design: &Design,
    classes: &[usize],
    weights: Option<&[f64]>,
    groups: Option<&[usize]>,
) -> Result<Option<Vec<Vec<f64>>>, DataError> {
    let folds = match groups {
        Some(groups) => group_folds(groups, FOLDS),
        None => (0..classes.len()).map(|place| place % FOLDS).collect(),
    };
    let count = classes.iter().max().map_or(0, |last| last + 1);
    let parts = (0..FOLDS).map(|fold| (0..classes.len()).partition(|row| folds[*row] == fold));
    let parts: Vec<(Vec<usize>, Vec<usize>)> = parts.collect();
    let is_judged = |(out, rest): &(Vec<usize>, Vec<usize>)| {
        let mut seen = vec![false; count];
        let has_weight = |row: &&usize| weights.is_none_or(|weights| weights[**row] > 0.0);
        rest.iter().filter(has_weight).for_each(|row| seen[classes[*row]] = true);
        !out.is_empty() && seen.into_iter().all(|seen| seen)
    };
    if !parts.iter().all(is_judged) {
        return Ok(None);
    }
    let mut values = vec![Vec::new(); classes.len()];
    for (out, rest) in parts {
        let known: Vec<usize> = rest.iter().map(|row| classes[*row]).collect();
        let groups = groups.map(|groups| rest.iter().map(|row| groups[*row]).collect::<Vec<_>>());
        let weights = weights.map(|of| rest.iter().map(|row| of[*row]).collect::<Vec<_>>());
        let rows = design.select(&rest)?;
        let (model, _) = Model::fit(plan, &rows, &known, weights.as_deref(), groups.as_deref())?;
        let found = model.values(&design.select(&out)?, plan.threads)?;
        out.into_iter().zip(found).for_each(|(row, found)| values[row] = found);
    }
    Ok(Some(values))
}

/// The share of misclassified rows, where each row counts with its weight. The default weight is 1.
pub(crate) fn error(values: &[Vec<f64>], classes: &[usize], weights: Option<&[f64]>) -> f64 {
    let weight = |row: &usize| weights.map_or(1.0, |weights| weights[*row]);
    let is_wrong = |row: &usize| deciding_class(&values[*row]) != classes[*row];
    let wrong: f64 = (0..values.len()).filter(is_wrong).map(|row| weight(&row)).sum();
    // The sum of no numbers is -0, so its sign is removed.
    wrong.abs() / (0..values.len()).map(|row| weight(&row)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Method;
    use halfspaces_linalg::{Points, SparsePoints};
    use std::collections::HashSet;

    /// Different rows of zeros and ones have different hashes, and equal rows have the same hash. This holds for dense
    /// and for sparse rows.
    #[test]
    fn hashes_tell_rows_apart() {
        let bit = |row: usize, at: usize| f64::from(u8::from(row >> at & 1 == 1));
        let values = (0..4096).flat_map(|row| (0..12).map(move |at| bit(row, at)));
        let dense = Points::new(values.collect(), 12).unwrap();
        let sparse = SparsePoints::from_dense(&dense).unwrap();
        for design in [Design::Dense(dense), Design::Sparse(sparse)] {
            let hashes: Vec<u64> = row_hashes(&design).collect();
            assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), 4096);
            let again: Vec<u64> = row_hashes(&design.select(&[7, 7]).unwrap()).collect();
            assert_eq!(again, [hashes[7]; 2]);
        }
        let zeros = Design::Dense(Points::new(vec![0.0, -0.0], 1).unwrap());
        let hashes: Vec<u64> = row_hashes(&zeros).collect();
        assert_eq!(hashes[0], hashes[1]);
    }

    /// Each row counts with its weight in the error. Each fit uses the weights of its rows, and each class needs a row
    /// of positive weight.
    #[test]
    fn errors_and_folds_have_weights() {
        let values = [vec![1.0], vec![1.0], vec![-1.0]];
        assert!((error(&values, &[1, 0, 0], None) - 1.0 / 3.0).abs() < 1e-15);
        let right: Vec<usize> = values.iter().map(|values| deciding_class(values)).collect();
        assert_eq!(error(&values, &right, None).to_string(), "0");
        assert_eq!(error(&values, &[1, 0, 0], Some(&[1.0, 6.0, 1.0])), 0.75);
        let plan = Plan::new(Method::Logistic);
        let rows = 100;
        let design = Design::Dense(Points::new((0..rows).map(f64::from).collect(), 1).unwrap());
        let classes: Vec<usize> = (0..rows).map(|i| (i / 4 % 2) as usize).collect();
        let found = |weights: Option<&[f64]>| {
            cross_validated(&plan, &design, &classes, weights, None).unwrap()
        };
        let of_first = |weight: f64| -> Vec<f64> {
            classes.iter().map(|class| if *class == 0 { weight } else { 1.0 }).collect()
        };
        let wrong = |weight: f64| error(&found(Some(&of_first(weight))).unwrap(), &classes, None);
        assert_eq!(found(Some(&of_first(1.0))), found(None));
        // If one class has nearly all the weight, this class is predicted for all rows.
        assert!((wrong(50.0) - 48.0 / 100.0).abs() < 1e-12, "{}", wrong(50.0));
        assert!(found(Some(&of_first(0.0))).is_none());
    }
}
