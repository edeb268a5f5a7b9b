//! Detects columns that identify rows instead of describing them, namely saved indices and columns of identifiers.

use std::collections::HashSet;

/// Row numbers, and texts that look like identifiers, are recognised regardless of the column name only if there are at
/// least this many rows.
const MIN_ROWS: usize = 20;

/// Whether a column name is one that programs give to a saved index.
fn is_index_name(name: &str) -> bool {
    let numbered = |start: &str| {
        let rest = name.strip_prefix(start);
        rest.is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        })
    };
    // The readr package of R names columns without a name `...1`, `...2` and so on.
    name.is_empty()
        || numbered("Unnamed: ")
        || numbered("level_")
        || numbered("...")
        || is_nameless_index(name)
}

/// Whether pandas gives this name to the levels of an unnamed index.
pub(crate) fn is_nameless_index(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| level.parse::<u32>().is_ok())
}

/// Whether a column name is one that pandas gives only to a saved index without a name. A column with such a name is an
/// index whatever its values are. Other names of an index, such as `Unnamed: 3`, may belong to a data column whose
/// header cell is empty.
pub(crate) fn is_saved_index(name: &str) -> bool {
    let copies = name.strip_prefix("Unnamed: 0");
    let is_copy = |rest: &str| rest.bytes().all(|byte| matches!(byte, b'.' | b'0'..=b'9'));
    copies.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') && is_copy(rest))
        || is_nameless_index(name)
}

/// Whether a column name indicates identifiers, such as `id`, `user_id`, `CustomerID` or `uuid`.
fn is_identifier_name(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    const NAMES: &str = "id ids uuid guid key identifier rowid record index rownames row.names row_names row_number \
                         rownum row idx obs nr nr. no. #";
    let ends = ["_id", "-id", " id", ".id", "_uuid", "_guid", "_key"]
        .iter()
        .any(|end| lower.ends_with(end));
    let starts = ["id_", "id-", "id "].iter().any(|start| lower.starts_with(start));
    let is_camel = ["ID", "Id"].iter().any(|end| {
        name.strip_suffix(end)
            .is_some_and(|rest| rest.chars().next_back().is_some_and(char::is_lowercase))
    });
    NAMES.split(' ').any(|known| known == lower) || ends || starts || is_camel
}

/// Whether a column name says that the column identifies the rows.
pub(crate) fn identifies_rows(name: &str) -> bool {
    is_index_name(name) || is_identifier_name(name)
}

/// Whether a column name indicates a quantity, so that consecutive numbers in the column are not merely row numbers.
fn is_measured_name(name: &str) -> bool {
    const WORDS: [&str; 16] = [
        "day", "time", "year", "month", "week", "hour", "minute", "second", "date", "t", "step",
        "age", "rank", "round", "period", "epoch",
    ];
    let lower = name.to_lowercase();
    // R gives an unnamed index the name `X`, but the name `x` usually denotes a variable.
    name == "x"
        || lower
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| WORDS.contains(&word.trim_end_matches('s')))
}

/// The kind of a column that identifies rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Index,
    Identifier,
}

/// Decides whether numbers are an index or identifiers. Returns `None` if they are quantities. `is_first` is true if no
/// features precede the column.
pub(crate) fn of_numbers(name: &str, values: &[f64], is_first: bool) -> Option<Names> {
    let rows = values.len();
    if rows < 2 {
        return None;
    }
    let counts = || {
        let first = values[0];
        let is_start = first.to_bits() << 1 == 0 || first.to_bits() == 1f64.to_bits();
        is_start
            && values
                .iter()
                .zip(0..rows)
                .all(|(value, at)| (*value - first).to_bits() == (at as f64).to_bits())
    };
    if is_index_name(name) {
        return (counts() || are_distinct_integers(values)).then_some(Names::Index);
    }
    if is_identifier_name(name) {
        return are_distinct_integers(values).then_some(Names::Identifier);
    }
    (is_first && rows >= MIN_ROWS && !is_measured_name(name) && counts()).then_some(Names::Index)
}

fn are_distinct_integers(values: &[f64]) -> bool {
    let is_integer = |value: &f64| value.fract().to_bits() << 1 == 0;
    let mut seen = HashSet::with_capacity(values.len().min(1 << 16));
    values.iter().all(|value| is_integer(value) && seen.insert(value.to_bits()))
}

/// Decides whether the texts of a column are an index or identifiers. All texts must be distinct, and none may be
/// missing. Returns `None` if the texts are neither.
pub(crate) fn of_texts(name: &str, texts: &[&str]) -> Option<Names> {
    if texts.len() < 2 {
        return None;
    }
    if is_index_name(name) {
        return Some(Names::Index);
    }
    let is_short = |text: &&str| text.len() <= 64 && text.split_whitespace().count() <= 2;
    let by_name = is_identifier_name(name) && texts.iter().all(is_short);
    let by_form = texts.len() >= MIN_ROWS
        && (are_uuids(texts) || are_numbered(texts) || are_media_files(texts));
    (by_name || by_form).then_some(Names::Identifier)
}

/// Whether the texts are hexadecimal strings of the same length with at least 16 digits, possibly with hyphens and
/// braces.
fn are_uuids(texts: &[&str]) -> bool {
    let length = texts[0].len();
    let is_one = |text: &&str| {
        let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
        text.len() == length
            && digits >= 16
            && text.bytes().all(|b| b.is_ascii_hexdigit() || b"-{}".contains(&b))
    };
    texts.iter().all(is_one)
}

/// Whether all texts are names of files that contain an image, a sound, a film or a document. The content of such a file
/// is what matters, not its name.
pub(crate) fn are_media_files(texts: &[&str]) -> bool {
    const ENDINGS: [&str; 16] = [
        "png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp", "svg", "dcm", "wav", "mp3",
        "flac", "mp4", "avi", "pdf",
    ];
    let is_file = |text: &&str| {
        let ending = text.rsplit_once('.').map(|(_, ending)| ending);
        ending.is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
    };
    texts.iter().all(is_file)
}

/// Whether all texts consist of the same word and a number, possibly with a separator, such as `doc17` or `A-0004`.
fn are_numbered(texts: &[&str]) -> bool {
    let digits = |text: &str| text.bytes().rev().take_while(u8::is_ascii_digit).count();
    let stem = |text: &'_ str| text.len() - digits(text);
    let first = &texts[0][..stem(texts[0])];
    let has_letter =
        first.chars().any(char::is_alphabetic) && !first.chars().any(char::is_whitespace);
    has_letter && texts.iter().all(|text| digits(text) > 0 && &text[..stem(text)] == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_indices_and_identifiers() {
        for name in [
            "",
            "Unnamed: 0",
            "Unnamed: 0.1",
            "Unnamed: 0.1.1",
            "__index_level_0__",
            "level_0",
            "...1",
        ] {
            assert!(is_index_name(name), "{name}");
        }
        for (name, is_saved) in [
            ("Unnamed: 0", true),
            ("Unnamed: 0.1.1", true),
            ("__index_level_1__", true),
            ("Unnamed: 3", false),
            ("Unnamed: 01", false),
            ("level_0", false),
            ("", false),
        ] {
            assert_eq!(is_saved_index(name), is_saved, "{name}");
        }
        for name in [
            "id",
            "ID",
            "user_id",
            "CustomerID",
            "passengerId",
            "uuid",
            "id_order",
            "row.names",
            "Obs",
            "Nr",
        ] {
            assert!(is_identifier_name(name), "{name}");
        }
        for name in
            ["acid", "fluid", "paid", "Unnamed", "width", "IDEA", "humid", "...", "rows", "x"]
        {
            assert!(!is_identifier_name(name) && !is_index_name(name), "{name}");
        }
    }

    #[test]
    fn row_numbers_have_signs() {
        let turned = |sign: fn(usize) -> f64| -> Vec<f64> {
            (0..30).map(|at| sign(at) * at as f64).collect()
        };
        assert_eq!(of_numbers("a", &turned(|_| 1.0), true), Some(Names::Index));
        assert_eq!(of_numbers("a", &turned(|_| -1.0), true), None);
        assert_eq!(of_numbers("a", &turned(|at| [1.0, -1.0][at % 2]), true), None);
    }

    #[test]
    fn names_of_media_files_are_identifiers() {
        let names = |name: fn(usize) -> String| {
            let names: Vec<String> = (0..30).map(name).collect();
            of_texts("file", &names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert_eq!(names(|i| format!("images/d{i:04}.png")), Some(Names::Identifier));
        assert_eq!(names(|i| format!("scan {i} left.JPG")), Some(Names::Identifier));
        assert_eq!(names(|i| format!("it is {i}.py")), None);
        assert_eq!(names(|i| if i == 7 { "none".into() } else { format!("{i}.png") }), None);
    }

    #[test]
    fn quantities_are_not_identifiers() {
        let count: Vec<f64> = (0..30).map(f64::from).collect();
        let from_one: Vec<f64> = count.iter().map(|v| v + 1.0).collect();
        let floats: Vec<f64> = count.iter().map(|v| v + 0.5).collect();
        let sparse: Vec<f64> = count.iter().map(|v| v * 7.0 + 3.0).collect();
        let repeated: Vec<f64> = count.iter().map(|v| (v / 2.0).floor()).collect();
        assert_eq!(of_numbers("a", &count, true), Some(Names::Index));
        assert_eq!(of_numbers("a", &from_one, true), Some(Names::Index));
        for (name, values, is_first) in [
            ("a", &count, false),
            ("day", &count, true),
            ("x", &count, true),
            ("id", &floats, true),
            ("a", &sparse, true),
            ("id", &repeated, true),
        ] {
            assert_eq!(of_numbers(name, values, is_first), None, "{name}");
        }
        assert_eq!(of_numbers("customer_id", &sparse, false), Some(Names::Identifier));
        assert_eq!(of_numbers("Unnamed: 0.1", &count, false), Some(Names::Index));
        assert_eq!(of_numbers("a", &count[..19], true), None);
    }

    #[test]
    fn texts_that_number_rows_are_identifiers() {
        let docs: Vec<String> = (0..30).map(|i| format!("doc{i}")).collect();
        let hashes: Vec<String> =
            (0..30u64).map(|i| format!("{:016x}", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let people: Vec<String> =
            (0..30).map(|i| format!("Jane {} Doe", (b'a' + i) as char)).collect();
        let of = |name: &str, texts: &[String]| {
            of_texts(name, &texts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert_eq!(of("x", &docs), Some(Names::Identifier));
        assert_eq!(of("x", &hashes), Some(Names::Identifier));
        assert_eq!((of("name", &people), of("x", &docs[..19])), (None, None));
        assert_eq!(of("id", &docs[..5]), Some(Names::Identifier));
    }
}
