//! What is labelled: points to learn from, items to show, labels known beforehand.

use super::args::LabelArgs;
use super::images::Images;
use super::items::Items;
use super::journal::PoolId;
use crate::error::CliError;
use crate::frame::{Column, Frame, Values};
use crate::input::{self, Hints, ReadingArgs};
use crate::output::note;
use fnv::FnvHasher;
use halfspaces_frame::Labels;
use halfspaces_linalg::Points;
use halfspaces_pipeline::{Recipe, Unseen};
use std::hash::Hasher;
use std::path::{Path, PathBuf};

/// Columns of a block that are shown at most.
const SHOWN_OF_A_BLOCK: usize = 25;

#[derive(Debug)]
pub(super) struct Pool {
    pub(super) points: Points,
    pub(super) items: Items,
    pub(super) id: PoolId,
    /// The column of labels for `--simulate`.
    pub(super) truth: Option<Labels>,
    /// Labels of the column `--known`, where there are any.
    pub(super) known: Vec<(usize, String)>,
}

impl Pool {
    pub(super) fn read(args: &LabelArgs) -> Result<Pool, CliError> {
        let texts = args.known.iter().chain(&args.label).chain(&args.show).chain(&args.image);
        let hints = Hints::texts(texts.cloned());
        let mut frame = args.input.read_as(&hints)?;
        let truth = args.label.as_ref().map(|name| Labels::take(&mut frame, name)).transpose()?;
        let (shown, folder) = shown_frame(args, &hints, frame.rows)?;
        let items_frame = shown.as_ref().unwrap_or(&frame);
        let known = match &args.known {
            Some(name) => {
                let values = items_frame.column(name).or_else(|| frame.column(name));
                labels_of(&*values.ok_or_else(|| items_frame.no_column(name))?)
            }
            None => Vec::new(),
        };
        let column = |name: &String| {
            let values = items_frame.column(name).or_else(|| frame.column(name));
            let values = values.ok_or_else(|| items_frame.no_column(name))?.into_owned();
            Ok::<Column, CliError>(Column { name: name.clone(), values })
        };
        let texts = args.show.iter().map(column).collect::<Result<Vec<Column>, _>>()?;
        let images = match (&args.image, &args.items) {
            (Some(name), _) => {
                let root = args.image_root.as_deref().unwrap_or(&folder);
                Some(Images::from_column(&column(name)?, &folder, root, |row| {
                    items_frame.place(row)
                })?)
            }
            (None, Some(items)) if items.is_dir() => Some(Images::from_folder(items, frame.rows)?),
            (None, _) => None,
        };
        // What is shown as text is not learned from, unless its words are.
        let is_only_shown = |column: &Column| {
            let is_named = |names: &[String]| names.contains(&column.name);
            let is_text = matches!(column.values, Values::Texts(_));
            args.known.as_ref() == Some(&column.name)
                || args.image.as_ref() == Some(&column.name)
                || is_text && is_named(&args.show) && !is_named(&args.columns.text)
        };
        frame.columns.retain(|column| !is_only_shown(column));
        let id = identify(&frame);
        let (recipe, notes) = Recipe::fit(&frame, &args.columns.options())?;
        notes.iter().for_each(|text| note(&format!("note: {text}")));
        let points = recipe.apply(&frame, Unseen::Error)?.into_dense()?;
        frame.columns.retain(|column| !args.columns.drop.contains(&column.name));
        let items = Items::new(texts, images, &features(&frame));
        Ok(Pool { points, items, id, truth, known })
    }
}

/// The table of `--items`, if there is one, and the folder from which paths of images start.
fn shown_frame(
    args: &LabelArgs,
    hints: &Hints,
    rows: usize,
) -> Result<(Option<Frame>, PathBuf), CliError> {
    let folder = |path: &Path| match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    match &args.items {
        Some(path) if path.is_dir() => Ok((None, path.clone())),
        Some(path) => {
            let frame = input::read(path, &ReadingArgs::default(), hints)?;
            if frame.rows != rows {
                let (name, pool) = (&frame.source, args.input.data.display());
                return Err(CliError::user(format!(
                    "{name}: {} rows for the {rows} rows of {pool}; row by row they are the same items",
                    frame.rows
                )));
            }
            Ok((Some(frame), folder(path)))
        }
        None => Ok((None, folder(&args.input.data))),
    }
}

/// The columns that are learned from, those of a block included.
fn features(frame: &Frame) -> Vec<Column> {
    let mut features = frame.columns.clone();
    if let Some(block) = &frame.block {
        let column = |place| Column {
            name: block.name(place),
            values: Values::numbers(block.column(place)),
        };
        features.extend((0..block.dim().min(SHOWN_OF_A_BLOCK)).map(column));
    }
    features
}

/// The labels of a column, where it has any.
fn labels_of(values: &Values) -> Vec<(usize, String)> {
    let rows = (0..values.len()).filter(|row| !values.is_missing(*row));
    rows.map(|row| (row, values.text(row))).collect()
}

/// What a session file recognises the pool by: names and values of the columns that may be learned from.
fn identify(frame: &Frame) -> PoolId {
    let mut hasher = FnvHasher::default();
    let write = |hasher: &mut FnvHasher, value: f64| {
        let value = if value.is_nan() { f64::NAN } else { value };
        hasher.write(&value.to_bits().to_le_bytes());
    };
    for column in &frame.columns {
        hasher.write(column.name.as_bytes());
        hasher.write(&[0xff]);
        match &column.values {
            Values::Numbers(values) => {
                values.values().iter().for_each(|value| write(&mut hasher, *value));
            }
            Values::Texts(_) => (0..frame.rows).for_each(|row| {
                // A missing text is not an empty one.
                let end = if column.values.is_missing(row) { 0xfe } else { 0xff };
                hasher.write(column.values.text(row).as_bytes());
                hasher.write(&[end]);
            }),
        }
    }
    // Column by column, as if each column of the block were an array.
    if let Some(block) = &frame.block {
        for place in 0..block.dim() {
            hasher.write(block.name(place).as_bytes());
            hasher.write(&[0xff]);
            block.column(place).into_iter().for_each(|value| write(&mut hasher, value));
        }
    }
    PoolId {
        source: frame.source.clone(),
        rows: frame.rows,
        columns: frame.column_count(),
        fingerprint: format!("{:016x}", hasher.finish()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_frame::MISSING;

    fn frame(name: &str, number: f64, code: u32) -> Frame {
        let columns = vec![
            Column { name: name.into(), values: Values::numbers(vec![number, 1.0]) },
            Column { name: "c".into(), values: Values::texts(vec![code, 0], &["", "a"]) },
        ];
        Frame::new("t.csv", columns)
    }

    #[test]
    fn a_pool_is_known_by_what_is_in_it() {
        let id = identify(&frame("x", 0.5, 1));
        assert_eq!((id.rows, id.columns, id.fingerprint.len()), (2, 2, 16));
        assert_eq!(identify(&frame("x", 0.5, 1)), id);
        assert_eq!(identify(&frame("x", f64::NAN, 1)), identify(&frame("x", -f64::NAN, 1)));
        for other in
            [frame("y", 0.5, 1), frame("x", 0.25, 1), frame("x", f64::NAN, 1), frame("x", 0.5, 0)]
        {
            assert_ne!(identify(&other).fingerprint, id.fingerprint, "{other:?}");
        }
        assert_ne!(
            identify(&frame("x", 0.5, 0)).fingerprint,
            identify(&frame("x", 0.5, MISSING)).fingerprint
        );
    }
}
