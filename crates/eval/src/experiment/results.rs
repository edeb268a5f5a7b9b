//! Plans, and the outcomes of completed trials.

/// A configuration and its number of trials.
///
/// ```
/// use halfspaces_eval::{Planned, Scale};
/// let plan = |scale: Scale| {
///     [6, 20].map(|faces| Planned { configuration: faces, trials: scale.pick(3, 30, 300) })
/// };
/// assert_eq!(plan(Scale::Full).iter().map(|planned| planned.trials).sum::<u64>(), 600);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Planned<C> {
    /// The configuration.
    pub configuration: C,
    /// Number of trials.
    pub trials: u64,
}

/// The outcomes of one configuration, in the order of the trials' indices.
///
/// ```
/// use halfspaces_eval::{Group, Results};
/// // Two of three trials of a die with 6 faces are done.
/// let group = Group { configuration: 6, planned: 3, outcomes: vec![2, 5] };
/// let results = Results { groups: vec![group] };
/// assert_eq!(results.planned() - results.outcomes().count(), 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Group<C, O> {
    /// The configuration.
    pub configuration: C,
    /// Number of planned trials.
    pub planned: usize,
    /// Outcomes of the completed trials.
    pub outcomes: Vec<O>,
}

/// The outcomes of an experiment, grouped by configuration in the order of the plan.
///
/// ```
/// use halfspaces_eval::{Group, Results};
/// let group = |d, outcomes: Vec<u32>| Group { configuration: d, planned: 3, outcomes };
/// let results = Results { groups: vec![group(2, vec![5, 6, 7]), group(4, vec![9])] };
/// assert_eq!((results.planned(), results.outcomes().count()), (6, 4));
/// assert_eq!(results.outcomes().last(), Some((&4, &9)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Results<C, O> {
    /// One group for each configuration.
    pub groups: Vec<Group<C, O>>,
}

impl<C, O> Results<C, O> {
    /// All outcomes with their configurations.
    pub fn outcomes(&self) -> impl Iterator<Item = (&C, &O)> {
        self.groups.iter().flat_map(|g| g.outcomes.iter().map(|o| (&g.configuration, o)))
    }

    /// The total number of planned trials.
    pub fn planned(&self) -> usize {
        self.groups.iter().map(|g| g.planned).sum()
    }
}
