//! The fitted model: the decision list, one certificate per rule, and the held-out error.
//!
//! Claims: PM.

use super::list::{PositionedDecisionList, RuleCount};
use super::source::Remainder;
#[cfg(feature = "serde")]
use crate::saved::{CheckSaved, saved};
use crate::{ErrorBound, ErrorCount};
use halfspaces_linalg::{InputError, Termination, classify_by, getters, load_checked};

/// The certificate of a rule: the quality of its radially isotropic position, and its errors on points that were not
/// used to fit its direction.
///
/// ```
/// use halfspaces_pac::{RuleCertificate, RuleCount};
/// let count = RuleCount { left: 100, inside: 50, errors: 10 };
/// // 60 of 80 points in a plane, with mean (u·f)² >= 0.4 for every unit u there.
/// let certificate = RuleCertificate { points: 80, members: 60, least: 0.8, dim: 2, count };
/// assert!((certificate.spread() - 0.75 * 0.4).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RuleCertificate {
    /// The number of points brought into radially isotropic position.
    pub points: usize,
    /// The number of these points in the subspace.
    pub members: usize,
    /// The smallest eigenvalue of (k/members) Σ f fᵀ over the points in the subspace. It is 1 in exact radially
    /// isotropic position. The theorem needs at least 1/2.
    pub least: f64,
    /// The dimension k of the subspace.
    pub dim: usize,
    /// The numbers of remaining, covered and misclassified points, among points that were not used in the descent.
    /// These numbers determine the signed sum, the covered fraction and the conditional error.
    pub count: RuleCount,
}

impl RuleCertificate {
    /// The spread q: the smallest mean of 1\[x in V\] (u·f(x))² over all unit vectors u. The theorem needs at least
    /// 1/(2d).
    #[must_use]
    pub fn spread(self) -> f64 {
        self.members as f64 / self.points as f64 * self.least / self.dim as f64
    }
}

/// The model fitted by [`PositionedMassart`](crate::PositionedMassart): a decision list, a certificate for each rule,
/// and the held-out errors.
///
/// *Guarantee.* Let the examples be independent, with any distribution. Then with probability at least 1 - δ, the error
/// on fresh examples is at most [`PositionedFit::error_bound`]`(δ)`, the exact binomial bound from the held-out errors.
/// If in addition the labels have Massart noise of rate η, and [`PositionedFit::termination`] is `Converged` under the
/// theorem's schedule, the error is also at most η + ε.
///
/// ```
/// use halfspaces_data::{Instance, Marginal, Rcn, StudentT, random_target};
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_pac::PositionedMassart;
/// let instance = Instance::new(StudentT::new(3, 1.0, 1e6)?, random_target(3, 1)?, Rcn::new(0.1)?)?;
/// let (points, labels) = instance.sample(3000, 2)?;
/// let learner = PositionedMassart::params(0.1).check()?;
/// let fit = learner.fit(&points, &labels)?;
/// // The certificates count the errors of the list on the part on which it was chosen.
/// let parts = learner.parts(3000)?;
/// let chosen_by: Vec<_> = parts.choice.iter().map(|&i| labels[i]).collect();
/// use halfspaces_linalg::PointSet;
/// let counts = fit.list().count(&points.select(&parts.choice)?, &chosen_by)?;
/// assert!(fit.certificates().iter().map(|c| c.count).eq(counts));
/// assert!(fit.error_bound(0.05)?.value() < 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PositionedFit {
    pub(super) list: PositionedDecisionList,
    pub(super) certificates: Vec<RuleCertificate>,
    pub(super) leak: f64,
    pub(super) remainder: Remainder,
    pub(super) held_out: Option<ErrorCount>,
    pub(super) taken: u64,
    pub(super) termination: Termination,
}

load_checked!(PositionedFit {
    list: PositionedDecisionList,
    certificates: Vec<RuleCertificate>,
    leak: f64,
    remainder: Remainder,
    held_out: Option<ErrorCount>,
    taken: u64,
    termination: Termination,
});

#[cfg(feature = "serde")]
impl CheckSaved for PositionedFit {
    fn check_saved(&self) -> Result<(), InputError> {
        let check = InputError::check_state;
        let rules = self.list.rules();
        check(rules.len() == self.certificates.len(), "there is not one certificate per rule")?;
        for (rule, certificate) in rules.iter().zip(&self.certificates) {
            let RuleCertificate { points, members, least, dim, count } = *certificate;
            check(dim == rule.inner_dim(), "a certificate and its rule differ in dimension")?;
            let placed = 0 < members && members <= points && (0.0..=1.0).contains(&least);
            check(placed, "a position has impossible counts or an impossible eigenvalue")?;
            check(
                count.is_possible(),
                "a rule has more errors than covered points, or covers more points than were left",
            )?;
            check(count.inside > 0, "a rule covers none of the points on which it was chosen")?;
        }
        let leak = self.leak;
        saved("leak", leak, leak > 0.0 && leak <= 0.5)?;
        check(self.remainder.is_possible(), "the counts of the last test are impossible")?;
        let needed = self.certificates.iter().map(|c| c.count.left).max().unwrap_or(0);
        let taken = self.taken;
        let held_out = self.held_out.map_or(0, ErrorCount::points);
        let fits = taken >= needed as u64 && taken >= held_out as u64;
        saved("examples taken", taken as f64, fits && taken > 0)?;
        match self.termination {
            Termination::CapReached { cap } => {
                check(rules.len() as u64 == cap, "the number of rules differs from the cap")
            }
            _ => Ok(()),
        }
    }
}

impl PositionedFit {
    getters! {
        /// The decision list.
        list: &PositionedDecisionList,

        /// One certificate per rule, in the order of the rules.
        certificates: &[RuleCertificate],

        /// λ = η + ε/2, the error rate that is subtracted in signed sums.
        leak: f64,

        /// The result of the last test, which counted the points that no rule covers.
        remainder: Remainder,

        /// The errors on held-out examples, or `None` if no examples were held out.
        held_out: Option<ErrorCount>,

        /// The total number of examples used.
        taken: u64,

        /// How the fit ended; see [`PositionedMassart`](crate::PositionedMassart).
        termination: Termination,
    }

    /// Computes the exact binomial upper bound on the error from the held-out examples. The bound fails with
    /// probability at most `failure`.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a `failure` outside (0, 1).
    pub fn error_bound(&self, failure: f64) -> Result<ErrorBound, InputError> {
        match self.held_out {
            Some(count) => count.error_bound(failure),
            None => {
                let in_range = failure > 0.0 && failure < 1.0;
                InputError::check_parameter("failure", failure, in_range, "above 0 and below 1")?;
                Ok(ErrorBound::NoInformation)
            }
        }
    }
}

classify_by!(PositionedFit, list);
