"""Labelling sessions, and the session file that they share with the command."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris

import halfspaces
from halfspaces import Labeler

COMMAND = [sys.executable, "-m", "halfspaces"]
DIGITS = [str(digit) for digit in range(10)]


@pytest.fixture(scope="module")
def digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X, y


def play(labeler: Labeler, truth: Any, most: int = 10**9) -> list[int]:
    """Answer questions with the truth, and return the rows asked about."""
    asked: list[int] = []
    while len(asked) < most and (question := labeler.ask()) is not None:
        asked.append(question.row)
        labeler.tell(truth[question.row])
    return asked


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def unsigned(line: dict[str, Any]) -> dict[str, Any]:
    """A line of a session file without its checksum."""
    return {key: value for key, value in line.items() if key != "sum"}


def command(*arguments: str, answers: str = "", folder: Path) -> str:
    ran = subprocess.run(
        [*COMMAND, *arguments], check=False, input=answers, capture_output=True, text=True, cwd=folder, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


def test_few_corrections_label_the_digits(digits: tuple[Any, Any]) -> None:
    X, y = digits[0][:300], digits[1][:300]
    labeler = Labeler(X, classes=range(10))
    play(labeler, y, 200)
    progress, outlook = labeler.progress, labeler.outlook
    assert (progress.labelled, progress.asked) == (200, 200)
    assert outlook.low <= labeler.expected_corrections <= outlook.high and outlook.open == 100
    predicted = labeler.predict()
    assert predicted.dtype.kind == "i" and (predicted == y).mean() > 0.7
    probabilities = labeler.predict_probability()
    labelled = list(labeler.labels_)
    assert (probabilities[labelled] == 1).all() and (probabilities > 0).all() and probabilities.max() <= 1
    assert labeler.labels_ == {row: y[row] for row in labelled}
    play(labeler, y)
    # Nine classes are unknown at first. Without predictions, 300 labels would be needed.
    assert 9 <= labeler.progress.corrections <= 40
    assert outlook.low <= labeler.progress.corrections - progress.corrections <= outlook.high
    assert (labeler.predict() == y).all() and labeler.capacity is None


def test_the_command_asks_the_same_and_writes_the_same(digits: tuple[Any, Any], tmp_path: Path) -> None:
    """Each run of the command answers one question, so its model has always learned from all answers."""
    X, y = digits[0][:120], digits[1][:120].astype(str)
    np.save(tmp_path / "digits.npy", X)
    labeler = Labeler(X, DIGITS, session=tmp_path / "ours.jsonl", random_state=7)
    assert labeler.seed_ == 7
    for _ in range(4):
        question = labeler.ask()
        assert question is not None
        wanted = y[question.row]
        options = ["--seed", "7", "--session", "theirs.jsonl", "--classes", ",".join(DIGITS)]
        said = command("label", "digits.npy", *options, answers=f"{wanted}\nq\n", folder=tmp_path)
        assert f"row {question.row}\n" in said
        labeler.tell(wanted)
    labeler.close()
    ours, theirs = lines(tmp_path / "ours.jsonl"), lines(tmp_path / "theirs.jsonl")
    # The header names the source of the rows, and the checksums of all lines depend on this name.
    assert (ours[0]["pool"].pop("source"), theirs[0]["pool"].pop("source")) == ("X", "digits.npy")
    assert [unsigned(line) for line in ours] == [unsigned(line) for line in theirs]
    assert len(ours) == 5


@pytest.mark.parametrize("kind", ["npy", "npz", "csv"])
def test_sessions_go_back_and_forth(kind: str, digits: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = digits[0][:80, 8:40], digits[1][:80].astype(str)
    data: Any = X
    if kind == "npy":
        np.save(tmp_path / "rows.npy", X)
    elif kind == "npz":
        data = sparse.csr_matrix(X)
        sparse.save_npz(tmp_path / "rows.npz", data)
    else:
        data = pd.DataFrame(X).add_prefix("pixel")
        data.to_csv(tmp_path / "rows.csv", index=False)
    path = tmp_path / "s.jsonl"
    with Labeler(data, DIGITS, session=path) as labeler:
        play(labeler, y, 12)
        labels = labeler.labels_
    question = Labeler(data, session=path).ask()
    assert question is not None
    options = [f"rows.{kind}", "--session", "s.jsonl"]
    said = command("label", *options, answers=f"{y[question.row]}\nq\n", folder=tmp_path)
    assert "12 of 80 labelled" in said and f"row {question.row}\n" in said and "changed" not in said
    with Labeler(data, session=path) as labeler:
        assert labeler.classes_ == DIGITS and labeler.seed_ == 0
        assert labeler.notes_ == Labeler(data, DIGITS).notes_
        assert labeler.labels_ == {**labels, question.row: y[question.row]}
    command("fit", f"rows.{kind}", "--session", "s.jsonl", "-o", "model.json", folder=tmp_path)
    assert json.loads((tmp_path / "model.json").read_text())


def test_a_killed_session_loses_nothing(digits: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = digits[0][:200], digits[1][:200].astype(str)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    program = """
import numpy as np, halfspaces, sys, time
rows = np.load("rows.npz")
labeler = halfspaces.Labeler(rows["X"], [str(d) for d in range(10)], session="s.jsonl")
for _ in range(15):
    question = labeler.ask()
    labeler.tell(str(rows["y"][question.row]))
    print(question.row, flush=True)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    asked = [int(process.stdout.readline()) for _ in range(15)]
    # Another process holds the session.
    with pytest.raises(ValueError, match="another process is using this session"):
        Labeler(X, DIGITS, session=tmp_path / "s.jsonl")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    whole = Labeler(X, DIGITS)
    assert play(whole, y, 15) == asked
    with Labeler(X, DIGITS, session=tmp_path / "s.jsonl") as resumed:
        assert list(resumed.labels_) == asked
        assert resumed.ask() == whole.ask() and resumed.outlook == whole.outlook
    # A line that was cut off does not count.
    with open(tmp_path / "s.jsonl", "a") as file:
        file.write('{"event":"answ')
    with Labeler(X, DIGITS, session=tmp_path / "s.jsonl") as resumed:
        assert list(resumed.labels_) == asked and "truncated" in " ".join(resumed.notes_)


def test_skip_undo_uncertain_and_change(digits: tuple[Any, Any]) -> None:
    X, y = digits[0][:60], digits[1][:60]
    labeler = Labeler(X, range(10))
    first = labeler.ask()
    assert first is not None and first.probability is None
    labeler.skip()
    second = labeler.ask()
    assert second is not None and second.row != first.row and labeler.skipped_ == [first.row]
    labeler.confirm()
    assert labeler.labels_ == {second.row: second.predicted} and labeler.progress.corrections == 0
    assert labeler.undo() == second and labeler.labels_ == {}
    assert labeler.undo() == first and labeler.skipped_ == []
    labeler.uncertain()
    assert labeler.uncertain_ == [first.row]
    with pytest.raises(ValueError, match="label='no such class'"):
        labeler.tell(first.row, "no such class")
    # A label of another row is not an answer; the question stays open.
    question = labeler.ask()
    assert question is not None
    other = next(row for row in range(60) if row not in (question.row, first.row))
    labeler.tell(other, y[other])
    assert labeler.ask() is not None and labeler.ask().row == question.row  # type: ignore[union-attr]
    assert labeler.progress == (60, 1, 0, 0, 1, 0)
    labeler.tell(other, (y[other] + 1) % 10)
    assert labeler.labels_ == {other: (y[other] + 1) % 10}
    labeler.tell(first.row, y[first.row])
    assert labeler.labels_[first.row] == y[first.row] and labeler.uncertain_ == []
    play(labeler, y)
    assert labeler.ask() is None and labeler.outlook.open == 0 and labeler.can_stop(0.0)
    with pytest.raises(ValueError, match="every row has an answer"):
        labeler.confirm()


def test_it_does_not_say_stop_before_every_class_has_a_label() -> None:
    X, y = load_iris(return_X_y=True)
    labeler = Labeler(X, classes=[0, 1, 2])
    expects_few = 0
    while len(set(labeler.labels_.values())) < 3:
        question = labeler.ask()
        assert question is not None
        expects_few += labeler.outlook.high <= 0.05 * len(y)
        assert not labeler.can_stop()
        labeler.tell(y[question.row])
    assert expects_few > 0


def test_known_labels_at_once_and_doubts(digits: tuple[Any, Any]) -> None:
    X, y = digits[0][:300], digits[1][:300].copy()
    wrong = [17, 120]
    y[wrong] = (y[wrong] + 5) % 10
    labeler = Labeler(X, range(10))
    labeler.tell(np.arange(200), y[:200])
    assert labeler.progress.labelled == 200 and labeler.progress.asked == 0
    doubts = labeler.doubts(10)
    assert set(wrong) <= {doubt.row for doubt in doubts}
    assert all(doubt.label == y[doubt.row] != doubt.predicted for doubt in doubts[:2])
    probabilities = [doubt.probability for doubt in doubts]
    assert probabilities == sorted(probabilities)


def test_a_rare_class_is_sought(digits: tuple[Any, Any]) -> None:
    X, y = digits
    rows = np.concatenate([np.flatnonzero(y != 3)[:200], np.flatnonzero(y == 3)[:10]])
    truth = np.where(y[rows] == 3, "three", "other")
    labeler = Labeler(X[rows], ["three", "other"], seek="three")
    labeler.tell([209, 0], ["three", "other"])
    asked = play(labeler, truth, 30)
    assert sum(truth[row] == "three" for row in asked) >= 7


def test_rows_may_move_between_runs(digits: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = digits[0][:90], digits[1][:90]
    order = np.random.default_rng(0).permutation(90)
    for name, ids in (("content", None), ("ids", np.array([f"digit {row}" for row in range(90)]))):
        path = tmp_path / f"{name}.jsonl"
        with Labeler(X[:80], range(10), session=path, ids=None if ids is None else ids[:80]) as labeler:
            asked = play(labeler, y, 10)
        moved = None if ids is None else ids[order]
        with Labeler(X[order], range(10), session=path, ids=moved) as labeler:
            assert labeler.labels_ == {int(np.flatnonzero(order == row)[0]): y[row] for row in asked}
            assert "new row numbers" in " ".join(labeler.notes_)
        kept = np.delete(order, np.flatnonzero(order == asked[0]))
        rest = None if ids is None else ids[kept]
        with pytest.raises(ValueError, match="1 of 10 answered or skipped items were not found.*keep_found=True"):
            Labeler(X[kept], range(10), session=path, ids=rest)
        with Labeler(X[kept], range(10), session=path, ids=rest, keep_found=True) as labeler:
            assert len(labeler.labels_) == 9


def test_other_rows_do_not_open_a_session(digits: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = digits[0][:50], digits[1][:50]
    path = tmp_path / "s.jsonl"
    with Labeler(X, range(10), session=path) as labeler:
        play(labeler, y, 5)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="none of its items are in X .*another file as session"):
        Labeler(X + 0.5, range(10), session=path)
    with pytest.raises(ValueError, match="classes of the session .* are"):
        Labeler(X, ["a", "b"], session=path)
    with pytest.raises(ValueError, match="identifies its rows by their content"):
        Labeler(X, range(10), session=path, ids=range(50))
    with pytest.raises(ValueError, match="matrix"):
        Labeler(pd.DataFrame(X).add_prefix("x"), range(10), session=path)
    assert path.read_bytes() == before
    path.write_text(before.decode().replace('"class":"', '"class":"1', 1))
    with pytest.raises(ValueError, match="line 2.*another program changed the file"):
        Labeler(X, range(10), session=path)


def test_a_question_that_was_not_shown_is_not_answered() -> None:
    labeler = Labeler([[0.0], [1.0], [5.0], [6.0]], ["a", "b"])
    question = labeler.ask()
    assert question is not None
    labeler.tell("a")
    # For example, the cell of a notebook is run twice.
    for action in (lambda: labeler.tell("a"), labeler.confirm, labeler.skip, labeler.uncertain):
        with pytest.raises(ValueError, match=r"the open question is about row \d; call ask\(\) to see it first"):
            action()
    assert labeler.labels_ == {question.row: "a"}
    # `undo` returns the question, so the caller has seen it.
    labeler.undo()
    labeler.confirm()
    assert list(labeler.labels_) == [question.row]
    # The next question may be about an earlier or a later row.
    pool = Labeler([[float(value)] for value in (5, 0, 6, 1, 7, 2, 8, 3)], ["a", "b"])
    for _ in range(7):
        assert pool.ask() is not None
        pool.confirm()
        with pytest.raises(ValueError, match="call ask"):
            pool.confirm()
    # A label for another row shows no question.
    other = 3 if question.row != 3 else 2
    labeler.tell(other, "b")
    with pytest.raises(ValueError, match="call ask"):
        labeler.confirm()


def test_a_session_file_that_cannot_be_written(tmp_path: Path) -> None:
    X = [[0.0], [1.0], [5.0], [6.0]]
    path = tmp_path / "s.jsonl"
    with Labeler(X, ["a", "b"], session=path) as labeler:
        labeler.ask()
        labeler.confirm()
    path.chmod(0o444)
    tmp_path.chmod(0o755)
    # The super-user may write any file, so the program becomes another user after it has imported what it needs.
    program = f"""
import os, halfspaces
halfspaces.Labeler({X}, ['a', 'b'])
if os.geteuid() == 0:
    os.setegid(65534), os.seteuid(65534)
halfspaces.Labeler({X}, ['a', 'b'], session={str(path)!r})
"""
    for folder in [tmp_path, *tmp_path.parents]:
        if os.geteuid() == 0 and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    ran = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert ran.returncode == 1 and "ValueError" in ran.stderr and f"{path}: Permission denied" in ran.stderr
    for wrong, message in [(tmp_path, "is a directory"), (tmp_path / "no" / "s.jsonl", "No such file")]:
        with pytest.raises(ValueError, match=message):
            Labeler(X, ["a", "b"], session=wrong)


def test_a_deleted_session_file_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    labeler = Labeler([[0.0], [1.0], [5.0], [6.0]], ["a", "b"], session=path)
    labeler.ask()
    labeler.tell("a")
    path.unlink()
    labeler.ask()
    with pytest.raises(OSError, match="was deleted by another program.*open it again"):
        labeler.tell("b")
    labeler.close()
    with Labeler([[0.0], [1.0], [5.0], [6.0]], session=path) as again:
        assert list(again.labels_.values()) == ["a", "b"]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Labeler([[1.0], [2.0], [4.0]]), ValueError, "classes=None: a new session needs"),
        (lambda: Labeler([[1.0]] * 3, ["a", "b"]), ValueError, "X: no column to learn from: the same in all rows: x0"),
        (lambda: Labeler([[1.0]] * 3, ["a"]), ValueError, "at least two"),
        (lambda: Labeler([[1.0]] * 3, "ab"), TypeError, "must be a list"),
        (lambda: Labeler([[1.0]] * 3, ["a", "a"]), ValueError, "named twice"),
        (lambda: Labeler([[1.0]] * 3, [1, "1"]), ValueError, "named twice"),
        (lambda: Labeler([[1.0]] * 3, ["a", " "]), ValueError, "is empty"),
        (lambda: Labeler([[1.0]] * 3, [1, True]), ValueError, "True is named twice; it equals 1"),
        (lambda: Labeler([[1.0]] * 3, [np.nan, 1.0]), ValueError, "nan does not equal itself"),
        (lambda: Labeler([1.0, 2.0], ["a", "b"]), ValueError, "2D array"),
        (lambda: Labeler([[1.0], [np.inf]], ["a", "b"]), ValueError, "infinity"),
        (lambda: Labeler(sparse.csr_matrix([[1.0], [np.nan]]), ["a", "b"]), ValueError, "NaN"),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"], order="random"), ValueError, "order='random'"),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"], seek="c"), ValueError, "seek='c'"),
        (
            lambda: Labeler([[1.0], [2.0]], ["a", "b"], keep_found="no"),
            TypeError,
            "keep_found='no': must be True or False",
        ),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"]).can_stop(-1), ValueError, "share=-1: must be from 0 to 1"),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"]).can_stop(5), ValueError, "share=5: must be from 0 to 1"),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"]).can_stop(np.nan), ValueError, "share=nan: must be from 0 to 1"),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"]).tell({1, 0}, ["a", "b"]), TypeError, "a set has no order"),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"]).tell([1, 0], {"a", "b"}), TypeError, "a set has no order"),
        (lambda: Labeler([["x"], ["y"]], ["a", "b"]), ValueError, "X contains strings: .*'x'.*with label_page"),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"], ids=[1]), ValueError, "1 ids for 2 rows"),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"], ids=[1, 1]), ValueError, "occurs twice"),
        (lambda: Labeler([[1.0], [2.0]], ["a", "b"], random_state=-1), ValueError, "random_state=-1"),
    ],
)
def test_wrong_arguments(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_threads_share_a_labeler(digits: tuple[Any, Any]) -> None:
    X, y = digits[0][:400], digits[1][:400]
    labeler = Labeler(X, range(10))
    failed: list[BaseException] = []

    def label(rows: range) -> None:
        try:
            for row in rows:
                labeler.tell(row, y[row])
                labeler.ask()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=label, args=(range(at, 400, 4),)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert labeler.labels_ == dict(enumerate(y))


def test_classes_keep_their_values() -> None:
    for classes in (["a\0", "b"], [2**70, 1]):
        labeler = Labeler([[0.0], [1.0]], classes)
        labeler.tell([0, 1], classes)
        assert labeler.predict().tolist() == classes


def test_classes_without_labels_are_said() -> None:
    labeler = Labeler([[0.0], [1.0]], ["a", "b"])
    labeler.tell(0, "a")
    with pytest.warns(halfspaces.DataWarning, match="no row has been labelled 'b' yet"):
        labeler.predict()
    labeler.tell(1, "b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labeler.predict()


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (("c",), ValueError, "label='c': there is no such class; the classes are 'a', 'b'"),
        ((0,), ValueError, "label=0: there is no such class"),
        ((4, "a"), ValueError, "row=4: there are 4 rows, counted from 0"),
        ((-1, "a"), ValueError, "row=-1"),
        ((1, "c"), ValueError, "label='c'"),
        ((1.5, "a"), TypeError, "row=1.5: must be an integer"),
        (([0, 1], ["a"]), ValueError, "2 rows and 1 labels"),
        (([0, 0], ["a", "a"]), ValueError, "named twice"),
        (([0, 9], ["a", "a"]), ValueError, "row=9"),
        (((), (), ()), TypeError, "not 3 arguments"),
        ((), TypeError, "not 0 arguments"),
    ],
)
def test_wrong_answers_change_nothing(answer: Any, error: type[Exception], message: str) -> None:
    labeler = Labeler([[0.0], [1.0], [5.0], [6.0]], ["a", "b"])
    before = labeler.ask()
    with pytest.raises(error, match=message):
        labeler.tell(*answer)
    assert labeler.ask() == before and labeler.labels_ == {}
    with pytest.raises(ValueError, match="nothing to undo"):
        labeler.undo()


def test_a_closed_session_and_copies() -> None:
    labeler = Labeler([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(labeler)
    labeler.close()
    labeler.close()
    for action in (labeler.ask, labeler.predict, labeler.confirm, labeler.undo):
        with pytest.raises(ValueError, match="the session is closed"):
            action()
    assert repr(labeler) == "<Labeler: closed>"


def test_threads_change_nothing(digits: tuple[Any, Any]) -> None:
    X, y = digits[0][:150], digits[1][:150]
    one, two = Labeler(X, range(10)), Labeler(X, range(10), n_jobs=2)
    assert play(one, y, 20) == play(two, y, 20)
    assert (one.predict_probability() == two.predict_probability()).all()


def test_missing_values_and_random_states(digits: tuple[Any, Any]) -> None:
    X, y = digits[0][:100].copy(), digits[1][:100]
    X[::7, 20] = np.nan
    labeler = Labeler(X, range(10), random_state=np.random.RandomState(3))
    assert len(play(labeler, y, 30)) == 30


def test_the_page_of_the_command(tmp_path: Path, digits: tuple[Any, Any]) -> None:
    X, y = digits[0][:60], digits[1][:60]
    path = tmp_path / "s.jsonl"
    with Labeler(X, range(10), session=path) as labeler:
        play(labeler, y, 4)
        labels = labeler.labels_
    page = halfspaces.label_page(X, range(10), session=path)
    try:
        assert page.url.startswith("http://127.0.0.1:") and page.labels() == labels
        with pytest.raises(TimeoutError, match="still running"):
            page.wait(0.1)
        with pytest.raises(ValueError, match="another process is using this session"):
            Labeler(X, range(10), session=path)
    finally:
        page.stop()
    assert page.wait() == labels and "ended" in repr(page)
    with Labeler(X, range(10), session=path) as labeler:
        assert labeler.labels_ == labels


def test_a_page_ends_with_python() -> None:
    program = """
import halfspaces
page = halfspaces.label_page([[1.0], [2.0], [9.0]], ["a", "b"])
print(page._process.pid, page.session.parent)
raise SystemExit(3)
"""
    ran = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 3, ran.stderr
    process, folder = ran.stdout.split()
    assert not os.path.exists(folder)
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no such file", ["a", "b"]), "there is no such file"),
        (([[1.0], [2.0]], ["a,b", "c"]), "has a comma"),
        (([1.0, 2.0], ["a", "b"]), "an array of shape"),
        (([[1.0], [2.0]],), "at least two classes"),
    ],
)
def test_a_page_that_cannot_start(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        halfspaces.label_page(*arguments)


def test_columns_that_identify_rows_are_ignored() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    plain = pd.DataFrame(X, columns=["a", "b"])
    more = plain.assign(id=rng.permutation(60) + 1000, constant=7.0)
    asked: list[list[int]] = []
    for table in (plain, more):
        labeler = Labeler(table, ["left", "right"])
        asked.append([])
        while (question := labeler.ask()) is not None:
            asked[-1].append(question.row)
            labeler.tell("right" if X[question.row][0] > 0 else "left")
        assert len(labeler.notes_) == (table is more)
    assert "column `id`" in labeler.notes_[0] and labeler.notes_[0].endswith("; rename it to learn from it")
    assert asked[0] == asked[1]


def test_a_mask_names_rows() -> None:
    X = np.arange(12.0).reshape(6, 2)
    mask = np.array([False, True, False, True, False, False])
    for given in (mask, mask.tolist(), pd.Series(mask)):
        labeler = Labeler(X, ["a", "b"])
        labeler.tell(given, ["a", "b"])
        assert labeler.labels_ == {1: "a", 3: "b"}
    with pytest.raises(ValueError, match="the mask has 5 values, but there are 6 rows"):
        labeler.tell(mask[:5], ["a", "b"])
    with pytest.raises(ValueError, match="2 rows and 3 labels"):
        labeler.tell(mask, ["a", "b", "a"])
