//! Uses confident learning (Northcutt, Jiang and Chuang 2021) to estimate class-dependent label noise, that is, how
//! often the rows of each true class get each label. The estimate is heuristic. It is accurate if the probabilities
//! separate the classes well.

/// The minimum excess for a class to count as often labelled as another class. The excess is the share of the rows of
/// the class that are labelled as the other class, minus the share of the rows of the other class that are labelled as
/// this class.
///
/// This value was chosen on random samples of the rows of nine text data sets. With other kinds of noise or with classes
/// of different sizes, the excess can also exceed this value, so a learner must not rely on this rule alone.
const EXCESS: f64 = 0.2;
/// The minimum excess in standard errors. With fewer rows, a classifier that is often wrong shows an excess where there
/// is none. This value was chosen on samples of 100 to 400 rows of one text data set, with planted mistakes.
const STANDARD_ERRORS: f64 = 4.0;

/// The estimated number of rows of each label and true class: `rows[label][class]`.
pub(crate) struct Joint {
    rows: Vec<Vec<f64>>,
    /// The number of rows of each true class.
    of_class: Vec<f64>,
}

/// The rows with one label that look most like another class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistaken {
    /// The label of the rows.
    pub(crate) label: usize,
    /// The class that these rows look like.
    pub(crate) class: usize,
    pub(crate) rows: Vec<usize>,
}

impl Joint {
    /// Estimates the joint counts from each row's label and from the class probabilities predicted by a model that was
    /// fitted without that row. Each row is assigned to the most probable of its likely classes. A class is likely for
    /// a row if its probability is at least its mean probability among the rows labelled with this class. The counts
    /// are scaled so that each label keeps its number of rows.
    pub(crate) fn estimate<'a>(
        rows: impl Iterator<Item = (usize, &'a [f64])> + Clone,
        count: usize,
    ) -> Joint {
        let (mut sums, mut of_label) = (vec![0.0; count], vec![0.0; count]);
        for (label, probabilities) in rows.clone() {
            sums[label] += probabilities[label];
            of_label[label] += 1.0;
        }
        let mut joint = vec![vec![0.0; count]; count];
        for (label, probabilities) in rows {
            let is_likely =
                |class: &usize| probabilities[*class] >= sums[*class] / of_label[*class];
            let likely = (0..count).filter(is_likely);
            let best = likely.max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
            if let Some(class) = best {
                joint[label][class] += 1.0;
            }
        }
        for (label, counts) in joint.iter_mut().enumerate() {
            let all: f64 = counts.iter().sum();
            if all > 0.0 {
                counts.iter_mut().for_each(|rows| *rows *= of_label[label] / all);
            } else {
                counts[label] = of_label[label];
            }
        }
        let of_class = (0..count).map(|class| joint.iter().map(|counts| counts[class]).sum());
        Joint { of_class: of_class.collect(), rows: joint }
    }

    /// The share of a label among the rows of a true class.
    pub(crate) fn share(&self, label: usize, class: usize) -> f64 {
        match self.of_class[class] > 0.0 {
            true => self.rows[label][class] / self.of_class[class],
            false => f64::from(u8::from(label == class)),
        }
    }

    /// The label and the class with the largest excess, which is defined at [`EXCESS`]. Returns `None` if this excess
    /// is less than [`EXCESS`] or less than [`STANDARD_ERRORS`] times its standard error.
    pub(crate) fn often_labelled_as(&self) -> Option<(usize, usize)> {
        let count = self.rows.len();
        let pairs = (0..count).flat_map(|label| (0..count).map(move |class| (label, class)));
        let excess =
            |(label, class): (usize, usize)| self.share(label, class) - self.share(class, label);
        let most = pairs.max_by(|a, b| excess(*a).total_cmp(&excess(*b)));
        // One row with and one row without the label are added, so that a share of 0 or 1 has a variance.
        let variance = |label: usize, class: usize| {
            let rows = self.of_class[class] + 2.0;
            let share = (self.rows[label][class] + 1.0) / rows;
            share * (1.0 - share) / rows
        };
        let error = |(label, class): (usize, usize)| {
            (variance(label, class) + variance(class, label)).sqrt()
        };
        most.filter(|pair| excess(*pair) >= EXCESS.max(STANDARD_ERRORS * error(*pair)))
    }
}

/// Finds the rows whose label is likely wrong, if a class is often labelled as another. These rows have the label of
/// the other class but look most like the first class. Their number is estimated by [`Joint`]. Returns `None` if no
/// class is often labelled as another, or if this rule selects no row or all rows with the label.
pub(crate) fn mistaken(
    probabilities: &[Vec<f64>],
    labels: &[usize],
    count: usize,
) -> Option<Mistaken> {
    let rows = labels.iter().copied().zip(probabilities.iter().map(Vec::as_slice));
    let joint = Joint::estimate(rows.clone(), count);
    let (label, class) = joint.often_labelled_as()?;
    let is_next = |of: &[f64]| (0..count).all(|other| other == label || of[other] <= of[class]);
    let of_label = labels.iter().filter(|given| **given == label).count();
    let looks = rows.enumerate().filter(|(_, (given, of))| *given == label && is_next(of));
    let mut found: Vec<(f64, usize)> =
        looks.map(|(row, (_, of))| (of[class] - of[label], row)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.truncate(joint.rows[label][class].round() as usize);
    let rows: Vec<usize> = found.into_iter().map(|(_, row)| row).collect();
    (!rows.is_empty() && rows.len() < of_label).then_some(Mistaken { label, class, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates 100 rows of class 0, `turned` of which have the label 1, and 100 rows of class 1. The probabilities of
    /// the rows of class 0 reflect the share of wrong labels.
    fn rows(turned: usize) -> (Vec<Vec<f64>>, Vec<usize>) {
        let share = turned as f64 / 100.0;
        let of_first = (0..100).map(|row| {
            let apart = 1e-4 * row as f64;
            (vec![1.0 - share - apart, share + apart], usize::from(row < turned))
        });
        let of_second = (0..100).map(|row| {
            let apart = 1e-4 * row as f64;
            (vec![0.01 + apart, 0.99 - apart], 1)
        });
        of_first.chain(of_second).unzip()
    }

    /// The second class has 100 rows, and 40 % of the rows of the first class have its label. The standard error of this
    /// excess is 0.1008 if the first class has 22 rows, and 0.0988 if it has 23.
    #[test]
    fn a_class_of_few_rows_is_not_often_labelled_as_another() {
        let found = |rows: usize| {
            let of_class = vec![rows as f64, 100.0];
            let turned = 0.4 * rows as f64;
            let rows = vec![vec![rows as f64 - turned, 0.0], vec![turned, 100.0]];
            Joint { rows, of_class }.often_labelled_as()
        };
        assert_eq!((found(22), found(23)), (None, Some((1, 0))));
    }

    #[test]
    fn the_rows_that_look_most_like_the_class_are_found() {
        let (probabilities, labels) = rows(40);
        let found = mistaken(&probabilities, &labels, 2).unwrap();
        // All 40 rows are found, starting with those that look most like the class.
        assert_eq!((found.label, found.class), (1, 0));
        assert_eq!(found.rows, (0..40).collect::<Vec<usize>>());
        // The result does not depend on the order of the classes, so the pair is also found if the two classes are
        // swapped.
        let swapped: Vec<Vec<f64>> = probabilities.iter().map(|of| vec![of[1], of[0]]).collect();
        let opposite: Vec<usize> = labels.iter().map(|label| 1 - label).collect();
        let found = mistaken(&swapped, &opposite, 2).unwrap();
        assert_eq!((found.label, found.class, found.rows.len()), (0, 1, 40));
    }

    /// A class counts as often labelled as another if the excess is at least a fifth.
    #[test]
    fn a_class_is_often_labelled_as_another_from_a_fifth_on() {
        let is_found = |turned: usize| {
            let (probabilities, labels) = rows(turned);
            mistaken(&probabilities, &labels, 2).is_some()
        };
        assert!(is_found(21) && !is_found(19) && !is_found(0));
        // Each class is labelled as the other equally often: 40 of the 100 rows of each class have a wrong label.
        let (mut probabilities, mut labels) = (Vec::new(), Vec::new());
        for row in 0..200 {
            let (class, turned) = (row % 2, row % 5 < 2);
            labels.push(if turned { 1 - class } else { class });
            probabilities.push(if class == 0 { vec![0.6, 0.4] } else { vec![0.4, 0.6] });
        }
        assert_eq!(mistaken(&probabilities, &labels, 2), None);
    }

    /// Rows that look more like a third class are not selected.
    #[test]
    fn rows_that_look_like_a_third_class_stay() {
        let (probabilities, mut labels) = rows(40);
        let mut probabilities: Vec<Vec<f64>> =
            probabilities.iter().map(|of| vec![of[0], of[1], 0.0]).collect();
        probabilities[0] = vec![0.2, 0.1, 0.7];
        for _ in 0..20 {
            probabilities.push(vec![0.05, 0.05, 0.9]);
            labels.push(2);
        }
        let found = mistaken(&probabilities, &labels, 3).unwrap();
        assert_eq!(found.rows, (1..40).collect::<Vec<usize>>());
    }

    /// A label keeps at least one row. Here the only row of a label looks like another class.
    #[test]
    fn a_label_keeps_a_row() {
        let (mut probabilities, mut labels) = rows(0);
        probabilities.iter_mut().for_each(|of| of.push(0.0));
        probabilities.push(vec![0.6, 0.1, 0.3]);
        labels.push(2);
        assert_eq!(mistaken(&probabilities, &labels, 3), None);
        assert_eq!(mistaken(&[], &[], 2), None);
    }
}
