"""Converts texts to feature vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from halfspaces import _core
from halfspaces._base import NativeState, Self, check_count
from halfspaces._frames import is_missing


class TextVectorizer(TransformerMixin, NativeState):
    """Words, pairs of words and runs of characters of texts, weighted by TF-IDF, as a CSR matrix.

    A text has two groups of terms: words and pairs of adjacent words, and runs of 2 to 5 characters. All are in lower
    case, and no particular language is assumed. A term that occurs n times has the weight
    ``(1 + ln n) * (1 + ln((1 + N) / (1 + N_t)))`` if N_t of the N texts given to `fit` contain it. The weights of
    each group are divided by their norm and by the square root of two. The command ``halfspaces`` learns from columns
    of text in the same way.

    Parameters
    ----------
    hash_bits : int or None, default=None
        A number of bits from 1 to 28; the terms of each group are then hashed to ``2**hash_bits`` columns. ``None``
        stores a list of the terms instead.

    Attributes
    ----------
    n_terms_ : int
        The number of columns.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from halfspaces import LinearSVM, TextVectorizer
    >>> texts = ["a fine day", "a fine evening", "a dull day", "a dull evening"]
    >>> model = make_pipeline(TextVectorizer(), LinearSVM()).fit(texts, ["good", "good", "bad", "bad"])
    >>> model.predict(["a fine morning"]).tolist()
    ['good']
    """

    _native: _core.TextMap
    _native_type = _core.TextMap

    def __init__(self, *, hash_bits: int | None = None) -> None:
        self.hash_bits = hash_bits

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Collect the terms.

        Parameters
        ----------
        X : iterable of str
            The texts. A missing text (None or NaN) counts as an empty one.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If every term occurs in only one text or in all texts.
        """
        bits = None if self.hash_bits is None else check_count("hash_bits", self.hash_bits, most=28)
        self._native = _core.fit_texts(_texts(X), bits)
        self.n_terms_ = self._native.output_dim
        return self

    def transform(self, X: Iterable[str]) -> sparse.csr_matrix:
        """Return the weights of the terms.

        Parameters
        ----------
        X : iterable of str
            The texts. Terms that `fit` did not collect are left out.

        Returns
        -------
        csr_matrix of shape (n_samples, n_terms_)
        """
        check_is_fitted(self)
        texts = _texts(X)
        return sparse.csr_matrix(self._native.apply(texts), shape=(len(texts), self._native.output_dim))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the terms: words and pairs of words as they are, runs of characters in quotation marks.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array(self._native.names(), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _texts(X: Any) -> list[str]:
    if isinstance(X, (str, bytes)):
        raise TypeError(f"X={X!r}: expected several texts, but found one; pass a list")
    if getattr(X, "ndim", 1) != 1:
        raise ValueError(
            f"X has {X.ndim} dimensions; pass one column of texts, in a ColumnTransformer by its name: "
            "('text', TextVectorizer(), 'column')"
        )
    found = []
    for place, text in enumerate(X):
        if isinstance(text, str):
            found.append(text)
        elif is_missing(text):
            found.append("")
        else:
            raise TypeError(f"X[{place}]={text!r}: must be a string; convert the column with astype(str)")
    if not found:
        raise ValueError("X: there are no texts")
    return found


__all__ = ["TextVectorizer"]
