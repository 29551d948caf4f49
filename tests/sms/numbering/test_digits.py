"""The digits of a number as people type it."""

from __future__ import annotations

import pytest

from risala.sms.numbering.plan import is_digits


@pytest.mark.parametrize(
    ("text", "is_so"),
    [("0", True), ("36123456", True), *((text, False) for text in ("", "36a", "+36", "٣٦", "³"))],
)
def test_only_ascii_digits_are_digits(text, is_so):
    assert is_digits(text) is is_so
