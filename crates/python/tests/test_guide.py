"""The Python examples of the documentation run, each page in a folder with the tables that it names."""

import pathlib
import re
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
TABLES = [
    *(ROOT / "examples" / "tables").glob("*.csv"),
    *(ROOT / "crates" / "cli" / "tests" / "data").glob("digits.*"),
]


def blocks(page: pathlib.Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.S | re.M)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_the_examples_run(page: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for table in TABLES:
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page):
        exec(block, names)


def test_each_task_has_an_example() -> None:
    tasks = {page.stem for page in PAGES if blocks(page)}
    assert tasks >= {"README", "label", "wrong-labels", "noise", "text", "embeddings", "scatter", "streams"}
