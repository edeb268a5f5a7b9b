//! The push-away operator, which moves points away from the boundary of a halfspace.

use halfspaces_linalg::{Halfspace, InputError, Label, RowView, kernels, norm, normalise, zeros};

/// The push-away operator T of a halfspace w and a margin γ. It moves points close to the boundary of w away from the
/// boundary, without changing their side.
///
/// If |ŵ · x| >= γ/3, then T(x) = x. Otherwise T(x) is the vector x + (γ/3) sign(w · x) ŵ, scaled to norm 1. Here ŵ =
/// w/‖w‖.
///
/// *Guarantee.* For every x in the unit ball, sign(w · T(x)) = sign(w · x) and |w · T(x)| >= (γ/6)‖w‖. For every v in
/// the unit ball with |v · x| >= γ, sign(v · T(x)) = sign(v · x) and |v · T(x)| >= γ/3. Hence the label given by a
/// target with margin γ does not change. The cost is O(d) per point.
///
/// *Source.* CKST24 Appendix B, (13) and Lemma 8. The paper prints the test as |w · x| >= γ/3. This type uses ŵ in
/// place of w, because the first claim fails for ‖w‖ > 2 with the printed test. Claims: P1, P11.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Halfspace};
/// use halfspaces_pac::PushAway;
/// let push = PushAway::new(&Halfspace::new(vec![5.0, 0.0])?, 0.9)?;
/// let far = DenseRow::new(&[0.4, 0.1])?;
/// assert_eq!(push.apply(far)?, [0.4, 0.1]);
/// let near = DenseRow::new(&[-0.1, 0.3])?;
/// // (-0.1 - 0.3, 0.3)/0.5
/// let pushed = push.apply(near)?;
/// assert!((pushed[0] + 0.8).abs() < 1e-15 && (pushed[1] - 0.6).abs() < 1e-15);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PushAway {
    /// The unit vector ŵ.
    direction: Vec<f64>,
    margin: f64,
}

impl PushAway {
    /// Creates the operator for a non-zero halfspace w and a margin γ in (0, 1].
    ///
    /// # Errors
    /// [`InputError::ZeroVector`], [`InputError::ParameterOutOfRange`].
    pub fn new(halfspace: &Halfspace, margin: f64) -> Result<Self, InputError> {
        check_margin(margin)?;
        Ok(PushAway { direction: halfspace.clone().normalised()?.into_normal(), margin })
    }

    /// The lower bound γ/6 on |ŵ · T(x)| (Lemma 8).
    #[must_use]
    pub fn least_margin(margin: f64) -> f64 {
        margin / 6.0
    }

    /// Returns T(x).
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::Overflow`] for a point far beyond the unit ball.
    pub fn apply<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        InputError::check_dim(self.direction.len(), x.dim())?;
        let mut out = zeros(1, self.direction.len())?;
        push_away(&self.direction, self.margin, x, &mut out)?;
        Ok(out)
    }
}

/// Checks that γ is in (0, 1].
pub(crate) fn check_margin(margin: f64) -> Result<(), InputError> {
    let in_range = margin > 0.0 && margin <= 1.0;
    InputError::check_parameter("margin", margin, in_range, "above 0 and at most 1")
}

/// Writes T(x) into `out` and returns ŵ · T(x). The vector ŵ is `direction`, which must have norm 1.
pub(crate) fn push_away<R: RowView>(
    direction: &[f64],
    margin: f64,
    x: R,
    out: &mut [f64],
) -> Result<f64, InputError> {
    let value = x.dot(direction);
    out.fill(0.0);
    x.add_scaled_to(1.0, out);
    if !value.is_finite() {
        return Err(InputError::Overflow { row: 0 });
    }
    if value.abs() >= margin / 3.0 {
        return Ok(value);
    }
    let shift = margin / 3.0 * Label::from_sign(value).as_f64();
    kernels::axpy(shift, direction, out);
    let length = norm(out);
    // Shift and value have the same sign, so the component along ŵ has a length of at least γ/3, and the norm is not
    // zero.
    if !normalise(out) {
        return Err(InputError::Overflow { row: 0 });
    }
    Ok((value + shift) / length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Marginal, UnitSphere};
    use halfspaces_linalg::{DenseRow, PointSet, Points, SparsePoints};
    use proptest::prelude::*;

    fn unit(dim: usize, seed: u64) -> Vec<f64> {
        UnitSphere::new(dim).unwrap().sample(1, seed).unwrap().into_vec()
    }

    proptest! {
        #[test]
        fn lemma_8(
            dim in 1usize..8,
            (w_seed, x_seed, v_seed) in any::<(u64, u64, u64)>(),
            length in 0.0..1.0f64,
            scale in 1e-3..1e3f64,
            towards in 0.0..1.0f64,
            margin in 1e-3..1.0f64,
        ) {
            let direction = unit(dim, w_seed);
            let w: Vec<f64> = direction.iter().map(|v| scale * v).collect();
            // Most points are near the boundary of w, where the operator changes them.
            let mut x = unit(dim, x_seed);
            let along = kernels::dot(&x, &direction);
            kernels::axpy(-towards * along, &direction, &mut x);
            x.iter_mut().for_each(|v| *v *= length);
            let row = DenseRow::new(&x).unwrap();
            let halfspace = Halfspace::new(w.clone()).unwrap();
            let pushed = PushAway::new(&halfspace, margin).unwrap().apply(row).unwrap();
            prop_assert!(norm(&pushed) <= 1.0 + 1e-12);
            let (before, after) = (kernels::dot(&w, &x), kernels::dot(&w, &pushed));
            // If |w · x| is below its rounding error, its sign is undefined.
            if before.abs() > 1e-12 * scale {
                prop_assert_eq!(Label::from_sign(before), Label::from_sign(after));
            }
            let least = PushAway::least_margin(margin) * scale;
            prop_assert!(after.abs() >= least * (1.0 - 1e-12));
            // A vector v with |v · x| = γ: x/‖x‖ rotated as far as the margin allows, in either direction.
            let size = norm(&x);
            if size >= margin {
                for side in [1.0, -1.0] {
                    let mut v: Vec<f64> = x.iter().map(|x| side * margin / size / size * x).collect();
                    let mut across = unit(dim, v_seed);
                    let overlap = kernels::dot(&across, &x) / size / size;
                    kernels::axpy(-overlap, &x, &mut across);
                    let room = (1.0 - (margin / size).powi(2)).max(0.0).sqrt();
                    let reach = norm(&across);
                    if reach > 1e-6 {
                        kernels::axpy(room / reach, &across, &mut v);
                    }
                    prop_assert!(norm(&v) <= 1.0 + 1e-9);
                    let (of_x, of_pushed) = (kernels::dot(&v, &x), kernels::dot(&v, &pushed));
                    prop_assert!((of_x.abs() - margin).abs() < 1e-9);
                    prop_assert_eq!(Label::from_sign(of_x), Label::from_sign(of_pushed));
                    prop_assert!(of_pushed.abs() >= margin / 3.0 - 1e-9);
                }
            }
        }

        #[test]
        fn the_length_of_w_does_not_matter(seed in any::<u64>(), scale in 1e-6..1e6f64) {
            let (w, x) = (unit(4, seed), unit(4, !seed));
            let long = Halfspace::new(w.iter().map(|v| scale * v).collect()).unwrap();
            let row = DenseRow::new(&x).unwrap();
            let push = |h: &Halfspace| PushAway::new(h, 1.0).unwrap().apply(row).unwrap();
            let pair = push(&long).into_iter().zip(push(&Halfspace::new(w).unwrap()));
            for (a, b) in pair {
                prop_assert!((a - b).abs() < 1e-12);
            }
        }
    }

    /// With the printed test |w · x| >= γ/3, a long w leaves x unchanged, and the claim fails.
    #[test]
    fn the_printed_test_fails_for_long_w() {
        let (w, x, margin): (f64, f64, f64) = (10.0, 0.1, 0.9);
        assert!(w * x >= margin / 3.0 && w * x < margin / 6.0 * w);
        let halfspace = Halfspace::new(vec![w]).unwrap();
        let push = PushAway::new(&halfspace, margin).unwrap();
        let pushed = push.apply(DenseRow::new(&[x]).unwrap()).unwrap();
        assert!(w * pushed[0] >= margin / 6.0 * w);
    }

    #[test]
    fn the_origin_goes_to_the_positive_side() {
        let push = PushAway::new(&Halfspace::new(vec![0.0, 2.0]).unwrap(), 0.5).unwrap();
        assert_eq!(push.apply(DenseRow::new(&[0.0, 0.0]).unwrap()).unwrap(), [0.0, 1.0]);
    }

    #[test]
    fn sparse_and_dense_agree_and_bad_input_is_typed() {
        let points = Points::from_rows(&[[0.0, 0.5, 0.0], [0.1, 0.0, 0.9]]).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let w = Halfspace::new(vec![1.0, 0.1, 0.0]).unwrap();
        let push = PushAway::new(&w, 0.8).unwrap();
        for (a, b) in points.rows().zip(sparse.rows()) {
            assert_eq!(push.apply(a).unwrap(), push.apply(b).unwrap());
        }
        for margin in [0.0, 1.5, f64::NAN] {
            assert!(PushAway::new(&w, margin).is_err());
        }
        let zero = Halfspace::new(vec![0.0]).unwrap();
        assert_eq!(PushAway::new(&zero, 0.5), Err(InputError::ZeroVector));
        assert!(push.apply(DenseRow::new(&[1.0]).unwrap()).is_err());
    }
}
