//! Which of the classes of a file is positive.
//!
//! A class named by the caller is positive and all others negative. Otherwise there may be at most
//! two classes, they must be numbers, and the larger is positive (so 1/0, +1/-1 and 2/1 all work);
//! a number that is the only class is positive iff it is above 0.

use halfspaces_linalg::Label;
use std::cmp::Ordering;

/// The rule that turns the numbers of a file into labels.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum NumberRule {
    /// This number is positive, every other negative.
    Only(f64),
    /// The larger of a pair is positive, the smaller negative.
    Pair { negative: f64, positive: f64 },
    /// One number, and its label.
    Single(f64, Label),
    /// 1 is positive, -1 and 0 are negative.
    Signs,
}

impl NumberRule {
    /// The rule for numbers whose positive class is not named; `None` if there are more than two
    /// classes (or none).
    pub(super) fn of(values: impl Iterator<Item = f64> + Clone) -> Option<NumberRule> {
        let low = values.clone().reduce(f64::min)?;
        let high = values.clone().reduce(f64::max)?;
        if !values.clone().all(|v| same(v, low) || same(v, high)) {
            return None;
        }
        Some(if same(low, high) {
            let label = if low > 0.0 { Label::Positive } else { Label::Negative };
            NumberRule::Single(low, label)
        } else {
            NumberRule::Pair { negative: low, positive: high }
        })
    }

    /// The label of `value`; `None` if it is unknown.
    pub(super) fn label(self, value: f64) -> Option<Label> {
        match self {
            NumberRule::Only(positive) if same(value, positive) => Some(Label::Positive),
            NumberRule::Only(_) => Some(Label::Negative),
            NumberRule::Pair { positive, .. } if same(value, positive) => Some(Label::Positive),
            NumberRule::Pair { negative, .. } if same(value, negative) => Some(Label::Negative),
            NumberRule::Single(only, label) if same(value, only) => Some(label),
            NumberRule::Signs if same(value, 1.0) => Some(Label::Positive),
            NumberRule::Signs if same(value, -1.0) || same(value, 0.0) => Some(Label::Negative),
            _ => None,
        }
    }

    /// Whether a scan or the options can have made the rule.
    #[cfg(feature = "serde")]
    pub(super) fn is_consistent(self) -> bool {
        match self {
            NumberRule::Only(value) | NumberRule::Single(value, _) => value.is_finite(),
            NumberRule::Pair { negative, positive } => {
                negative < positive && negative.is_finite() && positive.is_finite()
            }
            NumberRule::Signs => true,
        }
    }

    /// The numbers the rule knows by name.
    pub(super) fn known(self) -> Vec<String> {
        match self {
            NumberRule::Only(v) | NumberRule::Single(v, _) => vec![v.to_string()],
            NumberRule::Pair { negative, positive } => {
                vec![negative.to_string(), positive.to_string()]
            }
            NumberRule::Signs => ["-1", "0", "1"].map(str::to_owned).to_vec(),
        }
    }
}

/// Why classes have no labels.
#[derive(Debug, PartialEq)]
pub(super) enum Unlabelled {
    /// The class named positive is not among several.
    Absent,
    /// No class is named, and the classes do not say it themselves.
    Unclear,
}

/// The label of every class of `texts`, given as written; several spellings of a number are one
/// class.
pub(super) fn label_texts(
    texts: &[&[u8]],
    positive: Option<&str>,
) -> Result<Vec<Label>, Unlabelled> {
    let labels: Option<Vec<Label>> = match positive {
        Some(name) => {
            let named = number(name.as_bytes());
            let is_named = |text: &[u8]| {
                text == name.as_bytes()
                    || matches!((number(text), named), (Some(a), Some(b)) if same(a, b))
            };
            let label = |t: &&[u8]| if is_named(t) { Label::Positive } else { Label::Negative };
            let labels: Vec<Label> = texts.iter().map(label).collect();
            if labels.len() > 1 && !labels.contains(&Label::Positive) {
                return Err(Unlabelled::Absent);
            }
            Some(labels)
        }
        None => {
            texts.iter().map(|text| number(text)).collect::<Option<Vec<f64>>>().and_then(|values| {
                let rule = NumberRule::of(values.iter().copied())?;
                values.iter().map(|&v| rule.label(v)).collect()
            })
        }
    };
    labels.ok_or(Unlabelled::Unclear)
}

/// The finite number that `text` spells.
fn number(text: &[u8]) -> Option<f64> {
    super::number::parse(text).filter(|v| v.is_finite())
}

/// Equality as the class of a number: 0 and -0 are one.
pub(super) fn same(a: f64, b: f64) -> bool {
    a.partial_cmp(&b) == Some(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Label::{Negative, Positive};

    fn labels(texts: &[&str], positive: Option<&str>) -> Result<Vec<Label>, Unlabelled> {
        let texts: Vec<&[u8]> = texts.iter().map(|t| t.as_bytes()).collect();
        label_texts(&texts, positive)
    }

    #[test]
    fn the_larger_of_two_numbers_is_positive() {
        for pair in [["0", "1"], ["-1", "+1"], ["1", "2"], ["-1", "0"], ["0.5", "1e1"]] {
            assert_eq!(labels(&pair, None), Ok(vec![Negative, Positive]));
        }
        assert_eq!(labels(&["1", "1.0", "-0", "0"], None).unwrap()[1..3], [Positive, Negative]);
        assert_eq!(labels(&["1"], None), Ok(vec![Positive]));
        assert_eq!(labels(&["-1"], None), Ok(vec![Negative]));
        assert_eq!(labels(&["0"], None), Ok(vec![Negative]));
    }

    #[test]
    fn words_and_crowds_need_a_name() {
        for classes in [&["a", "b"][..], &["a"], &["1", "2", "3"], &["1", "nan"]] {
            assert_eq!(labels(classes, None), Err(Unlabelled::Unclear));
        }
        assert_eq!(labels(&["a", "b", "c"], Some("b")), Ok(vec![Negative, Positive, Negative]));
        assert_eq!(labels(&["1.0", "2", "3"], Some("1")), Ok(vec![Positive, Negative, Negative]));
        assert_eq!(labels(&["a", "b"], Some("c")), Err(Unlabelled::Absent));
        assert_eq!(labels(&["a"], Some("c")), Ok(vec![Negative]));
    }

    #[test]
    fn unknown_numbers_have_no_label() {
        assert_eq!(NumberRule::Signs.label(2.0), None);
        assert_eq!(NumberRule::Signs.label(-0.0), Some(Negative));
        assert_eq!(NumberRule::of([1.0, 2.0].into_iter()).unwrap().label(3.0), None);
        assert_eq!(NumberRule::of([1.0].into_iter()).unwrap().known(), ["1"]);
        assert_eq!(NumberRule::Only(3.0).label(7.0), Some(Negative));
    }
}
