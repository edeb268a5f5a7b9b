//! Saved states are loaded only if they are consistent.

use halfspaces_linalg::InputError;

/// What is checked after it was read, and after a run.
pub(crate) trait CheckSaved: Sized {
    /// Refuses what no run can have left behind, by recomputing what can be recomputed.
    fn check_saved(&self) -> Result<(), InputError>;

    /// What a run ended with, which passes by the reason given.
    #[expect(clippy::expect_used, reason = "a loaded state is checked by the same rules")]
    fn assured(self, reason: &'static str) -> Self {
        self.check_saved().expect(reason);
        self
    }
}

/// Refuses a saved value that does not fit the others.
#[cfg(feature = "serde")]
pub(crate) fn saved(name: &'static str, value: f64, fits: bool) -> Result<(), InputError> {
    InputError::check_parameter(name, value, fits, "consistent with the rest of the saved state")
}

/// `whole` passes, and is refused after each of the changes.
#[cfg(test)]
pub(crate) fn assert_refused<T: CheckSaved + Clone>(
    whole: &T,
    changes: impl IntoIterator<Item: Fn(&mut T)>,
) {
    assert_eq!(whole.check_saved(), Ok(()));
    for (i, change) in changes.into_iter().enumerate() {
        let mut changed = whole.clone();
        change(&mut changed);
        assert!(changed.check_saved().is_err(), "change {i}");
    }
}

#[cfg(test)]
#[cfg(feature = "serde")]
mod tests {
    use crate::{
        Ckmy, CuttingPlane, Ddk, Dgt, GlmHeuristic, GlmPerspectron, GridPerspectron, Heuristic,
        LeakyRelu, LinearSvm, LogisticRegression, Margin, MarginSearch, Perspectron,
        SamplePerspectron,
    };
    use halfspaces_data::StandardLink;
    use halfspaces_linalg::Params;
    use serde::{Serialize, de::DeserializeOwned};
    use std::fmt::Debug;

    /// A learner is loaded as it was saved, and not with another value for one that was saved.
    fn is_checked<L>(learner: L, good: &str, bad: &str)
    where
        L: Serialize + DeserializeOwned + Debug + PartialEq,
    {
        let text = serde_json::to_string(&learner).unwrap();
        assert_eq!(serde_json::from_str::<L>(&text).unwrap(), learner);
        assert!(text.contains(good), "{text}");
        let changed = serde_json::from_str::<L>(&text.replace(good, bad)).unwrap_err().to_string();
        assert!(changed.contains("out of range"), "{changed}");
    }

    /// Once `SampleFit::deserialize` was a function of its own that checked nothing.
    #[test]
    fn no_way_to_load_skips_the_check() {
        use crate::SampleFit;
        use serde::Deserialize;
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

    #[test]
    fn learners_are_saved_as_their_parameters() {
        let excess = ("\"excess\":0.1", "\"excess\":1.5");
        let c = ("\"c\":1.0", "\"c\":-1.0");
        let link = StandardLink::massart(0.1).unwrap();
        let perspectron = Perspectron::params(0.1, 0.3);
        is_checked(perspectron.check().unwrap(), excess.0, excess.1);
        is_checked(MarginSearch::new(perspectron).unwrap(), excess.0, excess.1);
        let grid = GridPerspectron::params(Margin::Known(0.3));
        is_checked(grid.check().unwrap(), excess.0, excess.1);
        is_checked(GlmPerspectron::params(link, 0.3).check().unwrap(), excess.0, excess.1);
        let heuristic = GlmHeuristic::params(Heuristic::NormDependent, link, 0.3);
        is_checked(heuristic.check().unwrap(), excess.0, excess.1);
        is_checked(CuttingPlane::params(0.1, 0.3).check().unwrap(), excess.0, excess.1);
        is_checked(Ddk::params(0.1, 0.3).check().unwrap(), excess.0, excess.1);
        is_checked(Ckmy::params(0.1, 0.3).check().unwrap(), excess.0, excess.1);
        is_checked(Dgt::params(0.1, 0.3).check().unwrap(), excess.0, excess.1);
        is_checked(LogisticRegression::params().check().unwrap(), c.0, c.1);
        is_checked(LinearSvm::params().check().unwrap(), c.0, c.1);
        let sample = SamplePerspectron::params();
        is_checked(sample.check().unwrap(), "\"passes\":1", "\"passes\":0");
        is_checked(LeakyRelu::new(0.25).unwrap(), "0.25", "0.75");
    }
}
