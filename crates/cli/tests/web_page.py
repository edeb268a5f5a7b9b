"""Labels the digits on the page with the keyboard, like a person, in headless Chromium. Run it manually:

    cargo build --release -p halfspaces-cli
    python3 crates/cli/tests/web_page.py --program target/release/halfspaces --pictures /tmp/pictures

Checks that every digit gets its true label, that the page contacts no other server, and that HTML in texts is shown as text.
Prints the number of corrections and the time per answer, from the key press to the next question on the page. --pictures DIR
saves screenshots: light and dark, wide and narrow. --large 300 also answers 300 questions about a generated pool of 100 000 rows
and 100 columns. Needs only Python and Chromium.
"""

import argparse
import array
import base64
import json
import pathlib
import random
import re
import secrets
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

DATA = pathlib.Path(__file__).resolve().parent / "data"

PROGRAMS = []


class Browser:
    """Chromium, controlled through its debugging protocol over a WebSocket."""

    def __init__(self, chromium, folder):
        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )
        port = None
        for line in self.process.stderr:
            found = re.search(r"ws://127\.0\.0\.1:(\d+)/", line)
            if found:
                port = int(found.group(1))
                break
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
        path = next(p for p in pages if p["type"] == "page")["webSocketDebuggerUrl"].split(str(port), 1)[1]
        self.socket = socket.create_connection(("127.0.0.1", port))
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.stream = self.socket.makefile("rb")
        while self.stream.readline().strip():
            pass
        self.number, self.events = 0, []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def read(self):
        text = b""
        while True:
            first, second = self.stream.read(2)
            size = second & 127
            if size == 126:
                (size,) = struct.unpack(">H", self.stream.read(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self.stream.read(8))
            text += self.stream.read(size)
            if first & 128:
                return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        text = json.dumps({"id": self.number, "method": method, "params": parameters}).encode()
        mask = secrets.token_bytes(4)
        size = struct.pack(">BH", 254, len(text)) if len(text) < 65536 else struct.pack(">BQ", 255, len(text))
        if len(text) < 126:
            size = struct.pack(">B", 128 | len(text))
        self.socket.sendall(b"\x81" + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(text)))
        while True:
            message = self.read()
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def key(self, key):
        code = {"Enter": 13}.get(key, ord(key.upper()) if len(key) == 1 else 0)
        text = "\r" if key == "Enter" else key
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def picture(self, file, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        time.sleep(0.3)
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        file.write_bytes(base64.b64decode(image))

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self):
        logged = [e["params"]["entry"]["text"] for e in self.events if e["method"] == "Log.entryAdded"]
        return logged + [str(e["params"]) for e in self.events if e["method"] == "Runtime.exceptionThrown"]

    def close(self):
        self.process.terminate()
        self.process.wait()


def write_png(file, values):
    """Writes 8 x 8 grey values as PNG."""
    rows = b"".join(b"\0" + bytes(255 - 15 * v for v in values[8 * i : 8 * i + 8]) for i in range(8))
    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))


def start(program, folder, arguments):
    process = subprocess.Popen(
        [program, "label", *arguments, "--web"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    PROGRAMS.append(process)
    for line in process.stderr:
        if line.startswith("open "):
            return process, line.split()[1]
    sys.exit("the program printed no address")


SHOWN = "document.getElementById('row').textContent"
READY = """new Promise((done) => { const look = () => (state && state.question && document.getElementById('row').textContent)
    || (state && !state.question) ? done(true) : setTimeout(look, 5); look(); })"""
# Measures the time from the key press to the next question, inside the page.
CLOCK = """
    window.waits = [];
    const row = document.getElementById('row');
    document.addEventListener('keydown', () => { window.pressed = performance.now(); }, true);
    new MutationObserver(() => { if (window.pressed) { window.waits.push(performance.now() - window.pressed); window.pressed = 0; } })
        .observe(row, { childList: true, characterData: true, subtree: true });
"""

# Delays the reply to every answer.
SLOW = """
    const fetchNow = window.fetch;
    window.fetch = async (path, request) => {
      const reply = await fetchNow(path, request);
      if (path === '/api/answer') await new Promise((resume) => { setTimeout(resume, 800); });
      return reply;
    };
"""


def digits(options, browser, folder):
    truth = (DATA / "digits.csv").read_text().split()[1:]
    bytes_ = (DATA / "digits.npy").read_bytes()[-64 * len(truth) :]
    (folder / "images").mkdir()
    for row in range(len(truth)):
        write_png(folder / "images" / f"{row:04}.png", bytes_[64 * row : 64 * row + 64])
    classes = ",".join(map(str, range(10)))
    arguments = [str(DATA / "digits.npy"), "--items", "images", "--classes", classes, "--session", "s.jsonl", "-o", "labels.csv"]
    program, address = start(options.program, folder, arguments)
    browser.call("Page.navigate", url=address)
    time.sleep(1)
    browser.value(READY)
    assert "token" not in browser.value("location.href"), "the token must not stay in the address"
    browser.call("Page.reload")
    time.sleep(1)
    browser.value(READY)
    browser.value(CLOCK)
    asked = 0
    while True:
        shown = browser.value(f"state.question ? [{SHOWN}, state.classes[state.question.class]] : null")
        if shown is None:
            break
        row, guess = int(re.match(r"row (\d+)", shown[0]).group(1)), shown[1]
        if options.pictures and asked == 150:
            for name, width, height, dark in [("wide-light", 1280, 800, False), ("wide-dark", 1280, 800, True), ("narrow-light", 390, 844, False), ("narrow-dark", 390, 844, True)]:
                browser.picture(options.pictures / f"digits-{name}.png", width, height, dark)
            browser.call("Emulation.clearDeviceMetricsOverride")
        browser.key("Enter" if guess == truth[row] else truth[row])
        asked += 1
        deadline = time.time() + 5
        while browser.value(f"busy || (state.question && {SHOWN} === {json.dumps(shown[0])})"):
            assert time.time() < deadline, f"row {row} stays after its answer"
    waited = waits(browser)
    corrections = browser.value("state.progress.corrections")
    if options.pictures:
        browser.picture(options.pictures / "digits-done.png", 1280, 800, False)
    browser.value("ending = true; stop()")
    assert program.wait(10) == 0
    labels = [line.split(",")[2] for line in (folder / "labels.csv").read_text().splitlines()[1:]]
    assert labels == truth, "every digit must have its true label"
    print(f"{asked} digits labelled by keys, {corrections} corrections; {waited}")


def waits(browser):
    found = sorted(browser.value("window.waits"))
    p = lambda share: found[min(len(found) - 1, int(share * len(found)))]
    return f"key to next question p50 {p(.5):.1f} ms, p99 {p(.99):.1f} ms, most {found[-1]:.1f} ms"


def large(options, browser, folder):
    rows, columns = 100_000, 100
    draws = random.Random(1)
    values = array.array("d", (draws.gauss(0, 1) for _ in range(rows * columns)))
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".ljust(117) + "\n"
    (folder / "large.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + values.tobytes())
    slips = random.Random(2)
    truth = lambda row: ("in" if values[row * columns] + values[row * columns + 1] > 0 else "out") if slips.random() > 0.05 else "out"
    start_time = time.time()
    program, address = start(options.program, folder, ["large.npy", "--classes", "in,out", "--session", "l.jsonl"])
    print(f"page for {rows} rows and {columns} columns ready after {time.time() - start_time:.1f} s")
    browser.call("Page.navigate", url=address)
    time.sleep(1)
    browser.value(READY)
    browser.value(CLOCK)
    for _ in range(options.large):
        shown = browser.value(SHOWN)
        row = int(re.match(r"row (\d+)", shown).group(1))
        browser.key("1" if truth(row) == "in" else "2")
        while browser.value(f"busy || {SHOWN} === {json.dumps(shown)}"):
            pass
    print(f"{options.large} answers, {browser.value('state.progress.corrections')} corrections; {waits(browser)}")
    browser.value("ending = true; stop()")
    assert program.wait(10) == 0


def texts(options, browser, folder):
    evil = "<img src=http://evil.example/x.png onerror=document.title='broken'><script>document.title='broken'</script><b>bold</b>"
    rows = "".join(f'{i},{i % 3},"{evil} number {i}"\n' for i in range(20))
    (folder / "texts.csv").write_text("x,y,body\n" + rows)
    program, address = start(options.program, folder, ["texts.csv", "--show", "body", "--classes", "good <i>one</i>,bad", "--session", "t.jsonl"])
    browser.call("Page.navigate", url=address)
    time.sleep(1)
    browser.value(READY)
    for key in ("Enter", "2", "s", "u", "1"):
        browser.key(key)
        time.sleep(0.2)
    browser.value("document.getElementById('review').open = true")
    time.sleep(0.2)
    assert browser.value("document.getElementById('texts').querySelector('p').textContent").startswith(evil)
    assert browser.value("document.querySelectorAll('#item b:not(#marked-class), #marked-class *, #item script, #classes i, #recent b, #texts img').length") == 0
    assert browser.value("document.title") == "halfspaces label"
    assert browser.value("state.progress.answered") == 3
    if options.pictures:
        browser.picture(options.pictures / "texts.png", 1280, 800, False)
        browser.picture(options.pictures / "texts-narrow-dark.png", 390, 1200, True)
    # The person stops before the program has replied to the last answer.
    browser.value(SLOW)
    browser.key("1")
    browser.value("stop()")
    assert browser.value("ending && state.progress.answered") == 4
    browser.value("stop()")
    assert program.wait(10) == 0
    print("HTML in texts is shown as text")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=lambda path: str(pathlib.Path(path).resolve()), default="target/release/halfspaces")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--large", type=int, default=0, metavar="ANSWERS")
    options = parser.parse_args()
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        browser = Browser(options.chromium, folder / "profile")
        try:
            digits(options, browser, folder)
            texts(options, browser, folder)
            if options.large:
                large(options, browser, folder)
            foreign = [url for url in browser.requests() if not re.match(r"(blob:)?http://127\.0\.0\.1:\d+/|data:,|about:", url)]
            assert not foreign, foreign
            # A page that is loaded again asks for itself without the token first, and then with it.
            reloaded = "Failed to load resource: the server responded with a status of 401 (Unauthorized)"
            complaints = browser.complaints()
            assert complaints in ([], [reloaded]), complaints
            print("no request to another server, no error in the browser console")
        finally:
            browser.close()
            for program in PROGRAMS:
                program.kill()


if __name__ == "__main__":
    main()
