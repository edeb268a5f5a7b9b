//! Labels given on the command line: the column `--known` and imports. They never replace an answer of the session. An
//! answer may also say that the class of a row is uncertain.

use super::args::LabelArgs;
use super::label_studio;
use super::pool::Pool;
use crate::error::CliError;
use halfspaces_frame::Classes;
use halfspaces_labelling::{Event, Record};
use std::collections::HashMap;

/// Maximum number of rows listed in a note.
const LISTED: usize = 5;

/// The labels that the session does not have yet, as one event; `None` if there are none. Labels that are ignored are
/// reported in `notes`.
pub(super) fn new_labels(
    args: &LabelArgs,
    pool: &Pool,
    record: &Record,
    notes: &mut Vec<String>,
) -> Result<Option<Event>, CliError> {
    let classes = record.classes();
    let known = Classes::new(classes.iter().cloned());
    let class = |name: &str, from: &str| {
        known.find(name).ok_or_else(|| {
            CliError::user(format!(
                "{from}: there is no class {name:?}; there are {}",
                classes.join(", ")
            ))
        })
    };
    let from = if args.merge.is_empty() { "--known" } else { "--merge" };
    let mut labels: Vec<(usize, usize)> = Vec::new();
    let (mut ignored, mut uncertain, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for (row, name) in pool.known.iter().filter(|(row, _)| !pool.reviewed.places.contains_key(row))
    {
        let class = class(name, &format!("{from}, row {row}"))?;
        match record.row_label(*row) {
            None if record.is_uncertain(*row) => uncertain.push(*row),
            None => labels.push((*row, class)),
            Some(given) if given.class == class => {}
            // The annotators have changed their answers since an earlier merge.
            Some(given) if !args.merge.is_empty() && !given.is_by_person() => {
                changed.push(*row);
                labels.push((*row, class));
            }
            Some(_) => ignored.push(*row),
        }
    }
    if !changed.is_empty() {
        notes.push(format!(
            "note: {from}: {} of its labels differ from those of an earlier merge and replace them ({})",
            changed.len(),
            rows(&changed)
        ));
    }
    note_ignored(&ignored, from, notes);
    note_uncertain(&uncertain, from, notes);
    let has_known =
        |row: &&usize| record.row_label(**row).is_some_and(|given| !given.is_by_person());
    let already = pool.reviewed.places.keys().filter(has_known).count();
    if already > 0 {
        notes.push(format!(
            "note: {}: {already} {} a known label in this session already and {} not asked about; to ask about them, pass \
             a new file with --session",
            if args.merge.is_empty() { "--review" } else { "--merge" },
            if already == 1 { "row has" } else { "rows have" },
            if already == 1 { "is" } else { "are" }
        ));
    }
    if let Some(path) = &args.import_labelstudio {
        let name = path.display().to_string();
        let imported = label_studio::read(path, &pool.items, classes)?;
        notes.extend(imported.notes);
        let mut place_of: HashMap<usize, usize> =
            labels.iter().enumerate().map(|(place, (row, _))| (*row, place)).collect();
        let (mut ignored, mut differing, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        let mut uncertain = Vec::new();
        for (row, label) in imported.labels {
            let class = class(&label, &name)?;
            let given = record.row_label(row);
            if given.as_ref().is_some_and(|given| given.class != class && !given.is_by_person()) {
                changed.push(row);
            }
            match given {
                None if record.is_uncertain(row) => uncertain.push(row),
                Some(given) if given.class == class => {}
                Some(given) if given.is_by_person() => ignored.push(row),
                _ => match place_of.get(&row) {
                    Some(place) if labels[*place].1 != class => {
                        labels[*place].1 = class;
                        differing.push(row);
                    }
                    Some(_) => {}
                    None => {
                        place_of.insert(row, labels.len());
                        labels.push((row, class));
                    }
                },
            }
        }
        note_ignored(&ignored, &name, notes);
        note_uncertain(&uncertain, &name, notes);
        if !changed.is_empty() {
            let count = changed.len();
            notes.push(format!(
                "note: {name}: {count} of its labels differ from labels that were imported or known before and replace them ({})",
                rows(&changed)
            ));
        }
        if !differing.is_empty() {
            let count = differing.len();
            notes.push(format!(
                "note: {name}: {count} of its labels differ from those of --known and replace them ({})",
                rows(&differing)
            ));
        }
    }
    if labels.is_empty() {
        return Ok(None);
    }
    let named = |(row, class): (usize, usize)| (row, classes[class].clone());
    Ok(Some(Event::Known { labels: labels.into_iter().map(named).collect() }))
}

fn note_ignored(ignored: &[usize], from: &str, notes: &mut Vec<String>) {
    if !ignored.is_empty() {
        let count = ignored.len();
        notes.push(format!(
            "note: {from}: {count} of its labels differ from those of the session and are ignored ({})",
            rows(ignored)
        ));
    }
}

fn note_uncertain(uncertain: &[usize], from: &str, notes: &mut Vec<String>) {
    if !uncertain.is_empty() {
        notes.push(format!(
            "note: {from}: {} of its labels are ignored, because these rows were answered as uncertain ({})",
            uncertain.len(),
            rows(uncertain)
        ));
    }
}

fn rows(rows: &[usize]) -> String {
    let listed: Vec<String> = rows.iter().take(LISTED).map(usize::to_string).collect();
    let more = if rows.len() > LISTED { ", .." } else { "" };
    format!("rows {}{more}", listed.join(", "))
}
