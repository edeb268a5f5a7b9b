//! Pools labelled by a halfspace.

use halfspaces_linalg::{Classifier, Halfspace, InputError, Label, PointSet, RowView, getters};

/// Points labelled by a target halfspace, together with the numbers that the mistake bounds need.
///
/// ```
/// use halfspaces_data::Realizable;
/// use halfspaces_linalg::{Halfspace, Points};
/// let points = Points::from_rows(&[[2.0, 1.0], [0.01, 1.0], [-1.0, 0.0]])?;
/// let target = Halfspace::new(vec![3.0, 0.0])?;
/// let pool = Realizable::with_margin(points, target, 0.5)?;
/// assert_eq!(pool.dropped(), 1);
/// assert_eq!(pool.margin(), 1.0);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Realizable<P> {
    points: P,
    labels: Vec<Label>,
    target: Halfspace,
    margin: f64,
    dropped: usize,
}

impl<P: PointSet> Realizable<P> {
    /// Labels every point by `target`, whose normal is scaled to norm 1.
    ///
    /// The data determine the margin, which may be 0.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::DimensionMismatch`], [`InputError::ZeroVector`].
    pub fn new(points: P, target: Halfspace) -> Result<Self, InputError> {
        let target = target.normalised()?;
        let labels = target.label_all(&points)?;
        let margin = target.margin_on(&points, &labels)?;
        Ok(Realizable { points, labels, target, margin, dropped: 0 })
    }

    /// Drops the points within distance `least` of the boundary, then labels the other points.
    ///
    /// # Errors
    /// Same as [`Realizable::new`] ([`InputError::Empty`] if no point remains); [`InputError::ParameterOutOfRange`] for
    /// a negative or non-finite `least`.
    pub fn with_margin(points: P, target: Halfspace, least: f64) -> Result<Self, InputError> {
        let in_range = least >= 0.0 && least.is_finite();
        InputError::check_parameter("least margin", least, in_range, "finite and at least 0")?;
        let target = target.normalised()?;
        InputError::check_dim(target.dim(), points.dim())?;
        let far: Vec<usize> = points
            .rows()
            .enumerate()
            .filter(|(_, x)| x.dot(target.normal()).abs() >= least)
            .map(|(i, _)| i)
            .collect();
        let dropped = points.len() - far.len();
        let kept = points.select(&far)?;
        Ok(Realizable { dropped, ..Realizable::new(kept, target)? })
    }

    getters! {
        /// The points.
        points: &P,

        /// The target's labels, one per point.
        labels: &[Label],

        /// The target `w*`, of unit norm.
        target: &Halfspace,

        /// The margin γ: the minimum of `|w* · x|` over the points.
        margin: f64,

        /// Number of points dropped because they were too close to the boundary.
        dropped: usize,
    }

    /// Consumes the value and returns points, labels and target.
    pub fn into_parts(self) -> (P, Vec<Label>, Halfspace) {
        (self.points, self.labels, self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;

    #[test]
    fn a_point_on_the_boundary_leaves_margin_zero() {
        let points = Points::from_rows(&[[0.0, 1.0], [1.0, 0.0]]).unwrap();
        let target = Halfspace::new(vec![1.0, 0.0]).unwrap();
        let pool = Realizable::new(points.clone(), target.clone()).unwrap();
        assert_eq!(pool.margin(), 0.0);
        assert_eq!(pool.labels(), [Label::Positive; 2]);
        let all_gone = Realizable::with_margin(points.clone(), target.clone(), 2.0);
        assert_eq!(all_gone, Err(InputError::Empty));
        assert!(Realizable::with_margin(points, target, -1.0).is_err());
    }
}
