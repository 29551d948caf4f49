"""What the default costs: the library's tables are loaded only for who serves other countries."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
import risala.app.service, risala.http.dashboard.app, risala.http.api.openapi.document
from risala.config.model import Settings
for countries in (["MR"], ["MR", "SN"]):
    settings = Settings.model_validate({"numbers": {"countries": countries}})
    settings.plan.read(settings.plan.example)
    print(any(each.partition(".")[0] == "phonenumbers" for each in sys.modules))
"""


@pytest.mark.slow
def test_the_library_is_imported_only_for_other_countries():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"], "at home, and abroad"
