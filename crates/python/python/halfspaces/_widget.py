"""A widget for notebooks that asks the questions of a `Labeler`."""

from __future__ import annotations

import base64
import functools
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from halfspaces import _core
from halfspaces._labeler import Labeler, Question

# At most this many columns of a row are shown.
_SHOWN = 40
# At most this many characters of a text are shown.
_CHARACTERS = 20_000


class LabelWidget:
    """A widget for notebooks around a `Labeler`: it shows an item, its predicted class, and a button for each class.

    While the widget has the focus, Enter confirms the prediction, the keys on the buttons choose a class, ``s`` skips
    the row, ``?`` marks it as uncertain, and ``u`` undoes the last answer. Every answer is passed to the labeler
    immediately, so the widget and Python code can take turns. After an answer from Python, `refresh` shows the current
    question.

    It needs anywidget: ``pip install "halfspaces[notebook]"``.

    Parameters
    ----------
    labeler : Labeler
        The session.
    items : array-like, data frame or None, default=None
        The items to show, one for each row: an array of images of shape (n_rows, height, width) or (n_rows, height,
        width, 3 or 4), a list of strings, a list of `pathlib.Path` of images, or a data frame or matrix, whose rows are
        shown as tables. Images that are not uint8 are scaled so that the smallest of all numbers is black and the
        largest is white.
    title : str, default=""
        A line above the item, such as a question for the annotator.

    Attributes
    ----------
    labeler : Labeler
        The session.
    widget : anywidget.AnyWidget
        The widget itself, for use in layouts of ipywidgets. Its trait ``state`` contains the content that the page
        shows.

    Examples
    --------
    >>> import halfspaces
    >>> labeler = halfspaces.Labeler([[1.0], [2.0], [9.0]], classes=["low", "high"])
    >>> widget = halfspaces.LabelWidget(labeler, items=["one", "two", "nine"])
    >>> widget.widget.state["item"]
    {'kind': 'text', 'text': 'one'}
    """

    def __init__(self, labeler: Labeler, items: Any = None, *, title: str = "") -> None:
        if not isinstance(labeler, Labeler):
            raise TypeError(f"labeler={labeler!r}: must be a Labeler")
        self.labeler = labeler
        self._items = None if items is None else _Items(items, labeler.progress.rows)
        self._title = title
        self._shown = 0
        self.widget = _view_class()(state={})
        self.widget.on_msg(self._received)
        self.refresh()

    def refresh(self) -> None:
        """Show the current question of the labeler."""
        self._show("")

    def _received(self, _widget: Any, message: Any, _buffers: Any = None) -> None:
        """Perform the action that the page requests, such as ``{"do": "answer", "row": 3, "class": 1}``."""
        error = ""
        try:
            self._act(message)
        except (ValueError, OSError) as failure:
            error = str(failure)
        self._show(error)

    def _act(self, message: Any) -> None:
        action = message.get("do") if isinstance(message, Mapping) else None
        if action == "undo":
            self.labeler._undo()
            return
        if action == "refresh":
            return
        if action not in ("answer", "skip", "uncertain"):
            raise ValueError(f"{message!r}: not a message of this widget")
        question = self.labeler._peek()
        # The question may have been answered in the meantime, by a second click or in another copy of the widget.
        if question is None or message.get("row") != question.row:
            return
        if action == "answer":
            classes, number = self.labeler.classes_, message.get("class")
            if not isinstance(number, int) or not 0 <= number < len(classes):
                raise ValueError(f"class {number!r}: there are {len(classes)} classes, counted from 0")
            self.labeler.tell(question.row, classes[number])
        else:
            self.labeler._set_aside(question.row, uncertain=action == "uncertain")

    def _show(self, error: str) -> None:
        # The person sees the question in the widget. A later `tell(label)` is about the question of the last `ask()`.
        question, progress = self.labeler._peek(), self.labeler.progress
        outlook = self.labeler.outlook
        names = [str(value) for value in self.labeler.classes_]
        # The page waits for a reply to each message, even to one that changes nothing.
        self._shown += 1
        self.widget.state = {
            "shown": self._shown,
            "title": self._title,
            "classes": names,
            "keys": _core.class_keys(names),
            "question": None if question is None else self._asked(question),
            "item": None if question is None or self._items is None else self._items.shown(question.row),
            "rows": progress.rows,
            "labelled": progress.labelled,
            "uncertain": progress.uncertain,
            "corrections": progress.corrections,
            "expected": [outlook.expected, outlook.low, outlook.high],
            "can_stop": question is not None and self.labeler.can_stop(),
            "error": error,
        }

    def _asked(self, question: Question) -> dict[str, Any]:
        return {
            "row": question.row,
            "class": self.labeler.classes_.index(question.predicted),
            "probability": question.probability,
            "skipped": question.row in self.labeler.skipped_,
        }

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def __repr__(self) -> str:
        return f"<LabelWidget of {self.labeler!r}>"


@functools.cache
def _view_class() -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError('LabelWidget needs anywidget: pip install "halfspaces[notebook]"') from error
    folder = Path(__file__).parent

    class View(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
        _esm = folder / "_widget.js"
        _css = folder / "_widget.css"
        state = traitlets.Dict().tag(sync=True)

    return View


class _Items:
    """The content that is shown for each row."""

    def __init__(self, items: Any, count: int) -> None:
        self._low, self._high = 0.0, 0.0
        self._columns: list[str] | None = None
        found: Any = items
        if hasattr(items, "columns") and hasattr(items, "to_numpy"):
            self._columns = [str(name) for name in items.columns]
            found = items.to_numpy()
        elif hasattr(items, "tocsr"):
            found = items.tocsr()
        elif not isinstance(items, np.ndarray):
            first = next(iter(items), None)
            found = list(items) if isinstance(first, (str, Path)) else np.asarray(items)
        found_count = len(found) if isinstance(found, list) else found.shape[0]
        if found_count != count:
            raise ValueError(f"items: {found_count} items for {count} rows; each row needs one")
        self._items = found
        if isinstance(found, np.ndarray) and found.ndim >= 3:
            if found.ndim > 4 or (found.ndim == 4 and found.shape[3] not in (3, 4)):
                raise ValueError(
                    f"items: an array of shape {found.shape}; images have the shape (n, height, width) or "
                    "(n, height, width, 3 or 4)"
                )
            if found.dtype != np.uint8:
                self._low, self._high = float(np.nanmin(found)), float(np.nanmax(found))

    def shown(self, row: int) -> dict[str, Any]:
        if isinstance(self._items, np.ndarray) and self._items.ndim >= 3:
            return {"kind": "image", "url": _data_url("image/png", _png(self._pixels(self._items[row])))}
        if hasattr(self._items, "tocsr"):
            entries = self._items[[row]].tocoo()
            order = np.argsort(-np.abs(entries.data), kind="stable")[:_SHOWN]
            cells = [(f"x{entries.col[at]}", _cell(entries.data[at])) for at in order]
            return {"kind": "table", "cells": cells, "more": int(entries.nnz - len(cells))}
        item = self._items[row]
        if isinstance(item, Path):
            return {"kind": "image", "url": _data_url(_image_type(item), item.read_bytes())}
        if isinstance(item, np.ndarray) and self._items.ndim == 2:
            names = self._columns or [f"x{place}" for place in range(len(item))]
            cells = [(name, _cell(value)) for name, value in zip(names, item, strict=True)]
            return {"kind": "table", "cells": cells[:_SHOWN], "more": max(0, len(cells) - _SHOWN)}
        return {"kind": "text", "text": str(item)[:_CHARACTERS]}

    def _pixels(self, image: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        if image.dtype == np.uint8:
            return image
        width = self._high - self._low
        scaled = (np.nan_to_num(image.astype(np.float64), nan=self._low) - self._low) / (width or 1.0)
        return np.round(255.0 * scaled).astype(np.uint8)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _image_type(path: Path) -> str:
    kind = path.suffix.lower().removeprefix(".").replace("jpg", "jpeg")
    if kind not in ("png", "jpeg", "gif", "webp", "bmp", "avif"):
        raise ValueError(f"items: {path}: is not the name of a PNG, JPEG, GIF, WebP, BMP or AVIF image")
    return f"image/{kind}"


def _data_url(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Encode grey, RGB or RGBA pixels as PNG."""
    height, width = pixels.shape[:2]
    colour = {2: 0, 3: 2, 4: 6}[pixels.ndim if pixels.ndim == 2 else pixels.shape[2]]

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    lines = pixels.reshape(height, -1)
    filtered = np.concatenate([np.zeros((height, 1), np.uint8), lines], axis=1).tobytes()
    return b"".join(
        [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(filtered)), chunk(b"IEND", b"")]
    )


__all__ = ["LabelWidget"]
