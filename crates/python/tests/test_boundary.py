"""Arrays of every kind that are passed to native code cause an exception that names the argument, never a crash."""

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.exceptions import NotFittedError

import halfspaces
from halfspaces import _core, blocks
from halfspaces._base import numbered

ESTIMATORS = [
    getattr(halfspaces, name)
    for name in halfspaces.__all__
    if isinstance(getattr(halfspaces, name), type)
    and hasattr(getattr(halfspaces, name), "get_params")
    and name != "TextVectorizer"
]
ANY = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
DTYPES = st.one_of(
    arrays.floating_dtypes(),
    arrays.integer_dtypes(),
    arrays.unsigned_integer_dtypes(),
    arrays.boolean_dtypes(),
    arrays.complex_number_dtypes(),
    arrays.datetime64_dtypes(),
    arrays.unicode_string_dtypes(max_len=3),
    arrays.byte_string_dtypes(max_len=3),
    st.just(np.dtype(object)),
)


@st.composite
def tables(draw: Any) -> Any:
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6))
    dtype = draw(DTYPES)
    if dtype == np.dtype(object):
        elements = st.one_of(st.none(), st.text(max_size=2), st.floats(), st.integers(), st.just([1]))
        array = draw(arrays.arrays(dtype, shape, elements=elements))
    else:
        array = draw(arrays.arrays(dtype, shape))
    if draw(st.booleans()):
        array = np.asfortranarray(array)
    if draw(st.booleans()) and array.ndim:
        array = array[::-1]
    if draw(st.booleans()) and array.ndim == 2:
        array = np.repeat(array, 2, axis=1)[:, ::2]
    if draw(st.booleans()):
        array = array.copy()
        array.flags.writeable = False
    return array


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
@given(X=tables(), y=tables())
@ANY
def test_fit_takes_or_refuses(estimator: Any, X: Any, y: Any) -> None:
    labels = y.ravel()[: len(X) if X.ndim else 0] if y.ndim else y
    before = X.copy()
    try:
        model = estimator().fit(X, labels)
    except (ValueError, TypeError) as error:
        assert str(error), "an error says what is wrong"
    else:
        method = next(m for m in ("predict", "transform", "mahalanobis") if hasattr(model, m))
        result = np.asarray(getattr(model, method)(X))
        assert len(result) == len(X)
    if X.dtype != object:
        assert np.array_equal(before, X, equal_nan=X.dtype.kind in "fcmM"), "the input is not changed"


@given(
    indptr=st.lists(st.integers(-3, 9), max_size=6),
    indices=st.lists(st.integers(-3, 9), max_size=8),
    data=st.lists(st.floats(), max_size=8),
    columns=st.integers(0, 8),
)
@ANY
def test_broken_sparse_matrices_are_refused(indptr: Any, indices: Any, data: Any, columns: int) -> None:
    parts = (np.array(indptr, np.int64), np.array(indices, np.int32), np.array(data, float), columns)
    model = halfspaces.LinearSVM().fit(np.eye(4), [0, 1, 0, 1])._native
    try:
        values = model.values(parts, 1)
    except ValueError as error:
        assert str(error)
    else:
        assert np.isfinite(values).all() and columns == 4


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_numbers_that_are_not_finite_are_named(make: Any, bad: float) -> None:
    X = np.eye(6)
    X[4, 2] = bad
    for estimator in ESTIMATORS:
        if make is sparse.csr_array and estimator in (halfspaces.ForsterTransform, halfspaces.TylerScatter):
            continue
        with pytest.raises(ValueError, match=r"X contains|infinity|X: row 4, column 2 is"):
            estimator().fit(make(X), [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (halfspaces.PerspectronClassifier(passes=0), "passes=0"),
        (halfspaces.PerspectronClassifier(passes=1.5), "passes=1.5"),
        (halfspaces.PerspectronClassifier(noise_rate="low"), "noise_rate='low'"),
        (halfspaces.PerspectronClassifier(noise_rate=0.5), "noise"),
        (halfspaces.PerspectronClassifier(margin=-1.0), "margin"),
        (halfspaces.PerspectronClassifier(random_state=-1), "random_state=-1"),
        (halfspaces.MassartClassifier(schedule="best"), "schedule"),
        (halfspaces.HalfspaceClassifier(held_out=1.0), "held_out"),
        (halfspaces.LinearSVM(C=0.0), "C"),
        (halfspaces.LinearSVM(max_iter=True), "max_iter=True"),
        (halfspaces.KernelPerceptron(kernel="rbf"), "kernel='rbf'"),
        (halfspaces.KernelPerceptron(scale=-1.0), "scale"),
        (halfspaces.SecondOrderPerceptron(a=np.nan), "a"),
        (halfspaces.NystroemFeatures(landmarks=0), "landmarks=0"),
        (halfspaces.TylerScatter(scale="none"), "scale='none'"),
        (halfspaces.ForsterTransform(tol=-1), "^tol = -1 is out of range"),
        (halfspaces.TylerScatter(tol=2), "^tol = 2 is out of range"),
        (halfspaces.OnlineMassart(noise_rate=0.5), "^noise_rate = 0.5 is out of range"),
        (halfspaces.MassartClassifier(schedule=None), "^schedule=None: must be one of 'practical', 'theorem'"),
        (halfspaces.NystroemFeatures(kernel=["gaussian"]), r"^kernel=\['gaussian'\]: must be one of"),
        (halfspaces.KernelPerceptron(kernel=["gaussian"]), r"^kernel=\['gaussian'\]: must be one of"),
        (halfspaces.KernelPerceptron(degree=2**40), "^degree=1099511627776: must be at most 1000"),
        (halfspaces.Perceptron(passes=10**30), r"^passes=1(0){30}: must be below 2\*\*64"),
        (halfspaces.DGTClassifier(max_steps=10**45), r"^max_steps=a number of .* digits: must be below 2\*\*64"),
        (halfspaces.LinearSVM(random_state="x"), "^random_state='x': must be an integer, a RandomState or None"),
        (halfspaces.LinearSVM(random_state=2**64), r"^random_state=18446744073709551616: must be below 2\*\*64"),
        (halfspaces.LinearSVM(C=10**400), "^C=a number of .* digits: is beyond the range of float64"),
        (
            halfspaces.LinearSVM(class_weight={0: -1}),
            "^class_weight, class 0: weight=-1: must be at least 0 and finite",
        ),
        (halfspaces.LinearSVM(class_weight={0: np.nan}), "^class_weight, class 0: weight=nan: must be at least 0"),
        (halfspaces.LinearSVM(class_weight={0: np.inf}), "^class_weight, class 0: weight=inf: must be at least 0"),
        (halfspaces.HalfspaceClassifier(class_weight={1: "a"}), "^class_weight, class 1: weight='a': must be a number"),
        (halfspaces.HalfspaceClassifier(class_weight=[1]), r"^class_weight=\[1\]: must be a dict, 'balanced' or None"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_named(estimator: Any, message: str) -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(X, (X[:, 0] > 0).astype(int))


def test_counts_and_seeds_of_functions_have_a_limit() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int)
    table = {"x": X[:, 0], "y": y}
    with pytest.raises(ValueError, match=r"^seed=1(0){30}: must be below 2\*\*64"):
        halfspaces.audit(X, y, seed=10**30)
    with pytest.raises(ValueError, match=r"^seed=1(0){30}: must be below 2\*\*64"):
        halfspaces.Pipeline.fit(table, label="y", seed=10**30)
    with pytest.raises(ValueError, match="^hash_bits=99: must be at most 28"):
        halfspaces.Pipeline.fit(table, label="y", hash_bits=99)
    with pytest.raises(ValueError, match="^hash_bits=1099511627776: must be at most 28"):
        halfspaces.TextVectorizer(hash_bits=2**40).fit(["a b", "a c"])
    with pytest.raises(ValueError, match="^tol = -1 is out of range"):
        blocks.ForsterTransform(tol=-1).fit(blocks.MemorySource(X))
    assert halfspaces.Perceptron(random_state=2**64 - 1).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_nothing_is_computed_before_a_fit(estimator: Any) -> None:
    model = estimator()
    asked = 0
    for method in ("predict", "decision_function", "predict_proba", "transform", "mahalanobis", "error_bound"):
        if hasattr(model, method):
            asked += 1
            with pytest.raises(NotFittedError):
                getattr(model, method)(*([] if method == "error_bound" else [[[1.0]]]))
    assert asked > 0


def test_rows_beyond_the_radius_are_named() -> None:
    model = halfspaces.OnlineMassart().partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
    with pytest.raises(ValueError, match="row 1"):
        model.partial_fit([[0.5], [9.0]], [1, 1])


def test_labels_outside_classes_are_named() -> None:
    model = halfspaces.Perceptron().partial_fit([[1.0]], ["a"], classes=["a", "b"])
    with pytest.raises(ValueError, match="'c'"):
        model.partial_fit([[1.0]], ["c"])


def test_broken_states_are_refused() -> None:
    model = halfspaces.SecondOrderPerceptron().fit([[0.0], [1.0]], [0, 1])._native
    text = model.to_json()
    for old, new in [('"classes":2', '"classes":3'), ('"dim":1', '"dim":2'), ('"triangle":[', '"triangle":[1.0,')]:
        assert old in text
        with pytest.raises(ValueError, match="not a learner"):
            _core.Online.from_json(text.replace(old, new, 1))
    for text in ("", "{}", "[1", "nul", "\0"):
        for native in (_core.Model, _core.Online, _core.Map):
            with pytest.raises(ValueError, match="not a"):
                native.from_json(text)


@given(
    st.one_of(
        arrays.arrays(np.bool_, st.integers(1, 30)),
        arrays.arrays(arrays.integer_dtypes(endianness="="), st.integers(1, 30)),
        arrays.arrays(arrays.integer_dtypes(endianness="="), st.integers(1, 30), elements=st.integers(-9, 9)),
        arrays.arrays(np.dtype("U2"), st.integers(1, 30)),
    )
)
@ANY
def test_classes_are_numbered_as_numpy_does(y: Any) -> None:
    classes, numbers = numbered(y)
    expected, inverse = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype
    assert np.array_equal(classes, expected)
    assert np.array_equal(numbers, inverse)


def test_unsorted_and_repeated_columns_are_added() -> None:
    parts = ([2.0, 1.0, 4.0, -1.0, 1.0, 5.0], [2, 0, 2, 1, 0, 2], [0, 3, 5, 6, 6])
    unsorted = sparse.csr_array(parts, shape=(4, 3))
    model = halfspaces.LinearSVM().fit(unsorted, [0, 1, 0, 1])
    expected = halfspaces.LinearSVM().fit(unsorted.toarray(), [0, 1, 0, 1])
    assert not unsorted.has_canonical_format, "the input is not changed"
    assert np.allclose(model.decision_function(unsorted), expected.decision_function(unsorted.toarray()), atol=1e-6)


def test_native_learners_refuse_other_classes() -> None:
    learner = _core.Online({"learner": "perceptron"}, 2, 1, True)
    for number in (-1, 2):
        with pytest.raises(ValueError, match=f"class {number}: the learner has 2 classes"):
            learner.learn(np.ones((1, 1)), np.array([number]), 1, None, 1)


def test_rows_of_texts_say_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"X contains strings: .*'x'.*halfspaces\.Pipeline"):
        halfspaces.LinearSVM().fit([["x"], ["y"]], [0, 1])
    with pytest.raises(ValueError, match="audit it with label"):
        halfspaces.audit([["x"], ["y"]], [0, 1])


def test_labels_that_cannot_be_classes_are_refused() -> None:
    X = np.arange(8.0)[:, None]
    dates = np.array(["2020-01-01", "2021-01-01"] * 4, dtype="datetime64[D]")
    for labels in ([1, 2], [False, True], ["a", "b"], [1.0, 2.0], np.array(["a", "b"], dtype=object), dates[:2]):
        y = np.repeat(labels, 4)
        assert np.array_equal(
            halfspaces.HalfspaceClassifier().fit(np.repeat(X, 4, axis=0), np.repeat(y, 4)).classes_, labels
        )
    for y in (["a", None] * 4, np.array([b"a", "b"] * 4, dtype=object)):
        for learn in (halfspaces.LinearSVM().fit, halfspaces.audit):
            with pytest.raises(ValueError, match=r"y: labels of the types (NoneType|bytes), str cannot be classes"):
                learn(X, y)
    with pytest.raises(ValueError, match="continuous"):
        halfspaces.LinearSVM().fit(X, [0.5, 1.5] * 4)
    with pytest.raises(ValueError, match="NaN"):
        halfspaces.LinearSVM().fit(X, [np.nan, 1.0] * 4)
    for mixed, kinds in ([1, "a"], "int, str"), ([True, 1], "bool, int"):
        y = np.empty(40, dtype=object)
        y[:] = mixed * 20
        with pytest.raises(ValueError, match=f"y: labels of the types {kinds} cannot be classes"):
            halfspaces.HalfspaceClassifier().fit(np.zeros((40, 2)), y)
    with pytest.raises(ValueError, match="y: labels of the types bytes cannot be classes"):
        halfspaces.LinearSVM().fit(X, np.array([b"a", b"b"] * 4, dtype=object))


def test_masked_numbers_are_refused() -> None:
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    masked = np.ma.masked_equal(X, 7)
    for learn in (halfspaces.HalfspaceClassifier().fit, halfspaces.audit):
        with pytest.raises(ValueError, match="X: a masked array with missing values"):
            learn(masked, y)
        with pytest.raises(ValueError, match="y: a masked array with missing values"):
            learn(X, np.ma.masked_where(X[:, 0] == 7, y))
    halfspaces.HalfspaceClassifier().fit(np.ma.array(X), y)


def test_flags_are_booleans() -> None:
    with pytest.raises(TypeError, match="fit_intercept='no': must be True or False"):
        halfspaces.LinearSVM(fit_intercept="no").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="assume_centered=1: must be True or False"):
        halfspaces.TylerScatter(assume_centered=1).fit([[0.0], [1.0]])
    table = {"x": [0.0, 1.0] * 20, "y": ["a", "b"] * 20}
    for name in ("balanced", "skip_unlabelled"):
        with pytest.raises(TypeError, match=f"{name}='no': must be True or False"):
            halfspaces.Pipeline.fit(table, label="y", **{name: "no"})
    for name in ("header", "day_first"):
        with pytest.raises(TypeError, match=f"reading: {name}='no': must be True or False"):
            halfspaces.Pipeline.fit(table, label="y", reading={name: "no"})
    with pytest.raises(TypeError, match="must be a dict of options"):
        halfspaces.Pipeline.fit(table, label="y", reading=["header"])
    with pytest.raises(TypeError, match="report=3: must be a function of two counts"), halfspaces.show_progress(3):
        pass
    source = blocks.MemorySource(np.eye(4), [0, 1, 0, 1])
    for linear in (blocks.LogisticRegression, blocks.AveragedPerceptron):
        with pytest.raises(TypeError, match="fit_intercept='no': must be True or False"):
            linear(fit_intercept="no").fit(source)


def test_one_thread_at_a_time_learns() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 40))
    y = X[:, 0] > 0
    model = halfspaces.SecondOrderPerceptron().fit(X, y)
    rows, classes = X, y.astype(np.int64)
    started = threading.Event()

    def learn() -> None:
        started.set()
        model._native.learn(rows, classes, 30, None, 1)

    thread = threading.Thread(target=learn)
    thread.start()
    started.wait()
    refused = 0
    while thread.is_alive():
        try:
            model.predict(X[:1])
        except RuntimeError as error:
            assert "another thread is using this learner" in str(error)
            refused += 1
    thread.join()
    assert refused > 0
    assert len(model.predict(X)) == len(X)
