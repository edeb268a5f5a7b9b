//! Range checks for individual fields of saved learners.

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, F64Deserializer, U64Deserializer};

    #[test]
    fn fields_are_returned_or_refused() {
        let number = |value: f64| {
            let of: F64Deserializer<Error> = value.into_deserializer();
            positive(of).ok()
        };
        assert_eq!([0.25, 1.0, f64::MAX].map(number), [0.25, 1.0, f64::MAX].map(Some));
        for value in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(number(value), None, "{value}");
        }
        let counter = |value: u64| {
            let of: U64Deserializer<Error> = value.into_deserializer();
            count(of).ok()
        };
        let last = (1u64 << 53) - 1;
        assert_eq!([0, 7, last].map(counter), [0, 7, last].map(Some));
        assert_eq!([last + 1, u64::MAX].map(counter), [None, None]);
    }
}
