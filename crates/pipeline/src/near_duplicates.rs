//! Finds near-duplicate rows that have different labels.

use halfspaces_linalg::{PointSet, Points, SparsePoints, SparseRow};
use std::collections::HashMap;

/// The minimum cosine similarity of two rows that count as near-duplicates.
const LEAST: f64 = 0.9;
/// The maximum number of earlier rows with which a row is compared, for each coordinate that they share. The last of
/// these rows are used.
const MAX_COMPARED: usize = 1000;

/// For every row, finds the most similar row with another label. The result is `None` if no row with another label has
/// a cosine of at least 0.9 with the row. If several rows are equally similar, the first of them is returned. If the
/// rows are texts, one of the two labels is likely wrong.
///
/// Similar rows are found through an index of the coordinates that they share (Bayardo, Ma and Srikant 2007). The most
/// common coordinates of a row are left out of the index as long as the norm of this part is less than 0.9 times the
/// norm of the row, because two rows that share only such coordinates have a cosine below 0.9. If a coordinate in the
/// index belongs to more than 1000 different rows, some pairs may be missed.
///
/// *Cost.* The memory is O(entries + dim). The time grows with the number of rows that share rare coordinates.
///
/// ```
/// use halfspaces_linalg::SparsePoints;
/// use halfspaces_pipeline::contradictions;
/// let points = SparsePoints::new(vec![0, 2, 4, 5], vec![0, 1, 0, 1, 2], vec![3.0, 4.0, 3.0, 4.5, 1.0], 3)?;
/// assert_eq!(contradictions(&points, &[0, 1, 1]), [Some(1), Some(0), None]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
///
/// # Panics
/// Panics if `classes` has fewer elements than there are rows.
#[must_use]
pub fn contradictions(points: &SparsePoints, classes: &[usize]) -> Vec<Option<usize>> {
    let mut rows_of = vec![0u32; points.dim()];
    points.rows().for_each(|x| x.columns().iter().for_each(|at| rows_of[*at as usize] += 1));
    let mut index: Vec<Vec<(usize, f64)>> = vec![Vec::new(); points.dim()];
    // Copies of a row with the same label have the same result, so only the first copy is processed.
    let mut first_of: HashMap<(Vec<u32>, Vec<u64>, usize), usize> = HashMap::new();
    let mut first: Vec<usize> = (0..points.len()).collect();
    let mut norms = vec![0.0; points.len()];
    // The norm of the part of a row that is not in the index.
    let mut common = vec![0.0; points.len()];
    let mut found: Vec<Option<(f64, usize)>> = vec![None; points.len()];
    let mut sums: HashMap<usize, f64> = HashMap::new();
    for (row, x) in points.rows().enumerate() {
        let bits = x.values().iter().map(|value| value.to_bits()).collect();
        first[row] = *first_of.entry((x.columns().to_vec(), bits, classes[row])).or_insert(row);
        let square: f64 = x.values().iter().map(|value| value * value).sum();
        if first[row] != row || square == 0.0 {
            continue;
        }
        norms[row] = square.sqrt();
        sums.clear();
        for (column, value) in x.columns().iter().zip(x.values()) {
            let known = &index[*column as usize];
            for (other, of_other) in &known[known.len().saturating_sub(MAX_COMPARED)..] {
                if classes[*other] != classes[row] {
                    *sums.entry(*other).or_insert(0.0) += value * of_other;
                }
            }
        }
        for (&other, sum) in &sums {
            let least = LEAST * norms[row] * norms[other];
            if sum + common[other] * norms[row] < least {
                continue;
            }
            let Some(y) = points.row(other) else { unreachable!("the index contains row numbers") };
            let cosine = (dot(x, y) / (norms[row] * norms[other])).min(1.0);
            if cosine >= LEAST {
                for (one, twin) in [(row, other), (other, row)] {
                    let is_better = |(known, at): (f64, usize)| {
                        cosine.total_cmp(&known).then(at.cmp(&twin)).is_gt()
                    };
                    if found[one].is_none_or(is_better) {
                        found[one] = Some((cosine, twin));
                    }
                }
            }
        }
        let mut entries: Vec<(u32, f64)> =
            x.columns().iter().copied().zip(x.values().iter().copied()).collect();
        entries.sort_by_key(|(column, _)| (std::cmp::Reverse(rows_of[*column as usize]), *column));
        let mut outside = 0.0;
        for (column, value) in entries {
            if outside + value * value < LEAST * LEAST * square {
                outside += value * value;
            } else {
                index[column as usize].push((row, value));
            }
        }
        common[row] = outside.sqrt();
    }
    first.iter().map(|first| found[*first].map(|(_, twin)| twin)).collect()
}

fn dot(x: SparseRow<'_>, y: SparseRow<'_>) -> f64 {
    let (mut at, mut sum) = (0, 0.0);
    for (column, value) in x.columns().iter().zip(x.values()) {
        while at < y.columns().len() && y.columns()[at] < *column {
            at += 1;
        }
        if y.columns().get(at) == Some(column) {
            sum += value * y.values()[at];
        }
    }
    sum
}

/// For each row, the index of the first row with the same coordinates and a different class, or `None` if there is no
/// such row. `hashes` contains a hash of each row.
pub(crate) fn equal_rows(points: &Points, hashes: &[u64], classes: &[usize]) -> Vec<Option<usize>> {
    let are_equal = |a: usize, b: usize| points.row(a) == points.row(b);
    // The first row of each class among the rows with the same hash.
    let mut firsts: HashMap<u64, Vec<usize>> = HashMap::new();
    for (row, hash) in hashes.iter().enumerate() {
        let of_hash = firsts.entry(*hash).or_default();
        if !of_hash.iter().any(|other| classes[*other] == classes[row] && are_equal(*other, row)) {
            of_hash.push(row);
        }
    }
    let twin = |(row, hash): (usize, &u64)| {
        let others = firsts.get(hash)?.iter().copied();
        others.filter(|other| classes[*other] != classes[row] && are_equal(*other, row)).min()
    };
    hashes.iter().enumerate().map(twin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Design;
    use crate::validation::row_hashes;
    use halfspaces_linalg::rand::RngExt;
    use halfspaces_linalg::{RngStream, rng_for};

    /// Creates random rows with repeated words. Some rows are changed copies of earlier rows.
    fn sample(rows: usize) -> (SparsePoints, Vec<usize>) {
        let mut chance = rng_for(RngStream::CALLER, 3);
        let mut points = SparsePoints::empty(400).unwrap();
        let mut kept: Vec<Vec<(u32, f64)>> = Vec::new();
        for row in 0..rows {
            let mut entries: Vec<(u32, f64)> = match row % 3 {
                0 if row > 10 => kept[chance.random_range(0..kept.len())].clone(),
                _ => (0..chance.random_range(0..12))
                    .map(|_| {
                        let (a, b) = (chance.random_range(0..400), chance.random_range(0..400));
                        (a.min(b), chance.random_range(0.1..1.0))
                    })
                    .collect(),
            };
            if row % 6 == 0 && !entries.is_empty() {
                let at = chance.random_range(0..entries.len());
                entries[at].1 *= 0.3;
            }
            entries.sort_by_key(|entry| entry.0);
            entries.dedup_by_key(|entry| entry.0);
            let (columns, values): (Vec<u32>, Vec<f64>) = entries.iter().copied().unzip();
            points.push(&columns, &values).unwrap();
            kept.push(entries);
        }
        (points, (0..rows).map(|_| chance.random_range(0..3)).collect())
    }

    /// The result is the same as if all pairs were compared.
    #[test]
    fn all_pairs_are_found() {
        let (points, classes) = sample(600);
        let found = contradictions(&points, &classes);
        let norm = |x: SparseRow<'_>| dot(x, x).sqrt();
        let cosine = |a: usize, b: usize| {
            let (x, y) = (points.row(a).unwrap(), points.row(b).unwrap());
            dot(x, y) / (norm(x) * norm(y))
        };
        let mut pairs = 0;
        for row in 0..600 {
            let others = (0..600).filter(|other| classes[*other] != classes[row]);
            let near = others.filter(|other| cosine(row, *other) >= LEAST);
            let most = near.map(|other| cosine(row, other)).fold(f64::NAN, f64::max);
            match found[row] {
                Some(twin) => {
                    assert!(
                        classes[twin] != classes[row] && (cosine(row, twin) - most).abs() < 1e-12
                    );
                    pairs += 1;
                }
                None => assert!(most.is_nan(), "{row}"),
            }
        }
        assert!((50..500).contains(&pairs), "{pairs}");
    }

    #[test]
    fn the_least_cosine_is_nine_tenths() {
        let is_found = |cosine: f64| {
            let mut points = SparsePoints::empty(2).unwrap();
            points.push(&[0], &[2.0]).unwrap();
            points.push(&[0, 1], &[cosine, (1.0 - cosine * cosine).sqrt()]).unwrap();
            let found = contradictions(&points, &[0, 1]);
            assert_eq!(contradictions(&points, &[1, 1]), [None, None]);
            assert!(found == [Some(1), Some(0)] || found == [None, None]);
            found[0].is_some()
        };
        assert!(is_found(0.9001) && !is_found(0.8999));
    }

    /// The time to process many copies grows only in proportion to their number.
    #[test]
    fn copies_share_their_answer() {
        let mut points = SparsePoints::empty(3).unwrap();
        (0..50_000).for_each(|_| points.push(&[0, 2], &[1.0, 1.0]).unwrap());
        let classes: Vec<usize> = (0..50_000).map(|row| usize::from(row % 1000 == 7)).collect();
        let found = contradictions(&points, &classes);
        assert!((0..50_000).all(|row| found[row] == Some(if classes[row] == 0 { 7 } else { 0 })));
    }

    /// Only the last 1000 of the earlier rows that share a coordinate are compared.
    #[test]
    fn the_last_thousand_rows_are_compared() {
        let mut points = SparsePoints::empty(1).unwrap();
        (0..1201).for_each(|row| points.push(&[0], &[1.0 + f64::from(row)]).unwrap());
        let classes: Vec<usize> = (0..1201).map(|row| row / 1200).collect();
        let found = contradictions(&points, &classes);
        assert_eq!((found[1200], found[199], found[200]), (Some(200), None, Some(1200)));
    }

    #[test]
    fn equal_rows_of_another_class_are_found() {
        let points = Points::from_rows(&[[1.0, 0.0], [1.0, -0.0], [1.0, 0.0], [2.0, 0.0]]).unwrap();
        let design = Design::Dense(points.clone());
        let hashes: Vec<u64> = row_hashes(&design).collect();
        let found = |hashes: &[u64], classes| equal_rows(&points, hashes, classes);
        assert_eq!(found(&hashes, &[0, 1, 1, 0]), [Some(1), Some(0), Some(0), None]);
        assert_eq!(found(&hashes, &[1, 1, 1, 0]), [None; 4]);
        // Equal hashes do not make rows equal.
        assert_eq!(found(&[0; 4], &[0, 1, 1, 1]), [Some(1), Some(0), Some(0), None]);
    }
}
