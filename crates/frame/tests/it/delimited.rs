//! Tests of delimited text in the forms that other programs and people write.

use halfspaces_frame::{
    Decimal, Frame, Hints, Ragged, ReadOptions, Remark, inspect_bytes, read_bytes,
};

fn read_with(text: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Frame, String> {
    let bytes = text.as_ref().to_vec();
    read_bytes("t.csv", bytes, options, &Hints::default()).map_err(|error| error.to_string())
}

fn read(text: impl AsRef<[u8]>) -> Frame {
    read_with(text, &ReadOptions::default()).unwrap()
}

fn refused(text: impl AsRef<[u8]>) -> String {
    read_with(text, &ReadOptions::default()).unwrap_err()
}

/// The table as `inspect` writes it.
fn plain(text: impl AsRef<[u8]>) -> String {
    let inspection =
        inspect_bytes("t.csv", text.as_ref().to_vec(), &ReadOptions::default()).unwrap();
    let mut table = Vec::new();
    inspection.write_csv(&mut table).unwrap();
    String::from_utf8(table).unwrap()
}

fn says(frame: &Frame, words: &str) -> bool {
    frame.notes.iter().any(|note| note.contains(words))
}

fn names(frame: &Frame) -> Vec<String> {
    frame.columns.iter().map(|column| column.name.clone()).collect()
}

fn texts(frame: &Frame, name: &str) -> Vec<String> {
    let values = frame.column(name).unwrap();
    (0..frame.rows).map(|row| values.text(row)).collect()
}

#[test]
fn quotation_marks_in_texts_lose_no_rows() {
    let mut text = String::from("id\tbody\tkind\n");
    for i in 0..30 {
        let body = match i {
            4 => "\"Great service, they said".to_owned(),
            9 => "a screen of 24\"".to_owned(),
            11 => "\"Wow\" is what I thought".to_owned(),
            _ => format!("text number {i}"),
        };
        text += &format!("{i}\t{body}\t{}\n", if i % 2 == 0 { "x" } else { "y" });
    }
    let frame = read(&text);
    assert_eq!(frame.rows, 30);
    assert_eq!(texts(&frame, "body")[4], "\"Great service, they said");
    assert_eq!(texts(&frame, "body")[9], "a screen of 24\"");
    assert!(says(&frame, "line 6"), "{:?}", frame.notes);
}

#[test]
fn one_lost_quote_among_many_valid_ones_keeps_its_row() {
    let mut text = String::from("a,b,c\n");
    for i in 0..20 {
        let b = if i == 7 { "\"lost".to_owned() } else { format!("\"one, two {i}\"") };
        text += &format!("{i},{b},z\n");
    }
    let frame = read(&text);
    assert_eq!((frame.rows, texts(&frame, "b")[7].as_str()), (20, "\"lost"));
    assert!(says(&frame, "line 9"), "{:?}", frame.notes);
    assert_eq!(texts(&frame, "b")[8], "one, two 8");
}

#[test]
fn quoted_cells_may_contain_delimiters_line_ends_and_quotes() {
    let frame = read("body;stars\n\"good;\nvery \"\"good\"\"\";5\nplain;3\n\"a;b\";4\n");
    assert_eq!(texts(&frame, "body"), ["good;\nvery \"good\"", "plain", "a;b"]);
    assert_eq!((frame.place(1), frame.place(2)), ("t.csv, line 4".into(), "t.csv, line 5".into()));
    let frame = read("body,y\n\"he said \\\"no\\\", then\",1\n\"x, \\\"yes\\\"\",2\n");
    assert_eq!(texts(&frame, "body"), ["he said \"no\", then", "x, \"yes\""]);
}

#[test]
fn lines_are_numbered_as_in_the_file() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["# by hand", "", "a,b", "1,x", "", "2,y", ""].join(end);
        let frame = read(&text);
        assert_eq!((frame.rows, frame.place(1)), (2, "t.csv, line 6".into()), "{end:?}");
        assert!(says(&frame, "above the table"), "{:?}", frame.notes);
    }
}

#[test]
fn blank_lines_are_rows_of_a_table_of_one_column() {
    let frame = read("comment\ngood\n\nbad\n \nso so\n");
    assert_eq!((frame.rows, frame.place(4)), (5, "t.csv, line 6".into()));
    assert!(frame.column("comment").unwrap().is_missing(1));
    assert!(says(&frame, "blank"), "{:?}", frame.notes);
}

/// In a table with one column, blank lines at the end are not rows, even if every row is kept for a prediction. An empty
/// cell in quotes, which other programs write for a missing value, is a row.
#[test]
fn blank_lines_end_a_table_of_one_column() {
    for (end, rows, blank) in [
        ("", 3, None),
        ("\n", 3, Some("1 blank line at the end is left out, starting at line 5")),
        ("\r\n \n\n", 3, Some("3 blank lines at the end are left out, starting at line 5")),
        ("\n\n ", 3, Some("3 blank lines at the end are left out, starting at line 5")),
        ("\"\"\n", 4, None),
        ("\n\"\"\n\"\"\n\n", 6, Some("1 blank line at the end is left out, starting at line 8")),
    ] {
        let text = format!("x\n1\n\n2\n{end}");
        for keeps_rows in [false, true] {
            let hints = Hints { keeps_rows, ..Hints::default() };
            let options = ReadOptions::default();
            let frame = read_bytes("t.csv", text.clone().into(), &options, &hints).unwrap();
            assert_eq!((frame.rows, frame.place(2)), (rows, "t.csv, line 4".into()), "{text:?}");
            let left_out: Vec<_> = frame.notes.iter().filter(|n| n.contains("left out")).collect();
            assert_eq!(left_out.len(), usize::from(blank.is_some()), "{left_out:?}");
            assert!(blank.is_none_or(|blank| says(&frame, blank)), "{left_out:?}");
        }
    }
}

/// The name of an expected column as the whole first line says that the table has one column.
#[test]
fn an_expected_column_can_be_the_only_one() {
    let text = "price\n1 000\n2 500\n6 000\n";
    let read = |expected: &str| {
        let hints = Hints { expected: [expected.to_owned()].into(), ..Hints::default() };
        read_bytes("t.csv", text.into(), &ReadOptions::default(), &hints).unwrap()
    };
    let frame = read("price");
    assert_eq!((names(&frame), frame.rows), (vec!["price".to_owned()], 3));
    assert_eq!(texts(&frame, "price"), ["1000", "2500", "6000"]);
}

/// A decimal comma that is asked for but contradicted by the cells is noted.
#[test]
fn an_unused_decimal_comma_is_noted() {
    let comma = ReadOptions { decimal: Some(Decimal::Comma), ..ReadOptions::default() };
    for (text, is_noted) in [
        ("a;y\n0.5;p\n3.5;q\n1.5;p\n", true),
        ("a;y\n0,5;p\n3,5;q\n1,5;p\n", false),
        ("a;y\n5;p\n3;q\n1;p\n", false),
    ] {
        let frame = read_with(text, &comma).unwrap();
        let notes: Vec<String> = frame.records.iter().flat_map(|of| of.notes.clone()).collect();
        let found = notes.iter().any(|note| note.contains("--decimal , is not applied"));
        assert_eq!(found, is_noted, "{text} {notes:?}");
    }
}

#[test]
fn zero_bytes_are_named() {
    let error = refused("a,b,y\n1,2,p\n3,\u{0}4,q\n");
    assert!(error.contains("line 3: a zero byte"), "{error}");
    let binary: String = (0..64_u8).map(|at| char::from(at % 8)).collect();
    assert!(refused(&binary).contains("unknown binary format"));
}

#[test]
fn ragged_rows_are_refused_padded_or_skipped() {
    let text = "a,b,c\n1,p,x\n3,q\n5,r,z\n7,s,w,9\n";
    let error = refused(text);
    for part in ["line 3", "line 5", "2 rows", "--ragged pad", "without quotes"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let how = |ragged| ReadOptions { ragged, ..ReadOptions::default() };
    let frame = read_with(text, &how(Ragged::Skip)).unwrap();
    assert_eq!((frame.rows, names(&frame)), (2, vec!["a".into(), "b".into(), "c".into()]));
    let frame = read_with(text, &how(Ragged::Pad)).unwrap();
    assert_eq!((frame.rows, names(&frame).len(), names(&frame)[3].as_str()), (4, 4, "c4"));
    assert!(says(&frame, "line 3") && says(&frame, "line 5"), "{:?}", frame.notes);
    assert_eq!(texts(&frame, "c4"), ["", "", "", "9"]);
    let reading = frame.reading.unwrap();
    assert_eq!((reading.ragged_rows, reading.rows), (2, 4));
}

#[test]
fn headers_shorter_or_longer_than_rows_are_understood() {
    let frame = read("\"Length\" \"Kind\"\n\"1\" 5.1 \"a b\"\n\"2\" 4.5 \"c\"\n\"3\" 4.7 \"d\"\n");
    assert_eq!((names(&frame), frame.rows), (vec!["Length".into(), "Kind".into()], 3));
    assert!(says(&frame, "row names"), "{:?}", frame.notes);
    let frame = read("a,b\n1,x,\n2,y,\n3,z,\n");
    assert_eq!(names(&frame), ["a", "b"]);
    assert!(says(&frame, "end with a delimiter"), "{:?}", frame.notes);
    let frame = read("a,b,\n1,x,\n2,y,\n3,z,\n");
    assert_eq!(names(&frame), ["a", "b"]);
}

#[test]
fn a_first_line_names_the_delimiter() {
    let frame = read("sep=|\na|b\n1,5|x\n2,5|y\n");
    assert_eq!(
        (names(&frame), frame.place(0)),
        (vec!["a".into(), "b".into()], "t.csv, line 3".into())
    );
    assert!(says(&frame, "sets `|` as the delimiter"), "{:?}", frame.notes);
}

#[test]
fn lines_above_and_below_the_table_are_left_out() {
    let text = "Report of May,,\nby the office,,\n,,\nname,size,price\nA,1.5,3\nB,2.5,4\nC,3.5,5\n,,\nSource: the office,,\n";
    let frame = read(text);
    assert_eq!((frame.rows, names(&frame).len()), (3, 3));
    assert!(
        says(&frame, "lines 1 to 3 above")
            && says(&frame, "line 9, after the table, is left out as a footnote")
            && says(&frame, "1 empty row at the end is left out, starting at line 8"),
        "{:?}",
        frame.notes
    );
    let reading = frame.reading.unwrap();
    assert_eq!((reading.preamble_lines, reading.footnotes), (3, Some((9, 9))));
    let frame = read("x y\n1.0 2.0\n3.0 4.5\n");
    assert_eq!(names(&frame), ["x", "y"]);
    let frame = read("# x y\n1.0 2.0\n3.0 4.5\n");
    assert_eq!(names(&frame), ["x", "y"]);
}

/// The first row may contain numbers that could be years. It is data if few of its numbers could be years, or if its
/// words occur again in other rows. If the row is read as names, a note says so.
#[test]
fn names_that_are_numbers_are_noted() {
    for data in
        ["ford,1500,red,sold\nfiat,800,blue,open\nford,3200,red,open\n", "1200,x\n450,y\n700,x\n"]
    {
        let frame = read(data);
        assert_eq!(frame.rows, 3, "{data}");
        assert!(says(&frame, "the first line is read as data"), "{:?}", frame.notes);
    }
    for (text, shown) in [
        ("country,1990,1991,1992,1993\nat,1,2,3.5,4\nde,2,3,4,1\n", "`1990`, `1991`, `1992`"),
        ("1,2,3,4\n7,1,9,5\n5,0,2,8\n", "`1`, `2`, `3`"),
        ("none yet,1500,3\n5,20,7\n6,30,8\n7,10,9\n8,11,9\n", "`1500`, `3`"),
    ] {
        let frame = read(text);
        let note = format!(
            "t.csv: line 1, which contains {shown}, is read as the names of the columns; pass --no-header if it is data"
        );
        assert!(frame.notes.contains(&note), "{:?}", frame.notes);
    }
    assert!(!says(&read("a,b,y\n1,2,x\n3,4,z\n"), "--no-header"));
}

#[test]
fn names_of_two_lines_are_joined() {
    let frame = read("bp,,lg,\nX,Y,X,Y\n1.5,2.5,3.5,4.5\n5.5,6.5,7.5,8.5\n6,7,8,9\n");
    assert_eq!(names(&frame), ["bp X", "bp Y", "lg X", "lg Y"]);
    assert!(says(&frame, "lines 1 to 2"), "{:?}", frame.notes);
    // A name that ends like the text above it is a part of the name.
    let frame = read("Velocity,,,y\nx,y,z,y\n1.5,2.5,3.5,4.5\n5.5,6.5,7.5,8.5\n6,7,8,9\n");
    assert_eq!(names(&frame), ["Velocity x", "Velocity y", "Velocity z", "y"]);
    // If the user requests a header, it is one line.
    let text = "age,weight,y\nnot measured,refused,none\n20,60,ok\n21,61,sick\n";
    for (header, lines, rows) in [(None, 2, 2), (Some(true), 1, 3)] {
        let options = ReadOptions { header, ..ReadOptions::default() };
        let reading = inspect_bytes("t.csv", text.into(), &options).unwrap().reading;
        assert_eq!((reading.header_lines, reading.rows), (lines, rows));
    }
}

#[test]
fn duplicate_names_are_refused_and_never_data() {
    let error = refused("t,hum,hum\n1.5,2.5,3.5\n2.5,3.5,4.5\n");
    assert!(error.contains("two columns are named `hum`"), "{error}");
}

/// A row can have a cell after an empty one that looks like a delimiter at the end of the row.
#[test]
fn a_late_cell_after_an_empty_one_has_its_column() {
    let text = "b,y\n1,p,\n2,n,\n3,p,,red\n4,n,\n";
    let options = ReadOptions { ragged: Ragged::Pad, ..ReadOptions::default() };
    let frame = read_with(text, &options).unwrap();
    assert_eq!(
        (frame.rows, names(&frame)),
        (4, ["b", "y", "c3", "c4"].map(str::to_owned).to_vec())
    );
    assert_eq!(texts(&frame, "c4"), ["", "", "red", ""]);
    assert!(refused(text).contains("line 4"), "{}", refused(text));
}

#[test]
fn another_table_and_repeated_headers_are_noted() {
    let text = "a,b,c\n1,2,x\n3,4,y\n5,6,z\nname,price\nA,1.5\nB,2.5\n";
    let frame = read(text);
    assert_eq!(frame.rows, 3);
    assert!(says(&frame, "another table begins at line 5"), "{:?}", frame.notes);
    let texts = "text,y\na fine day,p\na dull day,n\n";
    let frame = read(texts.to_owned() + texts);
    assert_eq!((frame.rows, names(&frame)), (4, vec!["text".to_owned(), "y".into()]));
    assert!(says(&frame, "line 4 is left out (repeated header)"), "{:?}", frame.notes);
    let frame = read("a,b\n1,x\n2,y\na,b\n3,z\n");
    assert_eq!(frame.rows, 3);
    assert!(says(&frame, "line 4 is left out (repeated header)"), "{:?}", frame.notes);
}

/// A repeated header is left out wherever it is: between rows, after blank lines or empty rows, and at the end. The same
/// is true if every row is kept for a prediction, and in a stream.
#[test]
fn repeated_headers_after_blank_lines_are_left_out() {
    let part = |count: usize| {
        let row = |i: usize| format!("w{},{i},{}\n", i % 3, ["p", "q"][i % 2]);
        format!("c,d,y\n{}", (0..count).map(row).collect::<String>())
    };
    let last = |text: &str| text.lines().count() as u64;
    for gap in ["", "\n", "\n \n\n", "# a comment,\n\n"] {
        for (first, second) in [(60, 60), (2, 1), (60, 0)] {
            let text = part(first) + gap + &part(second);
            let header = first + 2 + gap.lines().count();
            for keeps_rows in [false, true] {
                let hints = Hints { keeps_rows, ..Hints::default() };
                let options = ReadOptions { ragged: Ragged::Skip, ..ReadOptions::default() };
                let frame = read_bytes("t.csv", text.clone().into(), &options, &hints).unwrap();
                assert_eq!(frame.rows, first + second, "{text}");
                let note = format!("line {header} is left out (repeated header)");
                assert!(says(&frame, &note), "{:?}", frame.notes);
                if second > 0 {
                    let place = format!("t.csv, line {}", last(&text));
                    assert_eq!(frame.place(frame.rows - 1), place);
                }
            }
        }
    }
    let frame = read("c,d,y\n1,2,p\n,,\nc,d,y\n3,4,q\n");
    assert_eq!((frame.rows, frame.place(2)), (3, "t.csv, line 5".into()));
}

/// If a program concatenates files, each of them may begin with a byte order mark.
#[test]
fn byte_order_marks_between_lines_are_no_part_of_cells() {
    let part = |rows: std::ops::Range<usize>| {
        let row = |i: usize| format!("word {},{},{}\n", i % 3, i, ["p", "q"][i % 2]);
        format!("\u{feff}text,n,y\n{}", rows.map(row).collect::<String>())
    };
    // The text is long enough that some of its lines are read as plain lines.
    let frame = read(part(0..100) + &part(100..200));
    assert_eq!((frame.rows, frame.names()), (200, vec!["text".into(), "n".into(), "y".into()]));
    assert!(says(&frame, "line 102 is left out (repeated header)"), "{:?}", frame.notes);
    let frame = read(part(0..100) + "\u{feff}" + &part(100..101)["\u{feff}text,n,y\n".len()..]);
    assert_eq!(frame.rows, 101);
    assert_eq!(frame.column("text").unwrap().text(100), "word 1");
}

#[test]
fn columns_aligned_by_blanks_are_read() {
    let row = |i: usize| {
        format!("{:<8}{:>6}  {}\n", format!("lamp{i}"), i * i % 90, ["red", "blue"][i % 2])
    };
    let frame = read(format!("name      size  kind\n{}", (0..50).map(row).collect::<String>()));
    assert_eq!(
        (frame.rows, frame.names()),
        (50, vec!["name".into(), "size".into(), "kind".into()])
    );
    assert_eq!(frame.column("kind").unwrap().text(49), "blue");
}

/// A number that is written like a code causes a note, both in columns that are read as numbers and in columns that are
/// kept as text and typed later.
#[test]
fn numbers_written_as_codes_are_noted() {
    for (code, reading) in [("02134", "without its leading zero"), ("5E3", "with an exponent")] {
        let text = format!("zip,n\n12345,1\n{code},2\n00501,3\n");
        let what = format!(
            "column `zip`: {code} is read as a number, {reading}; use --category 'zip' if it is a code"
        );
        let frame = read(text.clone());
        let remark = Remark::Code { number: 3, cell: code.into() };
        assert_eq!((frame.remark("zip"), frame.remark("n")), (Some(&remark), None));
        let said = frame.about("zip", &remark);
        assert!(said.starts_with(&format!("t.csv, line 3, {what}")), "{said}");
        let options = ReadOptions::default();
        let frame = read_bytes("t.csv", text.into(), &options, &Hints::texts(["zip"])).unwrap();
        assert_eq!((frame.remark("zip"), texts(&frame, "zip")[1].as_str()), (None, code));
        let (_, record) = frame.inferred("zip", &options).unwrap().unwrap();
        let notes: Vec<_> = record.notes.iter().filter(|note| note.contains(&what)).collect();
        assert_eq!(notes.len(), 1, "{:?}", record.notes);
    }
}

/// A first column of times with an offset does not look like the whole line.
#[test]
fn times_with_an_offset_do_not_hide_the_delimiter() {
    for time in ["T21:32:00Z", "T21:32:00+01:00", " 21:32:00.123Z", "T21:32Z", " 21:32:00 UTC"] {
        for delimiter in [";", "|", "\t", ","] {
            let row = |i: usize| format!("2024-01-{i:02}{time}{delimiter}{i}{delimiter}p\n");
            let head = format!("time{delimiter}num{delimiter}y\n");
            let frame = read(head + &(1..20).map(row).collect::<String>());
            assert_eq!(names(&frame), ["time", "num", "y"], "{time} {delimiter}");
            assert_eq!(frame.rows, 19);
        }
    }
}

/// A number without a leading minus sign that is read as negative causes a note, wherever it is in the column.
#[test]
fn signs_after_numbers_are_noted() {
    for (cell, note) in [
        ("5-", "a minus sign after a number, as in `5-`, is read as its sign"),
        ("(5)", "a number in parentheses, such as `(5)`, is read as negative"),
    ] {
        for (text, line) in
            [(format!("x,n\n7,1\n{cell},2\n8-,3\n"), 3), (format!("x,n\n{cell},1\n7,2\n8,3\n"), 2)]
        {
            let frame = read(text);
            assert_eq!(frame.column("x").unwrap().text(line - 2), "-5", "{cell}");
            let remark = frame.remark("x").map(|remark| frame.about("x", remark));
            let record = frame.record("x").map(|record| record.notes.join("\n"));
            let said = remark.into_iter().chain(record).collect::<String>();
            assert!(said.contains(note), "{cell}: {said}");
            assert_eq!(frame.remark("n"), None);
        }
    }
}

/// If the first line has all expected names, the second line is a row, even if it could contain further names.
#[test]
fn a_first_row_of_markers_is_no_second_line_of_names() {
    let rows: String = (0..20).map(|i| format!("{i}.5,{},yes\n", i % 3)).collect();
    for marker in ["n.a.", "missing", "#DIV/0!"] {
        let text = format!("temp,flow,y\n{marker},{marker},\n{rows}");
        let hints = Hints::texts(["y"]);
        let frame = read_bytes("t.csv", text.into(), &ReadOptions::default(), &hints).unwrap();
        assert_eq!((names(&frame).join(","), frame.rows), ("temp,flow,y".to_owned(), 21));
    }
}

/// In a table of categories, nothing but its rarity shows that a line contains names.
#[test]
fn a_second_line_of_names_above_categories_is_noted() {
    let row = |i: usize| format!("{},{}\n", ["red", "blue"][i % 2], ["yes", "no", "maybe"][i % 3]);
    let rows = |count| (0..count).map(row).collect::<String>();
    let noted = |text: String| says(&read(text), "line 2 is read as data, but none of its cells");
    assert!(noted(format!("c,y\nFarbe,Ziel\n{}", rows(12))));
    assert!(noted(format!("c,y\nFarbe,Ziel\n{}", rows(10))));
    for text in [
        format!("c,y\nFarbe,yes\n{}", rows(12)),
        format!("c,y\n{}", rows(12)),
        format!("c,y\nFarbe,Ziel\n{}green,no\n", rows(12)),
        format!("c,y\nFarbe,Ziel\n{}", rows(9)),
    ] {
        assert!(!noted(text.clone()), "{text}");
    }
}

#[test]
fn a_cut_off_last_row_is_an_error() {
    for gap in ["", "\n"] {
        let error = refused(format!("a,b,c\n1,2,x\n3,4,y\n{gap}5,6\n"));
        assert!(error.contains("2 cells"), "{error}");
    }
}

#[test]
fn a_line_of_dashes_under_the_names_is_no_row() {
    let frame = read("name,x,y\n----,--,-\nann,1,a\nbob,2,b\n");
    assert_eq!((frame.rows, texts(&frame, "y")), (2, vec!["a".to_owned(), "b".to_owned()]));
    assert!(says(&frame, "line 2, which contains only dashes, is left out"), "{:?}", frame.notes);
    assert_eq!(frame.place(0), "t.csv, line 3");
    // In Markdown, lines begin and end with the delimiter, and colons show the alignment.
    let markdown = "|name|x|y|\n|:---|--:|:-:|\n|ann|1|a|\n|bob|2|b|\n";
    let frame = read(markdown);
    assert_eq!((frame.rows, texts(&frame, "y")), (2, vec!["a".to_owned(), "b".to_owned()]));
    // The line of dashes ends the names in any table, whatever is known about it before.
    for (text, width) in [
        ("| a | b | y |\n|---|---|---|\n| 1.5 | 2 | p |\n| 2.5 | 4 | q |\n", 3),
        (" a | b | y\n---+---+---\n 1.5 | 2 | p\n 2.5 | 4 | q\n", 3),
        ("a,y\n---,---\nu,p\nv,q\nu,q\n", 2),
    ] {
        for hints in [Hints::default(), Hints::texts(["y"])] {
            let options = ReadOptions::default();
            let frame = read_bytes("t.csv", text.into(), &options, &hints).unwrap();
            assert_eq!(
                (names(&frame).len(), texts(&frame, "y")[0].as_str()),
                (width, "p"),
                "{text}"
            );
            assert!(says(&frame, "line 2, which contains only dashes"), "{:?}", frame.notes);
        }
    }
    // A row that consists of markers of missing values counts as a row of data.
    let frame = read("x,y\n-,-\n1,2\n3,4\n");
    assert_eq!((frame.rows, frame.column("x").unwrap().missing()), (3, 1));
    let frame = read("x,y\n--,1\n1,2\n3,4\n");
    assert_eq!(frame.rows, 3);
}

#[test]
fn encodings_are_detected_and_noted() {
    let text = "name,y\ngröße,1.5\nälter,2.5\n";
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let frame = read(latin);
    assert_eq!(texts(&frame, "name")[0], "größe");
    assert!(says(&frame, "windows-1252"), "{:?}", frame.notes);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(texts(&read(&utf16), "name")[1], "älter");
    let marked = [b"\xff\xfe".to_vec(), utf16].concat();
    assert_eq!(texts(&read(marked), "name")[1], "älter");
    let marked = [b"\xef\xbb\xbf".to_vec(), text.as_bytes().to_vec()].concat();
    assert_eq!(names(&read(marked)), ["name", "y"]);
}

#[test]
fn other_formats_are_named() {
    for (text, word) in [
        ("{\"a\":1,\"y\":\"u\"}\n{\"a\":2,\"y\":\"v\"}\n", "JSON lines"),
        ("@relation r\n@attribute a numeric\n@data\n1\n", "ARFF"),
        ("<html><table><tr><td>1</td></tr></table></html>", "HTML"),
    ] {
        assert!(refused(text).contains(word));
    }
}

#[test]
fn messages_are_short_regardless_of_cells() {
    let long = "7".repeat(1_000_000);
    let wide = format!("a,y\n1,x\n2,z,{long}\n");
    assert!(refused(wide).len() < 2000);
    let mut many = String::from("a,b\n");
    for i in 0..50_000 {
        many += if i % 3 == 0 { "1,2,3\n" } else { "1,2\n" };
    }
    assert!(refused(many).len() < 2000);
}

#[test]
fn plain_csv_has_unchanged_cells() {
    assert_eq!(plain("a;b\n1,50;\"x;y\"\n007;z\n"), "a,b\n\"1,50\",x;y\n007,z\n");
    assert_eq!(plain("1.50 2\n3.25 4\n"), "1.50,2\n3.25,4\n");
    assert_eq!(plain("a, b\n1, x\n2, y\n"), "a,b\n1,x\n2,y\n");
    assert_eq!(plain(""), "");
}

#[test]
fn wide_tables_take_linear_time() {
    let columns = 100_000;
    let header: Vec<String> = (0..columns).map(|i| format!("x{i}")).collect();
    let row =
        |r: usize| (0..columns).map(|i| (i * r % 97).to_string()).collect::<Vec<_>>().join(",");
    let text = format!("{}\n{}\n{}\n{}\n", header.join(","), row(1), row(2), row(3));
    let frame = read(text);
    assert_eq!((frame.rows, frame.columns.len()), (3, columns));
}

#[test]
fn rows_of_very_different_lengths_are_not_padded() {
    let mut text = ",".repeat(5_000) + "\n";
    text += &"1\n".repeat(50_000);
    for ragged in [Ragged::Error, Ragged::Pad, Ragged::Skip] {
        let options = ReadOptions { ragged, ..ReadOptions::default() };
        if let Ok(frame) = read_with(&text, &options) {
            assert!(frame.rows * frame.columns.len() < 3_000_000, "{ragged:?}");
        }
    }
}

/// A quoted text of several lines is one cell, even if each of its lines has as many commas as a row of the table.
#[test]
fn lines_of_a_quoted_text_are_no_rows() {
    for end in ["\n", "\r\n"] {
        let rows: Vec<String> = (0..40)
            .map(|i| {
                format!("\"word {i}, said \"\"ok\"\"{end}line two {i}\",{}{end}", ["p", "q"][i % 2])
            })
            .collect();
        let frame = read(format!("t,y{end}{}", rows.concat()));
        assert_eq!((frame.rows, frame.column_count()), (40, 2));
        let text = frame.column("t").unwrap().text(7);
        assert_eq!(text.replace("\r\n", "\n"), "word 7, said \"ok\"\nline two 7");
        assert!(frame.notes.iter().any(|note| note.contains("cells that span several lines")));
    }
    // The same holds if the table contains only one such text among other texts.
    let mut rows: Vec<String> =
        (0..40).map(|i| format!("word{i},{}\n", ["p", "q"][i % 2])).collect();
    rows[20] = "\"word, said \"\"ok\"\"\nline two\",p\n".into();
    assert_eq!(read(format!("t,y\n{}", rows.concat())).rows, 40);
    let mut numbered: Vec<String> = (0..40).map(|i| format!("{i},word{i},{i}\n")).collect();
    numbered[20] = "20,\"word, said\nline, two\",7\n".into();
    assert_eq!(read(format!("id,t,y\n{}", numbered.concat())).rows, 40);
    // The lines of these texts cannot be rows, so there is no ambiguity.
    for (header, row) in [
        ("id,t,y", "0,\"word, said \"\"ok\"\"\nline two\",p\n"),
        ("y,t", "p,\"word, said \"\"ok\"\"\nline, two\"\n"),
        ("t,y", "\"\"\"Hi,\"\" she said.\n\"\"Bye, 0,\"\" he said.\",p\n"),
    ] {
        let frame = read(format!("{header}\n{}", row.repeat(40)));
        assert_eq!((frame.rows, frame.column_count()), (40, header.split(',').count()), "{row}");
    }
    // Two ditto marks, which repeat the cell above, do not enclose a quoted text. Neither do two inch marks.
    let ditto = "name,y\na,p\nb,\"\nc,\"\nd,q\n";
    assert_eq!(read(ditto).rows, 4);
}

#[test]
fn a_cell_named_like_a_missing_column_is_no_header() {
    let text = "a,b,class\n7,1,q\n14,2,q\n21,3,p\n28,4,p\n";
    for name in ["2", "q", "p"] {
        let hints = Hints::verbatim([name]);
        let read = read_bytes("t.csv", text.into(), &ReadOptions::default(), &hints).unwrap();
        assert_eq!(read.rows, 4, "{name}");
        assert!(read.has("class") && !read.has(name), "{name}");
    }
    // A title line above the header may look like data.
    let titled = "report,1\nname,class\na,p\nb,q\nc,p\n";
    let hints = Hints::verbatim(["class"]);
    assert_eq!(
        read_bytes("t.csv", titled.into(), &ReadOptions::default(), &hints).unwrap().rows,
        3
    );
}

/// Names such as c1 are expected if a model was fitted to a file without names.
#[test]
fn a_header_is_noted_if_none_is_expected() {
    let noted = |text: &str, names: [&str; 2]| {
        let (options, hints) = (ReadOptions::default(), Hints::texts(names));
        let frame = read_bytes("t.csv", text.into(), &options, &hints).unwrap();
        (frame.rows, says(&frame, "line 1 looks like column names"))
    };
    let rows = "3,x\n7,y\n8,x\n";
    assert_eq!(noted(&format!("size,colour\n{rows}"), ["c1", "c2"]), (4, true));
    assert_eq!(noted(rows, ["c1", "c2"]), (3, false));
    assert_eq!(noted(&format!("size,colour\n{rows}"), ["size", "colour"]), (3, false));
}

#[test]
fn lists_inside_cells_do_not_decide_the_delimiter() {
    for (cell, delimiter) in [("a;b;c", ','), ("a|b|c", ','), ("a,b,c", ';')] {
        let rows: String =
            (0..30).map(|i| format!("{cell}{i}{delimiter}{}\n", ["q", "p"][i % 2])).collect();
        let frame = read(format!("genres{delimiter}y\n{rows}"));
        assert_eq!((frame.rows, frame.column_count()), (30, 2), "{cell}");
        assert_eq!(frame.column("genres").unwrap().text(3), format!("{cell}3"));
    }
}

/// If the rows have names, every row is one cell longer than the header. If only some rows are longer, the rows have no
/// names.
#[test]
fn some_longer_rows_do_not_move_the_header() {
    let rows: String = (0..6)
        .map(|i| if i % 2 == 0 { format!("{i},2,u,note\n") } else { format!("{i},7,v\n") })
        .collect();
    let text = format!("a,b,y\n{rows}");
    assert!(refused(&text).contains("the header in line 1 has 3 names"), "{}", refused(&text));
    let padded = ReadOptions { ragged: Ragged::Pad, ..ReadOptions::default() };
    let frame = read_with(&text, &padded).unwrap();
    assert_eq!(
        (frame.column("a").unwrap().text(1), frame.column("y").unwrap().text(1)),
        ("1".into(), "v".into())
    );
    assert_eq!(frame.column("c4").unwrap().text(0), "note");
    // Two more columns exist only in longer rows, and in the second one, texts follow numbers.
    let narrow = "1,u\n2,v\n".repeat(6);
    let long = "2,v,3,4\n5,u,6,none yet\n7,v,8,soon\n9,u,5,late\n";
    let frame = read_with(format!("a,y\n{narrow}{long}"), &padded).unwrap();
    let (third, fourth) = (frame.column("c3").unwrap(), frame.column("c4").unwrap());
    assert_eq!(
        (third.text(12), fourth.text(12), fourth.text(13)),
        ("3".into(), "4".into(), "none yet".into())
    );
    // The written table is the same as the table that is shown.
    assert_eq!(plain("a,b,y\n1,2,u\n3,4\n5,6,v,extra\n"), "a,b,y,c4\n1,2,u,\n3,4,,\n5,6,v,extra\n");
    assert_eq!(plain("id, name ,y\n1, a ,u\n2,b,v\n"), "id, name ,y\n1, a ,u\n2,b,v\n");
}

#[test]
fn a_text_file_without_a_header_loses_no_text() {
    let rows: String = (0..30).map(|i| format!("the service number {i} was quite bad\n")).collect();
    assert_eq!(read(&rows).rows, 30);
    let named = read(format!("review\n{rows}"));
    assert_eq!(named.rows, 30);
    assert!(named.notes.iter().any(|note| note.contains("pass --no-header")), "{:?}", named.notes);
}

#[test]
fn one_line_in_another_encoding_is_named() {
    let mut text = "t,y\n".to_owned().into_bytes();
    for i in 0..40 {
        text.extend(format!("größe {i},thé\n").bytes());
    }
    assert!(read(&text).notes.is_empty());
    text.extend(b"caf\xe9,th\xe9\n");
    let error = refused(&text);
    assert!(error.contains("t.csv, line 42: not UTF-8"), "{error}");
    // All lines of this file are in windows-1252.
    assert!(read(b"t,y\ncaf\xe9,a\nth\xe9,b\n").notes[0].contains("windows-1252"));
}

#[test]
fn years_of_two_digits_are_announced() {
    let rows: String = (1..=28).map(|i| format!("{i:02}/05/{},1\n", 50 + i)).collect();
    let inspection =
        inspect_bytes("t.csv", format!("born,v\n{rows}").into(), &ReadOptions::default()).unwrap();
    let warnings = &inspection.columns[0].warnings;
    assert!(warnings.iter().any(|w| w.contains("69 to 99 mean 1969 to 1999")), "{warnings:?}");
}

/// The name that is given to a column without a name differs from the names in the file.
#[test]
fn a_given_name_is_not_in_the_file() {
    let frame = read("c2,,c4,y\n1,2,3,p\n4,5,6,q\n");
    assert_eq!(names(&frame), ["c2", "c2_", "c4", "y"]);
    let note = "column 2 has no name and is named `c2_`";
    assert!(frame.notes.iter().any(|found| found.contains(note)), "{:?}", frame.notes);
    let pad = ReadOptions { ragged: Ragged::Pad, ..ReadOptions::default() };
    let text = b"c3,y\n1,p\n4,q,7\n".to_vec();
    let frame = read_bytes("t.csv", text, &pad, &Hints::default()).unwrap();
    assert_eq!(names(&frame), ["c3", "y", "c3_"]);
    let text = b"c3,y\n1,p\n4,q,7\n5,p,red\n".to_vec();
    let frame = read_bytes("t.csv", text, &pad, &Hints::default()).unwrap();
    assert_eq!((names(&frame)[2].as_str(), texts(&frame, "c3_")[2].as_str()), ("c3_", "red"));
}

/// A comma that splits a cell in every row does not make the first column a column of row names.
#[test]
fn cells_that_are_split_in_every_row_are_no_row_names() {
    let rows = |row: fn(usize) -> String| (1..40).map(row).collect::<String>();
    for text in [
        format!("id,price,y\n{}", rows(|i| format!("{i},{},5,p\n", i * 7 % 40))),
        format!("place,pop,y\n{}", rows(|i| format!("Town{i}, MA,37,{}\n", i % 2))),
        format!("name\tn\ty\n{}", rows(|i| format!("a{i}\\\tb\t{}\tp\n", i % 7))),
        format!("t,n,y\n{}", rows(|i| format!("\"it is \"not, so\" good {i}\",{i},p\n"))),
    ] {
        let width = text.lines().next().unwrap().split([',', '\t']).count();
        let error = refused(&text);
        assert!(error.contains(&format!("has {width} names, but most rows have")), "{error}");
    }
    let decimal = read(format!("price,n,y\n{}", rows(|i| format!("{i},45,{},p\n", i % 3))));
    assert!(says(&decimal, "row names") && says(&decimal, "`1,45` is a decimal comma"));
    // R writes row names in quotes, also next to a column of identifiers.
    for text in [
        format!("\"id\",\"x\"\n{}", rows(|i| format!("\"{i}\",{},{}\n", 100 + i, i % 3))),
        format!("gene_id\tx\n{}", rows(|i| format!("{i}\tg{i}\t{}\n", i % 3))),
        format!("x y\n{}", rows(|i| format!("{i} {}.5 {}\n", i % 9, i % 3))),
    ] {
        let frame = read(&text);
        assert!(says(&frame, "row names; it is left out"), "{:?}", frame.notes);
        assert!(!says(&frame, "decimal comma"), "{:?}", frame.notes);
    }
}

/// If nothing distinguishes the first row of a list of texts from the others, a note says how it is read.
#[test]
fn the_names_above_a_list_of_texts_are_noted() {
    let rows = |row: fn(usize) -> String| (1..40).map(row).collect::<String>();
    let list = read(rows(|i| format!("Surname{i},First{i}\n")));
    assert_eq!(list.rows, 38);
    assert!(
        says(&list, "line 1, which contains `Surname1`, `First1`, is read"),
        "{:?}",
        list.notes
    );
    let labelled = read(format!("t,y\n{}", rows(|i| format!("text {i},{}\n", ["p", "q"][i % 2]))));
    assert!(!says(&labelled, "--no-header"), "{:?}", labelled.notes);
    let blank = read(format!("comment\nNA\n{}", rows(|i| format!("it is good {i}\n"))));
    assert!(!says(&blank, "--no-header"), "{:?}", blank.notes);
    let captions = read(rows(|i| format!("img{i}.jpg\tA brown dog number {i} runs over.\n")));
    assert_eq!(captions.rows, 39);
    let marker = read("\\N\tred\n3\tblue\n4\tgreen\n5\tpink\n");
    assert!(says(&marker, "which contains `\\N`, is read as"), "{:?}", marker.notes);
}

/// A first row with a missing value is a row, and rows that are equal to it are kept.
#[test]
fn a_first_row_with_a_missing_value_is_data() {
    for marker in ["\\N", "(null)", "n.a.", "missing", "#DIV/0!", "TBD", "<0.5"] {
        let row = |i: usize| {
            let cell = if i.is_multiple_of(6) { marker.to_owned() } else { (i % 13).to_string() };
            format!("{}\t{cell}\t{}\n", ["oslo", "rome"][i % 2], ["cold", "hot"][i % 2])
        };
        let frame = read((0..60).map(row).collect::<String>());
        assert_eq!(frame.rows, 60, "{marker}");
        assert!(says(&frame, "the first line is read as data"), "{:?}", frame.notes);
    }
}

/// The columns without names before the first name are the levels of an index.
#[test]
fn every_level_of_an_index_without_names_is_left_out() {
    let rows: String =
        (0..40).map(|i| format!("{},{},{},p\n", i / 20, i % 20, i * 7 % 11)).collect();
    let frame = read(format!(",,v,y\n{rows}"));
    assert_eq!(names(&frame), ["__index_level_1__", "v", "y"]);
    assert!(frame.record("__index_level_1__").unwrap().rule.kind.is_left_out());
    let notes = &frame.record("__index_level_1__").unwrap().notes;
    assert!(notes[0].contains("pass --use '__index_level_1__'"), "{notes:?}");
}

/// A column of numbers with decimal commas is one column.
#[test]
fn decimal_commas_alone_are_no_delimiters() {
    let text = "wert\n1,5\n2,5\n-3,25\n4,75\n";
    for hints in [Hints::default(), Hints::verbatim(["none"]), {
        Hints { expected: ["wert".to_owned()].into(), ..Hints::default() }
    }] {
        let frame = read_bytes("t.csv", text.into(), &ReadOptions::default(), &hints).unwrap();
        assert_eq!((names(&frame), frame.rows), (vec!["wert".to_owned()], 4));
        assert_eq!(texts(&frame, "wert"), ["1.5", "2.5", "-3.25", "4.75"]);
    }
    // The first of these lines is no name, and the others are no decimal numbers.
    for (text, columns) in [("5\n0,1\n1,2\n2,0\n", 2), ("a,b\n1,5\n2,5\n", 2), ("a\n1,x\n2,5\n", 2)]
    {
        assert_eq!(
            read(text).column_count() + usize::from(read(text).index.is_some()),
            columns,
            "{text}"
        );
    }
}

/// LIBSVM text in UTF-16, as PowerShell writes it, is not read as a table of texts.
#[test]
fn libsvm_text_in_utf_16_is_named() {
    let text = "1 1:0.25 2:3\n-1 1:0.5 2:4\n1 1:0.75 2:1\n";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [utf16.clone(), [b"\xff\xfe".to_vec(), utf16].concat()] {
        assert_eq!(refused(bytes), "t.csv: the file is UTF-16; save it as UTF-8");
    }
}

/// A blank after a delimiter shows that cells are split only if at most one row in ten lacks it.
#[test]
fn blanks_in_some_rows_do_not_show_split_cells() {
    // One row in `every` lacks the blank.
    let text = |count: usize, every: usize| {
        let cell = |i: usize| if i.is_multiple_of(every) { "MA" } else { " MA" };
        let row = |i: usize| format!("Town{i},{},{},small\n", cell(i), i * 7 % 50);
        format!("place,pop,y\n{}", (0..count).map(row).collect::<String>())
    };
    assert!(refused(text(60, 10)).contains("has 3 names"), "{}", refused(text(60, 10)));
    let frame = read(text(63, 9));
    assert_eq!((frame.rows, frame.column_count()), (63, 3));
}
