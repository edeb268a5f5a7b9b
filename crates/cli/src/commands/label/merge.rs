//! The sessions of several annotators on one pool, for `--merge`.

use super::args::LabelArgs;
use super::exported::{ExportedRow, Source};
use super::pool::{Pool, SessionInfo};
use super::session_labels::open_existing;
use crate::error::CliError;
use crate::output::counted;
use halfspaces_frame::{find_class, look_alikes};
use halfspaces_labelling::{Annotators, Consensus, PoolId, Record, SessionLog, Vote};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The text of an uncertain answer.
const UNCERTAIN: &str = "?";

/// Opens the sessions of `--merge` for reading.
pub(super) fn open(args: &LabelArgs) -> Result<Vec<(PathBuf, SessionLog)>, CliError> {
    let open = |path: &PathBuf| Ok((path.clone(), open_existing(path)?));
    args.merge.iter().map(open).collect()
}

/// The name of the annotator of a session; by default, the name of the session file without its extensions.
fn name(path: &Path, log: &SessionLog) -> String {
    log.header().annotator.clone().unwrap_or_else(|| stem(path))
}

/// The name of a session that merges others, in place of the name of an annotator; `None` if no sessions are merged.
pub(super) fn merged(sessions: &[(PathBuf, SessionLog)]) -> Option<String> {
    // Names are quoted, because a name may contain a comma.
    let quoted = |(path, log): &(PathBuf, SessionLog)| format!("{:?}", name(path, log));
    let mut names: Vec<String> = sessions.iter().map(quoted).collect();
    names.sort_unstable();
    (!names.is_empty()).then(|| format!("merge of {}", names.join(", ")))
}

/// Matches the answers of all sessions with the rows of the pool, and reports how well the annotators agree.
pub(super) fn annotators(
    args: &LabelArgs,
    sessions: Vec<(PathBuf, SessionLog)>,
    pool: &Pool,
    notes: &mut Vec<String>,
) -> Result<Option<Annotators>, CliError> {
    if sessions.is_empty() {
        return Ok(None);
    }
    let mut annotators = Annotators::new(pool.points.len());
    for (path, log) in sessions {
        // Another session may identify its items by other columns, or by the same columns in another order.
        let by = |id: &PoolId| id.items.as_ref().map(|items| items.by.clone());
        let read = match by(log.record().pool()) {
            Some(of_session) if Some(&of_session) != by(&pool.id).as_ref() => {
                let read = Pool::read(args, &SessionInfo::of(&log));
                Some(read.map_err(|error| error.at(&path.display().to_string()))?)
            }
            _ => None,
        };
        let resumed = read.as_ref().unwrap_or(pool).resumed(args);
        let (record, _) = resumed.resume(&log, &path, notes)?;
        let name = name(&path, &log);
        let path = path.display();
        annotators.add(&name, &record).map_err(|why| CliError::user(format!("{path}: {why}")))?;
        let common = annotators.classes();
        for class in record.classes().iter().filter(|class| !common.contains(class)) {
            let same = find_class(class, common).map_or("", |place| &common[place]);
            notes.push(format!(
                "note: {path}: the class `{class}` counts as `{same}`, as in an earlier session"
            ));
        }
    }
    let answers = |class: usize| {
        let of_row = |row| annotators.votes(row).filter(|vote| vote.class() == Some(class)).count();
        (0..annotators.rows()).map(of_row).sum()
    };
    let classes = annotators.classes().iter().enumerate();
    let counted = classes.map(|(class, name)| (name.as_str(), answers(class)));
    let alike = look_alikes(counted, "classes", "--merge");
    notes.extend(alike.into_iter().map(|note| format!("note: {note}")));
    notes.push(agreement(&annotators));
    Ok(Some(annotators))
}

/// The name of a file without its extensions; the whole name if it begins with a dot.
fn stem(path: &Path) -> String {
    let Some(name) = path.file_name() else { unreachable!("{path:?} was opened as a file") };
    let name = name.to_string_lossy();
    match name.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name.into_owned(),
    }
}

/// Describes the agreement of the annotators.
fn agreement(annotators: &Annotators) -> String {
    let (mut several, mut agreed, mut tied, mut uncertain) = (0, 0, 0, 0);
    for row in 0..annotators.rows() {
        let classes: Vec<usize> = annotators.votes(row).filter_map(Vote::class).collect();
        if classes.len() >= 2 {
            several += 1;
            agreed += usize::from(classes.iter().all(|class| *class == classes[0]));
        }
        let consensus = annotators.consensus(row);
        tied += usize::from(consensus == Consensus::Tied);
        uncertain += usize::from(consensus == Consensus::Uncertain);
    }
    let kappa = annotators.cohen_kappa().map(|kappa| format!("; Cohen's kappa {kappa:.3}"));
    let alpha = annotators.krippendorff_alpha();
    let alpha = alpha.map(|alpha| format!("; Krippendorff's alpha {alpha:.3}"));
    let coefficient = if annotators.names().len() == 2 { kappa } else { alpha };
    let coefficient = coefficient.unwrap_or_else(|| {
        "; the agreement cannot be measured: no row has two labels, or all labels are the same"
            .into()
    });
    let rows = counted(several as u64, "row");
    format!(
        "{} ({}): all labels agree in {agreed} of {rows} with at least two labels{coefficient}; {tied} tied, {uncertain} \
         only uncertain",
        counted(annotators.names().len() as u64, "annotator"),
        annotators.names().join(", ")
    )
}

/// The rows on which at least two annotators agree and none disagrees, with their labels. A row with one answer is not
/// included, since another annotator may contradict this answer later.
pub(super) fn labels(annotators: &Annotators) -> Vec<(usize, String)> {
    let class = |row: usize| match annotators.consensus(row) {
        Consensus::Agreed(class) => Some((row, annotators.classes()[class].clone())),
        _ => None,
    };
    (0..annotators.rows()).filter_map(class).collect()
}

/// The rows on which a person should decide.
pub(super) fn disputed(annotators: &Annotators) -> BTreeMap<usize, usize> {
    let rows = (0..annotators.rows()).filter(|row| annotators.consensus(*row).is_disputed());
    rows.map(|row| (row, 0)).collect()
}

/// The answer of each annotator about a row, with the annotator's name; the text of a missing answer is empty.
pub(super) fn answers(annotators: &Annotators, row: usize) -> Vec<(String, String)> {
    let text = |vote: Vote| match vote {
        Vote::Class(class) => annotators.classes()[class].clone(),
        Vote::Uncertain => UNCERTAIN.to_owned(),
        Vote::None => String::new(),
    };
    annotators.names().iter().cloned().zip(annotators.votes(row).map(text)).collect()
}

/// The rows of an export of merged sessions: each row that was answered by an annotator or in the review. The label is
/// that of the review if there is one, otherwise the class that most annotators gave.
pub(super) fn exported_rows(record: &Record, annotators: &Annotators) -> Vec<ExportedRow> {
    let mut rows = Vec::new();
    for row in 0..annotators.rows() {
        let reviewed = record.row_label(row).filter(|given| given.is_by_person());
        let consensus = annotators.consensus(row);
        let name = |class: usize| annotators.classes()[class].clone();
        let (label, source) = match (reviewed, consensus) {
            (Some(given), _) => (record.classes()[given.class].clone(), Source::Reviewed),
            (None, _) if record.is_uncertain(row) => (String::new(), Source::Uncertain),
            (None, Consensus::None) => continue,
            (None, Consensus::Uncertain) => (String::new(), Source::Uncertain),
            (None, Consensus::Tied) => (String::new(), Source::Tied),
            (None, Consensus::Single(class)) => (name(class), Source::Single),
            (None, Consensus::Agreed(class)) => (name(class), Source::Agreed),
            (None, Consensus::Most(class)) => (name(class), Source::Most),
        };
        let answers = answers(annotators, row);
        rows.push(ExportedRow { row, label, source, probability: None, answers });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_without_a_name_is_named_after_its_file() {
        for (path, name) in
            [("a/ann.jsonl", "ann"), ("bob.x.jsonl", "bob"), (".s", ".s"), ("c", "c")]
        {
            assert_eq!(stem(Path::new(path)), name);
        }
    }
}
