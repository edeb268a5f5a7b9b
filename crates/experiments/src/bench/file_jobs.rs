//! Our side of the comparison with other programs (benches/peers). The pools are written to files that all programs
//! read. Jobs on these files are timed on request, so that our jobs can alternate with those of the other programs.
//!
//! `serve` writes the files and prints `{"ready": true}`. Each line of its input then names a job. `serve` runs the job
//! and answers with one line of JSON: the time of the job in seconds, and a number that identifies its result. Like the
//! peers, `serve` repeats a quick job before timing it, since a process runs slowly after a wait. Dense points are
//! little-endian 64-bit numbers in row order; labels are bytes, 1 and -1.

use super::definition::timed;
use super::passes;
use super::pools::{Pool, Pools, noisy};
use super::products::{Race, choose, fresh_kernel, kernel_pool, race};
use super::reading::{csv_text, short_sparse};
use super::shape::{Shape, shape};
use crate::Failure;
use crate::console::say;
use halfspaces_data::{random_target, write_libsvm};
use halfspaces_frame::{Block, Format, Frame, Hints, ReadOptions, read};
use halfspaces_linalg::{Label, PointSet, Points, SparsePoints, Threads, largest_margins};
use halfspaces_online::{Aggressiveness, OnlineLearner, PassiveAggressive, Perceptron};
use halfspaces_pac::Elimination;
use serde_json::json;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

const DENSE: [Shape; 3] = [shape(1_000_000, 50, 0), shape(100_000, 20, 0), shape(100_000, 500, 0)];
const SPARSE: Shape = shape(100_000, 50_000, 75);
const CSV: Shape = shape(200_000, 50, 0);
const KERNEL: Shape = shape(20_000, 20, 0);
/// Largest time of a quick job, in seconds.
const QUICK: f64 = 0.05;
/// Time for which a quick job is repeated before it is timed.
const WARM: Duration = Duration::from_millis(100);
const RACE: Shape = shape(10_000, 50, 100_000);

/// The data of all jobs.
struct Served {
    folder: PathBuf,
    dense: Vec<Rc<Pool<Points>>>,
    sparse: Pool<SparsePoints>,
    kernel: (Points, Vec<Label>),
    race: Race,
    normal: Vec<f64>,
}

/// Writes the files into `folder` and answers requests until the input ends.
pub(super) fn serve(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder)?;
    let served = Served::write(folder)?;
    say(&format!("{}\n", json!({ "ready": true })))?;
    for line in std::io::stdin().lock().lines() {
        let (name, since) = (line?.trim().to_owned(), Instant::now());
        let mut answer = served.answer(&name)?;
        while answer.1 < QUICK && since.elapsed() < WARM {
            answer = served.answer(&name)?;
        }
        let (result, seconds) = answer;
        say(&format!("{}\n", json!({ "seconds": seconds, "result": result })))?;
    }
    Ok(())
}

fn write_values(path: &Path, values: &[f64]) -> Result<(), Failure> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Ok(fs::write(path, bytes)?)
}

fn write_labels(path: &Path, labels: &[Label]) -> Result<(), Failure> {
    let byte = |y: &Label| if *y == Label::Positive { 1u8 } else { 255 };
    Ok(fs::write(path, labels.iter().map(byte).collect::<Vec<u8>>())?)
}

impl Served {
    fn write(folder: &Path) -> Result<Served, Failure> {
        let at = |name: &str| folder.join(name);
        let mut dense = Vec::new();
        for Shape { n, d, .. } in DENSE {
            let pool = Pools::default().ball(n, d)?;
            write_values(&at(&format!("dense-{d}.f64")), pool.points.as_slice())?;
            write_labels(&at(&format!("dense-{d}.i8")), &pool.labels)?;
            dense.push(pool);
        }
        let sparse = short_sparse(SPARSE)?;
        write_libsvm(fs::File::create(at("sparse.libsvm"))?, &sparse.points, &sparse.labels)?;
        fs::write(at("dense.csv"), csv_text(CSV)?)?;
        let kernel = kernel_pool(KERNEL.n, KERNEL.d)?;
        write_values(&at("kernel.f64"), kernel.0.as_slice())?;
        write_labels(&at("kernel-clean.i8"), &kernel.1)?;
        write_labels(&at("kernel-noisy.i8"), &noisy(&kernel.1))?;
        let race = race(RACE.n, RACE.d, RACE.more)?;
        write_values(&at("race.f64"), race.points.as_slice())?;
        write_labels(&at("race.i8"), &race.labels)?;
        write_values(&at("candidates.f64"), race.candidates.as_slice())?;
        let normal = random_target(DENSE[0].d, 3)?.into_normal();
        write_values(&at("normal.f64"), &normal)?;
        Ok(Served { folder: folder.into(), dense, sparse, kernel, race, normal })
    }

    fn read(&self, name: &str, format: Format, threads: Threads) -> Result<Frame, Failure> {
        let options = ReadOptions { format: Some(format), threads, ..ReadOptions::default() };
        Ok(read(&self.folder.join(name), &options, &Hints::default())?)
    }

    fn dense(&self, d: usize) -> Result<&Pool<Points>, Failure> {
        let pool = self.dense.iter().find(|pool| pool.points.dim() == d);
        Ok(pool.ok_or_else(|| format!("no pool of dimension {d}"))?)
    }

    /// Runs a job. Returns a number that identifies its result, and its time in seconds.
    fn answer(&self, job: &str) -> Result<(u64, f64), Failure> {
        let (name, number) = job.split_once(' ').unwrap_or((job, "0"));
        let number: usize = number.parse()?;
        Ok(match name {
            "perceptron" => timed(|| updates_of_perceptron(self.dense(number)?))?,
            "passive-aggressive" => {
                let pool = self.dense(number)?;
                timed(|| {
                    let c = Aggressiveness::Capped(passes::CAP);
                    pass(PassiveAggressive::new(pool.points.dim(), c)?, pool)
                })?
            }
            "sparse" => timed(|| updates_of_perceptron(&self.sparse))?,
            "scan" => timed(|| {
                let points = &self.dense(DENSE[0].d)?.points;
                let threads = Threads::new(number.max(1))?;
                let best = largest_margins(points, &self.normal, 1, threads)?;
                Ok(*best.first().ok_or("a pool without points")? as u64)
            })?,
            "selection" => timed(|| chosen(&self.race, Elimination::Never))?,
            "selection-statistical" => timed(|| chosen(&self.race, Elimination::Statistical))?,
            "selection-early-stop" => timed(|| chosen(&self.race, Elimination::EarlyStop))?,
            "kernel" => timed(|| {
                let (points, clean) = &self.kernel;
                let labels = if number > 0 { noisy(clean) } else { clean.clone() };
                let mut learner = fresh_kernel(points.dim())?;
                Ok(learner.learn_all(points, &labels)?.mistakes() as u64)
            })?,
            "csv" => timed(|| {
                let threads = Threads::new(number.max(1))?;
                Ok(self.read("dense.csv", Format::Csv, threads)?.rows as u64)
            })?,
            "libsvm" => timed(|| {
                let frame = self.read("sparse.libsvm", Format::Libsvm, Threads::ONE)?;
                Ok(frame.block.as_ref().map_or(0, Block::stored) as u64)
            })?,
            _ => return Err(format!("unknown job {job:?}").into()),
        })
    }
}

fn chosen(race: &Race, elimination: Elimination) -> Result<u64, Failure> {
    Ok(choose(race, elimination, Threads::ONE)?.index as u64)
}

fn updates_of_perceptron<P: PointSet>(pool: &Pool<P>) -> Result<u64, Failure> {
    pass(Perceptron::new(pool.points.dim())?, pool)
}

/// Makes one pass and returns the number of updates.
fn pass<L: OnlineLearner, P: PointSet>(mut learner: L, pool: &Pool<P>) -> Result<u64, Failure> {
    learner.learn_pool(&pool.points, &pool.labels)?;
    Ok(learner.updates())
}
