//! Tests of complete fits, in one program so that the crates are linked only once.

mod equivariance;
mod hard_cases;
