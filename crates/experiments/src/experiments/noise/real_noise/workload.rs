//! Data sets prepared for the learners, label noise, settings and outcomes.

use crate::experiments::common::*;
use crate::workload::{ADULT, ADULT_FILE, Inputs};
use halfspaces_data::{Marginal, Massart, NoiseModel, Region, UnitSphere};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::{
    FitSample, Halfspace, Label, Params, PointSet, Points, RowView, SparsePoints, margins,
};
use halfspaces_pac::LogisticRegression;

pub(super) const FOLDS: usize = 5;
/// δ: the largest allowed probability that at least one of the bounds of a trial's folds fails.
pub(super) const FAILURE: f64 = 0.05;
/// The level at which the bounds of a trial are tested on its test folds.
pub(super) const DOUBT: f64 = 0.01;
/// The column of the group whose labels stay clean in the census data.
const TARGET_GROUP: &str = "race=Black";
/// Number of points given to the adversary that acts against least squares.
const SEEN_BY_ADVERSARY: usize = 1000;

/// The labels that may be flipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Noise {
    #[strum(to_string = "everywhere")]
    Everywhere,
    /// The half of the points that lie farther from the boundary of the reference halfspace.
    #[strum(to_string = "far from the boundary")]
    Far,
    /// The half of the points that lie closer to that boundary.
    #[strum(to_string = "near the boundary")]
    Near,
    /// The region where the reference halfspace disagrees with another halfspace, which is chosen to mislead least
    /// squares.
    #[strum(to_string = "against least squares")]
    Adversarial,
    /// All labels outside the target group.
    #[strum(to_string = "outside the group")]
    OutsideGroup,
    /// The positive labels outside the target group.
    #[strum(to_string = "positives outside the group")]
    PositivesOutsideGroup,
    /// The negative labels outside the target group.
    #[strum(to_string = "negatives outside the group")]
    NegativesOutsideGroup,
}

pub(super) const REGIONS: [Noise; 4] =
    [Noise::Everywhere, Noise::Far, Noise::Near, Noise::Adversarial];
pub(super) const GROUPS: [Noise; 3] =
    [Noise::OutsideGroup, Noise::PositivesOutsideGroup, Noise::NegativesOutsideGroup];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(super) data: String,
    /// The number of rows drawn for every trial; `None` for all rows.
    pub(super) rows: Option<usize>,
    pub(super) noise: Noise,
    pub(super) rate: f64,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, η={} {}", self.data, self.rate, self.noise)
    }
}

/// Errors of one learner on clean labels, per fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Score {
    pub(super) learner: String,
    pub(super) errors: Vec<usize>,
    pub(super) group_errors: Vec<usize>,
}

/// The bound of one fold's fit, and the errors of that fit on the fold's noisy labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Bound {
    pub(super) bound: f64,
    pub(super) errors: u64,
    pub(super) points: u64,
}

impl Bound {
    pub(super) fn rate(&self) -> f64 {
        self.errors as f64 / self.points as f64
    }

    /// Whether the test fold shows that the error is above the bound.
    pub(super) fn is_refuted(&self) -> bool {
        let confidence = 1.0 - DOUBT / FOLDS as f64;
        let least = stats::binomial_lower(self.errors, self.points, confidence);
        least.is_some_and(|least| least > self.bound)
    }

    /// Whether the test fold shows that the error is within the bound.
    pub(super) fn is_shown(&self) -> bool {
        let most = stats::binomial_upper(self.errors, self.points, 1.0 - DOUBT);
        most.is_some_and(|most| most <= self.bound)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Number of test examples per fold.
    pub(super) points: Vec<usize>,
    /// Number of test examples of the target group per fold.
    pub(super) group: Vec<usize>,
    pub(super) scores: Vec<Score>,
    pub(super) bounds: Vec<Bound>,
    /// Bound and exact error, including noise, of the first fit to independent draws from the data.
    pub(super) exact_bound: f64,
    pub(super) exact_error: f64,
    /// Exact error and bound of every fit to independent draws.
    pub(super) draws: Vec<(f64, f64)>,
}

/// Accuracies of a learner, one per fold and trial: in the target group, or overall.
pub(super) fn accuracies_of(outcomes: &[Outcome], learner: &str, group: bool) -> Vec<f64> {
    let of_trial = |o: &Outcome| -> Vec<f64> {
        let Some(score) = o.scores.iter().find(|s| s.learner == learner) else {
            unreachable!("every learner has a score")
        };
        let (errors, points) =
            if group { (&score.group_errors, &o.group) } else { (&score.errors, &o.points) };
        let pairs = errors.iter().zip(points).filter(|(_, n)| **n > 0);
        pairs.map(|(errors, n)| 1.0 - *errors as f64 / *n as f64).collect()
    };
    outcomes.iter().flat_map(of_trial).collect()
}

/// A data set prepared for the learners.
#[derive(Debug)]
pub(super) struct DataSet {
    /// The points with numeric columns standardised and other columns one-hot encoded.
    pub(super) plain: SparsePoints,
    /// The points of `plain`, lifted and scaled to norm 1, which changes no label of a halfspace.
    pub(super) unit: SparsePoints,
    pub(super) labels: Vec<Label>,
    /// Whether each row is in the target group; all false if the data have no target group.
    pub(super) group: Vec<bool>,
    /// The unit halfspace that the noise refers to, fitted to `unit` with all clean labels.
    pub(super) reference: Halfspace,
    /// Signed margins of the reference.
    pub(super) margins: Vec<f64>,
    /// The median of the absolute margins.
    pub(super) middle: f64,
}

impl DataSet {
    pub(super) fn load(inputs: &Inputs, name: &str) -> Result<DataSet, Failure> {
        let (points, labels, columns) = inputs.as_given(name)?.into_parts();
        let plain = standardised(&points, &columns)?;
        let unit = plain.lifted().normalised()?;
        let group = match columns.iter().position(|c| c == TARGET_GROUP) {
            Some(at) => points.rows().map(|x| x.entries().any(|(j, _)| j == at)).collect(),
            None if name == ADULT => {
                return Err(format!("{ADULT_FILE}: no row has the category {TARGET_GROUP}; add the header line that names the column `race`").into());
            }
            None => vec![false; labels.len()],
        };
        let fit = LogisticRegression::params().c(10.0).intercept(false).tolerance(1e-6);
        let reference =
            fit.check()?.fit(&unit, &labels)?.halfspace().linear().clone().normalised()?;
        let margins = margins(&unit, reference.normal())?;
        let sizes: Vec<f64> = margins.iter().map(|m| m.abs()).collect();
        let middle = stats::median(&sizes).ok_or("a data set without rows")?;
        Ok(DataSet { plain, unit, labels, group, reference, margins, middle })
    }

    /// The flip probability η(x) of each row.
    pub(super) fn flip_probabilities(
        &self,
        rows: &[usize],
        noise: Noise,
        rate: f64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<f64>, Failure> {
        let region = match noise {
            Noise::Everywhere => Region::Everywhere,
            Noise::Far => Region::Far(self.middle),
            Noise::Near => Region::Near(self.middle),
            Noise::Adversarial => {
                let seen: Vec<usize> = rows.iter().copied().take(SEEN_BY_ADVERSARY).collect();
                let points = self.unit.select(&seen)?.to_dense()?;
                let guesses = UnitSphere::new(points.dim())?.sample_with_rng(2, rng)?;
                Massart::against_least_squares(rate, &points, &self.reference, &guesses)?
                    .region()
                    .clone()
            }
            Noise::OutsideGroup | Noise::PositivesOutsideGroup | Noise::NegativesOutsideGroup => {
                let flipped = |&i: &usize| {
                    let side = match noise {
                        Noise::PositivesOutsideGroup => self.labels[i] == Label::Positive,
                        Noise::NegativesOutsideGroup => self.labels[i] == Label::Negative,
                        _ => true,
                    };
                    if side && !self.group[i] { rate } else { 0.0 }
                };
                return Ok(rows.iter().map(flipped).collect());
            }
        };
        let noise = Massart::new(rate, region)?;
        let mut x = vec![0.0; self.unit.dim()];
        let mut flips = Vec::with_capacity(rows.len());
        for &i in rows {
            x.fill(0.0);
            self.unit.row(i).ok_or("a row index beyond the data set")?.add_scaled_to(1.0, &mut x);
            flips.push(noise.flip_probability(&x, self.margins[i]));
        }
        Ok(flips)
    }
}

/// Scales numeric columns to mean 0 and standard deviation 1. Columns of categories, named `column=value`, are
/// unchanged.
fn standardised(points: &SparsePoints, columns: &[String]) -> Result<SparsePoints, Failure> {
    let numeric: Vec<usize> = (0..columns.len()).filter(|&j| !columns[j].contains('=')).collect();
    let dense = points.to_dense()?;
    let of_row = |x: &[f64]| -> Vec<f64> { numeric.iter().map(|&j| x[j]).collect() };
    let values = dense.rows().flat_map(|x| of_row(x.as_slice())).collect();
    let numbers = Points::new(values, numeric.len())?;
    let numbers = ZScore::fit(&numbers)?.apply(&numbers)?;
    let mut scaled = SparsePoints::empty(points.dim())?;
    for (x, z) in dense.rows().zip(numbers.rows()) {
        let mut x = x.as_slice().to_vec();
        numeric.iter().zip(z.as_slice()).for_each(|(&j, z)| x[j] = *z);
        let stored = x.iter().enumerate().filter(|(_, v)| **v != 0.0);
        let (at, values): (Vec<u32>, Vec<f64>) = stored.map(|(j, v)| (j as u32, *v)).unzip();
        scaled.push(&at, &values)?;
    }
    Ok(scaled)
}

/// Labelled rows of a data set, with both scalings of the points.
pub(super) struct Part {
    pub(super) plain: SparsePoints,
    pub(super) unit: SparsePoints,
    pub(super) labels: Vec<Label>,
}

impl Part {
    pub(super) fn of(data: &DataSet, rows: &[usize], labels: Vec<Label>) -> Result<Part, Failure> {
        Ok(Part { plain: data.plain.select(rows)?, unit: data.unit.select(rows)?, labels })
    }
}
