//! Claims, and the rules by which they are judged.
//!
//! Two kinds of error are possible for a verdict based on random samples, and each has its level:
//!
//! - A true claim is reported as [`Verdict::Violated`], with probability at most 5 % for the whole ledger. Each of at
//!   most [`MAX_SAMPLED_CLAIMS`] claims is tested at [`REFUTATION_LEVEL`], divided by the number of its settings
//!   (Bonferroni), whatever other claims are run.
//! - A false claim is reported as [`Verdict::Holds`], with probability at most 5 % for each claim. A claim about
//!   several settings holds only if it holds in each, and the setting in which it is false passes its own test with
//!   probability at most 5 %, so no division is needed (Berger 1982, intersection-union tests).
//!
//! A deterministic claim is refuted by one exception, without any test; it holds if there was no exception.
//!
//! A test that cannot fail shows nothing. Every claim therefore names a null, the simplest alternative that must not
//! pass, and the null is measured on the same instances. A claim whose null does not fail ([`Null::fails`]) is
//! [`Verdict::Weak`].
//!
//! The ledger shows two more figures for every claim, separately: its slack, which says how far the statement is from
//! the measurements, and its number of trials. More trials do not change the slack. A claim with a slack of at least
//! [`SLACK_LIMIT`] is weak, too, unless it states why no instance can approach its bound.

mod evidence;
mod ledger;
mod null;
mod uniform;

pub use evidence::{Evidence, MAX_SAMPLED_CLAIMS, REFUTATION_LEVEL, Side, Verdict};
pub use ledger::{Claim, ClaimKind, ClaimStatement};
pub use null::{Null, SLACK_LIMIT};
