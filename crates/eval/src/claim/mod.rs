//! Claims, and the rules that judge them.
//!
//! A verdict based on random samples may be wrong in two ways, and the probability of each error is limited:
//!
//! - A true claim is reported as [`Verdict::Violated`]. The probability of this error is at most 5 % for the whole
//!   ledger. Each of at most [`MAX_SAMPLED_CLAIMS`] claims is tested at [`REFUTATION_LEVEL`], divided by the number of
//!   its settings (Bonferroni), regardless of which other claims are tested.
//! - A false claim is reported as [`Verdict::Holds`]. The probability of this error is at most 5 % for each claim. A
//!   claim about several settings holds only if it holds in each. The setting in which it is false passes its own test
//!   with probability at most 5 %, so no division is needed (Berger 1982, intersection-union tests).
//!
//! A deterministic claim is refuted by one exception, without any test. Such a claim holds if there was no exception.
//!
//! A test that cannot fail shows nothing. Every claim therefore names a null, the simplest alternative that must not
//! pass, and the null is measured on the same instances. A claim whose null does not fail ([`Null::fails`]) is
//! [`Verdict::Weak`].
//!
//! The ledger shows two more numbers for every claim, separately: its slack, which is the factor between the statement
//! and the measurements, and its number of trials. More trials do not change the slack. A claim with a slack of at
//! least [`SLACK_LIMIT`] is also weak, unless it states why no instance can approach its bound.

mod evidence;
mod ledger;
mod null;
mod uniform;

pub use evidence::{Evidence, MAX_SAMPLED_CLAIMS, REFUTATION_LEVEL, Side, Verdict};
pub use ledger::{Claim, ClaimKind, ClaimStatement};
pub use null::{Null, SLACK_LIMIT};
