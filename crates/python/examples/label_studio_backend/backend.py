"""A machine learning backend for Label Studio: text classification with `HalfspaceClassifier`.

It implements Label Studio's protocol for backends over HTTP and needs only halfspaces and scikit-learn. It learns from
every submitted, updated or deleted annotation, keeps the labels in a file, and predicts a choice with its probability.

    python backend.py --port 9090 --folder backend-data
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import threading
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline

from halfspaces import HalfspaceClassifier

LOG = logging.getLogger("backend")

# HalfspaceClassifier estimates its probabilities on held-out rows, so it needs several rows of each class.
ENOUGH = 5


class Config(NamedTuple):
    """The parts of a labelling configuration that the backend reads and fills in."""

    choices: str
    text: str
    field: str


class Label(NamedTuple):
    """The label of an annotation."""

    text: str
    choice: str
    task: str


def parse_config(label_config: str) -> Config:
    """Find the first `Choices` about a `Text`, and the field of the task that this text shows."""
    root = ElementTree.fromstring(label_config)
    fields = {text.get("name"): text.get("value", "") for text in root.iter("Text")}
    for choices in root.iter("Choices"):
        name, text = choices.get("name"), choices.get("toName")
        value = fields.get(text, "")
        if name and text and value.startswith("$"):
            return Config(name, text, value[1:])
    raise ValueError('the labelling configuration has no Choices about a Text with value="$field"')


def choice_of(result: list[dict[str, Any]], config: Config) -> str | None:
    """Return the choice in the result of an annotation."""
    for part in result:
        chosen = part.get("value", {}).get("choices")
        if part.get("from_name") == config.choices and chosen:
            return str(chosen[0])
    return None


class Project:
    """The labels of a project and the model that was fitted to them."""

    def __init__(self, folder: Path, name: str) -> None:
        self._file = folder / f"labels-{name}.json"
        self._lock = threading.Lock()
        # Maps the number of an annotation to the text, the label and the number of its task.
        self._labels: dict[str, Label] = {}
        self._model: Pipeline | None = None
        self.version = "untrained"
        if self._file.exists():
            self._labels = {key: Label(*entry) for key, entry in json.loads(self._file.read_text()).items()}
            self._fit()

    def change(self, added: dict[str, Label], removed: Callable[[str, Label], bool]) -> None:
        """Add labels, remove those of which `removed` is true, save all, and fit again."""
        with self._lock:
            labels = {**self._labels, **added}
            self._labels = {key: label for key, label in labels.items() if not removed(key, label)}
            written = self._file.with_suffix(".new")
            written.write_text(json.dumps(self._labels))
            os.replace(written, self._file)
            self._fit()

    def _fit(self) -> None:
        texts = [label.text for label in self._labels.values()]
        labels = [label.choice for label in self._labels.values()]
        counts = {label: labels.count(label) for label in labels}
        if len(counts) < 2 or min(counts.values()) < ENOUGH:
            self._model, self.version = None, "untrained"
            LOG.info("%s: too few labels: %s", self._file.stem, counts)
            return
        model = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), HalfspaceClassifier())
        self._model = model.fit(texts, labels)
        self.version = f"halfspaces-{len(labels)}"
        LOG.info("%s: fitted on %s", self._file.stem, counts)

    def predict(self, texts: list[str], config: Config) -> list[dict[str, Any]]:
        """Return a prediction in Label Studio's format for each text; predictions are empty if there is no model yet."""
        with self._lock:
            model, version = self._model, self.version
        if model is None:
            return [{"result": [], "score": 0.0, "model_version": version} for _ in texts]
        # With few labels, the probabilities can be equal although the decision values differ.
        found = []
        for name, shares in zip(model.predict(texts), model.predict_proba(texts), strict=True):
            value = {"choices": [str(name)]}
            result = {"from_name": config.choices, "to_name": config.text, "type": "choices", "value": value}
            score = float(shares[list(model.classes_).index(name)])
            found.append({"result": [result], "score": score, "model_version": version})
        return found


class Backend:
    """All projects of one Label Studio server."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lock = threading.Lock()
        self._projects: dict[str, Project] = {}

    def _project(self, uid: Any) -> Project:
        # Label Studio sends "3.1700000000" in some requests and {"id": 3, ...} in others.
        number = uid.get("id") if isinstance(uid, dict) else str(uid).split(".")[0]
        name = str(int(number))
        with self._lock:
            if name not in self._projects:
                self._projects[name] = Project(self._folder, name)
            return self._projects[name]

    def setup(self, data: dict[str, Any]) -> dict[str, Any]:
        parse_config(data["schema"])
        return {"model_version": self._project(data["project"]).version}

    def predict(self, data: dict[str, Any]) -> dict[str, Any]:
        config, project = parse_config(data["label_config"]), self._project(data["project"])
        texts = [str(task["data"].get(config.field, "")) for task in data["tasks"]]
        return {"results": project.predict(texts, config), "model_version": project.version}

    def webhook(self, data: dict[str, Any]) -> dict[str, Any]:
        action, project = data.get("action"), self._project(data["project"])
        config = parse_config(data["project"]["label_config"])
        if action in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED"):
            task = {**data["task"], "annotations": [data["annotation"]]}
            added, without = labels_of([task], config)
            project.change(added, lambda key, _: key in without)
        elif action == "ANNOTATIONS_DELETED":
            gone = {str(annotation["id"]) for annotation in data["annotations"]}
            project.change({}, lambda key, _: key in gone)
        elif action == "TASKS_DELETED":
            gone = {str(task["id"]) for task in data["tasks"]}
            project.change({}, lambda _, label: label.task in gone)
        elif action == "START_TRAINING":
            added, _ = labels_of(exported(data["project"]["id"]), config)
            project.change(added, lambda key, _: key not in added)
        return {"model_version": project.version}

    def train(self, data: dict[str, Any]) -> dict[str, Any]:
        project = self._project(data["project"])
        added, without = labels_of(data["annotations"], parse_config(data["label_config"]))
        project.change(added, lambda key, _: key in without)
        return {"model_version": project.version}


def labels_of(tasks: list[dict[str, Any]], config: Config) -> tuple[dict[str, Label], set[str]]:
    """Return the labels in the annotations of these tasks, and the numbers of annotations without a label."""
    added: dict[str, Label] = {}
    without = set()
    for task in tasks:
        for annotation in task.get("annotations", []):
            key, choice = str(annotation["id"]), choice_of(annotation.get("result", []), config)
            if choice is None or annotation.get("was_cancelled"):
                without.add(key)
            else:
                added[key] = Label(str(task["data"].get(config.field, "")), choice, str(task.get("id", "")))
    return added, without


def exported(project: int) -> list[dict[str, Any]]:
    """Return the annotated tasks of a project, from the API of Label Studio."""
    url, token = os.environ.get("LABEL_STUDIO_URL"), os.environ.get("LABEL_STUDIO_API_KEY")
    if not url or not token:
        raise ValueError("START_TRAINING needs LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY in the environment")
    address = f"{url.rstrip('/')}/api/projects/{project}/export?exportType=JSON"
    request = urllib.request.Request(address, headers={"Authorization": f"Token {token}"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        tasks: list[dict[str, Any]] = json.load(reply)
    return tasks


def handler_of(backend: Backend) -> type[BaseHTTPRequestHandler]:
    """Return the handler of the requests of Label Studio."""
    actions = {
        "/setup": backend.setup,
        "/predict": backend.predict,
        "/webhook": backend.webhook,
        "/train": backend.train,
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path in ("/", "/health"):
                self._reply(200, {"status": "UP", "model_class": "HalfspaceClassifier"})
            else:
                self._reply(404, {"error": "not found"})

        def do_POST(self) -> None:
            action = actions.get(self.path)
            if action is None:
                self._reply(404, {"error": "not found"})
                return
            try:
                data = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                answer = action(data)
            except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
                LOG.exception("%s failed", self.path)
                self._reply(400, {"error": f"{type(error).__name__}: {error}"})
                return
            self._reply(200, answer)

        def _reply(self, code: int, answer: dict[str, Any]) -> None:
            body = json.dumps(answer).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: Any) -> None:
            LOG.info("%s", format % values)

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description="A Label Studio backend with HalfspaceClassifier.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9090)
    parser.add_argument("--folder", type=Path, default=Path("backend-data"), help="where the labels are kept")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    server = ThreadingHTTPServer((options.host, options.port), handler_of(Backend(options.folder)))
    LOG.info("listening on http://%s:%s", options.host, server.server_port)
    server.serve_forever()


if __name__ == "__main__":
    main()
