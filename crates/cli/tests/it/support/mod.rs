//! What the tests of `label`, `audit` and `transform` share.
#![allow(dead_code, reason = "every test file takes what it needs")]

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

/// Runs what must succeed, and hands out its standard output.
pub(crate) fn good(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs what must be refused: exit code 2, one line, which is handed out.
pub(crate) fn refused(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
    let lines: Vec<&str> = errors.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(lines.len(), 1, "{args:?}: {errors}");
    lines[0].to_owned()
}

/// Numbers that look random.
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

/// A pool of two columns in a file, with labels "in" and "out" that a circle explains.
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

/// The labels of a session file by row; panics if a row has two.
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

/// The digits of the images.
pub(crate) fn digits() -> Vec<String> {
    let text = fs::read_to_string(digits_folder().join("digits.csv")).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

/// A page that is served.
pub(crate) struct Page {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// What a server replies.
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
        let mut command = program(folder);
        let mut child = command.arg("label").args(args).arg("--web").stdin(Stdio::null());
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
        // The program never waits for a reader of its notes.
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let (port, token) = address.split_once("/?token=").unwrap();
        Page { child, port: port.parse().unwrap(), token: token.to_owned() }
    }

    /// Sends a request with these headers besides `Host`, unless they have one.
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
        let cut = || std::io::Error::other("the reply is cut off");
        let end = end.ok_or_else(cut)?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status =
            head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut)?;
        let body = bytes[end + 4..].to_vec();
        let length = |line: &str| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().unwrap())
        };
        match head.lines().find_map(length) {
            Some(length) if length != body.len() => Err(cut()),
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

    /// The state that the page is shown.
    pub(crate) fn state(&self) -> Value {
        self.get("/api/state").unwrap().json()["state"].clone()
    }

    /// Stops as the button does; the program ends well.
    pub(crate) fn stop(mut self) {
        self.post("/api/stop", &serde_json::json!({})).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
