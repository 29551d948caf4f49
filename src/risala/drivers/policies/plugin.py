"""Message policies that are built in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Final

import trio
from pydantic import BaseModel, ConfigDict, Field

from risala.plugins.hookspecs import hookimpl
from risala.plugins.policy import (
    MessagePolicyFactory,
    PolicyMessage,
    PolicyPass,
    PolicyRefusal,
    PolicyRewrite,
    PolicyVerdict,
)
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.typed import Purpose, typed

# A policy by words: texts with some of them are refused, others are replaced.
#
# Words, not patterns: some patterns take for ever on a text of 1600 characters, and would hold up
# the service meanwhile. Case, accents and invisible marks are ignored in forbidden words.

REASON: Final = "forbidden_words"
_Word = Annotated[str, Field(min_length=1, max_length=100)]


class WordsSettings(BaseModel):
    """``[policies.NAME.words]``."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

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
        self._refused = WholeWords({folded(each): "" for each in settings.refuse})
        self._replaced = WholeWords({_alike(word): to for word, to in settings.replace.items()})

    async def judge(self, messages: Sequence[PolicyMessage]) -> Sequence[PolicyVerdict]:
        await trio.lowlevel.checkpoint()
        return [self._judged(each.text) for each in messages]

    def _judged(self, text: str) -> PolicyVerdict:
        if self._refused.are_in(folded(text)):
            return self._refusal
        if not self._replaced.are_some:
            return PolicyPass()
        written = self._replaced.replaced(text, _alike(text))
        if not 0 < len(written) <= TEXT_CHARACTERS_MAX:  # it could not be sent unchanged
            return self._refusal
        return PolicyPass() if written == text else PolicyRewrite(text=written)


class WholeWords:
    """Words, or words in a row, that are found with no letter directly before or after them.

    Looked up, not searched one after the other: a thousand words in each text of a batch would hold
    up the service.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        """
        Args:
            values: what stands for each word.
        """
        self._values = {word: value for word, value in values.items() if word}
        self.are_some = bool(self._values)
        lengths: dict[str, set[int]] = {}
        for word in self._values:
            lengths.setdefault(word[0], set()).add(len(word))
        self._lengths = {first: sorted(each, reverse=True) for first, each in lengths.items()}
        """By the first letter, the longest first."""

    def are_in(self, text: str) -> bool:
        """Whether one of the words is in a text."""
        return any(True for _ in self._places_of_words(text))

    def replaced(self, text: str, plain: str) -> str:
        """A text with the values of its words.

        Args:
            plain: the same text, letter for letter, in the form in which the words are.
        """
        pieces, end = [], 0
        for begin, length in self._places_of_words(plain):
            pieces += [text[end:begin], self._values[plain[begin : begin + length]]]
            end = begin + length
        return "".join([*pieces, text[end:]])

    def _places_of_words(self, text: str) -> Iterator[tuple[int, int]]:
        """The place and length of each word, one behind the other."""
        place = 0
        while place < len(text):
            length = 0
            if not (place and _is_letter(text[place - 1])):
                length = self._length_at(text, place)
                if length:
                    yield place, length
            place += length or 1

    def _length_at(self, text: str, place: int) -> int:
        """The length of the longest word at a place; 0: there is none."""
        for length in self._lengths.get(text[place], ()):
            end = place + length
            is_over = end >= len(text) or not _is_letter(text[end])
            if is_over and text[place:end] in self._values:
                return length
        return 0


def folded(text: str) -> str:
    """A text in the form for searching words: no case, no accents, no invisible marks."""
    return typed(text, Purpose.KEYWORD)


def _alike(text: str) -> str:
    """A text without case, letter for letter: what becomes two letters stays as it is."""
    return "".join(
        next((one for one in (each.casefold(), each.lower()) if len(one) == 1), each)
        for each in text
    )


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


WORDS = MessagePolicyFactory(
    name="words",
    settings=WordsSettings,
    build=WordsPolicy,
    summary="Refuses texts with some words, and rewrites others",
)


@hookimpl
def risala_register_message_policies(register: Callable[[MessagePolicyFactory], None]) -> None:
    register(WORDS)
