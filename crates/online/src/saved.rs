//! Checks for single fields of saved learners.

use serde::de::{Deserialize, Deserializer, Error};

fn check<'de, D: Deserializer<'de>>(
    deserializer: D,
    accept: impl Fn(f64) -> bool,
    requirement: &str,
) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if accept(value) {
        Ok(value)
    } else {
        Err(D::Error::custom(format!("{value} is out of range; it must be {requirement}")))
    }
}

pub(crate) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    check(deserializer, |v| v > 0.0 && v.is_finite(), "positive and finite")
}

pub(crate) fn above_0_to_1<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    check(d, |v| v > 0.0 && v <= 1.0, "above 0 and at most 1")
}

/// Counters go up by one at a time; one that no run can have reached would overflow.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let count = u64::deserialize(deserializer)?;
    if count < 1 << 53 {
        Ok(count)
    } else {
        Err(D::Error::custom(format!("{count} is out of range; it must be below 2^53")))
    }
}
