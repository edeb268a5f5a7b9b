//! F1, F2, F3 and S7: radially isotropic position on planted heavy subspaces, real and elliptical data;
//! every certificate recomputed, every planted subspace compared, the soft margin searched for its
//! worst direction.

mod claims;
mod fits;
mod plots;
mod workload;

pub(crate) use claims::ForsterExperiment;
