//! Labelling in a terminal, line by line; standard input may be a pipe.

use super::desk::{Desk, Refusal};
use super::items::Items;
use super::keys::keys;
use crate::error::CliError;
use crate::names::visible;
use crate::output::{note, say};
use halfspaces_online::LabellingQuestion;
use std::fmt::Write as _;
use std::io::BufRead;

/// Answers listed by a review.
const LISTED: usize = 20;
/// Classes named in the prompt.
const NAMED: usize = 12;

/// What a person typed.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Confirm,
    Class(usize),
    Skip,
    Undo,
    Review,
    Stop,
    Unknown,
}

/// Asks until the person stops or the input ends; when every row has a label, whether one of them is to be changed.
pub(super) fn run(
    desk: &mut Desk,
    items: &Items,
    input: &mut impl BufRead,
) -> Result<(), CliError> {
    let classes = desk.record().classes().to_vec();
    let keys = keys(&classes);
    say(&help(&classes, &keys))?;
    loop {
        let asked = desk.question();
        say(&format!("\n{}\n{}", headline(desk), prompt(desk, items, asked, &classes)))?;
        let Some(line) = read_line(input)? else { break };
        let done = match (reply(&line, &classes, &keys), asked) {
            (Reply::Stop, _) | (Reply::Confirm, None) => break,
            (Reply::Undo, _) => desk.undo(None),
            (Reply::Review, _) => review(desk, items, &classes, &keys, input),
            (Reply::Unknown, _) => {
                let said = line.trim();
                Err(Refusal::Unfit(format!(
                    "there is no class and no command {said:?}\n{}",
                    help(&classes, &keys)
                )))
            }
            (Reply::Confirm, Some(question)) => desk.answer(question.index, question.class),
            (Reply::Class(class), Some(question)) => desk.answer(question.index, class),
            (Reply::Skip, Some(question)) => desk.skip(question.index),
            (Reply::Class(_) | Reply::Skip, None) => {
                Err(Refusal::Unfit("every row has a label; r lists the last answers".to_owned()))
            }
        };
        match done {
            Ok(()) => {}
            Err(Refusal::Unfit(why)) => say(&format!("{why}\n"))?,
            Err(Refusal::Failed(error)) => return Err(error),
        }
    }
    say(&format!("\n{}\n", headline(desk)))
}

/// The question, or what can be done when there is none.
fn prompt(
    desk: &Desk,
    items: &Items,
    asked: Option<LabellingQuestion>,
    classes: &[String],
) -> String {
    let Some(LabellingQuestion { index: row, class, probability }) = asked else {
        return "every row has a label: u undo, r review, Enter or q ends > ".to_owned();
    };
    let skipped = if desk.record().is_skipped(row) { ", skipped before" } else { "" };
    let guess = visible(&classes[class]);
    let sure = 100.0 * probability;
    format!("row {row}{skipped}: {}\n{guess}? {sure:.0} % sure > ", items.line(row))
}

fn headline(desk: &Desk) -> String {
    let (record, outlook) = (desk.record(), desk.outlook());
    format!(
        "{} of {} labelled, {} corrections; about {:.0} to come ({:.0} to {:.0})",
        record.answered(),
        record.rows(),
        record.corrections(),
        outlook.expected,
        outlook.low,
        outlook.high
    )
}

fn help(classes: &[String], keys: &[Option<char>]) -> String {
    let mut text = String::from("Enter: right;");
    for (class, key) in classes.iter().zip(keys).take(NAMED) {
        let shown = visible(class);
        let known = match key {
            Some(key) if key.to_string() != *class => write!(text, " {key} {shown},"),
            _ => write!(text, " {shown},"),
        };
        assert!(known.is_ok(), "a text can be written to");
    }
    if classes.len() > NAMED {
        text.push_str(" … (a class may be typed in full),");
    }
    text.pop();
    text.push_str("; s skip, u undo, r review, q stop\n");
    text
}

/// A command comes before a class of the same name, which has a key: a person who means to stop labels nothing.
fn reply(line: &str, classes: &[String], keys: &[Option<char>]) -> Reply {
    let said = line.trim();
    if said.is_empty() {
        return Reply::Confirm;
    }
    match said {
        "s" => Reply::Skip,
        "u" => Reply::Undo,
        "r" => Reply::Review,
        "q" => Reply::Stop,
        _ => class(said, classes, keys).map_or(Reply::Unknown, Reply::Class),
    }
}

fn class(said: &str, classes: &[String], keys: &[Option<char>]) -> Option<usize> {
    let named = classes.iter().position(|class| class == said);
    let mut chars = said.chars();
    let key = chars.next().filter(|_| chars.next().is_none());
    named.or_else(|| keys.iter().position(|of_class| of_class.is_some() && *of_class == key))
}

/// Lists the last answers; `NUMBER CLASS` changes one, an empty line goes back.
fn review(
    desk: &mut Desk,
    items: &Items,
    classes: &[String],
    keys: &[Option<char>],
    input: &mut impl BufRead,
) -> Result<(), Refusal> {
    loop {
        let given: Vec<_> = desk.record().given().rev().take(LISTED).collect();
        let mut text = String::new();
        for (number, answer) in given.iter().enumerate() {
            let (row, class) = (answer.row, visible(&classes[answer.class]));
            let how = if answer.is_correction() { " (corrected)" } else { "" };
            text.push_str(&format!(
                "{:3}  row {row}: {class}{how}  {}\n",
                number + 1,
                items.line(row)
            ));
        }
        text.push_str("NUMBER CLASS changes an answer, Enter goes back > ");
        say(&text)?;
        let Some(line) = read_line(input)? else { return Ok(()) };
        let Some((number, said)) = line.trim().split_once(' ') else { return Ok(()) };
        let chosen = number.parse::<usize>().ok().and_then(|n| given.get(n.checked_sub(1)?));
        match (chosen, class(said.trim(), classes, keys)) {
            (Some(answer), Some(class)) => desk.change(answer.row, class)?,
            (None, _) => say(&format!("there is no answer {number:?} in the list\n"))?,
            (_, None) => say(&format!("there is no class {:?}\n", said.trim()))?,
        }
    }
}

fn read_line(input: &mut impl BufRead) -> Result<Option<String>, CliError> {
    let mut line = Vec::new();
    match input.read_until(b'\n', &mut line) {
        Ok(0) => {
            note("standard input has ended");
            Ok(None)
        }
        Ok(_) => Ok(Some(String::from_utf8_lossy(&line).into_owned())),
        Err(error) => Err(CliError::system(format!("standard input: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_before_names_and_keys() {
        let classes = ["s", "1", "dog"].map(str::to_owned);
        let keys = keys(&classes);
        assert_eq!(keys, [Some('2'), Some('1'), Some('3')]);
        for (line, expected) in [
            ("\n", Reply::Confirm),
            ("s\n", Reply::Skip),
            ("1\r\n", Reply::Class(1)),
            ("2", Reply::Class(0)),
            ("3", Reply::Class(2)),
            (" dog ", Reply::Class(2)),
            ("u", Reply::Undo),
            ("q", Reply::Stop),
            ("r", Reply::Review),
            ("cat", Reply::Unknown),
        ] {
            assert_eq!(reply(line, &classes, &keys), expected, "{line:?}");
        }
    }
}
