//! Tests of the conversion of cells to typed columns, with cells in the forms that people write.

use super::*;
use crate::values::Values;

fn raw(cells: &[&str]) -> Cells {
    Cells::Texts(raw::spelled(cells.iter().map(|cell| Some(*cell)), str::to_owned))
}

fn column(name: &str, cells: &[&str]) -> RawColumn {
    RawColumn { name: name.into(), cells: raw(cells), expected: Expected::Anything }
}

fn typed_with(
    columns: Vec<RawColumn>,
    options: &ReadOptions,
    delimiter: u8,
) -> Result<Typed, DataError> {
    let place = |row: usize| format!("t.csv, line {}", row + 2);
    let context = Context { source: "t.csv", place: &place, options, delimiter: Some(delimiter) };
    understand(columns, &context)
}

/// The points in the numbers among `cells`.
fn points_in(cells: &[&str]) -> Points {
    let mut points = Points::default();
    cells.iter().for_each(|cell| points.add(Points::of(cell.as_bytes())));
    points
}

/// Reads plain numbers as they are collected from a text file.
fn spelled(
    cells: &[&str],
    expected: Expected,
    options: &ReadOptions,
    delimiter: u8,
) -> (Vec<f64>, ColumnRecord) {
    let values = cells.iter().map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
    let column = RawColumn { name: "c".into(), cells: Cells::Numbers(values), expected };
    let place = |row: usize| format!("t.csv, line {}", row + 2);
    let context = Context { source: "t.csv", place: &place, options, delimiter: Some(delimiter) };
    let points = [points_in(cells)];
    let mut typed = understand_spelled(vec![column], &points, &context).unwrap();
    (numbers(&typed.columns[0].values), typed.records.remove(0))
}

fn typed(cells: &[&str]) -> Result<(Values, ColumnRecord), DataError> {
    let mut typed = typed_with(vec![column("c", cells)], &ReadOptions::default(), b',')?;
    Ok((typed.columns.remove(0).values, typed.records.remove(0)))
}

fn numbers(values: &Values) -> Vec<f64> {
    let Values::Numbers(values) = values else { panic!("{values:?}") };
    values.values().to_vec()
}

fn repeated(cells: &[&'static str], odd: &[&'static str]) -> Vec<&'static str> {
    cells.iter().copied().cycle().take(40).chain(odd.iter().copied()).collect()
}

#[test]
fn markers_among_numbers_are_missing_and_noted() {
    for odd in ["-", ".", "unknown", "n.a.", "N.A.", "#DIV/0!", "Missing", "--"] {
        let cells = repeated(&["1", "2", "3", "7"], &[odd, odd]);
        let (values, record) = typed(&cells).unwrap();
        assert_eq!((values.missing(), record.rule.kind), (2, Kind::Number), "{odd}");
        assert_eq!((record.rule.missing[0].as_str(), record.markers[odd]), (odd, 2));
        let note = &record.notes[0];
        assert!(
            note.contains("column `c`")
                && note.contains(&format!("2 cells `{odd}` are read as missing")),
            "{note}"
        );
        // With the rule, the marker is also read as missing in new rows.
        let again = RawColumn { expected: Expected::Rule(record.rule), ..column("c", &["5", odd]) };
        let again = typed_with(vec![again], &ReadOptions::default(), b',').unwrap();
        assert!(again.columns[0].values.is_missing(1) && !again.columns[0].values.is_missing(0));
    }
}

#[test]
fn signs_exponents_and_orders_that_may_be_wrong_are_noted() {
    for (cells, note) in [
        (["1", "2-", "3"], Some("a minus sign after a number, as in `2-`, is read as its sign")),
        (["1,5", "2,-", "3,5"], None),
        (["1,5", "2,5-", "3,5"], Some("as in `2,5-`")),
        (["1,5", "-2,-", "3,5"], None),
        (["1", "(2)", "-3"], None),
        (["1d2", "2d10", "12"], Some("`c`: 1d2 is read as a number, with an exponent")),
    ] {
        check_note(&repeated(&cells, &[]), note);
    }
    // Half of the dates have the day first, and the other half have the month first.
    check_note(&["13/02/2024", "02/14/2024"].repeat(20), Some("not all of them fit one order"));
    check_note(&["13/02/2024", "02/14/2024", "soon"].repeat(20), None);
}

fn check_note(cells: &[&str], note: Option<&str>) {
    let (_, record) = typed(cells).unwrap();
    let said = |part: &str| record.notes.iter().any(|note| note.contains(part));
    match note {
        Some(note) => assert!(said(note), "{cells:?}: {:?}", record.notes),
        None => assert!(!said("minus") && !said("fit one order"), "{cells:?}: {:?}", record.notes),
    }
}

#[test]
fn numbers_and_dates_that_may_mark_missing_values_are_noted() {
    let far = |cells: &[&str], odd: &str| {
        let cells: Vec<&str> = cells.iter().copied().cycle().take(40).chain([odd, odd]).collect();
        let (_, record) = typed(&cells).unwrap();
        record
            .notes
            .iter()
            .any(|note| note.contains("far from all other") && note.contains(" 2 rows"))
    };
    let small = ["1.5", "-2", "7"];
    for odd in ["-32768", "-2147483648", "1e20", "-1e30", "9.969209968386869e36", "-999"] {
        assert!(far(&small, odd), "{odd}");
    }
    // There is no note for a number that is not listed. Nor is there a note for a listed number if the other numbers
    // are as far from each other as they are from it.
    for odd in ["-32767", "1e21", "-998"] {
        assert!(!far(&small, odd), "{odd}");
    }
    assert!(!far(&["-30000", "5", "12000"], "-32768"));

    let days = ["2023-01-05", "2023-06-30", "2024-02-29"];
    for odd in ["9999-12-31", "1900-01-01", "1970-01-01", "0001-01-01", "9999-12-31 23:59:59"] {
        assert!(far(&days, odd), "{odd}");
    }
    for odd in ["9998-12-31", "1899-12-31", "2999-12-30"] {
        assert!(!far(&days, odd), "{odd}");
    }
    assert!(!far(&["1890-05-05", "1930-06-01", "2024-02-29"], "1900-01-01"));
    // Times of day are moments of 1970-01-01.
    assert!(!far(&["14:30", "15:10", "14:50"], "00:00"));
}

/// New rows may have larger numbers than those to which the model was fitted.
#[test]
fn groups_of_thousands_in_new_rows_are_read_if_they_are_clear() {
    let apply_told = |fitted: &[&str], cell: &str, decimal: Option<Decimal>| {
        let (_, record) = typed(&fitted.repeat(40)).unwrap();
        let again =
            RawColumn { expected: Expected::Rule(record.rule), ..column("c", &[cell, fitted[0]]) };
        let told = ReadOptions { decimal, ..ReadOptions::default() };
        typed_with(vec![again], &told, b';').map(|mut typed| {
            let note = typed.records[0].notes.concat();
            (numbers(&typed.columns.remove(0).values)[0], note)
        })
    };
    let apply = |fitted: &[&str], cell: &str| apply_told(fitted, cell, None);
    for (fitted, cell, value) in [
        (["465,28 €", "12,50 €"], "1 120,50 €", 1120.5),
        (["465,28 €", "12,50 €"], "1\u{202f}120,50 €", 1120.5),
        (["465,28 €", "12,50 €"], "1.120,50 €", 1120.5),
        (["465,28 €", "12,50 €"], "-1.120.300 €", -1_120_300.0),
        (["$465.28", "$12.50"], "$1,120.50", 1120.5),
        (["465.28", "12.50"], "1,120.50", 1120.5),
        (["465.28", "12.50"], "1'120.50", 1120.5),
        (["465", "12"], "1 120", 1120.0),
    ] {
        let (found, note) = apply(&fitted, cell).unwrap();
        assert!((found - value).abs() <= 0.0, "{cell}: {found}");
        assert!(note.contains(&format!("`{cell}` have groups of thousands")), "{note}");
    }
    // A single comma or point could be a decimal mark. Groups have three digits.
    for (fitted, cell) in [
        (["465.28", "12.50"], "1,120"),
        (["465", "12"], "1,120"),
        (["465,28 €", "12,50 €"], "1.120 €"),
        (["465.28", "12.50"], "1,12.50"),
        (["465.28", "12.50"], "11 20"),
        (["465.28", "12.50"], "1.120,50"),
    ] {
        assert!(apply(&fitted, cell).is_err(), "{cell}");
    }
    // If the user gives the decimal mark, the other mark separates thousands.
    for (fitted, cell, decimal, value) in [
        (["465", "12"], "1,120", Decimal::Point, 1120.0),
        (["465", "12"], "1,120", Decimal::Comma, 1.12),
        (["465", "12"], "1.120", Decimal::Comma, 1120.0),
        (["465.28", "12.50"], "1,120", Decimal::Point, 1120.0),
    ] {
        let (found, note) = apply_told(&fitted, cell, Some(decimal)).unwrap();
        assert!((found - value).abs() <= 0.0, "{cell} {decimal:?}: {found}");
        let is_grouped = value >= 1000.0;
        assert_eq!(note.contains("have groups of thousands"), is_grouped, "{cell}: {note}");
    }
}

/// Points in new numbers of a column of integers may separate thousands, unless the number of digits after them shows
/// that they do not.
#[test]
fn points_in_a_column_of_integers_are_noted() {
    let plain = ReadOptions::default();
    let rule = |cells: &[&str]| spelled(cells, Expected::Anything, &plain, b',').1.rule;
    let (whole, fractions) = (rule(&["950", "12", ""]), rule(&["950", "12.125"]));
    assert!(whole.whole && !fractions.whole);
    assert!(!rule(&["950.0", "12.0"]).whole && !rule(&["950", "2.000"]).whole);
    let point = ReadOptions { decimal: Some(Decimal::Point), ..ReadOptions::default() };
    for (rule, cells, options, is_noted) in [
        (&whole, ["1.965", "2.500", "950"], &plain, Some("numbers such as 1.965 ")),
        (&whole, ["12.500", "52.000", "49.750"], &plain, Some("numbers such as 12.500 ")),
        (&whole, ["12.000", "52.000", "9"], &plain, Some("numbers that end in .000 ")),
        (&whole, ["1.965", "2.500", "950"], &point, None),
        (&fractions, ["1.965", "2.500", "950"], &plain, None),
        (&whole, ["1.965", "2.5", "950"], &plain, None),
        (&whole, ["34.5", "2.25", "950"], &plain, None),
        (&whole, ["1.9655", "2.5", "950"], &plain, None),
        (&whole, ["0.125", "2.500", "950"], &plain, None),
    ] {
        // The column may contain a cell that is not a plain number.
        let expected = || Expected::Rule(rule.clone());
        let (values, record) = spelled(&cells, expected(), options, b',');
        assert_eq!(values, cells.map(|cell| cell.parse::<f64>().unwrap()));
        let again = RawColumn { expected: expected(), ..column("c", &cells) };
        let again = typed_with(vec![again], options, b',').unwrap();
        for notes in [record.notes.concat(), again.records[0].notes.concat()] {
            assert_eq!(notes.contains("pass --decimal , if"), is_noted.is_some(), "{notes}");
            assert!(notes.contains(is_noted.unwrap_or_default()), "{notes}");
        }
    }
    // The integers may have signs, or commas between thousands.
    for (integers, cells, said) in [
        (["886,440", "1,234,500"], ["886.440", "12.500"], "numbers such as 886.440 "),
        (["$950", "$12"], ["$1.965", "$2.500"], "numbers such as 1.965 "),
    ] {
        let (_, record) = typed(&integers).unwrap();
        assert!(record.rule.whole, "{:?}", record.rule);
        let notes = applied(&record.rule, raw(&cells)).unwrap().1.notes.concat();
        assert!(notes.contains(said), "{notes}");
    }
}

/// The spelling of the numbers decides whether points may separate thousands: in a table with semicolons, every point
/// has three digits after it. With other delimiters, there are also integers of three digits.
#[test]
fn points_are_noted_by_their_spelling() {
    let noted = |cells: &[&str], delimiter: u8| {
        let plain = ReadOptions::default();
        let of_numbers = spelled(cells, Expected::Anything, &plain, delimiter).1.notes.concat();
        // A cell such as `-` makes the reader collect texts.
        let of_texts = typed_with(vec![column("c", cells)], &plain, delimiter).unwrap();
        assert_eq!(of_texts.records[0].notes.concat(), of_numbers);
        of_numbers.contains("are read as decimal points; pass --decimal ,")
    };
    for (cells, semicolon, other) in [
        (&["330", "2.000", "12.000", "340"][..], true, true),
        (&["137", "274", "1.096", "1.233"], true, true),
        (&["1.000", "2.000", "60.000"], true, false),
        (&["1.234", "27.512"], true, false),
        (&["7", "1.096", "2.233"], true, false),
        (&["330", "1200", "1.096"], true, false),
        (&["1.234", "2.5", "330"], false, false),
        (&["1.5", "2.5", "330"], false, false),
        (&["2.0", "3.0", "330"], false, false),
        (&["0.125", "1.500", "330"], false, false),
        (&["0.000", "1.000", "2.000"], false, false),
    ] {
        assert_eq!(noted(cells, b';'), semicolon, "{cells:?}");
        for delimiter in [b'\t', b'|', b','] {
            assert_eq!(noted(cells, delimiter), other, "{cells:?}");
        }
    }
    let (_, record) = typed(&["330 €", "2.000 €", "12.000 €"]).unwrap();
    assert!(record.notes.concat().contains("the points in numbers that end in .000"));
}

#[test]
fn categories_that_may_be_missing_or_alike_are_noted() {
    let notes = |cells: &[&str]| typed(&cells.repeat(40)).unwrap().1.notes.join("\n");
    let said = notes(&["red", "green", "-"]);
    assert!(
        said.contains("`-`, which is in 40 rows, is read as a category; pass --missing '-'"),
        "{said}"
    );
    assert_eq!(notes(&["+", "-"]), "");
    assert_eq!(notes(&["red", "green", "unknown"]), "");
    let said = notes(&["Paris", "Lyon", "paris"]);
    assert!(said.contains("`Paris` (40) and `paris` (40) count as different categories"), "{said}");
}

/// Units often stand in the line under the names.
#[test]
fn an_odd_cell_in_the_first_row_may_be_a_unit() {
    let cells = [&["mm"][..], &repeated(&["1", "2", "3"], &[])].concat();
    let said = typed(&cells).unwrap_err().to_string();
    assert!(said.ends_with("; if this line contains units or further names, delete it"), "{said}");
    let said = typed(&repeated(&["1", "2", "3"], &["mm"])).unwrap_err().to_string();
    assert!(said.contains("`mm` is not a number") && !said.contains("units"), "{said}");
}

fn applied(rule: &ColumnRule, cells: Cells) -> Result<(Values, ColumnRecord), DataError> {
    let again = RawColumn { cells, expected: Expected::Rule(rule.clone()), name: "c".into() };
    let mut typed = typed_with(vec![again], &ReadOptions::default(), b',')?;
    Ok((typed.columns.remove(0).values, typed.records.remove(0)))
}

/// In a file that stores numbers, no sign shows whether 0.5 is a share or a percentage.
#[test]
fn numbers_of_typed_files_are_not_percentages() {
    let (_, percent) = typed(&["1%", "40%", "7%"]).unwrap();
    let error = applied(&percent.rule, Cells::Numbers(vec![f64::NAN, 0.4])).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("line 3") && error.contains("`0.4` is not a number with the sign `%`"));
    assert_eq!(applied(&percent.rule, Cells::Numbers(vec![f64::NAN])).unwrap().0.missing(), 1);
    let (_, euros) = typed(&["1 €", "40 €", "7 €"]).unwrap();
    assert_eq!(numbers(&applied(&euros.rule, Cells::Numbers(vec![0.4])).unwrap().0), [0.4]);
}

#[test]
fn times_with_another_offset_are_noted() {
    let plain = ["2025-01-01 05:00", "2025-01-02 06:00"];
    let zoned = ["2025-01-01 05:00+02:00", "2025-01-02 06:00+02:00"];
    let utc = ["2025-01-01 05:00Z", "2025-01-02 06:00Z"];
    for (fitted, new, said) in [
        (plain, plain, None),
        (plain, utc, Some("an offset from UTC, unlike the times")),
        (utc, utc, None),
        (utc, plain, Some("no offset from UTC, unlike the times")),
        (zoned, zoned, None),
        (plain, zoned, Some("an offset from UTC, unlike the times")),
        (zoned, utc, Some("another offset from UTC than the times")),
        (zoned, plain, Some("no offset from UTC, unlike the times")),
    ] {
        let (_, record) = typed(&fitted).unwrap();
        let (_, record) = applied(&record.rule, raw(&new)).unwrap();
        match said {
            Some(said) => assert!(record.notes[0].contains(said), "{:?}", record.notes),
            None => assert!(record.notes.is_empty(), "{:?}", record.notes),
        }
    }
    let (_, record) = typed(&zoned).unwrap();
    let (_, days) = applied(&record.rule, raw(&["2025-01-01"])).unwrap();
    assert!(days.notes.is_empty(), "{:?}", days.notes);
    // The same holds for the times of a typed file, whose columns may have a time zone.
    let midnight = civil::DAY;
    for (fitted, at, has_zone, said) in [
        (plain, midnight + 1, false, ""),
        (
            plain,
            midnight + 1_000_000,
            true,
            "`1970-01-02T00:00:01Z` has an offset from UTC, unlike",
        ),
        (utc, midnight + 1, true, ""),
        (utc, midnight, false, ""),
        (utc, midnight + 1_000_000, false, "`1970-01-02T00:00:01` has no offset from UTC, unlike"),
        (
            zoned,
            midnight + 1_000_000,
            false,
            "`1970-01-02T00:00:01` has no offset from UTC, unlike",
        ),
    ] {
        let (_, record) = typed(&fitted).unwrap();
        let cells = Cells::Moments { moments: vec![None, Some(at)], has_zone };
        let notes = applied(&record.rule, cells).unwrap().1.notes.join("");
        assert!(notes.contains(said) && notes.is_empty() == said.is_empty(), "{said}: {notes}");
        // A model of the typed file finds the same in a text file.
        let cells = Cells::Moments { moments: vec![None, Some(at)], has_zone };
        let column = RawColumn { cells, ..column("c", &[]) };
        let rule = typed_with(vec![column], &ReadOptions::default(), b',').unwrap().records;
        let of_text = |cells: &[&str]| applied(&rule[0].rule, raw(cells)).unwrap().1.notes;
        assert_eq!(
            (of_text(&plain).len(), of_text(&utc).len()),
            (has_zone.into(), (!has_zone).into())
        );
    }
    // Dates with the year first are read, whatever order the dates had when the model was fitted. Missing cells have no
    // time.
    let (_, by_day) = typed(&["31.01.2025 05:00", "30.01.2025 06:00"]).unwrap();
    let (_, moved) = applied(&by_day.rule, raw(&["NA", zoned[0]])).unwrap();
    assert!(moved.notes[0].contains("is read as 2025-01-01T03:00"), "{:?}", moved.notes);
    let (_, record) = typed(&plain).unwrap();
    let (_, moved) = applied(&record.rule, raw(&zoned[..1])).unwrap();
    assert!(moved.notes[0].contains("is read as 2025-01-01T03:00"), "{:?}", moved.notes);
}

#[test]
fn typing_errors_among_numbers_are_refused_with_their_line() {
    for odd in ["1O", "l2", "absent", "1.2.3", "12/31/2024"] {
        let cells = repeated(&["1", "2", "3", "7"], &[odd]);
        let error = typed(&cells).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!(
                "t.csv, line 42, column `c`: `{odd}` is not a number, unlike 40 other"
            )),
            "{error}"
        );
        assert!(
            error.contains(&format!("--missing '{odd}'")) && error.contains("--category 'c'"),
            "{error}"
        );
    }
    let error = typed(&repeated(&["1", "2", "5"], &["x1", "x2", "x3", "x4", "x5"]))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`x1` is not a number") && error.contains("`x2`, `x3`, `x4` and 1 more"),
        "{error}"
    );
    let error = typed(&repeated(&["1", "2", "3"], &["Inf"])).unwrap_err().to_string();
    assert!(error.contains("`Inf` is infinite"), "{error}");
    // The error says in which form the other cells are.
    for (cells, odd, said) in [
        (["1,5", "-2,25", "7,5"], "0.79", "`0.79` is not a number with a decimal comma, unlike"),
        (["1.5", "-2.25", "7.5"], "0,79", "write it with a decimal point if the comma is one"),
        (["1.5%", "2.25%", "7.5%"], "0.4", "`0.4` is not a number with the sign `%`, unlike 40"),
    ] {
        let error = typed(&repeated(&cells, &[odd])).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn words_with_some_numbers_are_categories_with_a_note() {
    let (values, record) = typed(&repeated(&["2", "3", "4", "5more"], &[])).unwrap();
    assert_eq!(record.rule.kind, Kind::Category);
    assert!(
        matches!(values, Values::Texts(_))
            && record.notes[0].contains("30 of 40 cells are numbers"),
        "{:?}",
        record.notes
    );
    let (_, record) = typed(&["Inf", "Math", "Phys", "Inf", "Math"]).unwrap();
    assert_eq!((record.rule.kind, record.notes.len()), (Kind::Category, 0));
    let (_, record) = typed(&["Math", "Inf", "nan", "Inf", "Math"]).unwrap();
    assert_eq!(record.rule.kind, Kind::Category);
    assert!(record.notes[0].contains("1 cell `nan` is read as missing; pass --not-missing nan"));
}

/// Texts that differ only in surrounding blanks belong to the same category. If there are such texts, a note is
/// written.
#[test]
fn texts_that_differ_in_blanks_are_joined_and_noted() {
    let notes = |cells: &[&str]| {
        let cells = cells.repeat(3);
        let (values, record) = typed(&cells).unwrap();
        let Values::Texts(texts) = values else { unreachable!("categories are texts") };
        (texts.level_count(), record.notes)
    };
    let (levels, noted) = notes(&["yes", "no", "yes "]);
    assert_eq!(levels, 2);
    assert_eq!(
        noted,
        ["t.csv, column `c`: `yes` and `yes ` differ only in blanks and are read as the same text"]
    );
    let (levels, noted) = notes(&["yes", " no", "no", "yes ", " yes", "perhaps", " perhaps"]);
    assert_eq!(levels, 3);
    assert!(
        noted[0].contains("`no` and ` no`") || noted[0].contains("` no` and `no`"),
        "{noted:?}"
    );
    assert!(noted[0].ends_with("(and 2 other texts)"), "{noted:?}");
    // The cells of a column are often padded to the same width.
    assert_eq!(notes(&["yes", "no "]), (2, vec![]));
}

#[test]
fn spellings_are_noted_and_kept_for_new_rows() {
    let (values, record) = typed(&["3,5", "12,25", "-", "7,5", "8"]).unwrap();
    assert_eq!(numbers(&values)[..2], [3.5, 12.25]);
    assert!(
        record.notes.iter().any(|n| n.contains("numbers with a decimal comma (`3,5` is 3.5)")),
        "{:?}",
        record.notes
    );
    let rule = || Expected::Rule(record.rule.clone());
    let apply = |cells: &[&str]| {
        let typed = typed_with(
            vec![RawColumn { expected: rule(), ..column("c", cells) }],
            &ReadOptions::default(),
            b',',
        );
        typed.map(|mut typed| {
            (numbers(&typed.columns.remove(0).values), typed.records.remove(0).notes.len())
        })
    };
    assert_eq!(apply(&["1,234", "5"]).unwrap(), (vec![1.234, 5.0], 0));
    // If another program writes points, the whole column is read with decimal points, and a note is written.
    assert_eq!(apply(&["1.25", "5"]).unwrap(), (vec![1.25, 5.0], 1));
    let error = apply(&["1.25", "2,5"]).unwrap_err().to_string();
    assert!(error.contains("`1.25` is not a number with a decimal comma"), "{error}");
    assert!(rule().needs_texts());
    let (_, record) = typed(&["2,037", "8,120", "950"]).unwrap();
    assert!(
        record.notes[0].contains("thousands") && record.notes[0].contains("`2,037` is 2037"),
        "{:?}",
        record.notes
    );
    assert!(record.notes[0].contains("--decimal ','"), "{:?}", record.notes);
    let (values, record) = typed(&["-80.2%", "42.0%"]).unwrap();
    assert_eq!(numbers(&values), [-80.2, 42.0]);
    assert!(record.notes[0].contains("the sign `%`"));
}

#[test]
fn points_between_thousands_are_found_by_another_column() {
    let columns = |cells: Cells| {
        let points = RawColumn { name: "p".into(), cells, expected: Expected::Anything };
        vec![points, column("q", &["3,5", "4,25"])]
    };
    let again = |columns: Vec<RawColumn>, cells: &[&str], options: &ReadOptions| {
        let place = |row: usize| format!("t.csv, line {}", row + 2);
        let context = Context { source: "t.csv", place: &place, options, delimiter: Some(b';') };
        let points = vec![points_in(cells); columns.len()];
        understand_spelled(columns, &points, &context).unwrap().again.into_iter().collect()
    };
    let plain = ReadOptions::default();
    for (values, cells, found) in [
        ([1.234, 2.5], ["1.234", "2.500"], &[0][..]),
        ([1.0, 2.0], ["1.000", "2.000"], &[0]),
        ([1.5, 2.5], ["1.5", "2.5"], &[]),
    ] {
        let of: Vec<usize> = again(columns(Cells::Numbers(values.to_vec())), &cells, &plain);
        assert_eq!(of, found, "{cells:?}");
    }
    let typed =
        typed_with(columns(raw(&["1.234", "2.500"])), &ReadOptions::default(), b';').unwrap();
    assert_eq!(numbers(&typed.columns[0].values), [1234.0, 2500.0]);
    assert!(
        typed.records[0].notes[0].contains("points between thousands"),
        "{:?}",
        typed.records[0].notes
    );
    // The points do not separate thousands here, because not all fractions have three digits.
    let typed = typed_with(columns(raw(&["1.234", "2.5"])), &ReadOptions::default(), b';').unwrap();
    assert_eq!(numbers(&typed.columns[0].values), [1.234, 2.5]);
    // If there is no evidence to decide between the two readings, a note is written.
    let alone = || RawColumn {
        name: "p".into(),
        cells: Cells::Numbers(vec![1.234, 2.5]),
        expected: Expected::Anything,
    };
    let cells = ["1.234", "2.500"];
    let notes = |delimiter: u8| spelled(&cells, Expected::Anything, &plain, delimiter).1.notes;
    assert!(notes(b';')[0].contains("such as 1.234") && notes(b';')[0].contains("--decimal ,"));
    assert!(notes(b',').is_empty());
    let with_comma = ReadOptions { decimal: Some(Decimal::Comma), ..ReadOptions::default() };
    assert_eq!(again(vec![alone()], &cells, &with_comma), [0]);
    let typed = typed_with(vec![column("p", &["1.234", "2.500"])], &with_comma, b';').unwrap();
    assert_eq!(numbers(&typed.columns[0].values), [1234.0, 2500.0]);
    assert!(infer::may_be_thousands(&[1.5, 999.125, 3.0]) && !infer::may_be_thousands(&[1.0, 2.0]));
    assert!(
        !infer::may_be_thousands(&[1.5, 0.125])
            && !infer::may_be_thousands(&[1.5, 2.0625])
            && !infer::may_be_thousands(&[1234.5])
    );
}

#[test]
fn dates_are_moments_with_a_note() {
    let (values, record) =
        typed(&["2025-03-05 18:30:00", "2025-03-01 00:30:00", "", "NaT"]).unwrap();
    assert_eq!(
        (values.text(0), values.missing(), record.rule.kind),
        ("2025-03-05T18:30:00".into(), 2, Kind::Date)
    );
    assert!(
        record
            .notes
            .iter()
            .any(|note| note.contains("read as dates") && note.contains("--category 'c'"))
    );
    let error = typed(&["2024-02-28", "2024-02-29", "2024-02-30"]).unwrap_err().to_string();
    assert!(
        error.contains("line 4") && error.contains("`2024-02-30` is not a date or a time"),
        "{error}"
    );
    let (values, record) = typed(&["06:30", "18:45"]).unwrap();
    assert_eq!((values.text(1), record.rule.kind), ("18:45:00".into(), Kind::Date));
    // A date is not midnight.
    let moments = vec![Some(civil::DAY - 1), Some(civil::DAY)];
    let moments = Cells::Moments { moments, has_zone: false };
    for (cells, odd) in [
        (raw(&["23:59", "later"]), "later"),
        (raw(&["23:59", "2024-03-04"]), "2024-03-04"),
        (moments, "1970-01-02"),
    ] {
        let expected = Expected::Rule(record.rule.clone());
        let column = RawColumn { expected, cells, ..column("c", &[]) };
        let error = typed_with(vec![column], &ReadOptions::default(), b',').unwrap_err();
        let said = error.to_string();
        let fault = format!("`{odd}` is not one of the times of day");
        assert!(said.contains("line 3") && said.contains(&fault), "{said}");
    }
}

#[test]
fn dates_of_eight_digits_need_a_name_or_many_values() {
    let values: Vec<f64> = (1..=28).map(|day| 20_240_200.0 + f64::from(day)).collect();
    let of = |name: &str, values: &[f64]| {
        let column = RawColumn {
            name: name.into(),
            cells: Cells::Numbers(values.to_vec()),
            expected: Expected::Anything,
        };
        let mut typed = typed_with(vec![column], &ReadOptions::default(), b',').unwrap();
        (typed.columns.remove(0).values, typed.records.remove(0).rule)
    };
    let (moments, rule) = of("x", &values);
    assert_eq!((moments.text(0), rule.kind), ("2024-02-01".into(), Kind::Date));
    assert_eq!(of("x", &values[..5]).1.kind, Kind::Number);
    assert_eq!(of("order_date", &values[..5]).1.kind, Kind::Date);
    assert_eq!(of("date", &[20_240_230.0, 20_240_201.0]).1.kind, Kind::Number);
    // New rows may come from a file in any format.
    for cells in [Cells::Numbers(vec![20_240_301.0]), raw(&["20240301"]), raw(&["2024-03-01"])] {
        let column = RawColumn { name: "x".into(), cells, expected: Expected::Rule(rule.clone()) };
        let typed = typed_with(vec![column], &ReadOptions::default(), b',').unwrap();
        assert_eq!(typed.columns[0].values.text(0), "2024-03-01");
    }
}

#[test]
fn truths_are_numbers_in_every_spelling() {
    let (values, record) = typed(&["True", "false", "TRUE", "", "unknown"]).unwrap();
    assert_eq!(
        (numbers(&values)[..3].to_vec(), values.missing(), record.rule.kind),
        (vec![1.0, 0.0, 1.0], 2, Kind::Boolean)
    );
    let apply = |cells: Cells| {
        let column =
            RawColumn { name: "c".into(), cells, expected: Expected::Rule(record.rule.clone()) };
        typed_with(vec![column], &ReadOptions::default(), b',')
            .map(|mut t| numbers(&t.columns.remove(0).values))
    };
    assert_eq!(apply(raw(&["true", "0"])).unwrap(), [1.0, 0.0]);
    assert_eq!(apply(Cells::Numbers(vec![1.0, 0.0])).unwrap(), [1.0, 0.0]);
    assert_eq!(apply(Cells::Booleans(vec![1.0])).unwrap(), [1.0]);
    assert!(apply(Cells::Numbers(vec![2.0])).is_err() && apply(raw(&["yes"])).is_err());
}

#[test]
fn named_markers_apply_to_all_formats_and_to_new_rows() {
    let options = ReadOptions { missing: vec!["-999".into()], ..ReadOptions::default() };
    let of = |cells: Cells| RawColumn { name: "a".into(), cells, expected: Expected::Anything };
    for cells in [
        Cells::Numbers(vec![-999.0, 2.0, 3.0]),
        raw(&["-999", "2", "3,0"]),
        raw(&["-999.0", "2", "zz"]),
    ] {
        let Ok(typed) = typed_with(vec![of(cells.clone())], &options, b',') else {
            assert_eq!(cells, raw(&["-999.0", "2", "zz"]));
            continue;
        };
        assert!(
            typed.columns[0].values.is_missing(0) && typed.columns[0].values.missing() == 1,
            "{cells:?}"
        );
        let rule = typed.records[0].rule.clone();
        for new in [Cells::Numbers(vec![-999.0]), raw(&["-999"]), raw(&["-999,0"])] {
            let column = RawColumn { expected: Expected::Rule(rule.clone()), ..of(new.clone()) };
            match typed_with(vec![column], &ReadOptions::default(), b',') {
                Ok(typed) => assert_eq!(typed.columns[0].values.missing(), 1, "{new:?}"),
                Err(_) => assert_eq!(new, raw(&["-999,0"])),
            }
        }
    }
    // If the user does not name the marker, there is a warning, but the values do not change.
    let values: Vec<f64> = (0..20).map(f64::from).chain([-999.0, -999.0, 3.5]).collect();
    let typed =
        typed_with(vec![of(Cells::Numbers(values))], &ReadOptions::default(), b',').unwrap();
    assert_eq!(typed.columns[0].values.missing(), 0);
    assert!(
        typed.records[0].notes[0].contains("-999 is in 2 rows"),
        "{:?}",
        typed.records[0].notes
    );
    let ordinary: Vec<f64> = (0..=999).map(f64::from).collect();
    let typed =
        typed_with(vec![of(Cells::Numbers(ordinary))], &ReadOptions::default(), b',').unwrap();
    assert!(typed.records[0].notes.is_empty());
}

#[test]
fn columns_that_name_rows_are_marked() {
    let count = || Cells::Numbers((0..30).map(f64::from).collect());
    let of = |name: &str, cells: Cells, expected: Expected| RawColumn {
        name: name.into(),
        cells,
        expected,
    };
    let measured = || {
        of("w", Cells::Numbers((0..30).map(|i| f64::from(i) * 0.37).collect()), Expected::Anything)
    };
    let kinds = |columns: Vec<RawColumn>| {
        let typed = typed_with(columns, &ReadOptions::default(), b',').unwrap();
        typed.records.iter().map(|record| record.rule.kind).collect::<Vec<_>>()
    };
    use Expected::{Anything, Texts};
    let indices = vec![
        of("Unnamed: 0.1", count(), Anything),
        of("Unnamed: 0", count(), Anything),
        measured(),
    ];
    assert_eq!(kinds(indices), [Kind::Index, Kind::Index, Kind::Number]);
    assert_eq!(kinds(vec![of("n", count(), Anything), measured()]), [Kind::Index, Kind::Number]);
    // A saved index may have gaps, repetitions, texts or dates.
    let gap =
        || Cells::Numbers((0..30).map(|i| if i == 7 { f64::NAN } else { f64::from(i) }).collect());
    let repeated = || Cells::Numbers((0..30).map(|i| f64::from(i % 15)).collect());
    let words: Vec<&str> = ["a", "b"].repeat(15);
    let days: Vec<String> = (0..30).map(|i| format!("2024-01-{:02}", 1 + i / 2)).collect();
    let days: Vec<&str> = days.iter().map(String::as_str).collect();
    for cells in [gap(), repeated(), raw(&words), raw(&days)] {
        for (name, is_index) in [("Unnamed: 0", true), ("Unnamed: 3", false)] {
            let found = kinds(vec![of(name, cells.clone(), Anything), measured()]);
            assert_eq!(found[0] == Kind::Index, is_index, "{name}: {found:?}");
        }
    }
    assert_eq!(kinds(vec![of("Unnamed: 0", gap(), Anything)]), [Kind::Number]);
    assert_eq!(kinds(vec![measured(), of("n", count(), Anything)]), [Kind::Number, Kind::Number]);
    // A column is not treated as an index if it is the only column to learn from.
    assert_eq!(kinds(vec![of("n", count(), Anything)]), [Kind::Number]);
    let names: Vec<String> = (0..30).map(|i| format!("doc{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(kinds(vec![column("d", &names), measured()]), [Kind::Identifier, Kind::Number]);
    // Label columns and displayed columns keep their kind.
    assert_eq!(
        kinds(vec![of("id", raw(&names), Texts), measured()]),
        [Kind::Category, Kind::Number]
    );
    let typed =
        typed_with(vec![column("d", &names), measured()], &ReadOptions::default(), b',').unwrap();
    assert!(typed.records[0].notes[0].contains("--use 'd'"));
}

#[test]
fn declared_types_are_followed() {
    let of = |kind: Kind, cells: Cells| {
        let column = RawColumn { name: "area".into(), cells, expected: Expected::Declared(kind) };
        let mut typed = typed_with(vec![column], &ReadOptions::default(), b',').unwrap();
        (typed.columns.remove(0).values, typed.records.remove(0))
    };
    let (values, record) = of(Kind::Category, raw(&["10", "20", "10"]));
    assert!(
        matches!(values, Values::Texts(_)) && record.notes[0].contains("category"),
        "{:?}",
        record.notes
    );
    let (values, record) = of(Kind::Text, raw(&["01", "02", "01"]));
    assert!(
        matches!(values, Values::Texts(_)) && record.notes[0].contains("declares texts"),
        "{:?}",
        record.notes
    );
    let (values, _) = of(Kind::Text, raw(&["1,5", "2,5", ""]));
    assert_eq!((numbers(&values)[0], values.missing()), (1.5, 1));
    let (values, record) = of(Kind::Index, Cells::Numbers(vec![5.0, 7.0]));
    assert_eq!((numbers(&values), record.rule.kind), (vec![5.0, 7.0], Kind::Index));
}

#[test]
fn words_for_missing_can_be_values() {
    let options = ReadOptions { not_missing: vec!["None".into()], ..ReadOptions::default() };
    let of = |options: &ReadOptions| {
        let label = RawColumn {
            expected: Expected::Texts,
            ..column("defect", &["None", "scratch", "", "None"])
        };
        let mut typed = typed_with(vec![label], options, b',').unwrap();
        (typed.columns.remove(0).values, typed.records.remove(0))
    };
    let (values, record) = of(&ReadOptions::default());
    assert_eq!((values.missing(), record.markers["None"]), (3, 2));
    assert!(
        record.notes[0].contains("2 cells `None` are read as missing; pass --not-missing None"),
        "{:?}",
        record.notes
    );
    let (_, record) = typed(&["x", "None", "NA", "y", "NA"]).unwrap();
    assert!(
        record.notes[0].contains("2 cells `NA` and 1 cell `None` are read as missing"),
        "{:?}",
        record.notes
    );
    let (values, record) = of(&options);
    assert_eq!((values.missing(), values.text(0), record.notes.len()), (1, "None".into(), 0));
    let rule = Expected::Rule(record.rule);
    let typed = typed_with(
        vec![RawColumn { expected: rule, ..column("defect", &["None", "NA"]) }],
        &ReadOptions::default(),
        b',',
    );
    let values = &typed.unwrap().columns[0].values;
    assert_eq!((values.text(0), values.is_missing(1)), ("None".into(), true));
}

/// In a column of numbers, dates or truth values, a marker is never a value, neither when a model is fitted nor in new
/// rows.
#[test]
fn words_for_missing_are_no_numbers() {
    let options = ReadOptions { not_missing: vec!["NA".into()], ..ReadOptions::default() };
    for cells in [
        ["1.5", "2", "NA"],
        ["1,5", "2,5", "NA"],
        ["2024-12-31", "2023-01-02", "NA"],
        ["true", "false", "NA"],
    ] {
        let read = |expected: Expected| {
            let column = RawColumn { expected, ..column("c", &cells) };
            let mut typed = typed_with(vec![column], &options, b',').unwrap();
            (typed.columns.remove(0).values, typed.records.remove(0))
        };
        let (values, record) = read(Expected::Anything);
        assert_eq!((values.missing(), values.is_missing(2)), (1, true), "{cells:?}");
        let (again, _) = read(Expected::Rule(record.rule));
        assert_eq!((again.missing(), again.is_missing(2)), (1, true), "{cells:?}");
    }
}

#[test]
fn constants_and_empty_columns_are_marked() {
    let options = ReadOptions { not_missing: vec!["None".into()], ..ReadOptions::default() };
    let typed_none =
        typed_with(vec![column("c", &["None", "NA", "None"])], &options, b',').unwrap();
    assert_eq!(
        (typed_none.columns[0].values.text(0), typed_none.columns[0].values.missing()),
        ("None".into(), 1)
    );
    for cells in [&["", "", "NA"][..], &["a", "a"], &["1,5", "1,5"], &["2024-01-01", "2024-01-01"]]
    {
        let (values, record) = typed(cells).unwrap();
        assert_eq!((record.rule.kind, values.len()), (Kind::Constant, cells.len()), "{cells:?}");
    }
    assert_eq!(typed(&["a", ""]).unwrap().1.rule.kind, Kind::Category);
}

#[test]
fn rules_survive_a_model_file() {
    let rule = ColumnRule {
        kind: Kind::Number,
        reading: Reading::Number(NumberFormat {
            decimal: Decimal::Comma,
            group: Some(Group::Point),
            affix: Some("€".into()),
        }),
        missing: vec!["-".into()],
        not_missing: Vec::new(),
        whole: true,
    };
    let json = serde_json::to_string(&rule).unwrap();
    assert_eq!(serde_json::from_str::<ColumnRule>(&json).unwrap(), rule, "{json}");
    assert_eq!(serde_json::from_str::<ColumnRule>("{}").unwrap(), ColumnRule::default());
}

#[test]
fn a_rule_determines_how_cells_are_collected() {
    let of = |reading: Reading| {
        Expected::Rule(ColumnRule { reading, ..ColumnRule::default() }).needs_texts()
    };
    let spelled = NumberFormat { group: Some(Group::Comma), ..NumberFormat::default() };
    assert!(
        !of(Reading::default())
            && of(Reading::Number(spelled))
            && of(Reading::Boolean)
            && of(Reading::Text)
    );
    let date = |order| Reading::Date(MomentFormat { order, ..MomentFormat::default() });
    assert!(of(date(DateOrder::YearFirst)) && !of(date(DateOrder::Digits)));
    let mut hints = Hints::texts(["y"]);
    assert_eq!(
        (Expected::of("y", &hints), Expected::of("x", &hints)),
        (Expected::Texts, Expected::Anything)
    );
    hints.rules.insert("y".into(), ColumnRule::category());
    hints.expected.insert("z".into());
    assert_eq!(Expected::of("y", &hints), Expected::Rule(ColumnRule::category()));
    // The rule of a label column says nothing about the other columns.
    assert_eq!(Expected::of("x", &hints), Expected::Anything);
    // A column that a model does not use is read as texts and never causes an error.
    hints.others_are_texts = true;
    assert_eq!(
        (Expected::of("x", &hints), Expected::of("z", &hints)),
        (Expected::Texts, Expected::Anything)
    );
}

/// Points usually occur in dates with the day first. If the month is first in a rule, dates with points are read only
/// if the rule was found on such dates.
#[test]
fn dates_with_points_are_refused_by_a_rule_with_the_month_first() {
    let apply = |rule: &ColumnRule, cells: &[&str], options: &ReadOptions| {
        let column = RawColumn { expected: Expected::Rule(rule.clone()), ..column("c", cells) };
        let values = typed_with(vec![column], options, b',')?.columns.remove(0).values;
        let Values::Moments(moments) = &values else { panic!("{values:?}") };
        Ok::<_, DataError>(moments.values().to_vec())
    };
    let plain = ReadOptions::default();
    let day_first = ReadOptions { day_first: Some(true), ..ReadOptions::default() };
    let rule = typed(&["1/15/2025", "2/3/2025", "12/31/2024"]).unwrap().1.rule;
    let may = apply(&rule, &["2025-05-07"], &plain).unwrap();
    let july = apply(&rule, &["2025-07-05"], &plain).unwrap();
    assert_eq!(apply(&rule, &["5/7/2025"], &plain).unwrap(), may);
    for cell in ["05.07.2025", "15.07.2025"] {
        let error = apply(&rule, &["1/2/2025", cell], &plain).unwrap_err().to_string();
        let said = format!("line 3, column `c`: dots separate the parts of `{cell}`");
        assert!(error.contains(&said) && error.contains("pass --day-first"), "{error}");
    }
    assert_eq!(apply(&rule, &["05.07.2025"], &day_first).unwrap(), july);
    // If the month is a word, the date is unambiguous.
    assert_eq!(apply(&rule, &["5. Jul 2025"], &plain).unwrap(), july);
    let pointed = typed(&["1.15.2025", "2.3.2025", "12.31.2024"]).unwrap().1.rule;
    assert_eq!(apply(&pointed, &["05.07.2025"], &plain).unwrap(), may);
    let json = serde_json::to_string(&[&rule, &pointed]).unwrap();
    assert_eq!(json.matches("points").count(), 1, "{json}");
    assert_eq!(serde_json::from_str::<[ColumnRule; 2]>(&json).unwrap(), [rule, pointed]);
}

/// A model that was fitted to dates with the year first, or to a column of dates, reads dates in another order if the
/// user specifies this order.
#[test]
fn a_rule_with_the_year_first_accepts_the_order_that_the_user_gives() {
    let rules = [
        typed(&["2025-07-05", "2025-08-06"]).unwrap().1.rule,
        ColumnRule {
            kind: Kind::Date,
            reading: Reading::Date(MomentFormat::default()),
            ..ColumnRule::default()
        },
    ];
    for rule in rules {
        let apply = |options: &ReadOptions| {
            let expected = Expected::Rule(rule.clone());
            let column = RawColumn { expected, ..column("c", &["05.07.2025", "2025-07-05"]) };
            Ok::<_, DataError>(typed_with(vec![column], options, b',')?.columns.remove(0).values)
        };
        let refused = apply(&ReadOptions::default()).unwrap_err().to_string();
        assert!(refused.contains("correct it, pass --day-first if the day is first"), "{refused}");
        let day_first = ReadOptions { day_first: Some(true), ..ReadOptions::default() };
        let Values::Moments(moments) = apply(&day_first).unwrap() else { panic!() };
        assert_eq!(moments.value(0), moments.value(1));
    }
}

/// In a table with decimal commas, a column of integers may have points between thousands. Integers such as 34.0 are
/// not evidence against this, but 34.5 is.
#[test]
fn integers_with_a_zero_fraction_are_not_noted_in_a_table_with_decimal_commas() {
    let columns = vec![column("a", &["1,5", "2,25", "3,125"]), column("b", &["30", "40", "50"])];
    let mut records = typed_with(columns, &ReadOptions::default(), b';').unwrap().records;
    let rule = records.remove(1).rule;
    let notes = |cells: &[&str]| {
        let column = RawColumn { expected: Expected::Rule(rule.clone()), ..column("b", cells) };
        let mut typed = typed_with(vec![column], &ReadOptions::default(), b';').unwrap();
        (numbers(&typed.columns.remove(0).values), typed.records.remove(0).notes.len())
    };
    assert_eq!(notes(&["34.0", "35"]), (vec![34.0, 35.0], 0));
    assert_eq!(notes(&["34.5", "35.0"]), (vec![34.5, 35.0], 1));
    assert_eq!(notes(&["34.000", "35"]), (vec![34_000.0, 35.0], 0));
}

#[test]
fn trimmed_texts_that_become_equal_are_one() {
    let column = RawColumn { expected: Expected::Texts, ..column("c", &[" a", "b", "a ", " NA "]) };
    let typed = typed_with(vec![column], &ReadOptions::default(), b',').unwrap();
    let values = &typed.columns[0].values;
    assert_eq!((values.text(0), values.text(2), values.missing()), ("a".into(), "a".into(), 1));
    let Values::Texts(texts) = values else { panic!() };
    assert_eq!((texts.codes()[0], texts.codes()[2], texts.level_count()), (0, 0, 2));
}

/// A column with many distinct texts, two fifths of which are not numbers, is read in much less than a second.
#[test]
fn time_is_linear_in_distinct_texts() {
    let cells: Vec<String> =
        (0..200_000).map(|i| if i % 5 < 3 { i.to_string() } else { format!("w{i}") }).collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let error = typed(&cells).unwrap_err().to_string();
    assert!(
        error.contains("line 5, column `c`: `w3` is not a number (nor are `w4`, `w8`, `w9` and 79996 more), unlike 120000 other cells"),
        "{error}"
    );
}

#[test]
fn a_reading_needs_more_than_half_of_the_rows() {
    // If half of the rows are words, the column contains categories. If there is one more number, the words are errors.
    let half = ["1", "red", "2", "blue"];
    let (_, record) = typed(&half).unwrap();
    assert_eq!(record.rule.kind, Kind::Category);
    assert!(typed(&[&half[..], &["3"]].concat()).is_err());
}

/// If all numbers of a column are too large, the error says so.
#[test]
fn numbers_that_are_too_large_are_named() {
    for cells in [&["1e400", "2e400", "3e400"][..], &["1", "1e400", "-2e999", "1e400"]] {
        let error = typed(cells).unwrap_err().to_string();
        assert!(error.contains("`1e400` is too large for a 64-bit"), "{error}");
    }
    assert!(typed(&["red", "1e400", "blue"]).is_ok());
}

/// The notes on dates quote a date that has two readings, and show how a date with a two-digit year is read.
#[test]
fn notes_on_dates_have_an_example_that_applies() {
    let notes = |cells: &[&str]| typed(cells).unwrap().1.notes.concat();
    let mixed = notes(&["2025-01-01", "4/4/2025", "3/4/2025", "5/6/2025"]);
    assert!(mixed.contains("dates such as `3/4/2025` fit both orders"), "{mixed}");
    let short = notes(&["25-01-15", "25-01-16", "25-02-17"]);
    assert!(short.contains("`25-01-15` is read as 2015-01-25; write the dates as"), "{short}");
    let timed = notes(&["2025-01-01", "13.01.25 18:30", "14.01.25 19:00"]);
    assert!(timed.contains("`13.01.25 18:30` is read as 2025-01-13;"), "{timed}");
}

/// Numbers and periods in spellings that are not read are named, whether the column has few or many distinct texts.
#[test]
fn unread_spellings_are_noted() {
    type Form = fn(usize) -> String;
    let forms: [(Form, &str); 6] = [
        (|i| format!("0x{i:X}"), "hexadecimal numbers"),
        (|i| format!("{}.5k", i), "letter for thousands"),
        (|i| format!("1.{i:03}.000"), "pass --decimal ,"),
        (|i| format!(">={i}"), "comparison sign"),
        (|i| format!("[0.{i}, 0.5, 0.25]"), "lists of numbers"),
        (|i| format!("{}Q{}", 2000 + i / 4, i % 4 + 1), "quarters"),
    ];
    for (form, what) in forms {
        for count in [3, 17, 300] {
            let cells: Vec<String> = (0..count).cycle().take(2 * count).map(form).collect();
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            let (values, record) = typed(&cells).unwrap();
            assert!(matches!(values, Values::Texts(_)), "{}", cells[0]);
            let notes = record.notes.concat();
            let is_measure = notes.contains("if they are dates or quantities");
            assert!(notes.contains(what) || is_measure, "{count} {}: {notes}", cells[0]);
            assert!(notes.contains(&format!("cells such as `{}`", cells[0])), "{notes}");
        }
    }
    // Spreadsheets mark codes as texts.
    let notes = typed(&["=\"00012\"", "=\"00007\"", "=\"00012\""]).unwrap().1.notes.concat();
    assert!(notes.contains("without its leading zero"), "{notes}");
    let error = typed(&repeated(&["958.984", "12.5"], &["5.958.984"])).unwrap_err().to_string();
    assert!(error.contains("pass --decimal , if points separate thousands"), "{error}");
}

/// Numbers with different units become categories, and the note names all units. In a column of numbers, cells without
/// the sign of the others are counted.
#[test]
fn numbers_with_several_units_are_noted() {
    let cells = |one: &str, other: &str| -> Vec<String> {
        (0..60).map(|i| format!("{}{}", i % 7 + 1, if i % 2 == 0 { one } else { other })).collect()
    };
    for (one, other, said) in [
        (" min", " h", "(`h` in 30 rows, `min` in 30 rows)"),
        ("%", "", "(none in 30 rows, `%` in 30 rows)"),
    ] {
        let cells = cells(one, other);
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let (values, record) = typed(&cells).unwrap();
        let notes = record.notes.concat();
        assert!(matches!(values, Values::Texts(_)) && notes.contains(said), "{notes}");
        assert!(notes.contains("different signs or units") && !notes.contains("are numbers;"));
    }
    let kilograms = cells(" kg", "");
    let kilograms: Vec<&str> = kilograms.iter().map(String::as_str).collect();
    let notes = typed(&kilograms).unwrap().1.notes.concat();
    assert!(
        notes.contains("; 30 of 60 cells have no `kg` and are read as if they had it"),
        "{notes}"
    );
    let notes = typed(&["1 kg", "2 kg", "2.5 kg"]).unwrap().1.notes.concat();
    assert!(!notes.contains("have no `kg`"), "{notes}");
    // Words among numbers are not units.
    let mixed = repeated(&["1", "2", "red", "blue"], &[]);
    let notes = typed(&mixed).unwrap().1.notes.concat();
    assert!(notes.contains("20 of 40 cells are numbers"), "{notes}");
}

/// Underscores separate groups of three digits. Other texts of digits and underscores are codes.
#[test]
fn codes_with_underscores_are_categories() {
    let codes = repeated(&["1_11", "11_1", "2_3"], &[]);
    let (values, record) = typed(&codes).unwrap();
    assert_eq!(record.rule.kind, Kind::Category);
    assert_eq!((values.text(0), values.text(1)), ("1_11".into(), "11_1".into()));
    assert_eq!(typed(&repeated(&["2010_01", "2010_02"], &[])).unwrap().1.rule.kind, Kind::Category);
    let (values, record) = typed(&["801_931", "1_324_358", "950"]).unwrap();
    assert_eq!(numbers(&values), [801_931.0, 1_324_358.0, 950.0]);
    assert!(
        record.notes[0].contains("pass --category 'c' if they are codes"),
        "{:?}",
        record.notes
    );
}

/// Dates in a language whose months are not known are texts, which causes a note. Other texts with a year do not.
#[test]
fn texts_that_may_be_dates_are_noted() {
    let notes = |form: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..28).map(form).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let (_, record) = typed(&cells).unwrap();
        assert_eq!(record.rule.kind, Kind::Text, "{}", cells[0]);
        record.notes.concat()
    };
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov"];
    for form in [
        &|i: usize| format!("{}. Oktober 2023", i + 1) as String,
        &|i: usize| format!("{} lokakuuta 2023 klo {i}", i + 1),
        &|i: usize| format!("{} {} {:2} 10:00:{i:02} 2023", days[i % 7], months[i % 11], i + 1),
    ] as [&dyn Fn(usize) -> String; 3]
    {
        let said = notes(form);
        assert!(
            said.contains(&format!("`{}` are read as text; if they are dates", form(0))),
            "{said}"
        );
    }
    let word = |i: usize| format!("{}{}", "ab".repeat(i % 5 + 1), "x".repeat(i));
    assert_eq!(notes(&|i| format!("the year {} of {}", 1990 + i, word(i))), "");
    assert_eq!(notes(&|i| format!("room {i} in house {}", 3 * i)), "");
}

/// The errors of spreadsheets in other languages are missing values in a column of few numbers. Otherwise, the note
/// names the most frequent cell that is not a number.
#[test]
fn odd_cells_among_few_numbers_are_missing_or_named() {
    for odd in ["#NV", "#WERT!", "#VALEUR!", "#ERROR!", "k. A.", "nothing"] {
        let (values, record) = typed(&repeated(&["1", "2", "3", "4"], &[odd; 6])).unwrap();
        assert_eq!((record.rule.kind, values.missing()), (Kind::Number, 6), "{odd}");
    }
    let cells = repeated(&["1", "2", "3", "4"], &["ei", "ei", "eos", "eos", "eos", "eos"]);
    let (_, record) = typed(&cells).unwrap();
    assert_eq!(record.rule.kind, Kind::Category);
    let said = record.notes.concat();
    assert!(
        said.contains("40 of 46 cells are numbers; the column is read as categories"),
        "{said}"
    );
    assert!(said.contains("`eos` (in 4 rows); pass --missing 'eos' if it marks"), "{said}");
    let (_, record) = typed(&repeated(&["1", "2", "red", "blue"], &[])).unwrap();
    assert!(record.notes.concat().ends_with("the column is read as categories"));
}

/// Dates and quantities in unsupported forms become categories. A note is written if there are more than 20 of them, or
/// if they have a common shape.
#[test]
fn categories_that_may_be_dates_or_quantities_are_noted() {
    let months = ["janvier", "f\u{e9}vrier", "mars", "avril", "mai", "juin", "juillet"];
    let forms: [fn(usize) -> String; 8] = [
        |i| format!("{:02}/{}", i % 12 + 1, 2010 + i / 12),
        |i| format!("Q{} {}", i % 4 + 1, 1990 + i / 4),
        |i| format!("2019-W{i:02}"),
        |i| format!("{i}h {}m", i * 7 % 60),
        |i| format!("{}:{:02}", i * 3, i % 60),
        |i| format!("{}-{}", 10 * i, 10 * i + 9),
        |i| format!("{}-{:02}", ["Jan", "Apr", "Sept"][i % 3], i),
        |i| format!("{i}' {}\"", i % 12),
    ];
    let of_months = |i: usize| format!("{} {} 20{i:02}", i % 28 + 1, months[i % 7]);
    let noted = |count: usize, form: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..count).cycle().take(2 * count + 5).map(form).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let (values, record) = typed(&cells).unwrap();
        assert!(matches!(values, Values::Texts(_)), "{}", cells[0]);
        let note = format!("cells such as `{}` are read as categories", cells[0]);
        record.notes.iter().any(|of| of.contains(&note))
    };
    for form in forms {
        assert!(noted(21, &form), "{}", form(0));
        let has_shape = ["0h 0m", "0:00"].contains(&form(0).as_str());
        assert_eq!(noted(20, &form), has_shape, "{}", form(0));
    }
    // Numbers among letters or colons need five different texts, and twice as many as shapes.
    let shapes: [fn(usize) -> String; 6] = [
        |i| format!("-{}:30", i + 11),
        |i| format!("{i}:1"),
        |i| format!("{i}th"),
        |i| format!("{i} of 5"),
        |i| format!("1,{i:03} thousand"),
        |i| format!("{i}{}", ["st", "nd", "rd", "th"][i % 4]),
    ];
    for form in shapes {
        assert!(noted(8, &form), "{}", form(0));
        assert!(!noted(4, &form), "{}", form(0));
    }
    assert!(!noted(8, &|i| format!("{i}{}", ["st", "nd", "rd", "th", "e"][i % 5])));
    assert!(!noted(8, &|i| format!("{}-{}", 10 * i, 10 * i + 9)));
    assert!(!noted(8, &|i| format!("v{i}")));
    assert!(noted(30, &of_months));
    // Codes, names with a year, and columns with one odd text in five cause no note.
    assert!(!noted(30, &|i| format!("AB{i}")));
    assert!(!noted(30, &|i| format!("SKU-{i:04}")));
    let titles =
        |i: usize| format!("{}{} (1995)", char::from(b'a' + (i % 26) as u8), "x".repeat(i));
    assert!(!noted(30, &titles));
    // Of 65 cells, 59 are more than nine tenths and 58 are less.
    assert!(noted(30, &|i| if i % 10 == 9 { format!("a{i}") } else { format!("{i}~{i}") }));
    assert!(!noted(30, &|i| if i % 10 == 0 { format!("a{i}") } else { format!("{i}~{i}") }));
    // Exactly nine tenths are enough.
    let cell = |i: usize| if i % 10 == 9 { format!("a{i}") } else { format!("{i}~{i}") };
    let cells: Vec<String> = (0..100).map(|row| cell(row % 50)).collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    assert!(typed(&cells).unwrap().1.notes[0].contains("cells such as `0~0`"));
    // Exactly 16 different words are allowed.
    let words = |count: usize| move |i: usize| format!("{} 2{:03}", "ab".repeat(i % count + 1), i);
    assert!(noted(50, &words(16)));
    assert!(!noted(50, &words(17)));
    assert!(!noted(30, &|i| format!("x 18{i:02}")) && !noted(30, &|i| format!("x 21{i:02}")));
}

/// A search in chunks finds the same as the column at once.
#[test]
fn numbers_for_missing_are_found_in_chunks() {
    let plain: Vec<f64> = (0..50).map(|i| f64::from(i * 37 % 50) / 10.0).collect();
    for more in [
        &[][..],
        &[-999.0],
        &[-999.0, 99.0, -999.0],
        &[-999.0, f64::NAN, -1000.0],
        &[1e6, -999.0],
        &[99.0, 200.0, 99.0],
        &[99.0, 99.0, -99.0],
    ] {
        for at in [0, 20, 50] {
            let mut values = plain.clone();
            values.splice(at..at, more.iter().copied());
            let column = RawColumn { cells: Cells::Numbers(values.clone()), ..column("c", &[]) };
            let typed = typed_with(vec![column], &ReadOptions::default(), b',').unwrap();
            let whole = typed.records[0].notes.concat();
            for size in [1, 7, 60] {
                let mut search = MissingSearch::default();
                values.chunks(size).for_each(|chunk| search.add(chunk.iter().copied()));
                let parts = values.chunks(size).rev().map(|chunk| {
                    let mut part = MissingSearch::default();
                    part.add(chunk.iter().copied());
                    part
                });
                let merged = parts.reduce(|mut all, part| {
                    all.merge(part);
                    all
                });
                assert_eq!(
                    merged.and_then(|all| all.note()),
                    search.note(),
                    "{more:?} {at} {size}"
                );
                let found = search.note().unwrap_or_default();
                assert_eq!(found.is_empty(), whole.is_empty(), "{more:?} {at} {size}");
                assert!(whole.contains(&found), "{whole} {found}");
            }
        }
    }
}
