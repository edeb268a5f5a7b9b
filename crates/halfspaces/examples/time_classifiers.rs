//! Seconds and errors of every classifier that needs to be told nothing, on two CSV files of numbers with the class last:
//! `cargo run --release -p halfspaces --example time_classifiers -- train.csv test.csv`
//!
//! Prints a line a classifier: name, seconds to learn from the first file (the median of three runs), wrong labels in the
//! second. One thread, but for the last line. The class "1" is the positive one.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]
#![allow(clippy::disallowed_methods, reason = "it reports times")]

mod common;

use common::table;
use halfspaces::online::{Aggressiveness, AsGiven, AveragedPerceptron, PassiveAggressive, run};
use halfspaces::pac::{LinearSvm, LogisticRegression};
use halfspaces::prelude::*;
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

/// The command line or a file is at fault, not the program.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match report(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn report(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [train, test] = arguments else {
        return Err("usage: time_classifiers train.csv test.csv".into());
    };
    let (train, test) = (table(train, Some("1"))?, table(test, Some("1"))?);
    let tables = Tables { train, test };
    // A pass over the points with a constant, which makes an intercept a weight.
    tables.say("averaged perceptron, one pass", |points, labels| {
        let points = points.lifted();
        let learner = AveragedPerceptron::new(points.dim())?;
        Ok(Lifted(run(learner, &points, labels, AsGiven::new())?.0))
    })?;
    tables.say("PA-I, C = 0.1, one pass", |points, labels| {
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

/// A classifier of points with a constant, for points without.
struct Lifted<C>(C);

trait LabelAll {
    fn labels(&self, points: &Points) -> Result<Vec<Label>, InputError>;
}

impl<C: Classifier> LabelAll for Lifted<C> {
    fn labels(&self, points: &Points) -> Result<Vec<Label>, InputError> {
        self.0.label_all(&points.lifted())
    }
}

struct AsItIs<C>(C);

impl<C: Classifier> LabelAll for AsItIs<C> {
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
        self.say(what, |points, labels| Ok(AsItIs(learner.fit(points, labels)?)))
    }

    /// One line.
    fn say<C: LabelAll>(
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
