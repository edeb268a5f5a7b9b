//! Tests of `cargo xtask` as its users start it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(unix)]
mod suite;
mod tidy;
