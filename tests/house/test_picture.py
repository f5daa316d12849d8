"""The picture of the statuses in the README is the table that the engine goes by."""

from __future__ import annotations

import re

from saga_app.core.status import picture
from tests.house.source import ROOT


def test_the_readme_shows_the_table_of_moves() -> None:
    """Design §6. Drawn from the table: to put it right, print saga_app.core.status.picture() into the README."""
    drawn = re.findall(r"```mermaid\n(stateDiagram.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert drawn == [picture()]
