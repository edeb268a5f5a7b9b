//! Integration tests across the crates; see the files in `tests/`.
