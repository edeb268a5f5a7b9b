//! Tests across the crates of the workspace, one module per topic.

mod dense_and_sparse;
mod equivariance;
mod formulas;
mod known_answers;
mod malformed;
mod noise;
mod outside;
mod recorded_runs;
mod resume;
mod stories;
mod streams;
mod written;
