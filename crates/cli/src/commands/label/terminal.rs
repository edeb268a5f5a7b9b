//! Labelling in a terminal, one line per answer; standard input may be a pipe.

use super::items::Items;
use super::review::ReviewProgress;
use super::worker::Controller;
use crate::error::CliError;
use crate::output::{counted, note, print, print_styled};
use crate::terminal::{bold, width};
use halfspaces_frame::{find_class, visible};
use halfspaces_labelling::{ActionError, class_keys};
use halfspaces_online::LabellingQuestion;
use std::fmt::Write as _;
use std::io::BufRead;

/// Maximum number of answers and of uncertain rows listed by a review.
const LISTED: usize = 20;
/// Maximum number of classes listed in the help line.
const NAMED: usize = 12;

/// The commands, each with its effect.
const COMMANDS: [(&str, &str); 5] = [
    ("s", "skip"),
    ("?", "uncertain"),
    ("u", "undo the last answer"),
    ("r", "review"),
    ("q", "stop"),
];

/// The parsed input of the person.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Confirm,
    Class(usize),
    /// The names of all these classes begin with the input.
    Ambiguous(Vec<usize>),
    Skip,
    Uncertain,
    Undo,
    Review,
    Stop,
    Unknown,
}

/// Asks until the person stops or the input ends. Once every row has a label, answers can still be changed.
pub(super) fn run(
    controller: &mut Controller,
    items: &Items,
    input: &mut impl BufRead,
) -> Result<(), CliError> {
    let classes = controller.record().classes().to_vec();
    let keys = class_keys(&classes);
    let help = help(items.is_review(), &classes, &keys);
    print_styled(&help)?;
    loop {
        let asked = controller.question();
        print_styled(&format!(
            "\n{}\n{}",
            headline(controller, items),
            prompt(controller, items, asked, &classes)
        ))?;
        let Some(line) = read_line(input)? else {
            note("end of standard input");
            return print(&format!("\n{}\n", headline(controller, items)));
        };
        let done = match (reply(&line, &classes, &keys), asked) {
            (Reply::Stop, _) | (Reply::Confirm, None) => break,
            (Reply::Undo, _) => undo(controller),
            (Reply::Review, _) => review(controller, items, &keys, input, Listed::All),
            (Reply::Unknown, _) => {
                let typed = line.trim();
                print(&format!("{typed:?} is neither a class nor a command\n"))?;
                print_styled(&help)?;
                Ok(())
            }
            (Reply::Ambiguous(found), _) => {
                let names: Vec<&str> = found.iter().map(|class| classes[*class].as_str()).collect();
                Err(ActionError::Rejected(format!(
                    "{:?} is the beginning of {}; type more of the name",
                    line.trim(),
                    names.join(", ")
                )))
            }
            (Reply::Confirm, Some(question)) => controller.answer(question.index, question.class),
            (Reply::Class(class), Some(question)) => {
                if line.trim() != classes[class] {
                    print_styled(&format!("{}\n", bold(&visible(&classes[class]))))?;
                }
                controller.answer(question.index, class)
            }
            (Reply::Skip, Some(question)) => controller.skip(question.index),
            (Reply::Uncertain, Some(question)) => controller.uncertain(question.index),
            (Reply::Class(_) | Reply::Skip | Reply::Uncertain, None) => Err(ActionError::Rejected(
                "every row has an answer; r lists the last answers".to_owned(),
            )),
        };
        match done {
            Ok(()) => {}
            Err(ActionError::Rejected(why)) => print(&format!("{why}\n"))?,
            Err(ActionError::Failed(error)) => return Err(error),
        }
    }
    // The model may not have learned from the last answers yet.
    controller.settle()?;
    if let Err(ActionError::Failed(error)) =
        review(controller, items, &keys, input, Listed::Doubtful)
    {
        return Err(error);
    }
    print(&format!("\n{}\n", headline(controller, items)))
}

/// Undoes the last answer or skip and says which one it was. It may not be the one that the person changed last.
fn undo(controller: &mut Controller) -> Result<(), ActionError> {
    let undone = controller.undo_text();
    controller.undo(None)?;
    Ok(undone.map_or(Ok(()), |undone| print(&format!("undone: {undone}\n")))?)
}

/// The question, or the possible commands if every row has a label.
fn prompt(
    controller: &Controller,
    items: &Items,
    asked: Option<LabellingQuestion>,
    classes: &[String],
) -> String {
    let Some(LabellingQuestion { index: row, class, .. }) = asked else {
        let rows = if items.is_review() { "every row to review" } else { "every row" };
        return format!("{rows} has an answer: u undo, r review, Enter or q ends > ");
    };
    let skipped = if controller.record().is_skipped(row) { ", skipped before" } else { "" };
    let name = visible(&classes[class]);
    let predicted = bold(&name);
    let sure = match controller.probability() {
        Some(probability) => format!("{:.0} % sure", 100.0 * probability),
        None if controller.is_suggested() => "suggested".to_owned(),
        None => "a guess: not every class has a label yet".to_owned(),
    };
    let lines = items.lines(row, width()).join("\n");
    format!("row {row}{skipped}\n{lines}\n{predicted}? {sure} > ")
}

fn headline(controller: &Controller, items: &Items) -> String {
    let (record, outlook) = (controller.record(), controller.outlook());
    if let Some(review) = ReviewProgress::of(record, items) {
        let ReviewProgress { rows, reviewed, changed } = review;
        let changed = counted(changed as u64, "label");
        return format!(
            "{reviewed} of {} reviewed, {changed} changed",
            counted(rows as u64, "row")
        );
    }
    let advice = controller.stop_advice().filter(|_| !items.is_review());
    let stop = advice.map_or_else(String::new, |advice| format!("\n{advice}"));
    format!(
        "{} of {} labelled, {}; about {:.0} more to come ({:.0} to {:.0}){stop}",
        record.answered(),
        record.rows(),
        match record.corrections() {
            1 => "1 correction".to_owned(),
            count => format!("{count} corrections"),
        },
        outlook.expected,
        outlook.low,
        outlook.high
    )
}

fn help(is_review: bool, classes: &[String], keys: &[Option<char>]) -> String {
    let enter = if is_review { "accept the suggestion" } else { "the prediction is correct" };
    let mut text = format!("Enter: {enter};");
    for (class, key) in classes.iter().zip(keys).take(NAMED) {
        let shown = visible(class);
        let known = match key {
            Some(key) if key.to_string() != *class => {
                write!(text, " {} {shown},", bold(&key.to_string()))
            }
            _ => write!(text, " {},", bold(&shown)),
        };
        assert!(known.is_ok(), "writing to a string cannot fail");
    }
    if classes.len() > NAMED {
        text.push_str(" …,");
    }
    text.pop();
    if classes.iter().any(|class| class.chars().count() > 1) {
        text.push_str(", or the beginning of a name");
    }
    let commands = COMMANDS.map(|(key, what)| format!("{} {what}", bold(key)));
    text.push_str(&format!("; {}\n", commands.join(", ")));
    text
}

/// Parses a line. A command takes precedence over a class of the same name, so that a person who wants to stop does not
/// label a row by accident; such a class has another key.
fn reply(line: &str, classes: &[String], keys: &[Option<char>]) -> Reply {
    let typed = line.trim();
    if typed.is_empty() {
        return Reply::Confirm;
    }
    match typed {
        "s" => Reply::Skip,
        "?" => Reply::Uncertain,
        "u" => Reply::Undo,
        "r" => Reply::Review,
        "q" => Reply::Stop,
        _ => match &of_name(typed, classes, keys)[..] {
            [] => Reply::Unknown,
            [class] => Reply::Class(*class),
            several => Reply::Ambiguous(several.to_vec()),
        },
    }
}

/// The class with this name or key, or with a name of the same meaning, such as `1.0` or `true` for `1`; otherwise all
/// classes whose names begin with `name`. If there are none, case is ignored.
fn of_name(name: &str, classes: &[String], keys: &[Option<char>]) -> Vec<usize> {
    let mut chars = name.chars();
    let key = chars.next().filter(|_| chars.next().is_none());
    let named = classes.iter().position(|class| class == name);
    // Only the keys that the help lists count: another key may be the beginning of a name.
    let mut shown = keys.iter().take(NAMED);
    let named = named.or_else(|| shown.position(|of_class| of_class.is_some() && *of_class == key));
    if let Some(class) = named.or_else(|| find_class(name, classes)) {
        return vec![class];
    }
    let lower: Vec<String> = classes.iter().map(|class| class.to_lowercase()).collect();
    let beginning = |names: &[String], with: &str| -> Vec<usize> {
        (0..names.len()).filter(|class| names[*class].starts_with(with)).collect()
    };
    match &beginning(classes, name)[..] {
        [] => beginning(&lower, &name.to_lowercase()),
        found => found.to_vec(),
    }
}

/// The answers that a review lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    /// The last answers, the uncertain rows, and the answers that are least consistent with the other answers.
    All,
    /// The uncertain rows, and the answers that are least consistent with the other answers.
    Doubtful,
}

/// Lists answers. `NUMBER CLASS` changes one of them; an empty line or `q` ends the review. If there are no answers to list,
/// the review ends at once.
fn review(
    controller: &mut Controller,
    items: &Items,
    keys: &[Option<char>],
    input: &mut impl BufRead,
    listed: Listed,
) -> Result<(), ActionError> {
    loop {
        let (rows, mut text) = list(controller, items, listed);
        if listed == Listed::Doubtful {
            if rows.is_empty() {
                return Ok(());
            }
            text.insert(0, '\n');
        }
        let end = if listed == Listed::All { "returns" } else { "ends" };
        text.push_str(&format!("NUMBER CLASS changes an answer, Enter {end} > "));
        print(&text)?;
        let Some(line) = read_line(input)? else { return Ok(()) };
        if ["", "q"].contains(&line.trim()) {
            return Ok(());
        }
        let classes = controller.record().classes();
        let Some((number, name)) = line.trim().split_once(' ') else {
            let example = visible(&classes[0]);
            print(&format!(
                "expected a number and a class, such as 1 {example}, not {:?}\n",
                line.trim()
            ))?;
            continue;
        };
        let chosen = number.parse::<usize>().ok().and_then(|n| rows.get(n.checked_sub(1)?));
        match (chosen, &of_name(name.trim(), classes, keys)[..]) {
            (Some(row), [class]) => {
                controller.change(*row, *class)?;
                controller.settle()?;
            }
            (None, _) => print(&format!("the list has no answer number {number:?}\n"))?,
            (_, []) => print(&format!("there is no class {:?}\n", name.trim()))?,
            (_, _) => print(&format!("several classes begin with {:?}\n", name.trim()))?,
        }
    }
}

/// The rows of a review, and its text.
fn list(controller: &Controller, items: &Items, listed: Listed) -> (Vec<usize>, String) {
    let record = controller.record();
    let name = |class: usize| visible(&record.classes()[class]);
    let (mut rows, mut text) = (Vec::new(), String::new());
    let mut add = |text: &mut String, row: usize, answer: String| {
        rows.push(row);
        let (number, item) = (rows.len(), items.line(row));
        text.push_str(&format!("{number:3}  row {row}: {answer}  {item}\n"));
    };
    if listed == Listed::All {
        for given in record.row_labels().rev().take(LISTED) {
            let how = if given.is_correction() { " (corrected)" } else { "" };
            add(&mut text, given.row, format!("{}{how}", name(given.class)));
        }
    }
    let uncertain: Vec<usize> = record.uncertain().collect();
    let last = &uncertain[uncertain.len().saturating_sub(LISTED)..];
    if !last.is_empty() {
        text.push_str(&format!("uncertain ({} of {}):\n", last.len(), uncertain.len()));
        last.iter().rev().for_each(|row| add(&mut text, *row, "?".to_owned()));
    }
    let doubts: Vec<_> = controller.doubts().collect();
    if !doubts.is_empty() {
        text.push_str("answers that fit the others least; look again:\n");
        for doubt in doubts {
            let (given, predicted) = (name(doubt.class), name(doubt.predicted));
            let percent = 100.0 * doubt.probability;
            let answer =
                format!("{given} ({percent:.0} % likely), the other answers suggest {predicted}");
            add(&mut text, doubt.index, answer);
        }
    }
    (rows, text)
}

fn read_line(input: &mut impl BufRead) -> Result<Option<String>, CliError> {
    let mut line = Vec::new();
    match input.read_until(b'\n', &mut line) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(String::from_utf8_lossy(&line).into_owned())),
        Err(error) => Err(CliError::system(format!("standard input: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_take_precedence_over_names_and_keys() {
        let classes = ["s", "1", "dog"].map(str::to_owned);
        let keys = class_keys(&classes);
        assert_eq!(keys, [Some('2'), Some('1'), Some('3')]);
        for (line, expected) in [
            ("\n", Reply::Confirm),
            ("s\n", Reply::Skip),
            ("1\r\n", Reply::Class(1)),
            ("2", Reply::Class(0)),
            ("3", Reply::Class(2)),
            (" dog ", Reply::Class(2)),
            ("?", Reply::Uncertain),
            ("u", Reply::Undo),
            ("q", Reply::Stop),
            ("r", Reply::Review),
            ("cat", Reply::Unknown),
        ] {
            assert_eq!(reply(line, &classes, &keys), expected, "{line:?}");
        }
    }

    #[test]
    fn a_label_is_understood_as_in_a_file() {
        let classes = ["0", "1"].map(str::to_owned);
        let keys = class_keys(&classes);
        for (line, expected) in [
            ("true", Reply::Class(1)),
            ("FALSE", Reply::Class(0)),
            ("1.0", Reply::Class(1)),
            ("2", Reply::Unknown),
        ] {
            assert_eq!(reply(line, &classes, &keys), expected, "{line:?}");
        }
    }

    #[test]
    fn the_beginning_of_one_class_is_enough() {
        let classes = ["benign", "malignant", "Mammal", "mal"].map(str::to_owned);
        let keys = class_keys(&classes);
        for (line, expected) in [
            ("b", Reply::Class(0)),
            ("BEN", Reply::Class(0)),
            ("M", Reply::Class(2)),
            ("mali", Reply::Class(1)),
            // An exact name takes precedence over names that begin with it.
            ("mal", Reply::Class(3)),
            ("m", Reply::Ambiguous(vec![1, 3])),
            ("ma", Reply::Ambiguous(vec![1, 3])),
            ("MA", Reply::Ambiguous(vec![1, 2, 3])),
            ("malignantly", Reply::Unknown),
            // Keys and commands take precedence.
            ("2", Reply::Class(1)),
            ("r", Reply::Review),
        ] {
            assert_eq!(reply(line, &classes, &keys), expected, "{line:?}");
        }
    }
}
