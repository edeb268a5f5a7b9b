//! Squared-hinge support vector machines of several binary problems on the same points, fitted side by side.
//!
//! The problems are lanes: classes against the others, folds of a cross-validation. A pass visits each point once and
//! updates all lanes. The weights of a coordinate in all lanes lie next to each other, so that a point with few entries
//! reads few places of memory.

use super::hinge_loss::HingeLoss;
use crate::streams;
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{AffineHalfspace, InputError, Label, PointSet, RowView, rng_for, zeros};
use rand::seq::SliceRandom;

/// Lanes are stored in groups of this many numbers, the width of a vector.
const GROUP: usize = 8;

/// A binary problem: a label for each point, and a weight that multiplies C. Points of weight 0 are left out.
///
/// ```
/// use halfspaces_linalg::Label;
/// use halfspaces_pac::SvmLane;
/// let lane = SvmLane { labels: vec![Label::Positive, Label::Negative], weights: vec![1.0, 0.5] };
/// assert_eq!(lane.labels.len(), lane.weights.len());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SvmLane {
    /// The label of each point.
    pub labels: Vec<Label>,
    /// The weight of each point, at least 0.
    pub weights: Vec<f64>,
}

/// Several binary problems on the same points, each with the minimiser of ½‖w‖² + C Σ weight max(0, 1 - y w · x)².
///
/// Points have a constant feature 1, whose weight is the intercept and is penalised. [`SvmLanes::fit`] starts from the
/// previous fit, so ascending values of C cost little more than the last one.
///
/// *Guarantee.* If a fit ends before the cap on its passes, the duality gap of each lane is at most the tolerance times
/// its objective; see [`LinearSvm`](crate::LinearSvm).
///
/// *Cost.* O(entries × lanes) per pass; 8 bytes for each lane and coordinate, and 24 bytes for each lane and point.
///
/// *Source.* Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, Algorithm 1, without shrinking. Claims: none of its own.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{SvmLane, SvmLanes};
/// let points = Points::from_rows(&[[2.0], [-2.0]])?;
/// let lane = |labels: [Label; 2]| SvmLane { labels: labels.to_vec(), weights: vec![1.0; 2] };
/// let (plus, minus) = (Label::Positive, Label::Negative);
/// let mut lanes = SvmLanes::new(&points, &[lane([plus, minus]), lane([minus, plus])], 0)?;
/// lanes.fit(1.0, 1e-9, 100)?;
/// // ½w² + 2 (1 - 2w)² has its minimum at 8/17.
/// assert!((lanes.halfspace(0)?.weights()[0] - 8.0 / 17.0).abs() < 1e-4);
/// assert!((lanes.value(1, 0) + 16.0 / 17.0).abs() < 1e-4);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug)]
pub struct SvmLanes<'p, P> {
    points: &'p P,
    lanes: usize,
    /// The number of lanes, rounded up to whole groups.
    width: usize,
    /// ‖(x, 1)‖² of each point.
    squares: Vec<f64>,
    /// The label times the weight, point by point.
    signed: Vec<f64>,
    alphas: Vec<f64>,
    /// w · x + b of each point at the last visit.
    values: Vec<f64>,
    /// (w, b), coordinate by coordinate.
    w: Vec<f64>,
    order: Vec<usize>,
    rng: rand::rngs::ChaCha8Rng,
}

/// Sums over the points of a lane: Σ α y (w · x), Σ weight C ξ², Σ α and Σ α²/(4 C weight).
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    product: f64,
    loss: f64,
    alpha: f64,
    square: f64,
}

impl Sums {
    /// Whether the gap is small, with ‖w‖² = Σ α y (w · x), which holds if all terms belong to the same w.
    fn is_small(&self, tolerance: f64) -> bool {
        self.are_near(self.product, tolerance)
    }

    fn are_near(&self, norm_sq: f64, tolerance: f64) -> bool {
        let primal = 0.5 * norm_sq + self.loss;
        let dual = self.alpha - 0.5 * norm_sq - self.square;
        primal - dual <= tolerance * primal
    }
}

impl<'p, P: PointSet> SvmLanes<'p, P> {
    /// Prepares the lanes, with all w at 0. `seed` determines the order of the points.
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`InputError::LengthMismatch`]; [`InputError::ParameterOutOfRange`] for a weight that is
    /// not at least 0 and finite; [`InputError::TooLarge`]; [`InputError::Overflow`] if squared norms overflow.
    pub fn new(points: &'p P, lanes: &[SvmLane], seed: u64) -> Result<Self, InputError> {
        if points.is_empty() || lanes.is_empty() {
            return Err(InputError::Empty);
        }
        let (n, width) = (points.len(), lanes.len().next_multiple_of(GROUP));
        let mut signed = zeros(n, width)?;
        for (place, lane) in lanes.iter().enumerate() {
            InputError::check_len(n, lane.labels.len())?;
            InputError::check_len(n, lane.weights.len())?;
            for (row, (label, weight)) in lane.labels.iter().zip(&lane.weights).enumerate() {
                let sound = weight.is_finite() && *weight >= 0.0;
                InputError::check_parameter("weight", *weight, sound, "at least 0")?;
                signed[row * width + place] = label.as_f64() * weight;
            }
        }
        let squares: Vec<f64> = points.rows().map(|x| x.norm_sq() + 1.0).collect();
        if let Some(row) = squares.iter().position(|square| !square.is_finite()) {
            return Err(InputError::Overflow { row });
        }
        Ok(SvmLanes {
            points,
            lanes: lanes.len(),
            width,
            squares,
            signed,
            alphas: zeros(n, width)?,
            values: zeros(n, width)?,
            w: zeros(points.dim() + 1, width)?,
            order: (0..n).collect(),
            rng: rng_for(streams::SVM_ORDER, seed),
        })
    }

    /// Fits all lanes with this C, up to a duality gap of `tolerance` times the objective, by at most `cap` passes.
    /// Returns the number of passes; `None` if they did not suffice.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for C or a tolerance as in [`LinearSvm`](crate::LinearSvm);
    /// [`InputError::Overflow`] if values overflow.
    pub fn fit(&mut self, c: f64, tolerance: f64, cap: u32) -> Result<Option<u32>, InputError> {
        super::regularised_loss::check_c(c)?;
        super::regularised_loss::check_tolerance(tolerance)?;
        for passes in 1..=cap {
            self.order.shuffle(&mut self.rng);
            let sums = run_wide(Pass { lanes: self, c, learns: true });
            let is_last = passes == cap;
            let is_small = sums.iter().all(|sums| sums.is_small(tolerance));
            if (is_small || is_last) && self.is_certified(c, tolerance)? {
                return Ok(Some(passes));
            }
        }
        Ok(None)
    }

    /// Recomputes w and all values from α and checks the gap of each lane.
    fn is_certified(&mut self, c: f64, tolerance: f64) -> Result<bool, InputError> {
        let width = self.width;
        self.w.fill(0.0);
        run_wide(Recompute { lanes: self });
        let sums = run_wide(Pass { lanes: self, c, learns: false });
        let mut norms = vec![0.0; width];
        for of_coordinate in self.w.chunks_exact(width) {
            norms.iter_mut().zip(of_coordinate).for_each(|(norm, w)| *norm += w * w);
        }
        if let Some(at) = self.values.iter().position(|value| !value.is_finite()) {
            return Err(InputError::Overflow { row: at / width });
        }
        Ok(sums.iter().zip(norms).all(|(sums, norm)| sums.are_near(norm, tolerance)))
    }

    /// w · x + b of a point in a lane.
    ///
    /// # Panics
    /// If there is no such lane or point.
    #[must_use]
    pub fn value(&self, lane: usize, row: usize) -> f64 {
        assert!(lane < self.lanes, "no such lane");
        self.values[row * self.width + lane]
    }

    /// The halfspace of a lane.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`].
    pub fn halfspace(&self, lane: usize) -> Result<AffineHalfspace, InputError> {
        if lane >= self.lanes {
            return Err(InputError::IndexOutOfRange { index: lane, len: self.lanes });
        }
        let mut w: Vec<f64> = self.w.iter().skip(lane).step_by(self.width).copied().collect();
        let Some(bias) = w.pop() else { unreachable!("the last weight is the intercept") };
        AffineHalfspace::new(w, bias)
    }
}

/// Adds `scale` times `from` to `to`, which have the length of whole groups.
#[inline(always)]
fn add(to: &mut [f64], scale: f64, from: &[f64]) {
    let (to, _) = to.as_chunks_mut::<GROUP>();
    let (from, _) = from.as_chunks::<GROUP>();
    for (to, from) in to.iter_mut().zip(from) {
        for (t, f) in to.iter_mut().zip(from) {
            *t += scale * f;
        }
    }
}

/// A pass over all points: computes their values and, if it learns, solves for their α.
struct Pass<'l, 'p, P> {
    lanes: &'l mut SvmLanes<'p, P>,
    c: f64,
    learns: bool,
}

impl<P: PointSet> Wide for Pass<'_, '_, P> {
    type Output = Vec<Sums>;

    #[inline(always)]
    fn run(self) -> Vec<Sums> {
        let Pass { lanes: all, c, learns } = self;
        let (width, d) = (all.width, all.points.dim());
        let mut sums = vec![Sums::default(); width];
        let mut steps = vec![0.0; width];
        for &row in &all.order {
            let Some(x) = all.points.row(row) else { unreachable!("the order has rows") };
            let values = &mut all.values[row * width..][..width];
            values.copy_from_slice(&all.w[d * width..]);
            for (j, v) in x.entries() {
                add(values, v, &all.w[j * width..][..width]);
            }
            let alphas = &mut all.alphas[row * width..][..width];
            let signed = &all.signed[row * width..][..width];
            let mut moves = false;
            for lane in 0..width {
                let (alpha, weight) = (alphas[lane], c * signed[lane].abs());
                if weight <= 0.0 {
                    steps[lane] = 0.0;
                    continue;
                }
                let loss = HingeLoss { c: weight, squared: true, weights: None };
                let y = signed[lane].signum();
                let margin = y * values[lane];
                let sum = &mut sums[lane];
                sum.product += alpha * margin;
                sum.loss += loss.value(0, 1.0 - margin);
                sum.alpha += alpha;
                let curvature = loss.curvature(0);
                sum.square += 0.5 * curvature * alpha * alpha;
                let slope = margin - 1.0 + curvature * alpha;
                let next = (alpha - slope / (all.squares[row] + curvature)).max(0.0);
                steps[lane] = y * (next - alpha);
                moves |= steps[lane] != 0.0;
                if learns {
                    alphas[lane] = next;
                }
            }
            if learns && moves {
                for (j, v) in x.entries() {
                    add(&mut all.w[j * width..][..width], v, &steps);
                }
                add(&mut all.w[d * width..], 1.0, &steps);
            }
        }
        sums.truncate(all.lanes);
        sums
    }
}

/// Adds α y (x, 1) of all points to w.
struct Recompute<'l, 'p, P> {
    lanes: &'l mut SvmLanes<'p, P>,
}

impl<P: PointSet> Wide for Recompute<'_, '_, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let all = self.lanes;
        let (width, d) = (all.width, all.points.dim());
        let mut factors = vec![0.0; width];
        for (row, x) in all.points.rows().enumerate() {
            let alphas = &all.alphas[row * width..][..width];
            let signed = &all.signed[row * width..][..width];
            for ((factor, alpha), signed) in factors.iter_mut().zip(alphas).zip(signed) {
                *factor = alpha * signed.signum();
            }
            for (j, v) in x.entries() {
                add(&mut all.w[j * width..][..width], v, &factors);
            }
            add(&mut all.w[d * width..], 1.0, &factors);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinearSvm;
    use crate::test_data::noisy;
    use halfspaces_linalg::{Classifier, Params, SparsePoints};

    /// Ten lanes with labels and weights of their own: each has the optimum of [`LinearSvm`], at every C of a path.
    #[test]
    fn lanes_are_single_machines() {
        let (points, labels) = noisy(200, 6, 3);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let lane = |k: usize| SvmLane {
            labels: labels
                .iter()
                .enumerate()
                .map(|(i, y)| if i % 11 == k { -*y } else { *y })
                .collect(),
            weights: (0..200)
                .map(|i| if i % 10 == k { 0.0 } else { 1.0 + (i % 3) as f64 })
                .collect(),
        };
        let lanes: Vec<SvmLane> = (0..10).map(lane).collect();
        let mut fitted = SvmLanes::new(&sparse, &lanes, 7).unwrap();
        let mut of_dense = SvmLanes::new(&points, &lanes, 7).unwrap();
        for c in [0.05, 0.5, 5.0] {
            let passes = fitted.fit(c, 1e-6, 3000).unwrap();
            assert!(passes.is_some() && of_dense.fit(c, 1e-6, 3000).unwrap() == passes, "{c}");
            let single = LinearSvm::params().c(c).squared(true).tolerance(1e-6).check().unwrap();
            for (k, lane) in lanes.iter().enumerate() {
                let fit =
                    single.fit_with(&points, &lane.labels, Some(&lane.weights), None).unwrap();
                let halfspace = fitted.halfspace(k).unwrap();
                assert_eq!(halfspace, of_dense.halfspace(k).unwrap());
                let objective = |halfspace: &AffineHalfspace| {
                    let of = |(row, y): (usize, &Label)| {
                        let value = halfspace.decision_value(points.row(row).unwrap()).unwrap();
                        let missing = (1.0 - y.as_f64() * value).max(0.0);
                        c * lane.weights[row] * missing * missing
                    };
                    let loss: f64 = lane.labels.iter().enumerate().map(of).sum();
                    let w = halfspace.weights().iter().map(|w| w * w).sum::<f64>();
                    0.5 * (w + halfspace.bias() * halfspace.bias()) + loss
                };
                let (one, other) = (objective(&halfspace), objective(fit.halfspace()));
                assert!((one - other).abs() <= 2e-6 * other, "{c} {k}: {one} {other}");
                // A point of weight 0 has its value, too.
                let value = halfspace.decision_value(points.row(k).unwrap()).unwrap();
                assert!((fitted.value(k, k) - value).abs() < 1e-12);
            }
        }
        assert!(fitted.halfspace(10).is_err());
    }

    #[test]
    fn a_path_saves_passes() {
        let (points, labels) = noisy(300, 8, 5);
        let lane = [SvmLane { labels, weights: vec![1.0; 300] }];
        let mut path = SvmLanes::new(&points, &lane, 1).unwrap();
        path.fit(9.0, 1e-5, 3000).unwrap();
        let mut fresh = SvmLanes::new(&points, &lane, 1).unwrap();
        let passes = path.fit(10.0, 1e-5, 3000).unwrap();
        assert!(passes.is_some() && passes < fresh.fit(10.0, 1e-5, 3000).unwrap());
        assert!(path.fit(10.0, 1e-5, 3000).unwrap() <= Some(2));
        // The last pass is checked, even if it is the first.
        assert_eq!((path.fit(10.0, 1e-3, 1), path.fit(500.0, 1e-9, 2)), (Ok(Some(1)), Ok(None)));
    }

    #[test]
    fn bad_input_is_typed() {
        let (points, labels) = noisy(20, 2, 5);
        let lane = |weights: Vec<f64>| SvmLane { labels: labels.clone(), weights };
        for weights in [vec![1.0; 19], vec![-1.0; 20], vec![f64::NAN; 20]] {
            assert!(SvmLanes::new(&points, &[lane(weights)], 0).is_err());
        }
        assert!(SvmLanes::new(&points, &[], 0).is_err());
        let mut lanes = SvmLanes::new(&points, &[lane(vec![1.0; 20])], 0).unwrap();
        assert!(lanes.fit(-1.0, 0.1, 9).is_err() && lanes.fit(1.0, 1.0, 9).is_err());
        let mut none = SvmLanes::new(&points, &[lane(vec![0.0; 20])], 0).unwrap();
        assert_eq!(none.fit(1.0, 0.1, 9), Ok(Some(1)));
        assert_eq!(none.halfspace(0).unwrap().weights(), [0.0; 2]);
    }
}
