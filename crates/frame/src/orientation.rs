//! The orientation of photographs. Cameras store the pixels in the order in which the sensor reads them. They also
//! store a tag that says how to turn the image.

/// The tag of the orientation in Exif data, and the type of its value, which is a number of two bytes.
const ORIENTATION: u16 = 0x0112;
const SHORT: u16 = 3;
/// The length in bytes of an entry of Exif data.
const ENTRY: usize = 12;

/// The orientation in Exif data, from 1 (upright) to 8. It is 1 if the data have no valid orientation.
pub(crate) fn of_exif(exif: &[u8]) -> u8 {
    read(exif).filter(|orientation| (1..=8).contains(orientation)).unwrap_or(1)
}

fn read(exif: &[u8]) -> Option<u8> {
    let data = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    let is_little = match data.get(..2)? {
        b"II" => true,
        b"MM" => false,
        _ => return None,
    };
    let two = |at: usize| {
        let bytes: [u8; 2] = data.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let four = |at: usize| {
        let bytes: [u8; 4] = data.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    let first = usize::try_from(four(4)?).ok()?;
    let entries = usize::from(two(first)?);
    let entry = |number: usize| first.checked_add(2 + number * ENTRY);
    let found = (0..entries).filter_map(entry).find(|at| two(*at) == Some(ORIENTATION))?;
    (two(found + 2)? == SHORT).then(|| two(found + 8))?.and_then(|value| u8::try_from(value).ok())
}

/// Turns an image upright. `pixels` are the red, green and blue values of `width` x `height` pixels, row by row.
/// Returns the width, the height and the pixels of the upright image.
pub(crate) fn upright(
    orientation: u8,
    (width, height): (usize, usize),
    pixels: Vec<u8>,
) -> (usize, usize, Vec<u8>) {
    let (across, down) = if orientation < 5 { (width, height) } else { (height, width) };
    let source = |x: usize, y: usize| match orientation {
        2 => (width - 1 - x, y),
        3 => (width - 1 - x, height - 1 - y),
        4 => (x, height - 1 - y),
        5 => (y, x),
        6 => (y, height - 1 - x),
        7 => (width - 1 - y, height - 1 - x),
        _ => (width - 1 - y, x),
    };
    if orientation == 1 {
        return (width, height, pixels);
    }
    let mut turned = Vec::with_capacity(pixels.len());
    for y in 0..down {
        for x in 0..across {
            let (from, row) = source(x, y);
            turned.extend_from_slice(&pixels[3 * (row * width + from)..][..3]);
        }
    }
    (across, down, turned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exif data with one other tag and an orientation.
    fn exif(orientation: u16, kind: u16, little: bool) -> Vec<u8> {
        let two = |n: u16| if little { n.to_le_bytes() } else { n.to_be_bytes() };
        let four = |n: u32| if little { n.to_le_bytes() } else { n.to_be_bytes() };
        let mut data = if little { b"II".to_vec() } else { b"MM".to_vec() };
        data.extend(two(42));
        data.extend(four(8));
        data.extend(two(2));
        for (tag, value) in [(0x010f, 9), (ORIENTATION, orientation)] {
            data.extend([two(tag), two(kind)].concat());
            data.extend(four(1));
            data.extend([two(value), two(0)].concat());
        }
        data
    }

    #[test]
    fn orientations_are_read_from_exif() {
        for little in [true, false] {
            for orientation in 1..=8 {
                let data = exif(orientation, SHORT, little);
                assert_eq!(u16::from(of_exif(&data)), orientation);
                assert_eq!(u16::from(of_exif(&[b"Exif\0\0", &data[..]].concat())), orientation);
                for cut in 0..data.len() - 2 {
                    assert_eq!(of_exif(&data[..cut]), 1, "{cut}");
                }
            }
            for (orientation, kind) in [(0, SHORT), (9, SHORT), (0x0106, SHORT), (6, 4)] {
                assert_eq!(of_exif(&exif(orientation, kind, little)), 1);
            }
        }
        assert_eq!((of_exif(b""), of_exif(b"II*\0\xff\xff\xff\xff")), (1, 1));
    }

    /// The expected images were worked out by hand for the image with the rows abc and def.
    #[test]
    fn images_are_turned_upright() {
        for (orientation, size, expected) in [
            (1, (3, 2), "abcdef"),
            (2, (3, 2), "cbafed"),
            (3, (3, 2), "fedcba"),
            (4, (3, 2), "defabc"),
            (5, (2, 3), "adbecf"),
            (6, (2, 3), "daebfc"),
            (7, (2, 3), "fcebda"),
            (8, (2, 3), "cfbead"),
        ] {
            let pixels = b"abcdef".iter().flat_map(|letter| [*letter; 3]).collect();
            let (width, height, turned) = upright(orientation, (3, 2), pixels);
            let expected: Vec<u8> = expected.bytes().flat_map(|letter| [letter; 3]).collect();
            assert_eq!(((width, height), turned), (size, expected), "{orientation}");
        }
    }
}
