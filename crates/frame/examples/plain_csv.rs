//! Writes a table as plain CSV: `plain_csv IN OUT [error|pad|skip]`.

use halfspaces_frame::{DataError, ReadOptions, inspect};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, rest @ ..] = arguments.as_slice() else {
        return Err("plain_csv IN OUT [error|pad|skip]".into());
    };
    let ragged = rest.first().map(|r| r.parse()).transpose()?.unwrap_or_default();
    let options = ReadOptions { ragged, ..ReadOptions::default() };
    let inspection = inspect(Path::new(input), &options)?;
    let file = std::fs::File::create(output)?;
    inspection.write_csv(std::io::BufWriter::new(file)).map_err(|e: DataError| e.to_string())?;
    for warning in &inspection.warnings {
        println!("{warning}");
    }
    if let Some(problem) = &inspection.problem {
        println!("problem: {problem}");
    }
    Ok(())
}
