//! The grid of halfspaces that holds a separator of every margin above a given one.

use super::finite::{ClassError, FiniteClass, check_size, positive_of};
use super::halfspaces::dense;
use halfspaces_linalg::{InputError, RowView, load_checked};

/// The halfspaces whose coordinates are multiples `m s` of the step s = γ/(2Rd), |m| <= M with
/// M = ⌈2R‖w*‖d/γ⌉: if some w* separates points of norm at most R with margin γ, a member does so
/// with margin γ/2 (Kakade §3). The class has (2M + 1)^d members, none of which is stored.
///
/// Kakade prints the size (⌈4dR‖w*‖/γ⌉ + 1)^d, which can be smaller than the class. *Source.* Kakade §3 and
/// Corollary 3.1, corrected. Claims: K2.
///
/// ```
/// use halfspaces_online::{ClassError, FiniteClass, GridClass};
/// let class = GridClass::new(2, 1.0, 1.0, 0.5)?; // M = 8
/// assert_eq!(class.len(), 17 * 17);
/// assert!(matches!(GridClass::new(4, 1.0, 1.0, 0.01), Err(ClassError::TooLarge { .. })));
/// # Ok::<(), ClassError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GridClass {
    dim: usize,
    /// Largest multiple M.
    most: usize,
    len: usize,
}

load_checked!(GridClass { dim: usize, most: usize } => |dim, most| GridClass::with_multiples(dim, most as f64));

impl GridClass {
    /// All multiples up to `most` in `dim` coordinates.
    fn with_multiples(dim: usize, most: f64) -> Result<GridClass, ClassError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension.into());
        }
        InputError::check_parameter("largest multiple", most, most >= 1.0, "at least 1")?;
        let size = (2.0 * most + 1.0).powi(dim.min(1000) as i32);
        check_size(size)?;
        Ok(GridClass { dim, most: most as usize, len: size as usize })
    }

    /// The class for points of norm at most `radius` R and a separator of norm at most
    /// `target_norm` with margin `margin` γ.
    ///
    /// # Errors
    /// [`ClassError::TooLarge`] naming the size; parameters that are not positive and finite.
    pub fn new(
        dim: usize,
        radius: f64,
        target_norm: f64,
        margin: f64,
    ) -> Result<GridClass, ClassError> {
        for (name, value) in [("radius", radius), ("target_norm", target_norm), ("margin", margin)]
        {
            let in_range = value > 0.0 && value.is_finite();
            InputError::check_parameter(name, value, in_range, "positive and finite")?;
        }
        // A product below the range of f64 is still above 0.
        let most = (2.0 * radius * target_norm * dim as f64 / margin).ceil().max(1.0);
        GridClass::with_multiples(dim, most)
    }

    /// The hypothesis of an index, in multiples of the step.
    ///
    /// # Panics
    /// For an index of [`FiniteClass::len`] or more.
    #[must_use]
    pub fn multiples(&self, index: usize) -> Vec<f64> {
        assert!(index < self.len, "the class has {} hypotheses, none of index {index}", self.len);
        let base = 2 * self.most + 1;
        let mut rest = index;
        (0..self.dim)
            .map(|_| {
                let digit = rest % base;
                rest /= base;
                digit as f64 - self.most as f64
            })
            .collect()
    }
}

impl FiniteClass for GridClass {
    type Prepared = Vec<f64>;

    fn len(&self) -> usize {
        self.len
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn prepare<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        Ok(dense(x))
    }

    fn positive(&self, block: usize, alive: u64, x: &Vec<f64>) -> u64 {
        // The step scales every product alike, so the sign is that of the multiples' product.
        let (base, most) = (2 * self.most + 1, self.most as f64);
        positive_of(block, alive, |mut index| {
            let mut value = 0.0;
            for v in x {
                value += ((index % base) as f64 - most) * v;
                index /= base;
            }
            value >= 0.0
        })
    }
}
