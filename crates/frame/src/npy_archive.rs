//! Reads NPZ files, which are ZIP archives of arrays.

use crate::error::DataError;
use crate::npy_header::Header;
use crate::source::ReadSeek;
use std::collections::BTreeSet;
use std::io::Read;
use zip::ZipArchive;

/// An archive of arrays.
pub(crate) type Archive<'s> = ZipArchive<Box<dyn ReadSeek + 's>>;

/// Returns the names of the arrays in an archive.
pub(crate) fn names(archive: &mut Archive<'_>, name: &str) -> Result<Vec<String>, DataError> {
    let mut names = Vec::new();
    let mut seen = BTreeSet::new();
    for at in 0..archive.len() {
        let entry = archive.by_index(at).map_err(|e| damaged(name, &e))?;
        let found = entry.name().map_err(|e| damaged(name, &e))?.into_owned();
        drop(entry);
        let Some(array) = found.strip_suffix(".npy") else {
            return Err(DataError::user(format!(
                "{name}: the file is {}",
                foreign(archive, &found)
            )));
        };
        if !seen.insert(array.to_owned()) {
            return Err(DataError::user(format!(
                "{name}: two arrays are named `{array}`; save the archive again"
            )));
        }
        names.push(array.to_owned());
    }
    Ok(names)
}

/// Describes an archive that contains `found`, which is not an array, and says what to do.
fn foreign(archive: &mut Archive<'_>, found: &str) -> String {
    let names: Vec<String> = (0..archive.len())
        .filter_map(|at| Some(archive.by_index(at).ok()?.name().ok()?.into_owned()))
        .collect();
    let has = |start: &str| names.iter().any(|name| name.starts_with(start));
    let what = if has("xl/") {
        "an Excel workbook (.xlsx)"
    } else if has("word/") {
        "a Word document (.docx)"
    } else if has("mimetype") && has("content.xml") {
        "an OpenDocument file, such as a spreadsheet (.ods)"
    } else if has("[Content_Types].xml") {
        "an Office document"
    } else {
        return format!(
            "a ZIP archive that contains `{found}`, which is not an NPY array; extract it"
        );
    };
    format!("{what}; save the table as CSV")
}

/// Opens an array in an archive. Returns its header and a reader of its items. The size of the entry must equal the
/// size stated in the header.
pub(crate) fn open<'a>(
    archive: &'a mut Archive<'_>,
    at: usize,
    name: &str,
    array: &str,
) -> Result<(Header, impl Read + 'a), DataError> {
    let mut entry = archive.by_index(at).map_err(|e| damaged(name, &e))?;
    let place = || format!("{name}, array `{array}`");
    let header = Header::read(&mut entry).map_err(|e| e.at(&place()))?;
    header.check_length(entry.size()).map_err(|e| e.at(&place()))?;
    Ok((header, entry))
}

pub(crate) fn damaged(name: &str, error: &zip::result::ZipError) -> DataError {
    let advice = "save it again with numpy.savez or numpy.savez_compressed";
    DataError::user(format!("{name}: not a readable NPZ archive: {error}; {advice}"))
}

/// Rejects data that follows the items. Reading to the end also verifies the checksum of an archive entry.
pub(crate) fn check_end(reader: &mut impl Read) -> Result<(), DataError> {
    match reader.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(DataError::user(
            "there is more data than the shape and the type require; the file is damaged",
        )),
        Err(error) => Err(DataError::user(format!("cannot be decompressed: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Hints, ReadOptions, read_bytes};
    use std::io::Write;

    /// Documents of office programs are named, whichever of their files comes first.
    #[test]
    fn office_documents_are_named() {
        for (files, said) in [
            (&["docProps/app.xml", "xl/workbook.xml"][..], "an Excel workbook (.xlsx); save"),
            (&["[Content_Types].xml", "word/document.xml"], "a Word document (.docx); save"),
            (&["mimetype", "content.xml"], "(.ods); save the table as CSV"),
            (&["[Content_Types].xml", "ppt/a.xml"], "an Office document; save"),
            (
                &["a.csv"],
                "a ZIP archive that contains `a.csv`, which is not an NPY array; extract it",
            ),
        ] {
            let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            for file in files {
                writer.start_file(*file, zip::write::SimpleFileOptions::default()).unwrap();
                writer.write_all(b"text").unwrap();
            }
            let bytes = writer.finish().unwrap().into_inner();
            let read = read_bytes("t", bytes, &ReadOptions::default(), &Hints::default());
            let error = read.unwrap_err().to_string();
            assert!(error.starts_with("t: the file is ") && error.contains(said), "{error}");
        }
    }

    /// An array with one column is a column if the archive contains another table.
    #[test]
    fn arrays_with_one_column_are_columns() {
        let of = |arrays: &[(&str, usize)]| {
            let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            for (name, width) in arrays {
                let shape = format!("(3, {width})");
                let header =
                    format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n");
                let length = (header.len() as u16).to_le_bytes();
                let options = zip::write::SimpleFileOptions::default();
                writer.start_file(format!("{name}.npy"), options).unwrap();
                let items: Vec<u8> = (0..3 * *width as u8).collect();
                let parts = [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), &items];
                writer.write_all(&parts.concat()).unwrap();
            }
            let bytes = writer.finish().unwrap().into_inner();
            let read = read_bytes("t", bytes, &ReadOptions::default(), &Hints::default());
            let names = |frame: crate::Frame| {
                frame.names().iter().map(|name| name.to_string()).collect::<Vec<_>>().join(" ")
            };
            read.map(names).map_err(|error| error.to_string())
        };
        assert_eq!(of(&[("X", 2), ("y", 1)]).unwrap(), "y x0 x1");
        assert_eq!(of(&[("y", 1), ("X", 2), ("w", 1)]).unwrap(), "y w x0 x1");
        // Without a wider array, the names do not depend on the order.
        assert_eq!(of(&[("X", 1), ("y", 1)]).unwrap(), "X y");
        assert_eq!(of(&[("y", 1), ("X", 1)]).unwrap(), "y X");
        assert_eq!(of(&[("X", 1)]).unwrap(), "x0");
        assert!(of(&[("X", 2), ("Z", 2)]).unwrap_err().contains("both have two dimensions"));
    }
}
