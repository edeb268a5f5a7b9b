//! Tests of the program that runs the experiments, and of its page.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod page;
mod reproduce;
