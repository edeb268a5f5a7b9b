"""The command ``halfspaces``, which the wheel contains."""

from __future__ import annotations

import signal
import sys

from halfspaces import _core


def main() -> None:
    """Run the command with the arguments of this process, and exit with its code."""
    # The command handles signals itself, as the program without Python does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    sys.exit(_core.command(["halfspaces", *sys.argv[1:]]))
