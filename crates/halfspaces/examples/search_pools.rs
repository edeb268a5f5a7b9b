//! Searches for pools in R^3 on which even the best self-directed learner makes many mistakes:
//! `cargo run --release -p halfspaces --example search_pools -- [seed=1] [pools=200] [walk=200] [sizes=8,16,24,32,40]`
//!
//! For each number of points and each family, the program draws pools and computes the optimum exactly
//! ([`LabellingGame`]). From the pool with the largest optimum, a walk then replaces or moves one point at a time and
//! accepts every pool whose optimum is not smaller. If floating-point numbers cannot distinguish the cells of a pool,
//! the pool is rejected and counted. The table in docs/theory/optimum.md is the output of this program.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the program prints its results")]

use halfspaces::linalg::rand::{RngExt, rngs::ChaCha8Rng};
use halfspaces::linalg::{Points, RngStream, rng_for};
use halfspaces::online::{Dichotomies, LabellingGame, OnlineError};
use std::error::Error;
use std::process::ExitCode;

type Failure = Box<dyn Error>;
type Row = [f64; 3];
/// Draws one point of a family.
type Draw = fn(&mut ChaCha8Rng) -> Row;

/// The families of pools. Their names refer to the lines of the projective plane that are dual to the points.
const FAMILIES: [(&str, Draw); 6] = [
    ("Gaussian", gaussian),
    ("heavy tails", |rng| gaussian(rng).map(|v| v.powi(5))),
    ("moment curve", |rng| {
        let t = 2.0 * rng.random::<f64>() - 1.0;
        [1.0, t, t * t]
    }),
    ("moment curve, geometric", |rng| {
        let t = (-12.0 * rng.random::<f64>()).exp();
        [1.0, t, t * t]
    }),
    ("nearly through one point", |rng| {
        let [x, y, z] = gaussian(rng);
        [x, y, 0.01 * z]
    }),
    ("small integers", |rng| {
        loop {
            let row = [0; 3].map(|_: i32| f64::from(rng.random_range(-4..=4)));
            if row.iter().any(|v| *v != 0.0) {
                break row;
            }
        }
    }),
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Failure> {
    let (mut seed, mut pools, mut walk) = (1, 200, 200);
    let mut sizes = vec![8, 16, 24, 32, 40];
    for argument in std::env::args().skip(1) {
        let fault = |_| format!("{argument}: expected a number");
        match argument.split_once('=') {
            Some(("seed", text)) => seed = text.parse().map_err(fault)?,
            Some(("pools", text)) => pools = text.parse().map_err(fault)?,
            Some(("walk", text)) => walk = text.parse().map_err(fault)?,
            Some(("sizes", text)) => {
                sizes = text.split(',').map(str::parse).collect::<Result<_, _>>().map_err(fault)?;
            }
            _ => return Err(format!("{argument}: expected seed=, pools=, walk= or sizes=").into()),
        }
    }
    println!("| n | family | pools by optimum | after the walk |");
    println!("|---|---|---|---|");
    let mut rng = rng_for(RngStream::CALLER, seed);
    for &n in &sizes {
        for (name, draw) in FAMILIES {
            let mut counts = [0_usize; 16];
            let mut refused = 0;
            let mut best: Option<(usize, Vec<Row>)> = None;
            for _ in 0..pools {
                let rows: Vec<Row> = (0..n).map(|_| draw(&mut rng)).collect();
                let Some(optimum) = optimum(&rows)? else {
                    refused += 1;
                    continue;
                };
                counts[optimum] += 1;
                if best.as_ref().is_none_or(|(most, _)| optimum > *most) {
                    best = Some((optimum, rows));
                }
            }
            let Some((mut most, mut rows)) = best else {
                println!("| {n} | {name} | refused: {refused} | |");
                continue;
            };
            for _ in 0..walk {
                let mut moved = rows.clone();
                let at = rng.random_range(0..n);
                moved[at] = if rng.random::<bool>() {
                    draw(&mut rng)
                } else {
                    let size = 10f64.powf(-4.0 * rng.random::<f64>());
                    let by = gaussian(&mut rng);
                    std::array::from_fn(|i| moved[at][i] * (1.0 + size * by[i]) + 1e-9 * by[i])
                };
                match optimum(&moved)? {
                    Some(found) if found >= most => (most, rows) = (found, moved),
                    Some(_) => {}
                    None => refused += 1,
                }
            }
            let seen = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            let mut seen: Vec<String> = seen.map(|(m, count)| format!("{m}: {count}")).collect();
            if refused > 0 {
                seen.push(format!("refused: {refused}"));
            }
            println!("| {n} | {name} | {} | {most} |", seen.join(", "));
        }
    }
    Ok(())
}

/// The smallest number of mistakes that a learner can guarantee if it chooses the order; `None` if the cells cannot be
/// distinguished.
fn optimum(rows: &[Row]) -> Result<Option<usize>, Failure> {
    match Dichotomies::new(&Points::from_rows(rows)?) {
        Ok(dichotomies) => Ok(Some(LabellingGame::new(&dichotomies).self_directed())),
        Err(OnlineError::Unresolved { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Three independent standard normal numbers, drawn by the method of Box and Muller.
fn gaussian(rng: &mut ChaCha8Rng) -> Row {
    [0.0; 3].map(|_: f64| {
        let [u, v] = [rng.random::<f64>(), rng.random::<f64>()];
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    })
}
