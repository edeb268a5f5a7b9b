"""The Python examples of the documentation run, each page in a folder with the tables that it names."""

import pathlib
import re
import shutil
from typing import Any

import pandas as pd
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", ["text", "wrong-labels"])
def test_rows_of_an_audit_are_positions(page: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples that correct labels do not depend on the index of the table."""
    read_csv = pd.read_csv

    def turned(*args: Any, **options: Any) -> pd.DataFrame:
        table = read_csv(*args, **options)
        return table.set_index(table.index[::-1])

    corrected = []
    for read in (read_csv, turned):
        for table in TABLES:
            shutil.copy(table, tmp_path)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(pd, "read_csv", read)
        names: dict[str, Any] = {}
        exec(blocks(ROOT / "docs" / "guide" / f"{page}.md")[0], names)
        corrected.append(names["table" if page == "text" else "clean"].to_numpy())
    assert (corrected[0] == corrected[1]).all()


def test_each_task_has_an_example() -> None:
    tasks = {page.stem for page in PAGES if blocks(page)}
    assert tasks >= {"README", "label", "wrong-labels", "noise", "text", "embeddings", "scatter", "streams"}
