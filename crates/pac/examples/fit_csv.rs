//! Fits a halfspace to a CSV file whose labels may be wrong, and says how often it will err:
//! `cargo run --release -p halfspaces-pac --example fit_csv -- train.csv [positive class] [test.csv]`
//!
//! The class is the last column; columns without numbers become one 0/1 column per category.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use halfspaces_data::read::{CsvOptions, read_csv};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::{FitSample, InputError, Params, PointSet, Threads};
use halfspaces_pac::{ErrorCount, SamplePerspectron};
use std::error::Error;
use std::process::ExitCode;

/// The command line or a file is at fault, not the program.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let Some(train) = arguments.next() else {
        return Err("usage: fit_csv train.csv [positive class] [test.csv]".into());
    };
    let options = match arguments.next() {
        Some(class) => CsvOptions::new().threads(Threads::all()).positive(&class),
        None => CsvOptions::new().threads(Threads::all()),
    };
    // A reader's errors name the file themselves.
    let (points, labels, columns) = read_csv(&train, &options)?.into_parts();
    let in_train = |error: InputError| format!("{train}: {error}");
    let scale = ZScore::fit(&points).map_err(in_train)?;
    let points = scale.apply(&points).map_err(in_train)?;
    let learner = SamplePerspectron::params().passes(10).check()?;
    let fit = learner.fit(&points, &labels).map_err(in_train)?;
    println!(
        "{} points in {} dimensions; {} of {} held out are wrong",
        points.len(),
        points.dim(),
        fit.held_out_errors(),
        fit.held_out()
    );
    println!("error on fresh examples: {}, with probability 95 %", fit.error_bound(0.05));
    let mut weights: Vec<(f64, &String)> =
        fit.halfspace().weights().iter().copied().zip(&columns).collect();
    weights.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    println!("largest weights on standardised columns, bias {:.4}:", fit.halfspace().bias());
    for (weight, column) in weights.iter().take(10) {
        println!("{weight:10.4}  {column}");
    }
    if let Some(test) = arguments.next() {
        let (points, labels, found) = read_csv(&test, &options)?.into_parts();
        if found != columns {
            return Err(format!("{test} and {train} do not have the same columns").into());
        }
        let scaled = scale.apply(&points);
        let errors = scaled.and_then(|x| ErrorCount::count(&fit, &x, &labels));
        let errors = errors.map_err(|error| format!("{test}: {error}"))?;
        println!("{test}: {} of {} wrong", errors.errors(), errors.points());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_a_sentence_that_names_its_file() {
        let folder = std::env::temp_dir().join(format!("fit_csv-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let place = |name: &str| folder.join(name).display().to_string();
        let (missing, single) = (place("missing.csv"), place("single.csv"));
        let (good, huge) = (place("good.csv"), place("huge.csv"));
        std::fs::write(&single, "1,2,+1\n").unwrap();
        let rows: String =
            (0..40).map(|i| format!("{},{}\n", i, if i < 20 { -1 } else { 1 })).collect();
        std::fs::write(&good, rows).unwrap();
        std::fs::write(&huge, "1e308,1\n-1e308,-1\n").unwrap();
        let message = |arguments: &[&str]| {
            let arguments = arguments.iter().map(|text| (*text).to_owned());
            run(arguments).map_err(|error| error.to_string())
        };
        assert_eq!(message(&[&good, "1"]), Ok(()));
        for (arguments, file) in [
            (vec![&missing[..]], &missing),
            (vec![&single], &single),
            (vec![&huge], &huge),
            (vec![&good, "1", &missing], &missing),
            (vec![&good, "1", &single], &single),
        ] {
            let error = message(&arguments).unwrap_err();
            assert!(error.contains(file) && !error.contains('{'), "{error}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
