//! Integration tests of the reader, compiled into one program.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::float_cmp, reason = "tests compare exact values on purpose")]
#![allow(unreachable_pub, reason = "a fuzz target is included as a module")]

mod delimited;
mod fuzz_corpus;
