//! F1, F2, F3 and S7: radially isotropic position on points with planted heavy subspaces, on real data and on
//! elliptical data. Every certificate is recomputed, the answers are compared with the planted subspaces, and a search
//! finds the worst direction for the soft margin.

mod claims;
mod fits;
mod plots;
mod workload;

pub(crate) use claims::ForsterExperiment;
