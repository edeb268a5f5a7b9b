//! Brings points from a file into radially isotropic position and reports the time, for comparison with other programs
//! on the same points. A file contains n × d little-endian 64-bit floating-point numbers, row by row.
//!
//! ```sh
//! cargo run --release -p halfspaces-forster --example fit_file -- generate clustered 10000 20 x.f64
//! cargo run --release -p halfspaces-forster --example fit_file -- fit x.f64 10000 20 1e-9
//! cargo run --release -p halfspaces-forster --example fit_file -- pass x.f64 10000 20
//! ```
//!
//! `generate` draws points from `gaussian`, `student-t` (one degree of freedom, condition number 1e6) or `clustered`
//! (ten clusters). `fit` brings the points into radially isotropic position (with two-sided accuracy) and prints one
//! line of JSON with the time of the fit alone in seconds, the numbers of steps and of passes over the points
//! (including products with the Hessian), and the certified residual, max(1 - λmin, λmax - 1). `pass` prints the times
//! of one fixed-point step and of faer's XᵀX in seconds. The time of a step is a quarter of the difference in time
//! between a fit with eight steps and a fit with four. Use points that need more than eight steps, such as clustered
//! ones. Both times are minima over several rounds, because the minimum is least affected by other load on the machine.
//! All commands use one thread.
//!
//! Errors are printed with the name of the file, and the program then exits with code 2.
#![allow(clippy::disallowed_methods, reason = "it reports times")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use halfspaces_data::{Clusters, Gaussian, Marginal, StudentT};
use halfspaces_forster::{Accuracy, Fit, Forster, ForsterTransform, Step};
use halfspaces_linalg::{Params, PointSet, Points};
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

const USAGE: &str = "fit_file generate gaussian|student-t|clustered N D FILE
fit_file fit FILE N D DELTA
fit_file pass FILE N D";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<&str>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let size = |n, d| Ok::<_, Box<dyn Error>>((number("N", n)?, number("D", d)?));
    let (file, done) = match arguments {
        ["generate", kind, n, d, file] => (file, generate(kind, size(n, d)?, file)),
        ["fit", file, n, d, delta] => {
            let (size, delta) = (size(n, d)?, number("DELTA", delta)?);
            (file, read(file, size).and_then(|points| fit(&points, delta)))
        }
        ["pass", file, n, d] => {
            let size = size(n, d)?;
            (file, read(file, size).and_then(|points| pass(&points)))
        }
        _ => return Err(USAGE.into()),
    };
    done.map_err(|error| format!("{file}: {error}").into())
}

/// Parses a number from the command line.
fn number<T: FromStr<Err: std::fmt::Display>>(name: &str, text: &str) -> Result<T, Box<dyn Error>> {
    text.parse().map_err(|error| format!("{name} = {text}: {error}").into())
}

fn generate(kind: &str, (n, d): (usize, usize), file: &str) -> Result<(), Box<dyn Error>> {
    let points = match kind {
        "gaussian" => Gaussian::new(d, 1.0)?.sample(n, 1)?,
        "student-t" => StudentT::new(d, 1.0, 1e6)?.sample(n, 1)?,
        "clustered" => Clusters::random(d, 10, 0.1, 1)?.sample(n, 2)?,
        _ => return Err(format!("unknown kind of points: {kind}\n{USAGE}").into()),
    };
    let mut out = BufWriter::new(File::create(file)?);
    for value in points.as_slice() {
        out.write_all(&value.to_le_bytes())?;
    }
    Ok(out.flush()?)
}

fn read(file: &str, (n, d): (usize, usize)) -> Result<Points, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let (values, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() || n.checked_mul(d) != Some(values.len()) {
        return Err(format!(
            "found {} bytes, expected 8 for each of {n} x {d} numbers",
            bytes.len()
        )
        .into());
    }
    Ok(Points::new(values.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(), d)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every error message names the file.
    #[test]
    fn faults_name_the_file() {
        let folder = std::env::temp_dir().join(format!("fit_file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let (missing, short, good) = (file("missing.f64"), file("short.f64"), file("good.f64"));
        std::fs::write(&short, [0; 20]).unwrap();
        let said = |arguments: &[&str]| run(arguments).unwrap_err().to_string();
        let absent = said(&["fit", &missing, "2", "2", "1e-6"]);
        assert!(absent.starts_with(&missing) && !absent.contains("Os {"), "{absent}");
        let expected = format!("{short}: found 20 bytes, expected 8 for each of 2 x 2 numbers");
        assert_eq!(said(&["pass", &short, "2", "2"]), expected);
        run(&["generate", "gaussian", "20", "2", &good]).unwrap();
        run(&["fit", &good, "20", "2", "1e-6"]).unwrap();
        let refused = said(&["fit", &good, "20", "2", "7"]);
        assert_eq!(
            refused,
            format!("{good}: delta = 7 is out of range; it must be at least 1e-11 and below 1")
        );
        assert!(said(&["fit", &good, "many", "2", "7"]).starts_with("N = many: "));
        assert!(said(&["draw"]).starts_with("fit_file generate"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
