"""Drives Label Studio through its API: a project, its backend, annotations, and the predictions that follow from them."""

from __future__ import annotations

import argparse
import json
import random
import time
import urllib.request
from typing import Any

GOOD = [
    "the battery lasts all day",
    "a bright and sharp screen",
    "works perfectly",
    "fast delivery and careful packing",
    "great value for the price",
    "my family loves it",
    "easy to set up",
    "very quiet motor",
]
BAD = [
    "it broke after a week",
    "the screen is scratched",
    "does not charge",
    "arrived late and damaged",
    "far too expensive",
    "returned it at once",
    "the manual is useless",
    "loud and smelly motor",
]
CONFIG = (
    '<View><Text name="text" value="$text"/><Choices name="label" toName="text" choice="single">'
    '<Choice value="good"/><Choice value="bad"/></Choices></View>'
)
# The number of tasks that are annotated; predictions are read for the others.
ANNOTATED = 24


class LabelStudio:
    """The API of a Label Studio server."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url.rstrip("/"), token

    def call(self, method: str, path: str, data: Any = None) -> Any:
        headers = {"Authorization": f"Token {self._token}", "Content-Type": "application/json"}
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self._url + path, method=method, data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=120) as reply:
            text = reply.read()
        return json.loads(text) if text else None


def wait_for(what: str, found: Any) -> Any:
    """Call `found` until it returns something, for at most a minute."""
    for _ in range(120):
        if result := found():
            return result
        time.sleep(0.5)
    raise TimeoutError(f"{what} did not happen within a minute")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--token", required=True)
    parser.add_argument("--backend", default="http://127.0.0.1:9090")
    options = parser.parse_args()
    api = LabelStudio(options.url, options.token).call
    rng = random.Random(1)
    reviews = {}
    for number in range(60):
        label, phrases = (("good", GOOD), ("bad", BAD))[number % 2]
        reviews[f"Review {number}: {', '.join(rng.sample(phrases, 2))}."] = label
    project = api("POST", "/api/projects/", {"title": "Reviews", "label_config": CONFIG})["id"]
    api("POST", f"/api/projects/{project}/import", [{"text": text} for text in reviews])
    connected = {"url": options.backend, "project": project, "title": "halfspaces"}
    backend = api("POST", "/api/ml/", connected)["id"]
    tasks = api("GET", f"/api/tasks?project={project}&page_size=200&fields=all")["tasks"]
    tasks.sort(key=lambda task: task["id"])
    truth = {task["id"]: reviews[task["data"]["text"]] for task in tasks}
    others = [task["id"] for task in tasks[ANNOTATED:]]

    def predictions(version: str) -> dict[int, Any]:
        """Retrieve predictions and wait for those of this version."""
        selected = {"selectedItems": {"all": True, "excluded": []}, "ordering": []}
        api("POST", f"/api/dm/actions?id=retrieve_tasks_predictions&project={project}", selected)

        def newest() -> dict[int, Any]:
            found = {task: api("GET", f"/api/predictions?task={task}") for task in others}
            last = {task: of_task[-1] for task, of_task in found.items() if of_task}
            return {task: given for task, given in last.items() if given["model_version"] == version}

        found: dict[int, Any] = wait_for(f"predictions of {version}", lambda: len(newest()) == len(others) and newest())
        chosen = {task: given["result"] and given["result"][0]["value"]["choices"][0] for task, given in found.items()}
        right = sum(chosen[task] == truth[task] for task in others)
        first = found[others[0]]
        print(
            f"{version}: {right} of {len(others)} predictions right; the first: {chosen[others[0]]}, {first['score']:.3f}"
        )
        return {task: (chosen[task], given["score"]) for task, given in found.items()}

    def annotate(task: int) -> None:
        value = {"choices": [truth[task]]}
        result = {"from_name": "label", "to_name": "text", "type": "choices", "value": value}
        api("POST", f"/api/tasks/{task}/annotations/", {"result": [result]})

    def learned(count: int) -> None:
        wanted = f"halfspaces-{count}"
        wait_for(wanted, lambda: api("GET", f"/api/ml/{backend}")["model_version"] == wanted)

    predictions("untrained")
    before: dict[int, Any] = {}
    for count, task in enumerate(tasks[:ANNOTATED], start=1):
        annotate(task["id"])
        if count == ANNOTATED // 2:
            learned(count)
            before = predictions(f"halfspaces-{count}")
    learned(ANNOTATED)
    after = predictions(f"halfspaces-{ANNOTATED}")
    print(f"{sum(before[task] != after[task] for task in others)} predictions changed")
    annotation = api("GET", f"/api/tasks/{tasks[0]['id']}/annotations/")[0]["id"]
    api("DELETE", f"/api/annotations/{annotation}/")
    learned(ANNOTATED - 1)
    api("POST", f"/api/ml/{backend}/train", {})
    print(f"after one annotation was deleted: halfspaces-{ANNOTATED - 1}")


if __name__ == "__main__":
    main()
