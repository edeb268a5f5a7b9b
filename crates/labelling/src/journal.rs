//! The text of a session file: lines of JSON, numbered and chained by checksums.
//!
//! In version 2, each line ends with its number and a checksum of itself and all previous lines:
//! `{"event":"undo","row":3,"n":7,"sum":"0123456789abcdef"}`. A line that was removed, repeated, moved or changed is
//! therefore detected. Lines of version 1 have no numbers, but lines that are appended to a version-1 file have them.

use crate::event::{Event, Header};
use crate::keys::{ItemKey, stir_bytes};
use crate::record::Record;
use serde::Serialize;
use serde::de::IgnoredAny;
use std::fmt;

const NUMBER: &str = ",\"n\":";
const SUM: &str = ",\"sum\":\"";

/// The number and the checksum of the last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Chain {
    lines: u64,
    sum: u64,
    /// Whether the last line had a checksum. If so, every later line must have one.
    signed: bool,
}

impl Chain {
    /// Serialises a value as a line with a number, a checksum and a line end.
    pub(crate) fn line(&mut self, value: &impl Serialize) -> String {
        let text = serde_json::to_string(value);
        let Ok(mut text) = text else {
            unreachable!("numbers and texts have a JSON form: {text:?}")
        };
        assert_eq!(text.pop(), Some('}'), "a line is an object");
        text.push_str(NUMBER);
        text.push_str(&(self.lines + 1).to_string());
        self.add(text.as_bytes());
        self.signed = true;
        text.push_str(SUM);
        text.push_str(&format!("{:016x}", self.sum));
        text.push_str("\"}\n");
        text
    }

    fn add(&mut self, line: &[u8]) {
        self.lines += 1;
        self.sum = stir_bytes(self.sum, line);
    }

    /// Checks a line and returns its JSON without the number and the checksum.
    fn check(&mut self, line: &[u8], must_be_signed: bool) -> Result<Vec<u8>, JournalFaultKind> {
        let Some(signature) = Signature::of(line) else {
            if self.signed || must_be_signed {
                return Err(JournalFaultKind::NoChecksum);
            }
            self.add(line);
            return Ok(line.to_vec());
        };
        let expected = self.lines + 1;
        if signature.number != expected {
            let found = signature.number;
            return Err(JournalFaultKind::OutOfOrder { found, expected });
        }
        self.add(&line[..signature.signed]);
        self.signed = true;
        if self.sum != signature.sum {
            return Err(JournalFaultKind::Changed);
        }
        let mut json = line[..signature.json].to_vec();
        json.push(b'}');
        Ok(json)
    }
}

/// The number and checksum at the end of a line.
struct Signature {
    /// The length of the JSON without its last brace.
    json: usize,
    /// The length of the text covered by the checksum.
    signed: usize,
    number: u64,
    sum: u64,
}

impl Signature {
    fn of(line: &[u8]) -> Option<Signature> {
        let line = std::str::from_utf8(line).ok()?;
        let body = line.strip_suffix("\"}")?;
        // Quotes inside a JSON string are escaped, so these marks occur only outside strings.
        let signed = body.rfind(SUM)?;
        let json = body[..signed].rfind(NUMBER)?;
        let number = body[json + NUMBER.len()..signed].parse().ok()?;
        let sum = ItemKey::from_hex(&body[signed + SUM.len()..])?.word();
        Some(Signature { json, signed, number, sum })
    }
}

/// The state of the end of a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// The file ends with a line end or is empty.
    Complete,
    /// The last line is complete except for its line end. It is used.
    NoLineEnd,
    /// The last line was cut off, for example because the program was killed. It is ignored.
    Cut,
}

/// A parsed session file.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedJournal {
    /// The header; `None` in an empty file.
    pub header: Option<Header>,
    /// All events with their line numbers, counted from 1.
    pub events: Vec<(usize, Event)>,
    /// The state of the file's end.
    pub tail: Tail,
    /// The length in bytes of all lines that are not ignored.
    pub len: usize,
    pub(crate) chain: Chain,
}

/// An invalid line of a session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalFault {
    /// The line number, counted from 1.
    pub line: usize,
    /// The problem.
    pub kind: JournalFaultKind,
}

/// The reason why a line is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalFaultKind {
    /// The line is not from a session file.
    Foreign(String),
    /// The header is not valid.
    Header(String),
    /// The line has no checksum, although earlier lines have one.
    NoChecksum,
    /// The number of the line does not match its position.
    OutOfOrder {
        /// The number in the line.
        found: u64,
        /// The number expected at this position.
        expected: u64,
    },
    /// The line does not match its checksum.
    Changed,
}

impl fmt::Display for JournalFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const REMEDY: &str = "another program changed the file; restore it from a copy";
        match self {
            JournalFaultKind::Foreign(why) => {
                write!(f, "{why}; this is not a session file of `halfspaces label`")
            }
            JournalFaultKind::Header(why) => f.write_str(why),
            JournalFaultKind::NoChecksum => {
                write!(f, "the line has no checksum, although earlier lines have one: {REMEDY}")
            }
            JournalFaultKind::OutOfOrder { found, expected } if found > expected => {
                let missing = found - expected;
                write!(
                    f,
                    "this is line {found} of the session: {missing} lines before it are missing or were moved; {REMEDY}"
                )
            }
            JournalFaultKind::OutOfOrder { found, .. } => {
                write!(f, "this is line {found} of the session, repeated or moved; {REMEDY}")
            }
            JournalFaultKind::Changed => {
                write!(f, "this line, or an earlier one, does not match its checksum: {REMEDY}")
            }
        }
    }
}

/// Serialises a whole session as the text of a file of version [`Header::VERSION`].
///
/// ```
/// use halfspaces_labelling::{Event, Header, PoolId, Record, journal_text, parse_journal};
/// let pool = PoolId::without_keys("pool.csv", 3, 1, "00");
/// let header = Header::new(pool, vec!["cat".into(), "dog".into()], 0);
/// let mut record = Record::new(&header);
/// let event = Event::Known { labels: vec![(1, "dog".into())] };
/// record.take(event.clone())?;
/// let parsed = parse_journal(journal_text(&header, &record).as_bytes()).unwrap();
/// assert_eq!((parsed.header, parsed.events), (Some(header), vec![(2, event)]));
/// # Ok::<(), String>(())
/// ```
#[must_use]
pub fn journal_text(header: &Header, record: &Record) -> String {
    let header = Header { version: Header::VERSION, ..header.clone() };
    let mut chain = Chain::default();
    let mut text = chain.line(&header);
    record.events().iter().for_each(|event| text.push_str(&chain.line(event)));
    text
}

/// Parses the text of a session file. Allocates at most 64 bytes for each byte of the text.
///
/// # Errors
/// Returns the first invalid line as an error. A last line that was cut off is not an error.
///
/// ```
/// use halfspaces_labelling::{JournalFaultKind, Tail, parse_journal};
/// let header = r#"{"format":"halfspaces labelling session","version":1,"pool":{"source":"p","rows":9,"columns":1,"fingerprint":"0"},"classes":["a","b"],"seed":0}"#;
/// let undo = r#"{"event":"undo","row":3}"#;
/// let parsed = parse_journal(format!("{header}\n{undo}\n{undo}").as_bytes()).unwrap();
/// assert_eq!((parsed.events.len(), parsed.tail), (2, Tail::NoLineEnd));
/// let parsed = parse_journal(format!("{header}\n{undo}\n{{\"event\":").as_bytes()).unwrap();
/// assert_eq!((parsed.events.len(), parsed.tail), (1, Tail::Cut));
/// let fault = parse_journal(b"a,b\n1,2\n").unwrap_err();
/// assert!(fault.line == 1 && matches!(fault.kind, JournalFaultKind::Foreign(_)));
/// ```
pub fn parse_journal(bytes: &[u8]) -> Result<ParsedJournal, JournalFault> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut parsed = ParsedJournal {
        header: None,
        events: Vec::new(),
        tail: Tail::Complete,
        len: whole,
        chain: Chain::default(),
    };
    let mut line = 0;
    for text in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
        line += 1;
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        parsed.take(line, text.strip_suffix(b"\r").unwrap_or(text))?;
    }
    let rest = &bytes[whole..];
    if rest.is_empty() {
        return Ok(parsed);
    }
    // The last line is used if only its line end is missing.
    let before = parsed.chain;
    match parsed.take(line + 1, rest) {
        Ok(()) => (parsed.tail, parsed.len) = (Tail::NoLineEnd, bytes.len()),
        Err(fault) => {
            // In a line that was cut off, the value is incomplete. A complete value means that line ends were lost.
            let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
            let is_whole = values.next().is_some_and(|value| value.is_ok());
            if is_whole || parsed.header.is_none() && !is_header_prefix(rest) {
                return Err(fault);
            }
            (parsed.tail, parsed.chain) = (Tail::Cut, before);
        }
    }
    Ok(parsed)
}

/// Whether `bytes` is the beginning of a header.
fn is_header_prefix(bytes: &[u8]) -> bool {
    let start = format!("{{\"format\":\"{}\"", Header::FORMAT);
    bytes.iter().zip(start.as_bytes()).all(|(a, b)| a == b)
}

impl ParsedJournal {
    fn take(&mut self, line: usize, text: &[u8]) -> Result<(), JournalFault> {
        if text.is_empty() {
            return Ok(());
        }
        let at = |kind| JournalFault { line, kind };
        let foreign = |error: serde_json::Error| at(JournalFaultKind::Foreign(error.to_string()));
        let Some(header) = &self.header else {
            let json = self.chain.check(text, false).map_err(at)?;
            let header: Header = serde_json::from_slice(&json).map_err(foreign)?;
            if header.format != Header::FORMAT {
                let why = format!("the format is {:?}", header.format);
                return Err(at(JournalFaultKind::Foreign(why)));
            }
            header.check().map_err(|why| at(JournalFaultKind::Header(why)))?;
            if header.version >= 2 && !self.chain.signed {
                return Err(at(JournalFaultKind::NoChecksum));
            }
            self.header = Some(header);
            return Ok(());
        };
        let json = self.chain.check(text, header.version >= 2).map_err(at)?;
        self.events.push((line, serde_json::from_slice(&json).map_err(foreign)?));
        Ok(())
    }
}
