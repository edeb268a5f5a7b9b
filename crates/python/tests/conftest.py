"""Fixtures that all tests share."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _interrupts_are_handled() -> Iterator[None]:
    """Handle Ctrl-C even if the shell started the tests with SIGINT ignored, as it does in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
