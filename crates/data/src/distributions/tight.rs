//! The pool on which the perceptron's bound is met with equality.

use super::realizable::Realizable;
use halfspaces_linalg::{Halfspace, InputError, Points, zeros};

/// The standard basis of R^d, all labelled -1: with margin γ = 1/√d every order costs the
/// perceptron d = 1/γ² mistakes, so its bound cannot be improved by any constant.
///
/// (`w = 0` predicts +1, and so does every later hypothesis on the basis vectors not yet seen.)
///
/// # Errors
/// [`InputError::ZeroDimension`], [`InputError::TooLarge`].
///
/// ```
/// let tight = halfspaces_data::perceptron_tight(25)?;
/// assert!((tight.margin() - 0.2).abs() < 1e-15);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn perceptron_tight(dim: usize) -> Result<Realizable<Points>, InputError> {
    let mut values = zeros(dim, dim)?;
    let mut target = zeros(1, dim)?;
    target.fill(-1.0);
    values.iter_mut().step_by(dim + 1).for_each(|v| *v = 1.0);
    Realizable::new(Points::new(values, dim)?, Halfspace::new(target)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Label;

    #[test]
    fn it_is_the_negative_basis() {
        let tight = perceptron_tight(2).unwrap();
        assert_eq!(tight.points().as_slice(), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(tight.labels(), [Label::Negative; 2]);
        assert_eq!(perceptron_tight(0), Err(InputError::ZeroDimension));
    }
}
