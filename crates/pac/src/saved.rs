//! Consistency checks for saved states that are loaded.

use halfspaces_linalg::InputError;

/// A type whose saved states are checked after loading.
pub(crate) trait CheckSaved: Sized {
    /// Refuses states that no run can produce, by recomputing every value that can be recomputed.
    fn check_saved(&self) -> Result<(), InputError>;
}

/// Refuses a saved value that is not consistent with the other saved values.
pub(crate) fn saved(name: &'static str, value: f64, fits: bool) -> Result<(), InputError> {
    InputError::check_parameter(name, value, fits, "consistent with the rest of the saved state")
}

#[cfg(test)]
mod tests {
    use crate::SampleFit;
    use serde::Deserialize;

    #[test]
    fn deserialisation_checks_the_state() {
        let load = |candidates: u64| {
            let text = format!(
                r#"{{"halfspace":{{"linear":{{"normal":[1.0]}},"bias":0.0}},"noise":0.1,"margin":0.5,
                "candidates":{candidates},"held_out":5,"errors":1,"steps":3}}"#
            );
            SampleFit::deserialize(&mut serde_json::Deserializer::from_str(&text))
        };
        assert_eq!(load(2).unwrap().candidates(), 2);
        assert!(load(0).is_err());
    }
}
