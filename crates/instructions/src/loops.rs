//! The loops whose instructions are counted.

use crate::terminal::{Failure, say};
use halfspaces_data::{LabelledPoints, MarginBall, Marginal, random_target};
use halfspaces_kernels::{BlockLoop, BlockOps, SINGLE_LANES, run_blocks};
use halfspaces_linalg::{
    Classifier, Label, Params, PointSet, Points, SparsePoints, Threads, largest_margins,
    margins_into,
};
use halfspaces_online::{Aggressiveness, OnlineLearner, PassiveAggressive, Perceptron};
use halfspaces_pac::{Fitting, GridPerspectron, Margin, Perspectron, SignLink};
use std::hint::black_box;
use std::io::BufRead;
use std::process::ExitCode;

/// Runs a loop on prepared data.
type Run = Box<dyn FnOnce() -> Result<(), Failure>>;

/// A loop and its recorded number of instructions per row.
pub(super) struct Loop {
    pub(super) id: &'static str,
    /// The two row counts with which the loop is run.
    pub(super) rows: [usize; 2],
    /// The recorded count with AVX-512.
    pub(super) avx512: f64,
    pub(super) prepare: fn(usize) -> Result<Run, Failure>,
}

pub(super) const LOOPS: [Loop; 11] = [
    Loop { id: "products-50", rows: SOME, avx512: 48.0, prepare: products::<50> },
    Loop { id: "products-500", rows: WIDE, avx512: 401.0, prepare: products::<500> },
    Loop { id: "outer-50", rows: FEW, avx512: 716.0, prepare: outer },
    Loop { id: "steps-304", rows: WIDE, avx512: 262.0, prepare: row_steps },
    Loop { id: "scan-50", rows: FEW, avx512: 51.0, prepare: scan },
    Loop { id: "perceptron-50", rows: SOME, avx512: 59.0, prepare: perceptron },
    Loop { id: "passive-aggressive-50", rows: SOME, avx512: 61.0, prepare: aggressive },
    Loop { id: "sparse-1000", rows: SOME, avx512: 450.0, prepare: sparse },
    Loop { id: "perspectron-50", rows: SOME, avx512: 141.0, prepare: perspectron::<50> },
    Loop { id: "perspectron-500", rows: WIDE, avx512: 912.0, prepare: perspectron::<500> },
    Loop { id: "grid-20", rows: SOME, avx512: 1085.0, prepare: grid },
];

/// Multiples of the block sizes of the scan and of the outer products.
const FEW: [usize; 2] = [64, 128];
const SOME: [usize; 2] = [16, 48];
const WIDE: [usize; 2] = [4, 12];

/// Parses `LOOP:ROWS`.
pub(super) fn named(of: &str) -> Result<(&'static Loop, usize), Failure> {
    let (id, rows) = of.split_once(':').ok_or("expected LOOP:ROWS")?;
    let found = LOOPS.iter().find(|l| l.id == id).ok_or_else(|| format!("no loop {id:?}"))?;
    Ok((found, rows.parse()?))
}

/// Prepares a loop, writes one byte, waits for a line, and runs the loop.
pub(super) fn run(of: &str) -> Result<ExitCode, Failure> {
    let (l, rows) = named(of)?;
    let run = (l.prepare)(rows)?;
    say("\n")?;
    std::io::stdin().lock().read_line(&mut String::new())?;
    run()?;
    // Exit here, so that nothing else is counted.
    std::process::exit(0)
}

const MARGIN: f64 = 0.05;

/// The first `rows` points of a fixed sample from the ball, with labels and the normal vector of the target.
fn pool(rows: usize, d: usize) -> Result<(Points, Vec<Label>, Vec<f64>), Failure> {
    let target = random_target(d, 1)?;
    let all = MarginBall::new(&target, MARGIN)?.sample(FEW[1], 2)?;
    let points = all.select(&(0..rows).collect::<Vec<_>>())?;
    let labels = target.label_all(&points)?;
    Ok((points, labels, target.into_normal()))
}

fn products<const D: usize>(rows: usize) -> Result<Run, Failure> {
    let (points, _, w) = pool(rows, D)?;
    let mut out = vec![0.0; rows];
    Ok(Box::new(move || {
        margins_into(&points, &w, &mut out)?;
        black_box(&out);
        Ok(())
    }))
}

/// The lower half of Σ c x x'.
fn outer(rows: usize) -> Result<Run, Failure> {
    let (points, _, _) = pool(rows, 50)?;
    let (factors, mut sum) = (vec![0.5; rows], vec![0.0; 50 * 50]);
    Ok(Box::new(move || {
        halfspaces_kernels::add_outer(points.as_slice(), 50, &factors, &mut sum, 50);
        black_box(&sum);
        Ok(())
    }))
}

/// One step of dual descent for each row.
struct Steps<'a>(&'a [[i16; SINGLE_LANES]], &'a mut [[f32; SINGLE_LANES]]);

impl BlockLoop for Steps<'_> {
    type Output = ();

    #[inline(always)]
    fn run<B: BlockOps>(self, ops: B) {
        for x in self.0.chunks_exact(self.1.len()) {
            ops.axpy_short(-1e-9 * ops.dot_short(x, self.1), x, self.1);
        }
    }
}

fn row_steps(rows: usize) -> Result<Run, Failure> {
    let (points, _, _) = pool(rows, 304)?;
    let short: Vec<i16> = points.as_slice().iter().map(|v| (1e4 * v) as i16).collect();
    let mut w = vec![[1.0; SINGLE_LANES]; 304 / SINGLE_LANES];
    Ok(Box::new(move || {
        run_blocks(Steps(short.as_chunks().0, &mut w));
        black_box(&w);
        Ok(())
    }))
}

fn scan(rows: usize) -> Result<Run, Failure> {
    let (points, _, w) = pool(rows, 50)?;
    Ok(Box::new(move || {
        black_box(largest_margins(&points, &w, 1, Threads::ONE)?);
        Ok(())
    }))
}

/// A pass without updates, like most passes.
fn pass<L: OnlineLearner + 'static, P: PointSet + 'static>(
    mut learner: L,
    prepared: impl Fn(usize) -> Result<(P, Vec<Label>), Failure>,
    rows: usize,
) -> Result<Run, Failure> {
    let (points, labels) = prepared(FEW[1])?;
    for _ in 0..PASSES {
        let before = learner.updates();
        learner.learn_pool(&points, &labels)?;
        if learner.updates() == before {
            let (points, labels) = prepared(rows)?;
            return Ok(Box::new(move || {
                learner.learn_pool(&points, &labels)?;
                black_box(learner.updates());
                Ok(())
            }));
        }
    }
    Err(format!("the learner still updates after {PASSES} passes").into())
}

/// The number of passes after which an online learner makes no more updates and a Perspectron has few events.
const PASSES: usize = 1000;

fn perceptron(rows: usize) -> Result<Run, Failure> {
    pass(Perceptron::new(50)?, |rows| pool(rows, 50).map(|(x, y, _)| (x, y)), rows)
}

fn aggressive(rows: usize) -> Result<Run, Failure> {
    let learner = PassiveAggressive::new(50, Aggressiveness::Unbounded)?;
    pass(learner, |rows| pool(rows, 50).map(|(x, y, _)| (x, y)), rows)
}

/// Twenty nonzeros per row, in every fiftieth column.
fn sparse(rows: usize) -> Result<Run, Failure> {
    let prepared = |rows| {
        let (dense, labels, _) = pool(rows, 20)?;
        let mut points = SparsePoints::empty(1000)?;
        for (i, x) in dense.rows().enumerate() {
            let columns: Vec<u32> = (0..20).map(|j| 50 * j + i as u32 % 50).collect();
            points.push(&columns, x.as_slice())?;
        }
        Ok((points, labels))
    };
    pass(Perceptron::new(1000)?, prepared, rows)
}

fn perspectron<const D: usize>(rows: usize) -> Result<Run, Failure> {
    let fitting = Perspectron::params(0.2, MARGIN).excess(0.01).check()?.start(D)?;
    steps(fitting, rows)
}

fn grid(rows: usize) -> Result<Run, Failure> {
    let params = GridPerspectron::params(Margin::Known(MARGIN)).excess(0.2);
    steps(params.check()?.start(20)?, rows)
}

/// Steps of a fit after [`PASSES`] passes.
fn steps(mut fitting: Fitting<SignLink>, rows: usize) -> Result<Run, Failure> {
    let (points, labels, _) = pool(FEW[1], fitting.dim())?;
    for _ in 0..PASSES {
        fitting.advance(&mut LabelledPoints::new(&points, &labels)?)?;
    }
    let (points, labels, _) = pool(rows, fitting.dim())?;
    Ok(Box::new(move || {
        fitting.advance(&mut LabelledPoints::new(&points, &labels)?)?;
        black_box(&fitting);
        Ok(())
    }))
}
