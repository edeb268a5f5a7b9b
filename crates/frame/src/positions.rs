//! Finds all occurrences of a byte in a text. If the occurrences are close together, this takes less time than a
//! separate search for each of them.

/// Returns the positions of a byte and of line ends in a text, in order.
pub(crate) fn positions(text: &[u8], byte: u8) -> Vec<u32> {
    const WIDTH: usize = 64;
    let mut places = Vec::with_capacity(text.len() / 4);
    let mut push = |block: &[u8; WIDTH], from: usize| {
        let mut found = mask(block, byte);
        while found != 0 {
            places.push((from + found.trailing_zeros() as usize) as u32);
            found &= found - 1;
        }
    };
    let (blocks, rest) = text.as_chunks::<WIDTH>();
    blocks.iter().zip(0..).for_each(|(block, at)| push(block, WIDTH * at));
    // The rest is padded with a byte that is not searched for.
    let filler = if byte == 0 { 1 } else { 0 };
    let mut last = [filler; WIDTH];
    last[..rest.len()].copy_from_slice(rest);
    push(&last, WIDTH * blocks.len());
    places
}

/// Returns a mask in which a bit is set for each byte that equals `byte` or is a line end. The lowest bit belongs to the
/// first byte.
#[inline]
fn mask(block: &[u8; 64], byte: u8) -> u64 {
    // Multiplying by this number moves the lowest bits of eight bytes to the top byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    // The compiler compares many bytes at once.
    let hits = block.map(|b| u8::from((b == byte) | (b == b'\n')));
    let (words, _) = hits.as_chunks::<8>();
    words
        .iter()
        .rev()
        .fold(0, |mask, word| mask << 8 | u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_positions_are_found(text in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b':'), Just(0), any::<u8>()], 0..300), byte in prop_oneof![Just(b':'), any::<u8>()]) {
            let is_searched = |at: &u32| text[*at as usize] == byte || text[*at as usize] == b'\n';
            let expected: Vec<u32> = (0..text.len() as u32).filter(is_searched).collect();
            prop_assert_eq!(positions(&text, byte), expected);
        }
    }
}
