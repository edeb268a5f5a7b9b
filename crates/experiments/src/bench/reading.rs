//! Jobs: reading CSV and LIBSVM files. The limit is the time to count the line ends of the text.

use super::definition::{Build, Definition, Job, Target, digest};
use super::limits::count_lines;
use super::pools::{Pool, sparse};
use super::shape::{Shape, shape};
use crate::Failure;
use halfspaces_data::{Gaussian, Marginal, random_target, write_libsvm};
use halfspaces_frame::{Block, Frame, Hints, LargeTable, ReadOptions, Values, read};
use halfspaces_linalg::{Classifier, Label, PointSet, RowView, SparsePoints, Threads};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use tempfile::NamedTempFile;

pub(super) const JOBS: &[Definition] = &[
    csv("csv-stream", "CSV, streamed", |_, shape| job(csv_text(shape)?.as_bytes(), streamed)),
    csv("csv", "CSV, read into a table", |_, shape| {
        job(csv_text(shape)?.as_bytes(), |file| whole(file, Threads::ONE))
    }),
    libsvm("libsvm-stream", "LIBSVM, streamed (n x d, nonzeros per row)", |_, shape| {
        job(&libsvm_text(shape)?, streamed)
    }),
    libsvm("libsvm", "LIBSVM, read into a table (n x d, nonzeros per row)", |_, shape| {
        job(&libsvm_text(shape)?, |file| whole(file, Threads::ONE))
    }),
];

/// Number of rows of a stream that are in memory at a time.
const ROWS: usize = 4096;

/// Reads a whole file into memory.
pub(super) fn whole(file: &NamedTempFile, threads: Threads) -> Result<Seen, Failure> {
    let options = ReadOptions { threads, ..ReadOptions::default() };
    let mut seen = Seen::default();
    seen.frame(&read(file.path(), &options, &Hints::default())?);
    Ok(seen)
}

/// Reads a file in chunks.
fn streamed(file: &NamedTempFile) -> Result<Seen, Failure> {
    let hints = Hints::default();
    let table = LargeTable::open(file.path(), &ReadOptions::default(), hints.clone())?;
    let (seen, _) = table.in_chunks(&hints, ROWS, |parts| {
        let mut seen = Seen::default();
        for part in parts {
            seen.frame(&part?);
        }
        Ok::<_, Failure>(seen)
    })?;
    Ok(seen)
}

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

/// Sums over all values that were read. Computing them takes little time compared with reading.
#[derive(Debug, Default)]
pub(super) struct Seen {
    values: u64,
    columns: u64,
    pub(super) rows: u64,
}

impl Seen {
    fn frame(&mut self, frame: &Frame) {
        for (at, column) in frame.columns.iter().enumerate() {
            match &column.values {
                Values::Numbers(numbers) => {
                    numbers.values().iter().for_each(|v| self.value(at, *v));
                }
                // In a LIBSVM file, the column of labels is read as text.
                Values::Texts(texts) => {
                    let number = |label: &str| match label.parse() {
                        Ok(number) => number,
                        Err(_) => unreachable!("the file has numeric labels"),
                    };
                    let numbers: Vec<f64> = texts.levels().map(number).collect();
                    texts.codes().iter().for_each(|code| self.value(at, numbers[*code as usize]));
                }
                Values::Moments(_) => unreachable!("the file has no dates"),
            }
        }
        if let Some(Block::Sparse(block)) = &frame.block {
            block.points().rows().for_each(|row| row.entries().for_each(|(j, v)| self.value(j, v)));
        }
        self.rows += frame.rows as u64;
    }

    #[inline]
    pub(super) fn value(&mut self, column: usize, value: f64) {
        self.values = self.values.wrapping_add(value.to_bits());
        self.columns += column as u64;
    }

    pub(super) fn digest(&self) -> u64 {
        digest([self.values, self.columns, self.rows])
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

/// CSV text of Gaussian points with six decimals and a header.
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

/// Sparse points whose values have at most six decimals.
pub(super) fn short_sparse(shape: Shape) -> Result<Pool<SparsePoints>, Failure> {
    let pool = sparse(shape.n, shape.d, shape.more)?;
    let mut points = SparsePoints::empty(shape.d)?;
    for x in pool.points.rows() {
        // No value is rounded to 0, since zeros are not written.
        let short = |v: &f64| (v.abs() * 1e6).round().max(1.0).copysign(*v) / 1e6;
        points.push(x.columns(), &x.values().iter().map(short).collect::<Vec<_>>())?;
    }
    Ok(Pool { points, labels: pool.labels })
}

pub(super) fn libsvm_text(shape: Shape) -> Result<Vec<u8>, Failure> {
    let pool = short_sparse(shape)?;
    let mut text = Vec::new();
    write_libsvm(&mut text, &pool.points, &pool.labels)?;
    Ok(text)
}
