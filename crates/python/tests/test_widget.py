"""The Python side of the widget: messages of the page, and the state that it shows."""

import base64
import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

import halfspaces
from halfspaces import Labeler, LabelWidget

# Presses keys in the script of the page, with a document that does nothing, and prints the messages that it sends.
PRESS = """
class Element {
  constructor() { this.style = {}; this.listeners = {}; }
  addEventListener(name, listener) { this.listeners[name] = listener; }
  append() {} setAttribute() {} replaceChildren() {} focus() {}
  contains() { return false; }
}
globalThis.document = { createElement: () => new Element() };
const { default: page } = await import("./widget.mjs");
const question = { row: 3, class: 1, probability: null };
const state = { question, classes: ["a", "b"], keys: ["1", "2"], expected: [0, 0, 0] };
let root, draw;
const sent = [];
const model = { get: () => state, send: (message) => sent.push(message), on: (_, drawn) => { draw = drawn; }, off() {} };
page.render({ model, el: { append: (made) => { root = made; } } });
for (const [key, repeat] of JSON.parse(process.argv[2])) {
  let kept = 0;
  const keep = () => { kept += 1; };
  root.listeners.keydown({ key, repeat, target: root, preventDefault: keep, stopPropagation: keep });
  if (kept !== 2) throw new Error(`the notebook also gets ${key}`);
  draw();
}
console.log(JSON.stringify(sent));
"""


def send(widget: LabelWidget, **message: Any) -> dict[str, Any]:
    """Send a message as the page does, and return the state that it then shows."""
    widget.widget._handle_custom_msg(message, [])
    state: dict[str, Any] = widget.widget.state
    return state


@pytest.fixture
def digits() -> tuple[LabelWidget, Any]:
    data = load_digits()
    widget = LabelWidget(Labeler(data.data[:80], classes=range(10)), data.images[:80], title="Which digit?")
    return widget, data.target


def test_clicks_answer_the_questions(digits: tuple[LabelWidget, Any]) -> None:
    widget, truth = digits
    state = widget.widget.state
    assert state["title"] == "Which digit?" and state["classes"] == [str(digit) for digit in range(10)]
    assert state["keys"] == state["classes"]
    assert state["question"]["probability"] is None
    asked = []
    for count in range(10):
        row = state["question"]["row"]
        asked.append(row)
        assert widget.labeler.ask() is not None and widget.labeler.ask().row == row  # type: ignore[union-attr]
        state = send(widget, do="answer", row=row, **{"class": int(truth[row])})
        assert state["labelled"] == count + 1 and state["error"] == ""
    assert widget.labeler.labels_ == {row: truth[row] for row in asked}
    assert state["corrections"] == widget.labeler.progress.corrections
    # The browser may repeat a message, or a second page may be one question behind.
    assert send(widget, do="answer", row=asked[-1], **{"class": 0})["labelled"] == 10
    state = send(widget, do="undo")
    assert state["labelled"] == 9 and state["question"]["row"] == asked[-1]
    state = send(widget, do="skip", row=asked[-1])
    assert widget.labeler.skipped_ == [asked[-1]] and state["question"]["row"] != asked[-1]
    send(widget, do="uncertain", row=state["question"]["row"])
    assert widget.labeler.uncertain_ == [state["question"]["row"]]


def test_wrong_messages_are_errors_that_are_shown(digits: tuple[LabelWidget, Any]) -> None:
    widget, _ = digits
    row, shown = widget.widget.state["question"]["row"], widget.widget.state["shown"]
    for message in ({"do": "answer", "row": row, "class": 10}, {"do": "answer", "row": row, "class": "3"}, {"do": "x"}):
        state = send(widget, **message)
        assert state["error"] and state["question"]["row"] == row and state["labelled"] == 0
    assert "nothing to undo" in send(widget, do="undo")["error"]
    # Each message gets a reply, even one that changes nothing.
    assert widget.widget.state["shown"] == shown + 4
    assert send(widget, do="refresh")["error"] == ""


def test_a_label_is_about_the_question_that_the_caller_has_seen(digits: tuple[LabelWidget, Any]) -> None:
    widget, truth = digits
    question = widget.labeler.ask()
    assert question is not None
    labels = {question.row: int(truth[question.row])}
    state = send(widget, do="answer", row=question.row, **{"class": labels[question.row]})
    for act in (lambda: widget.labeler.tell(3), widget.labeler.confirm, widget.labeler.skip, widget.labeler.uncertain):
        with pytest.raises(ValueError, match="call ask"):
            act()
    assert widget.labeler.labels_ == labels
    # The widget takes back an answer, which the caller has not seen either.
    send(widget, do="answer", row=state["question"]["row"], **{"class": 0})
    send(widget, do="undo")
    with pytest.raises(ValueError, match="call ask"):
        widget.labeler.tell(3)
    assert widget.labeler.labels_ == labels


def test_answers_from_python_are_shown_after_a_refresh(digits: tuple[LabelWidget, Any]) -> None:
    widget, _ = digits
    widget.labeler.ask()
    widget.labeler.confirm()
    assert widget.widget.state["labelled"] == 0
    widget.refresh()
    assert widget.widget.state["labelled"] == 1


def test_a_finished_session_has_no_question() -> None:
    widget = LabelWidget(Labeler([[0.0], [1.0]], classes=["a", "b"]))
    for _ in range(2):
        state = send(widget, do="answer", row=widget.widget.state["question"]["row"], **{"class": 1})
    assert state["question"] is None and state["item"] is None and not state["can_stop"]
    assert send(widget, do="undo")["question"] is not None


def image_of(state: dict[str, Any]) -> Any:
    head, data = state["item"]["url"].split(",")
    assert head == "data:image/png;base64"
    return matplotlib.image.imread(io.BytesIO(base64.b64decode(data)))


def test_images_are_shown(digits: tuple[LabelWidget, Any]) -> None:
    images = load_digits().images
    widget, _ = digits
    state = widget.widget.state
    np.testing.assert_allclose(image_of(state), images[state["question"]["row"]] / 16, atol=1 / 255)
    colours = np.random.default_rng(0).integers(0, 256, (2, 5, 7, 3), dtype=np.uint8)
    widget = LabelWidget(Labeler([[0.0], [1.0]], classes=["a", "b"]), colours)
    state = widget.widget.state
    np.testing.assert_allclose(image_of(state)[..., :3], colours[state["question"]["row"]] / 255, atol=1e-6)


def test_texts_tables_and_files_are_shown(tmp_path: Path) -> None:
    def item(items: Any) -> Any:
        widget = LabelWidget(Labeler([[0.0], [1.0]], classes=["a", "b"]), items)
        return widget.widget.state["item"], widget.widget.state["question"]["row"]

    shown, row = item(["<b>one</b>", "two"])
    assert shown == {"kind": "text", "text": ["<b>one</b>", "two"][row]}
    shown, row = item(pd.Series(["one", "two"], index=[5, 6]))
    assert shown["text"] == ["one", "two"][row]
    shown, row = item(pd.DataFrame({"name": ["ann", "bob"], "age": [41.5, 2.0]}))
    assert shown == {"kind": "table", "cells": [("name", ["ann", "bob"][row]), ("age", ["41.5", "2"][row])], "more": 0}
    shown, row = item(np.arange(100).reshape(2, 50))
    assert len(shown["cells"]) == 40 and shown["more"] == 10 and shown["cells"][1] == ("x1", str(50 * row + 1))
    shown, row = item(sparse.csr_matrix([[0.0, 2.0], [0.0, 3.0]]))
    assert shown["cells"] == [("x1", "23"[row])]
    files = [tmp_path / "0.jpg", tmp_path / "1.jpg"]
    for file in files:
        file.write_bytes(file.name.encode())
    shown, row = item(files)
    assert shown["url"] == "data:image/jpeg;base64," + base64.b64encode(f"{row}.jpg".encode()).decode()


def test_wrong_items() -> None:
    labeler = Labeler([[0.0], [1.0]], classes=["a", "b"])
    with pytest.raises(TypeError, match="must be a Labeler"):
        LabelWidget([[0.0]])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="3 items for 2 rows"):
        LabelWidget(labeler, ["a", "b", "c"])
    with pytest.raises(ValueError, match="images have the shape"):
        LabelWidget(labeler, np.zeros((2, 4, 4, 2)))
    with pytest.raises(ValueError, match="not the name of a PNG"):
        LabelWidget(labeler, [Path("a.tiff"), Path("b.tiff")])


def test_the_page_is_in_the_package(digits: tuple[LabelWidget, Any]) -> None:
    widget, _ = digits
    bundle = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    script = str(widget.widget._esm)
    assert "export default { render }" in script and "://" not in script and "import(" not in script


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the script of the page")
def test_holding_a_key_answers_once(tmp_path: Path) -> None:
    script = Path(halfspaces.__file__).with_name("_widget.js").read_text()
    (tmp_path / "widget.mjs").write_text(script)
    (tmp_path / "press.mjs").write_text(PRESS)
    for key in ["Enter", "1", "s", "?", "u"]:
        keys = json.dumps([[key, False], [key, True], [key, True]])
        done = subprocess.run(["node", "press.mjs", keys], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert len(json.loads(done.stdout)) == 1, key
