#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| halfspaces_fuzz::tables::parquet(bytes));
