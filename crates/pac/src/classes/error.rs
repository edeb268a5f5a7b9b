//! The error of a classifier for several classes.

use halfspaces_linalg::InputError;
use thiserror::Error;

/// An error that occurs when a classifier for several classes is fitted.
///
/// ```
/// use halfspaces_pac::ClassesError;
/// let error: ClassesError<std::convert::Infallible> = ClassesError::NoPointOf { class: 2, classes: 5 };
/// assert!(error.to_string().starts_with("class 2 has no point; number the 5 classes"));
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ClassesError<E> {
    /// A class number below the largest one does not occur.
    #[error("class {class} has no point; number the {classes} classes from 0 without gaps")]
    NoPointOf {
        /// The class that does not occur.
        class: usize,
        /// The number of classes: one more than the largest class number.
        classes: usize,
    },
    /// All points belong to one class.
    #[error("all points are of class 0; at least two classes are needed")]
    OneClass,
    /// The points are invalid, or their number differs from the number of labels.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A binary learner failed.
    #[error("class {class} against the rest: {source}")]
    Learner {
        /// The class whose points are positive.
        class: usize,
        /// The learner's error.
        source: E,
    },
}

/// Counts the classes that occur in `labels`. Every number from 0 to the largest must occur.
pub(super) fn count<E>(points: usize, labels: &[usize]) -> Result<usize, ClassesError<E>> {
    InputError::check_len(points, labels.len())?;
    let Some(largest) = labels.iter().max() else { return Err(InputError::Empty.into()) };
    // If there are more classes than points, some class has no point, so a vector with one more entry than points is
    // long enough.
    let classes = largest.saturating_add(1);
    let mut seen = vec![false; classes.min(points + 1)];
    for &class in labels {
        if let Some(seen) = seen.get_mut(class) {
            *seen = true;
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(class) => Err(ClassesError::NoPointOf { class, classes }),
        None if classes == 1 => Err(ClassesError::OneClass),
        None => Ok(classes),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use halfspaces_linalg::Points;

    /// Creates n points in the plane, in three clusters around the corners of a triangle.
    pub(crate) fn three_clusters(n: usize) -> (Points, Vec<usize>) {
        let corners = [[0.0, 2.0], [-2.0, -1.0], [2.0, -1.0]];
        let wave = |i: usize, k: f64| (i as f64 * k).sin();
        let row = |i: usize| {
            let [x, y] = corners[i % 3];
            [x + 0.8 * wave(i, 1.7), y + 0.8 * wave(i, 2.9)]
        };
        let rows: Vec<[f64; 2]> = (0..n).map(row).collect();
        (Points::from_rows(&rows).unwrap(), (0..n).map(|i| i % 3).collect())
    }

    #[test]
    fn classes_are_counted_without_gaps() {
        type Count = Result<usize, ClassesError<InputError>>;
        let count = |points, labels: &[usize]| -> Count { count(points, labels) };
        assert_eq!(count(4, &[1, 0, 2, 1]), Ok(3));
        assert_eq!(count(2, &[0, 0]), Err(ClassesError::OneClass));
        assert_eq!(count(2, &[0, 2]), Err(ClassesError::NoPointOf { class: 1, classes: 3 }));
        let huge = Err(ClassesError::NoPointOf { class: 1, classes: usize::MAX });
        assert_eq!(count(2, &[0, usize::MAX]), huge);
        assert_eq!(count(0, &[]), Err(InputError::Empty.into()));
        let short = InputError::LengthMismatch { points: 3, labels: 1 };
        assert_eq!(count(3, &[0]), Err(short.into()));
    }
}
