//! P5 and P7: the GLM Perspectron with the corrected constants of CKST24 Theorem 4 and with ours, on random models and
//! on hard models found by search. Another part tests whether the padding matters to the learner.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::GlmExperiment;
