"""Exported models compared with `halfspaces predict`: ONNX in onnxruntime, the Python module, and the query in SQLite.

Each table is fitted with every learner, and the three exports are run on all of its rows. A line of the output shows
the number of rows, the largest difference between a decision value and that of `predict` (the Python module prints
`value` in full), the largest difference between a probability and that of the Python module, and the number of rows
whose class differs from that of `predict`. The probabilities that `predict` prints with six decimals are checked as
well. `-` means that the format cannot express the model.

FOLDER contains wdbc, satimage, pima, magic, titanic and packages as CSV files with the class in the last column. Other
tables are given with --table FILE. Our program is built with `cargo build --release -p halfspaces-cli`.
"""

import argparse
import csv
import importlib.util
import io
import json
import pathlib
import sqlite3
import subprocess
import tempfile
import time

import numpy as np
import onnxruntime

LEARNERS = ("auto", "logistic", "svm", "perceptron", "perspectron", "massart")
TABLES = ("wdbc", "satimage", "pima", "magic", "titanic", "packages")


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return done.returncode == 0, done.stdout


def rows_of(path):
    """Returns the column names (c1, c2, .. without a header), the rows as dicts, and the option for the header."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = list(csv.reader(file))
    # A first line of single letters consists of values, as in mushroom.csv.
    header = not any(is_number(cell) for cell in lines[0]) and max(map(len, lines[0])) > 1
    names = lines[0] if header else [f"c{at + 1}" for at in range(len(lines[0]))]
    return names, [dict(zip(names, line)) for line in lines[header:]], "--header" if header else "--no-header"


def is_number(text):
    try:
        return bool(text) and float(text) == float(text)
    except ValueError:
        return False


def numbers(rows, name, missing):
    return [np.nan if row[name].strip() in missing else float(row[name]) for row in rows]


def of_onnx(path, rows):
    session = onnxruntime.InferenceSession(str(path))
    feed, columns = {}, json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    for tensor in session.get_inputs():
        if tensor.name == "X":
            missing = {"", "?", "NA", "N/A", "NaN", "nan", "None", "null"}
            feed["X"] = np.array([numbers(rows, name, missing) for name in columns]).T
        else:
            feed[tensor.name] = np.array([[row[tensor.name].strip()] for row in rows], dtype=object)
    start = time.perf_counter()
    labels, probabilities = session.run(["label", "probabilities"], feed)
    return list(labels), np.array(probabilities), time.perf_counter() - start


def of_python(path, rows):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [module.predict(row, "zero") for row in rows]
    values = [module.decision_values(row, "zero") for row in rows]
    probabilities = np.array([list(of.values()) for _, of in found])
    return [label for label, _ in found], probabilities, values


def of_sql(path, names, rows):
    database = sqlite3.connect(":memory:")
    kinds = [all(is_number(row[name]) or row[name] in ("", "?", "NA") for row in rows) for name in names]
    columns = ", ".join(f'"{name}" {"REAL" if kind else "TEXT"}' for name, kind in zip(names, kinds))
    database.execute(f'CREATE TABLE "data" ({columns})')
    cell = lambda text, kind: (float(text) if is_number(text) else None) if kind else text
    values = [[cell(row[name], kind) for name, kind in zip(names, kinds)] for row in rows]
    database.executemany(f'INSERT INTO "data" VALUES ({", ".join("?" * len(names))})', values)
    found = database.execute(path.read_text())
    places = {of[0]: at for at, of in enumerate(found.description)}
    found = found.fetchall()
    return [row[places["predicted_label"]] for row in found], np.array([row[places["predicted_probability"]] for row in found])


def check(program, path, learner, folder, sample):
    names, rows, header = rows_of(path)
    model = folder / "model.json"
    # This hold-out has enough rows to calibrate every learner.
    fitted, _ = run(program, "fit", path, "--label", names[-1], "--learner", learner, "--holdout", "0.2", header, "-o", model, "--force")
    if not fitted:
        return ["-"] * 9
    _, text = run(program, "predict", model, path, "--all", "--unseen", "zero", header)
    predicted = list(csv.DictReader(io.StringIO(text)))
    labels = [row["label"] for row in predicted]
    printed = np.array([[float(v) for k, v in row.items() if k.startswith("probability=")] for row in predicted])
    cells = [str(len(rows))]
    differ = lambda others, mine: str(sum(a != b for a, b in zip(others, mine)))
    # Only some rows are used, because pure Python takes milliseconds per row for models with kernels.
    few = range(0, len(rows), max(1, len(rows) // sample))
    outputs = {}
    for kind in ("py", "onnx", "sql"):
        target = folder / f"model.{kind}"
        outputs[kind] = target if run(program, "export", model, "-o", target, "--force")[0] else None
    exact = None
    if outputs["py"]:
        found, exact, values = of_python(outputs["py"], [rows[at] for at in few])
        if len(values[0]) == 1:
            value = max(abs(values[k][0] - float(predicted[at]["value"])) for k, at in enumerate(few))
        else:
            lead = [sorted(of)[-1] - sorted(of)[-2] for of in values]
            value = max(abs(lead[k] - float(predicted[at]["value"])) for k, at in enumerate(few))
        cells += [f"{value:.0e}", f"{abs(exact - printed[few]).max():.0e}", differ(found, [labels[at] for at in few])]
    else:
        cells += ["-"] * 3
    if outputs["onnx"]:
        found, probabilities, seconds = of_onnx(outputs["onnx"], rows)
        largest = abs(probabilities - printed).max() if exact is None else abs(probabilities[few] - exact).max()
        cells += [f"{largest:.0e}", differ(found, labels), f"{1e6 * seconds / len(rows):.0f}"]
    else:
        cells += ["-"] * 3
    if outputs["sql"]:
        found, probabilities = of_sql(outputs["sql"], names, rows)
        cells += [f"{abs(probabilities[few] - exact.max(axis=1)).max():.0e}", differ(found, labels)]
    else:
        cells += ["-"] * 2
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--table", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--learner", action="append", choices=LEARNERS)
    parser.add_argument("--sample", type=int, default=400, help="rows on which the Python module is run")
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("target/release/halfspaces"))
    options = parser.parse_args()
    tables = [options.folder / f"{name}.csv" for name in TABLES] if options.folder else []
    print("| table | learner | rows | value (Python) | probability | classes | probability (ONNX) | classes | µs a row | probability (SQL) | classes |")
    print("|" + "---|" * 11)
    with tempfile.TemporaryDirectory() as folder:
        for path in tables + options.table:
            for learner in options.learner or LEARNERS:
                cells = check(options.program.resolve(), path.resolve(), learner, pathlib.Path(folder), options.sample)
                print("|", " | ".join([path.stem, learner, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
