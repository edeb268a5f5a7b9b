//! The empirical 0-1 error, and the exact bound that it implies on the true error.

use halfspaces_linalg::{Classifier, InputError, Label, PointSet, Threads, load_checked};
use statrs::function::beta::beta_reg;

/// The number of labelled points that a classifier misclassifies. It determines the empirical 0-1 error ℓ01 and an
/// exact upper bound on the true error. Claims: PT.
///
/// ```
/// use halfspaces_linalg::{Halfspace, Label, Points};
/// use halfspaces_pac::ErrorCount;
/// let points = Points::from_rows(&[[1.0], [-1.0], [2.0], [-3.0]])?;
/// let labels = [Label::Positive, Label::Positive, Label::Positive, Label::Negative];
/// let errors = ErrorCount::count(&Halfspace::new(vec![1.0])?, &points, &labels)?;
/// assert_eq!((errors.errors(), errors.rate()), (1, 0.25));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ErrorCount {
    pub(crate) errors: usize,
    pub(crate) points: usize,
}

load_checked!(ErrorCount { errors: usize, points: usize });

#[cfg(feature = "serde")]
impl ErrorCount {
    fn check_saved(&self) -> Result<(), InputError> {
        ErrorCount::new(self.errors, self.points).map(|_| ())
    }
}

impl ErrorCount {
    /// Counts the points whose label differs from the classifier's prediction.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`], [`InputError::DimensionMismatch`].
    pub fn count<C: Classifier, P: PointSet>(
        classifier: &C,
        points: &P,
        labels: &[Label],
    ) -> Result<ErrorCount, InputError> {
        ErrorCount::of(labels, points.len(), || classifier.label_all(points))
    }

    /// Counts on several threads, with the same result as [`ErrorCount::count`].
    ///
    /// # Errors
    /// The errors of [`ErrorCount::count`].
    pub fn count_on<C: Classifier + Sync, P: PointSet>(
        classifier: &C,
        points: &P,
        labels: &[Label],
        threads: Threads,
    ) -> Result<ErrorCount, InputError> {
        ErrorCount::of(labels, points.len(), || classifier.label_all_on(points, threads))
    }

    fn of(
        labels: &[Label],
        points: usize,
        predict: impl FnOnce() -> Result<Vec<Label>, InputError>,
    ) -> Result<ErrorCount, InputError> {
        InputError::check_len(points, labels.len())?;
        if labels.is_empty() {
            return Err(InputError::Empty);
        }
        let errors = predict()?.iter().zip(labels).filter(|(p, y)| p != y).count();
        Ok(ErrorCount { errors, points })
    }

    /// Creates a count of `errors` errors on `points` points.
    ///
    /// # Errors
    /// [`InputError::Empty`] for zero points; [`InputError::ParameterOutOfRange`] for more errors than points.
    pub fn new(errors: usize, points: usize) -> Result<ErrorCount, InputError> {
        if points == 0 {
            return Err(InputError::Empty);
        }
        let in_range = errors <= points;
        InputError::check_parameter("errors", errors as f64, in_range, "at most the points")?;
        Ok(ErrorCount { errors, points })
    }

    /// The number of misclassified points.
    #[must_use]
    pub fn errors(self) -> usize {
        self.errors
    }

    /// The number of points.
    #[must_use]
    pub fn points(self) -> usize {
        self.points
    }

    /// The fraction of misclassified points, in [0, 1].
    #[must_use]
    pub fn rate(self) -> f64 {
        self.errors as f64 / self.points as f64
    }

    /// The exact binomial upper bound (Clopper-Pearson) on the error rate. The bound fails with probability at most
    /// `failure`. The points must be independent and must not have been used to choose the classifier. The bound is the
    /// largest p with P\[Bin(n, p) <= errors\] > `failure`.
    ///
    /// ```
    /// use halfspaces_linalg::{Halfspace, Label, Points};
    /// use halfspaces_pac::{ErrorBound, ErrorCount};
    /// let points = Points::new(vec![1.0; 59], 1)?;
    /// let count = ErrorCount::count(&Halfspace::new(vec![1.0])?, &points, &[Label::Positive; 59])?;
    /// // With no error on n points, the bound is 1 - δ^(1/n). At δ = 5 %, at least 59 points are needed to prove 5 %.
    /// let ErrorBound::AtMost(bound) = count.error_bound(0.05)? else { panic!("59 points say something") };
    /// assert!((bound - (1.0 - 0.05f64.powf(1.0 / 59.0))).abs() < 1e-12 && bound < 0.05);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a `failure` outside (0, 1).
    pub fn error_bound(self, failure: f64) -> Result<ErrorBound, InputError> {
        let in_range = failure > 0.0 && failure < 1.0;
        InputError::check_parameter("failure", failure, in_range, "above 0 and below 1")?;
        if self.errors == self.points {
            return Ok(ErrorBound::NoInformation);
        }
        let (right, wrong) = ((self.points - self.errors) as f64, self.errors as f64);
        // P[Bin(n, p) <= errors] equals the incomplete beta function I_{1-p}(right, wrong + 1), which decreases in p.
        let (mut low, mut high) = (self.rate(), 1.0);
        while (low + high) / 2.0 > low && (low + high) / 2.0 < high {
            let middle = (low + high) / 2.0;
            if beta_reg(right, wrong + 1.0, 1.0 - middle) > failure {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(if high < 1.0 { ErrorBound::AtMost(high) } else { ErrorBound::NoInformation })
    }
}

/// An upper bound on an error rate, if there is one below 1.
///
/// ```
/// use halfspaces_pac::ErrorBound;
/// assert_eq!(ErrorBound::AtMost(0.25).to_string(), "at most 25.0 %");
/// assert_eq!(ErrorBound::NoInformation.to_string(), "no information");
/// assert_eq!(ErrorBound::NoInformation.value(), 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ErrorBound {
    /// The error is at most this number, which is below 1.
    AtMost(f64),
    /// Too few examples were held out for a bound below 1.
    NoInformation,
}

impl ErrorBound {
    /// The bound as a number. If there is no information, the bound is 1, which holds for every error rate.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            ErrorBound::AtMost(bound) => bound,
            ErrorBound::NoInformation => 1.0,
        }
    }
}

impl std::fmt::Display for ErrorBound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ErrorBound::AtMost(bound) => write!(f, "at most {:.1} %", 100.0 * bound),
            ErrorBound::NoInformation => f.write_str("no information"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Halfspace, Points, SparsePoints};

    #[test]
    fn a_halfspace_and_its_opposite_share_the_points() {
        let points = Points::from_rows(&[[0.5, 1.0], [-2.0, 0.0], [1.0, -1.0]]).unwrap();
        let labels = [Label::Positive, Label::Positive, Label::Negative];
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let count = |w: Vec<f64>| {
            let halfspace = Halfspace::new(w).unwrap();
            let dense = ErrorCount::count(&halfspace, &points, &labels).unwrap();
            assert_eq!(ErrorCount::count(&halfspace, &sparse, &labels).unwrap(), dense);
            let two = Threads::new(2).unwrap();
            assert_eq!(ErrorCount::count_on(&halfspace, &points, &labels, two).unwrap(), dense);
            dense.errors()
        };
        assert_eq!(count(vec![1.0, 0.0]) + count(vec![-1.0, 0.0]), 3);
        assert_eq!(count(vec![0.0, 0.0]), 1);
    }

    #[test]
    fn bad_input_is_typed() {
        let halfspace = Halfspace::new(vec![1.0]).unwrap();
        let none = Points::new(vec![], 1).unwrap();
        assert_eq!(ErrorCount::count(&halfspace, &none, &[]), Err(InputError::Empty));
        let one = Points::new(vec![1.0], 1).unwrap();
        assert!(ErrorCount::count(&halfspace, &one, &[]).is_err());
        let wide = Points::new(vec![1.0, 1.0], 2).unwrap();
        assert!(ErrorCount::count(&halfspace, &wide, &[Label::Positive]).is_err());
    }

    /// Compares the bound with its definition, summed term by term.
    #[test]
    fn the_bound_inverts_the_binomial_distribution() {
        for (errors, points) in [(0, 1), (0, 40), (3, 10), (9, 10), (50, 400), (30, 40)] {
            for failure in [0.001, 0.05, 0.5] {
                let count = ErrorCount { errors, points };
                let ErrorBound::AtMost(p) = count.error_bound(failure).unwrap() else { panic!() };
                let mut term = (1.0 - p).powi(points as i32);
                let mut sum = term;
                for i in 0..errors {
                    term *= (points - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
                    sum += term;
                }
                assert!((sum - failure).abs() < 1e-9, "{errors} of {points}: {sum}");
            }
        }
        let all = ErrorCount { errors: 4, points: 4 };
        assert_eq!(all.error_bound(0.05), Ok(ErrorBound::NoInformation));
        for failure in [0.0, 1.0, f64::NAN] {
            assert!(all.error_bound(failure).is_err());
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn saved_counts_are_checked() {
        let count = ErrorCount { errors: 1, points: 3 };
        let text = serde_json::to_string(&count).unwrap();
        assert_eq!(serde_json::from_str::<ErrorCount>(&text).unwrap(), count);
        for bad in [r#"{"errors":4,"points":3}"#, r#"{"errors":0,"points":0}"#] {
            assert!(serde_json::from_str::<ErrorCount>(bad).is_err());
        }
    }
}
