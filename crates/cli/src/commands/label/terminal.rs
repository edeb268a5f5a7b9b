//! Labelling in a terminal, line by line; standard input may be a pipe.

use super::desk::{Desk, Refusal};
use super::items::Items;
use super::keys::keys;
use crate::error::CliError;
use crate::output::{note, say};
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

/// Asks until every row has a label, the person stops, or the input ends.
pub(super) fn run(
    desk: &mut Desk,
    items: &Items,
    input: &mut impl BufRead,
) -> Result<(), CliError> {
    let classes = desk.record().classes().to_vec();
    let keys = keys(&classes);
    say(&help(&classes, &keys))?;
    while let Some(question) = desk.question() {
        let (row, guess) = (question.index, &classes[question.class]);
        let record = desk.record();
        let skipped = if record.skipped().contains(&row) { ", skipped before" } else { "" };
        let text = format!(
            "\n{}\nrow {row}{skipped}: {}\n{guess}? {:.0} % sure > ",
            headline(desk),
            items.line(row),
            100.0 * question.probability
        );
        say(&text)?;
        let Some(line) = read_line(input)? else { break };
        let done = match reply(&line, &classes, &keys) {
            Reply::Confirm => desk.answer(row, question.class),
            Reply::Class(class) => desk.answer(row, class),
            Reply::Skip => desk.skip(row),
            Reply::Undo => desk.undo(),
            Reply::Review => review(desk, items, &classes, &keys, input),
            Reply::Stop => break,
            Reply::Unknown => {
                let said = line.trim();
                Err(Refusal::Unfit(format!(
                    "there is no class and no command {said:?}\n{}",
                    help(&classes, &keys)
                )))
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

fn headline(desk: &Desk) -> String {
    let (record, outlook) = (desk.record(), desk.outlook());
    format!(
        "{} of {} labelled, {} corrections; about {:.0} to come ({:.0} to {:.0})",
        record.given().len(),
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
        let known = match key {
            Some(key) if key.to_string() != *class => write!(text, " {key} {class},"),
            _ => write!(text, " {class},"),
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

/// The name of a class comes before a command, which may have a colon before it, before a key.
fn reply(line: &str, classes: &[String], keys: &[Option<char>]) -> Reply {
    let said = line.trim();
    if said.is_empty() {
        return Reply::Confirm;
    }
    if let Some(class) = class(said, classes, keys) {
        return Reply::Class(class);
    }
    match said.strip_prefix(':').unwrap_or(said) {
        "s" => Reply::Skip,
        "u" => Reply::Undo,
        "r" => Reply::Review,
        "q" => Reply::Stop,
        _ => Reply::Unknown,
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
        let given: Vec<_> = desk.record().given().iter().rev().take(LISTED).copied().collect();
        let mut text = String::new();
        for (number, answer) in given.iter().enumerate() {
            let (row, class) = (answer.row, &classes[answer.class]);
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
    fn names_come_before_commands_and_keys() {
        let classes = ["s", "1", "dog"].map(str::to_owned);
        let keys = keys(&classes);
        assert_eq!(keys, [Some('1'), Some('2'), Some('3')]);
        for (line, expected) in [
            ("\n", Reply::Confirm),
            ("s\n", Reply::Class(0)),
            (":s\n", Reply::Skip),
            ("1\r\n", Reply::Class(1)),
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
