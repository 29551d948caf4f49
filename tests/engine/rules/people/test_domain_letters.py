"""Domains whose letters are of several scripts."""

from __future__ import annotations

import idna
import pytest

from risala.engine.rules.people.emails import letters_by_script


@pytest.mark.parametrize(
    "domain",
    [
        *("bаnk.example", "раypal.com", "gооgle.com", "αpple.com", "аррӏе.com", "münchеn.de"),
        *("شركة.bankа", "bank.қаз", "ƅаnk.fr", "օrange.mr"),
    ],
)
def test_letters_of_several_scripts(domain):
    assert letters_by_script(domain) == letters_by_script(idna.encode(domain).decode()) != {}


@pytest.mark.parametrize(
    "domain",
    [
        *("bank.example", "münchen.de", "straße.de", "école.fr", "a-1.mr", "почта.рф", "شركة.موقع"),
        *("日本ひらがなカタカナ.みんな", "ελλάδα.ελ", "127.example"),
    ],
)
def test_letters_of_one_script(domain):
    assert letters_by_script(domain) == {}


def test_the_letters_are_shown():
    assert letters_by_script("bаnk.mr") == {"cyrillic": "а", "latin": "bnkmr"}
