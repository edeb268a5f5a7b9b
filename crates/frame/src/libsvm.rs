//! LIBSVM: `label index:value index:value ..` per line, what is not stored is zero.

use crate::block::Block;
use crate::error::DataError;
use crate::frame::{Column, Frame, Places};
use crate::levels::Levels;
use crate::source::Source;
use crate::values::Values;
use halfspaces_linalg::SparsePoints;
use std::io::BufRead;

/// Largest index of an entry: learners keep some 100 bytes for each coordinate.
const MAX_INDEX: usize = 1 << 27;

/// Name of the column of labels.
pub(crate) const LABEL: &str = "label";

/// Whether text looks like it: its first line is a label, then one or more `index:value`.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty());
    let Some(Ok(line)) = line.map(std::str::from_utf8) else { return false };
    let mut words = line.split_ascii_whitespace();
    let labelled = words.next().is_some_and(|label| label.parse::<f64>().is_ok());
    let pair = |word: &str| {
        word.split_once(':')
            .is_some_and(|(i, v)| i.parse::<u32>().is_ok() && v.parse::<f64>().is_ok())
    };
    let pairs: Vec<&str> = words.collect();
    labelled && !pairs.is_empty() && pairs.into_iter().all(pair)
}

/// Reads a table: columns `label` and `1`, `2`, .. up to the largest index.
pub(crate) fn read(source: &Source) -> Result<Frame, DataError> {
    source.check_text()?;
    let mut reader = source.reader()?;
    let mut line = String::new();
    let mut number = 0;
    let mut lines = Vec::new();
    let (mut codes, mut levels) = (Vec::new(), Levels::default());
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut dim = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line).map_err(|e| source.failed(&e))? == 0 {
            break;
        }
        number += 1;
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let fault =
            |what: String| DataError::user(format!("{}, line {number}: {what}", source.name()));
        let mut words = content.split_ascii_whitespace();
        let label = words.next().unwrap_or_default();
        if label.contains(':') {
            return Err(fault(format!(
                "the line begins with `{label}`; write a label before it, any number if there is none"
            )));
        }
        if label.parse::<f64>().is_err() {
            return Err(fault(format!("the label `{label}` is not a number")));
        }
        lines.push(number);
        codes.push(levels.code(label));
        let mut last = 0;
        for word in words.filter(|word| !word.starts_with("qid:")) {
            let pair =
                word.split_once(':').and_then(|(i, v)| Some((i.parse().ok()?, v.parse().ok()?)));
            let (index, value): (usize, f64) =
                pair.ok_or_else(|| fault(format!("`{word}` is not index:value")))?;
            if index == 0 {
                return Err(fault("index 0: indices count from 1".to_owned()));
            }
            if index <= last {
                return Err(fault(format!(
                    "index {index} does not come after {last}; indices rise"
                )));
            }
            if !value.is_finite() {
                return Err(fault(format!("`{word}`: write a finite number")));
            }
            last = index;
            if index > MAX_INDEX {
                return Err(fault(format!(
                    "index {index} is larger than {MAX_INDEX}, the largest"
                )));
            }
            dim = dim.max(index);
            if value != 0.0 {
                columns.push((index - 1) as u32);
                values.push(value);
            }
        }
        starts.push(values.len());
    }
    let label =
        Column { name: LABEL.to_owned(), values: Values::texts(codes, &levels.into_names()) };
    let block = match dim {
        0 => None,
        _ => Some(Block::Sparse(SparsePoints::new(starts, columns, values, dim)?)),
    };
    let frame = Frame::new(source.name(), vec![label]);
    Ok(Frame { block, places: Places::lines(lines), ..frame })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_from_csv() {
        assert!(looks_like(b"\n+1 1:0.5 7:-2e-3\n") && looks_like(b"-1 3:1\n1 2:2"));
        assert!(
            !looks_like(b"a,b\n1,2\n") && !looks_like(b"1 2 3\n") && !looks_like(b"12:30 1:2\n")
        );
    }
}
