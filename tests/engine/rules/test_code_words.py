"""Words of callers in the text of a code."""

from __future__ import annotations

import pytest

from risala.engine.rules.template import word_fault


@pytest.mark.parametrize(
    "word",
    [
        *("Boutique Nour", "St. Louis & Co.", "متجر النور", "Société Générale S.A.", "L’Épi d’or"),
        *("فروشگاه می‌خوانم", "3.50", "№ 7", "Ibrahim (Nouakchott)", "v2.0", "@nour"),
    ],
)
def test_words_that_may_stand_in_a_text(word):
    assert word_fault(word) is None


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("a\nb", "one line"),
        ("a\u2028b", "one line"),
        ("a\tb", "one line"),
        ("a\u202eb", "direction"),
        ("a\u2066b", "direction"),
        ("a\u200bb", "control"),
        ("https://evil", "link"),
        ("tel://1", "link"),
        ("www evil", "link"),
        ("evil.example", "link"),
        ("Pay.at/x", "link"),
        ("evil。example", "link"),
        ("evil．example", "link"),
        ("203.0.113.9", "link"),
        ("me@evil.example", "link"),
        ("موقع.شبكة", "link"),
        ("{{code}}", "placeholders"),
    ],
)
def test_words_that_may_not(word, part):
    assert part in word_fault(word)
