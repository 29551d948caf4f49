"""The text of a long message as far as its parts are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from risala.sms.alphabet import ESCAPE_CHARACTER
from risala.sms.segment import join_cut

GAP: Final = "…"
"""Replaces missing parts and halves of characters."""


class PartText(NamedTuple):
    """The text of one part, with the halves of characters that its cuts left at its ends."""

    text: str
    before: str = ""
    """A low surrogate, or nothing."""
    behind: str = ""
    """A high surrogate or ESC, or nothing."""


def text_of_parts(parts: Mapping[int, PartText], total: int) -> str:
    """The joined text of the parts, by their numbers from 1 to ``total``.

    A character divided by a cut is whole again if both of its parts are there.
    """
    pieces = []
    for is_there, numbers in groupby(range(1, total + 1), parts.__contains__):
        run = [*numbers]
        pieces.append(_joined(parts, run, total) if is_there else GAP)
    return "".join(pieces)


def _joined(parts: Mapping[int, PartText], run: Sequence[int], total: int) -> str:
    """The text of parts that follow one another. Halves towards a gap are part of the gap."""
    texts = [parts[number] for number in run]
    if run[0] > 1:
        texts[0] = texts[0]._replace(before="")
    if run[-1] < total:
        texts[-1] = texts[-1]._replace(behind="")
    return join_cut(map(_cut, texts), lost=GAP)


def _cut(part: PartText) -> tuple[str, str]:
    """The part's units, without the ESC that it ends in, and that ESC."""
    if part.behind == ESCAPE_CHARACTER:
        return part.before + part.text, part.behind
    return part.before + part.text + part.behind, ""
