//! Tests of recipes for each kind of column.

use super::learn::{MAX_VARIED, numbers};
use super::*;
use crate::design::Design;
use halfspaces_frame::{Block, Column, Frame, Hints, MISSING, ReadOptions, Values, read_bytes};
use halfspaces_linalg::{PointSet, Points, RowView, SparsePoints};

fn frame(columns: Vec<(&str, Values)>) -> Frame {
    let column = |(name, values): (&str, Values)| Column { name: name.to_owned(), values };
    Frame::new("t", columns.into_iter().map(column).collect())
}

fn dense(design: Design) -> Points {
    let Design::Dense(points) = design else { panic!("dense points") };
    points
}

fn texts(cells: &[&str]) -> Values {
    let mut levels: Vec<String> = Vec::new();
    let code = |cell: &&str| {
        if cell.is_empty() {
            return MISSING;
        }
        let at = levels.iter().position(|level| level == cell).unwrap_or_else(|| {
            levels.push((*cell).to_owned());
            levels.len() - 1
        });
        at as u32
    };
    let codes = cells.iter().map(code).collect();
    Values::texts(codes, &levels)
}

fn fit(frame: &Frame) -> Recipe {
    Recipe::fit(frame, &RecipeOptions::default()).unwrap().0
}

#[test]
fn the_median_replaces_missing_numbers() {
    let nan = f64::NAN;
    for (values, median) in [
        (vec![5.0, 1.0, 9.0], 5.0),
        (vec![5.0, 1.0, 9.0, 7.0], 6.0),
        (vec![nan, 5.0, 1.0, 9.0], 5.0),
        (vec![nan, 5.0, 1.0], 3.0),
        (vec![1e308, -1e308, 1e308, 1e308], 1e308),
    ] {
        let missing = values.iter().any(|v| v.is_nan());
        let expected = Kind::Number { median, missing, range: None };
        assert_eq!(numbers(&values, &RecipeOptions::default()), Some(expected), "{values:?}");
    }
    let keep = RecipeOptions { keep_constant: true, ..RecipeOptions::default() };
    assert_eq!(numbers(&[2.0, 2.0], &RecipeOptions::default()), None);
    let kept = Kind::Number { median: 2.0, missing: false, range: None };
    assert_eq!(numbers(&[2.0, 2.0], &keep), Some(kept));
    assert_eq!(numbers(&[0.0, -0.0], &keep), None);
    assert_eq!(numbers(&[nan, nan], &keep), None);
    assert!(numbers(&[2.0, nan], &RecipeOptions::default()).is_some());
    let table = frame(vec![("x", Values::numbers(vec![4.0, nan, 6.0]))]);
    let points = dense(fit(&table).apply(&table, Unseen::Error).unwrap());
    assert_eq!(points.as_slice(), [4.0, 0.0, 5.0, 1.0, 6.0, 0.0]);
}

#[test]
fn categories_have_a_coordinate_each() {
    let table = frame(vec![
        ("c", texts(&["b", "a", "", "b"])),
        ("same", texts(&["z", "z", "z", "z"])),
        ("x", Values::numbers(vec![1.0, 2.0, 3.0, 4.0])),
    ]);
    let recipe = fit(&table);
    assert_eq!(recipe.coordinates(), ["c=a", "c=b", "c is missing", "x"]);
    assert_eq!(recipe.constant(), ["same"]);
    assert_eq!(recipe.places(), [("c".to_owned(), 0..3), ("x".to_owned(), 3..4)]);
    let kinds = [("c", "category, 2 values; missing values are marked"), ("x", "number")];
    assert_eq!(recipe.kinds(), kinds.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
    let points = dense(recipe.apply(&table, Unseen::Error).unwrap());
    let expected = [0., 1., 0., 1., 1., 0., 0., 2., 0., 0., 1., 3., 0., 1., 0., 4.];
    assert_eq!(points.as_slice(), expected);
    // Numbers in a column of categories are looked up by their text.
    let numbers = frame(vec![("c", texts(&["1", "2.5"]))]);
    let turned = frame(vec![("c", Values::numbers(vec![2.5, 1.0]))]);
    let points = dense(fit(&numbers).apply(&turned, Unseen::Error).unwrap());
    assert_eq!(points.as_slice(), [0.0, 1.0, 1.0, 0.0]);
}

/// Varied texts that are too short to be recognised as text are used as categories, with a note, if there are at most
/// 30.
#[test]
fn varied_but_short_texts_are_noted_or_refused() {
    let fitted = |cells: &[String]| {
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        Recipe::fit(&frame(vec![("c", texts(&cells))]), &RecipeOptions::default())
    };
    let each = |n: usize| (0..n).map(|i| format!("name {i}")).collect::<Vec<_>>();
    let (recipe, notes) = fitted(&each(MAX_VARIED)).unwrap();
    assert!(matches!(recipe.columns[0].kind, Kind::Category { .. }));
    assert!(notes[0].contains("30 different texts in 30 rows are used as categories"), "{notes:?}");
    let refused = fitted(&each(MAX_VARIED + 1)).unwrap_err().to_string();
    assert!(refused.contains("31 different texts in 31 rows are too many"), "{refused}");
    // All texts are used as categories if the user requests this.
    for cells in [each(MAX_VARIED + 1), (0..40).map(|i| format!("ticket number {i}")).collect()] {
        let table =
            format!("c,x\n{}", cells.iter().map(|cell| format!("{cell},1\n")).collect::<String>());
        let reading = ReadOptions { category: vec!["c".into()], ..ReadOptions::default() };
        let table = read_bytes("t", table.into_bytes(), &reading, &Hints::default()).unwrap();
        let (recipe, notes) = Recipe::fit(&table, &RecipeOptions::default()).unwrap();
        assert!(matches!(recipe.columns[0].kind, Kind::Category { .. }), "{notes:?}");
        assert_eq!((recipe.dim(), notes), (cells.len(), vec![]));
    }
    let numbers: Vec<String> = (0..=MAX_VARIED).map(|i| format!("{i}.5")).collect();
    let refused = fitted(&numbers).unwrap_err().to_string();
    assert!(refused.contains("its cells are numbers that are stored as texts"), "{refused}");
    let numbers: Vec<String> = (0..=MAX_VARIED).map(|i| format!("0x{i:X}")).collect();
    let refused = fitted(&numbers).unwrap_err().to_string();
    assert!(refused.contains("such as `0x0` are hexadecimal numbers, which"), "{refused}");
    let pairs: Vec<String> = each(20).into_iter().chain(each(20)).collect();
    assert!(fitted(&pairs).unwrap().1.is_empty());
}

/// Sentences are text in a table of any size, as long as rows have words in common.
#[test]
fn a_few_sentences_are_text() {
    let sentences = |n: usize| (0..n).map(|i| format!("ticket number {i} is still open")).collect();
    let fitted = |cells: Vec<String>| {
        let cells: Vec<&str> = cells.iter().map(String::as_str).chain(["gg hh ii"]).collect();
        let (recipe, notes) =
            Recipe::fit(&frame(vec![("c", texts(&cells))]), &RecipeOptions::default()).unwrap();
        (matches!(recipe.columns[0].kind, Kind::Text { .. }), notes)
    };
    let (is_text, notes) = fitted(sentences(9));
    assert!(is_text && notes[0].contains("10 different texts; it is treated as text"), "{notes:?}");
    assert!(fitted(sentences(40)).0);
    // No word is in two rows, so there are no features of text.
    let (is_text, notes) = fitted(vec!["aa bb cc".into(), "dd ee ff".into()]);
    assert!(!is_text && notes[0].contains("3 different texts in 3 rows are used as categories"));
}

#[test]
fn decimal_commas_are_reported() {
    let cells: Vec<String> = (0..=MAX_VARIED).map(|i| format!("-1,{i}e0")).collect();
    let mut cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let says = |cells: &[&str]| {
        let refused = Recipe::fit(&frame(vec![("c", texts(cells))]), &RecipeOptions::default());
        refused.unwrap_err().to_string()
    };
    assert!(says(&cells).contains("decimal comma"), "{}", says(&cells));
    cells.push("1,2,3");
    assert!(says(&cells).contains("too many for categories"), "{}", says(&cells));
}

/// If there is a column of text, other columns are standardised around their median, so that a missing number needs no
/// sparse entry.
#[test]
fn numbers_next_to_texts_are_standardised() {
    let day = 86_400_000_000i64;
    let moments: arrow_array::TimestampMicrosecondArray =
        [0, 4, 4, 8].map(|d| Some(d * day)).into_iter().collect();
    let table = frame(vec![
        ("t", texts(&["a red apple", "a pear", "", "red"])),
        ("x", Values::numbers(vec![1000.0, 1000.0, f64::NAN, 1006.0])),
        ("c", texts(&["p", "q", "p", "q"])),
        ("d", Values::Moments(moments)),
    ]);
    let options = RecipeOptions { text: vec!["t".into()], ..RecipeOptions::default() };
    let recipe = Recipe::fit(&table, &options).unwrap().0;
    let names = recipe.coordinates();
    assert!(names.starts_with(&["t~a".into(), "t~a pear".into()]) && recipe.is_sparse());
    let design = recipe.apply(&table, Unseen::Error).unwrap();
    let points = design.into_dense().unwrap();
    let of = |name: &str| -> Vec<f64> {
        let at = names.iter().position(|n| n == name).unwrap();
        points.rows().map(|x| x.as_slice()[at]).collect()
    };
    // The distances 0, 0, 0 and 6 have the root mean square 3, and the distances 4, 0, 0 and 4 have √8.
    assert_eq!((of("x"), of("x is missing")), (vec![0.0, 0.0, 0.0, 2.0], vec![0.0, 0.0, 1.0, 0.0]));
    assert_eq!(of("c=p"), [1.0, 0.0, 1.0, 0.0]);
    assert!((of("d")[0] + 2f64.sqrt()).abs() < 1e-15 && of("d")[1].abs() < 1e-15);
    // The n-grams of a row that has both groups have norm 1.
    let text = names.iter().filter(|name| name.starts_with("t~")).count();
    let norm: f64 = points.row(0).unwrap().as_slice()[..text].iter().map(|v| v * v).sum();
    assert!((norm - 1.0).abs() < 1e-12);
    let saved = serde_json::to_string(&recipe).unwrap();
    assert_eq!(serde_json::from_str::<Recipe>(&saved).unwrap(), recipe);
}

#[test]
fn hash_bits_are_checked_and_need_a_text() {
    let table = frame(vec![
        ("t", texts(&["a b", "a c", "b c"])),
        ("x", Values::numbers(vec![1.0, 2.0, 3.0])),
    ]);
    let fit = |text: &[&str], hash_bits| {
        let text = text.iter().map(|name| (*name).to_owned()).collect();
        Recipe::fit(
            &table,
            &RecipeOptions { text, hash_bits: Some(hash_bits), ..RecipeOptions::default() },
        )
    };
    assert!(fit(&["t"], 0).is_err() && fit(&["t"], 29).is_err() && fit(&["t"], 64).is_err());
    assert_eq!(fit(&["t"], 1).unwrap().0.dim(), 5);
    let (_, notes) = fit(&[], 4).unwrap();
    assert!(notes[1].contains("--hash-bits has no effect"), "{notes:?}");
}

/// Long, varied text is recognised without an option, but short text is not.
#[test]
fn long_texts_are_recognised() {
    let fit = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..40).map(cell).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        Recipe::fit(&frame(vec![("c", texts(&cells))]), &RecipeOptions::default())
    };
    let (recipe, notes) = fit(&|i| format!("number {i} here")).unwrap();
    assert!(
        recipe.is_sparse() && notes[0].contains("40 different texts; it is treated as text"),
        "{notes:?}"
    );
    assert!(fit(&|i| format!("number {i}")).is_err());
    // It is not enough that half of the rows have long texts.
    assert!(
        fit(&|i| if i % 2 == 0 { format!("number {i}") } else { format!("number {i} here") })
            .is_err()
    );
    // Each Han character is a separate word.
    let han =
        |i: usize| [i, 100 + i % 4, 200].map(|at| char::from_u32(0x4e00 + at as u32).unwrap());
    let han = |i: usize| han(i).iter().collect::<String>();
    assert!(fit(&han).is_ok());
}

/// With `median_only`, missing numbers are replaced without an additional coordinate.
#[test]
fn a_median_needs_no_second_coordinate() {
    let options = RecipeOptions { median_only: true, ..RecipeOptions::default() };
    let table = frame(vec![("x", Values::numbers(vec![4.0, f64::NAN, 6.0]))]);
    let (recipe, _) = Recipe::fit(&table, &options).unwrap();
    let points = dense(recipe.apply(&table, Unseen::Error).unwrap());
    assert_eq!(points.as_slice(), [4.0, 5.0, 6.0]);
}

/// Coordinates that would share a name are distinguished by the kinds of their columns.
#[test]
fn names_of_coordinates_are_distinct() {
    let table =
        frame(vec![("c", texts(&["red", "blue"])), ("c=red", Values::numbers(vec![1.0, 2.0]))]);
    let expected = ["c=blue", "c=red [category]", "c=red [number]"];
    assert_eq!(fit(&table).coordinates(), expected);
}

/// Next to a category with many levels, numbers are standardised, because learners do not standardise sparse points.
/// In a narrow table, they are unchanged.
#[test]
fn numbers_next_to_a_wide_category_are_standardised() {
    let with_levels = |count: usize| {
        let levels: Vec<String> = (0..count).map(|level| format!("c{level:03}")).collect();
        let codes = (0..1200).map(|row| (row % count) as u32).collect();
        let incomes = (0..1200).map(|row| f64::from(20_000 + row % 3 * 1000)).collect();
        frame(vec![("city", Values::texts(codes, &levels)), ("income", Values::numbers(incomes))])
    };
    let (wide, narrow) = (with_levels(400), with_levels(30));
    let Design::Sparse(points) = fit(&wide).apply(&wide, Unseen::Error).unwrap() else { panic!() };
    assert_eq!(points.dim(), 401);
    let incomes: Vec<f64> = points.to_dense().unwrap().rows().map(|x| x.as_slice()[400]).collect();
    let mean_square = incomes.iter().map(|z| z * z).sum::<f64>() / 1200.0;
    assert!((mean_square - 1.0).abs() < 1e-12, "{mean_square}");
    assert!(incomes[0] < 0.0 && incomes[1] == 0.0);
    let points = dense(fit(&narrow).apply(&narrow, Unseen::Error).unwrap());
    assert_eq!(points.row(2).unwrap().as_slice()[30], 22_000.0);
}

/// A table with few entries in many columns stays sparse and has the same coordinates as the dense table.
#[test]
fn sparse_tables_stay_sparse() {
    let (rows, dim) = (40usize, 400usize);
    let mut points = SparsePoints::empty(dim).unwrap();
    for row in 0..rows {
        let columns: Vec<u32> = vec![0, 1 + (row % 7) as u32, (20 + row * 9 % 380) as u32];
        points.push(&columns, &[1.0, 0.5, row as f64 + 1.0]).unwrap();
    }
    let mut table = frame(vec![("c", texts(&["a", "b"].repeat(rows / 2)))]);
    table.block = Some(Block::Sparse(points.into()));
    let recipe = fit(&table);
    let names = recipe.coordinates();
    assert!(recipe.is_sparse() || recipe.dim() <= 300);
    // The first column is always 1, and most columns have no entry.
    assert!(!names.contains(&"1".to_owned()) && names.contains(&"2".to_owned()));
    let wide = Recipe { by_entries: true, ..recipe.clone() };
    let narrow = Recipe { by_entries: false, ..recipe };
    let Design::Sparse(sparse) = wide.apply(&table, Unseen::Error).unwrap() else { panic!() };
    let points = dense(narrow.apply(&table, Unseen::Error).unwrap());
    assert_eq!(sparse.to_dense().unwrap(), points);
    let only = Frame { columns: Vec::new(), ..table.clone() };
    let of_block = Recipe { by_entries: true, ..fit(&only) };
    let copied = of_block.apply(&only, Unseen::Error).unwrap();
    assert_eq!(of_block.apply_to(only, Unseen::Error).unwrap(), copied);
    assert_eq!(sparse.row(0).unwrap().entries().count(), 3);
    // Build the same table with named columns.
    let columns = (0..dim).map(|j| (1 + j, table.block.as_ref().unwrap().column(j)));
    let mut by_name: Vec<Column> =
        columns.map(|(j, v)| Column { name: j.to_string(), values: Values::numbers(v) }).collect();
    by_name.push(table.columns[0].clone());
    let by_name = Frame::new("t", by_name);
    assert_eq!(dense(narrow.apply(&by_name, Unseen::Error).unwrap()), points);
}

/// Timestamps become days and calendar cycles, and predictions use the same parts as the fit. A missing timestamp is
/// replaced by the median.
#[test]
fn moments_have_the_parts_that_they_span() {
    use halfspaces_frame::Values as V;
    let day = 86_400_000_000i64;
    let moments: arrow_array::TimestampMicrosecondArray =
        (0..5).map(|i| (i != 3).then_some(i * 3 * day)).collect();
    let table = frame(vec![("t", V::Moments(moments))]);
    let recipe = fit(&table);
    assert_eq!(recipe.coordinates(), ["t", "t is missing"]);
    let points = dense(recipe.apply(&table, Unseen::Error).unwrap());
    assert_eq!(points.as_slice(), [0.0, 0.0, 3.0, 0.0, 6.0, 0.0, 6.0, 1.0, 12.0, 0.0]);
    let other = frame(vec![("t", Values::numbers(vec![1.0]))]);
    let refused = recipe.apply(&other, Unseen::Error).unwrap_err().to_string();
    assert!(refused.contains("dates or times"), "{refused}");
}

/// A column of dates in which the model learned the time of day is noted if no new date has a time.
#[test]
fn dates_without_the_times_of_the_fit_are_noted() {
    let hour = 3_600_000_000i64;
    let table = |hours: &[i64]| {
        let moments: arrow_array::TimestampMicrosecondArray =
            hours.iter().map(|at| (*at > 0).then_some(at * hour)).collect();
        frame(vec![("when", Values::Moments(moments))])
    };
    let with_times = fit(&table(&[24, 30, 55, 72]));
    let dates_only = fit(&table(&[24, 48, 96, 72]));
    for (recipe, hours, is_noted) in [
        (&with_times, &[48, 240, 0][..], true),
        (&with_times, &[48, 241, 0], false),
        (&with_times, &[0, 0], false),
        (&dates_only, &[48, 240], false),
    ] {
        let notes = recipe.gaps(&table(hours), "y").concat();
        assert_eq!(notes.contains("no date has a time of day in `when`"), is_noted, "{notes}");
    }
}

/// A column that only identifies rows is left out unless it is requested.
#[test]
fn names_of_rows_are_left_out() {
    use halfspaces_frame::{ColumnRecord, ColumnRule};
    let mut table = frame(vec![
        ("id", Values::numbers(vec![1.0, 2.0, 3.0])),
        ("x", Values::numbers(vec![4.0, 5.0, 4.0])),
    ]);
    let rule = ColumnRule { kind: halfspaces_frame::Kind::Identifier, ..ColumnRule::default() };
    let mut record = ColumnRecord::new("id", rule);
    record.notes.push("`id` is left out; use --use 'id'".into());
    table.records.push(record);
    let (recipe, notes) = Recipe::fit(&table, &RecipeOptions::default()).unwrap();
    assert_eq!((recipe.coordinates(), notes.len()), (vec!["x".to_owned()], 1));
    let options = RecipeOptions { use_columns: vec!["id".into()], ..RecipeOptions::default() };
    let (recipe, notes) = Recipe::fit(&table, &options).unwrap();
    assert_eq!((recipe.coordinates().len(), notes.len()), (2, 0));
    assert!(recipe.hints(&[]).rules.contains_key("id"));
}

/// Entries are found by the column numbers in the file, whether the file counts columns from 0 or from 1.
#[test]
fn entries_are_found_by_their_numbers() {
    use halfspaces_frame::SparseBlock;
    let points = |rows: &[(u32, f64)]| {
        let mut points = SparsePoints::empty(3).unwrap();
        rows.iter().for_each(|(column, value)| points.push(&[*column], &[*value]).unwrap());
        points
    };
    let with = |points: SparsePoints, first: u32| {
        let rows = points.len();
        let block = Some(Block::Sparse(SparseBlock::new(points, "", first)));
        Frame { block, rows, ..frame(Vec::new()) }
    };
    // The entries have the column numbers 0 and 2.
    let zero_based = with(points(&[(0, 1.0), (2, 2.0)]), 0);
    let recipe = fit(&zero_based);
    assert_eq!(recipe.coordinates(), ["0", "2"]);
    // This file also has the column number 2, but not 0.
    let one_based = with(points(&[(1, 5.0), (0, 7.0)]), 1);
    let found = dense(recipe.apply(&one_based, Unseen::Error).unwrap());
    assert_eq!(found.as_slice(), [0.0, 5.0, 0.0, 0.0]);
}

/// A LIBSVM file and a sparse NPZ matrix have no column in common. A file that ends before most columns of the model is
/// noted.
#[test]
fn sparse_tables_need_the_columns_of_the_model() {
    use halfspaces_frame::SparseBlock;
    let with = |prefix: &str, first: u32, dim: u32| {
        let mut points = SparsePoints::empty(dim as usize).unwrap();
        (0..12).for_each(|row| points.push(&[row % dim], &[1.0 + f64::from(row)]).unwrap());
        let block = Some(Block::Sparse(SparseBlock::new(points, prefix, first)));
        Frame { block, rows: 12, ..frame(Vec::new()) }
    };
    let (libsvm, matrix) = (with("", 1, 12), with("x", 0, 12));
    for (learned, new, names) in [
        (&libsvm, &matrix, ["`x0` to `x11`", "`1` to `12`"]),
        (&matrix, &libsvm, ["`1` to `12`", "`x0` to `x11`"]),
    ] {
        let recipe = fit(learned);
        for unseen in [Unseen::Error, Unseen::Zero] {
            let error = recipe.apply(new, unseen).unwrap_err().to_string();
            assert!(names.iter().all(|name| error.contains(name)), "{error}");
        }
        assert!(recipe.apply(learned, Unseen::Error).is_ok());
        assert_eq!(recipe.gaps(learned, "y"), [""; 0]);
    }
    for (columns, notes) in [(5, 1), (6, 0)] {
        let found = fit(&libsvm).gaps(&with("", 1, columns), "y");
        assert_eq!(found.len(), notes, "{found:?}");
        assert!(found.iter().all(|note| note.contains("`5`") && note.contains("7 of 12")));
    }
}

/// A model that learned from an array of numbers reads an array of texts as numbers, and no note calls them categories.
#[test]
fn an_array_of_texts_is_read_as_the_numbers_of_the_model() {
    let block = Some(Block::dense("x", vec![1.0, 2.0, 3.0, 5.0], vec![0, 1]));
    let hints = fit(&Frame { block, rows: 2, ..frame(Vec::new()) }).hints(&[]);
    let array = |items: &[u8]| {
        let header = "{'descr': '|S3', 'fortran_order': False, 'shape': (2, 2), }\n";
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), items].concat()
    };
    let read = |items| read_bytes("t.npy", array(items), &ReadOptions::default(), &hints);
    let found = read(b"1.52.53.54.5").unwrap();
    assert!(matches!(found.columns[1].values, Values::Numbers(_)));
    assert!(found.records.iter().all(|record| record.notes.is_empty()), "{:?}", found.records);
    let error = read(b"1.52.53.5red").unwrap_err().to_string();
    assert!(error.contains("row 1, column `x1`: `red` is not a number"), "{error}");
}

/// A sparse table with entries, none of which is in a column of the model, is the wrong table. Rows without entries are
/// rows of zeros.
#[test]
fn a_sparse_table_needs_an_entry_in_a_column_of_the_model() {
    use halfspaces_frame::SparseBlock;
    let with = |rows: &[&[u32]]| {
        let mut points = SparsePoints::empty(500).unwrap();
        for (row, columns) in rows.iter().enumerate() {
            points.push(columns, &vec![1.0 + row as f64; columns.len()]).unwrap();
        }
        let block = Some(Block::Sparse(SparseBlock::new(points, "", 1)));
        Frame { block, rows: rows.len(), ..frame(Vec::new()) }
    };
    let recipe = fit(&with(&[&[3], &[], &[5]]));
    for known in [&[&[3, 400][..]][..], &[&[], &[400], &[5]], &[&[], &[]]] {
        assert!(recipe.check_known(&with(known)).is_ok(), "{known:?}");
    }
    let wrong = |rows: usize| {
        let row = |row: usize| if row == 0 { &[400][..] } else { &[4, 7] };
        let entered: Vec<&[u32]> = (0..rows).map(row).collect();
        recipe.check_known(&with(&[&[&[][..]][..], &entered].concat()))
    };
    assert!(wrong(9).is_ok());
    let error = wrong(10).unwrap_err().to_string();
    assert!(
        error.contains("no entry is in a column of the model, which are among `4` to `6`"),
        "{error}"
    );
    assert!(error.contains("the first entry is in column `401`"), "{error}");
    // A model of a text file has columns with the names of the indices.
    let text = fit(&frame(vec![("1", Values::numbers(vec![1.0, 2.0]))]));
    assert!(text.check_known(&with(&[&[0][..]; 10])).is_ok());
    assert!(text.check_known(&with(&[&[1][..]; 10])).is_err());
}

/// Categories with the same meaning are treated as the same category, unless the model has both.
#[test]
fn categories_are_found_by_their_meaning() {
    let learned = frame(vec![("c", texts(&["True", "False", "True"]))]);
    let new = frame(vec![("c", texts(&["true", "FALSE"]))]);
    let points = dense(fit(&learned).apply(&new, Unseen::Error).unwrap());
    assert_eq!(points.as_slice(), [0.0, 1.0, 1.0, 0.0]);
    // A number may be written in another form, but a code with an exponent is another category.
    let learned = frame(vec![("c", texts(&["12000", "300", "B7", "K2"]))]);
    for (cell, is_known) in
        [("12000.0", true), ("1.2E4", true), ("3e+02", true), ("12E3", false), ("3e2", false)]
    {
        let new = frame(vec![("c", texts(&[cell]))]);
        assert_eq!(fit(&learned).apply(&new, Unseen::Error).is_ok(), is_known, "{cell}");
    }
    let both = frame(vec![("c", texts(&["1", "1.0", "2"]))]);
    let new = frame(vec![("c", texts(&["1.00"]))]);
    assert!(fit(&both).apply(&new, Unseen::Error).is_err());
}

#[test]
fn repeated_numbers_far_outside_the_range_are_noted() {
    let column = |values: Vec<f64>| frame(vec![("x", Values::numbers(values))]);
    let recipe = fit(&column((0..100).map(f64::from).collect()));
    let with = |far: &[f64]| [&vec![5.0; 90][..], far].concat();
    // The range is 0 to 99, so numbers below -99 and above 198 are far outside.
    for (far, expected) in [
        (&[-999.0, 7.0, -999.0, -500.0][..], Some("`x`: -999 occurs 2 times")),
        (&[198.5, 198.5], Some("198.5 occurs 2 times")),
        (&[-99.5, -99.5, 500.0, 500.0, 500.0], Some("pass --missing 500")),
        (&[198.0, 198.0, -99.0, -99.0], None),
        (&[-999.0, 999.0], None),
        (&[f64::NAN, f64::NAN], None),
    ] {
        let notes = recipe.far_outside(&column(with(far)));
        match expected {
            Some(part) => assert!(notes.len() == 1 && notes[0].contains(part), "{notes:?}"),
            None => assert_eq!(notes, [""; 0]),
        }
    }
    let constant = frame(vec![("x", Values::numbers(vec![-9.0; 50]))]);
    assert_eq!(recipe.far_outside(&constant), [""; 0]);
}

/// The range is stored if the recipe was fitted to at least 100 numbers. A note is written if at least a tenth of at
/// least ten numbers are outside this range.
#[test]
fn numbers_outside_the_range_are_noted() {
    let column = |values: Vec<f64>| frame(vec![("x", Values::numbers(values))]);
    let rising = |n: u32| (0..n).map(f64::from).collect::<Vec<f64>>();
    let recipe = fit(&column(rising(100)));
    assert_eq!(fit(&column(rising(99))).outside(&column(vec![-1.0; 50])), None);
    for (inside, below, above, expected) in
        [(18, 1, 1, true), (19, 0, 1, false), (9, 1, 0, true), (8, 1, 0, false)]
    {
        let mut values = vec![0.0; inside - 1];
        values.push(99.0);
        values.extend(vec![-0.5; below]);
        values.extend(vec![99.5; above]);
        values.push(f64::NAN);
        let note = recipe.outside(&column(values));
        assert_eq!(note.is_some(), expected, "{inside} {below} {above} {note:?}");
        assert!(note.is_none_or(|note| note.contains("`x` 10 % (0 to 99)")));
    }
    // An absent column causes no note, and long lists are shortened.
    assert_eq!(recipe.outside(&frame(vec![("z", Values::numbers(vec![-1.0; 20]))])), None);
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let all = |values: Vec<f64>| {
        frame(names.iter().map(|name| (*name, Values::numbers(values.clone()))).collect())
    };
    let note = fit(&all(rising(100))).outside(&all(vec![-1.0; 20])).unwrap();
    assert!(note.contains("`e` 100 % (0 to 99) and 2 more columns"), "{note}");
}

/// A note counts the rows of a column of text in which no word is known, for listed and for hashed terms. Missing texts
/// and texts without words do not count.
#[test]
fn rows_without_a_known_word_are_noted() {
    for hash_bits in [None, Some(12)] {
        let learned = ["red apple", "green apple", "red pear", "green pear"];
        let text = |texts: &[&str], codes: Vec<u32>| {
            Frame::new(
                "t",
                vec![Column { name: "text".into(), values: Values::texts(codes, texts) }],
            )
        };
        let options =
            RecipeOptions { text: vec!["text".into()], hash_bits, ..RecipeOptions::default() };
        let (recipe, _) =
            Recipe::fit(&text(&learned, (0..12).map(|i| i % 4).collect()), &options).unwrap();
        assert_eq!(recipe.gaps(&text(&["a RED one", "!?"], vec![0, 0, 1]), "y"), [""; 0]);
        let notes = recipe.gaps(&text(&["pear", "blaue Birne"], vec![0, 1, 1, u32::MAX]), "y");
        let expected = "no known word in 2 of 4 rows of column `text` (for example ";
        assert_eq!(notes.iter().filter(|note| note.contains(expected)).count(), 1, "{notes:?}");
    }
}

/// The range of dates is stored and compared like that of numbers. Times without a date have no range.
#[test]
fn dates_outside_the_range_are_noted() {
    const DAY: i64 = 86_400_000_000;
    let dates = |days: &[i64]| {
        let moments = days.iter().map(|day| Some(day * DAY)).collect();
        frame(vec![("d", Values::moments(moments))])
    };
    let learned: Vec<i64> = (19_000..19_100).collect();
    let recipe = fit(&dates(&learned));
    // The ends of the range are inside.
    assert_eq!(recipe.outside(&dates(&[19_000; 10])), None);
    assert_eq!(recipe.outside(&dates(&[19_099; 10])), None);
    // One of eleven dates is outside, then one of ten.
    let new: Vec<i64> = (19_000..19_010).chain([19_100]).collect();
    assert_eq!(recipe.outside(&dates(&new)), None);
    for outside in [19_100, 18_999] {
        let new: Vec<i64> = (19_000..19_009).chain([outside]).collect();
        let note = recipe.outside(&dates(&new)).unwrap();
        assert!(note.contains("`d` 10 % (2022-01-08 to 2022-04-17)"), "{note}");
    }
    assert_eq!(fit(&dates(&learned[1..])).outside(&dates(&[0; 10])), None, "99 dates");
    let times = |hours: i64| {
        let moments = (0..100).map(|row| Some((row + hours) * DAY / 2400)).collect();
        frame(vec![("t", Values::moments(moments))])
    };
    assert_eq!(fit(&times(0)).outside(&times(50)), None);
}

/// A number whose square overflows is refused with its row and column, unless the column is not learned.
#[test]
fn numbers_that_are_too_large_are_named() {
    let check = |frame: &Frame, drop: &[&str]| {
        let drop = drop.iter().map(|name| (*name).to_owned()).collect();
        let (recipe, _) =
            Recipe::fit(frame, &RecipeOptions { drop, ..RecipeOptions::default() }).unwrap();
        recipe.check_sizes(frame).map_err(|error| error.to_string())
    };
    let with = |value: f64| {
        frame(vec![
            ("a", Values::numbers(vec![1.0, 2.0, 3.0])),
            ("b", Values::numbers(vec![1.0, 2.0, value])),
        ])
    };
    assert_eq!(check(&with(-1e150), &[]), Ok(()));
    let error = check(&with(-1.1e150), &[]).unwrap_err();
    assert!(error.contains("row 2, column `b`: -1.1e150 is so large"), "{error}");
    assert_eq!(check(&with(1e200), &["b"]), Ok(()));
    // The same holds for the cells of a matrix.
    let mut table = frame(vec![]);
    table.rows = 2;
    table.block = Some(Block::dense("x", vec![1.0, 2.0, 3.0, 2e150], vec![0, 1]));
    let error = check(&table, &[]).unwrap_err();
    assert!(error.contains("row 1, column `x1`: 2e150"), "{error}");
    assert_eq!(check(&table, &["x1"]), Ok(()));
}

/// Notes that say the same about more than five columns are merged. Other notes stay as they are.
#[test]
fn equal_notes_are_merged() {
    let table = |columns: usize| {
        let names: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
        let cells = |row: usize| {
            (0..columns).map(|at| format!("{row},{at}")).collect::<Vec<String>>().join(";")
        };
        let rows: Vec<String> = (0..20).map(cells).collect();
        let text = format!("{};d\n{};x\n", names.join(";"), rows.join(";x\n"));
        let hints = Hints::default();
        let frame = read_bytes("t.csv", text.into(), &ReadOptions::default(), &hints).unwrap();
        let options = RecipeOptions { keep_constant: true, ..RecipeOptions::default() };
        Recipe::fit(&frame, &options).unwrap().1
    };
    let notes = table(5);
    assert_eq!(notes.iter().filter(|note| note.contains("decimal comma")).count(), 5, "{notes:?}");
    let notes = table(6);
    let found: Vec<&String> = notes.iter().filter(|note| note.contains("decimal comma")).collect();
    assert_eq!(found.len(), 1, "{notes:?}");
    assert!(
        found[0].contains("column `c0`: numbers with a decimal comma (`0,0` is 0)"),
        "{found:?}"
    );
    assert!(
        found[0].ends_with("; the same for the columns `c1`, `c2`, `c3`, `c4`, `c5`"),
        "{found:?}"
    );
}

/// An index is left out even if constant columns are kept.
#[test]
fn an_index_is_left_out_although_constants_are_kept() {
    let text = "Unnamed: 0,a,c\n0,4,7\n1,6,7\n2,5,7\n";
    let hints = Hints::default();
    let frame = read_bytes("t.csv", text.into(), &ReadOptions::default(), &hints).unwrap();
    let options = RecipeOptions { keep_constant: true, ..RecipeOptions::default() };
    let (recipe, notes) = Recipe::fit(&frame, &options).unwrap();
    assert_eq!(recipe.coordinates(), ["a", "c"]);
    assert!(notes[0].contains("left out of learning"), "{notes:?}");
}

/// A note names the columns of the model that a table does not have.
#[test]
fn absent_columns_are_noted() {
    let numbers = || Values::numbers(vec![1.0, 2.0, 4.0]);
    let recipe = fit(&frame(vec![("a", numbers()), ("b", numbers())]));
    assert_eq!(recipe.gaps(&frame(vec![("b", numbers()), ("a", numbers())]), "y"), [""; 0]);
    for (table, expected) in [
        (frame(vec![("A", numbers()), ("b", numbers())]), "of the model: `a`; with"),
        (frame(vec![("c", numbers())]), "of the model: `a`, `b`; with"),
    ] {
        let notes = recipe.gaps(&table, "y");
        assert!(notes.len() == 1 && notes[0].contains(expected), "{notes:?}");
    }
}
