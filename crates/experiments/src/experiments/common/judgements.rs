//! Claims, and the evidence for them.

#[cfg(test)]
use halfspaces_eval::Verdict;
use halfspaces_eval::{ClaimStatement, Evidence, Group, Null, Results, Section};
use std::fmt::Display;

/// Declares the id and the title of an experiment, then its claims. Each claim has a statement, a source (document and
/// number), a kind, a null, and the public items that are run to test it. An item that does not exist causes a compile
/// error. A claim about a distribution or a published formula lists no items.
macro_rules! about {
    ($id:literal, $title:literal; $($claims:tt)+) => {
        type Configuration = Configuration;
        type Outcome = Outcome;

        fn id(&self) -> &'static str {
            $id
        }

        fn title(&self) -> &'static str {
            $title
        }

        fn claims(&self) -> Vec<ClaimStatement> {
            claims!($($claims)+)
        }
    };
}
pub(crate) use about;

/// The claims of [`about`].
macro_rules! claims {
    ($($id:literal: $statement:tt [$source:tt] $kind:ident, null $null:tt
        $($package:ident::{$($item:tt)+}),*;)+) => {
        vec![$(ClaimStatement {
            id: $id.into(),
            statement: $statement.into(),
            source: $source.into(),
            kind: halfspaces_eval::ClaimKind::$kind,
            null: $null.into(),
            checks: checks!($($package::{$($item)+}),*),
        }),+]
    };
}
pub(crate) use claims;

/// The paths of public items, as in `checks!(halfspaces_online::{Perceptron, bounds::massart_excess})`.
macro_rules! checks {
    ($($package:ident::{$($first:ident $(::$more:ident)*),+ $(,)?}),*) => {{
        $($(
            #[expect(unused_imports, reason = "the import checks that the item exists")]
            use $package::$first $(::$more)* as _;
        )+)*
        const CHECKS: &[&str] = &[$($(concat!(
            stringify!($package), "::", stringify!($first) $(, "::", stringify!($more))*
        )),+),*];
        CHECKS
    }};
}
pub(crate) use checks;

/// Takes a value from an outcome or a setting. The outcome or setting must be of the given variant.
macro_rules! of_part {
    ($outcome:expr, $part:pat => $value:expr) => {
        match $outcome {
            $part => $value,
            _ => unreachable!("an outcome of another part"),
        }
    };
}
pub(crate) use of_part;

/// Judges the claims of an experiment, in their order, each with its evidence and its null.
pub(crate) fn judge_all<const N: usize>(
    section: &mut Section,
    claims: Vec<ClaimStatement>,
    evidence: [(Evidence, Null); N],
) {
    assert_eq!(claims.len(), N, "every claim needs evidence");
    for (claim, (evidence, null)) in claims.into_iter().zip(evidence) {
        section.judge(claim, evidence, null);
    }
}

/// A null, that is, an alternative that must violate the claim, measured on the trials of `groups`. Each trial is one
/// case; `failed` says whether the null violates the claim in that trial.
pub(crate) fn null_of<'a, C: 'a, O: 'a>(
    groups: impl IntoIterator<Item = &'a Group<C, O>>,
    failed: impl Fn(&C, &O) -> bool,
) -> Null {
    let groups = groups.into_iter();
    Null::of_cases(groups.flat_map(|g| {
        let failed = &failed;
        g.outcomes.iter().map(move |o| failed(&g.configuration, o))
    }))
}

/// Evidence for "fails with probability at most `delta`" from the trials of one setting.
pub(crate) fn fails_at_most<C, O>(
    group: &Group<C, O>,
    delta: f64,
    failed: impl Fn(&O) -> bool,
) -> Evidence {
    let failures = group.outcomes.iter().filter(|o| failed(o)).count();
    Evidence::probability(group.planned, failures, group.outcomes.len(), delta)
}

/// Evidence for "measured / bound <= 1 with probability at least 1 - `delta`" from the trials of one setting.
pub(crate) fn within_bound<C, O>(
    group: &Group<C, O>,
    delta: f64,
    ratio: impl Fn(&O) -> f64,
) -> Evidence {
    let ratios: Vec<f64> = group.outcomes.iter().map(ratio).collect();
    Evidence::quantile(group.planned, &ratios, delta)
}

/// Judges every setting separately and returns the worst evidence.
pub(crate) fn worst_setting<'a, C: Display + 'a, O: 'a>(
    groups: impl IntoIterator<Item = &'a Group<C, O>>,
    judge: impl Fn(&Group<C, O>) -> Evidence,
) -> Evidence {
    let judged = groups.into_iter().map(|g| (g.configuration.to_string(), judge(g)));
    Evidence::worst_of(&judged.collect::<Vec<_>>())
}

/// The groups whose setting `mine` accepts.
pub(crate) fn groups_of<C, O>(
    results: &Results<C, O>,
    mine: impl Fn(&C) -> bool,
) -> Vec<&Group<C, O>> {
    results.groups.iter().filter(|g| mine(&g.configuration)).collect()
}

/// Total number of planned trials.
pub(crate) fn planned<C, O>(groups: &[&Group<C, O>]) -> usize {
    groups.iter().map(|g| g.planned).sum()
}

/// The verdicts on the claims, for tests that plant wrong outcomes. `Weak` and `Observed` count as `Holds`: nulls are
/// tested in `halfspaces_eval`.
#[cfg(test)]
pub(crate) fn verdicts<E: halfspaces_eval::Experiment>(
    experiment: &E,
    groups: Vec<Group<E::Configuration, E::Outcome>>,
) -> Vec<Verdict> {
    let mut section = Section::default();
    experiment.evaluate(&Results { groups }, &mut section);
    let passed = |verdict| match verdict {
        Verdict::Weak | Verdict::Observed => Verdict::Holds,
        other => other,
    };
    section.claims.iter().map(|claim| passed(claim.verdict)).collect()
}
