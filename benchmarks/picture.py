"""Line charts as SVG: small enough to read, and to stand in the documentation as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 130, 44, 48
_COLOURS = ("#0b6e4f", "#b5442d", "#2f5d9f", "#8a6d00", "#6a3d9a", "#444444")
"""Told apart also by those who do not see red and green: they differ in lightness."""
_DASHES = ("", "6 3", "2 3", "9 3 2 3", "12 4", "1 4")

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float
    log: bool

    def at(self, value: float) -> float:
        low, high, here = self.low, self.high, value
        if self.log:
            low, high, here = math.log10(low), math.log10(high), math.log10(value)
        share = (here - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def short(value: float) -> str:
    for size, word in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{word}"
    return f"{value:g}"


def ticks(high: float) -> list[float]:
    """Four to eight round numbers from 0 to at least ``high``."""
    step = 10 ** math.floor(math.log10(high or 1))
    step = next(step * part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if high / (step * part) <= 8)
    return [place * step for place in range(math.ceil(high / step) + 1)]


def chart(title: str, across: str, up: str, lines: Mapping[str, Points]) -> str:
    """An SVG with a line for each name; across is logarithmic, up begins at 0.

    The points of each line are (across, up), in order.
    """
    every = [point for points in lines.values() for point in points]
    marks = ticks(max(y for _, y in every))
    xs = sorted({x for x, _ in every})
    x_scale = _Scale(xs[0], xs[-1], _LEFT, _WIDTH - _RIGHT, log=True)
    y_scale = _Scale(0, marks[-1], _HEIGHT - _BOTTOM, _TOP, log=False)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        f' font-family="sans-serif" font-size="12"><title>{escape(title)}</title>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(_LEFT, 22, title, size=15),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 10, across, anchor="middle"),
        _text(_LEFT, _TOP - 8, up),
    ]
    for mark in marks:
        y = y_scale.at(mark)
        parts.append(_line(_LEFT, y, _WIDTH - _RIGHT, y, "#dddddd"))
        parts.append(_text(_LEFT - 8, y + 4, short(mark), anchor="end"))
    under = _HEIGHT - _BOTTOM + 18
    parts += [_text(x_scale.at(x), under, short(x), anchor="middle") for x in xs]
    ends = _apart([y_scale.at(points[-1][1]) for points in lines.values()])
    for place, (name, points) in enumerate(lines.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        dash = _DASHES[place % len(_DASHES)]
        where = [(x_scale.at(x), y_scale.at(y)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in where)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"'
            f' stroke-dasharray="{dash}"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in where]
        parts.append(_text(_WIDTH - _RIGHT + 10, ends[place] + 4, name, fill=colour))
    return "\n".join([*parts, "</svg>", ""])


def _apart(heights: list[float], least: float = 15) -> list[float]:
    """The same heights, moved down where two names would stand on each other."""
    found = list(heights)
    below = -math.inf
    for place in sorted(range(len(found)), key=found.__getitem__):
        found[place] = below = max(found[place], below + least)
    return found


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", size: int = 12, fill: str = "#222222"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
        f' fill="{fill}">{escape(words)}</text>'
    )
