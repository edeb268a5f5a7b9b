//! Reads folders of images as tables. Each image is a row, which contains the grey values of the image on a small grid
//! and, if the folder has images in colour, the colours on a coarser grid.

use crate::block::Block;
use crate::error::DataError;
use crate::frame::{Column, Frame, Places};
use crate::options::{Hints, ReadOptions};
use crate::picture::Picture;
use crate::typing::{ColumnRecord, ColumnRule, Kind};
use crate::values::{MISSING, Values};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// The name of the column of file names, which are relative to the folder.
const FILE: &str = "file";
/// The name of the column that contains the sub-folders as labels.
const LABEL: &str = "label";
/// The prefix of the column names of the grey values and of the colours.
const PIXEL: &str = "pixel";
/// The number of rows and the number of columns of the grid of grey values.
const SIDE: usize = 16;
/// The number of columns of grey values.
const GREYS: usize = SIDE * SIDE;
/// The number of rows and the number of columns of the grid of colours.
const COLOUR_SIDE: usize = 8;
/// The number of columns of colours.
const COLOURS: usize = 2 * COLOUR_SIDE * COLOUR_SIDE;
/// A part of an image is in colour if its red or blue value differs from its grey value by more than this. Grey
/// photographs that are stored in colour have small differences, which are due to rounding.
const MIN_COLOUR: f64 = 8.0;
/// The maximum size of an image file in bytes.
const MAX_BYTES: u64 = 1 << 26;
/// The extensions of image files that can be read.
const EXTENSIONS: [&str; 3] = ["png", "jpg", "jpeg"];
/// The number of images that a thread reads at a time.
const TOGETHER: usize = 16;
/// The maximum number of files listed in a note.
const LISTED: usize = 3;

/// Reads the images of a folder and of its sub-folders, in the order of their names. The columns are `file`, `label`
/// (if there are sub-folders with images), the grey values `pixel0` to `pixel255`, and the colours `pixel256` to
/// `pixel383`. The table has no colours if no image is in colour, unless they are expected.
pub(crate) fn read(
    folder: &Path,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let shown = folder.display();
    let mut files = Files::default();
    files.add(folder, None)?;
    files.images.sort_by(|(a, _), (b, _)| by_numbers(a, b));
    let Files { images, others } = files;
    if images.is_empty() {
        let is_file = |name: &&String| folder.join(name).is_file();
        let example = others.iter().find(is_file).map_or_else(String::new, |name| {
            format!(
                ", such as {}; if the files are parts of one table, join them first",
                folder.join(name).display()
            )
        });
        return Err(DataError::user(format!(
            "{shown}: neither the folder nor its sub-folders contain a PNG or JPEG image; to read a table, pass a file instead of the \
             folder{example}"
        )));
    }
    let grid = |(name, _): &(String, Option<String>)| {
        let failed =
            |why: String| DataError::user(format!("{}: {why}", folder.join(name).display()));
        let path = folder.join(name);
        let size = path.metadata().map_err(|error| failed(error.to_string()))?.len();
        if size > MAX_BYTES {
            return Err(failed("the file is larger than 64 MB".to_owned()));
        }
        let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let picture = Picture::decode(&bytes).map_err(failed)?;
        Ok([picture.grey(SIDE), picture.colour_differences(COLOUR_SIDE)].concat())
    };
    let blocks = options.threads.map_blocks(images.len(), TOGETHER, |rows| {
        let grids = images[rows].iter().map(grid).collect::<Result<Vec<Vec<f64>>, DataError>>();
        grids.map(|grids| grids.concat())
    });
    let mut values = blocks.into_iter().collect::<Result<Vec<Vec<f64>>, DataError>>()?.concat();
    let rows = || values.chunks_exact(GREYS + COLOURS);
    let is_coloured = rows().any(|row| row[GREYS..].iter().any(|v| v.abs() > MIN_COLOUR));
    let mut colours = GREYS..GREYS + COLOURS;
    let has_colours =
        is_coloured || colours.any(|number| hints.expected.contains(&format!("{PIXEL}{number}")));
    if !has_colours {
        values = rows().flat_map(|row| &row[..GREYS]).copied().collect();
    }
    let width = if has_colours { GREYS + COLOURS } else { GREYS };
    let (names, labels): (Vec<String>, Vec<Option<String>>) = images.into_iter().unzip();
    let texts = Values::texts((0..names.len() as u32).collect(), &names);
    let mut columns = vec![Column { name: FILE.to_owned(), values: texts }];
    if labels.iter().any(Option::is_some) {
        columns.push(Column { name: LABEL.to_owned(), values: categories(&labels) });
    }
    let files = names.iter().map(|name| folder.join(name).display().to_string()).collect();
    let mut frame = Frame::new(shown.to_string(), columns);
    frame.places = Places::files(files);
    let numbers = (0..width as u32).collect();
    frame.block = Some(Block::dense(PIXEL, values, numbers));
    let rule = ColumnRule { kind: Kind::Identifier, ..ColumnRule::category() };
    frame.records =
        vec![ColumnRecord::new(FILE, rule), ColumnRecord::new(LABEL, ColumnRule::verbatim())];
    frame.records.retain(|record| frame.columns.iter().any(|column| column.name == record.name));
    let colours = if has_colours {
        format!(" and {COLOUR_SIDE} x {COLOUR_SIDE} colours;")
    } else {
        ";".to_owned()
    };
    frame.notes.push(format!(
        "{shown}: {} images are read as {SIDE} x {SIDE} grey values{colours} proportions are ignored; for photographs, use your own \
         embeddings instead (a file X.npy)",
        names.len()
    ));
    if !others.is_empty() {
        let listed = others.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
        let more = if others.len() > LISTED { ", .." } else { "" };
        frame.notes.push(format!(
            "{shown}: files and folders left out, because only PNG and JPEG images in the folder and its sub-folders are read: {} ({listed}{more})",
            others.len()
        ));
    }
    Ok(frame)
}

fn categories(labels: &[Option<String>]) -> Values {
    let mut levels: Vec<&String> = labels.iter().flatten().collect();
    levels.sort_unstable();
    levels.dedup();
    let code = |label: &Option<String>| {
        let place = label.as_ref().and_then(|label| levels.binary_search(&label).ok());
        place.map_or(MISSING, |place| place as u32)
    };
    Values::texts(labels.iter().map(code).collect(), &levels)
}

impl Frame {
    /// Returns the column of image names of a table that was read from `path`, and the folder to which the names are
    /// relative. For a folder of images, this is the column `file`. For other tables, it is the first text column
    /// in which every cell that is not missing names a PNG or JPEG file below the folder of the table.
    ///
    /// ```
    /// use halfspaces_frame::{Column, Frame, Values};
    /// let names = Values::texts(vec![0], &["nowhere.png"]);
    /// let frame = Frame::new("t.csv", vec![Column { name: "photo".into(), values: names }]);
    /// assert_eq!(frame.image_column("t.csv".as_ref()), None);
    /// ```
    #[must_use]
    pub fn image_column(&self, path: &Path) -> Option<(&str, PathBuf)> {
        if self.is_folder() {
            return self.has(FILE).then(|| (FILE, path.to_owned()));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        let is_below = |name: &str| {
            let found = folder.join(name).canonicalize();
            is_image(Path::new(name)) && found.is_ok_and(|f| f.is_file() && f.starts_with(&folder))
        };
        let is_of_images = |column: &&Column| {
            let Values::Texts(_) = &column.values else { return false };
            let given = (0..self.rows).filter(|row| !column.values.is_missing(*row));
            let mut names = given.map(|row| column.values.text(row)).peekable();
            names.peek().is_some() && names.all(|name| is_below(&name))
        };
        let column = self.columns.iter().find(is_of_images)?;
        Some((&column.name, folder))
    }
}

/// Whether the name of a file has the extension of an image that can be read.
fn is_image(path: &Path) -> bool {
    let extension = path.extension().map(|ending| ending.to_ascii_lowercase());
    EXTENSIONS.iter().any(|known| extension.as_deref() == Some(known.as_ref()))
}

/// The files of a folder.
#[derive(Debug, Default)]
struct Files {
    /// The name of each image, relative to the folder, and its sub-folder if it is in one.
    images: Vec<(String, Option<String>)>,
    /// The names of other files and folders.
    others: Vec<String>,
}

impl Files {
    fn add(&mut self, folder: &Path, label: Option<&str>) -> Result<(), DataError> {
        let shown = folder.display();
        let failed = |error: std::io::Error| DataError::user(format!("{shown}: {error}"));
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let Some(name) = path.file_name() else {
                unreachable!("an entry of a folder has a name")
            };
            let name = name.to_string_lossy().into_owned();
            let full = label.map_or_else(|| name.clone(), |label| format!("{label}/{name}"));
            // Programs save copies and properties of files under names that begin with a dot.
            if name.starts_with('.') {
                self.others.push(full);
            } else if path.is_dir()
                && label.is_none()
                && path.file_name().is_some_and(|n| n.to_str().is_some())
            {
                self.add(&path, Some(&name))?;
            } else if path.is_file() && is_image(&path) && folder.join(&name).exists() {
                self.images.push((full, label.map(str::to_owned)));
            } else {
                self.others.push(full);
            }
        }
        self.others.sort_unstable();
        Ok(())
    }
}

/// Compares names character by character, but compares the numbers in them by value. So `9.png` comes before `10.png`.
///
/// ```
/// use std::cmp::Ordering;
/// assert_eq!(halfspaces_frame::by_numbers("9.png", "10.png"), Ordering::Less);
/// assert_eq!(halfspaces_frame::by_numbers("a1", "a01"), Ordering::Less);
/// ```
#[must_use]
pub fn by_numbers(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    while let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) {
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (p, q) = (digits(&mut a), digits(&mut b));
            let zeros = (p.len(), q.len());
            let (p, q) = (p.trim_start_matches('0'), q.trim_start_matches('0'));
            p.len().cmp(&q.len()).then(p.cmp(q)).then(zeros.0.cmp(&zeros.1))
        } else {
            (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
            x.cmp(&y)
        };
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// Splits the leading digits off a text and returns them.
fn digits<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (front, rest) = text.split_at(end);
    *text = rest;
    front
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Threads;

    fn write(path: &Path, grey: u8) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let picture = Picture::new(2, 2, vec![grey; 12]);
        std::fs::write(path, picture.thumbnail(2).unwrap()).unwrap();
    }

    #[test]
    fn sub_folders_are_labels() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, grey) in [("cat/10.png", 1), ("cat/9.PNG", 2), ("dog/1.png", 3), ("z.png", 4)] {
            write(&at(name), grey);
        }
        std::fs::create_dir(at("dog/deep")).unwrap();
        std::fs::write(at("readme.txt"), "").unwrap();
        write(&at(".checkpoints/1.png"), 5);
        std::fs::write(at("dog/._1.png"), "").unwrap();
        let options = ReadOptions { threads: Threads::new(2).unwrap(), ..ReadOptions::default() };
        let frame = crate::read(folder.path(), &options, &crate::Hints::default()).unwrap();
        let texts = |name: &str| {
            let values = frame.column(name).unwrap().into_owned();
            (0..frame.rows).map(|row| values.text(row)).collect::<Vec<String>>()
        };
        assert_eq!(texts("file"), ["cat/9.PNG", "cat/10.png", "dog/1.png", "z.png"]);
        assert_eq!(texts("label"), ["cat", "cat", "dog", ""]);
        assert!(frame.column("label").unwrap().is_missing(3));
        let block = frame.block.as_ref().unwrap();
        assert_eq!((block.dim(), block.name(255)), (256, "pixel255".to_owned()));
        let near = |a: &[f64], b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(&block.column(100), [2.0, 1.0, 3.0, 4.0]));
        assert_eq!(frame.place(2), at("dog/1.png").display().to_string());
        assert_eq!(frame.select_rows(&[2]).place(0), frame.place(2));
        // Models do not learn from the names of files.
        assert!(frame.record("file").unwrap().rule.kind.is_left_out());
        assert_eq!(frame.notes.len(), 2, "{:?}", frame.notes);
        assert!(frame.notes[0].contains("4 images are read as 16 x 16 grey values"));
        assert!(
            frame.notes[1].contains("4 (.checkpoints, dog/._1.png, dog/deep, ..)"),
            "{}",
            frame.notes[1]
        );
        assert!(frame.is_folder() && frame.into_rows(&[1]).is_folder());
    }

    /// A table has colours if an image is in colour or if a model expects colours.
    #[test]
    fn colours_are_columns_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, colour: [u8; 3]| {
            let picture = Picture::new(1, 1, colour.to_vec());
            std::fs::write(folder.path().join(name), picture.thumbnail(1).unwrap()).unwrap();
        };
        let read = |expected: &str| {
            let hints = Hints { expected: [expected.to_owned()].into(), ..Hints::default() };
            crate::read(folder.path(), &ReadOptions::default(), &hints).unwrap()
        };
        write("1.png", [50, 50, 50]);
        // Red and grey differ by 0.701 (51 - 40) = 7.7.
        write("2.png", [51, 40, 40]);
        let grey = read("pixel384");
        assert_eq!(grey.block.as_ref().unwrap().dim(), 256);
        assert!(grey.notes[0].contains("16 x 16 grey values; proportions"), "{:?}", grey.notes);
        for expected in ["pixel256", "pixel383"] {
            assert_eq!(read(expected).block.unwrap().dim(), 384);
        }
        // Red and grey differ by 0.701 (52 - 40) = 8.4.
        write("3.png", [52, 40, 40]);
        let coloured = read("");
        assert!(coloured.notes[0].contains("and 8 x 8 colours; proportions"));
        let block = coloured.block.unwrap();
        assert_eq!((block.dim(), block.name(383)), (384, "pixel383".to_owned()));
        let near = |a: Vec<f64>, b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(block.column(255), [50.0, 43.289, 43.588]));
        assert!(near(block.column(256), [0.0, 7.711, 8.412]));
        assert!(near(block.column(383), [0.0, -3.289, -3.588]));
    }

    #[test]
    fn columns_of_names_of_images_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir_all(data.join("sub")).unwrap();
        for name in ["a.png", "sub/b.PNG", "../c.png"] {
            write(&data.join(name), 1);
        }
        std::fs::write(data.join("d.txt"), "").unwrap();
        std::fs::create_dir(data.join("e.png")).unwrap();
        let found = |names: &[&str], codes: &[u32]| {
            let column = |name: &str, values| Column { name: name.into(), values };
            let numbers = Values::numbers(vec![1.0; codes.len()]);
            let names = Values::texts(codes.to_vec(), names);
            let columns = vec![column("x", numbers), column("photo", names)];
            let frame = Frame::new("t.csv", columns);
            let found = frame.image_column(&data.join("t.csv"));
            found.map(|(name, folder)| (name.to_owned(), folder))
        };
        let expected = Some(("photo".to_owned(), data.canonicalize().unwrap()));
        assert_eq!(found(&["a.png", "sub/b.PNG"], &[0, 1, MISSING, 0]), expected);
        for other in ["d.txt", "none.png", "../c.png", "e.png"] {
            assert_eq!(found(&["a.png", other], &[0, 1]), None, "{other}");
        }
        assert_eq!(found(&["a.png"], &[MISSING]), None);
        let frame =
            crate::read(&data.join("sub"), &ReadOptions::default(), &crate::Hints::default());
        let frame = frame.unwrap();
        assert_eq!(frame.image_column(&data.join("sub")), Some(("file", data.join("sub"))));
    }

    #[test]
    fn folders_without_images_and_damaged_images_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let read = || crate::read(folder.path(), &ReadOptions::default(), &crate::Hints::default());
        assert!(read().unwrap_err().to_string().contains("contain a PNG or JPEG image"));
        // The error names a file of the folder. An inspection reads the same folders as a fit.
        std::fs::write(folder.path().join("part.csv"), "x,y\n1,a\n").unwrap();
        let inspect =
            || crate::inspect(folder.path(), &ReadOptions::default(), &crate::Hints::default());
        for error in [read().unwrap_err(), inspect().unwrap_err()] {
            let expected = "part.csv; if the files are parts of one table, join them first";
            assert!(error.to_string().contains(expected), "{error}");
        }
        write(&folder.path().join("a.png"), 1);
        assert_eq!(read().unwrap().column_count(), 257);
        let found = inspect().unwrap();
        assert_eq!((found.reading.rows, found.reading.columns), (1, 257));
        // The grey values can be written as a table, which is read as the folder is.
        let mut text = Vec::new();
        found.write_csv(&mut text).unwrap();
        let written =
            crate::read_bytes("t.csv", text, &ReadOptions::default(), &crate::Hints::default());
        assert_eq!(written.unwrap().names(), read().unwrap().names());
        std::fs::write(folder.path().join("b.jpg"), "no image").unwrap();
        let error = read().unwrap_err().to_string();
        assert!(error.contains("b.jpg: the file is neither a PNG nor a JPEG image"), "{error}");
    }

    #[test]
    fn numbers_in_names_are_compared_by_value() {
        let mut names =
            ["10.png", "9.png", "a2.png", "a10.png", "a1b.png", "a1.png", "01.png", "1.png"];
        names.sort_by(|a, b| by_numbers(a, b));
        let sorted =
            ["1.png", "01.png", "9.png", "10.png", "a1.png", "a1b.png", "a2.png", "a10.png"];
        assert_eq!(names, sorted);
    }
}
