//! What is labelled: points to learn from, items to show, labels known beforehand.

use super::args::LabelArgs;
use super::images::Images;
use super::items::Items;
use super::journal::PoolId;
use crate::error::CliError;
use crate::frame::{Column, Frame, Values};
use crate::input::{self, Hints, ReadingArgs};
use crate::labels::Labels;
use crate::recipe::{Recipe, Unseen};
use fnv::FnvHasher;
use halfspaces_linalg::Points;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

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
                labels_of(items_frame.column(name).or(frame.column(name)), name, items_frame)?
            }
            None => Vec::new(),
        };
        let column = |name: &String| {
            let column = items_frame.column(name).or_else(|| frame.column(name));
            column.cloned().ok_or_else(|| items_frame.no_column(name))
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
            let is_text = matches!(column.values, Values::Texts { .. });
            args.known.as_ref() == Some(&column.name)
                || args.image.as_ref() == Some(&column.name)
                || is_text && is_named(&args.show) && !is_named(&args.columns.text)
        };
        frame.columns.retain(|column| !is_only_shown(column));
        let id = identify(&frame);
        let recipe = Recipe::fit(&frame, &args.columns)?;
        let points = recipe.apply(&frame, Unseen::Error)?;
        frame.columns.retain(|column| !args.columns.drop.contains(&column.name));
        let items = Items::new(texts, images, &frame.columns);
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

/// The labels of a column by name, where it has any.
fn labels_of(
    column: Option<&Column>,
    name: &str,
    frame: &Frame,
) -> Result<Vec<(usize, String)>, CliError> {
    let values = &column.ok_or_else(|| frame.no_column(name))?.values;
    let rows = (0..values.len()).filter(|row| !values.is_missing(*row));
    Ok(rows.map(|row| (row, values.text(row))).collect())
}

/// What a session file recognises the pool by: names and values of the columns that may be learned from.
fn identify(frame: &Frame) -> PoolId {
    let mut hasher = FnvHasher::default();
    for column in &frame.columns {
        hasher.write(column.name.as_bytes());
        hasher.write(&[0xff]);
        match &column.values {
            Values::Numbers(values) => values.iter().for_each(|value| {
                let value = if value.is_nan() { f64::NAN } else { *value };
                hasher.write(&value.to_bits().to_le_bytes());
            }),
            Values::Texts { .. } => (0..frame.rows).for_each(|row| {
                // A missing text is not an empty one.
                let end = if column.values.is_missing(row) { 0xfe } else { 0xff };
                hasher.write(column.values.text(row).as_bytes());
                hasher.write(&[end]);
            }),
        }
    }
    PoolId {
        source: frame.source.clone(),
        rows: frame.rows,
        columns: frame.columns.len(),
        fingerprint: format!("{:016x}", hasher.finish()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{MISSING, Places};

    fn frame(name: &str, number: f64, code: u32) -> Frame {
        let levels = vec![String::new(), "a".into()];
        let columns = vec![
            Column { name: name.into(), values: Values::Numbers(vec![number, 1.0]) },
            Column { name: "c".into(), values: Values::Texts { codes: vec![code, 0], levels } },
        ];
        Frame {
            columns,
            rows: 2,
            source: "t.csv".into(),
            places: Places::rows(),
            sparse: false,
            remarks: Vec::new(),
        }
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
