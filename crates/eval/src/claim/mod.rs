//! Claims and how they are judged.
//!
//! Two things can go wrong with a verdict that rests on chance, and each has its level:
//!
//! - a true claim comes out [`Verdict::Violated`]: at most 5 % for the whole ledger. Each of at most
//!   [`MAX_SAMPLED_CLAIMS`] claims gets [`REFUTATION_LEVEL`], divided by the number of its settings
//!   (Bonferroni), whatever else is run beside it.
//! - a false claim comes out [`Verdict::Holds`]: at most 5 % for each claim. A claim about several
//!   settings holds only if it does in each, and the setting where it is false passes its own test
//!   with at most 5 %; so no division is needed (Berger 1982, intersection-union tests).
//!
//! A deterministic claim is refuted without any test, by one exception; that it holds means that
//! none was met.
//!
//! A test that nothing could fail shows nothing. So every claim names a null, the simplest thing that
//! must not pass, and the null is measured on the same instances: a claim whose null does not fail
//! ([`Null::fails`]) is [`Verdict::Weak`].

mod evidence;
mod ledger;
mod null;
mod uniform;

pub use evidence::{Evidence, MAX_SAMPLED_CLAIMS, REFUTATION_LEVEL, Side, Verdict};
pub use ledger::{Claim, ClaimKind, ClaimStatement};
pub use null::{Null, SLACK_LIMIT};
