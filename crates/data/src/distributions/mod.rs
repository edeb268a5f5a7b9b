//! Distributions of synthetic points and their targets.

pub(crate) mod finite;
pub(crate) mod heavy;
pub(crate) mod margin_marginals;
pub(crate) mod marginal;
pub(crate) mod realizable;
pub(crate) mod rotation;
pub(crate) mod target;
pub(crate) mod tight;
