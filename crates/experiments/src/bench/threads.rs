//! Jobs on one thread and on two threads: the results must be equal, and the speedup is measured.

use super::definition::{Size, digest, digest_of, duration, timed};
use super::pools::{Pools, noisy};
use super::products::{choose, fresh_kernel, kernel_pool, mistakes, race};
use super::reading::{csv_text, whole};
use super::scans::{LARGEST, indices};
use super::shape::{Shape, shape};
use super::walks::version_space;
use crate::Failure;
use halfspaces_data::random_target;
use halfspaces_data::{Gaussian, Marginal};
use halfspaces_eval::stats;
use halfspaces_features::{KernelValues, RadialKernel, Transformed};
use halfspaces_forster::ForsterTransform;
use halfspaces_linalg::{Classifier, FitSample, Label, Params, PointSet, Threads, largest_margins};
use halfspaces_online::{Centre, Greedy};
use halfspaces_pac::{Elimination, LinearSvm, LogisticRegression, OneVsRest, SamplePerspectron};
use serde::Serialize;
use std::fmt;
use std::io::Write as _;
use tempfile::NamedTempFile;

/// Number of centres at which kernel values are computed.
const CENTRES: usize = 500;

/// A prepared job, which runs on a given number of threads and returns a digest of its result.
type Run = Box<dyn FnMut(Threads) -> Result<u64, Failure>>;

/// A job that runs on several threads.
#[derive(Debug)]
pub(super) struct Series {
    /// The name for `--only`. It is the same as in the table of jobs, if the job is also listed there.
    pub(super) id: &'static str,
    what: &'static str,
    /// Sizes for tests, for quick runs and for full runs.
    shapes: [Shape; 3],
    build: fn(Shape) -> Result<Run, Failure>,
}

const fn series(
    id: &'static str,
    what: &'static str,
    shapes: [Shape; 3],
    build: fn(Shape) -> Result<Run, Failure>,
) -> Series {
    Series { id, what, shapes, build }
}

pub(super) const SERIES: [Series; 12] = [
    series(
        "scan",
        "100 largest abs(w.x)",
        sizes(10_000, 300_000, 1_000_000, 50, 0),
        |Shape { n, d, .. }| {
            let pool = Pools::default().ball(n, d)?;
            let w = random_target(d, 3)?.into_normal();
            Ok(Box::new(move |t| Ok(indices(largest_margins(&pool.points, &w, LARGEST, t)?))))
        },
    ),
    series(
        "greedy",
        "greedy until every label is correct",
        sizes(1500, 300_000, 1_000_000, 50, 0),
        |shape| {
            let pool = Pools::default().sphere(shape.n, shape.d)?;
            Ok(Box::new(move |t| {
                let run = Greedy::simulate_on(&pool.points, &pool.labels, t)?;
                Ok(digest_of(run.halfspace().normal(), run.mistakes().len() as u64))
            }))
        },
    ),
    series(
        "selection",
        "choice among candidates, no elimination",
        sizes(600, 4096, 10_000, 50, 20_000),
        |shape| {
            let race = race(shape.n, shape.d, shape.more)?;
            Ok(Box::new(move |t| {
                let choice = choose(&race, Elimination::Never, t)?;
                Ok(digest([choice.index as u64, choice.errors]))
            }))
        },
    ),
    series(
        "hit-and-run",
        "hit-and-run after a cut (constraints)",
        sizes(64, 200, 200, 50, 1000),
        |shape| {
            let (start, cut) = version_space(shape.d, shape.more)?;
            Ok(Box::new(move |t| {
                let mut centre = start.clone().with_threads(t);
                centre.cut(&cut)?;
                Ok(digest_of(centre.centre(), centre.sweeps() as u64))
            }))
        },
    ),
    series(
        "kernel-noisy",
        "Gaussian kernel perceptron on noisy labels",
        sizes(300, 5000, 20_000, 20, 0),
        |shape| {
            let (points, labels) = kernel_pool(shape.n, shape.d)?;
            let labels = noisy(&labels);
            Ok(Box::new(move |t| {
                Ok(mistakes(&fresh_kernel(shape.d)?.learn_all_on(&points, &labels, t)?))
            }))
        },
    ),
    series(
        "forster",
        "Forster transform",
        sizes(500, 30_000, 100_000, 50, 0),
        |Shape { n, d, .. }| {
            let points = Gaussian::new(d, 1.0)?.sample(n, 1)?;
            Ok(Box::new(move |t| {
                let fit = ForsterTransform::params().threads(t).check()?.fit(&points)?;
                Ok(digest([fit.position().certificate.residual().to_bits()]))
            }))
        },
    ),
    series(
        "sample-perspectron",
        "fit of the sample Perspectron to noisy labels",
        sizes(300, 5000, 20_000, 20, 0),
        |shape| {
            let pool = Pools::default().ball(shape.n, shape.d)?;
            let labels = noisy(&pool.labels);
            Ok(Box::new(move |t| {
                let fit =
                    SamplePerspectron::params().threads(t).check()?.fit(&pool.points, &labels)?;
                Ok(digest_of(fit.halfspace().weights(), fit.held_out_errors()))
            }))
        },
    ),
    series(
        "logistic",
        "fit of logistic regression to noisy labels",
        sizes(300, 30_000, 100_000, 50, 0),
        |shape| {
            let pool = Pools::default().ball(shape.n, shape.d)?;
            let labels = noisy(&pool.labels);
            Ok(Box::new(move |t| {
                let fit =
                    LogisticRegression::params().threads(t).check()?.fit(&pool.points, &labels)?;
                Ok(digest_of(fit.halfspace().weights(), fit.steps()))
            }))
        },
    ),
    series(
        "svm",
        "fit of the linear SVM to noisy labels",
        sizes(300, 30_000, 100_000, 50, 0),
        |shape| {
            let pool = Pools::default().ball(shape.n, shape.d)?;
            let labels = noisy(&pool.labels);
            Ok(Box::new(move |t| {
                let fit = LinearSvm::params().threads(t).check()?.fit(&pool.points, &labels)?;
                Ok(digest_of(fit.halfspace().weights(), fit.passes()))
            }))
        },
    ),
    series("classes", "fit of a model for ten classes", sizes(300, 5000, 20_000, 50, 0), |shape| {
        let pool = Pools::default().ball(shape.n, shape.d)?;
        // The class of a point is the index of the largest of its first ten coordinates. Points with fewer coordinates,
        // as in tests, are extended by their negated coordinates.
        let value =
            |x: &[f64], class: usize| if class < x.len() { x[class] } else { -x[class - x.len()] };
        let class = |x: &[f64]| (0..10).max_by(|a, b| value(x, *a).total_cmp(&value(x, *b)));
        let classes = pool.points.rows().map(|x| class(x.as_slice()).ok_or("no class"));
        let classes = classes.collect::<Result<Vec<usize>, _>>()?;
        let learner = OneVsRest::new(LogisticRegression::params().check()?);
        Ok(Box::new(move |t| {
            let model = learner.fit(&pool.points, &classes, t)?;
            let found = model.class_all(&pool.points, t)?;
            Ok(digest(found.into_iter().map(|class| class as u64)))
        }))
    }),
    series(
        "labels",
        "labelling by kernel values at 500 centres",
        sizes(300, 5000, 20_000, 50, 0),
        |shape| {
            let points = Gaussian::new(shape.d, 1.0)?.sample(shape.n, 1)?;
            let centres = points.select(&(0..CENTRES.min(shape.n)).collect::<Vec<_>>())?;
            let kernel = RadialKernel::gaussian(shape.d as f64)?;
            let halfspace = random_target(centres.len(), 3)?;
            let model = Transformed::new(KernelValues::new(centres, kernel)?, halfspace)?;
            Ok(Box::new(move |t| {
                let labels = model.label_all_on(&points, t)?;
                Ok(digest(labels.into_iter().map(|label| u64::from(label == Label::Positive))))
            }))
        },
    ),
    series("csv", "CSV, read into a table", sizes(50, 50_000, 200_000, 50, 0), |shape| {
        let file = file_of(csv_text(shape)?.as_bytes())?;
        Ok(Box::new(move |t| Ok(whole(&file, t)?.digest())))
    }),
];

const fn sizes(toy: usize, quick: usize, full: usize, d: usize, more: usize) -> [Shape; 3] {
    let small = shape(toy, if d > 90 { 90 } else { 5 }, if more > 7 { 7 } else { more });
    [small, shape(quick, d, more), shape(full, d, more)]
}

fn file_of(text: &[u8]) -> Result<NamedTempFile, Failure> {
    let mut file = NamedTempFile::new()?;
    file.write_all(text)?;
    file.flush()?;
    Ok(file)
}

/// The measurement of a job. All times are in seconds.
#[derive(Debug, Serialize)]
pub(super) struct Threaded {
    what: &'static str,
    size: String,
    one: f64,
    two: f64,
    /// Median over rounds of the time on one thread divided by the time on two.
    ratio: f64,
    /// The two factors of the ratio; `None` if the processor time is not available.
    shares: Option<Shares>,
}

/// The factors of the ratio, which is 2 × `busy`/`work`.
#[derive(Debug, Clone, Copy, Serialize)]
struct Shares {
    /// Processor time on two threads divided by that on one. It exceeds 1 because of repeated work, copies, and
    /// contention for memory.
    work: f64,
    /// The fraction of the elapsed time during which a thread runs, averaged over the two threads. For the rest of the
    /// time, the threads wait for a serial part to end or for a thread to start.
    busy: f64,
}

impl fmt::Display for Threaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, size, ratio) = (self.what, &self.size, self.ratio);
        let (one, two) = (duration(self.one), duration(self.two));
        write!(f, "| {what} | {size} | {one} | {two} | {ratio:.2} |")?;
        match self.shares {
            Some(Shares { work, busy }) => write!(f, " {work:.2} | {:.0} % |", 100.0 * busy),
            None => f.write_str(" - | - |"),
        }
    }
}

pub(super) fn table(jobs: &[Series], size: Size) -> Result<(&'static str, Vec<Threaded>), Failure> {
    let head = "| job | size | one thread | two threads | one / two | work, two / one | two are busy |\n\
                |---|---|---|---|---|---|---|\n";
    let rows = jobs.iter().map(|job| measure(job, size));
    Ok((head, rows.collect::<Result<_, _>>()?))
}

fn measure(Series { what, shapes, build, .. }: &Series, size: Size) -> Result<Threaded, Failure> {
    let (at, rounds) = match size {
        #[cfg(test)]
        Size::Toy => (shapes[0], 1),
        Size::Quick => (shapes[1], 3),
        Size::Full => (shapes[2], 9),
    };
    let mut run = build(at)?;
    let two = Threads::new(2)?;
    let result = run(two)?;
    let (mut times, mut ratios) = ([f64::INFINITY; 2], Vec::new());
    let mut shares = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        let clocks = processor_time();
        let (alone, one) = timed(&mut || run(Threads::ONE))?;
        let between = processor_time();
        let (together, both) = timed(&mut || run(two))?;
        if let (Some(start), Some(between), Some(end)) = (clocks, between, processor_time()) {
            shares[0].push((end - between) / (between - start));
            shares[1].push((end - between) / (2.0 * both));
        }
        if alone != result || together != result {
            return Err(format!("{what}: one thread and two threads gave different results").into());
        }
        times = [times[0].min(one), times[1].min(both)];
        ratios.push(one / both);
    }
    let more = if at.more > 0 { format!(", {}", at.more) } else { String::new() };
    let size = format!("{} x {}{more}", at.n, at.d);
    let ratio = stats::median(&ratios).ok_or("a job that was never run")?;
    let shares = stats::median(&shares[0])
        .zip(stats::median(&shares[1]))
        .map(|(work, busy)| Shares { work, busy });
    Ok(Threaded { what, size, one: times[0], two: times[1], ratio, shares })
}

/// The processor time of all threads of this process, in seconds.
#[cfg(target_os = "linux")]
fn processor_time() -> Option<f64> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .ok()
        .map(|t| std::time::Duration::from(t).as_secs_f64())
}

/// The processor time is measured on Linux only.
#[cfg(not(target_os = "linux"))]
fn processor_time() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_gives_the_same_on_two_threads() {
        let (_, rows) = table(&SERIES, Size::Toy).unwrap();
        assert_eq!(rows.len(), SERIES.len());
        assert!(rows.iter().all(|row| row.ratio > 0.0));
        assert!(rows[0].to_string().starts_with("| 100 largest abs(w.x) | 10000 x 5 | "));
    }
}
