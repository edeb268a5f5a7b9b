"""Rows on Ray workers, for the estimators of halfspaces.blocks.

    python ray_source.py

Each actor holds some blocks of rows. A job is sent to all actors, and their partial results are joined here. Ray
repeats a call that fails because an actor died. A block that was summed twice counts once.
"""

from itertools import pairwise

import numpy as np
import ray

from halfspaces import blocks
from halfspaces.blocks import BLOCK_ROWS


@ray.remote(max_restarts=3, max_task_retries=3)
class Holder:
    """Some of the rows, created by `load(start, end)` where the actor runs."""

    def __init__(self, load, start, end):
        self.start, (self.X, self.y) = start, load(start, end)

    def classes(self):
        """Return the labels of these rows."""
        return np.unique(self.y)

    def partial(self, job, positive):
        """Run a job on these rows."""
        y = None if positive is None else self.y
        return blocks.partial(job, self.X, y, positive, self.start)


class RaySource:
    """Rows that `load(start, end)` returns with their labels, divided among `holders` actors."""

    def __init__(self, load, shape, holders):
        self.shape = shape
        n_blocks = -(-shape[0] // BLOCK_ROWS)
        cuts = [n_blocks * i // holders * BLOCK_ROWS for i in range(holders)] + [shape[0]]
        pairs = [(start, end) for start, end in pairwise(cuts) if start < end]
        self._holders = [Holder.remote(load, start, end) for start, end in pairs]

    def run(self, job, positive=None):
        """Run a job on all rows."""
        return blocks.merge(ray.get([holder.partial.remote(job, positive) for holder in self._holders]))

    def classes(self):
        """Return the distinct labels."""
        return np.unique(np.concatenate(ray.get([holder.classes.remote() for holder in self._holders])))


def example(start, end):
    """Return rows of a data set that is the same for every holder."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4)) * [1.0, 10.0, 0.1, 3.0]
    y = X[:, 0] + 0.1 * X[:, 1] > rng.normal(size=20_000)
    return X[start:end], y[start:end]


def main():
    """Fit with one, two and three actors, and compare with a fit in this process."""
    X, y = example(0, 20_000)
    alone = blocks.LogisticRegression().fit(blocks.MemorySource(X, y))
    round_alone = blocks.ForsterTransform().fit(blocks.MemorySource(X))
    for holders in (1, 2, 3):
        source = RaySource(example, X.shape, holders)
        assert np.array_equal(blocks.LogisticRegression().fit(source).coef_, alone.coef_)
        assert np.array_equal(blocks.ForsterTransform().fit(source).matrix_, round_alone.matrix_)
        print(f"{holders} actors: the bits of one process")


if __name__ == "__main__":
    ray.init(num_cpus=4, include_dashboard=False)
    main()
