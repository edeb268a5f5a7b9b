//! What several tests of the command need.
#![allow(dead_code, unreachable_pub, reason = "every test file uses a part of it")]

use std::fs;
use std::io::Write;
use std::path::Path;

/// The command, in a directory.
pub fn halfspaces(dir: &Path) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_halfspaces"));
    command.current_dir(dir).env("NO_COLOR", "1");
    command
}

/// A table of `rows` rows: columns a, b, colour and the label y, `p` where a + b > 0 or the colour is red.
pub fn table(rows: usize) -> String {
    let mut text = "a,b,colour,y\n".to_owned();
    for i in 0..rows {
        let a = ((i * 37) % 100) as f64 / 10.0 - 5.0;
        let b = ((i * 59 + 13) % 100) as f64 / 10.0 - 5.0;
        let colour = ["red", "green", "blue"][(i * 7 / 2) % 3];
        let label = if a + b > 0.0 || colour == "red" { "p" } else { "n" };
        text.push_str(&format!("{a},{b},{colour},{label}\n"));
    }
    text
}

/// An NPY file.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// A ZIP archive of these files.
pub fn npz(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The names in a directory, hidden ones included.
pub fn listing(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
