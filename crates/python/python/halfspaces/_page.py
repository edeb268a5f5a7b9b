"""The labelling page of the command, started from Python."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from halfspaces import _core
from halfspaces._base import check_number
from halfspaces._labeler import _checked_classes

_ADDRESS = "http://"


class LabelPage:
    """A running page of the command ``halfspaces label --web``; `label_page` starts it.

    Attributes
    ----------
    url : str
        The address of the page, for a browser on this machine.
    session : pathlib.Path
        The session file, in which each answer is saved at once.

    Examples
    --------
    >>> import halfspaces
    >>> X = [[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1]]
    >>> with halfspaces.label_page(X, ["left", "right"]) as page:
    ...     page.url.startswith("http://127.0.0.1:"), page.labels()
    (True, {})
    """

    def __init__(
        self, process: subprocess.Popen[str], session: Path, classes: list[Any], folder: Path, timeout: float
    ) -> None:
        self.session = session
        self._process = process
        self._classes = classes
        # The process and the folder exist as long as this object, at most until Python ends.
        weakref.finalize(self, _end, process, folder)
        self._lines: list[str] = []
        self._address: str | None = None
        self._started = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._started.wait(timeout):
            self.stop()
            raise TimeoutError(f"the page did not start within {timeout} s: {self._said()}")
        if self._address is None:
            self.stop()
            raise ValueError(f"the page did not start: {self._said()}")
        self.url: str = self._address

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._lines.append(line.rstrip())
            at = line.find(_ADDRESS)
            if at >= 0 and self._address is None:
                self._address = line[at:].split()[0]
                self._started.set()
        self._started.set()

    def _said(self) -> str:
        return "\n".join(self._lines[-20:])

    def wait(self, timeout: float | None = None) -> dict[int, Any]:
        """Wait until the person finishes the session on the page.

        Parameters
        ----------
        timeout : float or None, default=None
            The time in seconds. ``None`` waits without a limit.

        Returns
        -------
        dict
            The labels, as `labels` returns them.

        Raises
        ------
        TimeoutError
            If the session is not finished after this time.
        RuntimeError
            If the command ended with an error.
        """
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the session is still running after {timeout} s; its page is {self.url}") from None
        self._reader.join()
        # If `stop` or Ctrl-C ended the page, its exit code is that of the signal.
        signals = (signal.SIGINT, signal.SIGTERM)
        if code not in (0, *(-number for number in signals), *(128 + number for number in signals)):
            raise RuntimeError(f"the command ended with code {code}: {self._said()}")
        return self.labels()

    def stop(self) -> None:
        """Stop the page. No answer is lost; calling `label_page` again with the same `session` continues it."""
        _terminate(self._process)
        self._reader.join()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def labels(self) -> dict[int, Any]:
        """Return the labels so far, even while the session is running.

        Returns
        -------
        dict
            A dict that maps rows to classes, in the order in which rows were first labelled.
        """
        if not self.session.exists():
            return {}
        names, labels = _core.session_labels(self.session)
        classes = self._classes if [str(value) for value in self._classes] == names else names
        return {row: classes[number] for row, number in labels}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<LabelPage {self.url}: {'running' if self._process.poll() is None else 'ended'}>"


def _terminate(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _end(process: subprocess.Popen[str], folder: Path) -> None:
    _terminate(process)
    shutil.rmtree(folder, ignore_errors=True)


def label_page(
    data: Any,
    classes: Iterable[Hashable] = (),
    *,
    session: str | os.PathLike[str] | None = None,
    options: Iterable[str] = (),
    timeout: float = 300.0,
) -> LabelPage:
    """Start the labelling page of the command and return its address.

    Parameters
    ----------
    data : array-like, CSR matrix or path-like
        The rows, or a file or folder that the command reads: a table, an array, a folder of images. Rows that are not
        given as a path are saved in a temporary folder.
    classes : iterable of hashable, default=()
        The classes, at least two. They may be omitted if the session file exists.
    session : path-like or None, default=None
        The session file, which is created or continued. ``None`` creates one in a temporary folder. The folder and the
        answers in it are deleted together with the returned object, at the latest when Python ends.
    options : iterable of str, default=()
        Further options of ``halfspaces label``, such as ``["--text", "body", "--show", "body"]``.
    timeout : float, default=300.0
        The time in seconds within which the page must start.

    Returns
    -------
    LabelPage
        The page. It runs until the person finishes the session, until ``stop`` is called, or until Python ends.

    Raises
    ------
    ValueError
        If the command does not start. The message is that of the command.

    Examples
    --------
    >>> import halfspaces
    >>> with halfspaces.label_page([[1.0], [2.0], [9.0]], ["low", "high"]) as page:
    ...     page
    <LabelPage http://127...: running>
    """
    seconds = check_number("timeout", timeout)
    named = [] if isinstance(classes, tuple) and not classes else _checked_classes(classes)
    names = [str(value) for value in named]
    for name in names:
        if "," in name:
            raise ValueError(f"classes: {name!r} has a comma, by which the command separates classes; rename it")
    if isinstance(options, str):
        raise TypeError(f"options={options!r}: must be a list of options, one string for each word")
    given = _checked(data)
    folder = Path(tempfile.mkdtemp(prefix="halfspaces-"))
    path = given if isinstance(given, Path) else _saved(given, folder)
    file = folder / "session.jsonl" if session is None else Path(session)
    arguments = [sys.executable, "-m", "halfspaces", "label", str(path), "--web", "--session", str(file)]
    if names:
        arguments.append(f"--classes={','.join(names)}")
    process = subprocess.Popen(
        [*arguments, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    return LabelPage(process, file, named, folder, seconds)


def _checked(data: Any) -> Any:
    if isinstance(data, (str, os.PathLike)):
        path = Path(data)
        if not path.exists():
            raise ValueError(f"data={str(path)!r}: there is no such file or folder")
        return path
    if hasattr(data, "tocsr"):
        return data.tocsr()
    array = np.asarray(data)
    if array.ndim != 2 or not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
        raise ValueError(
            f"data: an array of shape {array.shape} and type {array.dtype}; it must contain numbers in two dimensions, "
            "or be a path"
        )
    return array


def _saved(rows: Any, folder: Path) -> Path:
    if hasattr(rows, "tocsr"):
        sparse.save_npz(folder / "rows.npz", rows)
        return folder / "rows.npz"
    np.save(folder / "rows.npy", rows)
    return folder / "rows.npy"


__all__ = ["LabelPage", "label_page"]
