//! The pool: feature vectors, items to show, and known labels.

use super::args::LabelArgs;
use super::images::Images;
use super::items::Items;
use super::review::Reviewed;
use crate::error::CliError;
use crate::input::{self, Hints, ReadingArgs};
use crate::output::note_all;
use fnv::FnvHasher;
use halfspaces_frame::{
    Block, Classes, Column, ColumnRecord, Frame, Labels, ReadOptions, Values, find_class,
    is_missing_marker, suggestion,
};
use halfspaces_labelling::{
    Cells, ItemIds, ItemSource, ItemSpec, PoolId, ResumedPool, SessionLog, ShownImages,
};
use halfspaces_pipeline::{Design, Recipe, Unseen, check_same_order};
use std::collections::HashSet;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

/// The columns of a table that lists a folder of images: the file, and the name of its sub-folder.
const FOLDER_FILE: &str = "file";
const FOLDER_LABEL: &str = "label";

#[derive(Debug)]
pub(super) struct Pool {
    pub(super) points: Design,
    pub(super) items: Items,
    pub(super) id: PoolId,
    /// The identity of the pool, computed as for session files of version 1.
    pub(super) first_version: PoolId,
    /// The cells of the pool as they are in the files.
    pub(super) cells: Cells,
    /// The column of labels for `--simulate`.
    pub(super) truth: Option<Labels>,
    /// The labelled rows of the column that --known names.
    pub(super) known: Vec<(usize, String)>,
    /// Rows to ask about even though their label is known.
    pub(super) reviewed: Reviewed,
    /// Notes to print.
    pub(super) notes: Vec<String>,
}

/// Facts about the session that are known before the pool is read.
#[derive(Debug, Default)]
pub(super) struct SessionInfo<'a> {
    /// The pool in the previous run of the session; `None` for a new session.
    pub(super) pool: Option<&'a PoolId>,
    /// The classes; empty if they are taken from the known labels.
    pub(super) classes: &'a [String],
    /// The column of known labels of the session, which is not a feature even if `--known` is not passed again.
    pub(super) known: Option<&'a str>,
}

impl SessionInfo<'_> {
    pub(super) fn of(log: &SessionLog) -> SessionInfo<'_> {
        let (record, known) = (log.record(), log.header().known.as_deref());
        SessionInfo { pool: Some(record.pool()), classes: record.classes(), known }
    }
}

impl Pool {
    /// The facts about the pool that are needed to resume a session with it.
    pub(super) fn resumed(&self, args: &LabelArgs) -> ResumedPool<'_> {
        let (id, first_version, keep_found) = (&self.id, &self.first_version, args.keep_found);
        ResumedPool { id, first_version, cells: Some(&self.cells), keep_found }
    }

    pub(super) fn read(args: &LabelArgs, session: &SessionInfo<'_>) -> Result<Pool, CliError> {
        let mut args = with_images_of_folder(args);
        let is_told = args.known.is_some();
        args.known = args.known.or_else(|| session.known.map(str::to_owned));
        let before = session.pool.and_then(|pool| pool.items.as_ref());
        let id_name = id_column(&args, session, before)?;
        let texts = args.known.iter().chain(&args.label).chain(&args.show).chain(&args.image);
        let mut hints = Hints::texts(texts.chain(&id_name).cloned());
        hints.verbatim.extend(args.known.iter().chain(&args.show).cloned());
        let protected = args.columns.options().with_texts(hints.clone());
        let mut frame = args.input.read_as(&protected)?;
        // The identity of an item does not depend on --drop and --text, so these columns are typed like all others if
        // their cells allow it.
        for name in protected.texts.difference(&hints.texts) {
            let read = frame.inferred(name, &args.input.reading.options());
            if let Ok(Some((column, record))) = read {
                replace(&mut frame, column, record);
            }
        }
        let truth = args.label.as_ref().map(|name| Labels::take(&mut frame, name)).transpose()?;
        let (mut shown, folder) = shown_frame(&args, &hints, &frame)?;
        let mut notes = Vec::new();
        if let Some(name) = args.known.take_if(|_| !is_told) {
            let has = |table: &Frame| table.has(&name);
            if has(&frame) || shown.as_ref().is_some_and(has) {
                notes.push(format!("note: column `{name}` has the known labels of this session"));
                args.known = Some(name);
            }
        }
        let args = &args;
        let is_named =
            |name: &String| args.known.as_ref() == Some(name) || args.show.contains(name);
        if args.is_folder() && frame.has(FOLDER_LABEL) && !is_named(&FOLDER_LABEL.to_owned()) {
            frame.columns.retain(|column| column.name != FOLDER_LABEL);
            notes.push(format!(
                "note: the names of the sub-folders are not used; pass --known {FOLDER_LABEL} to use them as known labels"
            ));
        }
        let items_frame = shown.as_ref().unwrap_or(&frame);
        let known = match &args.known {
            Some(name) => {
                let of = if items_frame.has(name) { items_frame } else { &frame };
                let values = of.column(name).ok_or_else(|| items_frame.no_column(name))?;
                // A sub-folder of images is a class, whatever its name.
                let is_folder = frame.is_folder() && args.items.is_none();
                let words = &args.input.reading.not_missing;
                let known =
                    known_labels(name, &values, session.classes, words, is_folder, &mut notes)?;
                let place = |row: usize| format!("{}, column `{name}`", of.place(row));
                check_classes(&known, session.classes, place)?;
                known
            }
            None => Vec::new(),
        };
        let reviewed = match &args.review {
            Some(path) => Reviewed::read(path, &frame, args.known.as_deref(), &known)?,
            None => Reviewed::default(),
        };
        // Each cell is shown and exported as it is in the file.
        let texts = args.show.iter().map(|name| column_of(shown.as_ref(), &frame, name));
        let texts = texts.collect::<Result<Vec<Column>, _>>()?;
        let cells = Cells::of(&frame, shown.as_ref());
        with_missing_markers(&mut frame, args, &args.input.reading.options())?;
        if let Some(shown) = &mut shown {
            with_missing_markers(shown, args, &ReadingArgs::default().options())?;
        }
        let column = |name: &String| column_of(shown.as_ref(), &frame, name);
        let images = match (&args.image, &args.items) {
            (Some(name), _) => {
                let root = args.image_root.as_deref().unwrap_or(&folder);
                let items_frame = shown.as_ref().unwrap_or(&frame);
                Some(Images::from_column(&column(name)?, &folder, root, |row| {
                    items_frame.place(row)
                })?)
            }
            (None, Some(items)) if items.is_dir() => {
                notes.push(format!(
                    "note: {}: the images are shown with the rows in the order of their names (2 before 10); no column can \
                     confirm this",
                    items.display()
                ));
                Some(Images::from_folder(items, frame.rows)?)
            }
            (None, _) => None,
        };
        if let Some(count) = images.as_ref().map(Images::backslashes).filter(|count| *count > 0) {
            notes.push(format!("note: backslashes in {count} image paths are read as slashes"));
        }
        notes.extend(label_columns(&frame, args, session.classes));
        let id = id_name.as_ref().map(column).transpose()?;
        let spec = match before {
            Some(items) => items.by.clone(),
            None => spec(args, &frame, shown.as_ref(), images.is_some(), id_name),
        };
        let shown_images = images.as_ref().map(|images| images as &dyn ShownImages);
        let source = ItemSource {
            frame: &frame,
            shown: shown.as_ref(),
            images: shown_images,
            cells: Some(&cells),
        };
        let pool_id = source.identify(spec, id.as_ref(), session.pool)?;
        // Columns to show are read as text, so that their cells are shown unchanged. The model learns from the numbers
        // and dates in these cells.
        let (mut typed, mut identifiers) = (Vec::new(), HashSet::new());
        for name in args.show.iter().filter(|name| args.known.as_ref() != Some(*name)) {
            let found = frame.inferred(name, &args.input.reading.options())?;
            if found.as_ref().is_some_and(|(_, record)| record.rule.kind.is_left_out()) {
                identifiers.insert(name.clone());
            }
            typed.extend(found);
        }
        typed.retain(|(Column { name, values }, _)| {
            let is_text = matches!(values, Values::Texts(_));
            !args.columns.text.contains(name)
                && (!is_text || args.columns.use_columns.contains(name))
        });
        let is_only_shown = |column: &Column| {
            let is_text = matches!(column.values, Values::Texts(_));
            args.known.as_ref() == Some(&column.name)
                || args.image.as_ref() == Some(&column.name)
                || is_text
                    && args.show.contains(&column.name)
                    && !args.columns.text.contains(&column.name)
                    && (!column.values.is_free_text() || identifiers.contains(&column.name))
                    && !typed.iter().any(|(typed, _)| typed.name == column.name)
        };
        let only_shown = frame.columns.iter().filter(|column| {
            args.show.contains(&column.name)
                && is_only_shown(column)
                && args.known.as_ref() != Some(&column.name)
        });
        notes.extend(only_shown.map(|Column { name, .. }| {
            format!(
                "note: column `{name}` is shown but not used as a feature; with --text {name} the model learns from its \
                 words, with --use {name} from its values as categories"
            )
        }));
        let is_id = |column: &Column| id.as_ref().is_some_and(|id| id.name == column.name);
        // --drop may name a column that is ignored anyway.
        let mut options = args.columns.clone();
        let in_shown = |name: &str| shown.as_ref().is_some_and(|shown| shown.has(name));
        options.drop.retain(|name| match frame.columns.iter().find(|c| c.name == *name) {
            Some(column) => !is_only_shown(column) && !is_id(column),
            None => frame.has(name) || !in_shown(name),
        });
        let first_version = identify_as_before(&frame, |column| {
            let is_typed = typed.iter().any(|(typed, _)| typed.name == column.name);
            !is_typed && !is_only_shown(column)
        });
        frame.columns.retain(|column| !is_only_shown(column));
        frame.columns.retain(|column| !is_id(column));
        for (column, record) in typed {
            replace(&mut frame, column, record);
        }
        let (recipe, of_recipe) = Recipe::fit(&frame, &options.options())?;
        notes.extend(of_recipe.into_iter().map(|text| format!("note: {text}")));
        let points = recipe.apply(&frame, Unseen::Error)?;
        frame.columns.retain(|column| !options.drop.contains(&column.name));
        let keys = pool_id.items.as_ref().map(|items| items.keys.clone()).unwrap_or_default();
        let items = Items::new(texts, images, &features(&frame));
        let mut items = items.with_keys(keys, id.clone()).with_recipe(recipe, &frame);
        items =
            items.with_columns(frame.columns.iter().map(|column| column.name.clone()).collect());
        if !reviewed.places.is_empty() {
            items = items.with_known(&known, &reviewed.places);
        }
        Ok(Pool { points, items, id: pool_id, first_version, cells, truth, known, reviewed, notes })
    }
}

/// The column of the table of `--items`, if that table has it; otherwise, the column of the pool.
fn column_of(shown: Option<&Frame>, frame: &Frame, name: &str) -> Result<Column, CliError> {
    let items_frame = shown.unwrap_or(frame);
    let values = items_frame.column(name).or_else(|| frame.column(name));
    let values = values.ok_or_else(|| items_frame.no_column(name))?.into_owned();
    Ok(Column { name: name.to_owned(), values })
}

/// Treats markers such as NA in the shown columns as missing, for the keys of the items and for the features. The table
/// was read with `options`.
fn with_missing_markers(
    table: &mut Frame,
    args: &LabelArgs,
    options: &ReadOptions,
) -> Result<(), CliError> {
    for name in args.show.iter().filter(|name| args.known.as_ref() != Some(*name)) {
        if let Some((column, record)) = table.with_missing_markers(name, options)? {
            replace(table, column, record);
        }
    }
    Ok(())
}

/// Replaces a column and its record.
fn replace(table: &mut Frame, column: Column, record: ColumnRecord) {
    table.records.retain(|other| other.name != column.name);
    table.records.push(record);
    if let Some(place) = table.columns.iter_mut().find(|other| other.name == column.name) {
        *place = column;
    }
}

/// Returns the options. If DATA is a folder of images, its column of file names becomes the column of images.
fn with_images_of_folder(args: &LabelArgs) -> LabelArgs {
    let is_shown = args.image.is_some() || args.items.is_some();
    let image = (args.is_folder() && !is_shown).then(|| FOLDER_FILE.to_owned());
    LabelArgs { image: args.image.clone().or(image), ..args.clone() }
}

/// The column of ids: that of `--id`, or that of the session.
fn id_column(
    args: &LabelArgs,
    session: &SessionInfo<'_>,
    before: Option<&ItemIds>,
) -> Result<Option<String>, CliError> {
    let of_session = before.map(|items| items.by.id.clone());
    match (&args.id, of_session) {
        (Some(named), Some(of_session)) if of_session.as_ref() != Some(named) => {
            let source = session.pool.map_or("", |pool| &pool.source);
            let by = match of_session {
                Some(column) => format!("by the ids in column `{column}`"),
                None => "by their content".to_owned(),
            };
            Err(CliError::user(format!(
                "--id {named}: the session for {source} identifies its items {by}; omit --id, or pass another file \
                 with --session"
            )))
        }
        (named, of_session) => Ok(named.clone().or(of_session.flatten())),
    }
}

/// Determines how a new session identifies its items.
fn spec(
    args: &LabelArgs,
    frame: &Frame,
    shown: Option<&Frame>,
    images: bool,
    id: Option<String>,
) -> ItemSpec {
    let is_content = |name: &String| {
        let is = |other: &Option<String>| other.as_ref() == Some(name);
        !(is(&args.known) || is(&args.image) || is(&id))
    };
    let columns = frame.columns.iter().map(|column| &column.name);
    let columns = columns.filter(|name| is_content(name)).cloned().collect();
    let in_shown = |name: &&String| shown.is_some_and(|shown| shown.has(name));
    let shown = args.show.iter().filter(|name| is_content(name)).filter(in_shown).cloned();
    let shown: Vec<String> = shown.collect();
    // The content shown for a row identifies it better than the numbers of a matrix, which may be recomputed.
    let is_by_matrix = !images && shown.is_empty();
    let matrix_without = frame.block.as_ref().filter(|_| is_by_matrix).map(|block| {
        let roles = [&args.known, &args.image, &id].into_iter().flatten();
        roles.filter(|name| block.place(name).is_some()).cloned().collect()
    });
    ItemSpec { id, columns, shown, images, matrix_without }
}

/// The columns shown as features. Only the first columns of a block are shown.
fn features(frame: &Frame) -> Vec<Column> {
    const MAX_OF_BLOCK: usize = 25;
    let mut features = frame.columns.clone();
    if let Some(block) = &frame.block {
        let column = |place| Column {
            name: block.name(place),
            values: Values::numbers(block.column(place)),
        };
        features.extend((0..block.dim().min(MAX_OF_BLOCK)).map(column));
    }
    features
}

/// The table of `--items`, if it is a table, and the folder to which paths of images are relative. The rows of this
/// table must be those of the pool.
fn shown_frame(
    args: &LabelArgs,
    hints: &Hints,
    pool: &Frame,
) -> Result<(Option<Frame>, PathBuf), CliError> {
    let folder = |path: &Path| match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    match &args.items {
        Some(path) if path.is_dir() => Ok((None, path.clone())),
        Some(path) => {
            let frame = input::read(path, &ReadingArgs::default(), hints)?;
            if frame.rows != pool.rows {
                let (name, data) = (&frame.source, args.input.data.display());
                return Err(CliError::user(format!(
                    "{name}: {} rows for the {} rows of {data}; --items needs one row for each row of the pool, in the \
                     same order",
                    frame.rows, pool.rows
                )));
            }
            let known: Vec<&str> = args.known.as_deref().into_iter().collect();
            let advice = "sort the tables in the same order";
            let of_numbers = "sort the file by these numbers, or remove them";
            let same = check_same_order(pool, &frame, &known, [advice, of_numbers, advice])?;
            note_all(&same.notes);
            if same.columns == 0 && !pool.columns.is_empty() {
                note_all(&[format!(
                    "{}: its rows are shown with the rows of {} in order; the files have no common column that could confirm \
                     this",
                    frame.source, pool.source
                )]);
            }
            Ok((Some(frame), folder(path)))
        }
        None if args.is_folder() => Ok((None, args.input.data.clone())),
        None => Ok((None, folder(&args.input.data))),
    }
}

/// Returns an error if a known label is not one of the classes, unless no classes are given.
fn check_classes(
    known: &[(usize, String)],
    classes: &[String],
    place: impl Fn(usize) -> String,
) -> Result<(), CliError> {
    if classes.is_empty() {
        return Ok(());
    }
    let found = Classes::new(classes.iter().cloned());
    let Some((row, label)) = known.iter().find(|(_, label)| found.find(label).is_none()) else {
        return Ok(());
    };
    let names: Vec<&str> = classes.iter().map(String::as_str).collect();
    Err(CliError::user(format!(
        "{}: `{label}` is not one of the classes{}; correct the label, or add it to --classes",
        place(*row),
        suggestion(label, &names)
    )))
}

/// The labelled rows of a column. A word such as `None` is a label if it is the name of a class or one of `not_missing`;
/// otherwise it is a missing label.
fn known_labels(
    name: &str,
    values: &Values,
    classes: &[String],
    not_missing: &[String],
    verbatim: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<(usize, String)>, CliError> {
    let mut words: Vec<(String, usize)> = Vec::new();
    let mut known = Vec::new();
    let is_label = |text: &String| {
        verbatim
            || !is_missing_marker(text)
            || not_missing.contains(text)
            || find_class(text, classes).is_some()
    };
    for row in (0..values.len()).filter(|row| !values.is_missing(*row)) {
        let text = values.text(row);
        if is_label(&text) {
            known.push((row, text));
        } else {
            match words.iter_mut().find(|(word, _)| *word == text) {
                Some((_, count)) => *count += 1,
                None => words.push((text, 1)),
            }
        }
    }
    for (word, count) in words {
        notes.push(format!(
            "note: --known {name}: `{word}` in {count} rows counts as missing; if it is a class, pass --not-missing '{word}' \
             or add it to --classes"
        ));
    }
    if classes.is_empty() && !verbatim {
        let codes = (0..known.len() as u32).collect();
        let texts: Vec<&str> = known.iter().map(|(_, text)| text.as_str()).collect();
        let column = Column { name: name.to_owned(), values: Values::texts(codes, &texts) };
        let mut found = Vec::new();
        Labels::of_column(&column, &format!("--known {name}"), &mut found)?;
        notes.extend(found.into_iter().map(|text| format!("note: {text}")));
    }
    Ok(known)
}

/// A note for each feature column whose values are all names of classes. Such a column probably contains the labels.
fn label_columns(frame: &Frame, args: &LabelArgs, classes: &[String]) -> Vec<String> {
    let columns = frame.columns.iter().filter(|Column { name, .. }| {
        args.known.as_ref() != Some(name)
            && args.image.as_ref() != Some(name)
            && !args.columns.drop.contains(name)
            && !args.columns.text.contains(name)
    });
    let contains_classes = |column: &&Column| match &column.values {
        Values::Texts(texts) => {
            let levels: Vec<&str> = texts.levels().filter(|level| !level.is_empty()).collect();
            levels.len() >= 2
                && levels.iter().all(|level| classes.iter().any(|class| class == level))
        }
        Values::Numbers(numbers) => {
            let mut found: Vec<Option<usize>> = Vec::new();
            let rows = (0..numbers.len()).filter(|row| !column.values.is_missing(*row));
            for class in rows.map(|row| find_class(&column.values.text(row), classes)) {
                if !found.contains(&class) {
                    found.push(class);
                }
                if class.is_none() {
                    break;
                }
            }
            found.len() >= 2 && !found.contains(&None)
        }
        Values::Moments(_) => false,
    };
    let mut columns: Vec<&Column> = columns.filter(contains_classes).collect();
    // If several columns of numbers contain only names of classes, such as 0 and 1, they are features.
    let is_number = |column: &&Column| matches!(column.values, Values::Numbers(_));
    if columns.iter().filter(|column| is_number(column)).count() > 1 {
        columns.retain(|column| !is_number(column));
    }
    let note = |Column { name, .. }: &Column| {
        format!(
            "note: column `{name}` contains only names of classes and is used as a feature; if it contains labels, \
             pass --known {name} to start from them or --drop {name} to ignore it"
        )
    };
    columns.into_iter().map(note).collect()
}

/// The identity of a pool in session files of version 1: a hash of the names and values of the feature columns.
fn identify_as_before(frame: &Frame, is_learned: impl Fn(&Column) -> bool) -> PoolId {
    let mut hasher = FnvHasher::default();
    let number = |hasher: &mut FnvHasher, value: f64| {
        let value = if value.is_nan() { f64::NAN } else { value };
        hasher.write(&value.to_bits().to_le_bytes());
    };
    let columns: Vec<&Column> = frame.columns.iter().filter(|column| is_learned(column)).collect();
    for column in &columns {
        hasher.write(column.name.as_bytes());
        hasher.write(&[0xff]);
        match &column.values {
            Values::Numbers(values) => {
                values.values().iter().for_each(|value| number(&mut hasher, *value));
            }
            Values::Texts(_) | Values::Moments(_) => (0..frame.rows).for_each(|row| {
                // Distinguishes a missing text from an empty one.
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
    let columns = columns.len() + frame.block.as_ref().map_or(0, Block::dim);
    PoolId::without_keys(&frame.source, frame.rows, columns, &fingerprint)
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

    fn identify(frame: &Frame) -> PoolId {
        identify_as_before(frame, |_| true)
    }

    #[test]
    fn a_pool_is_recognised_as_in_version_1() {
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

    #[test]
    fn a_missing_marker_is_a_label_if_it_is_a_class() {
        let values = Values::texts(vec![0, 1, 2, MISSING], &["None", "NA", "x"]);
        let mut notes = Vec::new();
        let classes = ["None".to_owned(), "x".to_owned()];
        let known = known_labels("y", &values, &classes, &[], false, &mut notes).unwrap();
        assert_eq!(known, [(0, "None".to_owned()), (2, "x".to_owned())]);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("`NA` in 1 rows counts as missing"), "{notes:?}");
        let known = known_labels("y", &values, &[], &["None".to_owned()], false, &mut notes);
        assert_eq!(known.unwrap(), [(0, "None".to_owned()), (2, "x".to_owned())]);
        // The classes of a new session are those of the column. Some of them may be mistakes.
        let values = Values::texts(vec![0, 1, 2, 3], &["Yes", "yes", "no", "-"]);
        let mut notes = Vec::new();
        assert_eq!(known_labels("y", &values, &[], &[], false, &mut notes).unwrap().len(), 4);
        assert!(
            notes[0].starts_with("note: --known y: ") && notes[0].contains("`Yes`"),
            "{notes:?}"
        );
        assert!(notes[1].contains("the label `-` is read as a class (1 rows)"), "{notes:?}");
        // As at a fit, equal numbers are one class, and ids are not classes.
        let values = Values::texts(vec![0, 1, 2, 3], &["1.1", "1.10", "1", "true"]);
        let mut notes = Vec::new();
        known_labels("y", &values, &[], &[], false, &mut notes).unwrap();
        assert!(notes[0].contains("`1.1` and `1.10` count as one class"), "{notes:?}");
        let ids: Vec<String> = (0..3000).map(|id| format!("id {id}")).collect();
        let values = Values::texts((0..3000).collect(), &ids);
        let refused =
            known_labels("y", &values, &[], &[], false, &mut notes).unwrap_err().to_string();
        assert!(
            refused.contains("3000 different labels in 3000 rows are not classes"),
            "{refused}"
        );
    }
}
