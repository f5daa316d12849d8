"""The soak on the sample: workers die, the cluster dies, and every book balances. And it can be interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.settings import ENGINE
from tests.shop.test_demo import left_of

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]
COMMAND = [sys.executable, "-m", "project.soak", "--database", ENGINE]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(tmp_path)}


@pytest.mark.timeout(300)
def test_the_sample_balances(environment: dict[str, str], tmp_path: Path) -> None:
    soak = subprocess.run(COMMAND, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    assert soak.returncode == 0, soak.stdout + soak.stderr
    assert "0 differences" in soak.stdout
    assert "every cluster  " in soak.stdout
    assert "of which" in soak.stdout
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing_behind(environment: dict[str, str], tmp_path: Path) -> None:
    with subprocess.Popen(COMMAND, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as soak:
        deadline = time.monotonic() + 60
        while not (folders := list(tmp_path.glob("saga-soak-*"))) or len(left_of(folders[0])) < 6:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        (folder,) = folders
        soak.send_signal(signal.SIGTERM)
        assert soak.wait(60) == 130
    assert left_of(folder) == []
    assert not folder.exists()


def test_orders_that_cannot_be_read_are_refused(environment: dict[str, str], tmp_path: Path) -> None:
    command = [*COMMAND, "--orders", tempfile.mkdtemp(dir=tmp_path)]
    soak = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    assert soak.returncode == 1
    assert "products.csv cannot be read" in soak.stderr
