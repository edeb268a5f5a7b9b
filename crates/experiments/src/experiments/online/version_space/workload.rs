//! Families of data with a chosen margin, and outcomes.

use crate::experiments::common::*;
use halfspaces_data::Rotation;
use halfspaces_linalg::{
    BooleanConcept, BooleanPoint, DecisionList, DenseRow, Halfspace, Label, Literal, PointSet,
    Points, norm,
};
use halfspaces_online::OnlineLearner;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(super) enum Family {
    /// Decision lists of r rules over r variables, with a margin of about 2^-r.
    #[strum(to_string = "lists")]
    Lists,
    /// The hard family: randomly rotated points in the plane with margin 2^-r.
    #[strum(to_string = "hard")]
    Hard,
    /// Points in the plane. Each point halves the arc of the remaining targets until the arc is 2^-r wide, and its
    /// label is the opposite of the prediction. Every learner errs on every point.
    #[strum(to_string = "even split")]
    Split,
    /// A data set relabelled by a random halfspace. Points closer than 2^-r to its boundary are dropped.
    #[strum(to_string = "{0}")]
    Real(String),
}

/// The result at one exponent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Play {
    pub(super) exponent: u32,
    pub(super) dim: usize,
    /// Margin of the target on the presented points after they are scaled to norm 1.
    pub(super) margin: f64,
    pub(super) mistakes: u64,
    /// Whether the run ended because the learner no longer made mistakes.
    pub(super) ended: bool,
    /// The learner's bound; `None` if the learner has no bound.
    pub(super) bound: Option<f64>,
}

impl Play {
    /// The mistakes divided by the bound.
    pub(super) fn ratio(&self) -> Option<f64> {
        self.bound.map(|bound| self.mistakes as f64 / bound)
    }
}

pub(crate) type Outcome = Vec<Play>;

/// Number of consecutive correct rounds after which a run on the hard family ends.
const QUIET: u32 = 300;

/// Maximum number of passes over the points of a decision list.
const MAX_PASSES: usize = 20_000;

/// Runs a learner on the hard family: points (γ, c), each with a random sign, in a random rotation. The target is the
/// first axis.
///
/// c has the opposite sign to w_2 and the absolute value |w_2| + 0.45, with jitter. The perceptron errs while γ w_1 <
/// |c w_2|. The right-hand side is about 0.4, and w_1 grows by γ with each mistake. It therefore makes about 0.4/γ²
/// mistakes, within its bound of about 1/γ². Returns the mistakes, the margin, and whether the run ended.
pub(super) fn hard<L: OnlineLearner>(
    learner: &mut L,
    exponent: u32,
    rng: &mut ChaCha8Rng,
) -> Result<(u64, f64, bool), Failure> {
    let gamma = 0.5f64.powi(exponent as i32);
    let axes = Rotation::random_with_rng(2, rng)?
        .apply(&Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?)?
        .into_vec();
    let [a, b, c, d] = axes[..] else { unreachable!("two points of the plane") };
    let most = (4.0 / (gamma * gamma)).min(4e6) as u64 + 1000;
    let (mut mistakes, mut quiet, mut margin) = (0, 0, f64::INFINITY);
    loop {
        let jitter: f64 = rng.random();
        // The update moves the second coordinate of w from about ±0.45 to the other side.
        let value = learner.guess(DenseRow::new(&[c, d])?)?.value;
        let reach = (value.abs() + 0.45 * (0.9 + 0.2 * jitter)).min((1.0 - gamma * gamma).sqrt());
        let second = -Label::from_sign(value).as_f64() * reach;
        let side = if rng.random::<bool>() { Label::Positive } else { Label::Negative };
        let sign = side.as_f64();
        let x = [sign * (gamma * a + second * c), sign * (gamma * b + second * d)];
        // The margin of the rounded point that the learner sees.
        margin = margin.min(sign * (x[0] * a + x[1] * b) / norm(&x));
        let prediction = learner.observe(DenseRow::new(&x)?, side)?;
        if prediction.is_wrong(side) {
            mistakes += 1;
            quiet = 0;
        } else {
            quiet += 1;
        }
        if quiet >= QUIET || mistakes >= most {
            break;
        }
    }
    Ok((mistakes, margin, quiet >= QUIET))
}

/// Runs a learner on the even split. Every learner makes about lg(1/γ) mistakes there and then makes passes over the
/// points. Returns the mistakes, the margin of the middle of the arc, and whether the run ended.
pub(super) fn split<L: OnlineLearner>(
    learner: &mut L,
    exponent: u32,
    rng: &mut ChaCha8Rng,
) -> Result<(u64, f64, bool), Failure> {
    use std::f64::consts::{PI, TAU};
    // The remaining targets are (cos t, sin t) with low < t < high.
    let mut low = rng.random::<f64>() * TAU;
    let mut high = low + PI;
    let (mut rows, mut labels, mut mistakes) = (Vec::new(), Vec::new(), 0);
    while high - low > 2.0 * 0.5f64.powi(exponent as i32) {
        let middle = f64::midpoint(low, high);
        let x = [-middle.sin(), middle.cos()];
        let row = DenseRow::new(&x)?;
        let label = -learner.guess(row)?.label;
        match label {
            Label::Positive => low = middle,
            Label::Negative => high = middle,
        }
        mistakes += u64::from(learner.observe(row, label)?.is_wrong(label));
        rows.push(x);
        labels.push(label);
    }
    let middle = f64::midpoint(low, high);
    let points = Points::from_rows(&rows)?;
    let margin = Halfspace::new(vec![middle.cos(), middle.sin()])?.margin_on(&points, &labels)?;
    let (more, ended) = rounds(learner, &points, &labels)?;
    Ok((mistakes + more, margin, ended))
}

/// Draws a decision list of `rules` rules over the same number of variables, with random literals and alternating
/// labels. Also draws points of the cube that reach every rule equally often, lifts them and normalises them. Returns
/// the points, the labels and the margin.
pub(super) fn list(rules: u32, rng: &mut ChaCha8Rng) -> Result<(Points, Vec<Label>, f64), Failure> {
    let n = rules as usize;
    let alternating =
        |i: usize| if i.is_multiple_of(2) { Label::Positive } else { Label::Negative };
    let literals: Vec<Literal> =
        (0..n).map(|variable| Literal { variable, positive: rng.random() }).collect();
    let rules = literals.iter().enumerate().map(|(i, literal)| (*literal, alternating(i)));
    let target = DecisionList::new(n, rules.collect(), alternating(n))?;
    let mut rows = Vec::with_capacity(60 * (n + 1));
    let mut labels = Vec::with_capacity(rows.capacity());
    for index in 0..60 * (n + 1) {
        // Literals before `first` are false, `first` is true (unless it is the default), and the rest are random.
        let first = index % (n + 1);
        let holds = |i: usize, coin: bool| i == first || (i > first && coin);
        let row: Vec<f64> = literals
            .iter()
            .enumerate()
            .map(|(i, literal)| f64::from(u8::from(holds(i, rng.random()) == literal.positive)))
            .collect();
        labels.push(target.label(BooleanPoint::from_row(DenseRow::new(&row)?)?));
        rows.push(row);
    }
    let points = Points::from_rows(&rows)?.lifted().normalised()?;
    let margin = target.to_halfspace()?.margin_on(&points, &labels)?;
    Ok((points, labels, margin))
}

/// Makes passes over the points until a pass has no mistakes. Returns the number of mistakes and whether such a pass
/// was reached.
pub(super) fn rounds<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    labels: &[Label],
) -> Result<(u64, bool), Failure> {
    let mut mistakes = 0;
    for _ in 0..MAX_PASSES {
        let before = mistakes;
        for (x, y) in points.rows().zip(labels) {
            mistakes += u64::from(learner.observe(x, *y)?.is_wrong(*y));
        }
        if mistakes == before {
            return Ok((mistakes, true));
        }
    }
    Ok((mistakes, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_the_margin_of_their_length() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for rules in [2, 6, 10] {
            let (points, labels, margin) = list(rules, &mut rng).unwrap();
            let scale = 0.5f64.powi(rules as i32);
            assert!(margin > scale / 20.0 && margin < scale * 2.0, "{rules}: {margin}");
            assert_eq!(points.len(), labels.len());
            assert!(labels.contains(&Label::Negative) && labels.contains(&Label::Positive));
        }
    }
}
