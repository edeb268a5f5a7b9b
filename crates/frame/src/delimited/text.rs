//! A text in memory, and the sample that determines its layout.

use super::encoding::{self, Encoded};
use super::foreign;
use super::layout::{self, Layout};
use super::records::Records;
use super::rows::Rows;
use crate::error::DataError;
use crate::options::{Format, Hints, Ragged, ReadOptions};
use crate::source::Source;
use std::borrow::Cow;

/// The layout of a text is determined from this many bytes at its start. If lines are long, up to [`LONGEST_SAMPLE`]
/// bytes are used.
pub(super) const SAMPLE: usize = 1 << 17;
pub(super) const LONGEST_SAMPLE: usize = 1 << 24;
/// The minimum number of lines in a sample.
pub(super) const SAMPLE_LINES: usize = 20;

/// A text in memory with its layout.
pub(super) struct Text<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) encoded: Encoded,
    pub(super) layout: Layout,
}

impl<'a> Text<'a> {
    pub(super) fn new(
        source: &Source,
        bytes: &'a [u8],
        format: Format,
        options: &ReadOptions,
        hints: &Hints,
    ) -> Result<Text<'a>, DataError> {
        let encoded = find_encoding(source, bytes, true)?;
        let text = encoding::decode(bytes, encoded);
        foreign::check(source.name(), &text)?;
        let mut layout = layout::find(sample(&text), format, options, hints)?;
        layout.notes.splice(0..0, encoded.note());
        Ok(Text { text, encoded, layout })
    }

    pub(super) fn rows<'t>(
        &'t self,
        source: &'t Source,
        ragged: Ragged,
    ) -> Result<Rows<'t>, DataError> {
        Rows::new(source, Records::of_text(&self.text, self.layout.dialect), &self.layout, ragged)
    }
}

/// Detects the encoding of a text (see [`encoding::find`]).
///
/// # Errors
/// Returns an error if most of the text is UTF-8 but some bytes are not, or if a complete text ends in the middle of a
/// character.
pub(super) fn find_encoding(
    source: &Source,
    bytes: &[u8],
    complete: bool,
) -> Result<Encoded, DataError> {
    let encoded = encoding::find(bytes, complete);
    if let Some(line) = complete.then(|| encoding::cut_line(bytes, encoded)).flatten() {
        let (name, size) = (source.name(), bytes.len());
        let cut = encoding::CUT;
        return Err(DataError::user(format!("{name}, line {line} (byte {size}): {cut}")));
    }
    match encoded.guessed.then(|| encoding::damaged_line(bytes)).flatten() {
        None => Ok(encoded),
        Some(line) => Err(DataError::user(format!(
            "{}, line {line}: not UTF-8, unlike most other lines; convert this line, or write the whole file in one encoding",
            source.name()
        ))),
    }
}

/// The start of a text, with enough lines to determine the layout.
pub(super) fn sample(text: &[u8]) -> &[u8] {
    let mut length = SAMPLE;
    while length < text.len()
        && length < LONGEST_SAMPLE
        && text[..length].iter().filter(|b| matches!(b, b'\n' | b'\r')).take(SAMPLE_LINES).count()
            < SAMPLE_LINES
    {
        length *= 2;
    }
    if length >= text.len() {
        return text;
    }
    // The sample ends after a whole line.
    let end = memchr::memrchr2(b'\n', b'\r', &text[..length]).map_or(length, |end| end + 1);
    &text[..end]
}
