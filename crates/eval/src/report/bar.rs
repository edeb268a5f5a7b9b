//! The bar in a row of the ledger: the measured value compared with its bound.

use crate::claim::{Claim, ClaimKind};
use crate::text::short;

/// Position of the bound on the track, in per cent.
pub(super) const MARK: f64 = 70.0;

/// The smallest visible width of a bar, in per cent.
const LEAST: f64 = 1.0;

/// A bar on a track from 0 to 100 per cent, with the bound at [`MARK`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bar {
    pub(super) start: f64,
    pub(super) width: f64,
    /// Whether the bar continues beyond the track.
    pub(super) cut: bool,
    /// The measured value and the bound in words.
    pub(super) words: String,
}

impl Bar {
    /// The bar of a claim that has a bound and a measured value. If the bound is above 0, the bar starts at 0.
    /// Otherwise the bar shows the difference between the value and the bound, in units of the absolute value of the
    /// bound (or of 1 if the bound is 0).
    pub(super) fn of(claim: &Claim) -> Option<Bar> {
        if claim.kind == ClaimKind::Observation {
            return None;
        }
        let (measured, bound) = (claim.measured?, claim.bound);
        let scale = if bound == 0.0 { 1.0 } else { bound.abs() };
        let end = MARK * (1.0 + (measured - bound) / scale);
        let from = if bound > 0.0 { 0.0 } else { MARK };
        let (low, high) = (end.min(from).clamp(0.0, 100.0), end.max(from).clamp(0.0, 100.0));
        let start = low.min(100.0 - LEAST);
        let width = (high - start).max(LEAST);
        let words = format!("{}, {}", short(&measured), bounded(claim));
        Some(Bar { start, width, cut: !(0.0..=100.0).contains(&end), words })
    }
}

/// The bound in words: "at most 1", "at least 1".
pub(super) fn bounded(claim: &Claim) -> String {
    let side = if claim.bounds_from_below() { "at least" } else { "at most" };
    format!("{side} {}", short(&claim.bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClaimStatement, Evidence, Null, Side};

    fn bar(kind: ClaimKind, evidence: Evidence) -> Option<Bar> {
        let statement = ClaimStatement {
            id: "X".into(),
            statement: "s".into(),
            source: "t".into(),
            kind,
            null: "n".into(),
            checks: &[],
        };
        Bar::of(&Claim::new(statement, "X", evidence, Null::SmallerBound))
    }

    #[test]
    fn bars_end_where_the_value_lies() {
        let of = |side, ratio| {
            let evidence = Evidence::deterministic("m", side, 1, &[ratio]);
            bar(ClaimKind::Proved, evidence).unwrap()
        };
        let half = of(Side::AtMost, 0.5);
        assert_eq!((half.start, half.width, half.cut), (0.0, 0.5 * MARK, false));
        assert_eq!(half.words, "0.5, at most 1");
        let beyond = of(Side::AtLeast, 9.0);
        assert_eq!((beyond.start, beyond.width, beyond.cut), (0.0, 100.0, true));
        assert_eq!(beyond.words, "9, at least 1");
        assert_eq!(of(Side::AtMost, 0.0).width, LEAST);
    }

    /// For a mean that is compared with 0, the bar lies on the same side of the bound as the value.
    #[test]
    fn bars_without_a_beginning_start_at_the_bound() {
        let of = |shift: f64, bound| {
            let values: Vec<f64> = (0..9).map(|i| shift + 1e-9 * f64::from(i)).collect();
            bar(ClaimKind::Measured, Evidence::mean("m", 9, &values, bound)).unwrap()
        };
        let below = of(-0.5, 0.0);
        assert!((below.start - 0.5 * MARK).abs() < 1e-3);
        assert!((below.start + below.width - MARK).abs() < 1e-3);
        let above = of(0.1, 0.0);
        assert!((above.start - MARK).abs() < 1e-3 && (above.width - 0.1 * MARK).abs() < 1e-3);
        assert!((of(-3.0, -2.0).start - 0.5 * MARK).abs() < 1e-3);
        assert!(of(-5.0, 0.0).cut && of(-5.0, 0.0).start == 0.0);
    }

    #[test]
    fn what_has_no_bound_has_no_bar() {
        let evidence = |ratios: &[f64]| Evidence::deterministic("m", Side::AtMost, 1, ratios);
        assert_eq!(bar(ClaimKind::Observation, evidence(&[0.5])), None);
        assert_eq!(bar(ClaimKind::Proved, evidence(&[])), None);
    }
}
