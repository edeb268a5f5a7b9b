"""Runs every notebook of the folder ``notebooks``."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        # Notebooks are committed without outputs.
        assert cell.cell_type != "code" or (cell.outputs == [] and cell.execution_count is None), cell.source
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(path.parent))
