"""Runs the jobs of several fits in common passes over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def together(fits: Sequence[Callable[[Callable[[bytes], bytes]], T]], run: Callable[..., list[bytes]]) -> list[T]:
    """Call several functions that each request one job after another, and run their requests in common passes.

    Parameters
    ----------
    fits : sequence of callable
        Each receives a function that runs a job.
    run : callable
        ``run([(number of the fit, job), ...])`` returns the result of each job.

    Returns
    -------
    list
        The results of the functions.
    """
    requests: SimpleQueue[tuple[int, Any]] = SimpleQueue()
    answers: list[SimpleQueue[bytes | None]] = [SimpleQueue() for _ in fits]
    results: dict[int, T] = {}

    def ask(number: int, job: bytes) -> bytes:
        requests.put((number, job))
        answer = answers[number].get()
        if answer is None:
            raise InterruptedError("another fit failed")
        return answer

    def work(number: int) -> None:
        try:
            results[number] = fits[number](partial(ask, number))
            requests.put((number, None))
        except BaseException as error:  # The main thread raises it.
            requests.put((number, error))

    threads = [Thread(target=work, args=(number,), daemon=True) for number in range(len(fits))]
    for thread in threads:
        thread.start()
    active = len(fits)
    try:
        while active:
            jobs = []
            for number, job in sorted(((requests.get()) for _ in range(active)), key=lambda request: request[0]):
                if isinstance(job, BaseException):
                    raise job
                if job is None:
                    active -= 1
                else:
                    jobs.append((number, job))
            for (number, _), answer in zip(jobs, run(jobs) if jobs else [], strict=True):
                answers[number].put(answer)
    finally:
        for queue, thread in zip(answers, threads, strict=True):
            queue.put(None)
            thread.join()
    return [results[number] for number in range(len(fits))]
