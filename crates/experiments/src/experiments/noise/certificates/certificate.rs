//! The inequalities that certify progress of a learner, and their slack.

use crate::experiments::common::*;
use halfspaces_data::Link;
use halfspaces_linalg::Label;
use halfspaces_pac::{Denominator, Direction, schedule};

/// An inequality and its denominator D; a = |w·x|.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(super) enum Certificate {
    /// CKST24 Lemma 1: Massart noise, D = a, no margin.
    #[strum(to_string = "Lemma 1: D = a")]
    Lemma1,
    /// CKST24 Lemma 2: Massart noise, D = a + γ.
    #[strum(to_string = "Lemma 2: D = a + γ")]
    Lemma2,
    /// Lemma 2 with D = max(a, γ).
    #[strum(to_string = "Lemma 2: D = max(a, γ)")]
    Lemma2Max,
    /// CKST24 Lemma 7: Lemma 2 with a level that is `short` below 1-2η, and with a loss of `short`.
    #[strum(to_string = "Lemma 7: D = a + γ, level lower by {short}")]
    Lemma7 { short: f64 },
    /// Lemma 7 as printed, without the loss.
    #[strum(to_string = "Lemma 7 as printed, level lower by {short}")]
    Lemma7Printed { short: f64 },
    /// CKST24 Appendix B, the step along the sphere, for Massart noise. Points are pushed away from the boundary, the
    /// link is evaluated at w·x cos θ, and the step is the component of g orthogonal to w.
    #[strum(to_string = "App. B, along the sphere")]
    Tangential,
    /// CKST24 Appendix B, the step with the norm, for Massart noise. Points are pushed away from the boundary, and the
    /// link is evaluated at ŵ·x.
    #[strum(to_string = "App. B, norm-dependent step")]
    NormStep,
    /// CKST24 Lemma 5: any link, D = a, with the term τ/2.
    #[strum(to_string = "Lemma 5: D = a")]
    Lemma5,
    /// Lemma 5 as printed, without the term τ/2.
    #[strum(to_string = "Lemma 5 without τ/2")]
    Lemma5Printed,
    /// CKST24 Lemma 6: any link, D = a + αγ, α = ε/(2-ε), with a loss of ε.
    #[strum(to_string = "Lemma 6: D = a + αγ, ε = {excess}")]
    Lemma6 { excess: f64 },
    /// Any link, D = max(a, cγ), without a loss.
    #[strum(to_string = "link: D = max(a, {share} γ)")]
    Floor { share: f64 },
    /// Any link, D = a + cγ, without a loss.
    #[strum(to_string = "link: D = a + {share} γ")]
    Padding { share: f64 },
}

/// Values of c in the figure. The theorem covers max(a, cγ) for c <= 1/2.
const SHARES: [f64; 7] = [0.1, 0.25, 0.5, 0.6, 0.75, 1.0, 1.25];

impl Certificate {
    pub(super) fn all() -> Vec<Certificate> {
        use Certificate::{
            Floor, Lemma1, Lemma2, Lemma2Max, Lemma5, Lemma5Printed, Lemma6, Lemma7, Lemma7Printed,
            NormStep, Padding, Tangential,
        };
        let mut all = vec![Lemma1, Lemma2, Lemma2Max, Lemma5, Lemma5Printed];
        all.extend([0.1, 0.5].map(|excess| Lemma6 { excess }));
        all.extend(SHARES.map(|share| Floor { share }));
        all.extend(SHARES.map(|share| Padding { share }));
        all.extend([0.1, 0.5].map(|short| Lemma7 { short }));
        all.extend([Lemma7Printed { short: 0.5 }, Tangential, NormStep]);
        all
    }

    /// Whether the inequality is proved to hold. If not, the claim is that it fails.
    pub(super) fn is_proved(self) -> bool {
        match self {
            Certificate::Lemma5Printed
            | Certificate::Lemma7Printed { .. }
            | Certificate::Padding { .. } => false,
            Certificate::Floor { share } => share <= 0.5,
            _ => true,
        }
    }

    pub(super) fn denominator(self, margin: f64) -> Denominator {
        match self {
            Certificate::Lemma1
            | Certificate::Lemma5
            | Certificate::Lemma5Printed
            | Certificate::Tangential
            | Certificate::NormStep => Denominator::Plus(0.0),
            Certificate::Lemma2
            | Certificate::Lemma7 { .. }
            | Certificate::Lemma7Printed { .. } => Denominator::Plus(margin),
            Certificate::Lemma2Max => Denominator::AtLeast(margin),
            Certificate::Lemma6 { excess } => {
                Denominator::Plus(schedule::paper_padding(excess) * margin)
            }
            Certificate::Floor { share } => Denominator::AtLeast(share * margin),
            Certificate::Padding { share } => Denominator::Plus(share * margin),
        }
    }

    pub(super) fn is_massart(self) -> bool {
        matches!(
            self,
            Certificate::Lemma1
                | Certificate::Lemma2
                | Certificate::Lemma2Max
                | Certificate::Lemma7 { .. }
                | Certificate::Lemma7Printed { .. }
                | Certificate::Tangential
                | Certificate::NormStep
        )
    }

    /// Whether the inequality is about pushed points, which are generated in the plane.
    pub(super) fn pushes(self) -> bool {
        matches!(self, Certificate::Tangential | Certificate::NormStep)
    }

    /// The difference between 1-2η and the level of the learner.
    fn short(self) -> f64 {
        match self {
            Certificate::Lemma7 { short } | Certificate::Lemma7Printed { short } => short,
            _ => 0.0,
        }
    }

    /// The loss on the right side, in addition to τ.
    pub(super) fn loss(self) -> f64 {
        match self {
            Certificate::Lemma6 { excess } => excess,
            Certificate::Lemma7 { short } => short,
            _ => 0.0,
        }
    }

    /// Whether the inequality excludes w·x = 0.
    fn excludes_zero(self) -> bool {
        matches!(self.denominator(1.0), Denominator::Plus(padding) if padding <= 0.0)
    }
}

/// A link whose absolute values are reduced by `short`, but not below 0: the link of a learner that overestimates the
/// noise.
#[derive(Debug, Clone, Copy)]
struct Shortened<'a, L> {
    link: &'a L,
    short: f64,
}

impl<L: Link> Link for Shortened<'_, L> {
    fn value(&self, t: f64) -> f64 {
        let value = self.link.value(t);
        if self.short > 0.0 { (value.abs() - self.short).max(0.0).copysign(value) } else { value }
    }

    fn clamped(&self, t: f64) -> f64 {
        self.value(t.clamp(-1.0, 1.0))
    }

    fn asymmetry(&self) -> f64 {
        self.link.asymmetry()
    }
}

/// The slack of an inequality: (left side - right side)/(sum of the absolute values of all terms).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slack {
    /// The slack of the expectations.
    pub(super) mean: f64,
    /// The smallest slack at a single point.
    pub(super) point: f64,
}

/// One point: w·x, w*·x, the flip probability and the mass.
pub(super) struct Row {
    pub(super) value: f64,
    pub(super) margin: f64,
    pub(super) flip: f64,
    pub(super) mass: f64,
}

/// The left minus the right side of the inequality at one point, and the sum of the absolute values of its terms.
/// `full` is the largest flip probability that the noise condition allows at that point.
pub(super) fn terms<L: Link>(
    certificate: Certificate,
    direction: &Direction<L>,
    row: &Row,
    flip: f64,
    full: f64,
) -> (f64, f64) {
    let truth = Label::from_sign(row.margin);
    let (kept, flipped) = (
        (1.0 - flip) * direction.coefficient(row.value, truth),
        flip * direction.coefficient(row.value, -truth),
    );
    let left = (kept + flipped) * (row.value - row.margin);
    let error = if Label::from_sign(row.value) == truth { flip } else { 1.0 - flip };
    let spared = if certificate == Certificate::Lemma5Printed {
        0.0
    } else {
        direction.link.asymmetry() + certificate.loss()
    };
    let right = 2.0 * (error - full) - spared;
    let size = (kept.abs() + flipped.abs()) * (row.value.abs() + row.margin.abs())
        + 2.0 * (error + full)
        + spared;
    (left - right, size)
}

/// The slack of the inequality; `None` if the inequality does not apply because some w·x is 0.
pub(super) fn slack<L: Link>(
    certificate: Certificate,
    link: &L,
    margin: f64,
    worst_noise: bool,
    rows: impl Iterator<Item = Row>,
) -> Option<Slack> {
    let shortened = Shortened { link, short: certificate.short() };
    let direction = Direction { link: shortened, denominator: certificate.denominator(margin) };
    let (mut difference, mut sizes, mut point) = (0.0, 0.0, f64::INFINITY);
    for row in rows {
        // This limit is far above the values of a for which 1/a overflows.
        if certificate.excludes_zero() && row.value.abs() < 1e-100 {
            return None;
        }
        let full = (1.0 - link.clamped(row.margin).abs()) / 2.0;
        let relative =
            |(difference, size): (f64, f64)| difference / f64::max(size, f64::MIN_POSITIVE);
        let mut here = terms(certificate, &direction, &row, row.flip, full);
        if worst_noise {
            // Both sides are linear in the flip probability, so its worst value is 0 or `full`.
            for flip in [0.0, full] {
                let other = terms(certificate, &direction, &row, flip, full);
                if relative(other) < relative(here) {
                    here = other;
                }
            }
        }
        point = point.min(relative(here));
        difference += row.mass * here.0;
        sizes += row.mass * here.1;
    }
    Some(Slack { mean: difference / f64::max(sizes, f64::MIN_POSITIVE), point })
}
