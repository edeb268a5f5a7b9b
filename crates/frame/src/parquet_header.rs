//! Finds Parquet metadata that would keep the Parquet reader busy for a very long time.
//!
//! The metadata are a struct of the Thrift compact protocol. The Parquet reader skips an unknown list one element at a
//! time. It takes no bytes for a boolean, so damaged metadata of a few bytes can make it count to billions. The headers
//! of pages are not checked, because the reader also opens the file at positions other than those of these headers.

/// Maximum depth of a header. The Parquet reader rejects deeper headers.
const MAX_DEPTH: usize = 64;

/// Whether all lists and maps of a header together have more elements than the header has bytes. An element takes at
/// least one byte in a valid header. Returns `false` if the header is damaged in another way, because the Parquet
/// reader reports such damage.
pub(crate) fn has_endless_list(header: &[u8]) -> bool {
    let mut walk = Walk { rest: header, elements: header.len() as u64 };
    matches!(walk.fields(MAX_DEPTH), Err(Fault::Endless))
}

enum Fault {
    Endless,
    Damaged,
}

struct Walk<'h> {
    rest: &'h [u8],
    /// The number of list elements that may still be read.
    elements: u64,
}

impl Walk<'_> {
    fn byte(&mut self) -> Result<u8, Fault> {
        let (byte, rest) = self.rest.split_first().ok_or(Fault::Damaged)?;
        self.rest = rest;
        Ok(*byte)
    }

    fn number(&mut self) -> Result<u64, Fault> {
        let (mut value, mut shift) = (0, 0_u32);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            shift = shift.wrapping_add(7);
        }
    }

    fn skip(&mut self, bytes: u64) -> Result<(), Fault> {
        let rest = usize::try_from(bytes).ok().and_then(|bytes| self.rest.get(bytes..));
        self.rest = rest.ok_or(Fault::Damaged)?;
        Ok(())
    }

    /// Walks over the fields of a struct.
    fn fields(&mut self, depth: usize) -> Result<(), Fault> {
        loop {
            let head = self.byte()?;
            if head & 15 == 0 {
                return Ok(());
            }
            if head >> 4 == 0 {
                self.number()?;
            }
            self.value(head & 15, depth)?;
        }
    }

    /// Walks over a value of the type with this number.
    fn value(&mut self, kind: u8, depth: usize) -> Result<(), Fault> {
        let depth = depth.checked_sub(1).ok_or(Fault::Damaged)?;
        match kind {
            // A boolean is part of its type.
            1 | 2 => Ok(()),
            3 => self.skip(1),
            // Integers.
            4..=6 => self.number().map(|_| ()),
            7 => self.skip(8),
            // Bytes and texts.
            8 => {
                let bytes = self.number()?;
                self.skip(bytes)
            }
            // Lists and sets.
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                self.elements(count, &[head & 15], depth)
            }
            // Maps.
            11 => {
                let count = self.number()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                self.elements(count, &[kinds >> 4, kinds & 15], depth)
            }
            12 => self.fields(depth),
            13 => self.skip(16),
            _ => Err(Fault::Damaged),
        }
    }

    fn elements(&mut self, count: u64, kinds: &[u8], depth: usize) -> Result<(), Fault> {
        self.elements = self.elements.checked_sub(count).ok_or(Fault::Endless)?;
        for _ in 0..count {
            kinds.iter().try_for_each(|kind| self.value(*kind, depth))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_longer_than_the_header_are_found() {
        // Field 1: a list of 3 booleans, 3 integers, 16 booleans, and 2^31 - 1 booleans.
        assert!(!has_endless_list(&[0x19, 0x31, 0]));
        assert!(!has_endless_list(&[0x19, 0x35, 1, 2, 3, 0]));
        let sixteen = [0x19, 0xf1, 16, 0];
        let padded = |bytes: usize| [&sixteen[..], &[0; 16]].concat()[..bytes].to_vec();
        assert!(has_endless_list(&sixteen) && !has_endless_list(&padded(16)));
        assert!(has_endless_list(&padded(15)));
        assert!(has_endless_list(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0]));
        // The same in a set, in a map of booleans, in a struct with a long field number, and in a list of lists.
        assert!(has_endless_list(&[0x1a, 0xf1, 0xff, 0xff, 3, 0]));
        assert!(has_endless_list(&[0x1b, 0xff, 0xff, 3, 0x11, 0]));
        assert!(has_endless_list(&[0x0c, 0x80, 1, 0x19, 0xf1, 0xff, 0xff, 3, 0, 0]));
        let inner = [0xf1, 9];
        let lists = [&[0x19, 0xf9, 20][..], &inner.repeat(20), &[0]].concat();
        assert!(has_endless_list(&lists), "together");
        // Values of all other types are passed over.
        let long = [0x19, 0xf1, 0xff, 0xff, 3, 0];
        for value in [
            &[0x13, 7][..],
            &[0x14, 0x80, 1],
            &[0x17, 1, 2, 3, 4, 5, 6, 7, 8],
            &[0x18, 2, 0, 0],
            &[0x11],
            &[0x1b, 0],
        ] {
            assert!(has_endless_list(&[value, &long].concat()), "{value:?}");
        }
        assert!(has_endless_list(&[&[0x1d][..], &[0; 16], &long].concat()));
    }

    #[test]
    fn other_damage_is_left_to_the_reader() {
        for header in [&[][..], &[0], &[0x19], &[0x18, 200, 1], &[0x1e, 0], &[0x14, 0x80]] {
            assert!(!has_endless_list(header), "{header:?}");
        }
        // Too deep.
        assert!(!has_endless_list(&[[0x1c].repeat(200), vec![0x19, 0xf1, 0xff, 0xff, 3]].concat()));
    }
}
