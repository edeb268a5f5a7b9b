//! Range checks for single fields of saved learners.

use serde::de::{Deserialize, Deserializer, Error};

pub(crate) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(D::Error::custom(format!("{value} is out of range; it must be positive and finite")))
    }
}

/// Reads a counter and rejects values of 2^53 or more. Counters grow by one per round, so no run reaches 2^53; a larger
/// value could overflow.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let count = u64::deserialize(deserializer)?;
    if count < 1 << 53 {
        Ok(count)
    } else {
        Err(D::Error::custom(format!("{count} is out of range; it must be below 2^53")))
    }
}
