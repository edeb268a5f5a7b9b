"""Labelling of complete pools: our session compared with the query strategies of scikit-activeml and small-text.

Every pool is labelled completely. A correction is a label that was predicted wrongly before it was revealed. Every data
set (a CSV file in the given folder with the class in the last column) gives one pool per order: at most --rows rows,
drawn with the seed of the order, with standardised columns. A script refits its classifier after each hundredth of the
pool and then chooses the next hundredth: at random, by the surest predictions first, or by a query strategy of a
package. The first hundredth is random, the same for all scripts, and predicted as positive. As long as only one class
has been seen, this class is predicted. Our side is a LabellingSession with its default settings, built with `cargo
build --release -p halfspaces --example simulate_labelling`.

With `--scripts classifiers`, the scripts do not use the strategies of the packages. They use the classifiers that a
user might refit in random order (linear and RBF SVM, LightGBM, perceptron and passive-aggressive steps, our own
learner), and the best of {LR, perceptron, PA, our learner} in hindsight. With `--separable`, each pool is labelled by a
logistic regression that is fitted to it, through the origin of the standardised columns, and our session is also
compared with SampledGreedy and with a session with three wrong answers.

The output is a Markdown table with means over the orders and, in parentheses, those of the first half of the pool. The
last columns show the ratio of the geometric means (of counts plus one) of our session and of each script, with a 95 %
bootstrap interval over the orders.
"""

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import json
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import SVC, LinearSVC
from tables import ROOT, SETS, load, standardised

warnings.filterwarnings("ignore")
POOLS = "wdbc,ionosphere,heart,pima,banana,ring,penbased,spambase"
# Number of candidates per batch that expected error reduction considers. With all candidates, it would take hours.
CANDIDATES = 20


def logistic():
    return LogisticRegression(max_iter=1000)


class Script:
    """Labels a pool batch by batch; `choose` selects the points of the next batch."""

    def __init__(self, choose, make=logistic):
        self.choose, self.make = choose, make

    def play(self, points, labels, seed):
        # The classes are 0 and 1, because the members of scikit-learn's committees return class numbers.
        labels = (labels > 0).astype(int)
        n = len(labels)
        rng = np.random.default_rng(seed)
        step = max(1, round(n / 100))
        left = np.ones(n, bool)
        wrong = np.zeros(n, bool)
        seen = rng.permutation(n)[:step]
        wrong[: len(seen)] = labels[seen] == 0
        left[seen] = False
        while left.any():
            known = labels[seen]
            rest = np.flatnonzero(left)
            take = min(step, len(rest))
            if (known == known[0]).all():
                batch = rng.permutation(rest)[:take]
                predicted = np.full(take, known[0])
            else:
                model = self.make().fit(points[seen], known)
                batch = rest if take == len(rest) else self.choose(model, points, labels, seen, rest, take, rng)
                assert len(set(batch)) == take and left[batch].all()
                predicted = model.predict(points[batch])
            wrong[len(seen) : len(seen) + take] = predicted != labels[batch]
            left[batch] = False
            seen = np.r_[seen, batch]
        return int(wrong.sum()), int(wrong[: n // 2].sum())


def random(model, points, labels, seen, rest, take, rng):
    return rng.permutation(rest)[:take]


def surest(model, points, labels, seen, rest, take, rng):
    return rest[np.argsort(-np.abs(model.decision_function(points[rest])), kind="stable")[:take]]


def least_sure(model, points, labels, seen, rest, take, rng):
    return rest[np.argsort(np.abs(model.decision_function(points[rest])), kind="stable")[:take]]


def activeml(strategy, **more):
    """Returns a query strategy of scikit-activeml, which gets labels that are not revealed yet as missing."""

    def choose(model, points, labels, seen, rest, take, rng):
        from skactiveml.classifier import SklearnClassifier

        given = np.full(len(labels), np.nan)
        given[seen] = labels[seen]
        arguments = {key: make(seen, given, points) for key, make in more.items()}
        query = strategy(int(rng.integers(2**31)))
        if "fit_clf" not in arguments and "ensemble" not in arguments:
            arguments.update(clf=SklearnClassifier(model, classes=[0, 1]), fit_clf=False)
        return query.query(points, given, candidates=rest, batch_size=take, **arguments)

    return choose


def committee(seen, given, points):
    from skactiveml.classifier import SklearnClassifier

    bag = BaggingClassifier(logistic(), n_estimators=10, random_state=len(seen))
    return SklearnClassifier(bag, classes=[0, 1], random_state=0).fit(points, given)


def activeml_strategies(every):
    try:
        from skactiveml import pool
    except ImportError:
        print("scikit-activeml: missing")
        return {}
    found = {}
    for method in ("margin_sampling", "entropy") if every else ("margin_sampling",):
        found[f"scikit-activeml, uncertainty ({method.split('_')[0]})"] = Script(
            activeml(lambda seed, method=method: pool.UncertaintySampling(method=method, random_state=seed))
        )
    for method in ("KL_divergence", "vote_entropy") if every else ("vote_entropy",):
        found[f"scikit-activeml, committee of 10 ({method.replace('_', ' ')})"] = Script(
            activeml(
                lambda seed, method=method: pool.QueryByCommittee(method=method, random_state=seed),
                ensemble=committee, fit_ensemble=lambda *_: False,
            )
        )
    if every:
        from skactiveml.classifier import SklearnClassifier

        found[f"scikit-activeml, expected error reduction ({CANDIDATES} candidates)"] = Script(
            activeml(
                lambda seed: pool.SubSamplingWrapper(pool.MonteCarloEER(random_state=seed), max_candidates=CANDIDATES, random_state=seed),
                clf=lambda *_: SklearnClassifier(logistic(), classes=[0, 1]),
                fit_clf=lambda *_: True, ignore_partial_fit=lambda *_: True,
            )
        )
    return found


def small_text_strategies(every):
    try:
        import small_text as st
    except ImportError:
        print("small-text: missing")
        return {}

    def choose_by(query):
        def choose(model, points, labels, seen, rest, take, rng):
            # The classifier of small-text is a wrapper around the model of the script.
            wrapper = st.SklearnClassifier(model, 2)
            data = st.SklearnDataset(points, labels, target_labels=np.array([0, 1]))
            np.random.seed(int(rng.integers(2**31)))
            return query().query(wrapper, data, rest, seen, labels[seen], n=take)

        return choose

    queries = {"breaking ties": st.BreakingTies}
    if every:
        queries.update({"least confidence": st.LeastConfidence, "entropy": st.PredictionEntropy})
    return {f"small-text, {name}": Script(choose_by(query)) for name, query in queries.items()}


def scripts(every):
    return {
        "LR, random order": Script(random),
        "LR, surest first": Script(surest),
        "RBF SVM, random order": Script(random, SVC),
        "RBF SVM, surest first": Script(surest, SVC),
        "RBF SVM, least sure first": Script(least_sure, SVC),
        **activeml_strategies(every),
        **small_text_strategies(every),
    }


class Online:
    """A learner that takes one point at a time, in random order."""

    def __init__(self, **sgd):
        self.sgd = sgd

    def play(self, points, labels, seed):
        order = np.random.default_rng(seed).permutation(len(labels))
        model = SGDClassifier(random_state=0, penalty=None, **self.sgd)
        wrong = np.zeros(len(labels), bool)
        for step, i in enumerate(order):
            x, y = points[i : i + 1], labels[i : i + 1]
            wrong[step] = y[0] != (model.predict(x)[0] if step else 1)
            model.partial_fit(x, y, classes=[-1, 1])
        return int(wrong.sum()), int(wrong[: len(wrong) // 2].sum())


HINDSIGHT = ["LR, random order", "perceptron, random order", "PA-I, random order", "ours, random order"]


def classifiers():
    from lightgbm import LGBMClassifier

    found = {
        "LR, random order": Script(random),
        "LR, surest first": Script(surest),
        "linear SVM, random order": Script(random, LinearSVC),
        "RBF SVM, random order": Script(random, SVC),
        "RBF SVM, surest first": Script(surest, SVC),
        "LightGBM, random order": Script(random, lambda: LGBMClassifier(n_jobs=1, verbose=-1)),
        "perceptron, random order": Online(loss="perceptron", learning_rate="constant", eta0=1.0),
        "PA-I, random order": Online(loss="hinge", learning_rate="pa1", eta0=1.0),
    }
    return found


def ours(program, points, labels, seed, folder, *more):
    table = folder / "pool.csv"
    names = ",".join(f"x{j}" for j in range(points.shape[1]))
    formats = ["%.17g"] * points.shape[1] + ["%d"]
    np.savetxt(table, np.c_[points, labels], delimiter=",", header=names + ",label", comments="", fmt=formats)
    text = subprocess.run([program, table, "positive=1", f"seed={seed}", *more], check=True, capture_output=True, text=True).stdout
    n, whole, half = map(int, text.split()[-1].split(","))
    assert n == len(labels)
    return whole, half


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--orders", type=int, default=8)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--sets", default=POOLS)
    parser.add_argument("--every", action="store_true", help="every strategy, also costly ones (minutes per pool) and those that between two classes ask the same")
    parser.add_argument("--scripts", choices=["strategies", "classifiers"], default="strategies")
    parser.add_argument("--separable", action="store_true")
    parser.add_argument("--program", default=ROOT / "target/release/examples/simulate_labelling")
    parser.add_argument("--save", type=pathlib.Path, help="every result, as JSON lines")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        for order in range(options.orders):
            for name in options.sets.split(","):
                points, labels = load(options.folder, name)
                rows = np.random.default_rng(5000 + order).permutation(len(labels))[: options.rows]
                points, labels = points[rows], labels[rows]
                points = standardised(points, points)[0][:, points.std(0) > 0]
                if options.separable:
                    fitted = LogisticRegression(C=100, fit_intercept=False, max_iter=5000).fit(points, labels)
                    labels = np.where(fitted.decision_function(points) >= 0, 1, -1)
                entry = {"pool": name, "order": order, "rows": len(labels), "counts": {}, "seconds": {}}
                start = time.perf_counter()
                entry["counts"]["ours"] = ours(options.program, points, labels, order, pathlib.Path(scratch))
                entry["seconds"]["ours"] = time.perf_counter() - start
                own = {}
                if options.separable:
                    own = {"SampledGreedy": ["order=sampled"], "ours, 3 slips": ["slips=3"]}
                elif options.scripts == "classifiers":
                    own = {"ours, random order": ["order=random"]}
                for who, more in own.items():
                    start = time.perf_counter()
                    entry["counts"][who] = ours(options.program, points, labels, order, pathlib.Path(scratch), *more)
                    entry["seconds"][who] = time.perf_counter() - start
                chosen = classifiers() if options.scripts == "classifiers" else scripts(options.every)
                if options.separable:
                    chosen = {who: chosen[who] for who in ("LR, random order", "LR, surest first")}
                for who, script in chosen.items():
                    start = time.perf_counter()
                    entry["counts"][who] = script.play(points, labels, order)
                    entry["seconds"][who] = time.perf_counter() - start
                if not options.separable and options.scripts == "classifiers":
                    best = min(HINDSIGHT, key=lambda who: entry["counts"][who][0])
                    entry["counts"]["best of four in hindsight"] = entry["counts"][best]
                    entry["seconds"]["best of four in hindsight"] = entry["seconds"][best]
                results.append(entry)
                if options.save:
                    with options.save.open("a") as file:
                        file.write(json.dumps(entry) + "\n")
    report(results)


def report(results):
    if "ours, 3 slips" in results[0]["counts"]:
        slips = [(e["counts"]["ours"][0], e["counts"]["ours, 3 slips"][0]) for e in results]
        kept = sum(after <= before + 3 * 3 + 5 for before, after in slips)
        print(f"with 3 slips at most 3 × 3 + 5 corrections more: {kept} of {len(slips)} pools, {max(b - a for a, b in slips)} at most\n")
    names = list(results[0]["counts"])
    pools = list(dict.fromkeys(e["pool"] for e in results))
    orders = sorted({e["order"] for e in results})
    # The axes are pool, order, script, and (whole pool, first half).
    counts = np.array([[[e["counts"][who] for who in names] for e in results if e["pool"] == pool] for pool in pools], float)
    print("| labelled by |", " | ".join(f"{p} ({next(e['rows'] for e in results if e['pool'] == p)})" for p in pools),
          "| ours / it, whole pool | first half | median seconds |")
    print("|---|" + "---|" * (len(pools) + 3))
    draws = np.random.default_rng(0).integers(len(orders), size=(2000, len(pools), len(orders)))
    for j, who in enumerate(names):
        cells = [f"{counts[p, :, j, 0].mean():.0f} ({counts[p, :, j, 1].mean():.0f})" for p in range(len(pools))]
        ratios = []
        for m in (0, 1):
            logs = np.log1p(counts[:, :, 0, m]) - np.log1p(counts[:, :, j, m])
            drawn = np.take_along_axis(logs[None], draws, axis=2).mean((1, 2))
            low, high = np.exp(np.quantile(drawn, [0.025, 0.975]))
            ratios.append("1" if j == 0 else f"{np.exp(logs.mean()):.2f} ({low:.2f} to {high:.2f})")
        seconds = np.median([e["seconds"][who] for e in results])
        print(f"| {who} |", " | ".join(cells), "|", " | ".join(ratios), f"| {seconds:.1f} |")


if __name__ == "__main__":
    main()
