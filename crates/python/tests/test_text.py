"""Texts as feature vectors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import mixed

from halfspaces import HalfspaceClassifier, LinearSVM, Pipeline, TextVectorizer

TABLE = mixed(rows=300)


def test_rows_have_norm_one_and_the_stated_weights() -> None:
    texts = ["b b a", "a c", "c", "a c"]
    vectorizer = TextVectorizer().fit(texts)
    X = vectorizer.transform(texts)
    assert sparse.issparse(X) and X.format == "csr" and X.shape == (4, vectorizer.n_terms_)
    assert np.allclose(sparse.linalg.norm(X, axis=1), 1.0)
    terms = vectorizer.get_feature_names_out().tolist()
    assert {"a", "b", "c", "b b", "b a", "a c"} <= set(terms)
    row = X[0].toarray()[0]
    # The weights are (1 + ln n) (1 + ln((1 + N) / (1 + N_t))). b occurs twice in one of four texts, and a occurs once
    # in three.
    b, a = (1 + np.log(2)) * (1 + np.log(5 / 2)), 1 + np.log(5 / 4)
    assert np.isclose(row[terms.index("b")] / row[terms.index("a")], b / a)


def test_it_is_the_text_of_the_command() -> None:
    model = Pipeline.fit(TABLE[["note", "outcome"]], label="outcome", text="note", holdout=0)
    terms = TextVectorizer().fit(TABLE["note"]).get_feature_names_out()
    assert [f"note~{term}" for term in terms] == model.coordinates


def test_it_works_in_pipelines() -> None:
    texts, y = TABLE["note"].tolist(), TABLE["outcome"].tolist()
    model = make_pipeline(TextVectorizer(), HalfspaceClassifier()).fit(texts[:200], y[:200])
    assert model.score(texts[200:], y[200:]) > 0.8
    columns = ColumnTransformer(
        [("text", TextVectorizer(), "note"), ("numbers", StandardScaler(), ["count"])], sparse_threshold=1.0
    )
    both = make_pipeline(columns, LinearSVM(C=1.0)).fit(TABLE, y)
    assert both.score(TABLE, y) > 0.85
    assert "text__signal" in columns.fit(TABLE).get_feature_names_out().tolist()
    search = GridSearchCV(make_pipeline(TextVectorizer(), LinearSVM()), {"textvectorizer__hash_bits": [None, 8]}, cv=2)
    assert search.fit(texts, y).best_score_ > 0.8


def test_hashed_terms_have_fixed_columns() -> None:
    X = TextVectorizer(hash_bits=6).fit_transform(TABLE["note"])
    assert X.shape == (300, 2 * 2**6)
    with pytest.raises(ValueError, match="hash_bits"):
        TextVectorizer(hash_bits=30).fit(["a b", "a c", "b"])


def test_copies_and_pickles() -> None:
    vectorizer = TextVectorizer().fit(TABLE["note"])
    copy = pickle.loads(pickle.dumps(vectorizer))
    assert (copy.transform(TABLE["note"]) != vectorizer.transform(TABLE["note"])).nnz == 0
    assert not hasattr(clone(vectorizer), "n_terms_")
    tags = vectorizer.__sklearn_tags__().input_tags
    assert tags.string and tags.one_d_array and not tags.two_d_array


def test_new_and_missing_texts() -> None:
    vectorizer = TextVectorizer().fit(["one two", "two three", "three one"])
    assert vectorizer.transform(["zzzz", "", "one"]).getnnz(axis=1).tolist()[:2] == [0, 0]
    missing = pd.Series(["one two", None, float("nan"), pd.NA, "two"], dtype=object)
    assert vectorizer.transform(missing).getnnz(axis=1).astype(bool).tolist() == [True, False, False, False, True]
    for bad, message in [
        ("one text", "expected several texts"),
        ([["a"]], "X\\[0\\]=\\['a'\\]: must be a string"),
        (np.array([["a", "b"]]), "2 dimensions"),
        ([1, 2], "X\\[0\\]=1: must be a string"),
        ([], "there are no texts"),
        (["same", "same"], "no column to learn from"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            TextVectorizer().fit(bad)
