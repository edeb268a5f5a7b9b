//! Measures the training time and the test errors of all classifiers that need no settings, on two CSV files of numbers
//! whose last column is the class:
//! `cargo run --release -p halfspaces --example time_classifiers -- train.csv test.csv`
//!
//! Prints one line per classifier: its name, the time in seconds to fit it to the first file (the median of three
//! runs), and the number of misclassified rows of the second file. Every fit except the last one uses one thread. The
//! positive class is "1".

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the program prints its results")]
#![allow(clippy::disallowed_methods, reason = "the program measures times")]

mod common;

use common::{exit_code, table};
use halfspaces::online::{Aggressiveness, AsGiven, AveragedPerceptron, PassiveAggressive, run};
use halfspaces::pac::{LinearSvm, LogisticRegression};
use halfspaces::prelude::*;
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    exit_code(report(&arguments))
}

fn report(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [train, test] = arguments else {
        return Err("usage: time_classifiers train.csv test.csv".into());
    };
    let (train, test) = (table(train, Some("1"))?, table(test, Some("1"))?);
    let tables = Tables { train, test };
    // A constant coordinate is appended to the points, so that the intercept is a weight.
    tables.measure("averaged perceptron, one pass", |points, labels| {
        let points = points.lifted();
        let learner = AveragedPerceptron::new(points.dim())?;
        Ok(Lifted(run(learner, &points, labels, AsGiven::new())?.0))
    })?;
    tables.measure("PA-I, C = 0.1, one pass", |points, labels| {
        let points = points.lifted();
        let learner = PassiveAggressive::new(points.dim(), Aggressiveness::Capped(0.1))?;
        Ok(Lifted(run(learner, &points, labels, AsGiven::new())?.0))
    })?;
    tables.fit("logistic regression", &LogisticRegression::params().check()?)?;
    tables.fit("linear SVM, C = 1", &LinearSvm::params().c(1.0).check()?)?;
    tables.fit("sample Perspectron", &SamplePerspectron::params().check()?)?;
    tables.fit("table classifier", &TableClassifier::params().check()?)?;
    let threaded = TableClassifier::params().threads(Threads::all()).check()?;
    tables.fit("table classifier, all threads", &threaded)
}

/// A classifier of lifted points, applied to points that are not lifted.
struct Lifted<C>(C);

trait LabelAll {
    fn labels(&self, points: &Points) -> Result<Vec<Label>, InputError>;
}

impl<C: Classifier> LabelAll for Lifted<C> {
    fn labels(&self, points: &Points) -> Result<Vec<Label>, InputError> {
        self.0.label_all(&points.lifted())
    }
}

struct Plain<C>(C);

impl<C: Classifier> LabelAll for Plain<C> {
    fn labels(&self, points: &Points) -> Result<Vec<Label>, InputError> {
        self.0.label_all(points)
    }
}

struct Tables {
    train: (Points, Vec<Label>),
    test: (Points, Vec<Label>),
}

impl Tables {
    fn fit<L: FitSample<Model: Classifier, Error: Error + 'static>>(
        &self,
        what: &str,
        learner: &L,
    ) -> Result<(), Box<dyn Error>> {
        self.measure(what, |points, labels| Ok(Plain(learner.fit(points, labels)?)))
    }

    /// Measures a classifier and prints its line.
    fn measure<C: LabelAll>(
        &self,
        what: &str,
        fit: impl Fn(&Points, &[Label]) -> Result<C, Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let (mut seconds, mut wrong) = ([0.0; 3], 0);
        for seconds in &mut seconds {
            let start = Instant::now();
            let model = fit(&self.train.0, &self.train.1)?;
            *seconds = start.elapsed().as_secs_f64();
            let labels = model.labels(&self.test.0)?;
            wrong = labels.iter().zip(&self.test.1).filter(|(a, b)| a != b).count();
        }
        seconds.sort_by(f64::total_cmp);
        println!("{what}\t{:.6}\t{wrong}", seconds[1]);
        Ok(())
    }
}
