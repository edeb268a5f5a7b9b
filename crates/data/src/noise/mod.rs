//! Label noise, and the evaluation of classifiers under noise.

pub(crate) mod flips;
pub(crate) mod instance;
pub(crate) mod link;
pub(crate) mod misspecified;
pub(crate) mod model;
pub(crate) mod population;
pub(crate) mod trap;
