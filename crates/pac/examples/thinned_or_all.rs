//! Compares the cost of choosing among all iterates of several runs, as CKST24 does, with that of choosing among a few
//! random iterates of one run. Run it with `cargo run --release -p halfspaces-pac --example thinned_or_all`.
//!
//! The arguments are ε, γ, δ, the dimension and η; all are optional.

#![allow(clippy::print_stdout, reason = "a program that reports")]
#![allow(clippy::disallowed_methods, reason = "it reports times")]

use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
use halfspaces_linalg::Params;
use halfspaces_pac::{Perspectron, Schedule, Selection};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<f64>());
    let mut next = |default: f64| arguments.next().unwrap_or(Ok(default));
    let (excess, margin, failure) = (next(0.1)?, next(0.1)?, next(0.05)?);
    let (dim, noise) = (next(20.0)? as usize, next(0.2)?);
    let target = random_target(dim, 1)?;
    let ball = MarginBall::new(&target, margin)?;
    let instance = Instance::new(ball, target, Rcn::new(noise)?)?;
    let population = instance.population(10_000, 2)?;
    println!("ε = {excess}, γ = {margin}, δ = {failure}, d = {dim}, η = {noise}");
    let params = Perspectron::params(noise, margin).excess(excess).failure(failure);
    for (name, params) in [
        ("thinned", params),
        (
            "all iterates, as printed",
            params.schedule(Schedule::Paper).selection(Selection::AllIterates),
        ),
    ] {
        let learner = params.check()?;
        let plan = learner.plan();
        let start = Instant::now();
        let mut stream = instance.stream(3);
        let mut fitting = learner.start(dim)?;
        fitting.advance_by(&mut stream, plan.training())?;
        let trained = start.elapsed();
        fitting.advance(&mut stream)?;
        let fit = fitting.finish()?;
        println!(
            "{name}: {} + {} examples, {} candidates; {:.2} s learning, {:.2} s choosing; error {:.4}",
            plan.training(),
            plan.validation,
            fit.candidates(),
            trained.as_secs_f64(),
            (start.elapsed() - trained).as_secs_f64(),
            population.error(fit.halfspace())?.mean()
        );
    }
    Ok(())
}
