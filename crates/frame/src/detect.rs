//! Detects the formats of files.

use crate::delimited::without_utf16;
use crate::error::DataError;
use crate::libsvm_line::looks_like;
use crate::options::Format;
use crate::source::Source;

/// Determines the format of a file from its first bytes or, if these are text, from the name of the file.
pub(crate) fn format(source: &Source) -> Result<Format, DataError> {
    let head = source.head();
    let begins = |magic: &[u8]| head.starts_with(magic);
    if begins(b"PAR1") {
        return Ok(Format::Parquet);
    }
    if begins(b"ARROW1") || begins(b"\xff\xff\xff\xff") {
        return Ok(Format::Arrow);
    }
    if begins(b"\x93NUMPY") {
        return Ok(Format::Npy);
    }
    if begins(b"PK\x03\x04") {
        return Ok(Format::Npz);
    }
    source.check_no_binary()?;
    let lower = source.name().to_lowercase();
    let plain = lower.strip_suffix(".gz").or(lower.strip_suffix(".zst")).unwrap_or(&lower);
    if source.is_utf16() {
        // The reader of LIBSVM text says that it must be saved as UTF-8.
        if looks_like(&without_utf16(head)) {
            return Ok(Format::Libsvm);
        }
        return Ok(if plain.ends_with(".tsv") { Format::Tsv } else { Format::Csv });
    }
    let ends = |ends: &[&str]| ends.iter().any(|end| plain.ends_with(end));
    if ends(&[".libsvm", ".svm", ".svmlight"]) || looks_like(head) {
        Ok(Format::Libsvm)
    } else if ends(&[".tsv", ".tab"]) {
        Ok(Format::Tsv)
    } else {
        Ok(Format::Csv)
    }
}
