//! Tests of the experiments program and its page.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod angle;
mod page;
mod reproduce;
