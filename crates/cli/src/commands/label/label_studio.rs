//! Label Studio files: tasks with data, annotations and predictions of type "choices".

use super::exported::{ExportedRow, Source, answers_json};
use super::items::Items;
use super::task_file;
use super::task_rows::{ITEM, ROW, RowMatch, TaskRows};
use crate::error::CliError;
use halfspaces_frame::find_class;
use halfspaces_pipeline::is_guess;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;

/// The field of a task that contains the answer of each annotator.
const ANSWERS: &str = "answers";
/// Maximum number of examples in a note.
const EXAMPLES: usize = 3;
/// Maximum number of characters shown of an example.
const MAX_EXAMPLE: usize = 40;
/// Fields that Label Studio adds in JSON-MIN and CSV exports; they are neither data nor choices.
const OWN_FIELDS: [&str; 8] = [
    "id",
    "annotator",
    "annotation_id",
    "created_at",
    "updated_at",
    "lead_time",
    "inner_id",
    "project",
];

/// Writes exported rows as a JSON array of tasks.
pub(super) fn write(out: &mut dyn Write, rows: &[ExportedRow], items: &Items) -> io::Result<()> {
    writeln!(out, "[")?;
    for (place, exported) in rows.iter().enumerate() {
        let ExportedRow { row, label, source, probability, answers } = exported;
        let mut data = Map::new();
        data.insert(ROW.to_owned(), (*row).into());
        if let Some(key) = items.keys().get(*row) {
            data.insert(ITEM.to_owned(), key.to_string().into());
        }
        let shown = items.shown(*row).into_iter();
        data.extend(shown.map(|(name, text)| (name.to_owned(), text.into())));
        if !answers.is_empty() {
            data.insert(ANSWERS.to_owned(), answers_json(answers));
        }
        let choice = json!([{
            "from_name": "label", "to_name": "item", "type": "choices", "value": { "choices": [label] },
        }]);
        let mut task = json!({ "id": row + 1, "data": data, "annotations": [], "predictions": [] });
        if label.is_empty() {
            task["annotations"] = json!([{ "result": [] }]);
        } else if *source == Source::Predicted {
            task["predictions"] = json!([{ "result": choice, "score": probability }]);
        } else {
            task["annotations"] = json!([{ "result": choice }]);
        }
        let comma = if place + 1 < rows.len() { "," } else { "" };
        writeln!(out, "{task}{comma}")?;
    }
    writeln!(out, "]")
}

/// Whether a task that this program wrote has a prediction and no annotation.
pub(super) fn is_predicted(task: &Value) -> bool {
    let count = |name: &str| task.get(name).and_then(Value::as_array).map(Vec::len);
    count("annotations") == Some(0) && count("predictions").is_some_and(|count| count > 0)
}

/// The result of an import.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Imported {
    /// Rows with the names of their classes in the export; each row occurs at most once.
    pub(super) labels: Vec<(usize, String)>,
    /// Notes on the tasks that were not imported, with the reasons.
    pub(super) notes: Vec<String>,
}

/// Reads a Label Studio export (JSON, JSON-MIN, CSV or another table), or JSON Lines as written by Prodigy. A task is
/// matched to the row that has the same id, or the same texts and image. Ambiguous tasks are skipped and reported.
pub(super) fn read(path: &Path, items: &Items, classes: &[String]) -> Result<Imported, CliError> {
    let name = path.display();
    let (tasks, notes) = task_file::read(path)?;
    let mut imported = import(&tasks, items, classes);
    for note in &mut imported.notes {
        *note = format!("note: {name}: {note}");
    }
    imported.notes.splice(0..0, notes);
    Ok(imported)
}

/// The class given by the annotations of a task.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Class(String),
    Unclear(Cause),
}

/// The reason why a task is not imported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    NoAnnotation,
    NoChoice,
    OnlyColumn(String),
    SeveralFields(String),
    NotAccepted,
    Predicted,
    UnknownClass(String, String),
    SeveralChoices,
    Disagreement,
    NoRow,
    NoField(String),
    OwnField(String),
    SeveralRows,
    TwoTasks,
}

impl Cause {
    fn text(&self, count: usize) -> String {
        let (tasks, have, match_no, match_several) = match count {
            1 => ("task", "has", "matches no", "matches several"),
            _ => ("tasks", "have", "match no", "match several"),
        };
        let what = match self {
            Cause::NoAnnotation => format!("{have} no annotation"),
            Cause::NoChoice => {
                format!("{have} annotations without the name of a class")
            }
            Cause::OnlyColumn(name) => format!(
                "{have} the name of a class only in `{name}`, which is a column of the pool; pass --drop '{name}' if it contains the \
                 answers"
            ),
            Cause::SeveralFields(names) => format!(
                "{have} names of classes in several fields ({names}), so the answer is unknown; remove the fields without answers from \
                 the file"
            ),
            Cause::NotAccepted => {
                format!(
                    "{have} the answer `reject` or `ignore`, or only responses that are discarded, rejected or drafts, so the label is \
                     not accepted"
                )
            }
            Cause::Predicted => {
                format!("{have} a label that a model predicted and no person confirmed")
            }
            Cause::UnknownClass(class, classes) => format!(
                "{have} the label {class:?}, which is not a class of the session ({classes}); write the name of a class instead in \
                 the file, or start a new session with this class in --classes"
            ),
            Cause::SeveralChoices => {
                format!("{have} several choices; only one class per row is supported")
            }
            Cause::Disagreement => {
                format!("{have} several annotations that disagree; resolve them in Label Studio")
            }
            Cause::NoRow => {
                format!("{match_no} row of the pool: no row agrees with all fields of the task")
            }
            Cause::NoField(shown) => format!(
                "{have} none of the shown columns ({shown}) in the data, so the row is unknown; use --show, --image \
                 or --id"
            ),
            Cause::OwnField(name) => format!(
                "{have} only the field `{name}` of the shown columns; in exports of Label Studio, this field is not data (`id` is the \
                 number of the task), so the row is unknown; rename the field, and the column of the pool, to import by it"
            ),
            Cause::SeveralRows => {
                format!(
                    "{match_several} rows with the same text or image; distinguish them with --id"
                )
            }
            Cause::TwoTasks => "for the same row disagree with each other".to_owned(),
        };
        format!("{count} {tasks} {what}; not imported")
    }
}

/// Tasks that were not imported, by cause, with examples.
#[derive(Debug, Default)]
struct Skipped(BTreeMap<Cause, (usize, Vec<String>)>);

impl Skipped {
    fn add(&mut self, cause: Cause, number: usize, data: &Map<String, Value>, rows: &[usize]) {
        let (count, examples) = self.0.entry(cause).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            let is_own = |name: &&String| [ROW, ITEM].contains(&name.as_str());
            // The longest text identifies the task best.
            let texts = data.iter().filter(|(name, _)| !is_own(name));
            let text = texts.filter_map(|(_, value)| value.as_str()).max_by_key(|text| text.len());
            let mut text: String = text.unwrap_or_default().chars().take(MAX_EXAMPLE).collect();
            if !text.is_empty() {
                text = format!(" {text:?}");
            }
            let rows: Vec<String> = rows.iter().take(EXAMPLES).map(usize::to_string).collect();
            if !rows.is_empty() {
                text.push_str(&format!(", rows {}", rows.join(" and ")));
            }
            examples.push(format!("task {number}{text}"));
        }
    }

    fn notes(self) -> Vec<String> {
        let note = |(cause, (count, examples)): (Cause, (usize, Vec<String>))| {
            let more = if count > examples.len() { ", .." } else { "" };
            format!("{} ({}{more})", cause.text(count), examples.join("; "))
        };
        self.0.into_iter().map(note).collect()
    }
}

fn import(tasks: &[Value], items: &Items, classes: &[String]) -> Imported {
    let data_of = |task: &Value| -> Option<Map<String, Value>> {
        let nested = task.get("data").and_then(Value::as_object);
        Some(identifying(nested.or_else(|| task.as_object())?, nested.is_some()))
    };
    let mut rows = TaskRows::new(items);
    rows.read_paths(&tasks.iter().filter_map(data_of).collect::<Vec<_>>());
    let field = answer_field(tasks, items, classes);
    let question = question(tasks, classes);
    let (mut skipped, empty) = (Skipped::default(), Map::new());
    // The label of each row and the number of its task; the label is `None` if two tasks disagreed.
    let mut of_row: HashMap<usize, (Option<String>, usize)> = HashMap::new();
    let mut order = Vec::new();
    for (number, task) in tasks.iter().enumerate().map(|(n, task)| (n + 1, task)) {
        let nested = task.get("data").and_then(Value::as_object);
        let data = nested.or_else(|| task.as_object()).unwrap_or(&empty);
        let verdict = match nested {
            Some(_) => annotated(task, &question, classes),
            None => flat_choice(data, &field, items, classes),
        };
        let data = &identifying(data, nested.is_some());
        let class = match verdict {
            Verdict::Class(class) if find_class(&class, classes).is_some() => class,
            Verdict::Class(class) => {
                let cause = Cause::UnknownClass(class, listed(classes));
                skipped.add(cause, number, data, &[]);
                continue;
            }
            Verdict::Unclear(cause) => {
                skipped.add(cause, number, data, &[]);
                continue;
            }
        };
        let row = match rows.find(data) {
            RowMatch::One(row) => row,
            RowMatch::None => {
                skipped.add(Cause::NoRow, number, data, &[]);
                continue;
            }
            RowMatch::NoField => {
                let is_own = |name: &&str| OWN_FIELDS.contains(name) && task.get(name).is_some();
                let own = items.shown_names().into_iter().find(is_own).filter(|_| nested.is_none());
                let shown = items.shown_names().join(", ");
                let shown = if shown.is_empty() { "nothing".to_owned() } else { shown };
                let cause =
                    own.map_or(Cause::NoField(shown), |own| Cause::OwnField(own.to_owned()));
                skipped.add(cause, number, data, &[]);
                continue;
            }
            RowMatch::Several(rows) => {
                skipped.add(Cause::SeveralRows, number, data, &rows);
                continue;
            }
        };
        match of_row.get_mut(&row) {
            None => {
                order.push(row);
                of_row.insert(row, (Some(class), number));
            }
            Some((before, first)) => {
                let agrees = before.as_ref().is_some_and(|before| is_same(before, &class, classes));
                if !agrees {
                    if before.take().is_some() {
                        skipped.add(Cause::TwoTasks, *first, data, &[row]);
                    }
                    skipped.add(Cause::TwoTasks, number, data, &[row]);
                }
            }
        }
    }
    let label = |row: usize| Some((row, of_row.get(&row)?.0.clone()?));
    let labels: Vec<(usize, String)> = order.into_iter().filter_map(label).collect();
    let mut notes = skipped.notes();
    notes.extend(rows.notes());
    let is_flat = |task: &Value| !task.get("data").is_some_and(Value::is_object);
    if let (Ok(name), true) = (&field, tasks.iter().any(is_flat)) {
        notes.push(format!("the answers are read from the field `{name}`"));
    }
    if labels.is_empty() {
        notes.push(format!("none of its {} tasks has a label that can be imported", tasks.len()));
    }
    Imported { labels, notes }
}

/// The fields that identify the row of a task: all data except the fields that Label Studio adds to JSON-MIN and CSV
/// exports.
fn identifying(data: &Map<String, Value>, is_nested: bool) -> Map<String, Value> {
    let is_own = |name: &str| !is_nested && OWN_FIELDS.contains(&name);
    let data = data.iter().filter(|(name, _)| !is_own(name));
    data.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn is_same(a: &str, b: &str, classes: &[String]) -> bool {
    a == b || find_class(a, classes).is_some_and(|class| find_class(b, classes) == Some(class))
}

/// The class on which all annotations of a task agree. If some are marked as the truth (`ground_truth`), only these count.
fn annotated(task: &Value, question: &Question, classes: &[String]) -> Verdict {
    let annotations = task.get("annotations").or_else(|| task.get("completions"));
    let annotations = annotations.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has = |annotation: &Value, mark: &str| annotation.get(mark) == Some(&Value::Bool(true));
    let mut counted: Vec<&Value> =
        annotations.iter().filter(|annotation| !has(annotation, "was_cancelled")).collect();
    if counted.iter().any(|annotation| has(annotation, "ground_truth")) {
        counted.retain(|annotation| has(annotation, "ground_truth"));
    }
    let is_refused = |annotation: &&Value| {
        let reviews = annotation.get("reviews").and_then(Value::as_array);
        reviews.and_then(|all| all.last()?.get("accepted")) == Some(&Value::Bool(false))
    };
    let given = counted.len();
    counted.retain(|annotation| !is_refused(annotation));
    if counted.len() < given && counted.is_empty() {
        return Verdict::Unclear(Cause::NotAccepted);
    }
    let mut class: Option<String> = None;
    let mut has_annotation = false;
    for annotation in counted {
        has_annotation = true;
        match choice(annotation, question, classes) {
            Ok(None) => {}
            Ok(Some(found)) => match &class {
                Some(before) if !is_same(before, &found, classes) => {
                    return Verdict::Unclear(Cause::Disagreement);
                }
                _ => class = Some(found),
            },
            Err(cause) => return Verdict::Unclear(cause),
        }
    }
    let none = if has_annotation { Cause::NoChoice } else { Cause::NoAnnotation };
    class.map_or(Verdict::Unclear(none), Verdict::Class)
}

/// The questions of an annotation that have choices, each with the chosen names.
fn answered(annotation: &Value) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let results = annotation.get("result").and_then(Value::as_array);
    results.into_iter().flatten().filter_map(|result| {
        let choices = result.pointer("/value/choices").and_then(Value::as_array)?;
        let name = result.get("from_name").and_then(Value::as_str).unwrap_or_default();
        Some((name, choices.iter().filter_map(Value::as_str).collect()))
    })
}

/// The question about the classes of the session: the only question (`from_name`) in the file whose choices name
/// classes, or the only one whose choices are all classes. It is `None` if no choice is a class. If there are several
/// such questions, their names are returned as the error.
type Question = Result<Option<String>, Vec<String>>;

/// Finds the question about the classes. It must be the same in the whole file, because a task may have the answer to
/// another question only.
fn question(tasks: &[Value], classes: &[String]) -> Question {
    // For each question, whether some of its choices are classes, and whether all of them are.
    let mut questions: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
    for task in tasks {
        let annotations = task.get("annotations").or_else(|| task.get("completions"));
        for annotation in annotations.and_then(Value::as_array).into_iter().flatten() {
            for (name, choices) in answered(annotation) {
                let (some, all) = questions.entry(name).or_insert((false, true));
                for choice in choices {
                    let is_class = find_class(choice, classes).is_some();
                    (*some, *all) = (*some || is_class, *all && is_class);
                }
            }
        }
    }
    let mut names = only_classes(questions);
    if names.len() > 1 { Err(names) } else { Ok(names.pop()) }
}

/// The names of the fields or questions with at least one value that is a class. If all values of exactly one of them
/// are classes, only this one counts.
fn only_classes(mut fields: BTreeMap<&str, (bool, bool)>) -> Vec<String> {
    fields.retain(|_, (some, _)| *some);
    if fields.len() > 1 && fields.values().filter(|(_, all)| *all).count() == 1 {
        fields.retain(|_, (_, all)| *all);
    }
    fields.into_keys().map(str::to_owned).collect()
}

/// The single choice of an annotation. If the file has several questions, only the one about the classes of the session
/// counts.
fn choice(
    annotation: &Value,
    question: &Question,
    classes: &[String],
) -> Result<Option<String>, Cause> {
    let mut choices: Vec<&str> = Vec::new();
    for (name, chosen) in answered(annotation) {
        match question {
            Ok(Some(wanted)) if wanted != name => {}
            Err(names) if names.iter().any(|other| other == name) => {
                return Err(several_fields(names));
            }
            _ => choices.extend(chosen),
        }
    }
    match choices[..] {
        [] => Ok(None),
        [class] => Ok(Some(class.to_owned())),
        [first, ref rest @ ..] if rest.iter().all(|other| is_same(first, other, classes)) => {
            Ok(Some(first.to_owned()))
        }
        _ => Err(Cause::SeveralChoices),
    }
}

fn several_fields(names: &[String]) -> Cause {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Cause::SeveralFields(names.join(", "))
}

/// Class names for a message. A name with a comma is quoted.
fn listed(classes: &[String]) -> String {
    let quoted = |class: &String| {
        if class.contains(',') { format!("{class:?}") } else { class.clone() }
    };
    classes.iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// Whether a field of a task in JSON-MIN, CSV or JSON Lines is not an answer: it is shown, it is a column of the pool,
/// or Label Studio or Prodigy added it.
fn is_data(name: &str, items: &Items) -> bool {
    items.shown_names().contains(&name)
        || items.is_column(name)
        || OWN_FIELDS.contains(&name)
        || name.starts_with('_')
        || name.starts_with("prediction")
        || name.contains(".suggestion")
        || [ROW, ITEM].contains(&name)
}

/// The values of a field: one value, a list, or the choices of Label Studio.
fn values(value: &Value) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        value => value.as_str().filter(|text| !text.is_empty()).map(str::to_owned),
    };
    match value.get("choices").and_then(Value::as_array).or(value.as_array()) {
        Some(listed) => listed.iter().filter_map(text).collect(),
        None => text(value).into_iter().collect(),
    }
}

/// The field that contains the answers in tasks of JSON-MIN, CSV or JSON Lines. It must be one field for the whole
/// file, because a task without an answer may have other fields that name classes. In a Prodigy choice task, it is
/// `accept`. Otherwise, it is the only field that names classes, or the only one whose values are all classes. If there
/// is not exactly one candidate, returns the list of candidates as the error.
fn answer_field(tasks: &[Value], items: &Items, classes: &[String]) -> Result<String, Vec<String>> {
    let flat = || {
        let objects = tasks.iter().filter_map(Value::as_object);
        objects.filter(|task| !task.get("data").is_some_and(Value::is_object))
    };
    let is_choice = |task: &Map<String, Value>| task.get("accept").is_some_and(Value::is_array);
    if !is_data("accept", items) && flat().any(is_choice) {
        return Ok("accept".to_owned());
    }
    // For each field, whether some of its values are classes, and whether all of them are.
    let mut fields: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
    for (name, value) in flat().flatten().filter(|(name, _)| !is_data(name, items)) {
        let (some, all) = fields.entry(name).or_insert((false, true));
        for value in values(value) {
            let is_class = find_class(&value, classes).is_some();
            (*some, *all) = (*some || is_class, *all && is_class);
        }
    }
    let mut names = only_classes(fields);
    if names.len() == 1 { Ok(names.remove(0)) } else { Err(names) }
}

/// The choice in a task of JSON-MIN, CSV or JSON Lines. Prodigy's tasks have a field `answer`, which says whether the
/// label was accepted.
fn flat_choice(
    data: &Map<String, Value>,
    field: &Result<String, Vec<String>>,
    items: &Items,
    classes: &[String],
) -> Verdict {
    let answer = data.get("answer").and_then(Value::as_str).filter(|_| !is_data("answer", items));
    let is_rejected =
        |answer| ["reject", "ignore"].contains(&answer) && find_class(answer, classes).is_none();
    // Argilla and others write the state of a record.
    let state = data.get("status").and_then(Value::as_str).filter(|_| !is_data("status", items));
    let is_open = |state: &str| {
        let state = state.to_lowercase();
        ["discarded", "draft", "rejected"].contains(&&*state)
            && find_class(&state, classes).is_none()
    };
    if answer.is_some_and(is_rejected) || state.is_some_and(is_open) {
        return Verdict::Unclear(Cause::NotAccepted);
    }
    // The program writes these fields if a label is a guess.
    let source = data.get("source").and_then(Value::as_str);
    let is_written = data.contains_key("probability") && !is_data("source", items);
    if source.is_some_and(|source| is_written && is_guess(source)) {
        return Verdict::Unclear(Cause::Predicted);
    }
    let name = match field {
        Ok(name) => name,
        Err(names) if names.is_empty() => {
            return Verdict::Unclear(only_column(data, items, classes));
        }
        Err(names) => return Verdict::Unclear(several_fields(names)),
    };
    let mut chosen = data.get(name).map_or(Vec::new(), values);
    // Argilla writes the state of each response in another list.
    let states = data.get(&format!("{name}.status")).map_or(Vec::new(), values);
    let is_open = |state: &String| ["discarded", "draft"].contains(&state.as_str());
    if states.iter().any(is_open) {
        let mut states = states.iter();
        chosen.retain(|_| !states.next().is_some_and(is_open));
        if chosen.is_empty() {
            return Verdict::Unclear(Cause::NotAccepted);
        }
    }
    let first = chosen.first().cloned();
    chosen.retain(|choice| find_class(choice, classes).is_some());
    if let (Some(unknown), true) = (first, chosen.is_empty()) {
        // The caller reports the unknown class.
        return Verdict::Class(unknown);
    }
    match &chosen[..] {
        [] => Verdict::Unclear(only_column(data, items, classes)),
        [first, rest @ ..] if rest.iter().all(|other| is_same(first, other, classes)) => {
            Verdict::Class(first.clone())
        }
        _ => Verdict::Unclear(Cause::SeveralChoices),
    }
}

/// Why a task has no choice. One cause is that only a column of the pool names a class.
fn only_column(data: &Map<String, Value>, items: &Items, classes: &[String]) -> Cause {
    let column = data.iter().find(|(name, value)| {
        items.is_column(name)
            && value.as_str().is_some_and(|text| find_class(text, classes).is_some())
    });
    column.map_or(Cause::NoChoice, |(name, _)| Cause::OnlyColumn(name.clone()))
}

#[cfg(test)]
mod tests {
    use super::task_file::{array, table};
    use super::*;
    use halfspaces_frame::{Column, Hints, ReadOptions, Values};
    use halfspaces_labelling::ItemKey;

    fn column(name: &str, texts: &[&str]) -> Column {
        let codes = (0..texts.len() as u32).collect();
        Column { name: name.into(), values: Values::texts(codes, texts) }
    }

    fn items() -> Items {
        Items::new(vec![column("text", &["a dog", "a cat", "a dog", "bird"])], None, &[])
    }

    fn classes() -> Vec<String> {
        vec!["dog".into(), "cat".into(), "1".into()]
    }

    fn task(data: &str, choices: &str) -> String {
        format!(
            r#"{{"data":{data},"annotations":[{{"result":[{{"type":"choices","value":{{"choices":{choices}}}}}]}}]}}"#
        )
    }

    /// The tasks of a CSV file.
    fn from_table(csv: &str) -> Vec<Value> {
        let (options, hints) = (ReadOptions::default(), Hints::verbatim(["text", "id", "kind"]));
        table(&halfspaces_frame::read_bytes("t.csv", csv.into(), &options, &hints).unwrap())
    }

    fn parsed(text: &str, items: &Items) -> Imported {
        import(&array(text).unwrap(), items, &classes())
    }

    /// The labels of some tasks; one of the notes must contain `note`.
    fn labels_with_note(tasks: &[String], note: &str) -> Vec<(usize, String)> {
        let imported = parsed(&format!("[{}]", tasks.join(",")), &items());
        assert!(imported.notes.iter().any(|text| text.contains(note)), "{:?}", imported.notes);
        imported.labels
    }

    #[test]
    fn what_is_written_is_read() {
        let line = |row, label: &str, source| ExportedRow {
            row,
            label: label.into(),
            source,
            probability: None,
            answers: Vec::new(),
        };
        let lines = [
            line(0, "dog", Source::Confirmed),
            line(1, "cat \"x\" <b>", Source::Known),
            ExportedRow { probability: Some(0.75), ..line(2, "dog", Source::Predicted) },
        ];
        let mut bytes = Vec::new();
        let keys = ["a dog", "a cat", "a dog", "bird"].map(ItemKey::of_text).to_vec();
        let items = || items().with_keys(keys.clone(), None);
        write(&mut bytes, &lines, &items()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        // Rows 0 and 2 show the same text; the row number distinguishes them.
        let classes = ["dog", "cat \"x\" <b>"].map(str::to_owned);
        let imported = import(&array(&text).unwrap(), &items(), &classes);
        assert_eq!(
            imported.labels,
            [(0, "dog".to_owned()), (1, "cat \"x\" <b>".to_owned())],
            "a prediction is not a label"
        );
        assert!(imported.notes[0].contains("1 task has no annotation"), "{:?}", imported.notes);
        let mut empty = Vec::new();
        write(&mut empty, &[], &items()).unwrap();
        assert!(parsed(std::str::from_utf8(&empty).unwrap(), &items()).labels.is_empty());
    }

    /// If nothing is shown, an item is found by its key, never by its row number alone.
    #[test]
    fn items_without_texts_are_found_by_their_keys() {
        let keys: Vec<ItemKey> = ["p", "q", "r"].map(ItemKey::of_text).to_vec();
        let items = |order: [usize; 3]| {
            Items::new(Vec::new(), None, &[])
                .with_keys(order.iter().map(|place| keys[*place]).collect(), None)
        };
        let line = ExportedRow {
            row: 2,
            label: "dog".into(),
            source: Source::Confirmed,
            probability: None,
            answers: Vec::new(),
        };
        let mut bytes = Vec::new();
        write(&mut bytes, &[line], &items([0, 1, 2])).unwrap();
        let imported = parsed(std::str::from_utf8(&bytes).unwrap(), &items([2, 0, 1]));
        assert_eq!(imported.labels, [(0, "dog".to_owned())]);
        let imported =
            parsed(&format!("[{}]", task(r#"{"row":1}"#, r#"["dog"]"#)), &items([0, 1, 2]));
        assert_eq!(imported.labels, []);
        assert!(imported.notes[0].contains("the row is unknown"), "{:?}", imported.notes);
    }

    #[test]
    fn tasks_are_found_by_the_columns_shown() {
        let good = task(r#"{"other":"bird","text":"a cat"}"#, r#"["cat"]"#);
        let cat = [(1, "cat".to_owned())];
        for (bad, note) in [
            (task(r#"{"any":"a cat"}"#, r#"["cat"]"#), "none of the shown columns (text)"),
            (task(r#"{"text":"wild-bird"}"#, r#"["cat"]"#), "1 task matches no row of the pool"),
            (task(r#"{"by":"x","text":"a dog"}"#, r#"["dog"]"#), "task 2 \"a dog\", rows 0 and 2"),
            (task(r#"{"text":"bird","row":0}"#, r#"["dog","cat"]"#), "has several choices"),
            (r#"{"data":{"text":"bird"},"annotations":[{"result":[{"type":"rating","value":{"rating":3}}]}]}"#.to_owned(), "without the name of a class"),
            (r#"{"data":{"text":"bird"},"annotations":[{"was_cancelled":true,"result":[]}]}"#.to_owned(), "no annotation"),
        ] {
            assert_eq!(labels_with_note(&[good.clone(), bad], note), cat, "{note}");
        }
        // The row number is used only if the text of that row agrees and this program wrote the task.
        let moved = task(r#"{"text":"bird","row":0}"#, r#"["dog"]"#);
        let labels = parsed(&format!("[{moved}]"), &items()).labels;
        assert_eq!(labels, [(3, "dog".to_owned())]);
        let foreign = task(r#"{"text":"a dog","row":2}"#, r#"["dog"]"#);
        assert_eq!(labels_with_note(&[foreign], "1 task matches several rows"), []);
        let key = ItemKey::of_text("a dog");
        let data = format!(r#"{{"text":"a dog","row":2,"{ITEM}":"{key}"}}"#);
        let own = task(&data, r#"["dog"]"#);
        assert_eq!(parsed(&format!("[{own}]"), &items()).labels, [(2, "dog".to_owned())]);
    }

    #[test]
    fn disagreements_are_reported() {
        // A star marks the truth.
        let annotation = |class: &str| {
            let (is_truth, class) = (class.starts_with('*'), class.trim_start_matches('*'));
            format!(
                r#"{{"ground_truth":{is_truth},"result":[{{"value":{{"choices":["{class}"]}}}}]}}"#
            )
        };
        let task_of = |text: &str, of: &[&str]| {
            let all: Vec<String> = of.iter().map(|class| annotation(class)).collect();
            format!(r#"{{"data":{{"text":"{text}"}},"annotations":[{}]}}"#, all.join(","))
        };
        let agreed = task_of("bird", &["1", "1.0"]);
        let tasks = [agreed, task_of("a cat", &["dog", "cat", "dog"])];
        let labels = labels_with_note(&tasks, "1 task has several annotations that disagree");
        assert_eq!(labels, [(3, "1.0".to_owned())], "one class, written in two ways");
        let tasks = [task_of("a cat", &["cat"]), task_of("a cat", &["dog"])];
        assert_eq!(labels_with_note(&tasks, "2 tasks for the same row disagree"), []);
        // Annotations that are marked as the truth decide.
        let tasks = format!("[{}]", task_of("a cat", &["dog", "*cat", "dog"]));
        assert_eq!(parsed(&tasks, &items()).labels, [(1, "cat".to_owned())]);
        let tasks = [task_of("a cat", &["dog", "*cat", "*dog"])];
        assert_eq!(labels_with_note(&tasks, "1 task has several annotations that disagree"), []);
    }

    #[test]
    fn only_the_question_about_the_classes_counts() {
        let result = |name: &str, choice: &str| {
            format!(r#"{{"from_name":"{name}","value":{{"choices":["{choice}"]}}}}"#)
        };
        let task = |results: &[String]| {
            let results = results.join(",");
            format!(r#"[{{"data":{{"text":"bird"}},"annotations":[{{"result":[{results}]}}]}}]"#)
        };
        let text = task(&[result("topic", "food"), result("kind", "cat")]);
        assert_eq!(parsed(&text, &items()).labels, [(3, "cat".to_owned())]);
        let text = task(&[result("topic", "dog"), result("kind", "cat")]);
        assert!(parsed(&text, &items()).notes[0].contains("in several fields (`kind`, `topic`)"));
        // A task with the answer to another question only has no label.
        let pool = Items::new(vec![column("text", &["a cat", "bird"])], None, &[]);
        let tasks = |names: [&str; 2], choices: [&str; 2]| {
            let task = |text: &str, results: &[String]| {
                let results = results.join(",");
                format!(
                    r#"{{"data":{{"text":"{text}"}},"annotations":[{{"result":[{results}]}}]}}"#
                )
            };
            let both = [result(names[0], "dog"), result(names[1], choices[0])];
            let tasks = [task("a cat", &both), task("bird", &[result(names[1], choices[1])])];
            parsed(&format!("[{}]", tasks.join(",")), &pool)
        };
        let found = tasks(["kind", "urgent"], ["no", "cat"]);
        assert_eq!(found.labels, [(0, "dog".to_owned())]);
        assert!(found.notes[0].contains("without the name of a class"), "{:?}", found.notes);
        assert_eq!(tasks(["kind", "urgent"], ["dog", "cat"]).labels, []);
    }

    /// Suggestions of a model, discarded records and rejected reviews are no labels. Unknown classes are named.
    #[test]
    fn only_accepted_answers_are_labels() {
        for (task, note) in [
            (
                r#"{"text":"a cat","label":null,"label.suggestion":"cat"}"#,
                "without the name of a class",
            ),
            (r#"{"text":"a cat","annotation":"cat","status":"Discarded"}"#, "not accepted"),
            (r#"{"text":"a cat","label":"cat","status":"rejected"}"#, "not accepted"),
            (
                r#"{"data":{"text":"a cat"},"annotations":[{"reviews":[{"accepted":false}],"result":[{"value":{"choices":["cat"]}}]}]}"#,
                "not accepted",
            ),
        ] {
            let imported = parsed(&format!("[{task}]"), &items());
            assert_eq!(imported.labels, [], "{task}");
            assert!(imported.notes[0].contains(note), "{:?}", imported.notes);
        }
        let reviewed = r#"[{"data":{"text":"a cat"},"annotations":[{"reviews":[{"accepted":false},{"accepted":true}],"result":[{"value":{"choices":["cat"]}}]}]}]"#;
        assert_eq!(parsed(reviewed, &items()).labels, [(1, "cat".to_owned())]);
        let kept = r#"[{"text":"a cat","label":"cat","status":"Validated"}]"#;
        let imported = parsed(kept, &items());
        assert_eq!(imported.labels, [(1, "cat".to_owned())]);
        assert_eq!(imported.notes, ["the answers are read from the field `label`"]);
        let two = r#"[{"text":"a cat","label":"cat"},{"text":"bird","label":"wren","created_at":"2024-01-02T10:00:00.000000Z"}]"#;
        let imported = import(&array(two).unwrap(), &items(), &["cat".into(), "a, b".into()]);
        let note = &imported.notes[0];
        assert!(note.contains("the label \"wren\"") && note.contains("(cat, \"a, b\")"), "{note}");
        assert!(note.contains("task 2 \"bird\"") || note.contains("task 2 \"wren\""), "{note}");
    }

    /// The number of a task in an export is not the id of an item, even if no other field is shown.
    #[test]
    fn the_field_id_is_named_if_no_other_field_is_shown() {
        let items = Items::new(vec![column("id", &["7", "8"])], None, &[]);
        let imported = parsed(r#"[{"id":"7","label":"cat"}]"#, &items);
        assert_eq!(imported.labels, []);
        assert!(imported.notes[0].contains("only the field `id`"), "{:?}", imported.notes);
    }

    /// The answers of a file are in one field. Other fields that name classes are not answers.
    #[test]
    fn the_field_of_the_answers_is_the_same_in_all_tasks() {
        let cat = [(1, "cat".to_owned())];
        // Prodigy's choice tasks, and the lists of doccano.
        for task in [
            r#"{"text":"a cat","pred":"dog","options":[{"id":"dog"},{"id":"cat"}],"accept":["cat"],"answer":"accept"}"#,
            r#"{"text":"a cat","_annotator_id":"dog","label":"cat","answer":"accept"}"#,
            r#"{"text":"a cat","label":["cat"],"comments":[]}"#,
        ] {
            assert_eq!(parsed(&format!("[{task}]"), &items()).labels, cat, "{task}");
        }
        let none = parsed(r#"[{"text":"a cat","pred":"dog","accept":[]}]"#, &items());
        assert_eq!(none.labels, []);
        assert!(none.notes[0].contains("without the name of a class"), "{:?}", none.notes);
        // A field whose values are all classes is preferred; two such fields are refused.
        let tasks = |model: &str| {
            let csv = format!("text,model,kind\na cat,dog,cat\nbird,{model},\n");
            import(&from_table(&csv), &items(), &classes())
        };
        assert_eq!(tasks("other").labels, cat);
        let refused = tasks("cat");
        assert_eq!(refused.labels, []);
        assert!(
            refused.notes[0].contains("in several fields (`kind`, `model`)"),
            "{:?}",
            refused.notes
        );
    }

    #[test]
    fn flat_exports_are_read() {
        let text = r#"[{"id":7,"text":"a cat","kind":"cat","annotator":1,"lead_time":1.0},
            {"text":"bird","kind":{"choices":["dog","cat"]}},{"text":"bird"}]"#;
        let imported = parsed(text, &items());
        assert_eq!(imported.labels, [(1, "cat".to_owned())]);
        assert_eq!(imported.notes.len(), 3, "{:?}", imported.notes);
        // A column of the pool is not an answer, even if its values are names of classes.
        let with_column = items().with_columns(vec!["kind".into(), "text".into()]);
        let imported = parsed(text, &with_column);
        assert_eq!(imported.labels, []);
        assert!(imported.notes.join(" ").contains("only in `kind`, which is a column of the pool"));
        // Prodigy writes whether a label was accepted.
        for (answer, labels) in
            [("accept", &[(1, "dog".to_owned())][..]), ("reject", &[]), ("ignore", &[])]
        {
            let task = format!(r#"[{{"text":"a cat","label":"dog","answer":"{answer}"}}]"#);
            let imported = parsed(&task, &items());
            assert_eq!(imported.labels, labels, "{answer}");
            let said = imported.notes.join(" ");
            assert_eq!(said.contains("is not accepted"), labels.is_empty(), "{said}");
        }
        // Argilla writes a state for each response.
        for (states, labels) in [
            (r#"["submitted","discarded"]"#, &[(1, "dog".to_owned())][..]),
            (r#"["discarded","submitted"]"#, &[(1, "cat".to_owned())]),
            (r#"["discarded","draft"]"#, &[]),
        ] {
            let task = format!(
                r#"[{{"text":"a cat","kind.responses":["dog","cat"],"kind.responses.status":{states}}}]"#
            );
            let imported = parsed(&task, &items());
            assert_eq!(imported.labels, labels, "{states}");
            assert_eq!(imported.notes.join(" ").contains("not accepted"), labels.is_empty());
        }
        // Prodigy writes one task per line.
        let lines = "{\"text\":\"a cat\",\"label\":\"dog\",\"answer\":\"accept\"}\n{\"text\":\"bird\",\"label\":\"cat\"}\n";
        assert_eq!(parsed(lines, &items()).labels.len(), 2);
        let broken = array(&lines.replace("bird\"", "bird")).unwrap_err();
        assert!(broken.contains("line 2") && broken.contains("Label Studio"), "{broken}");
        assert!(array("a,b\n1,2").unwrap_err().contains("tasks in JSON"));
        // The field is a choice if its values are classes of the session.
        let task = r#"[{"text":"a cat","answer":"reject"}]"#;
        let imported = import(&array(task).unwrap(), &items(), &["reject".into(), "keep".into()]);
        assert_eq!(imported.labels, [(1, "reject".to_owned())]);
        // The number of a task is not the id of an item.
        let items = items().with_keys(Vec::new(), Some(column("id", &["7", "2", "3", "1"])));
        assert_eq!(parsed(text, &items).labels, [(1, "cat".to_owned())]);
        let csv =
            "text,id,kind\na cat,1,cat\nbird,2,\"{\"\"choices\"\":[\"\"dog\"\",\"\"cat\"\"]}\"\n";
        let imported = import(&from_table(csv), &items, &classes());
        assert_eq!(imported.labels, [(1, "cat".to_owned())]);
        assert!(imported.notes[0].contains("several choices"), "{:?}", imported.notes);
    }
}
