"""Steps and sagas keep their signatures: mypy --strict and pyright say so, line by line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

Checker = Callable[[str, Path], dict[int, str]]


def mypy(name: str, scratch: Path) -> dict[int, str]:
    """Line → what mypy says of it. Without the project's settings: its plugins need a Django that is set up."""
    settings = scratch / "mypy.ini"
    settings.write_text("[mypy]\nstrict = true\npython_version = 3.11\nfollow_imports = silent\n")
    done = call(
        "mypy", f"--config-file={settings}", f"--cache-dir={scratch}", "--output=json", f"tests/typing/{name}.py"
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {one["line"]: one["message"] for one in found if one["severity"] == "error"}


def pyright(name: str, _scratch: Path) -> dict[int, str]:
    """Line → what pyright says of it, in the project's settings."""
    file = HERE / f"{name}.py"
    done = call("pyright", "--outputjson", f"--pythonpath={sys.executable}", str(file))
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["summary"]["filesAnalyzed"] == 1
    found = [one for one in told["generalDiagnostics"] if one["severity"] == "error"]
    assert {Path(one["file"]) for one in found} <= {file}
    return {one["range"]["start"]["line"] + 1: one["message"] for one in found}


def call(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", program, *words], capture_output=True, text=True, check=False, cwd=ROOT, timeout=300
    )


@pytest.mark.timeout(300)
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_what_is_right_is_accepted(checker: Checker, tmp_path: Path) -> None:
    """The example of the README and everything like it has no error in strict mode."""
    assert checker("good", tmp_path) == {}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_what_is_wrong_is_refused(checker: Checker, tmp_path: Path) -> None:
    """Wrong arguments to start(), to a step, to its options and to a saga: an error on exactly those lines."""
    marked = [number for number, line in enumerate(lines("bad"), 1) if "# refused" in line]
    assert sorted(checker("bad", tmp_path)) == marked


def lines(name: str) -> list[str]:
    return (HERE / f"{name}.py").read_text().splitlines()
