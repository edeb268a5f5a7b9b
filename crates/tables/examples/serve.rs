//! Fits a `TableClassifier` to each table on standard input and writes the decision values of other rows to standard
//! output. This program is run by `benches/peers/tables.py`.
//!
//! A table is seven little-endian 64-bit integers (the numbers n of training rows, d of columns and t of rows to label,
//! the seed, the number of threads, the maximum number of training rows or 0 for the default, and 1 for several classes
//! or 0 for labels ±1), then n·d values, n labels and t·d values, all as 64-bit floats. The answer is t decision values
//! or classes, then the number of errors on the held-out rows, the number of these rows, an upper bound on the error
//! that holds with probability 95 %, and the duration of the fit in seconds.

#![allow(clippy::disallowed_methods, reason = "a program that measures time")]

use halfspaces_linalg::{Classifier, FitSample, Label, Params, PointSet, Points, Threads};
use halfspaces_pac::ErrorCount;
use halfspaces_tables::TableClassifier;
use std::error::Error;
use std::io::{ErrorKind, Read, Write, stdin, stdout};
use std::time::Instant;

fn numbers(input: &mut impl Read, count: usize) -> std::io::Result<Vec<f64>> {
    let mut bytes = vec![0; 8 * count];
    input.read_exact(&mut bytes)?;
    Ok(bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    loop {
        let mut head = [0; 56];
        match input.read_exact(&mut head) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            result => result?,
        }
        let head: Vec<u64> =
            head.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
        let [n, d, t] = [head[0] as usize, head[1] as usize, head[2] as usize];
        let points = Points::new(numbers(&mut input, n * d)?, d)?;
        let labels = numbers(&mut input, n)?;
        let others = Points::new(numbers(&mut input, t * d)?, d)?;
        let threads = Threads::new(head[4] as usize)?;
        let params = TableClassifier::params().seed(head[3]).threads(threads);
        let params = if head[5] > 0 { params.max_rows(head[5] as usize) } else { params };
        let learner = params.check()?;
        let start = Instant::now();
        let mut answer: Vec<f64>;
        let (held_out, bound, seconds);
        if head[6] == 0 {
            let labels: Vec<Label> = labels.into_iter().map(Label::from_sign).collect();
            let model = learner.fit(&points, &labels)?;
            seconds = start.elapsed().as_secs_f64();
            let values: Result<_, _> = others.rows().map(|x| model.decision_value(x)).collect();
            answer = values?;
            (held_out, bound) = (model.report().held_out(), model.error_bound(0.05)?);
        } else {
            let labels: Vec<i64> = labels.into_iter().map(|y| y as i64).collect();
            let model = learner.fit_classes(&points, &labels)?;
            seconds = start.elapsed().as_secs_f64();
            let classes = model.class_all(&others, threads)?;
            answer = classes.into_iter().map(|class| *class as f64).collect();
            (held_out, bound) = (model.report().held_out(), model.error_bound(0.05)?);
        }
        let count = |of: fn(ErrorCount) -> usize| held_out.map_or(0, of) as f64;
        let errors = count(ErrorCount::errors);
        answer.extend([errors, count(ErrorCount::points), bound.value(), seconds]);
        for value in answer {
            output.write_all(&value.to_le_bytes())?;
        }
        output.flush()?;
    }
}
