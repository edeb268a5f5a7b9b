//! Helpers shared by the tests.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The program, run in a folder.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halfspaces"));
    command.current_dir(folder).env("NO_COLOR", "1");
    command
}

pub(crate) fn run(folder: &Path, args: &[&str]) -> Output {
    program(folder).args(args).stdin(Stdio::null()).output().unwrap()
}

/// Runs a command that must succeed; returns its standard output.
pub(crate) fn good(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command line, split at spaces.
pub(crate) fn run_line(folder: &Path, line: &str) -> Output {
    run(folder, &line.split(' ').collect::<Vec<_>>())
}

/// Runs a command line, split at spaces, that must succeed; returns its standard output.
pub(crate) fn succeed(folder: &Path, line: &str) -> String {
    good(folder, &line.split(' ').collect::<Vec<_>>())
}

/// Runs a command that must be refused: exit code 2 and one error line, which is returned.
pub(crate) fn refused(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
    let lines: Vec<&str> = errors.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(lines.len(), 1, "{args:?}: {errors}");
    lines[0].to_owned()
}

/// A table of `rows` rows with columns a, b, colour and the label y, which is `p` if a + b > 0 or the colour is red.
pub(crate) fn table(rows: usize) -> String {
    let mut text = "a,b,colour,y\n".to_owned();
    for i in 0..rows {
        let a = ((i * 37) % 100) as f64 / 10.0 - 5.0;
        let b = ((i * 59 + 13) % 100) as f64 / 10.0 - 5.0;
        let colour = ["red", "green", "blue"][(i * 7 / 2) % 3];
        let label = if a + b > 0.0 || colour == "red" { "p" } else { "n" };
        text.push_str(&format!("{a},{b},{colour},{label}\n"));
    }
    text
}

/// An NPY file.
pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// A ZIP archive of these files.
pub(crate) fn npz(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The names in a directory, including hidden ones.
pub(crate) fn listing(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A small generator of pseudo-random numbers.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() * count as f64) as usize
    }
}

/// Writes a pool of two columns to pool.csv; returns its labels: "in" inside a circle, "out" outside.
pub(crate) fn pool(folder: &Path, rows: usize) -> Vec<&'static str> {
    let mut draws = Draws(7);
    let (mut text, mut truth) = (String::from("x,y\n"), Vec::new());
    for _ in 0..rows {
        let (x, y) = (4.0 * draws.next() - 2.0, 4.0 * draws.next() - 2.0);
        writeln!(text, "{x},{y}").unwrap();
        truth.push(if x * x + y * y < 2.0 { "in" } else { "out" });
    }
    fs::write(folder.join("pool.csv"), text).unwrap();
    truth
}

/// The labels of a session file by row; panics if a row is answered twice.
pub(crate) fn labels_of_session(path: &Path) -> BTreeMap<usize, String> {
    let text = fs::read_to_string(path).unwrap();
    let mut labels = BTreeMap::new();
    for line in text.lines().skip(1) {
        let event: Value = serde_json::from_str(line).unwrap();
        let row = event["row"].as_u64().unwrap() as usize;
        match event["event"].as_str().unwrap() {
            "answer" => {
                let class = event["class"].as_str().unwrap().to_owned();
                assert!(labels.insert(row, class).is_none(), "row {row} is answered twice");
            }
            "undo" => drop(labels.remove(&row)),
            "change" => drop(labels.insert(row, event["class"].as_str().unwrap().to_owned())),
            other => panic!("{other}"),
        }
    }
    labels
}

pub(crate) fn digits_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// The true digits of the images.
pub(crate) fn digits() -> Vec<String> {
    let text = fs::read_to_string(digits_folder().join("digits.csv")).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

/// A running program that serves the page.
pub(crate) struct Page {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// A reply of the server.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Page {
    /// Starts the program with `--web`.
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Page {
        Page::of(folder, &[&["label"], args, &["--web"]].concat())
    }

    /// Starts the program with a command that opens a page.
    pub(crate) fn of(folder: &Path, args: &[&str]) -> Page {
        let mut command = program(folder);
        let mut child = command.args(args).stdin(Stdio::null());
        child = child.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut seen = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(errors.read_line(&mut line).unwrap() > 0, "no address: {seen}");
            if let Some(address) = line.strip_prefix("open http://127.0.0.1:") {
                break address.trim().to_owned();
            }
            seen.push_str(&line);
        };
        // Reads the remaining notes, so that the program never blocks on a full pipe.
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let (port, token) = address.split_once("/?token=").unwrap();
        Page { child, port: port.parse().unwrap(), token: token.to_owned() }
    }

    /// Sends a request with these headers, and with a `Host` header unless they contain one.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> std::io::Result<Reply> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            write!(request, "Host: 127.0.0.1:{}\r\n", self.port).unwrap();
        }
        for (name, value) in headers {
            write!(request, "{name}: {value}\r\n").unwrap();
        }
        write!(request, "Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            .unwrap();
        stream.write_all(request.as_bytes())?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let truncated = || std::io::Error::other("the reply is truncated");
        let end = end.ok_or_else(truncated)?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status =
            head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(truncated)?;
        let body = bytes[end + 4..].to_vec();
        let length = |line: &str| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().unwrap())
        };
        match head.lines().find_map(length) {
            Some(length) if length != body.len() => Err(truncated()),
            _ => Ok(Reply { status, head, body }),
        }
    }

    pub(crate) fn get(&self, path: &str) -> std::io::Result<Reply> {
        let bearer = format!("Bearer {}", self.token);
        self.send("GET", path, &[("Authorization", &bearer)], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> std::io::Result<Reply> {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        self.send("POST", path, &headers, &body.to_string())
    }

    /// The state that the page receives.
    pub(crate) fn state(&self) -> Value {
        self.get("/api/state").unwrap().json()["state"].clone()
    }

    /// Stops the session as the button does; the program must succeed.
    pub(crate) fn stop(mut self) {
        self.post("/api/stop", &serde_json::json!({})).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
