//! Tests of the command as its users start it. One program for all: the crates are linked once, not once per file.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod audit;
mod bad_input;
mod common;
mod formats;
mod inspect;
mod label;
mod label_page;
mod manners;
mod model_schema;
mod stream;
mod support;
mod tutorial;
