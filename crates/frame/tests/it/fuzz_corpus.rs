//! Reads the corpus of the fuzz target `delimited`, and simple changes to it.

#[path = "../../../../fuzz/src/delimited.rs"]
mod delimited;

use std::path::Path;

/// Every seed is read unchanged, truncated, and with single bytes replaced by bytes that have a meaning in delimited
/// text.
#[test]
fn seeds_and_their_changes_are_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/delimited");
    let mut seeds = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let seed = std::fs::read(entry.unwrap().path()).unwrap();
        seeds += 1;
        for choice in 0..36 {
            let mut bytes = seed.clone();
            bytes[0] = choice;
            delimited::delimited(&bytes);
        }
        for at in 1..seed.len().min(120) {
            delimited::delimited(&seed[..at]);
            for byte in *b"\",;\n\r\t\\'# \0\xff" {
                let mut bytes = seed.clone();
                bytes[at] = byte;
                delimited::delimited(&bytes);
            }
        }
    }
    assert!(seeds > 10, "{seeds} seeds");
}
