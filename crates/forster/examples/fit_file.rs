//! Fits points from a file and tells how long it took, so that other programs can be run on the same
//! points. Files hold n × d numbers, row after row, 64-bit floating point, little-endian.
//!
//! ```sh
//! cargo run --release -p halfspaces-forster --example fit_file -- generate clustered 10000 20 x.f64
//! cargo run --release -p halfspaces-forster --example fit_file -- fit x.f64 10000 20 1e-9
//! cargo run --release -p halfspaces-forster --example fit_file -- pass x.f64 10000 20
//! ```
//!
//! `generate` draws from `gaussian`, `student-t` (one degree of freedom, condition 1e6) or `clustered`
//! (ten clusters). `fit` brings the points into two-sided position and prints one line of JSON: seconds
//! of the fit alone, steps, passes over the points (products with the Hessian are passes too), and the
//! certified residual max(1 - λmin, λmax - 1). `pass` prints the seconds of one fixed-point step (a
//! quarter of the difference between fits of eight steps and of four; take points that need more, such
//! as clustered ones), and of faer's XᵀX, by the least times of several rounds, which load on the
//! machine raises last. One thread.
#![allow(clippy::print_stdout, reason = "a program, not a library")]

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use halfspaces_data::{Clusters, Gaussian, Marginal, StudentT};
use halfspaces_forster::{Accuracy, Fit, Forster, ForsterTransform, Step};
use halfspaces_linalg::{PointSet, Points};
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::time::Instant;

const USAGE: &str = "fit_file generate gaussian|student-t|clustered N D FILE
fit_file fit FILE N D DELTA
fit_file pass FILE N D";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["generate", kind, n, d, file] => generate(kind, n.parse()?, d.parse()?, file),
        ["fit", file, n, d, delta] => fit(&read(file, n.parse()?, d.parse()?)?, delta.parse()?),
        ["pass", file, n, d] => pass(&read(file, n.parse()?, d.parse()?)?),
        _ => Err(USAGE.into()),
    }
}

fn generate(kind: &str, n: usize, d: usize, file: &str) -> Result<(), Box<dyn Error>> {
    let points = match kind {
        "gaussian" => Gaussian::new(d, 1.0)?.sample(n, 1)?,
        "student-t" => StudentT::new(d, 1.0, 1e6)?.sample(n, 1)?,
        "clustered" => Clusters::random(d, 10, 0.1, 1)?.sample(n, 2)?,
        _ => return Err(USAGE.into()),
    };
    let mut out = BufWriter::new(File::create(file)?);
    for value in points.as_slice() {
        out.write_all(&value.to_le_bytes())?;
    }
    Ok(out.flush()?)
}

fn read(file: &str, n: usize, d: usize) -> Result<Points, Box<dyn Error>> {
    let mut input = BufReader::new(File::open(file)?);
    let mut values = Vec::new();
    let mut bytes = [0; 8];
    loop {
        match input.read_exact(&mut bytes) {
            Ok(()) => values.push(f64::from_le_bytes(bytes)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error.into()),
        }
    }
    let points = Points::new(values, d)?;
    if points.len() != n {
        return Err(format!("{file}: {} points, not {n}", points.len()).into());
    }
    Ok(points)
}

fn fit(points: &Points, delta: f64) -> Result<(), Box<dyn Error>> {
    let solver = ForsterTransform::params().accuracy(Accuracy::TwoSided(delta)).check()?;
    let (seconds, fit) = timed(&solver, points)?;
    let sum = |count: fn(&halfspaces_forster::Level) -> usize| -> usize {
        fit.levels().iter().map(count).sum()
    };
    let line = serde_json::json!({
        "seconds": seconds,
        "fixed_point_steps": sum(|level| level.fixed_point_steps),
        "newton_steps": sum(|level| level.newton_steps),
        "passes": sum(|level| level.passes + level.products),
        "residual": fit.position().certificate.residual(),
        "resolved": fit.is_resolved(),
    });
    println!("{line}");
    Ok(())
}

fn pass(points: &Points) -> Result<(), Box<dyn Error>> {
    let capped = |steps| {
        let params = ForsterTransform::params().accuracy(Accuracy::TwoSided(1e-11));
        params.step(Step::FixedPoint).max_iterations(steps).check()
    };
    let (few, more) = (capped(4)?, capped(8)?);
    let (x, mut product) = (points.as_mat(), Mat::<f64>::zeros(points.dim(), points.dim()));
    let least = |least: &mut f64, seconds: f64| *least = least.min(seconds);
    let [mut four, mut eight, mut products] = [f64::INFINITY; 3];
    let rounds = (300_000_000 / points.as_slice().len()).clamp(9, 151);
    for _ in 0..rounds {
        least(&mut four, timed(&few, points)?.0);
        least(&mut eight, timed(&more, points)?.0);
        let clock = Instant::now();
        matmul(product.as_mut(), Accum::Replace, x.transpose(), x, 1.0, Par::Seq);
        black_box(product[(0, 0)]);
        least(&mut products, clock.elapsed().as_secs_f64());
    }
    let pass = 0.25 * (eight - four);
    let ratio = pass / products;
    println!("{}", serde_json::json!({ "pass": pass, "product": products, "ratio": ratio }));
    Ok(())
}

fn timed(solver: &Forster, points: &Points) -> Result<(f64, Fit), Box<dyn Error>> {
    let clock = Instant::now();
    let fit = solver.fit(points)?;
    Ok((clock.elapsed().as_secs_f64(), fit))
}
