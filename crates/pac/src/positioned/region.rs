//! Chooses the region of a rule: a whole subspace, or the points of the subspace beyond a threshold. The criterion is
//! the signed sum over points that were not used to fit the direction.
//!
//! *Source.* docs/theory/massart-without-margin.md, section "Choice"; for `Least` and `Whole`, section "The practical
//! schedule". Claims: PM, PMn, PMt.

use super::rule::PositionedAnswer;
use halfspaces_linalg::{Halfspace, InputError, Label, Points, Threads, checkpoint, margins};

/// Points of a subspace in radially isotropic position, with their labels, and the total number of points, including
/// those outside the subspace.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) points: Points,
    pub(super) labels: Vec<Label>,
    pub(super) left: usize,
}

/// The numbers of points and errors with |v·f| >= t. A threshold of 0 selects the whole subspace.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cut {
    threshold: f64,
    inside: usize,
    errors: usize,
}

/// A region with its labels, and the numbers of points and errors in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Region {
    pub(super) answer: PositionedAnswer,
    pub(super) inside: usize,
    pub(super) errors: usize,
}

/// The criterion for choosing a region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Criterion {
    /// The largest region with Ĝ <= -slack; ties go to the region with the fewest errors.
    Largest { slack: f64 },
    /// The region with the smallest Ĝ; ties go to the larger region.
    Least,
    /// The whole subspace, with the labels that have the fewest errors.
    Whole,
}

impl Cut {
    /// Returns Ĝ times the number of remaining points: the number of errors in the region minus λ times its number of
    /// points.
    fn signed(self, leak: f64) -> f64 {
        self.errors as f64 - leak * self.inside as f64
    }
}

impl Criterion {
    fn admits(self, cut: Cut, leak: f64, placed: &Placed) -> bool {
        match self {
            Criterion::Largest { slack } => cut.signed(leak) <= -slack * placed.left as f64,
            Criterion::Least => true,
            Criterion::Whole => cut.inside == placed.labels.len(),
        }
    }

    fn prefers(self, new: Cut, old: Cut, leak: f64) -> bool {
        let (a, b) = (new.signed(leak), old.signed(leak));
        match self {
            Criterion::Largest { .. } | Criterion::Whole => {
                (new.inside, old.errors) > (old.inside, new.errors)
            }
            Criterion::Least => a < b || (a <= b && new.inside > old.inside),
        }
    }
}

/// Chooses the region that meets the criterion. The candidates are the two constant labels and the thresholds of all
/// `directions`.
pub(super) fn choose(
    directions: &[Vec<f64>],
    placed: &Placed,
    leak: f64,
    criterion: Criterion,
    threads: Threads,
) -> Result<Option<Region>, InputError> {
    let inside = placed.labels.len();
    let negatives = placed.labels.iter().filter(|y| **y == Label::Negative).count();
    let best_cut = |(): &mut (), v: &Vec<f64>| -> Result<Option<Cut>, InputError> {
        let admitted =
            thresholds(v, placed)?.into_iter().filter(|cut| criterion.admits(*cut, leak, placed));
        Ok(admitted.reduce(|old, new| if criterion.prefers(new, old, leak) { new } else { old }))
    };
    let cuts = threads.map_with(directions.iter(), || (), best_cut);
    let mut best: Option<(Cut, PositionedAnswer)> = None;
    let mut offer = |cut: Cut, answer: PositionedAnswer| {
        let preferred = best.as_ref().is_none_or(|(old, _)| criterion.prefers(cut, *old, leak));
        if criterion.admits(cut, leak, placed) && preferred {
            best = Some((cut, answer));
        }
    };
    for (label, errors) in [(Label::Positive, negatives), (Label::Negative, inside - negatives)] {
        offer(Cut { threshold: 0.0, inside, errors }, PositionedAnswer::Constant(label));
    }
    for (cut, v) in cuts.into_iter().zip(directions) {
        if let Some(cut) = cut? {
            let direction = Halfspace::new(v.clone())?;
            let threshold = cut.threshold;
            offer(cut, PositionedAnswer::Halfspace { direction, threshold });
        }
    }
    Ok(best.map(|(Cut { inside, errors, .. }, answer)| Region { answer, inside, errors }))
}

/// The regions |v·f| >= t, one for each distinct |v·f| among the points, from the smallest region to the largest. Each
/// threshold is just above the next smaller |v·f|, so no larger region |v·f| >= t contains exactly the same points. The
/// theorem bounds the covered fraction of one of the regions that contain exactly these points. The last region is the
/// whole subspace.
fn thresholds(v: &[f64], placed: &Placed) -> Result<Vec<Cut>, InputError> {
    checkpoint();
    let values = margins(&placed.points, v)?;
    let mut judged: Vec<(f64, bool)> = values
        .iter()
        .zip(&placed.labels)
        .map(|(value, y)| (value.abs(), Label::from_sign(*value) != *y))
        .collect();
    judged.sort_by(|a, b| b.0.total_cmp(&a.0));
    checkpoint();
    let (mut inside, mut errors) = (0, 0);
    let mut cuts = Vec::new();
    for equal in judged.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        inside += equal.len();
        errors += equal.iter().filter(|(_, wrong)| *wrong).count();
        let threshold = judged.get(inside).map_or(0.0, |(smaller, _)| smaller.next_up());
        cuts.push(Cut { threshold, inside, errors });
    }
    Ok(cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITIVE: Label = Label::Positive;
    const NEGATIVE: Label = Label::Negative;

    /// Six points with |v·f| = 1, 0.8, 0.8, 0.6, 0.2, 0.1, for which the direction is right, right, wrong, right,
    /// wrong, wrong. The number of remaining points is 10.
    fn placed() -> Placed {
        let values = vec![1.0, 0.8, -0.8, 0.6, 0.2, -0.1];
        let labels = vec![POSITIVE, POSITIVE, POSITIVE, POSITIVE, NEGATIVE, POSITIVE];
        Placed { points: Points::new(values, 1).unwrap(), labels, left: 10 }
    }

    fn chosen(leak: f64, criterion: Criterion, v: f64) -> Option<(Option<f64>, usize, usize)> {
        let found = choose(&[vec![v]], &placed(), leak, criterion, Threads::ONE).unwrap();
        found.map(|region| match region.answer {
            PositionedAnswer::Halfspace { threshold, .. } => {
                (Some(threshold), region.inside, region.errors)
            }
            PositionedAnswer::Constant(label) => {
                assert_eq!(label, POSITIVE);
                (None, region.inside, region.errors)
            }
        })
    }

    #[test]
    fn thresholds_are_counted_once_for_equal_values() {
        let regions = thresholds(&[1.0], &placed()).unwrap();
        let counts: Vec<_> = regions.iter().map(|r| (r.inside, r.errors)).collect();
        assert_eq!(counts, [(1, 0), (3, 1), (4, 1), (5, 2), (6, 3)]);
        let values: Vec<f64> = regions.iter().map(|r| r.threshold).collect();
        let above = |smaller: f64| smaller.next_up();
        assert_eq!(values, [above(0.8), above(0.6), above(0.2), above(0.1), 0.0]);
    }

    #[test]
    fn the_least_signed_sum_wins() {
        // The constant +1 errs on 1 of 6 points, so its sum is 1 - 6·0.4 = -1.4. The regions have the sums -0.4, -0.2,
        // -0.6, 0, 0.6.
        assert_eq!(chosen(0.4, Criterion::Least, 1.0), Some((None, 6, 1)));
        // For λ = 0.1, the sum is 0.4 for the constant and -0.1 for the outermost point.
        assert_eq!(chosen(0.1, Criterion::Least, 1.0), Some((Some(0.8f64.next_up()), 1, 0)));
        // For λ = 0, the outermost point has signed sum 0, and all larger regions have a sum above 0.
        assert_eq!(chosen(0.0, Criterion::Least, 1.0), Some((Some(0.8f64.next_up()), 1, 0)));
    }

    #[test]
    fn the_largest_below_the_slack_wins() {
        // For λ = 0.4 and 10 remaining points, the regions have the sums -0.04, -0.02, -0.06, 0, 0.06, and the constant
        // has -0.14.
        assert_eq!(chosen(0.4, Criterion::Largest { slack: 0.14 }, 1.0), Some((None, 6, 1)));
        assert_eq!(chosen(0.4, Criterion::Largest { slack: 0.15 }, 1.0), None);
        // For λ = 0.1, only one region has a negative signed sum, which is -0.01.
        assert_eq!(
            chosen(0.1, Criterion::Largest { slack: 0.01 }, 1.0),
            Some((Some(0.8f64.next_up()), 1, 0))
        );
        assert_eq!(chosen(0.1, Criterion::Largest { slack: 0.011 }, 1.0), None);
        // For λ = 0.45, the regions have the sums -0.45, -0.35, -0.8, -0.25, 0.3.
        let wide = Criterion::Largest { slack: 0.02 };
        let mut half = placed();
        half.labels = vec![POSITIVE, POSITIVE, POSITIVE, NEGATIVE, NEGATIVE, POSITIVE];
        half.labels[3] = POSITIVE;
        half.labels[5] = NEGATIVE;
        // The constant errs on 2 of 6 points. The direction is right, right, wrong, right, wrong, right, so it also
        // errs on 2 of 6 points.
        let found = choose(&[vec![1.0]], &half, 0.45, wide, Threads::ONE).unwrap().unwrap();
        assert_eq!((found.inside, found.errors), (6, 2));
    }

    #[test]
    fn the_whole_is_taken_by_fewest_errors() {
        assert_eq!(chosen(0.4, Criterion::Whole, 1.0), Some((None, 6, 1)));
        // The opposite direction has no errors if three labels are flipped.
        let mut turned = placed();
        turned.labels = vec![NEGATIVE, NEGATIVE, POSITIVE, NEGATIVE, NEGATIVE, POSITIVE];
        let found =
            choose(&[vec![-1.0], vec![1.0]], &turned, 0.4, Criterion::Whole, Threads::all());
        let region = found.unwrap().unwrap();
        assert_eq!((region.inside, region.errors), (6, 0));
        let direction = Halfspace::new(vec![-1.0]).unwrap();
        assert_eq!(region.answer, PositionedAnswer::Halfspace { direction, threshold: 0.0 });
    }

    /// For λ = 1/2 and predictions that are right, wrong, right, G is -1/2 for one point, 0 for two and -1/2 again for
    /// three.
    #[test]
    fn of_equal_signed_sums_the_larger_region_wins() {
        let points = Points::new(vec![3.0, 2.0, 1.0, -0.5, -0.25, -0.125], 1).unwrap();
        let labels = vec![POSITIVE, NEGATIVE, POSITIVE, POSITIVE, NEGATIVE, POSITIVE];
        let placed = Placed { points, labels, left: 6 };
        let found = choose(&[vec![1.0]], &placed, 0.5, Criterion::Least, Threads::ONE).unwrap();
        let region = found.unwrap();
        // The constant +1 errs on 2 of 6 points and has the sum -1; the regions have the sums -1/2, 0, -1/2, 0,
        // -1/2, 0.
        assert_eq!((region.inside, region.errors), (6, 2));
        let mut few = placed;
        few.labels = vec![POSITIVE, NEGATIVE, POSITIVE, NEGATIVE, NEGATIVE, NEGATIVE];
        // Now the regions have the sums -1/2, 0, -1/2, -1, -3/2, -2. The best region has all six points, of which 1 is
        // misclassified. The constants have the sum -1.
        let found = choose(&[vec![1.0]], &few, 0.5, Criterion::Least, Threads::ONE).unwrap();
        assert_eq!((found.as_ref().unwrap().inside, found.unwrap().errors), (6, 1));
        few.labels = vec![POSITIVE, NEGATIVE, POSITIVE, POSITIVE, POSITIVE, NEGATIVE];
        // The regions have the sums -1/2, 0, -1/2, 0, 1/2, 0, and the larger of the two regions at -1/2 wins. The
        // constant +1 has the sum -1.
        let thresholds = thresholds(&[1.0], &few).unwrap();
        let best = thresholds
            .into_iter()
            .reduce(|old, new| if Criterion::Least.prefers(new, old, 0.5) { new } else { old });
        assert_eq!(best.map(|cut| (cut.inside, cut.errors)), Some((3, 1)));
    }
}
