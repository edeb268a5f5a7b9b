//! Decodes PNG and JPEG images, and reduces them to a small grid of grey values or to a thumbnail.

use crate::orientation::{of_exif, upright};
use std::io::Cursor;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// The maximum number of pixels of an image.
const MAX_PIXELS: usize = 1 << 26;
/// The weights of red, green and blue in a grey value (ITU-R BT.601).
const LUMA: [f64; 3] = [0.299, 0.587, 0.114];
const WHITE: u32 = 255;

/// A decoded image. Transparent parts of the image become white.
///
/// ```
/// use halfspaces_frame::Picture;
/// let picture = Picture::new(2, 1, vec![0, 0, 0, 255, 255, 255]);
/// assert_eq!(picture.grey(1), [127.5]);
/// let again = Picture::decode(&picture.thumbnail(64)?)?;
/// assert_eq!(again, picture);
/// assert!(Picture::decode(b"GIF89a").unwrap_err().contains("neither a PNG nor a JPEG"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    width: usize,
    height: usize,
    /// The red, green and blue values of each pixel, row by row.
    pixels: Vec<u8>,
}

impl Picture {
    /// Creates an image from the red, green and blue values of each pixel, row by row.
    ///
    /// # Panics
    /// Panics if there is no pixel or if the number of values is not three times the number of pixels.
    #[must_use]
    pub fn new(width: usize, height: usize, pixels: Vec<u8>) -> Picture {
        assert!(width > 0 && height > 0, "an image has pixels");
        assert_eq!(pixels.len(), 3 * width * height, "three values for each pixel");
        Picture { width, height, pixels }
    }

    /// Decodes the first frame of a PNG or JPEG file, which may have at most 2^26 pixels, and turns it upright
    /// if it has an orientation tag (Exif).
    ///
    /// # Errors
    /// Returns an error if the file is neither PNG nor JPEG, is damaged, or is too large.
    pub fn decode(bytes: &[u8]) -> Result<Picture, String> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Picture::decode_png(bytes),
            [0xff, 0xd8, 0xff, ..] => Picture::decode_jpeg(bytes),
            _ => Err("the file is neither a PNG nor a JPEG image; convert it".to_owned()),
        }
    }

    fn decode_png(bytes: &[u8]) -> Result<Picture, String> {
        let failed = |error: png::DecodingError| format!("the PNG image is damaged: {error}");
        let limits = png::Limits { bytes: 8 * MAX_PIXELS };
        let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(failed)?;
        let (width, height) = (reader.info().width as usize, reader.info().height as usize);
        check_size(width, height)?;
        let orientation = reader.info().exif_metadata.as_deref().map_or(1, of_exif);
        let size = reader.output_buffer_size().ok_or("the PNG image is too large")?;
        let mut values = vec![0; size];
        let info = reader.next_frame(&mut values).map_err(failed)?;
        values.truncate(info.buffer_size());
        let on_white = |value: u8, alpha: u8| {
            let (value, alpha) = (u32::from(value), u32::from(alpha));
            ((value * alpha + WHITE * (WHITE - alpha) + WHITE / 2) / WHITE) as u8
        };
        let pixels = match info.color_type.samples() {
            1 => values.iter().flat_map(|grey| [*grey; 3]).collect(),
            2 => values.chunks_exact(2).flat_map(|of| [on_white(of[0], of[1]); 3]).collect(),
            3 => values,
            _ => {
                let pixel = |of: &[u8]| [0, 1, 2].map(|k| on_white(of[k], of[3]));
                values.chunks_exact(4).flat_map(pixel).collect()
            }
        };
        let (width, height, pixels) = upright(orientation, (width, height), pixels);
        Ok(Picture { width, height, pixels })
    }

    fn decode_jpeg(bytes: &[u8]) -> Result<Picture, String> {
        let options = DecoderOptions::default()
            .jpeg_set_out_colorspace(ColorSpace::RGB)
            .set_max_width(MAX_PIXELS)
            .set_max_height(MAX_PIXELS);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers().map_err(|e| format!("the JPEG image is damaged: {e}"))?;
        let (width, height) = decoder.dimensions().ok_or("the JPEG image has no size")?;
        check_size(width, height)?;
        let pixels = decoder.decode().map_err(|e| format!("the JPEG image is damaged: {e}"))?;
        if pixels.len() != 3 * width * height {
            return Err("the colours of the JPEG image are not supported; convert it to RGB".into());
        }
        let orientation = decoder.exif().map_or(1, |exif| of_exif(exif));
        let (width, height, pixels) = upright(orientation, (width, height), pixels);
        Ok(Picture { width, height, pixels })
    }

    /// Converts the image to a grid of `side` times `side` grey values from 0 (black) to 255, row by row. The image is
    /// stretched to a square, and each value is the average over its part of the image.
    ///
    /// # Panics
    /// Panics if `side` is 0.
    #[must_use]
    pub fn grey(&self, side: usize) -> Vec<f64> {
        self.resized(side, side).into_iter().map(grey).collect()
    }

    /// Returns how the colours differ from grey, on a grid of `side` times `side` cells: for each cell, row by row, the
    /// average red value minus the grey value, and the average blue value minus the grey value. Both are 0 for a grey
    /// cell. Together with [`Picture::grey`], they determine the average colour of the cell.
    ///
    /// ```
    /// use halfspaces_frame::Picture;
    /// let red = Picture::new(1, 1, vec![100, 0, 0]);
    /// let differences = red.colour_differences(1);
    /// assert!((differences[0] - 70.1).abs() < 1e-9 && (differences[1] + 29.9).abs() < 1e-9);
    /// ```
    ///
    /// # Panics
    /// Panics if `side` is 0.
    #[must_use]
    pub fn colour_differences(&self, side: usize) -> Vec<f64> {
        let differences = |of: [f64; 3]| [of[0] - grey(of), of[2] - grey(of)];
        self.resized(side, side).into_iter().flat_map(differences).collect()
    }

    /// Encodes the image as a PNG file, after reducing its sides to at most `most` pixels.
    ///
    /// # Errors
    /// Returns an error if the image cannot be encoded.
    pub fn thumbnail(&self, most: usize) -> Result<Vec<u8>, String> {
        let longest = self.width.max(self.height).max(most);
        let side = |length: usize| (length * most / longest).max(1);
        let (width, height) = (side(self.width), side(self.height));
        let round = |value: f64| (value + 0.5) as u8;
        let values = self.resized(width, height).into_iter();
        let pixels: Vec<u8> = values.flat_map(|of| of.map(round)).collect();
        let mut file = Vec::new();
        let failed = |error: png::EncodingError| error.to_string();
        let mut encoder = png::Encoder::new(&mut file, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().map_err(failed)?;
        writer.write_image_data(&pixels).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(file)
    }

    /// Averages the colours over each cell of a grid with `width` columns and `height` rows.
    fn resized(&self, width: usize, height: usize) -> Vec<[f64; 3]> {
        let (across, down) = (parts(self.width, width), parts(self.height, height));
        let mut all = Vec::with_capacity(width * height);
        for (top, rows) in &down {
            for (left, columns) in &across {
                let mut sum = [0.0; 3];
                for (y, row) in rows.iter().enumerate() {
                    for (x, column) in columns.iter().enumerate() {
                        let at = 3 * ((top + y) * self.width + left + x);
                        let pixel = &self.pixels[at..at + 3];
                        sum.iter_mut()
                            .zip(pixel)
                            .for_each(|(s, p)| *s += row * column * f64::from(*p));
                    }
                }
                all.push(sum);
            }
        }
        all
    }
}

/// The grey value of a colour.
fn grey(of: [f64; 3]) -> f64 {
    (0..3).map(|k| LUMA[k] * of[k]).sum()
}

fn check_size(width: usize, height: usize) -> Result<(), String> {
    match width.checked_mul(height) {
        Some(pixels) if (1..=MAX_PIXELS).contains(&pixels) => Ok(()),
        _ => Err(format!(
            "the image has {width} x {height} pixels; at most 67 million are supported"
        )),
    }
}

/// Divides `len` pixels into `count` equal parts. Returns the first pixel of each part and the weights of the pixels in
/// the part, which add up to 1.
fn parts(len: usize, count: usize) -> Vec<(usize, Vec<f64>)> {
    assert!(count > 0, "a grid has parts");
    let part = |number: usize| {
        // The start and the end are measured in units of 1/count of a pixel.
        let (start, end) = (number * len, (number + 1) * len);
        let (first, last) = (start / count, (end - 1) / count);
        let weight = |pixel: usize| {
            let covered = end.min((pixel + 1) * count) - start.max(pixel * count);
            covered as f64 / len as f64
        };
        (first, (first..=last).map(weight).collect())
    };
    (0..count).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes values of any PNG type as a PNG file.
    fn png_of(
        color: png::ColorType,
        depth: png::BitDepth,
        size: (u32, u32),
        data: &[u8],
    ) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, size.0, size.1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == png::ColorType::Indexed {
            encoder.set_palette(vec![10, 20, 30, 200, 100, 0]);
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(data).unwrap();
        writer.finish().unwrap();
        file
    }

    #[test]
    fn all_kinds_of_png_become_red_green_and_blue() {
        use png::{BitDepth::*, ColorType::*};
        for (color, depth, data, expected) in [
            (Grayscale, Eight, &[7, 90][..], [7, 7, 7, 90, 90, 90]),
            (Grayscale, One, &[0b1000_0000], [255, 255, 255, 0, 0, 0]),
            (Grayscale, Sixteen, &[7, 99, 90, 0], [7, 7, 7, 90, 90, 90]),
            (GrayscaleAlpha, Eight, &[0, 0, 100, 255], [255, 255, 255, 100, 100, 100]),
            (Rgb, Eight, &[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
            // Half-transparent black becomes grey.
            (Rgba, Eight, &[0, 0, 0, 128, 4, 5, 6, 255], [127, 127, 127, 4, 5, 6]),
            (Indexed, One, &[0b0100_0000], [10, 20, 30, 200, 100, 0]),
        ] {
            let picture = Picture::decode(&png_of(color, depth, (2, 1), data)).unwrap();
            assert_eq!(picture, Picture::new(2, 1, expected.to_vec()), "{color:?} {depth:?}");
        }
    }

    #[test]
    fn a_grid_has_the_averages_of_its_parts() {
        let grey = |values: &[u8]| values.iter().flat_map(|v| [*v; 3]).collect::<Vec<u8>>();
        // If three pixels are divided into two parts, each part has one and a half pixels.
        let picture = Picture::new(3, 1, grey(&[30, 60, 90]));
        let near = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        };
        near(picture.grey(2), &[40.0, 80.0, 40.0, 80.0]);
        near(picture.grey(1), &[60.0]);
        // If the image is enlarged, each pixel is repeated.
        near(Picture::new(2, 1, grey(&[8, 4])).grey(4)[..4].to_vec(), &[8.0, 8.0, 4.0, 4.0]);
        // Green has the largest weight in the grey value.
        near(Picture::new(1, 1, vec![100, 0, 0]).grey(1), &[29.9]);
        near(Picture::new(1, 1, vec![0, 100, 0]).grey(1), &[58.7]);
        let small = Picture::decode(&Picture::new(4, 2, vec![9; 24]).thumbnail(2).unwrap());
        assert_eq!(small, Ok(Picture::new(2, 1, vec![9; 6])));
    }

    /// The left half of the stored image is dark, and the tag of the image says that the camera was turned by 90
    /// degrees. So the upper half of the upright image is dark.
    #[test]
    fn photographs_are_turned_upright() {
        let photograph = Picture::decode(include_bytes!("turned.jpg")).unwrap();
        assert_eq!((photograph.width, photograph.height), (8, 16));
        let halves = photograph.grey(2);
        assert!(halves[..2].iter().all(|v| *v < 40.0) && halves[2..].iter().all(|v| *v > 180.0));
        let mut file = Vec::new();
        let mut info = png::Info::with_size(2, 1);
        info.color_type = png::ColorType::Grayscale;
        info.bit_depth = png::BitDepth::Eight;
        let tag = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x03\0\0";
        info.exif_metadata = Some(tag[..].into());
        let mut writer = png::Encoder::with_info(&mut file, info).unwrap().write_header().unwrap();
        writer.write_image_data(&[7, 90]).unwrap();
        writer.finish().unwrap();
        let expected = Picture::new(2, 1, vec![90, 90, 90, 7, 7, 7]);
        assert_eq!(Picture::decode(&file).unwrap(), expected);
    }

    #[test]
    fn damaged_and_huge_images_are_refused() {
        let file = png_of(png::ColorType::Grayscale, png::BitDepth::Eight, (2, 1), &[1, 2]);
        for cut in 0..file.len() - 12 {
            assert!(Picture::decode(&file[..cut]).is_err(), "{cut}");
        }
        let mut huge = file.clone();
        huge[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        assert!(Picture::decode(&huge).is_err());
        assert!(check_size(1 << 13, 1 << 13).is_ok());
        assert!(check_size(1 << 13, (1 << 13) + 1).unwrap_err().contains("67 million"));
        assert!(Picture::decode(&[0xff, 0xd8, 0xff, 0xe0, 0, 2]).unwrap_err().contains("JPEG"));
    }
}
