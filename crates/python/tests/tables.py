"""Tables that several tests read."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

WORDS = "signal noise margin plane kernel vector point label sample bound angle cone shell weight step pass".split()


def mixed(rows: int = 400, seed: int = 1, text: bool = True) -> pd.DataFrame:
    """A table with numbers, categories, dates, texts, truth values and missing values."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, rows)
    amount = rng.normal(kind * 1.5, 1.0).round(3)
    amount[rng.random(rows) < 0.1] = np.nan
    colour = pd.Series(np.where(rng.random(rows) < 0.7, np.array(["blue", "red"])[kind], "green"), dtype=object)
    colour[rng.random(rows) < 0.05] = None
    table = pd.DataFrame(
        {
            "amount": amount,
            "count": rng.integers(0, 50, rows),
            "colour": colour,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, rows) + 40 * kind, unit="D"),
            "paid": rng.random(rows) < 0.3 + 0.4 * kind,
        }
    )
    table.loc[rng.random(rows) < 0.05, "day"] = pd.NaT
    if text:

        def sentence(of: int) -> str:
            words = rng.choice(WORDS[: len(WORDS) // 2] if of else WORDS[len(WORDS) // 2 :], 4).tolist()
            return " ".join([*words, *rng.choice(WORDS, 4).tolist(), f"n{rng.integers(10**6)}"])

        table["note"] = [sentence(of) for of in kind]
    table["outcome"] = np.where(rng.random(rows) < 0.08, 1 - kind, kind)
    table["outcome"] = table["outcome"].map({0: "ham", 1: "spam"}).astype(object)
    return table


def write_csv(table: pd.DataFrame, path: Path) -> Path:
    table.to_csv(path, index=False, date_format="%Y-%m-%d")
    return path


def command(*arguments: object) -> str:
    """Run the command of the package and return what it prints."""
    run = [sys.executable, "-m", "halfspaces", *map(str, arguments)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
