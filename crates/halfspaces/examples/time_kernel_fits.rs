//! Measures the times and the test errors of learners with a Gaussian kernel, on two CSV files of numbers whose last
//! column is the class:
//! `cargo run --release -p halfspaces --example time_kernel_fits -- train.csv test.csv SCALE`
//!
//! The kernel is exp(-‖x - z‖²/SCALE). Prints one line per learner: its name, the times in seconds to fit it to the
//! first file and to label the second (medians of three runs), and the number of misclassified rows of the second file.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the program prints its results")]
#![allow(clippy::disallowed_methods, reason = "the program measures times")]

mod common;

use common::{exit_code, table};
use halfspaces::features::{FeatureMap, Nystroem, RadialKernel, Transformed, choose_landmarks};
use halfspaces::linalg::{Classifier, Halfspace, Label, PointSet, Points};
use halfspaces::online::{AsGiven, AveragedPerceptron, Kernel, KernelPerceptron, run};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

const LANDMARKS: usize = 500;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    exit_code(report(&arguments))
}

fn report(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [train, test, scale] = arguments else {
        return Err("usage: time_kernel_fits train.csv test.csv SCALE".into());
    };
    let ((train, labels), test) = (table(train, Some("1"))?, table(test, Some("1"))?);
    let (dim, scale) = (train.dim(), scale.parse()?);
    let kernel = Kernel::Gaussian { scale };
    measure("kernel perceptron", &test, || {
        let mut learner = KernelPerceptron::new(dim, kernel)?;
        learner.learn_all(&train, &labels)?;
        Ok(move |points: &Points| learner.label_all(points).map_err(Into::into))
    })?;
    measure("averaged perceptron, 500 landmarks", &test, || {
        let chosen = choose_landmarks(&train, LANDMARKS, 1)?;
        let map = Nystroem::new(chosen, RadialKernel::gaussian(scale)?)?;
        let features = map.apply(&train)?;
        let learner = AveragedPerceptron::new(map.output_dim())?;
        let (learner, _) = run(learner, &features, &labels, AsGiven::new())?;
        // Expands the halfspace over the features into a sum of kernel values, which labels points without computing
        // features.
        let values = map.kernel_values().clone();
        let sum = Halfspace::new(map.expansion(learner.average()?.normal())?)?;
        let model = Transformed::new(values, sum)?;
        Ok(move |points: &Points| Ok(model.label_all(points)?))
    })
}

/// Measures a learner and prints its line.
fn measure<C: Fn(&Points) -> Result<Vec<Label>, Box<dyn Error>>>(
    what: &str,
    (test, truth): &(Points, Vec<Label>),
    fit: impl Fn() -> Result<C, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (mut learning, mut labelling, mut wrong) = ([0.0; 3], [0.0; 3], 0);
    for (learning, labelling) in learning.iter_mut().zip(&mut labelling) {
        let start = Instant::now();
        let label = fit()?;
        *learning = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let labels = label(test)?;
        *labelling = start.elapsed().as_secs_f64();
        wrong = labels.iter().zip(truth).filter(|(a, b)| a != b).count();
    }
    learning.sort_by(f64::total_cmp);
    labelling.sort_by(f64::total_cmp);
    println!("{what}\t{:.6}\t{:.6}\t{wrong}", learning[1], labelling[1]);
    Ok(())
}
