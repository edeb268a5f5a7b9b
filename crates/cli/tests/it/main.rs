//! Tests of the command as its users run it. They are a single test program, so that the crates are linked once and not
//! once per file.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod audit;
mod bad_input;
mod correct;
mod explain;
mod formats;
mod inspect;
mod label;
mod label_page;
mod label_rows;
mod labels;
mod manners;
mod model_input;
mod model_schema;
mod stream;
mod support;
#[cfg(unix)]
mod terminal;
mod tutorial;
