//! Rejects files that are not delimited text, with a message that names their format.

use super::split::line_ends;
use crate::error::DataError;

/// The number of bytes that are examined at the start of a file.
const HEAD: usize = 4096;

/// Rejects text in another format.
pub(crate) fn check(name: &str, text: &[u8]) -> Result<(), DataError> {
    if let Some(at) = memchr::memchr(0, text) {
        let line = 1 + line_ends(&text[..at]);
        return Err(DataError::user(format!("{name}: {}", zero_byte(line))));
    }
    if is_vowpal_wabbit(text) {
        return Err(DataError::user(format!(
            "{name}: the file is in the format of Vowpal Wabbit; this format is not supported; write the table as LIBSVM text \
             (lines `label index:value index:value`) or as CSV"
        )));
    }
    match format(text) {
        Some(what) => Err(DataError::user(format!(
            "{name}: the file is {what}; this format is not supported; write the table as CSV or Parquet"
        ))),
        None => Ok(()),
    }
}

/// The message for a text with a zero byte.
pub(crate) fn zero_byte(line: u64) -> String {
    format!(
        "there is a zero byte in line {line}, so the file is binary or damaged; use CSV, LIBSVM, Parquet, Arrow, NPY or NPZ"
    )
}

fn format(text: &[u8]) -> Option<&'static str> {
    let head = &text[..text.len().min(HEAD)];
    let start = head.trim_ascii_start();
    let lower = start.to_ascii_lowercase();
    let begins = |with: &str| lower.starts_with(with.as_bytes());
    if begins("<!doctype html") || begins("<html") {
        return Some("a web page (HTML)");
    }
    if begins("<?xml") {
        return Some("XML");
    }
    if begins("%pdf-") {
        return Some("a PDF document");
    }
    if begins("{\\rtf") {
        return Some("an RTF document");
    }
    if begins("%%matrixmarket") {
        return Some("a Matrix Market file");
    }
    if begins("git-lfs") || begins("version https://git-lfs") {
        return Some("a Git LFS pointer instead of the table itself");
    }
    let mut lines = head.split(|b| *b == b'\n' || *b == b'\r').map(<[u8]>::trim_ascii);
    let comment = |line: &&[u8]| line.is_empty() || line.starts_with(b"%");
    let first = lines.find(|line| !comment(line)).unwrap_or_default();
    if first.len() >= 9 && first[..9].eq_ignore_ascii_case(b"@relation") {
        return Some("ARFF (Weka)");
    }
    json(start)
}

/// Whether the first lines have the form `label |namespace name:value name`, with or without a namespace.
fn is_vowpal_wabbit(text: &[u8]) -> bool {
    const LINES: usize = 5;
    let head = &text[..text.len().min(HEAD)];
    let lines = head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    // The last line of the head may be incomplete.
    let mut lines = lines.take(LINES).peekable();
    lines.peek().is_some()
        && lines.all(|line| {
            let Ok(line) = std::str::from_utf8(line) else { return false };
            let Some((label, features)) = line.split_once('|') else { return false };
            let is_label = label.ends_with(' ')
                && label.split_whitespace().next().is_some_and(|word| word.parse::<f64>().is_ok());
            let is_named = |word: &str| {
                word.split_once(':').is_some_and(|(name, value)| {
                    name.contains(|c: char| c.is_alphabetic()) && value.parse::<f64>().is_ok()
                })
            };
            is_label
                && features.split_whitespace().any(is_named)
                && !features.contains([',', ';', '\t'])
        })
}

fn json(start: &[u8]) -> Option<&'static str> {
    let (open, rest) = start.split_first()?;
    let inner = rest.trim_ascii_start();
    match open {
        b'{' if inner.starts_with(b"\"") || inner.starts_with(b"}") => {
            let line = start.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii();
            let second = start[line.len()..].trim_ascii_start();
            if line.ends_with(b"}") && second.starts_with(b"{") {
                Some("JSON lines")
            } else {
                Some("JSON")
            }
        }
        b'[' if matches!(inner.first(), Some(b'{' | b'[')) => Some("JSON"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_named() {
        for (text, word) in [
            ("{\"a\": 1, \"y\": \"u\"}\n{\"a\": 2, \"y\": \"v\"}\n", "JSON lines"),
            ("[\n {\"a\": 1}\n]", "JSON"),
            ("% made by hand\n@RELATION iris\n@attribute a numeric\n", "ARFF"),
            ("<!DOCTYPE html>\n<p>", "HTML"),
            ("<?xml version=\"1.0\"?>", "XML"),
            ("1 |f a:1 b:2\n-1 'tag |f a:0.5\n", "Vowpal Wabbit"),
            ("0.5 2 | price:1.5 red\n", "LIBSVM"),
            ("a,b\n1,\0\n", "there is a zero byte in line 2"),
        ] {
            let error = check("t", text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        for text in [
            "a,b\n1,2\n",
            "{x},y\n1,2\n",
            "[a],b\n1,2\n",
            "1 | 10:30 | x\n",
            "1|a:1\n",
            "@user,text\n",
        ] {
            check("t", text.as_bytes()).unwrap();
        }
    }
}
