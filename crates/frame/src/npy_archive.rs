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
        let Some(array) = found.strip_suffix(".npy") else {
            let is_office = found == "[Content_Types].xml" || found.starts_with("xl/");
            let (what, advice) = match is_office {
                true => ("an Office document", "if it is a workbook, save it as CSV"),
                false => ("a ZIP archive", "extract it"),
            };
            return Err(DataError::user(format!(
                "{name}: the file is {what} that contains `{found}`, which is not an NPY array; {advice}"
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
