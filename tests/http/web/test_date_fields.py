"""Fields for days and times, whose look is the browser's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from risala import http

TEMPLATES = sorted(Path(http.__file__).parent.rglob("templates/**/*.html"))
_FIELD = re.compile(r"<input[^>]*type=.(?:date|datetime-local|time|month).[^>]*>")
_CALL = re.compile(r"parts\.field\([^{}]*type=.(?:date|datetime-local|time|month).[^{}]*")


@pytest.mark.parametrize("pattern", [_FIELD, _CALL])
def test_they_run_from_the_left_in_every_page(pattern):
    """Browsers write digits and their order as in their own language, also in an Arabic page."""
    found = [each for path in TEMPLATES for each in pattern.findall(path.read_text("utf-8"))]
    assert found
    assert [each for each in found if 'dir="ltr"' not in each] == []
