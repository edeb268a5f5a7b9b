"""The command that the wheel contains."""

import pathlib
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import halfspaces

COMMAND = [sys.executable, "-m", "halfspaces"]


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def test_the_script_is_the_command() -> None:
    script = shutil.which("halfspaces", path=str(pathlib.Path(sys.executable).parent))
    assert script is not None
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"halfspaces {halfspaces.__version__}\n")


def test_results_go_to_standard_output_and_errors_to_standard_error(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,label\n" + "".join(f"{i},{'no' if i < 50 else 'yes'}\n" for i in range(100)))
    model = tmp_path / "m.json"
    assert run("fit", table, "--label", "label", "-o", model).returncode == 0
    found = run("predict", model, table)
    assert found.returncode == 0
    assert found.stdout.count("\n") == 101
    wrong = run("fit", table, "--label", "colour", "-o", tmp_path / "n.json")
    assert wrong.returncode == 2
    assert "colour" in wrong.stderr
    assert wrong.stdout == ""


def handles(process: int, signal_number: int) -> bool:
    """Whether a process has a handler for a signal."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (signal_number - 1) & 1)


def test_the_command_starts_without_scikit_learn() -> None:
    program = "import sys, halfspaces._command; sys.exit('sklearn' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
    assert set(halfspaces.__all__) <= set(dir(halfspaces))
    assert all(hasattr(halfspaces, name) for name in halfspaces.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        halfspaces.nothing  # noqa: B018


@pytest.mark.skipif(sys.platform != "linux", reason="reads the handlers of a process from /proc")
def test_a_signal_ends_the_command(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 30))
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "y.csv").write_text("label\n" + "".join(f"{int(v > 0)}\n" for v in rng.normal(size=len(X))))
    arguments = ["fit", "x.npy", "--labels", "y.csv", "-o", "m.json"]
    process = subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not handles(process.pid, signal.SIGTERM):
        assert process.poll() is None, "the fit takes longer"
        assert time.monotonic() < deadline, "the command handles signals"
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert not (tmp_path / "m.json").exists()
