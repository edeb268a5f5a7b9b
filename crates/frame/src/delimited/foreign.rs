//! Rejects files that are not delimited text, with a message that names their format.

use super::split::line_ends;
use crate::error::DataError;
use std::collections::BTreeSet;

/// The number of bytes that are examined at the start of a file.
const HEAD: usize = 4096;
/// The maximum number of lines that are examined at the start of a file.
const LINES: usize = 50;

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
    const HTML: [&str; 8] =
        ["<!doctype html", "<html", "<head", "<meta", "<body", "<style", "<table", "<div"];
    if HTML.iter().any(|with| begins(with)) {
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
    if begins("header record*******lib") {
        return Some("a transport file of SAS (XPORT)");
    }
    if begins("structure(list(") {
        return Some("an R object, as written by dput");
    }
    if begins("\\begin{") || begins("\\documentclass") {
        return Some("a LaTeX document");
    }
    if begins("-[ record 1 ]") {
        return Some("the output of a database program with one value in each line");
    }
    let mut lines = head.split(|b| *b == b'\n' || *b == b'\r').map(<[u8]>::trim_ascii);
    let comment = |line: &&[u8]| line.is_empty() || line.starts_with(b"%");
    let first = lines.find(|line| !comment(line)).unwrap_or_default();
    let is_arff = ["@relation ", "@attribute ", "@relation\t", "@attribute\t"].iter().any(|word| {
        first.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    });
    if is_arff {
        return Some("ARFF (Weka)");
    }
    of_lines(head).or_else(|| json(start))
}

/// The format of an input whose first lines cannot be lines of a table.
fn of_lines(head: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(head);
    let lines: Vec<&str> = text.lines().map(str::trim_end).take(LINES).collect();
    let filled = || lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    // The last line of the head may be incomplete.
    let whole: Vec<&str> = filled().take(3).collect();
    let [first, second, ..] = whole[..] else { return None };
    if whole.iter().all(|line| line.starts_with("__label__")) {
        return Some("in the format of fastText");
    }
    let is_array = |line: &str| {
        serde_json::from_str::<serde_json::Value>(line).is_ok_and(|value| value.is_array())
    };
    if is_array(first) && is_array(second) {
        return Some("JSON lines");
    }
    let is_dict =
        |line: &str| line.starts_with("{'") && line.contains("': ") && line.ends_with('}');
    if is_dict(first) && is_dict(second) {
        return Some("a list of Python dictionaries");
    }
    let key = |line: &str| {
        let name = line.trim_start().trim_start_matches("- ").split_once(':')?;
        let is_name = name.0.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_name && !name.0.is_empty() && name.1.starts_with(' ')).then_some(())
    };
    let is_listed = |line: &str| line.starts_with("- ") && key(line).is_some();
    let is_inner = |line: &&str| line.starts_with("  ") && key(line).is_some();
    let inner = || lines.iter().skip(1).any(is_inner);
    let after_dashes = first == "---" && (is_listed(second) || key(second).is_some());
    if after_dashes || is_listed(first) && (is_listed(second) || inner()) {
        return Some("YAML");
    }
    if is_sql(filled()) {
        return Some("a script of SQL commands");
    }
    is_one_value_a_line(&lines)
        .then_some("the output of a database program with one value in each line")
}

/// Whether the first line that is not a comment is a command that creates or fills a table of a database.
fn is_sql<'l>(mut lines: impl Iterator<Item = &'l str>) -> bool {
    let is_comment = |line: &str| line.starts_with("--") || line.starts_with("/*");
    let first = lines.find(|line| !is_comment(line)).unwrap_or_default().to_ascii_lowercase();
    let writes = ["insert into ", "create table ", "replace into "];
    let sets = ["drop table ", "set ", "pragma ", "begin transaction;", "begin;", "use "];
    writes.iter().any(|word| first.starts_with(word)) && first.contains(['(', '`', '"'])
        || sets.iter().any(|word| first.starts_with(word)) && first.ends_with(';')
}

/// Whether the lines have the form `name = value`, with the same names in each block of lines.
fn is_one_value_a_line(lines: &[&str]) -> bool {
    let mut blocks = lines.split(|line| line.is_empty()).filter(|block| !block.is_empty());
    let names = |block: &[&str]| -> Option<Vec<String>> {
        let name = |line: &&str| Some(line.split_once(" = ")?.0.trim().to_owned());
        let names: Vec<String> = block.iter().map(name).collect::<Option<_>>()?;
        let distinct: BTreeSet<&String> = names.iter().collect();
        (distinct.len() == names.len()).then_some(names)
    };
    let (Some(first), Some(second)) = (blocks.next(), blocks.next()) else { return false };
    // The second block may be cut off.
    names(first).is_some_and(|first| {
        names(second).is_some_and(|second| !second.is_empty() && first.starts_with(&second))
    })
}

/// Whether the first lines have the form `label |namespace name:value name`, with or without a namespace.
fn is_vowpal_wabbit(text: &[u8]) -> bool {
    const FEW: usize = 5;
    let head = &text[..text.len().min(HEAD)];
    let lines = head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    // The last line of the head may be incomplete.
    let mut lines = lines.take(FEW).peekable();
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
            ("<table border=\"1\">\n<tr><td>1</td></tr>\n", "HTML"),
            ("<meta charset=\"utf-8\">\n<table>\n", "HTML"),
            ("-- a dump\n/* by hand */\nDROP TABLE IF EXISTS `t`;\nCREATE TABLE `t` (\n", "SQL"),
            ("INSERT INTO t VALUES (1,'a');\nINSERT INTO t VALUES (2,'b');\n", "SQL"),
            ("-[ RECORD 1 ]\na | 1\nb | x\n-[ RECORD 2 ]\n", "one value in each line"),
            ("    a = 1\nname = x\n\n    a = 2\nname = z\n", "one value in each line"),
            ("[1, \"a\"]\n[2, \"b\"]\n", "JSON lines"),
            ("{'v': 1, 'y': 'a'}\n{'v': 2, 'y': 'b'}\n", "Python dictionaries"),
            ("@attribute a numeric\n@data\n1\n", "ARFF"),
            ("HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!0000\n", "SAS"),
            ("structure(list(a = 1:3, y = c(\"u\", \"v\")), class = \"data.frame\")\n", "dput"),
            ("- v: 1\n  y: a\n- v: 2\n  y: b\n", "YAML"),
            ("---\nv: 1\ny: a\n", "YAML"),
            ("\\begin{tabular}{ll}\n1 & 2 \\\\\n", "LaTeX"),
            ("__label__pos a fine day\n__label__neg a dull day\n", "fastText"),
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
            "@relation,text\n",
            "text,y\n- good: yes,p\n- bad: no,n\n",
            "- good,p\n- bad,n\n",
            "---,y\na: b,1\n",
            "set,y\ninsert into it,1\n",
            "Create table tennis rackets,p\nUse less salt,n\n",
            "x = 1,y\nx = 2,z\n\nx = 3,y\n",
            "[0, 1),y\n[1, 2),z\n",
            "\"[1, 2]\",y\n\"[3, 4]\",z\n",
        ] {
            check("t", text.as_bytes()).unwrap();
        }
    }
}
