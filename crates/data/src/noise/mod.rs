//! Who flips labels, and who judges classifiers under noise.

pub(crate) mod flips;
pub(crate) mod instance;
pub(crate) mod link;
pub(crate) mod model;
pub(crate) mod population;
pub(crate) mod trap;
