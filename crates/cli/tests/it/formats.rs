//! The same table in every format gives the same model and the same predictions.

use crate::support::{good, npy, npz, program, run_line, succeed};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

const ROWS: usize = 60;

/// A row: a number that may be missing, an integer, a category, a boolean, and the label.
fn row(i: usize) -> (Option<f64>, i64, &'static str, bool, &'static str) {
    let x = ((i * 37) % 100) as f64 / 8.0 - 5.0;
    let k = ((i * 59 + 13) % 10) as i64 - 5;
    let colour = ["red", "green", "blue"][(i * 7 / 2) % 3];
    let flag = (i * 11).is_multiple_of(4);
    let label = if x + k as f64 > 0.0 || flag { "yes" } else { "no" };
    ((i % 17 != 3).then_some(x), k, colour, flag, label)
}

fn csv(delimiter: char) -> String {
    let mut text = ["x", "k", "colour", "flag", "y\n"].join(&delimiter.to_string());
    for i in 0..ROWS {
        let (x, k, colour, flag, label) = row(i);
        let x = x.map_or(String::new(), |x| x.to_string());
        let cells = [x, k.to_string(), colour.into(), flag.to_string(), label.into()];
        text.push_str(&cells.join(&delimiter.to_string()));
        text.push('\n');
    }
    text
}

fn batch() -> RecordBatch {
    let rows: Vec<_> = (0..ROWS).map(row).collect();
    let x: Float64Array = rows.iter().map(|r| r.0).collect();
    let k: Int64Array = rows.iter().map(|r| Some(r.1)).collect();
    let mut colour = StringDictionaryBuilder::<Int32Type>::new();
    rows.iter().for_each(|r| colour.append_value(r.2));
    let flag: BooleanArray = rows.iter().map(|r| Some(r.3)).collect();
    let y: StringArray = rows.iter().map(|r| Some(r.4)).collect();
    let columns: [(&str, ArrayRef); 5] = [
        ("x", Arc::new(x)),
        ("k", Arc::new(k)),
        ("colour", Arc::new(colour.finish())),
        ("flag", Arc::new(flag)),
        ("y", Arc::new(y)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn parquet_file(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(25))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_file(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(&batch.slice(0, 20)).unwrap();
    writer.write(&batch.slice(20, ROWS - 20)).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// The content of a model file.
fn model(dir: &Path, name: &str) -> serde_json::Value {
    let text = fs::read_to_string(dir.join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Runs a command that reads `input` from a pipe; returns its standard output.
fn piped(dir: &Path, args: &[&str], input: &[u8]) -> String {
    let mut command = program(dir);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || pipe.write_all(input).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn predictions(dir: &Path, model: &str, data: &str) -> String {
    good(dir, &["predict", model, data])
}

#[test]
fn one_table_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    let plain = csv(',');
    write("plain.csv", plain.as_bytes());
    let batch = batch();
    let level = ZstdLevel::try_new(1).unwrap();
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("semicolons.csv", csv(';').into_bytes()),
        ("tabs.tsv", csv('\t').into_bytes()),
        ("bars.txt", csv('|').into_bytes()),
        ("windows.csv", format!("\u{feff}{}", plain.replace('\n', "\r\n")).into_bytes()),
        ("spaces.csv", plain.replace(',', " , ").into_bytes()),
        ("quoted.csv", plain.replace("red", "\"red\"").replace("yes", "\"yes\"").into_bytes()),
        ("packed.csv.gz", gzip(plain.as_bytes())),
        ("packed_without_a_name", gzip(plain.as_bytes())),
        ("packed.csv.zst", zstd::encode_all(plain.as_bytes(), 1).unwrap()),
        ("plain.parquet", parquet_file(&batch, Compression::UNCOMPRESSED)),
        ("snappy.parquet", parquet_file(&batch, Compression::SNAPPY)),
        ("gzip.parquet", parquet_file(&batch, Compression::GZIP(GzipLevel::default()))),
        ("zstd.parquet", parquet_file(&batch, Compression::ZSTD(level))),
        ("lz4.parquet", parquet_file(&batch, Compression::LZ4_RAW)),
        ("packed.parquet.gz", gzip(&parquet_file(&batch, Compression::SNAPPY))),
        ("plain.arrow", arrow_file(&batch, None)),
        ("lz4.feather", arrow_file(&batch, Some(CompressionType::LZ4_FRAME))),
        ("zstd.feather", arrow_file(&batch, Some(CompressionType::ZSTD))),
        ("stream.arrows", arrow_stream(&batch)),
    ];
    let fit = |data: &str, model: &str| {
        let args =
            ["fit", data, "--label", "y", "--learner", "logistic", "--holdout", "0.2", "-o", model];
        good(dir.path(), &args);
    };
    fit("plain.csv", "plain.json");
    let expected = model(dir.path(), "plain.json");
    let labels = predictions(dir.path(), "plain.json", "plain.csv");
    assert_eq!(labels.lines().count(), ROWS + 1);
    assert!(labels.contains("\nyes,") && labels.contains("\nno,"), "{labels}");
    for (name, bytes) in &files {
        write(name, bytes);
        assert_eq!(predictions(dir.path(), "plain.json", name), labels, "{name}");
        fit(name, &format!("{name}.json"));
        assert_eq!(model(dir.path(), &format!("{name}.json")), expected, "{name}");
        // The predictions are the same if the table is read from a pipe, which can be read only once.
        assert_eq!(piped(dir.path(), &["predict", "plain.json", "-"], bytes), labels, "{name}");
    }
}

#[test]
fn columns_in_any_order_among_others() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("plain.csv"), csv(',')).unwrap();
    succeed(dir.path(), "fit plain.csv --label y --learner svm -o model.json");
    let expected = predictions(dir.path(), "model.json", "plain.csv");
    // The columns are in reverse order, and the table also has the index that pandas writes and an unknown column.
    let turned: Vec<String> = csv(',')
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let cells: Vec<&str> = line.split(',').rev().collect();
            let (index, other) =
                if i == 0 { (String::new(), "note") } else { ((i - 1).to_string(), "z") };
            format!("{index},{},{other}", cells.join(","))
        })
        .collect();
    fs::write(dir.path().join("turned.csv"), turned.join("\n")).unwrap();
    let output = run_line(dir.path(), "predict model.json turned.csv");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    let notes = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        notes,
        "note: turned.csv: the first column has no name, so it is taken for an index and left out\n"
    );
}

#[test]
fn arrays_and_libsvm_name_their_columns_by_number() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    let value = |i: usize, j: usize| ((i * 37 + j * 61 + i * j) % 50) as f64 / 4.0 - 6.0;
    let label = |i: usize| u8::from(value(i, 0) > value(i, 2));
    let data: Vec<u8> =
        (0..ROWS).flat_map(|i| (0..3).flat_map(move |j| value(i, j).to_le_bytes())).collect();
    let matrix = npy("<f8", &format!("({ROWS}, 3)"), &data);
    let labels = npy("|u1", &format!("({ROWS},)"), &(0..ROWS).map(label).collect::<Vec<u8>>());
    write("points.npy", &matrix);
    write("all.npz", &npz(&[("X.npy", &matrix), ("y.npy", &labels)]));
    let mut table = "x0,x1,x2,y\n".to_owned();
    let (mut svm, mut dense) = (String::new(), "label,1,2,3\n".to_owned());
    for i in 0..ROWS {
        let [a, b, c] = [0, 1, 2].map(|j| value(i, j));
        table.push_str(&format!("{a},{b},{c},{}\n", label(i)));
        dense.push_str(&format!("{},{a},{b},{c}\n", label(i)));
        let pair = |j: usize, v: f64| if v == 0.0 { String::new() } else { format!(" {j}:{v}") };
        svm.push_str(&format!("{}{}{}{}\n", label(i), pair(1, a), pair(2, b), pair(3, c)));
    }
    write("table.csv", table.as_bytes());
    write("dense.csv", dense.as_bytes());
    write("sparse.txt", svm.as_bytes());
    for (label, files) in [("y", ["table.csv", "all.npz"]), ("label", ["dense.csv", "sparse.txt"])]
    {
        let mut models = Vec::new();
        for file in files {
            let args = format!("fit {file} --label {label} --learner perceptron -o {file}.json");
            succeed(dir.path(), &args);
            // The recipe records how columns were read, which differs between the formats.
            models.push(model(dir.path(), &format!("{file}.json"))["pipeline"]["model"].clone());
        }
        assert_eq!(models[0], models[1], "{label}");
    }
    let expected = predictions(dir.path(), "table.csv.json", "table.csv");
    assert_eq!(predictions(dir.path(), "all.npz.json", "points.npy"), expected);
    assert_eq!(predictions(dir.path(), "sparse.txt.json", "sparse.txt"), expected);
    // A model of sparse entries predicts a table of columns, and copies a column that it learned from.
    let copied = good(dir.path(), &["predict", "sparse.txt.json", "dense.csv", "--keep", "2"]);
    assert!(copied.lines().next().unwrap().split(',').any(|name| name == "2"), "{copied}");
    let first = value(0, 1).to_string();
    assert!(copied.lines().nth(1).unwrap().split(',').any(|cell| cell == first), "{copied}");
    let (mut starts, mut columns, mut entries) = (vec![0i32], Vec::<i32>::new(), Vec::<f64>::new());
    for i in 0..ROWS {
        for j in (0..3).filter(|j| value(i, *j) != 0.0) {
            columns.push(j as i32);
            entries.push(value(i, j));
        }
        starts.push(columns.len() as i32);
    }
    let integers =
        |values: &[i32]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
    let count = |len: usize| format!("({len},)");
    let parts: [(&str, Vec<u8>); 6] = [
        ("format.npy", npy("|S3", "()", b"csr")),
        ("shape.npy", npy("<i4", "(2,)", &integers(&[ROWS as i32, 3]))),
        ("indptr.npy", npy("<i4", &count(starts.len()), &integers(&starts))),
        ("indices.npy", npy("<i4", &count(columns.len()), &integers(&columns))),
        (
            "data.npy",
            npy(
                "<f8",
                &count(entries.len()),
                &entries.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(),
            ),
        ),
        ("y.npy", labels.clone()),
    ];
    write("csr.npz", &npz(&parts.each_ref().map(|(name, bytes)| (*name, bytes.as_slice()))));
    succeed(dir.path(), "fit csr.npz --label y --learner perceptron -o csr.npz.json");
    assert_eq!(predictions(dir.path(), "csr.npz.json", "table.csv"), expected);
    // Labels are often stored as a matrix with one column.
    write(
        "column.npy",
        &npy("|u1", &format!("({ROWS}, 1)"), &(0..ROWS).map(label).collect::<Vec<u8>>()),
    );
    succeed(dir.path(), "fit points.npy --labels column.npy --learner perceptron -o column.json");
    assert_eq!(predictions(dir.path(), "column.json", "points.npy"), expected);
    // Rows without entries are rows of zeros. If the indices of a file are counted from 1, a note says that they may be
    // shifted.
    let zeros: String =
        (0..ROWS).map(|i| format!("{} 0:{} 1:0\n", label(i), value(i, 0))).collect();
    write("zero.txt", zeros.as_bytes());
    succeed(dir.path(), "fit zero.txt --label label --learner perceptron -o zero.json");
    write("one.txt", b"0 1:2.5 2:1\n1\n");
    let said = run_line(dir.path(), "predict zero.json one.txt -o one.csv");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("no row has an index 0, but the model has a column 0"), "{said}");
    assert!(!said.contains("no value in any column"), "{said}");
    let said = run_line(dir.path(), "predict zero.json zero.txt -o two.csv");
    assert!(!String::from_utf8(said.stderr).unwrap().contains("index 0, but"));
    // The other way round, each number would be that of the previous column.
    succeed(
        dir.path(),
        "fit sparse.txt --label label --learner perceptron -o counted.json --force",
    );
    write("from_zero.txt", b"0 0:2.5 1:1\n1\n");
    let said = run_line(dir.path(), "predict counted.json from_zero.txt -o four.csv");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("index 0 occurs, but the model has no column 0"), "{said}");
    // An array with more columns may be another array, or transposed.
    write("wide.npy", &npy("<f8", "(2, 9)", &[0; 144]));
    let said = run_line(dir.path(), "predict column.json wide.npy -o five.csv");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(
        said.contains("wide.npy: it has 9 columns, but the last column that the model knows is x"),
        "{said}"
    );
    let said = run_line(dir.path(), "predict column.json points.npy -o six.csv");
    assert!(!String::from_utf8(said.stderr).unwrap().contains("the last column that"));
    // Neither note is printed for a model whose indices or columns are counted from 1.
    write("extra.txt", b"0 1:2.5 4:1\n1\n");
    for model in ["sparse.txt.json", "dense.csv.json"] {
        let said = run_line(dir.path(), &format!("predict {model} extra.txt -o {model}.out"));
        let text = String::from_utf8(said.stderr).unwrap();
        assert!(said.status.success() && !text.contains("index 0, but"), "{text}");
        assert!(!text.contains("no value in any column"), "{text}");
    }
    // Entries at indices that occur in no row are zero.
    write("short.txt", b"0 1:2.5\n0 2:1\n");
    write("short.csv", b"1,2,3\n2.5,0,0\n0,1,0\n");
    let expected = predictions(dir.path(), "sparse.txt.json", "short.csv");
    assert_eq!(predictions(dir.path(), "sparse.txt.json", "short.txt"), expected);
}

/// All names are preserved in a pandas table whose columns are named after years and whose classes are named by
/// numbers.
#[test]
fn numeric_names_of_columns_and_classes_are_preserved() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = ",2019,2020,2021,class\n".to_owned();
    for i in 0..90 {
        let group = i % 3;
        let cell = |j: usize| {
            f64::from(u8::from(j == group)) * 3.0 + ((i * 31 + j * 17) % 10) as f64 / 10.0
        };
        text.push_str(&format!(
            "{i},{},{},{},{}\n",
            cell(0),
            cell(1),
            cell(2),
            ["01", "1.50", "x y"][group]
        ));
    }
    fs::write(dir.path().join("years.csv"), text).unwrap();
    for learner in ["auto", "logistic", "svm", "massart", "perspectron", "perceptron"] {
        let args = format!("fit years.csv --label class --learner {learner} -o {learner}.json");
        succeed(dir.path(), &args);
        let model = model(dir.path(), &format!("{learner}.json"));
        assert_eq!(model["pipeline"]["label"]["classes"], serde_json::json!(["01", "1.50", "x y"]));
        let columns: Vec<&str> = model["pipeline"]["recipe"]["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["name"].as_str().unwrap())
            .collect();
        assert_eq!(columns, ["2019", "2020", "2021"]);
        let labels = predictions(dir.path(), &format!("{learner}.json"), "years.csv");
        let found: Vec<&str> =
            labels.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
        let right =
            found.iter().enumerate().filter(|(i, l)| **l == ["01", "1.50", "x y"][i % 3]).count();
        assert!(right >= 88, "{learner}: {right} of 90");
    }
}

/// A column of an unsupported type must be dropped explicitly, but is ignored if it is not used. A note reports
/// integers that were rounded.
#[test]
fn unsupported_columns_and_rounded_integers() {
    let dir = tempfile::tempdir().unwrap();
    let ids: Vec<i64> = (0..40).map(|i| (1 << 53) + i).collect();
    let labels: Vec<bool> = (0..40).map(|i| i % 3 == 0).collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("t", Arc::new(TimestampMicrosecondArray::from(ids.clone()))),
        ("id", Arc::new(Int64Array::from(ids))),
        ("y", Arc::new(BooleanArray::from(labels))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    fs::write(dir.path().join("t.parquet"), parquet_file(&batch, Compression::SNAPPY)).unwrap();
    let run = |args: &str| run_line(dir.path(), args);
    let error = |args: &str| String::from_utf8(run(args).stderr).unwrap();
    let fit = "fit t.parquet --label y --learner logistic -o m.json --force";
    // Timestamps are read as dates, as a note states.
    let dates = "column `t`: read as dates";
    assert!(error(fit).contains(dates), "{}", error(fit));
    let said = error(&format!("{fit} --drop t"));
    let rounded = "t.parquet, row 1, column `id`: 9007199254740993 is rounded";
    assert!(said.contains(rounded), "{said}");
    let predicted = run("predict m.json t.parquet");
    assert!(predicted.status.success() && predicted.stderr.is_empty());
    assert_eq!(predicted.stdout.iter().filter(|byte| **byte == b'\n').count(), 41);
    // Categories and dropped columns are not rounded.
    for option in ["--drop t --category id --text id", "--drop t --drop id"] {
        assert!(!error(&format!("{fit} {option}")).contains("rounded"), "{option}");
    }
    let text: String = (0..40).map(|i| format!("900719925474099{i},{}\n", i % 2)).collect();
    fs::write(dir.path().join("t.csv"), format!("id,y\n{text}")).unwrap();
    let said = error("fit t.csv --label y --learner logistic -o m.json --force");
    assert!(said.contains("t.csv, line 5, column `id`: 9007199254740993 is rounded"), "{said}");
}

/// A missing-value marker that is passed to `fit` also applies to arrays, both in `fit` and for new rows.
#[test]
fn missing_markers_apply_to_arrays() {
    let dir = tempfile::tempdir().unwrap();
    let value = |i: usize, j: usize| match (i % 9, j) {
        (4, 0) => -999.0,
        (_, 0) => (i * 37 % 50) as f64,
        _ => f64::from(u8::from(i * 37 % 50 > 25)),
    };
    let data: Vec<u8> =
        (0..ROWS).flat_map(|i| (0..2).flat_map(move |j| value(i, j).to_le_bytes())).collect();
    fs::write(dir.path().join("m.npy"), npy("<f8", &format!("({ROWS}, 2)"), &data)).unwrap();
    let text: String = (0..ROWS).map(|i| format!("{},{}\n", value(i, 0), value(i, 1))).collect();
    fs::write(dir.path().join("m.csv"), format!("x0,x1\n{text}")).unwrap();
    for file in ["m.npy", "m.csv"] {
        let args =
            format!("fit {file} --label x1 --missing -999 --learner logistic -o {file}.json");
        succeed(dir.path(), &args);
    }
    let expected = predictions(dir.path(), "m.csv.json", "m.csv");
    for (model, file) in [("m.csv.json", "m.npy"), ("m.npy.json", "m.npy"), ("m.npy.json", "m.csv")]
    {
        assert_eq!(predictions(dir.path(), model, file), expected, "{model} {file}");
    }
}

/// `correct` and `inspect` write the cells of typed files as they are: long integers, words such as `None`, booleans.
#[test]
fn cells_of_typed_files_are_written_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let first = 1_730_000_000_000_000_001_i64;
    let ids: Vec<i64> = (0..4).map(|i| first + i).collect();
    let id_bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let sums = Decimal128Array::from(vec![i128::from(first) * 10_000, 150, -200, 0]);
    let columns: [(&str, ArrayRef); 5] = [
        ("id", Arc::new(Int64Array::from(ids.clone()))),
        ("sum", Arc::new(sums.with_precision_and_scale(38, 2).unwrap())),
        ("b", Arc::new(BooleanArray::from(vec![true, false, true, false]))),
        ("c", Arc::new(StringArray::from(vec![Some("NA"), Some("?"), None, Some("x")]))),
        ("y", Arc::new(StringArray::from(vec!["None", "None", "ok", "ok"]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    fs::write(dir.path().join("t.parquet"), parquet_file(&batch, Compression::SNAPPY)).unwrap();
    let letters = |words: &[&str]| -> Vec<u8> {
        words.iter().flat_map(|word| format!("{word:\0<4}").into_bytes()).collect()
    };
    let arrays = [
        ("id.npy", npy("<i8", "(4,)", &id_bytes)),
        ("y.npy", npy("|S4", "(4,)", &letters(&["None", "None", "ok", "ok"]))),
    ];
    let files: Vec<(&str, &[u8])> = arrays.iter().map(|(name, of)| (*name, &of[..])).collect();
    fs::write(dir.path().join("t.npz"), npz(&files)).unwrap();
    fs::write(dir.path().join("c.csv"), "row,label\n0,ok\n").unwrap();
    let id = |i: i64| first + i;
    let typed = |y: &str| {
        format!(
            "id,sum,b,c,y\n{},{first}00,true,NA,{y}\n{},1.5,false,?,None\n{},-2,true,,ok\n{},0,false,x,ok\n",
            id(0),
            id(1),
            id(2),
            id(3)
        )
    };
    succeed(dir.path(), "correct t.parquet --label y --with c.csv -o o.csv");
    assert_eq!(fs::read_to_string(dir.path().join("o.csv")).unwrap(), typed("ok"));
    succeed(dir.path(), "inspect t.parquet -o o.csv --force");
    assert_eq!(fs::read_to_string(dir.path().join("o.csv")).unwrap(), typed("None"));
    // The index of a data frame is kept as well.
    let of_pandas = [("pandas".to_owned(), r#"{"index_columns": ["id"]}"#.to_owned())];
    let schema = batch.schema().as_ref().clone().with_metadata(HashMap::from(of_pandas));
    let indexed = batch.with_schema(Arc::new(schema)).unwrap();
    fs::write(dir.path().join("t.parquet"), parquet_file(&indexed, Compression::SNAPPY)).unwrap();
    succeed(dir.path(), "correct t.parquet --label y --with c.csv -o o.csv --force");
    assert_eq!(fs::read_to_string(dir.path().join("o.csv")).unwrap(), typed("ok"));
    succeed(dir.path(), "correct t.npz --label y --with c.csv -o o.csv --force");
    let expected = format!("id,y\n{},ok\n{},None\n{},ok\n{},ok\n", id(0), id(1), id(2), id(3));
    assert_eq!(fs::read_to_string(dir.path().join("o.csv")).unwrap(), expected);
}

/// Labels in Parquet that were shuffled after pandas numbered their rows are not joined in order.
#[test]
fn shuffled_labels_of_pandas_are_not_joined_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let table: String = (0..40).map(|i| format!("{}.5\n", i * 7 % 20)).collect();
    fs::write(dir.path().join("x.csv"), format!("x\n{table}")).unwrap();
    for (turned, name) in [(true, "id"), (true, "__index_level_0__"), (false, "__index_level_0__")]
    {
        let order: Vec<i64> = (0..40).map(|i| if turned { 39 - i } else { i }).collect();
        let label = |row: &i64| if row * 7 % 20 > 9 { "high" } else { "low" };
        let labels: StringArray = order.iter().map(|row| Some(label(row))).collect();
        let columns: [(&str, ArrayRef); 2] =
            [("label", Arc::new(labels)), (name, Arc::new(Int64Array::from(order)))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let of_pandas = [("pandas".to_owned(), format!(r#"{{"index_columns": ["{name}"]}}"#))];
        let schema = batch.schema().as_ref().clone().with_metadata(HashMap::from(of_pandas));
        let batch = batch.with_schema(Arc::new(schema)).unwrap();
        fs::write(dir.path().join("y.parquet"), parquet_file(&batch, Compression::SNAPPY)).unwrap();
        let fit = "fit x.csv --labels y.parquet --learner logistic -o m.json --force";
        let output = run_line(dir.path(), fit);
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = if turned {
            "y.parquet, row 0, the index: `39` here, but 0 is expected"
        } else {
            "y.parquet: the labels are joined to the rows of x.csv in order"
        };
        assert_eq!(output.status.code(), Some(if turned { 2 } else { 0 }), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

/// No column of a wide matrix is lost.
#[test]
fn all_columns_of_a_wide_matrix_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (0..2 * 1500).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    fs::write(dir.path().join("t.npy"), npy("<f8", "(2, 1500)", &data)).unwrap();
    succeed(dir.path(), "inspect t.npy -o o.csv");
    let written = fs::read_to_string(dir.path().join("o.csv")).unwrap();
    assert_eq!(written.lines().map(|line| line.split(',').count()).collect::<Vec<_>>(), [1500; 3]);
}
