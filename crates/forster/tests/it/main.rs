//! Tests of the whole fit. One program for all: the crates are linked once, not once per file.

mod equivariance;
mod hard_cases;
