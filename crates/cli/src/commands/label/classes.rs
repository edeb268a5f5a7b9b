//! The classes given on the command line.

use super::args::LabelArgs;
use crate::error::CliError;
use halfspaces_frame::{Classes, find_class};
use halfspaces_pipeline::Pipeline;
use std::path::Path;

/// The names of `--classes`, which were split at commas. A name in quotation marks may contain commas, as in CSV.
pub(super) fn named(parts: &[String]) -> Vec<String> {
    if !parts.iter().any(|part| part.contains('"')) {
        return parts.to_vec();
    }
    let line = parts.join(",");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(line.as_bytes());
    let names = |record: csv::Result<csv::StringRecord>| match record {
        Ok(record) => record.iter().map(str::to_owned).collect::<Vec<_>>(),
        Err(error) => unreachable!("text in memory with rows of any length is CSV: {error}"),
    };
    reader.records().flat_map(names).collect()
}

/// The classes of a new session: those of `--classes`, or those of the known labels, as in a fit, or those of the model.
pub(super) fn classes(
    args: &LabelArgs,
    model: Option<&Pipeline>,
    known: &[(usize, String)],
) -> Result<Vec<String>, CliError> {
    let mut classes: Vec<String> = Vec::new();
    if args.classes.is_empty() {
        let of_known = Classes::of_labels(known.iter().map(|(_, class)| class.as_str()));
        classes.extend_from_slice(of_known.names());
    }
    for class in &args.classes {
        let class = class.trim();
        if class.is_empty() {
            return Err(CliError::user("--classes: the name of a class is empty"));
        }
        match find_class(class, &classes).map(|place| classes[place].clone()) {
            None => classes.push(class.to_owned()),
            Some(same) if same == class => {
                return Err(CliError::user(format!("--classes: {class:?} is named twice")));
            }
            Some(same) => {
                return Err(CliError::user(format!(
                    "--classes: {same:?} and {class:?} are the same class"
                )));
            }
        }
    }
    if classes.is_empty()
        && let Some(model) = model
    {
        classes.extend_from_slice(model.classes());
    }
    if classes.len() < 2 {
        return Err(CliError::user(
            "at least two classes are needed; name them with --classes A,B",
        ));
    }
    Ok(classes)
}

/// The class of `--seek`.
pub(super) fn sought(args: &LabelArgs, classes: &[String]) -> Result<Option<usize>, CliError> {
    let Some(name) = &args.seek else { return Ok(None) };
    let unknown = || {
        let all = classes.join(", ");
        CliError::user(format!("--seek: there is no class {name:?}; there are {all}"))
    };
    find_class(name, classes).ok_or_else(unknown).map(Some)
}

/// Checks that the classes of `--classes`, if there are any, are those of the session.
pub(super) fn check_classes(
    named: &[String],
    of_session: &[String],
    path: &Path,
) -> Result<(), CliError> {
    let is_same = |(place, name): (usize, &String)| find_class(name, of_session) == Some(place);
    let same = named.len() == of_session.len() && named.iter().enumerate().all(is_same);
    if named.is_empty() || same {
        return Ok(());
    }
    Err(CliError::user(format!(
        "{}: line 1: the classes of this session are {}; omit --classes, or pass another file with --session",
        path.display(),
        of_session.join(",")
    )))
}
