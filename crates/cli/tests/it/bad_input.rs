//! Each invalid argument or file gives exit code 2 and one line that starts with `error:` and names the cause. Nothing
//! is overwritten.

use crate::support::{self, run_line, succeed, table};
use std::fs;
use std::io::Write;
use std::path::Path;

/// The content of the file that no command may overwrite.
const PRECIOUS: &str = "precious";

/// Arguments, and a part of the expected message. The file `out` exists; `--force` is passed if it is an output.
const CASES: [(&str, &str); 118] = [
    // Files.
    ("fit nothing.csv --label y -o out --force", "nothing.csv: there is no such file"),
    ("fit goof.csv --label y -o out --force", "did you mean `good.csv`?"),
    (
        "fit folder --label y -o out --force",
        "folder: neither the folder nor its sub-folders contain a PNG or JPEG",
    ),
    ("fit empty.csv --label y -o out --force", "the file is empty"),
    ("fit blank.csv --label y -o out --force", "the table has no rows"),
    ("fit header.csv --label y -o out --force", "the table has no rows"),
    ("fit binary.csv --label y -o out --force", "the file is in an unknown binary format"),
    ("fit utf16.csv --label y -o out --force", "the table has no rows"),
    ("fit book.xlsx --label y -o out --force", "an Excel workbook (.xlsx); save the table as CSV"),
    ("fit old.xls --label y -o out --force", "an old Excel workbook"),
    ("fit table.pkl --label y -o out --force", "a Python pickle"),
    ("fit table.h5 --label y -o out --force", "an HDF5 file"),
    ("fit table.csv.bz2 --label y -o out --force", "compressed by bzip2"),
    ("fit table.csv.xz --label y -o out --force", "compressed by xz"),
    ("fit old.feather --label y -o out --force", "Feather version 1"),
    ("fit cut.csv.gz --label y -o out --force", "cut off or damaged"),
    ("fit cut.csv.zst --label y -o out --force", "cut off or damaged"),
    ("fit cut.parquet --label y -o out --force", "not a readable Parquet file"),
    ("fit cut.arrow --label y -o out --force", "not a readable Arrow file"),
    ("fit cut.npy --label y -o out --force", "cut off"),
    ("fit cut.npz --label y -o out --force", "not a readable NPZ archive"),
    ("fit objects.npy --label y -o out --force", "items of type |O are not supported"),
    ("fit scalar.npy --label y -o out --force", "a table needs rows"),
    ("fit lengths.npz --label y -o out --force", "`y` has 3 rows, but `the matrix` has 2"),
    ("fit matrices.npz --label y -o out --force", "both have two dimensions"),
    ("fit infinite.npy --label x1 -o out --force", "row 1, column `x0`: the value is inf"),
    ("fit good.csv --format parquet --label y -o out --force", "not a readable Parquet file"),
    ("fit good.csv --format npz --label y -o out --force", "not a readable NPZ archive"),
    (
        "fit good.csv --format libsvm --label y -o out --force",
        "line 1: the label `a,b,colour,y` is not a number",
    ),
    // LIBSVM.
    (
        "fit pair.libsvm --label label -o out --force",
        "line 2: `2=5` does not have the form index:value",
    ),
    ("fit unlabelled.libsvm --label label -o out --force", "line 1: the line begins with `1:2`"),
    ("fit nan.libsvm --label label -o out --force", "line 1: the value of `1:nan` is missing"),
    // Cells.
    (
        "fit ragged.csv --label y -o out --force",
        "ragged.csv, line 3: 2 cells, but the header has 3",
    ),
    ("fit quote.csv --label y -o out --force", "line 3, column `a`: `\"3` is not a number"),
    ("fit twice.csv --label y -o out --force", "two columns are named `a`"),
    ("fit nameless.csv --label y -o out --force", "column 2 has no name"),
    ("fit infinite.csv --label y -o out --force", "line 42, column `a`: `1e999` is infinite"),
    (
        "fit slip.csv --label y -o out --force",
        "slip.csv, line 31, column `a`: `3O` is not a number, unlike 39",
    ),
    ("fit good.csv --delimiter ; --label y -o out --force", "there is no column `y`"),
    (
        "fit good.csv --no-header --label y -o out --force",
        "line 1, column `c1`: `a` is not a number",
    ),
    ("fit good.csv --delimiter ab --label y -o out --force", "expected one ASCII character"),
    // Labels.
    ("fit good.csv --label Y2 -o out --force", "there is no column `Y2`"),
    ("fit good.csv --label colou -o out --force", "did you mean `colour`?"),
    (
        "fit unlabelled.csv --label y -o out --force",
        "unlabelled.csv, line 4, column `y`: the label is missing",
    ),
    ("fit one.csv --label y -o out --force", "every row has the same label, `n`"),
    ("fit good.csv --label y --positive p2 -o out --force", "--positive p2: no row has this label"),
    (
        "fit few.csv --label y -o out --force",
        "4 rows are too few to learn from: auto needs at least 10; add rows",
    ),
    ("fit many.csv --label y -o out --force", "are a quantity, not classes"),
    ("fit good.csv --label y --positive -1 -o out --force", "--positive -1: no row has this label"),
    ("fit good.csv --label y --drop y -o out --force", "--drop y: it is the column of labels"),
    (
        "fit good.csv --label y --weights y -o out --force",
        "--weights y: it is the column of labels",
    ),
    ("audit good.csv --label y --text y", "--text y: it is the column of labels"),
    // Columns.
    (
        "fit prose.csv --label y -o out --force",
        "use --drop 'a' to leave the column out, --text 'a'",
    ),
    (
        "fit constant.csv --label y -o out --force",
        "no column to learn from: the same in all rows: a",
    ),
    (
        "fit prose.csv --label y --drop a -o out --force",
        "no column to learn from: left out by --drop: a",
    ),
    (
        "fit rare.csv --label y --text a -o out --force",
        "every word or part of a word of a occurs in only one row or in all rows",
    ),
    (
        "fit huge.csv --label y --learner svm -o out --force",
        "-1.1e308 is so large that its square overflows",
    ),
    ("fit good.csv --label y --drop b2 -o out --force", "there is no column `b2`"),
    ("fit good.csv --label y --text b2 -o out --force", "there is no column `b2`"),
    ("fit good.csv --label y --category b2 -o out --force", "there is no column `b2`"),
    ("fit good.csv --label y --weights w -o out --force", "there is no column `w`"),
    (
        "fit good.csv --label y --weights colour -o out --force",
        "weights in column `colour` are not numbers",
    ),
    (
        "fit good.csv --label y --weights a -o out --force",
        "line 2, column `a`: a weight must be a number that is at least 0",
    ),
    (
        "fit good.csv --label y --balanced --learner massart -o out --force",
        "--balanced: the learner massart does not support weights; use --learner auto, logistic or svm",
    ),
    (
        "fit good.csv --label y --weights b --learner perceptron -o out --force",
        "--weights: the learner perceptron does not support weights",
    ),
    // Options.
    ("fit good.csv --label y --holdout 1.5 -o out --force", "must be at least 0 and below 1"),
    ("fit good.csv --label y --holdout 0.999 -o out --force", "all have the same label"),
    ("fit good.csv --label y --holdout half -o out --force", "not a number"),
    ("fit good.csv --label y --threads 0 -o out --force", "at least 1"),
    ("fit good.csv --label y --learner magic -o out --force", "magic"),
    (
        "fit good.csv --label y --learner massart --noise 0.7 -o out --force",
        "noise = 0.7 is out of range",
    ),
    (
        "fit good.csv --label y --learner logistic --noise 0.1 -o out --force",
        "--noise: does not apply to the learner logistic",
    ),
    ("fit good.csv --label y --learner svm --c -1 -o out --force", "c = -1 is out of range"),
    (
        "fit good.csv --label y --c 2 -o out --force",
        "--c: does not apply to the learner auto; it applies to logistic and svm",
    ),
    (
        "fit good.csv --label y --noise 0.2 -o out --force",
        "--noise: does not apply to the learner auto",
    ),
    ("fit good.csv --label y --holdout -0.1 -o out --force", "at least 0 and below 1"),
    ("fit good.csv --label y --seed -1 -o out --force", "invalid digit"),
    ("label good.csv --label y --simulate --classes a,b", "cannot be used with"),
    ("fit good.csv --label y --outpt out", "unexpected argument '--outpt'"),
    ("fit good.csv --label y", "--output"),
    ("fit - --label y --stream -o out --force", "standard input cannot be read more than once"),
    (
        "fit lengths.npz --label y --stream -o out --force",
        "--stream reads CSV, TSV, LIBSVM and Parquet files, but this one is npz",
    ),
    ("fit ragged.csv --label y --stream -o out --force", "ragged.csv, line 3: 2 cells"),
    ("fit slip.csv --label y --stream -o out --force", "`3O` is not a number"),
    ("fit twice.csv --label y --stream -o out --force", "two columns are named `a`"),
    (
        "fit good.csv --label z --stream --learner perceptron -o out --force",
        "there is no column `z`",
    ),
    (
        "fit three.csv --label y --stream --learner massart -o out --force",
        "massart learns only two classes from a stream",
    ),
    (
        "fit good.csv --label y --stream --learner massart -o out --force",
        "massart found no rule in 38 rows",
    ),
    // Outputs.
    (
        "fit good.csv --label y -o out",
        "out already exists; name another file, or overwrite it with --force",
    ),
    ("fit good.csv --label y -o folder --force", "folder is a directory"),
    (
        "predict model.json good.csv -o predictions.Parquet",
        "predictions.Parquet: the output is plain text, not a .parquet file",
    ),
    (
        "predict model.json good.csv -o labels.JSON",
        "labels.JSON: the output is CSV, not .json; name a file such as labels.csv",
    ),
    ("correct good.csv --label y --with good.csv -o a.html", "the output is CSV, not .html"),
    ("audit good.csv --label y -o ranking.json", "the output is CSV, not .json"),
    (
        "fit good.csv --label y -o m.onnx",
        "m.onnx: the output is JSON, not .onnx; name a file such as m.json",
    ),
    ("fit good.csv --label y -o model.json.gz", "not a .gz file; name a file with another ending"),
    ("fit good.csv --label y -o - --force", "`-` is not a file name here"),
    (
        "fit good.csv --label y -o good.csv --force",
        "good.csv is an input file; choose another output",
    ),
    (
        "predict model.json good.csv -o folder/../good.csv --force",
        "is an input file; choose another output",
    ),
    (
        "predict model.json good.csv -o model.json --force",
        "is an input file; choose another output",
    ),
    ("transform good.csv --drop y -o a.csv --scatter ./a.csv", "./a.csv is named twice"),
    (
        "label good.csv --classes a,b --session nothing --export -o a.csv",
        "nothing: there is no such session",
    ),
    ("fit good.csv --label y -o nowhere/model.json", "there is no directory nowhere"),
    // Models.
    ("predict nothing.json good.csv -o out --force", "there is no such model"),
    ("predict good.csv good.csv -o out --force", "not a model file"),
    ("predict other.json good.csv -o out --force", "not a model file, but \"something else\""),
    ("predict later.json good.csv -o out --force", "the model file has version 5"),
    ("predict narrow.json good.csv -o out --force", "the model is damaged: the learner expects"),
    ("predict cut.json good.csv -o out --force", "truncated"),
    // Tables for a model.
    ("predict model.json without.csv -o out --force", "there is no column `b`"),
    (
        "predict model.json unseen.csv -o out --force",
        "unseen.csv, line 3, column `colour`: the model has not seen",
    ),
    (
        "predict model.json text.csv -o out --force",
        "text.csv, line 3, column `a`: `x` is not a number",
    ),
    (
        "export model.json -o out --force",
        "the format is not known: pass --format onnx, python or sql",
    ),
    ("export good.csv --format sql -o out --force", "not a model file"),
    ("export model.json --format onnx -o model.json --force", "is an input file"),
    (
        "export list.json --format onnx -o out --force",
        "the learner massart gives a decision list, which cannot be written as ONNX; fit with another learner",
    ),
    ("evaluate model.json good.csv --label z", "pass the column of labels with --label"),
    ("evaluate model.json good.csv --label colour", "no label is one of the model's classes n, p"),
];

fn files(dir: &Path) {
    let write = |name: &str, bytes: &[u8]| fs::write(dir.join(name), bytes).unwrap();
    let good = table(40);
    write("good.csv", good.as_bytes());
    fs::create_dir(dir.join("folder")).unwrap();
    write("empty.csv", b"");
    write("blank.csv", b"\n\n  \n");
    write("header.csv", b"a,b,y\n");
    write("binary.csv", b"a,b\0\x01\x02,y\n");
    write("utf16.csv", b"\xff\xfea\0,\0y\0");
    write("old.xls", b"\xd0\xcf\x11\xe0rest");
    write("table.pkl", b"\x80\x04\x95rest");
    write("table.h5", b"\x89HDF\r\n");
    write("table.csv.bz2", b"BZh91AY");
    write("table.csv.xz", b"\xfd7zXZ\0");
    write("old.feather", b"FEA1\0\0\0\0");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(good.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    write("cut.csv.gz", &gzip[..gzip.len() / 2]);
    let zstd = zstd::encode_all(good.as_bytes(), 1).unwrap();
    write("cut.csv.zst", &zstd[..zstd.len() / 2]);
    write("cut.parquet", b"PAR1 and then nothing");
    write("cut.arrow", b"ARROW1\0\0 and then nothing");
    write("cut.npy", &support::npy("<f8", "(3, 2)", &[0; 40]));
    write("objects.npy", &support::npy("|O", "(1, 1)", &[0; 8]));
    write("scalar.npy", &support::npy("<f8", "()", &[0; 8]));
    let infinite: Vec<u8> =
        [1.0, 0.0, f64::INFINITY, 1.0].iter().flat_map(|v: &f64| v.to_le_bytes()).collect();
    write("infinite.npy", &support::npy("<f8", "(2, 2)", &infinite));
    let matrix = support::npy("<f8", "(2, 1)", &[0; 16]);
    let vector = support::npy("|u1", "(3,)", &[0; 3]);
    let npz = support::npz(&[("X.npy", &matrix), ("y.npy", &vector)]);
    write("lengths.npz", &npz);
    write("cut.npz", &npz[..npz.len() / 2]);
    let wide = support::npy("<f8", "(1, 2)", &[0; 16]);
    write("matrices.npz", &support::npz(&[("X.npy", &wide), ("Z.npy", &wide)]));
    write("book.xlsx", &support::npz(&[("xl/workbook.xml", b"<workbook/>")]));
    write("pair.libsvm", b"1 1:2\n-1 2=5\n");
    write("unlabelled.libsvm", b"1:2 2:5\n");
    write("nan.libsvm", b"1 1:nan\n");
    write("ragged.csv", b"a,b,y\n1,2,n\n3,4\n");
    write("quote.csv", b"a,b,y\n1,2,n\n\"3,4,p\n5,6,n\n7,8,p\n9,1,n\n2,3,p\n");
    write("twice.csv", b"a,a,y\n1,2,n\n3,4,p\n");
    write("nameless.csv", b"a,,y\n1,2,n\n3,4,p\n");
    // Tables with a column `a` and alternating labels.
    let labelled = |rows: usize, cell: &dyn Fn(usize) -> String| -> String {
        let row = |i| format!("{},{}\n", cell(i), ["n", "p"][i % 2]);
        format!("a,y\n{}", (0..rows).map(row).collect::<String>())
    };
    let infinite = labelled(40, &|i| i.to_string()) + "1e999,p\n";
    write("infinite.csv", infinite.as_bytes());
    let slip = labelled(40, &|i| if i == 29 { "3O".to_owned() } else { i.to_string() });
    write("slip.csv", slip.as_bytes());
    write("unlabelled.csv", b"a,y\n1,n\n2,p\n3,\n");
    write("one.csv", b"a,y\n1,n\n2,n\n3,n\n");
    write("few.csv", b"a,y\n1,n\n2,p\n3,n\n4,p\n");
    write("prose.csv", labelled(60, &|i| format!("number {i}")).as_bytes());
    let letter = |i: usize| char::from_u32(0x4e00 + i as u32).unwrap().to_string();
    write("rare.csv", labelled(40, &letter).as_bytes());
    let many: String = (0..40).map(|i| format!("{},{i}.5\n", i % 7)).collect();
    write("many.csv", format!("a,y\n{many}").as_bytes());
    write("huge.csv", labelled(40, &|i| format!("{}1.1{i}e308", ["-", ""][i % 2])).as_bytes());
    write("constant.csv", b"a,y\n1,n\n1,p\n1,n\n");
    write("without.csv", good.replacen(",b,", ",other,", 1).as_bytes());
    write("unseen.csv", b"a,b,colour,y\n1,2,red,n\n1,2,purple,n\n");
    write("text.csv", b"a,b,colour,y\n1,2,red,n\nx,2,red,n\n");
    let three: String = (0..40).map(|i| format!("{i},{}\n", i % 3)).collect();
    write("three.csv", format!("a,y\n{three}").as_bytes());
    // Models.
    let fit = "fit good.csv --label y --learner logistic -o model.json";
    succeed(dir, fit);
    succeed(dir, "fit good.csv --label y --learner massart -o list.json");
    let model = fs::read_to_string(dir.join("model.json")).unwrap();
    write("later.json", model.replace("\"version\":4", "\"version\":5").as_bytes());
    write("cut.json", &model.as_bytes()[..model.len() / 2]);
    write("other.json", b"{\"format\": \"something else\", \"version\": 3}");
    let mut narrow: serde_json::Value = serde_json::from_str(&model).unwrap();
    narrow["pipeline"]["recipe"]["columns"].as_array_mut().unwrap().pop();
    write("narrow.json", narrow.to_string().as_bytes());
    write("out", PRECIOUS.as_bytes());
}

#[test]
fn every_error_is_one_line_with_its_cause_and_overwrites_nothing() {
    let dir = tempfile::tempdir().unwrap();
    files(dir.path());
    let before = support::listing(dir.path());
    let mut faults = Vec::new();
    for (args, says) in CASES {
        let output = run_line(dir.path(), args);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error:")).collect();
        let sound = output.status.code() == Some(2)
            && output.stdout.is_empty()
            && errors.len() == 1
            && stderr.contains(says)
            && stderr.lines().all(|line| !line.contains("panicked"));
        if !sound {
            let code = output.status;
            faults.push(format!("{args}\n  should say: {says}\n  {code}: {stderr}"));
        }
        assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap(), PRECIOUS, "{args}");
        assert_eq!(support::listing(dir.path()), before, "{args}");
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), CASES.len(), faults.join("\n"));
}
