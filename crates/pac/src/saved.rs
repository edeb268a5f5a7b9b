//! Saved states are loaded only if they are consistent.

use halfspaces_linalg::InputError;

/// What is checked after it was read.
pub(crate) trait CheckSaved {
    /// Refuses what no run can have left behind, by recomputing what can be recomputed.
    fn check_saved(&self) -> Result<(), InputError>;
}

/// Refuses a saved value that does not fit the others.
pub(crate) fn saved(name: &'static str, value: f64, fits: bool) -> Result<(), InputError> {
    InputError::check_parameter(name, value, fits, "consistent with the rest of the saved state")
}

/// `Serialize`, and a `Deserialize` that checks, for a type that derives both with
/// `#[serde(remote = "Self")]`.
macro_rules! checked_when_loaded {
    ($type:ident $(<$param:ident: $bound:path>)?) => {
        impl$(<$param: serde::Serialize>)? serde::Serialize for $type$(<$param>)? {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                <$type$(<$param>)?>::serialize(self, to)
            }
        }

        impl<'de $(, $param: $bound + serde::Deserialize<'de>)?> serde::Deserialize<'de>
            for $type$(<$param>)?
        {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let loaded = <$type$(<$param>)?>::deserialize(from)?;
                $crate::saved::CheckSaved::check_saved(&loaded)
                    .map_err(serde::de::Error::custom)?;
                Ok(loaded)
            }
        }
    };
}
pub(crate) use checked_when_loaded;
