//! `halfspaces audit` and `halfspaces transform`.

use crate::support::{Draws, good, refused};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Writes a table of 300 rows whose class depends on x. Ten rows, far from the boundaries, have a wrong label. Returns
/// these rows.
fn slips(folder: &Path, classes: &[&str]) -> Vec<usize> {
    let mut draws = Draws(11);
    let (mut text, mut wrong) = (String::from("x,y,note,label\n"), Vec::new());
    for row in 0..300 {
        let (x, y) = (draws.next(), draws.next());
        let class = (x * classes.len() as f64) as usize;
        let middle = (class as f64 + 0.5) / classes.len() as f64;
        let slip = row % 30 == 11;
        let x = if slip { middle } else { x };
        let label = classes[if slip { (class + 1) % classes.len() } else { class }];
        wrong.extend(slip.then_some(row));
        writeln!(text, "{x},{y},<b onmouseover=alert(1)>{},{label}", row % 7).unwrap();
    }
    fs::write(folder.join("data.csv"), text).unwrap();
    wrong
}

/// Names of any length are shortened in the terminal and in messages.
#[test]
fn long_names_are_shortened() {
    let folder = tempfile::tempdir().unwrap();
    let long = "q".repeat(70_000);
    let row = |i: usize| {
        format!("{},{},{}\n", i % 7, i % 5, if i.is_multiple_of(2) { "p" } else { &long })
    };
    let text: String = std::iter::once("a,b,y\n".to_owned()).chain((0..60).map(row)).collect();
    fs::write(folder.path().join("w.csv"), &text).unwrap();
    let audit = ["audit", "w.csv", "--label", "y", "--learner", "perceptron", "-o", "r.csv"];
    let said = good(folder.path(), &audit);
    assert!(said.contains(&format!("{}...", "q".repeat(60))) && said.len() < 20_000, "{said}");
    let model = format!("{{\"format\":\"{long}\",\"version\":3}}");
    fs::write(folder.path().join("m.json"), model).unwrap();
    let said = refused(folder.path(), &["predict", "m.json", "w.csv"]);
    assert!(said.contains('…') && said.chars().count() < 4100, "{}", said.len());
}

#[test]
fn slips_are_found_in_two_and_three_classes() {
    let folder = tempfile::tempdir().unwrap();
    for (classes, learner) in [
        (&["neg", "pos"][..], "auto"),
        (&["neg", "pos"], "logistic"),
        (&["neg", "pos"], "massart"),
        (&["a", "b", "c"], "auto"),
        (&["a", "b", "c"], "svm"),
    ] {
        let wrong = slips(folder.path(), classes);
        let audit = ["audit", "data.csv", "--label", "label", "--learner", learner, "--force"];
        let files = ["-o", "ranking.csv", "--html", "report.html", "--json", "--top", "15"];
        let found = good(folder.path(), &[&audit[..], &files].concat());
        let found: Value = serde_json::from_str(&found).unwrap();
        let ranking = fs::read_to_string(folder.path().join("ranking.csv")).unwrap();
        let rows: Vec<usize> = ranking
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(1).unwrap().parse().unwrap())
            .collect();
        assert_eq!(rows.len(), 300);
        let caught = rows[..wrong.len()].iter().filter(|row| wrong.contains(row)).count();
        let least = match learner {
            // A decision list has the same confidence for all rows that one rule decides.
            "massart" => 6,
            // A linear support vector machine cannot separate the middle one of three classes from the others.
            "svm" => 5,
            _ => 9,
        };
        assert!(caught >= least, "{classes:?} {learner}: {caught} of {}", wrong.len());
        let number = |name: &str| found[name].as_u64().unwrap();
        assert_eq!((number("rows"), found["ranking"].as_array().unwrap().len()), (300, 15));
        assert!(
            number("wrong_at_most") >= 10 && number("wrong_at_most") >= number("disagreements")
        );
        assert_eq!(found["ranking"][0]["row"].as_u64().unwrap() as usize, rows[0]);
        assert_ne!(found["ranking"][0]["label"], found["ranking"][0]["suggested"]);
        let place = format!("data.csv, line {}", rows[0] + 2);
        assert_eq!(found["ranking"][0]["place"], place.as_str());
        let report = fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(
            !report.contains("<b onmouse") && report.contains("&lt;b onmouseover=alert(1)&gt;")
        );
        let cells = format!("\">1</span></td><td>{}</td>", rows[0] + 2);
        assert!(report.contains(&cells) && report.contains("<svg") && !report.contains("<script"));
        // Each row is counted in one cell of the table of labels and suggestions.
        let matrix = report.split("Labels and suggestions").nth(1).unwrap();
        let matrix = matrix.split("</table>").next().unwrap();
        let counts =
            matrix.split("<td>").filter_map(|cell| cell.split('<').next()?.parse::<usize>().ok());
        assert_eq!(counts.sum::<usize>(), 300);
        // The rows of each class that are likely wrong add up to their number, and a filter needs no script.
        let rates = report.split("Estimated flip rates").nth(1).unwrap();
        let rates = rates.split("</table>").next().unwrap().split("<tr>").skip(2);
        let likely = rates.map(|row| {
            row.split("<td>").nth(3).unwrap().split('<').next().unwrap().parse::<u64>().unwrap()
        });
        assert_eq!(likely.sum::<u64>(), number("likely_wrong"), "{report}");
        assert!(report.contains("main:has(#show0:checked) #ranking tbody tr:not(:has(.pair0))"));
        assert!(
            !report.contains("src=") && !report.contains("href="),
            "the report is self-contained"
        );
        let (header, first) = (ranking.lines().next().unwrap(), ranking.lines().nth(1).unwrap());
        assert_eq!(header, "rank,row,label,suggested,agreement,likely_wrong,line,sort_key");
        assert!(first.contains(&format!(",{},", rows[0] + 2)), "{first}");
        let key = |line: &str| line.split(',').nth(7).unwrap().parse::<f64>().unwrap();
        assert!(
            ranking.lines().skip(1).map(key).is_sorted(),
            "rows are in the order of the sort key"
        );
    }
}

#[test]
fn impossible_audits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    slips(folder.path(), &["neg", "pos"]);
    fs::write(folder.path().join("one.csv"), "x,label\n1,a\n2,a\n").unwrap();
    fs::write(folder.path().join("rare.csv"), "x,label\n1,a\n2,a\n3,b\n4,b\n5,c\n").unwrap();
    // With this seed, both rows of class c are in the same fold.
    fs::write(folder.path().join("pair.csv"), "x,label\n1,a\n2,a\n3,b\n4,b\n5,c\n6,c\n").unwrap();
    for (args, part) in [
        (&["data.csv", "--label", "lable"][..], "did you mean `label`?"),
        (&["one.csv", "--label", "label"], "all labels are a"),
        (
            &["rare.csv", "--label", "label", "--learner", "logistic"],
            "every class needs at least 2 rows, but these have fewer: `c` (1)",
        ),
        (&["pair.csv", "--label", "label", "--folds", "2"], "use more folds"),
        (&["data.csv", "--label", "label", "--folds", "1"], "folds"),
        (&["data.csv", "--label", "label", "--failure", "0"], "failure"),
        (&["data.csv", "--label", "label", "--html", "data.csv"], "already exists"),
    ] {
        let said = refused(folder.path(), &[&["audit"], args].concat());
        assert!(said.contains(part), "{said}");
    }
}

fn column(text: &str, skipped: usize) -> Vec<Vec<f64>> {
    let number = |cell: &str| cell.parse().unwrap();
    text.lines().skip(1).map(|line| line.split(',').skip(skipped).map(number).collect()).collect()
}

/// The files contain unit vectors in radially isotropic position, and the map to them.
#[test]
fn points_are_in_position() {
    let folder = tempfile::tempdir().unwrap();
    let mut draws = Draws(3);
    let (mut text, mut points) = (String::from("a,b,c\n"), Vec::new());
    for _ in 0..200 {
        let (x, y, z) = (draws.next() - 0.5, draws.next() - 0.5, draws.next() - 0.5);
        points.push(vec![1000.0 * x, x + 0.1 * y, z * 1e-3]);
        writeln!(text, "{},{},{}", 1000.0 * x, x + 0.1 * y, z * 1e-3).unwrap();
    }
    fs::write(folder.path().join("data.csv"), text).unwrap();
    let files = [
        "-o",
        "points.csv",
        "--matrix",
        "matrix.csv",
        "--scatter",
        "scatter.csv",
        "--html",
        "report.html",
    ];
    let said = good(folder.path(), &[&["transform", "data.csv"], &files[..]].concat());
    assert!(said.contains("in radially isotropic position"), "{said}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let (units, matrix, scatter) = (
        column(&read("points.csv"), 2),
        column(&read("matrix.csv"), 1),
        column(&read("scatter.csv"), 1),
    );
    for i in 0..3 {
        for j in 0..3 {
            let sum: f64 = units.iter().map(|u| u[i] * u[j]).sum();
            assert!(
                (3.0 / 200.0 * sum - f64::from(u8::from(i == j))).abs() < 2e-6,
                "{i} {j} {sum}"
            );
            // S A Aᵀ is a multiple of the identity.
            let product = |r: usize, c: usize| -> f64 {
                let aat = |k: usize| -> f64 { (0..3).map(|l| matrix[k][l] * matrix[c][l]).sum() };
                (0..3).map(|k| scatter[r][k] * aat(k)).sum()
            };
            let expected = if i == j { product(0, 0) } else { 0.0 };
            assert!((product(i, j) - expected).abs() < 1e-6 * product(0, 0), "{i} {j}");
        }
    }
    for (x, u) in points.iter().zip(&units) {
        let image: Vec<f64> = (0..3).map(|j| (0..3).map(|i| x[i] * matrix[i][j]).sum()).collect();
        let norm = image.iter().map(|v: &f64| v * v).sum::<f64>().sqrt();
        assert!(image.iter().zip(u).all(|(v, u)| (v / norm - u).abs() < 1e-9));
    }
    assert!((scatter[0][0] + scatter[1][1] + scatter[2][2] - 3.0).abs() < 1e-12);
    let report = read("report.html");
    assert!(
        report.matches("<svg").count() == 2
            && !report.contains("<script")
            && !report.contains("src=")
    );
    let said = good(folder.path(), &["transform", "data.csv", "--json", "--center"]);
    let json: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((json["points"].as_u64(), json["center"].as_array().unwrap().len()), (Some(200), 3));
    assert_eq!(json["pieces"][0]["rows"].as_array().unwrap().len(), 200);
    let said = refused(folder.path(), &["transform", "data.csv", "--matrix", "matrix.csv"]);
    assert!(said.contains("matrix.csv already exists"), "{said}");
    let said = refused(folder.path(), &["transform", "data.csv", "--accuracy", "2"]);
    assert!(said.contains("--accuracy"), "{said}");
}

/// The units of columns do not matter. A constant column is a coordinate of every direction, unless --center removes
/// it.
#[test]
fn units_change_no_position_and_constant_columns_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut units_of = Vec::new();
    for (name, unit) in [("plain.csv", 1.0), ("large.csv", 1e30)] {
        let mut draws = Draws(5);
        let mut text = String::from("a,b,one,none\n");
        for _ in 0..100 {
            let (x, y) = (draws.next() - 0.5, draws.next() - 0.5);
            writeln!(text, "{:e},{:e},1,0", unit * x, y / unit).unwrap();
        }
        fs::write(folder.path().join(name), text).unwrap();
        let args = ["transform", name, "-o", "u.csv", "--scatter", "s.csv", "--force"];
        let said = good(folder.path(), &args);
        assert!(said.contains("100 points in 3 dimensions: in radially isotropic"), "{said}");
        assert!(said.contains("constant columns are ignored: none\n"), "{said}");
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let scatter = column(&read("s.csv"), 1);
        assert!((scatter[0][0] + scatter[1][1] + scatter[2][2] - 3.0).abs() < 1e-12);
        units_of.push(column(&read("u.csv"), 2));
    }
    // The transformed points are equal up to a rotation, so their inner products agree.
    let dot = |u: &[f64], v: &[f64]| u.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
    let [plain, large] = &units_of[..] else { unreachable!("two tables") };
    for i in 0..100 {
        let (a, b) = (dot(&plain[i], &plain[0]), dot(&large[i], &large[0]));
        assert!((a - b).abs() < 1e-5, "{i}: {a} {b}");
    }
    // The piece is zero in the column with the largest unit, so the scatter of the piece is that of the other columns.
    let flat = "x,y,z\n1,2,0\n2,1,0\n3,1,0\n1,-1,0\n5,2,0\n1,1,1e200\n2,0,3e200\n";
    fs::write(folder.path().join("flat.csv"), flat).unwrap();
    good(folder.path(), &["transform", "flat.csv", "--scatter", "f.csv"]);
    let scatter = column(&fs::read_to_string(folder.path().join("f.csv")).unwrap(), 1);
    assert!((scatter[0][0] + scatter[1][1] - 2.0).abs() < 1e-9, "{scatter:?}");
    assert!(scatter[2].iter().all(|v| *v == 0.0), "{scatter:?}");
    let said = good(folder.path(), &["transform", "plain.csv", "--center", "--json"]);
    let json: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(json["left_out"], serde_json::json!(["one", "none"]));
    assert_eq!(json["columns"], serde_json::json!(["a", "b"]));
}

/// Sentences of two classes. Row 8 has a wrong label.
fn sentences() -> String {
    let row = |i: usize| {
        let (word, class) =
            if i.is_multiple_of(2) { ("parcel", "post") } else { ("refund", "bank") };
        let class = if i == 8 { "bank" } else { class };
        format!("my {word} of day {} is late,{class}\n", i % 13 + 100 * i)
    };
    (0..120).map(row).fold("said,label\n".to_owned(), |text, row| text + &row)
}

/// The words that are evidence against a wrong label are listed and marked. A decision list has no weights, so no words
/// are shown.
#[test]
fn words_against_a_label_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("said.csv"), sentences()).unwrap();
    let audit = ["audit", "said.csv", "--label", "label", "--top", "1", "--force"];
    let text = good(folder.path(), &[&audit[..], &["--html", "r.html"]].concat());
    assert!(text.contains("sort_key  words against the label"), "{text}");
    let line = text.lines().find(|line| line.starts_with("said.csv, line 10")).unwrap();
    assert!(line.contains("bank") && line.contains("post") && line.contains("parcel"), "{line}");
    let report = fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(report.contains("<mark class=\"no3\">parcel</mark>"), "{report}");
    let found = good(folder.path(), &[&audit[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(
        (&found["ranking"][0]["row"], &found["ranking"][0]["against"][0]),
        (&8.into(), &"parcel".into())
    );
    let list = [&audit[..], &["--learner", "massart", "--hash-bits", "8"]].concat();
    let text = good(folder.path(), &list);
    assert!(!text.contains("words against"), "{text}");
}

/// Rows with nearly the same text and different labels are listed in every output.
#[test]
fn contradictory_texts_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let twins = "my old parcel from Spain has never come,post\nMy old parcel from Spain has never come!,bank\n";
    fs::write(folder.path().join("said.csv"), sentences() + twins).unwrap();
    let audit = ["audit", "said.csv", "--label", "label", "--top", "5", "--force"];
    let text = good(folder.path(), &[&audit[..], &["--html", "r.html", "-o", "r.csv"]].concat());
    assert!(
        text.contains("2 rows have nearly the same text as a row with another label"),
        "{text}"
    );
    let line = text.lines().find(|line| line.starts_with("said.csv, line 123")).unwrap();
    assert!(line.ends_with("  like said.csv, line 122: post"), "{line}");
    let report = fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(report.contains("<td>said.csv, line 122: post</td>"), "{report}");
    let ranking = fs::read_to_string(folder.path().join("r.csv")).unwrap();
    assert!(ranking.starts_with(
        "rank,row,label,suggested,agreement,likely_wrong,line,sort_key,contradicts\n"
    ));
    let of = |row: &str| ranking.lines().find(|line| line.split(',').nth(1) == Some(row)).unwrap();
    assert!(of("120").contains(",122,") && of("120").ends_with(",121"));
    assert!(of("0").contains(",2,") && of("0").ends_with(','), "{}", of("0"));
    let found = good(folder.path(), &[&audit[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["contradictions"], 2);
    let twin = found["ranking"].as_array().unwrap().iter().find(|entry| entry["row"] == 121);
    assert_eq!(twin.unwrap()["contradicts"], 120);
}

/// If there are many columns, only the most used ones are shuffled, and the output states this.
#[test]
fn explain_says_which_columns_it_measured() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("said.csv"), sentences()).unwrap();
    let row = |i: usize| format!("{} {}:1 {}:1\n", i % 2, 1 + i % 2, 3 + i % 250);
    fs::write(folder.path().join("t.svm"), (0..600).map(row).collect::<String>()).unwrap();
    let run = |line: &str| crate::support::succeed(folder.path(), line);
    run("fit t.svm --label label --learner logistic -o m.json");
    let text = run("explain m.json t.svm --top 2");
    assert!(text.contains("measured for 200 of 252 columns"), "{text}");
    run("fit said.csv --label label -o n.json");
    let text = run("explain n.json said.csv --top 2");
    assert!(text.contains("\nsaid  ") && !text.contains("measured for "), "{text}");
}

/// The report shows all points, or 1000 of them if there are more. Both axes have the same scale.
#[test]
fn a_report_of_directions_draws_all_points() {
    let folder = tempfile::tempdir().unwrap();
    for (rows, drawn, said) in [(569, 569, "all 569 points"), (1300, 1000, "1000 of 1300 points")] {
        let mut draws = crate::support::Draws(3);
        let mut row = || format!("{},{},{}\n", draws.next() - 0.5, draws.next(), draws.next());
        let text: String = (0..rows).map(|_| row()).collect();
        fs::write(folder.path().join("t.csv"), format!("x,y,z\n{text}")).unwrap();
        good(folder.path(), &["transform", "t.csv", "--html", "r.html", "--force"]);
        let report = fs::read_to_string(folder.path().join("r.html")).unwrap();
        assert!(report.contains(said), "{said}");
        assert_eq!(report.matches("<circle class=\"mark blue\"").count(), drawn + 1);
        assert_eq!(report.matches("class=\"hf square\"").count(), 2);
    }
}
