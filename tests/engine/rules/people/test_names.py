"""Names that others read in mails: no links, and nothing that makes a line read otherwise."""

from __future__ import annotations

import pytest

from risala.engine.rules.people.names import name_fault


@pytest.mark.parametrize(
    "name",
    [
        "You have won: https://evil.example/x",
        "Visit www.evil.example",
        "evil.example",
        "Win at Evil.Example/now",
        "événement.fr",
        "شركة.موقع",
        "call me@evil.example",
        "@evil",
        "Bank \u202egro.live",
        "Bank\u2066x\u2069",
        "Bank\u200f",
        "Ba\u00adnk",
        "Ba\ufeffnk",
        "a\x00b",
    ],
)
def test_what_is_no_name(name):
    assert name_fault(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Baraka Market",
            "S.A.R.L. Nour",
            "St. Louis",
            "Café n° 7",
            "A. B. Sidi",
            "Mohamed & Fils",
        ),
        *("مكتبة النور", "فروشگاه می\u200cخواهم", "Nº 1 …", "3.5 Tonnes", "Shop (Nouakchott)"),
    ],
)
def test_what_is_a_name(name):
    assert name_fault(name) is None
