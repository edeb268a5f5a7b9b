//! Reads tables and prints how their columns are interpreted. Usage: `show_table FILE ..`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use halfspaces_frame::{Hints, ReadOptions, read};

fn main() {
    for path in std::env::args().skip(1) {
        let frame = match read(path.as_ref(), &ReadOptions::default(), &Hints::default()) {
            Ok(frame) => frame,
            Err(error) => {
                println!("error: {error}\n");
                continue;
            }
        };
        println!("{path}: {} rows, {} columns", frame.rows, frame.column_count());
        for column in &frame.columns {
            let kind = frame.record(&column.name).map_or("?", |record| record.rule.kind.name());
            let missing = column.values.missing();
            println!(
                "  {}: {kind}, {missing} missing, first {}",
                column.name,
                column.values.text(0)
            );
        }
        if let Some(block) = &frame.block {
            println!(
                "  {} .. {}: {} values",
                block.name(0),
                block.name(block.dim() - 1),
                block.stored()
            );
        }
        let of_columns = frame.records.iter().flat_map(|record| &record.notes);
        for note in frame.notes.iter().chain(of_columns) {
            println!("  note: {note}");
        }
        for (name, remark) in &frame.remarks {
            println!("  remark: {name}: {remark:?}");
        }
        println!();
    }
}
