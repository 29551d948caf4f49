"""A policy by words: texts with some of them are refused, others are replaced.

Words, not patterns: some patterns take for ever on a text of 1600 characters, and would hold up the
service meanwhile. Case, accents and invisible marks are ignored in forbidden words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

import trio
from pydantic import BaseModel, ConfigDict, Field

from risala.plugins.policy import (
    PolicyMessage,
    PolicyPass,
    PolicyRefusal,
    PolicyRewrite,
    PolicyVerdict,
)
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.typed import Purpose, typed

REASON: Final = "forbidden_words"
_Word = Annotated[str, Field(min_length=1, max_length=100)]


class WordsSettings(BaseModel):
    """``[policies.NAME.words]``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    refuse: tuple[_Word, ...] = Field(default=(), max_length=1000)
    """Words, or words in a row, with which no message is sent."""
    replace: dict[_Word, Annotated[str, Field(max_length=100)]] = Field(
        default_factory=dict, max_length=1000
    )
    """What is written in place of some words, however those are written."""
    sentence: Annotated[str, Field(min_length=1, max_length=300)] = (
        "The text has a word that is not allowed here. Change the text."
    )
    """What the sender of a message that is refused is told."""


class WordsPolicy:
    """A :class:`risala.plugins.policy.MessagePolicy`."""

    def __init__(self, name: str, settings: WordsSettings) -> None:
        self._refusal = PolicyRefusal(REASON, settings.sentence)
        self._refused = _any_of(map(folded, settings.refuse))
        self._replaced = _each_of(settings.replace)
        self._by = tuple(settings.replace.values())

    async def judge(self, messages: Sequence[PolicyMessage]) -> Sequence[PolicyVerdict]:
        await trio.lowlevel.checkpoint()
        return [self._judged(each.text) for each in messages]

    def _judged(self, text: str) -> PolicyVerdict:
        if self._refused is not None and self._refused.search(folded(text)):
            return self._refusal
        if self._replaced is None:
            return PolicyPass()
        written = self._replaced.sub(self._instead, text)
        if not 0 < len(written) <= TEXT_CHARACTERS_MAX:  # it could not be sent unchanged
            return self._refusal
        return PolicyPass() if written == text else PolicyRewrite(text=written)

    def _instead(self, found: re.Match[str]) -> str:
        """The replacement of a word: selected by the matching group, since a search treats more
        letters as equal than other comparisons (``ſ`` and ``s``)."""
        assert found.lastgroup is not None
        return self._by[int(found.lastgroup.removeprefix("w"))]


def folded(text: str) -> str:
    """A text in the form for searching words: no case, no accents, no invisible marks."""
    return typed(text, Purpose.KEYWORD)


def _any_of(words: Iterable[str]) -> re.Pattern[str] | None:
    """Finds any of these as whole words; the longest first. None: no words."""
    known = sorted({word for word in words if word}, key=len, reverse=True)
    if not known:
        return None
    return _whole("|".join(map(re.escape, known)))


def _each_of(words: Iterable[str]) -> re.Pattern[str] | None:
    """As :func:`_any_of`, with a group for each: ``w0`` for the first."""
    known = sorted(enumerate(words), key=lambda pair: len(pair[1]), reverse=True)
    if not known:
        return None
    return _whole("|".join(f"(?P<w{number}>{re.escape(word)})" for number, word in known))


def _whole(alternatives: str) -> re.Pattern[str]:
    """No letter of a word directly before it or after it."""
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)
