//! The pool: points to learn from, items to show, and labels known beforehand.

use super::args::LabelArgs;
use super::images::Images;
use super::items::Items;
use crate::error::CliError;
use crate::frame::{Column, Frame, Values};
use crate::input::{self, Hints, ReadingArgs};
use fnv::FnvHasher;
use halfspaces_frame::{Labels, MISSING, find_class, is_missing_marker};
use halfspaces_labelling::{ItemIds, ItemKey, ItemSpec, KeyBuilder, PoolId};
use halfspaces_linalg::Points;
use halfspaces_pipeline::{Recipe, Unseen};
use std::collections::HashMap;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Pool {
    pub(super) points: Points,
    pub(super) items: Items,
    pub(super) id: PoolId,
    /// The pool as sessions of version 1 recognise it: names and values of the columns that may be learned from.
fn identify_as_before(frame: &Frame) -> PoolId {
    let mut hasher = FnvHasher::default();
    let number = |hasher: &mut FnvHasher, value: f64| {
        let value = if value.is_nan() { f64::NAN } else { value };
        hasher.write(&value.to_bits().to_le_bytes());
    };
    for column in &frame.columns {
        hasher.write(column.name.as_bytes());
        hasher.write(&[0xff]);
        match &column.values {
            Values::Numbers(values) => {
                values.values().iter().for_each(|value| number(&mut hasher, *value));
            }
            Values::Texts(_) | Values::Moments(_) => (0..frame.rows).for_each(|row| {
                // A missing text is not an empty one.
                let end = if column.values.is_missing(row) { 0xfe } else { 0xff };
                hasher.write(column.values.text(row).as_bytes());
                hasher.write(&[end]);
            }),
        }
    }
    if let Some(block) = &frame.block {
        for place in 0..block.dim() {
            hasher.write(block.name(place).as_bytes());
            hasher.write(&[0xff]);
            block.column(place).into_iter().for_each(|value| number(&mut hasher, value));
        }
    }
    let fingerprint = format!("{:016x}", hasher.finish());
    PoolId::without_keys(&frame.source, frame.rows, frame.column_count(), &fingerprint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str, number: f64, code: u32) -> Frame {
        let columns = vec![
            Column { name: name.into(), values: Values::numbers(vec![number, 1.0]) },
            Column { name: "c".into(), values: Values::texts(vec![code, 0], &["", "a"]) },
        ];
        Frame::new("t.csv", columns)
    }

    #[test]
    fn a_pool_is_recognised_as_in_version_1() {
        let id = identify_as_before(&frame("x", 0.5, 1));
        assert_eq!((id.rows, id.columns, id.fingerprint.len()), (2, 2, 16));
        assert_eq!(identify_as_before(&frame("x", 0.5, 1)), id);
        assert_eq!(
            identify_as_before(&frame("x", f64::NAN, 1)),
            identify_as_before(&frame("x", -f64::NAN, 1))
        );
        for other in
            [frame("y", 0.5, 1), frame("x", 0.25, 1), frame("x", f64::NAN, 1), frame("x", 0.5, 0)]
        {
            assert_ne!(identify_as_before(&other).fingerprint, id.fingerprint, "{other:?}");
        }
        assert_ne!(
            identify_as_before(&frame("x", 0.5, 0)).fingerprint,
            identify_as_before(&frame("x", 0.5, MISSING)).fingerprint
        );
    }

    #[test]
    fn items_are_known_by_what_is_in_them() {
        let by = |columns: &[&str]| {
            let columns = columns.iter().map(|name| (*name).to_owned()).collect();
            ItemSpec { id: None, columns, shown: Vec::new(), images: false }
        };
        let keys = |frame: &Frame, columns: &[&str]| {
            let sources = Sources { frame, shown: None, images: None };
            sources.identify(by(columns), None, None).unwrap().items.unwrap().keys
        };
        let one = keys(&frame("x", 0.5, 1), &["x", "c"]);
        assert_eq!(keys(&frame("x", 0.5, 1), &["x", "c"]), one);
        for other in [frame("x", 0.25, 1), frame("x", 0.5, 0), frame("x", 0.5, MISSING)] {
            let other = keys(&other, &["x", "c"]);
            assert!(other[0] != one[0] && other[1] == one[1]);
        }
        let error = Sources { frame: &frame("x", 0.5, 1), shown: None, images: None }
            .identify(by(&["y"]), None, None)
            .unwrap_err();
        assert!(error.to_string().contains("by column `y`"), "{error}");
    }

    #[test]
    fn a_word_for_missing_is_a_label_if_it_is_a_class() {
        let levels = ["None", "NA", "x"].map(str::to_owned).to_vec();
        let values = Values::Texts { codes: vec![0, 1, 2, MISSING], levels };
        let column = Column { name: "y".into(), values };
        let mut notes = Vec::new();
        let known = known_labels(&column, &["None".into(), "x".into()], &mut notes);
        assert_eq!(known, [(0, "None".to_owned()), (2, "x".to_owned())]);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("`NA` in 1 rows counts as missing"), "{notes:?}");
    }
}
