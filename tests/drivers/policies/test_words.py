"""Words that are not sent, and words that are written anew."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from risala.drivers.policies.plugin import WordsPolicy, WordsSettings
from risala.plugins.policy import PolicyMessage, PolicyPass, PolicyRefusal, PolicyRewrite

SETTINGS = WordsSettings(
    refuse=("vous avez gagné", "لقد ربحت", "c++"),
    replace={"Riasla": "Risala", "nothing": ""},
    sentence="No prizes.",
)
REFUSED = PolicyRefusal("forbidden_words", "No prizes.")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Bonjour", PolicyPass()),
        ("Félicitations, VOUS AVEZ GAGNE !", REFUSED),
        ("vous avez ga\u200bgne\u0301", REFUSED),
        ("لقَد ربِحت", REFUSED),
        ("I know C++.", REFUSED),
        ("vous avez gagnés", PolicyPass()),
        ("RIASLA and riasla", PolicyRewrite(text="Risala and Risala")),
        ("Riaſla", PolicyRewrite(text="Risala")),  # the s of old prints
        ("Riaslas", PolicyPass()),
        ("nothing", REFUSED),
        ("Riasla Risala", PolicyRewrite(text="Risala Risala")),
    ],
)
async def test_what_becomes_of_a_text(text, verdict):
    policy = WordsPolicy("prizes", SETTINGS)
    message = PolicyMessage("message", "org_1", False, "+22236123456", None, text)
    assert await policy.judge([message]) == [verdict]


async def test_without_words_everything_passes():
    message = PolicyMessage("code", "org_1", False, "+22236123456", None, "")
    assert await WordsPolicy("all", WordsSettings()).judge([message]) == [PolicyPass()]


def test_an_empty_word_is_none():
    with pytest.raises(ValidationError):
        WordsSettings(refuse=("",))
