//! Images of rows. No file outside the folder that the person named is ever read.

use crate::error::CliError;
use halfspaces_frame::{Column, Picture, by_numbers};
use halfspaces_labelling::{ItemKey, ShownImages};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Extensions and MIME types of image formats that browsers display and that cannot contain scripts.
const KINDS: [(&str, &str); 7] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("bmp", "image/bmp"),
    ("avif", "image/avif"),
];
/// Maximum width and height of a small image, in pixels.
const THUMBNAIL: usize = 96;
/// Maximum size of an image in bytes.
const MAX_BYTES: u64 = 1 << 26;
/// Number of bytes that are hashed at each end of a large image. All formats except BMP are compressed, so different
/// images differ in these bytes.
const ENDS: usize = 1 << 12;

#[derive(Debug)]
pub(super) struct Images {
    column: String,
    /// The folder that contains all images, as a canonical path.
    root: PathBuf,
    /// The folder to which the names are relative.
    folder: PathBuf,
    /// The file name of each row, as given.
    names: Vec<Option<String>>,
}

impl Images {
    /// The images that a column names, relative to `folder`. Returns an error if a name refers to a file outside
    /// `root`, through a link or through `..`.
    pub(super) fn from_column(
        column: &Column,
        folder: &Path,
        root: &Path,
        place: impl Fn(usize) -> String,
    ) -> Result<Images, CliError> {
        let name = |row| (!column.values.is_missing(row)).then(|| column.values.text(row));
        let images = Images {
            column: column.name.clone(),
            root: canonical(root)?,
            folder: canonical(folder)?,
            names: (0..column.values.len()).map(name).collect(),
        };
        for (row, name) in images.names.iter().enumerate() {
            if let Some(name) = name {
                let at = |why| {
                    CliError::user(format!("{}, column `{}`: {why}", place(row), column.name))
                };
                images.resolve(name).map_err(at)?;
            }
        }
        Ok(images)
    }

    /// The images of a folder, one per row, in the order of their names; numbers in names are compared by value.
    pub(super) fn from_folder(folder: &Path, rows: usize) -> Result<Images, CliError> {
        let shown = folder.display();
        let failed =
            |error: std::io::Error| CliError::user(format!("{shown}: cannot be read: {error}"));
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if let (Some(name), Some(_)) =
                (path.file_name().and_then(|name| name.to_str()), kind(&path))
            {
                names.push(name.to_owned());
            }
        }
        names.sort_by(|a, b| by_numbers(a, b));
        if names.len() != rows {
            return Err(CliError::user(format!(
                "{shown}: {} images for {rows} rows; the folder needs one image per row, and the rows must be in the \
                order of the image names; otherwise, pass a CSV file with a column of paths (--items FILE --image \
                COLUMN)",
                names.len()
            )));
        }
        let root = canonical(folder)?;
        let names = names.into_iter().map(Some).collect();
        let images = Images { column: "image".to_owned(), folder: root.clone(), root, names };
        for name in images.names.iter().flatten() {
            images.resolve(name).map_err(|why| CliError::user(format!("{shown}: {why}")))?;
        }
        Ok(images)
    }

    /// The name of the column that contains the names.
    pub(super) fn column(&self) -> &str {
        &self.column
    }

    /// The folder to which the names are relative, as a canonical path.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn rows(&self) -> usize {
        self.names.len()
    }

    /// The number of names whose backslashes are read as slashes.
    pub(super) fn backslashes(&self) -> usize {
        let names = self.names.iter().flatten();
        names.filter(|name| name.contains('\\') && !self.folder.join(name).exists()).count()
    }

    /// The MIME type and the bytes of a row's image. The path is checked again, because links may have changed since
    /// the program started.
    pub(super) fn read(&self, row: usize) -> Result<(&'static str, Vec<u8>), CliError> {
        let name =
            self.name(row).ok_or_else(|| CliError::user(format!("row {row} has no image")))?;
        let (kind, path) = self.resolve(name).map_err(CliError::user)?;
        let bytes =
            std::fs::read(path).map_err(|error| CliError::user(format!("{name}: {error}")))?;
        Ok((kind, bytes))
    }

    /// The MIME type and the bytes of a small version of a row's image. If the image is neither PNG nor JPEG, they are
    /// those of the image itself.
    pub(super) fn thumbnail(&self, row: usize) -> Result<(&'static str, Vec<u8>), CliError> {
        let (kind, bytes) = self.read(row)?;
        let small = Picture::decode(&bytes).and_then(|picture| picture.thumbnail(THUMBNAIL));
        Ok(small.map_or((kind, bytes), |small| ("image/png", small)))
    }

    /// The canonical path of a file. Backslashes are read as slashes if the file is not found otherwise.
    fn find(&self, name: &str) -> Result<PathBuf, String> {
        let found = self.folder.join(name).canonicalize();
        let Err(error) = found else { return found.map_err(|error| error.to_string()) };
        if let Some(scheme) = scheme(name) {
            return Err(format!(
                "{name} is a web address ({scheme}:); only local files can be shown: download the images and pass \
                 their paths"
            ));
        }
        if !name.contains('\\') {
            return Err(format!("{name}: {error}"));
        }
        let slashed = name.replace('\\', "/");
        self.folder.join(slashed).canonicalize().map_err(|error| {
            format!(
                "{name}: the path contains backslashes, as on Windows, and it is not found with slashes either: {error}"
            )
        })
    }

    fn resolve(&self, name: &str) -> Result<(&'static str, PathBuf), String> {
        let path = self.find(name)?;
        if !path.starts_with(&self.root) {
            let root = self.root.display();
            return Err(format!(
                "{name} leads out of {root}; if this is intended, pass a folder that contains it with --image-root"
            ));
        }
        let Some(kind) = kind(&path) else {
            let kinds = KINDS.map(|(ending, _)| ending).join(", ");
            return Err(format!(
                "{name} does not have the file extension of an image; the supported extensions are {kinds}"
            ));
        };
        match path.metadata() {
            Ok(data) if !data.is_file() => Err(format!("{name} is not a regular file")),
            Ok(data) if data.len() > MAX_BYTES => Err(format!("{name} is larger than 64 MB")),
            Ok(_) => Ok((kind, path)),
            Err(error) => Err(format!("{name}: {error}")),
        }
    }
}

impl ShownImages for Images {
    fn contents(&self) -> Result<Vec<Option<String>>, CliError> {
        let content = |name: &String| {
            let (kind, path) = self.resolve(name).map_err(CliError::user)?;
            content(&path, kind == "image/bmp")
                .map_err(|error| CliError::user(format!("{name}: {error}")))
        };
        self.names.iter().map(|name| name.as_ref().map(content).transpose()).collect()
    }

    fn name(&self, row: usize) -> Option<&str> {
        self.names.get(row).and_then(Option::as_deref)
    }
}

/// The scheme of a URL: at least two characters before a colon. A single letter is a Windows drive.
fn scheme(name: &str) -> Option<&str> {
    let (scheme, _) = name.trim_start().split_once(':')?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let begins = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (scheme.len() > 1 && begins && scheme.chars().all(fits)).then_some(scheme)
}

/// A hash of the length and all bytes of a file; if the file is large and `whole` is false, of its length and the bytes
/// at both ends only.
fn content(path: &Path, whole: bool) -> io::Result<String> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut bytes = len.to_le_bytes().to_vec();
    if whole || len <= 4 * ENDS as u64 {
        file.read_to_end(&mut bytes)?;
    } else {
        let mut end = vec![0; ENDS];
        file.read_exact(&mut end)?;
        bytes.extend_from_slice(&end);
        file.seek(SeekFrom::Start(len - ENDS as u64))?;
        file.read_to_end(&mut bytes)?;
    }
    Ok(ItemKey::of_bytes(&bytes).to_string())
}

fn canonical(folder: &Path) -> Result<PathBuf, CliError> {
    folder.canonicalize().map_err(|error| CliError::user(format!("{}: {error}", folder.display())))
}

/// Whether a text ends with the extension of an image.
pub(super) fn is_image(text: &str) -> bool {
    kind(Path::new(text)).is_some()
}

fn kind(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    KINDS.iter().find(|(known, _)| *known == ending).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_frame::Values;

    fn column(names: &[&str]) -> Column {
        let codes = (0..names.len() as u32).collect();
        Column { name: "image".into(), values: Values::texts(codes, names) }
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("items");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        for file in ["secret.png", "items/a.png", "items/sub/b.png", "items/text.txt"] {
            std::fs::write(outer.path().join(file), file).unwrap();
        }
        let of = |name: &str| {
            Images::from_column(&column(&[name]), &folder, &folder, |row| {
                format!("items.csv, row {row}")
            })
        };
        for name in ["a.png", "sub/b.png", "sub/../a.png"] {
            assert!(of(name).unwrap().read(0).unwrap().1.ends_with(b".png"), "{name}");
        }
        let absolute = outer.path().join("secret.png");
        for name in
            ["../secret.png", "sub/../../secret.png", absolute.to_str().unwrap(), "/etc/hostname"]
        {
            let error = of(name).unwrap_err().to_string();
            assert!(
                error.starts_with("items.csv, row 0, column `image`: ")
                    && error.contains("leads out of"),
                "{error}"
            );
        }
        assert!(
            of("text.txt")
                .unwrap_err()
                .to_string()
                .contains("not have the file extension of an image")
        );
        // A Windows path.
        assert!(of(r"sub\b.png").unwrap().read(0).unwrap().1.ends_with(b".png"));
        assert_eq!(of(r"sub\b.png").unwrap().backslashes(), 1);
        assert!(of(r"sub\none.png").unwrap_err().to_string().contains("backslashes"));
        let error = of("https://example.org/a.png").unwrap_err().to_string();
        assert!(error.contains("is a web address"), "{error}");
        assert!(of("none.png").unwrap_err().to_string().contains("none.png"));
        // The outer folder may be named explicitly.
        let all = Images::from_column(&column(&["../secret.png"]), &folder, outer.path(), |_| {
            String::new()
        });
        assert_eq!(all.unwrap().read(0).unwrap(), ("image/png", b"secret.png".to_vec()));
        assert!(
            Images::from_folder(&folder, 2)
                .unwrap_err()
                .to_string()
                .contains("1 images for 2 rows")
        );
        assert_eq!(Images::from_folder(&folder, 1).unwrap().name(0), Some("a.png"));
    }

    /// A link that leads out of the folder is refused, even if it is created after the start.
    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_refused() {
        use std::os::unix::fs::symlink;
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("items");
        std::fs::create_dir(&folder).unwrap();
        let (secret, inside) = (outer.path().join("secret.png"), folder.join("a.png"));
        std::fs::write(&secret, "secret").unwrap();
        std::fs::write(&inside, "a").unwrap();
        symlink(&secret, folder.join("link.png")).unwrap();
        let of =
            |name: &str| Images::from_column(&column(&[name]), &folder, &folder, |_| String::new());
        assert!(of("link.png").unwrap_err().to_string().contains("leads out of"));
        let images = of("a.png").unwrap();
        std::fs::remove_file(&inside).unwrap();
        symlink(&secret, &inside).unwrap();
        assert!(images.read(0).unwrap_err().to_string().contains("leads out of"));
    }
}
