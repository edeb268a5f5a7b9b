//! The experiments, by subject; a large one is a folder.

mod common;
mod noise;
mod online;
mod position;
mod self_directed;

pub(crate) use noise::{
    CertificateExperiment, GlmExperiment, MassartExperiment, PerspectronExperiment,
    ProjectionExperiment, PushAwayExperiment, RealNoiseExperiment, Table1Experiment,
};
pub(crate) use online::{
    BatchExperiment, HalvingExperiment, KernelExperiment, ModifiedExperiment, PerceptronExperiment,
    VersionSpaceExperiment,
};
pub(crate) use position::ForsterExperiment;
pub(crate) use self_directed::{
    MarginsExperiment, ProcessExperiment, RandomOrderExperiment, SphereExperiment, StrongExperiment,
};
