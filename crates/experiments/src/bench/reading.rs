//! Reading text files, CSV and LIBSVM, beside counting the line ends of the text.

use super::definition::{Build, Definition, Job, Target, digest};
use super::limits::count_lines;
use super::pools::sparse;
use super::shape::{Shape, shape};
use crate::Failure;
use halfspaces_data::read::{
    CsvOptions, CsvSchema, CsvStream, LibsvmOptions, LibsvmSchema, LibsvmStream, read_csv,
    read_libsvm, write_libsvm,
};
use halfspaces_data::{Gaussian, Marginal, random_target};
use halfspaces_linalg::{Classifier, ExampleStream, Label, PointSet, RowView, SparsePoints};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use tempfile::NamedTempFile;

pub(super) const JOBS: &[Definition] = &[
    csv("csv-stream", "CSV, streamed", |_, shape| {
        let schema = CsvSchema::scan(csv_text(shape)?.as_bytes(), "text", &CsvOptions::new())?;
        let stream = move |file: &NamedTempFile| {
            Seen::of_stream(&mut CsvStream::open(file.path(), schema.clone())?)
        };
        job(csv_text(shape)?.as_bytes(), stream)
    }),
    csv("csv", "CSV, scanned and read into points", |_, shape| {
        let read = |file: &NamedTempFile| {
            let data = read_csv(file.path(), &CsvOptions::new())?;
            Ok(Seen::of(data.points(), data.labels()))
        };
        job(csv_text(shape)?.as_bytes(), read)
    }),
    libsvm("libsvm-stream", "LIBSVM, streamed (nonzeros a row)", |_, shape| {
        let schema = LibsvmSchema::declared(&LibsvmOptions::new().dim(shape.d))?;
        let stream = move |file: &NamedTempFile| {
            Seen::of_stream(&mut LibsvmStream::open(file.path(), schema.clone())?)
        };
        job(&libsvm_text(shape)?, stream)
    }),
    libsvm("libsvm", "LIBSVM, scanned and read into points (nonzeros a row)", |_, shape| {
        let read = |file: &NamedTempFile| {
            let data = read_libsvm(file.path(), &LibsvmOptions::new())?;
            Ok(Seen::of(data.points(), data.labels()))
        };
        job(&libsvm_text(shape)?, read)
    }),
];

const fn csv(id: &'static str, what: &'static str, build: Build) -> Definition {
    reading(id, what, [shape(50, 7, 0), shape(50_000, 50, 0), shape(200_000, 50, 0)], build)
}

const fn libsvm(id: &'static str, what: &'static str, build: Build) -> Definition {
    let shapes = [shape(50, 90, 7), shape(30_000, 50_000, 75), shape(100_000, 50_000, 75)];
    reading(id, what, shapes, build)
}

const fn reading(
    id: &'static str,
    what: &'static str,
    shapes: [Shape; 3],
    build: Build,
) -> Definition {
    let (limit, target) = ("count of line ends", Target::UnitsASecond(4e8));
    Definition { id, what, limit, target, shapes, build }
}

/// Sums over all that was read, cheap beside the reading.
#[derive(Debug, Default)]
pub(super) struct Seen {
    values: u64,
    columns: u64,
    pub(super) positive: u64,
    pub(super) rows: u64,
}

impl Seen {
    fn of_stream<S: ExampleStream>(stream: &mut S) -> Result<Seen, Failure>
    where
        S::Error: std::error::Error + Send + Sync + 'static,
    {
        let mut seen = Seen::default();
        while let Some((x, y)) = stream.next_row()? {
            seen.row(x, y);
        }
        Ok(seen)
    }

    fn of<P: PointSet>(points: &P, labels: &[Label]) -> Seen {
        let mut seen = Seen::default();
        points.rows().zip(labels).for_each(|(x, y)| seen.row(x, *y));
        seen
    }

    #[inline]
    fn row<R: RowView>(&mut self, x: R, y: Label) {
        x.entries().for_each(|(j, v)| self.value(j, v));
        self.positive += u64::from(y == Label::Positive);
        self.rows += 1;
    }

    #[inline]
    pub(super) fn value(&mut self, column: usize, value: f64) {
        self.values = self.values.wrapping_add(value.to_bits());
        self.columns += column as u64;
    }

    pub(super) fn digest(&self) -> u64 {
        digest([self.values, self.columns, self.positive, self.rows])
    }
}

fn job(
    text: &[u8],
    read: impl Fn(&NamedTempFile) -> Result<Seen, Failure> + 'static,
) -> Result<Job, Failure> {
    let mut file = NamedTempFile::new()?;
    file.write_all(text)?;
    file.flush()?;
    let (text, size) = (text.to_vec(), text.len());
    let limit = move || {
        black_box(count_lines(&text));
        Ok(())
    };
    Ok(Job::new(move || Ok(read(&file)?.digest()), limit).units(move || size as f64))
}

/// Normal points with six decimals under a header.
pub(super) fn csv_text(shape: Shape) -> Result<String, Failure> {
    let points = Gaussian::new(shape.d, 1.0)?.sample(shape.n, 1)?;
    let labels = random_target(shape.d, 2)?.label_all(&points)?;
    let mut text = String::new();
    for j in 0..shape.d {
        write!(text, "x{j},")?;
    }
    text.push_str("label\n");
    for (row, y) in points.rows().zip(labels) {
        for v in row.as_slice() {
            write!(text, "{v:.6},")?;
        }
        text.push_str(if y == Label::Positive { "1\n" } else { "-1\n" });
    }
    Ok(text)
}

/// Sparse points with six decimals at most.
pub(super) fn libsvm_text(shape: Shape) -> Result<Vec<u8>, Failure> {
    let pool = sparse(shape.n, shape.d, shape.more)?;
    let mut points = SparsePoints::empty(shape.d)?;
    for x in pool.points.rows() {
        // None becomes 0, which would not be written.
        let short = |v: &f64| (v.abs() * 1e6).round().max(1.0).copysign(*v) / 1e6;
        points.push(x.columns(), &x.values().iter().map(short).collect::<Vec<_>>())?;
    }
    let mut text = Vec::new();
    write_libsvm(&mut text, &points, &pool.labels)?;
    Ok(text)
}
