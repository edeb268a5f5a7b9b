"""Pipelines from tables to predictions: the learner of the command ``halfspaces fit`` and its model files."""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from halfspaces import _core
from halfspaces._base import Floats, Self, check_count, check_flag, check_number, threads_of, warn
from halfspaces._frames import (
    Reading,
    classes_of,
    existing,
    names,
    reading_of,
    source_of,
    spelled,
    spelled_errors,
    table_of,
    text_of,
    typed_classes,
)

LEARNERS = ("auto", "massart", "perspectron", "perceptron", "logistic", "svm")


def check_learner(learner: str) -> str:
    """Return `learner` if the command ``halfspaces`` has a learner with this name."""
    if learner not in LEARNERS:
        raise ValueError(f"learner={learner!r}: must be one of {', '.join(LEARNERS)}")
    return learner


def columns_of(drop: Any, text: Any, use: Any, hash_bits: int | None) -> dict[str, Any]:
    """Return the options of columns in the form that the native module expects."""
    return {
        "drop": names("drop", drop),
        "text": names("text", text),
        "use": names("use", use),
        "hash_bits": None if hash_bits is None else check_count("hash_bits", hash_bits, most=28),
    }


class Pipeline:
    """A fitted pipeline from the rows of a table to class names.

    It is the pipeline of the command ``halfspaces``: `fit` finds the meaning of the columns (numbers, categories,
    dates, texts, missing values), fits a learner to them and measures its error on held-out rows. `save` and
    ``halfspaces fit`` write the same model files, which give the same predictions.

    Create a pipeline with `Pipeline.fit` or `Pipeline.load`. It is not an estimator of scikit-learn, so it cannot be cloned
    or passed to ``cross_val_score``; for that, use `HalfspaceClassifier` on columns of numbers.

    Attributes
    ----------
    label : str
        The column of labels.
    classes_ : ndarray of shape (n_classes,)
        The classes. With two classes, the positive one is last. After a fit to a DataFrame or another table in memory,
        these are values of the column of labels, so predictions can be compared with that column. Dates are strings
        such as 2020-01-31. After a fit to a file, and after `load`, the type is that of the names: if all are 64-bit
        integers or all are numbers, such as 7 and 0.5 but not 007 or 0.50, the classes are integers or floats;
        ``false`` and ``true`` are booleans; all others are strings.
    class_names : list of str
        The classes as they are written in the model file.
    columns : list of str
        The columns that the model learned from.
    coordinates : list of str
        The names of the coordinates to which the columns are converted.
    report : dict
        The report of the fit: rows, classes, ``held_out`` (the error on held-out rows with an exact 95 % interval, or
        None), and the report of the learner.
    notes : list of str
        The decisions of `fit` that could be wrong. Each was also issued as a `DataWarning`. A loaded pipeline has none.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspaces import Pipeline
    >>> size = np.linspace(0.0, 10.0, 200)
    >>> table = {"size": size, "colour": ["red", "blue"] * 100, "kind": np.where(size > 4.0, "large", "small")}
    >>> model = Pipeline.fit(table, label="kind")
    >>> model.predict({"size": [1.0, 9.0], "colour": ["red", "red"]}).tolist()
    ['small', 'large']
    >>> model.report["held_out"]["of"]
    10
    """

    _native: _core.TablePipeline
    notes: list[str]
    label: str
    class_names: list[str]
    classes_: npt.NDArray[Any]

    def __init__(self) -> None:
        raise TypeError("make a Pipeline with Pipeline.fit or Pipeline.load")

    @classmethod
    def _of(cls, native: _core.TablePipeline, notes: list[str], classes: npt.NDArray[Any] | None = None) -> Self:
        made = cls.__new__(cls)
        made._native = native
        made.notes = notes
        made.label = native.label
        made.class_names = native.classes
        made.classes_ = typed_classes(made.class_names) if classes is None else classes
        return made

    @classmethod
    def fit(
        cls,
        data: Any,
        *,
        label: str,
        positive: Any = None,
        learner: str = "auto",
        noise: float | None = None,
        c: float | None = None,
        weights: str | None = None,
        balanced: bool = False,
        holdout: float | None = None,
        group: str | None = None,
        time: str | None = None,
        skip_unlabelled: bool = False,
        drop: str | Iterable[str] = (),
        text: str | Iterable[str] = (),
        use: str | Iterable[str] = (),
        hash_bits: int | None = None,
        reading: Reading | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit a pipeline to a labelled table.

        Parameters
        ----------
        data : path, DataFrame, Arrow table or stream, or dict of arrays
            The table. A path is read as the command reads it: CSV, TSV, LIBSVM, Parquet, Arrow, NPY, NPZ, compressed or
            not. pandas and polars DataFrames, PyArrow tables, DuckDB relations and other objects with an Arrow stream
            are read by the rules for Arrow files. The index of a pandas DataFrame is not used.
        label : str
            The column of labels.
        positive : str, int, float or bool, default=None
            The positive class; with more than two labels, all others form the negative class.
        learner : {"auto", "massart", "perspectron", "perceptron", "logistic", "svm"}, default="auto"
            The learner.
        noise : float, default=None
            The upper bound on the probability that a label is wrong, below 0.5 (massart, perspectron).
        c : float, default=None
            The weight of the loss relative to the penalty (logistic, svm). ``None`` means 1.
        weights : str, default=None
            The column of weights, which are the costs of misclassifying each row (auto, logistic, svm).
        balanced : bool, default=False
            Whether each class has the same total weight (auto, logistic, svm).
        holdout : float, default=None
            The fraction of the rows held out to measure the error, at least 0 and below 1. ``None`` means 0.05 below
            5000 rows; 0.1 for 5000 rows or more, but at least 1500 and at most 20 000 rows; and about 0.2 with `group`
            or `time`.
        group : str, default=None
            A column of groups. All rows with the same value are held out together, and the model does not learn from
            this column.
        time : str, default=None
            A column of dates or numbers. The last rows in the order of this column are held out, and the model does not
            learn from the column.
        skip_unlabelled : bool, default=False
            Whether rows without a label are left out; otherwise, they cause an error.
        drop : str or iterable of str, default=()
            Columns to ignore.
        text : str or iterable of str, default=()
            Columns of text, whose features are words and runs of characters. Long, varied text is recognised without
            this option.
        use : str or iterable of str, default=()
            Columns to learn from even if they look like identifiers or saved indices.
        hash_bits : int, default=None
            A number of bits from 1 to 28; words and runs of characters are then hashed to twice ``2**hash_bits``
            coordinates.
        reading : Reading, default=None
            How the table is read; see `Reading`.
        seed : int, default=0
            The seed for all random choices.
        n_jobs : int, default=None
            The number of threads; the model does not depend on it. ``None`` means 1, and -1 all cores.

        Returns
        -------
        Pipeline

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If an argument does not fit the learner or the table, or the labels are not classes.
        TypeError
            If `data` is not a table, or a column has values of several types.

        Warns
        -----
        DataWarning
            For each decision that could be wrong. These decisions are also in ``notes``.
        """
        if group is not None and time is not None:
            raise ValueError("group and time: pass only one of them")
        for argument, column in {"label": label, "weights": weights, "group": group, "time": time}.items():
            if not isinstance(column, str) and (argument == "label" or column is not None):
                raise TypeError(f"{argument}={column!r}: must be the name of a column")
        given = {
            "label": label,
            "positive": None if positive is None else text_of(positive),
            "learner": check_learner(learner),
            "noise": None if noise is None else check_number("noise", noise),
            "c": None if c is None else check_number("c", c),
            "weights": weights,
            "balanced": check_flag("balanced", balanced),
            "holdout": None if holdout is None else check_number("holdout", holdout),
            "group": group,
            "time": time,
            "skip_unlabelled": check_flag("skip_unlabelled", skip_unlabelled),
            "columns": columns_of(drop, text, use, hash_bits),
            "reading": reading_of(reading),
            "seed": check_count("seed", seed, least=0),
        }
        source = source_of(data)
        with spelled_errors():
            native, notes = _core.fit_pipeline(source, given, threads_of(n_jobs))
        notes = [spelled(note) for note in notes]
        warn(notes)
        return cls._of(native, notes, classes_of(native.classes, source, label))

    def predict(
        self,
        data: Any,
        *,
        unseen: str = "error",
        costs: Mapping[Any, float] | None = None,
        threshold: float | None = None,
        reading: Reading | None = None,
        n_jobs: int | None = None,
    ) -> npt.NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        data : path, DataFrame, Arrow table or stream, or dict of arrays
            The table, with the columns that the model learned from, in any order. Other columns are ignored.
        unseen : {"error", "zero"}, default="error"
            What to do if the model has not seen a category, or if the table lacks a column: "error" raises an error;
            "zero" treats the category as different from all known ones and the values of the column as missing.
        costs : mapping, default=None
            The cost of misclassifying a row of a class, such as ``{"ill": 9}``; other classes cost 1. The class with
            the least expected cost is predicted.
        threshold : float, default=None
            The second of two classes is predicted if its probability is at least this number.
        reading : Reading, default=None
            How the table is read. The decisions made when the model was fitted always apply.
        n_jobs : int, default=None
            The number of threads.

        Returns
        -------
        ndarray of shape (n_rows,)
            Values of ``classes_``.
        """
        classes: npt.NDArray[Any] = self.classes_[self._decided(data, unseen, costs, threshold, reading, n_jobs)[0]]
        return classes

    def predict_proba(
        self, data: Any, *, unseen: str = "error", reading: Reading | None = None, n_jobs: int | None = None
    ) -> Floats:
        """Return the calibrated probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        data, unseen, reading, n_jobs
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)

        Raises
        ------
        ValueError
            If the model has no probabilities, because too few rows were held out for calibration.
        """
        found: Floats | None = self._decided(data, unseen, None, None, reading, n_jobs)[2]
        if found is None:
            raise ValueError(
                "predict_proba: the model is not calibrated; fit it with a larger holdout, or learner='auto'"
            )
        return found

    def decide(
        self,
        data: Any,
        *,
        unseen: str = "error",
        costs: Mapping[Any, float] | None = None,
        threshold: float | None = None,
        reading: Reading | None = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Return the table that the command ``halfspaces predict --all`` writes.

        Parameters
        ----------
        data, unseen, costs, threshold, reading, n_jobs
            As for `predict`.

        Returns
        -------
        pandas.DataFrame, or dict of arrays if pandas is not installed
            The columns are ``label``, ``value``, ``probability`` (that of the label) and ``probability=CLASS`` for each
            class. With two classes, ``value`` is the decision value, positive for the second class; with more classes,
            it is the difference between the best and the second-best class. The probabilities are NaN if the model is
            not calibrated.
        """
        classes, values, probabilities = self._decided(data, unseen, costs, threshold, reading, n_jobs)
        if probabilities is None:
            probabilities = np.full((len(classes), len(self.classes_)), np.nan)
        table = {
            "label": self.classes_[classes],
            "value": values,
            "probability": probabilities[np.arange(len(classes)), classes],
        }
        table |= {f"probability={name}": probabilities[:, at] for at, name in enumerate(self.class_names)}
        return table_of(table)

    def evaluate(
        self,
        data: Any,
        *,
        label: str | None = None,
        unseen: str = "error",
        costs: Mapping[Any, float] | None = None,
        threshold: float | None = None,
        reading: Reading | None = None,
        n_jobs: int | None = None,
    ) -> dict[str, Any]:
        """Measure the errors on a labelled table that the model was not fitted to.

        Parameters
        ----------
        data, unseen, costs, threshold, reading, n_jobs
            As for `predict`.
        label : str, default=None
            The column of labels. ``None`` means the column of the fit.

        Returns
        -------
        dict
            The output of ``halfspaces evaluate --json``: the error with an exact 95 % interval; the baseline; the
            confusion matrix; the recall, precision, AUC and average precision of each class; the error at several
            coverages; and the log loss, Brier score and calibration of the probabilities.
        """
        given = self._given(unseen, costs, threshold, reading)
        source = source_of(data)
        with spelled_errors():
            found, notes = self._native.evaluate(source, label, given, threads_of(n_jobs))
        warn(map(spelled, notes))
        evaluation: dict[str, Any] = found
        return evaluation

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which the command and `Pipeline.load` can read. An existing file is replaced.

        Parameters
        ----------
        path : str or PathLike
            The file.

        Raises
        ------
        OSError
            If the file cannot be written. An existing file is then unchanged.

        Warns
        -----
        DataWarning
            If a loaded pipeline will predict classes of a different type, because the model file contains only their
            names. For example, the strings "0" and "1" become integers. Pickle keeps the type.
        """
        self._native.save(path)
        loaded = typed_classes(self.class_names).tolist()
        for name, value in zip(loaded, self.classes_.tolist(), strict=True):
            if type(name) is not type(value) or name != value:
                text = "a model file contains the names of classes; a loaded pipeline predicts"
                warn([f"{os.fspath(path)}: {text} {name!r} instead of {value!r}"])
                break

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file that `save` or ``halfspaces fit`` wrote.

        Parameters
        ----------
        path : str or PathLike
            The file.

        Returns
        -------
        Pipeline

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is not a model, has an unsupported version, or was changed.
        """
        return cls._of(_core.TablePipeline.load(existing(path)), [])

    @property
    def report(self) -> dict[str, Any]:
        """The report of the fit."""
        report: dict[str, Any] = self._native.report()
        return report

    @property
    def columns(self) -> list[str]:
        """The columns that the model learned from."""
        columns: list[str] = self._native.columns
        return columns

    @property
    def coordinates(self) -> list[str]:
        """The names of the coordinates to which the columns are converted."""
        coordinates: list[str] = self._native.coordinates
        return coordinates

    def _given(self, unseen: str, costs: Any, threshold: float | None, reading: Reading | None) -> dict[str, Any]:
        if unseen not in ("error", "zero"):
            raise ValueError(f"unseen={unseen!r}: must be 'error' or 'zero'")
        if costs is not None and threshold is not None:
            raise ValueError("costs and threshold: pass only one of them")
        if costs is not None:
            costs = [[self._name_of(name), check_number("costs", cost)] for name, cost in dict(costs).items()]
        return {
            "unseen": unseen,
            "costs": costs,
            "threshold": None if threshold is None else check_number("threshold", threshold),
            "reading": reading_of(reading),
        }

    def _name_of(self, given: Any) -> str:
        """Return the name of a class; a number stands for the class with this value."""
        if isinstance(given, numbers.Real) and not isinstance(given, bool) and self.classes_.dtype.kind in "iuf":
            for name, value in zip(self.class_names, self.classes_.tolist(), strict=True):
                if value == given:
                    return name
        return text_of(given)

    def _decided(self, data: Any, unseen: str, costs: Any, threshold: Any, reading: Any, n_jobs: int | None) -> Any:
        given = self._given(unseen, costs, threshold, reading)
        source = source_of(data)
        with spelled_errors():
            *found, notes = self._native.decide(source, given, threads_of(n_jobs))
        warn(map(spelled, notes))
        return found

    def __reduce__(self) -> Any:
        return (_restored, (self._native.to_bytes(), self.notes, self.classes_, type(self)))

    def __repr__(self) -> str:
        classes = ", ".join(map(repr, self.classes_.tolist()))
        held_out = self.report["held_out"]
        error = "" if held_out is None else f", held-out error {held_out['rate']:.3f}"
        return f"<Pipeline from {len(self.columns)} columns to {self.label!r}: {classes}{error}>"


def _restored(
    saved: bytes, notes: list[str], classes: npt.NDArray[Any] | None = None, kind: type[Pipeline] = Pipeline
) -> Pipeline:
    return kind._of(_core.TablePipeline.from_bytes(saved, "the pickled pipeline"), notes, classes)


__all__ = ["Pipeline"]
