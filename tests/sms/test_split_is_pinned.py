"""A queued message is split anew at each attempt: another cut would mix two versions' parts.

These cuts may only change together with a migration of what is queued (decision 0005).
"""

from __future__ import annotations

import hashlib

import pytest

from risala.sms.segment import cut, split

TEXTS = {
    "latin": "The quick brown fox jumps over the lazy dog. " * 12,
    "extension": "{price} = 12€ [ok] ~ " * 20,
    "arabic": "رسالة عربية طويلة جدا لا تقسم الكلمات " * 9,
    "emoji": "👩‍👩‍👧‍👦🇲🇷👍🏽é" * 30,
    "mixed": "Réf. n°42 — ça va? œuvre ✓ " * 15,
}
PINNED = {
    "latin": ([153, 153, 153, 81], "e4b4f803"),
    "extension": ([119, 118, 118, 65], "e8763e28"),
    "arabic": ([67, 67, 67, 67, 67, 7], "529996e8"),
    "emoji": ([36, 36, 36, 36, 36, 36, 36, 36, 36, 36], "93e00fdd"),
    "mixed": ([67, 67, 67, 67, 67, 67, 3], "33b17374"),
}


def fingerprint(parts: tuple[str, ...]) -> str:
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:8]


@pytest.mark.parametrize("name", TEXTS)
def test_cuts_are_where_they_always_were(name):
    parts = split(TEXTS[name])
    assert ([len(part) for part in parts], fingerprint(parts)) == PINNED[name]


WIDE = {
    "latin": ([152, 152, 152, 84], "fdc28c5e"),
    "extension": ([119, 118, 118, 65], "e8763e28"),
    "arabic": ([66, 66, 66, 66, 66, 12], "068d0f3d"),
    "emoji": ([36, 36, 36, 36, 36, 36, 36, 36, 36, 36], "93e00fdd"),
    "mixed": ([66, 66, 66, 66, 66, 66, 9], "a6b2d1fd"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_sent_is_cut_where_it_was_since_there_are_wide_references(name):
    parts = cut(TEXTS[name])
    assert parts.reference_bits == 16
    assert ([len(part) for part in parts.texts], fingerprint(parts.texts)) == WIDE[name]
