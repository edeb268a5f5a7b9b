//! Decodes text in UTF-8, in UTF-16 with or without a byte order mark, and in single-byte encodings.

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;
use std::io::{self, BufRead, Read};

/// The number of bytes at the start of a text in which NUL bytes are counted. UTF-16 text contains many NUL bytes.
const SAMPLE: usize = 4096;

/// The encoding of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Encoded {
    pub(crate) encoding: &'static Encoding,
    /// The length of the byte order mark in bytes.
    pub(crate) mark: usize,
    /// Whether the encoding was guessed from the frequency of letters.
    pub(crate) guessed: bool,
}

/// Detects the encoding of a text. `bytes` is the whole text if `complete` is true, and the start of the text
/// otherwise.
pub(crate) fn find(bytes: &[u8], complete: bool) -> Encoded {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return Encoded { encoding, mark, guessed: false };
    }
    let sure = |encoding| Encoded { encoding, mark: 0, guessed: false };
    if let Some(encoding) = without_mark(bytes) {
        return sure(encoding);
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => sure(UTF_8),
        // The last character of a sample may be cut off.
        Err(error) if !complete && error.error_len().is_none() => sure(UTF_8),
        Err(_) if only_signs_of_numbers(bytes) => {
            Encoded { encoding: WINDOWS_1252, mark: 0, guessed: true }
        }
        Err(_) => {
            let mut detector =
                chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
            detector.feed(bytes, complete);
            let encoding = detector.guess(None, chardetng::Utf8Detection::Deny);
            Encoded { encoding, mark: 0, guessed: true }
        }
    }
}

impl Encoded {
    /// A note that names the encoding, or `None` if the encoding was not guessed.
    pub(crate) fn note(self) -> Option<String> {
        let name = self.encoding.name();
        self.guessed.then(|| format!("the text is not UTF-8 and is read as {name}; if letters are wrong, save it as UTF-8"))
    }
}

/// The signs of Windows-1252 that occur next to numbers: € £ ¥ § ° ± ² ³ µ ¼ ½ ¾.
const SIGNS: &[u8] = b"\x80\xa3\xa5\xa7\xb0\xb1\xb2\xb3\xb5\xbc\xbd\xbe";

/// Whether all non-ASCII bytes of a text are [`SIGNS`] next to a digit, as in `£4.99`. In a text with another encoding,
/// such bytes would also occur in words. With so few such bytes, an encoding detector would mistake them for letters,
/// as in `Ł4.99`.
fn only_signs_of_numbers(bytes: &[u8]) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let is_sign = |at: usize| {
        let next = bytes[at + 1..].iter().find(|byte| !matches!(byte, b' ' | b'-'));
        let last = bytes[..at].iter().rfind(|byte| **byte != b' ');
        SIGNS.contains(&bytes[at]) && (is_digit(next) || is_digit(last))
    };
    (0..bytes.len()).filter(|at| !bytes[*at].is_ascii()).all(is_sign)
}

/// The line of the first bytes that are not valid UTF-8. Returns `None` unless most of the non-ASCII characters of the
/// text are valid UTF-8.
pub(crate) fn damaged_line(bytes: &[u8]) -> Option<u64> {
    let (mut letters, mut invalid, mut lines, mut first) = (0usize, 0usize, 1, None);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        letters += valid.chars().filter(|letter| !letter.is_ascii()).count();
        lines += valid.bytes().filter(|byte| *byte == b'\n').count() as u64;
        if !chunk.invalid().is_empty() {
            invalid += 1;
            first.get_or_insert(lines);
        }
    }
    first.filter(|_| letters > invalid)
}

/// The last line of a complete text that ends in the middle of a character, or `None` if the text ends after a whole
/// character. A single last byte of a text without other non-ASCII characters can be a letter of another encoding, so it
/// does not count.
pub(crate) fn cut_line(bytes: &[u8], encoded: Encoded) -> Option<u64> {
    let line = |text: &[u8]| 1 + text.iter().filter(|byte| **byte == b'\n').count() as u64;
    if encoded.encoding == UTF_16LE || encoded.encoding == UTF_16BE {
        let (pairs, rest) = bytes.get(encoded.mark..)?.as_chunks::<2>();
        let last = pairs.last().map(|pair| match encoded.encoding == UTF_16LE {
            true => u16::from_le_bytes(*pair),
            false => u16::from_be_bytes(*pair),
        });
        // The first half of a pair that encodes one character.
        let is_half = last.is_some_and(|unit| (0xd800..0xdc00).contains(&unit));
        return (is_half || !rest.is_empty()).then(|| line(&decode(bytes, encoded)));
    }
    let error = std::str::from_utf8(bytes).err().filter(|error| error.error_len().is_none())?;
    let (text, rest) = bytes.split_at(error.valid_up_to());
    (rest.len() > 1 || !text.is_ascii()).then(|| line(text))
}

/// Whether a text is UTF-16.
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    let marked = Encoding::for_bom(bytes).is_some_and(|(encoding, _)| encoding != UTF_8);
    marked || without_mark(bytes).is_some()
}

/// The decoded text if the bytes are UTF-16, otherwise the unchanged bytes.
pub(crate) fn without_utf16(bytes: &[u8]) -> Cow<'_, [u8]> {
    if is_utf16(bytes) { decode(bytes, find(bytes, false)) } else { Cow::Borrowed(bytes) }
}

/// Detects UTF-16 without a byte order mark. In such text, one of the two bytes of most letters is zero.
fn without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let zeros = |from: usize| sample.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let pairs = sample.len() / 2;
    if pairs < 2 {
        return None;
    }
    if odd * 10 >= pairs * 7 && even * 10 < pairs {
        return Some(UTF_16LE);
    }
    (even * 10 >= pairs * 7 && odd * 10 < pairs).then_some(UTF_16BE)
}

/// Converts a text to UTF-8 and removes its byte order mark. Text that is already UTF-8 is neither copied nor
/// validated.
pub(crate) fn decode(bytes: &[u8], encoded: Encoded) -> Cow<'_, [u8]> {
    let bytes = &bytes[encoded.mark..];
    if encoded.encoding == UTF_8 {
        return Cow::Borrowed(bytes);
    }
    let (text, _) = encoded.encoding.decode_without_bom_handling(bytes);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Decodes a text while it is read.
pub(crate) fn decoding<'a>(
    mut reader: Box<dyn BufRead + 'a>,
    encoded: Encoded,
) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut mark = vec![0; encoded.mark];
    reader.read_exact(&mut mark)?;
    if encoded.encoding == UTF_8 {
        return Ok(reader);
    }
    let decoder = encoded.encoding.new_decoder_without_bom_handling();
    let reader = Decoding { reader, decoder, ended: false };
    Ok(Box::new(io::BufReader::with_capacity(1 << 16, reader)))
}

/// The message for a text that ends in the middle of a character.
pub(crate) const CUT: &str =
    "the file ends in the middle of a character, so its end may be missing; copy or write it again";

struct Decoding<'a> {
    reader: Box<dyn BufRead + 'a>,
    decoder: Decoder,
    ended: bool,
}

impl Read for Decoding<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written == 0 && !self.ended && buffer.len() >= 16 {
            let piece = self.reader.fill_buf()?;
            let last = piece.is_empty();
            let room = buffer.len() - '\u{fffd}'.len_utf8();
            let (result, read, count) =
                self.decoder.decode_to_utf8_without_replacement(piece, &mut buffer[..room], last);
            written = count;
            if let DecoderResult::Malformed(_, _) = result {
                let is_utf16 = [UTF_16LE, UTF_16BE].contains(&self.decoder.encoding());
                if last && is_utf16 {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, CUT));
                }
                let mark = "\u{fffd}".as_bytes();
                buffer[written..written + mark.len()].copy_from_slice(mark);
                written += mark.len();
            }
            self.reader.consume(read);
            self.ended = last && result == DecoderResult::InputEmpty;
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    /// A text that ends within a character is cut off, in memory and in a stream.
    #[test]
    fn texts_that_end_within_a_character_are_cut_off() {
        let text = "name,y\ngröße,1\nälter,\u{1f600}";
        let cut = |bytes: &[u8]| cut_line(bytes, find(bytes, true));
        for big in [false, true] {
            let bytes = utf16(text, big);
            assert_eq!(cut(&bytes), None);
            for missing in 1..4 {
                let bytes = &bytes[..bytes.len() - missing];
                assert_eq!(cut(bytes), Some(3), "{missing}");
                let mut reader = decoding(Box::new(bytes), find(bytes, true)).unwrap();
                let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
                assert_eq!(error.to_string(), CUT);
            }
        }
        assert_eq!(cut(text.as_bytes()), None);
        for missing in 1..4 {
            assert_eq!(cut(&text.as_bytes()[..text.len() - missing]), Some(3), "{missing}");
        }
        // A letter of another encoding at the end of the text is not a part of a character.
        assert_eq!(cut(b"name\ncaf\xe9"), None);
        assert_eq!(cut(b"name\n5\xe2\x82"), Some(2));
    }

    #[test]
    fn encodings_are_found_and_decoded() {
        let text = "name,y\ngröße,1\nälter,2\n";
        let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
        let mut marked = b"\xff\xfe".to_vec();
        marked.extend(utf16(text, false));
        let mut utf8 = b"\xef\xbb\xbf".to_vec();
        utf8.extend(text.as_bytes());
        for (bytes, name) in [
            (text.as_bytes().to_vec(), "UTF-8"),
            (utf8, "UTF-8"),
            (latin, "windows-1252"),
            (marked, "UTF-16LE"),
            (utf16(text, false), "UTF-16LE"),
            (utf16(text, true), "UTF-16BE"),
        ] {
            let encoded = find(&bytes, true);
            assert_eq!(encoded.encoding.name(), name);
            assert_eq!(decode(&bytes, encoded), text.as_bytes(), "{name}");
            let mut streamed = Vec::new();
            let mut reader = decoding(Box::new(&bytes[..]), encoded).unwrap();
            reader.read_to_end(&mut streamed).unwrap();
            assert_eq!(streamed, text.as_bytes(), "{name}");
        }
        // Two letters are enough to recognise UTF-16, and one is not.
        assert_eq!(without_mark(&utf16("7\n", false)), Some(UTF_16LE));
        assert_eq!(without_mark(&utf16("7\n", true)), Some(UTF_16BE));
        assert_eq!(without_mark(&utf16("7", false)), None);
        // Signs next to numbers are not taken for letters in another encoding.
        for (text, name) in [
            (&b"price\n\xa34.99\n-\xa3 12.50\n\xa36\n"[..], "windows-1252"),
            (b"x\n0\xbd\n\xb11\n3 \xb0\n", "windows-1252"),
            (b"name,x\n\xa3ukasz,1\n\xa3\xf3d\x9f,2\n", "windows-1250"),
        ] {
            assert_eq!(find(text, true).encoding.name(), name);
        }
        // Next to letters, the same byte is a letter.
        let names = b"name,city\n\xa3ukasz,\xa3uk\nWac\xb3aw,Pi\xb3a\n\xa3ucja,\xa3apy\n";
        assert!(String::from_utf8_lossy(&decode(names, find(names, true))).contains("Łukasz,Łuk"));
        // The last character of this sample is cut off.
        assert_eq!(find(&"größe".as_bytes()[..3], false).encoding, UTF_8);
    }
}
