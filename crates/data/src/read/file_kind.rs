//! What a file is that is not text, told by its first bytes.

use std::fmt;

/// What an input is that holds no plain text, told by its first bytes.
///
/// ```
/// use halfspaces_data::read::{CsvOptions, FileKind, ReadError, read_csv_from};
/// let packed = b"\x1f\x8b\x08\x00\x00";
/// let fault = read_csv_from(&packed[..], "big.csv.gz", &CsvOptions::new()).unwrap_err();
/// assert!(matches!(fault, ReadError::NotText { kind: FileKind::Gzip, .. }));
/// assert_eq!(fault.to_string(), "big.csv.gz: compressed with gzip; unpack it first, with gunzip");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// Compressed with gzip.
    Gzip,
    /// Compressed with bzip2.
    Bzip2,
    /// Compressed with xz.
    Xz,
    /// Compressed with Zstandard.
    Zstandard,
    /// A zip archive, which an `.xlsx` workbook and an `.npz` file are too.
    Zip,
    /// A 7z archive.
    SevenZip,
    /// An old Excel workbook (`.xls`).
    Excel,
    /// An array of NumPy (`.npy`).
    Numpy,
    /// An HDF5 file, which a MATLAB file is too.
    Hdf5,
    /// A Parquet table.
    Parquet,
    /// A PDF document.
    Pdf,
    /// A web page.
    Html,
    /// Text in UTF-16.
    Utf16,
    /// Text in UTF-32.
    Utf32,
}

/// How each kind begins; a kind whose beginning starts another's comes later.
const BEGINNINGS: [(&[u8], FileKind); 17] = [
    (b"\x1f\x8b", FileKind::Gzip),
    (b"\xfd7zXZ\0", FileKind::Xz),
    (b"\x28\xb5\x2f\xfd", FileKind::Zstandard),
    (b"PK\x03\x04", FileKind::Zip),
    (b"PK\x05\x06", FileKind::Zip),
    (b"7z\xbc\xaf\x27\x1c", FileKind::SevenZip),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", FileKind::Excel),
    (b"\x93NUMPY", FileKind::Numpy),
    (b"\x89HDF", FileKind::Hdf5),
    (b"PAR1\x15", FileKind::Parquet),
    (b"%PDF-", FileKind::Pdf),
    (b"\xff\xfe\0\0", FileKind::Utf32),
    (b"\0\0\xfe\xff", FileKind::Utf32),
    (b"\xff\xfe", FileKind::Utf16),
    (b"\xfe\xff", FileKind::Utf16),
    (b"<!doctype html", FileKind::Html),
    (b"<html", FileKind::Html),
];

impl FileKind {
    /// What an input is, given its first line; `None` if it may be text. Text in UTF-16 may lack its
    /// mark; then every other byte is NUL, unless NUL is allowed.
    pub(super) fn detect(start: &[u8], allow_nul: bool) -> Option<FileKind> {
        let begins = |beginning: &[u8]| {
            start.get(..beginning.len()).is_some_and(|s| s.eq_ignore_ascii_case(beginning))
        };
        // The block size of bzip2, 1 to 9, is no part of its mark.
        if let [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] = start
            && rest.starts_with(b"1AY&SY")
        {
            return Some(FileKind::Bzip2);
        }
        let known = BEGINNINGS.iter().find(|(beginning, _)| begins(beginning));
        let utf16 = match start {
            [a, 0, b, 0, ..] | [0, a, 0, b, ..] if !allow_nul => *a != 0 && *b != 0,
            _ => false,
        };
        known.map(|(_, kind)| *kind).or_else(|| utf16.then_some(FileKind::Utf16))
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Gzip => "compressed with gzip; unpack it first, with gunzip",
            FileKind::Bzip2 => "compressed with bzip2; unpack it first, with bunzip2",
            FileKind::Xz => "compressed with xz; unpack it first, with unxz",
            FileKind::Zstandard => "compressed with Zstandard; unpack it first, with unzstd",
            FileKind::Zip => {
                "a zip archive, as .xlsx workbooks and .npz files are; unpack it, or save the sheet \
                 as CSV"
            }
            FileKind::SevenZip => "a 7z archive; unpack it first",
            FileKind::Excel => "an Excel workbook; save the sheet as CSV",
            FileKind::Numpy => "a NumPy array; write it with numpy.savetxt",
            FileKind::Hdf5 => "an HDF5 file; export the table as CSV",
            FileKind::Parquet => "a Parquet table; export it as CSV",
            FileKind::Pdf => "a PDF document; get the data as text",
            FileKind::Html => "a web page; download the data file that it links to",
            FileKind::Utf16 => "text in UTF-16; save it as UTF-8",
            FileKind::Utf32 => "text in UTF-32; save it as UTF-8",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_and_text_is_let_through() {
        for (start, kind) in [
            (&b"\x1f\x8b\x08"[..], FileKind::Gzip),
            (b"BZh91AY&SY..", FileKind::Bzip2),
            (b"PK\x03\x04\x14", FileKind::Zip),
            (b"\xff\xfea\0,\0", FileKind::Utf16),
            (b"\xfe\xff\0a\0,", FileKind::Utf16),
            (b"a\0,\0b\0\n", FileKind::Utf16),
            (b"\0a\0,\0b\0\n", FileKind::Utf16),
            (b"\xff\xfe\0\0a\0\0\0", FileKind::Utf32),
            (b"<!DOCTYPE html>", FileKind::Html),
            (b"<HTML lang=\"en\">", FileKind::Html),
        ] {
            assert_eq!(FileKind::detect(start, false), Some(kind), "{start:?}");
            let advice = kind.to_string();
            assert!(advice.contains("; ") && !advice.contains("  "), "{advice}");
        }
        for text in ["", "a,b\n", "PK,BZh,PAR1\n", "BZh91,2\n", "1\n", "\u{feff}a\n", "<h,y\n"] {
            assert_eq!(FileKind::detect(text.as_bytes(), false), None, "{text}");
        }
        // NUL may separate fields.
        assert_eq!(FileKind::detect(b"1\x002\0", true), None);
    }
}
