"""The demo site speaks to each browser in its own language, where there is one, and else in English."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.processes import ROOT

LOOK = """
import re, django
django.setup()
from django.test import Client
for language in ("en", "de-AT,en;q=0.5", "fr", "ja"):
    page = Client(headers={"accept-language": language}).get("/admin/login/", headers={"host": "localhost"})
    print(*re.findall(r'<html lang="([a-z]+)"', page.content.decode()))
"""


def test_english_german_and_french(tmp_path: Path) -> None:
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "project.settings", "SHOP_DATA": str(tmp_path), "DATABASE_URL": ""}
    said = subprocess.run([sys.executable, "-c", LOOK], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert said.stdout.split() == ["en", "de", "fr", "en"]
