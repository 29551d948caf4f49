"""What the default costs: the library's tables are loaded only for who serves other countries."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
import risala.app.service, risala.http.dashboard.app, risala.http.api.openapi.document
from risala.config.model import Settings
settings = Settings.model_validate({"numbers": {"countries": %s}})
settings.plan.read(settings.plan.example)
print(any(each.partition(".")[0] == "phonenumbers" for each in sys.modules))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("countries", "is_imported"), [(["MR"], "False"), (["MR", "SN"], "True")], ids=str
)
def test_the_library_is_imported_only_for_other_countries(countries, is_imported):
    done = subprocess.run(
        [sys.executable, "-c", CODE % countries], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == is_imported
