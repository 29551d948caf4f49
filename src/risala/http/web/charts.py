"""Charts that the server draws as SVG with attributes only: no style, no script.

Charts are visual only; a table next to each shows the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10
from typing import Final

from markupsafe import Markup, escape

from risala.dataclass import dataclass
from risala.http.web.cached import as_markup

_BAR: Final = 10.0
"""Width of one bar's place; the picture is stretched to its page anyhow."""
_INSET: Final = 1.6
_HEIGHT: Final = 100.0
_LEAST: Final = 0.7
"""The minimum height of a bar above zero, so that it is visible."""
_GAP: Final = 0.45
"""The width of the gap between two colours of a bar."""
_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class Bar:
    """One place of a bar chart: its parts from the ground up, in the order of the colours."""

    parts: tuple[int, ...]
    """Well, on its way, wants a look, bad."""


def top_of(bars: Sequence[Bar]) -> int:
    """The end of the scale: a round number that three lines divide."""
    most = max((sum(bar.parts) for bar in bars), default=0)
    if most <= _LINES:
        return _LINES
    step = most / _LINES
    unit = 10 ** int(log10(step))
    for nice in (1, 2, 5, 10):
        if step <= nice * unit:
            return int(_LINES * nice * unit)
    return int(_LINES * ceil(step / unit) * unit)


def top_of_lines(series: Sequence[Sequence[int | None]]) -> int:
    """The end of the scale of lines."""
    return top_of([Bar((each or 0,)) for line in series for each in line])


def bars_svg(bars: Sequence[Bar], label: str) -> Markup:
    """The bars alone. ``label`` is for screen readers."""
    width, top = _BAR * len(bars), top_of(bars)
    drawn = [
        f'<path class="grid-line" d="M0 {_n(line * _HEIGHT / _LINES)}H{_n(width)}"/>'
        for line in range(_LINES + 1)
    ]
    for place, bar in enumerate(bars):
        drawn += _drawn(bar, place * _BAR, top)
    return as_markup(
        f'<svg viewBox="0 0 {_n(width)} 100" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(label)}">{"".join(drawn)}</svg>'
    )


def _drawn(bar: Bar, left: float, top: int) -> list[str]:
    rectangles, y = [], _HEIGHT
    for colour, part in enumerate(bar.parts, start=1):
        if part <= 0:
            continue
        height = max(part * _HEIGHT / top, _LEAST)
        y -= height
        rectangles.append(
            f'<rect class="f{colour}" x="{_n(left + _INSET)}" y="{_n(y)}"'
            f' width="{_n(_BAR - 2 * _INSET)}" height="{_n(max(height - _GAP, 0.4))}"/>'
        )
    return rectangles


_SHARE_LEAST: Final = 12.0
"""The least height of a part of a day that is not nothing: one failure among thousands is seen."""


def strip_svg(bars: Sequence[Bar], label: str) -> Markup:
    """Each place whole, parted by what it is made of: how it went, whatever its number was. An
    empty one is a line on the ground. ``label`` is for screen readers."""
    drawn = [_share_drawn(bar, place * _BAR) for place, bar in enumerate(bars)]
    return as_markup(
        f'<svg class="strip" viewBox="0 0 {_n(_BAR * len(bars))} 100" preserveAspectRatio="none"'
        f' role="img" aria-label="{escape(label)}">{"".join(drawn)}</svg>'
    )


def _share_drawn(bar: Bar, left: float) -> str:
    parts = [(colour, part) for colour, part in enumerate(bar.parts, start=1) if part > 0]
    if not parts:
        return (
            f'<rect class="f0" x="{_n(left + _INSET)}" y="92" width="{_n(_BAR - 2 * _INSET)}"'
            ' height="8"/>'
        )
    whole = sum(part for _, part in parts)
    heights = [max(part * _HEIGHT / whole, _SHARE_LEAST) for _, part in parts]
    y, rectangles = _HEIGHT, []
    for (colour, _), height in zip(parts, heights, strict=True):
        height *= _HEIGHT / sum(heights)
        y -= height
        rectangles.append(
            f'<rect class="f{colour}" x="{_n(left + _INSET)}" y="{_n(y)}"'
            f' width="{_n(_BAR - 2 * _INSET)}" height="{_n(height)}"/>'
        )
    return "".join(rectangles)


_STAGE: Final = 22.0
"""Height of a stage of a funnel; the rest of its place leads to the next one."""
_PLACE: Final = 30.0


def funnel_svg(counts: Sequence[int], label: str) -> Markup:
    """How many are left at each stage: bars in the middle, the first one whole, from top to bottom.
    It is the same from both sides, so it serves both directions of writing.

    Args:
        label: for screen readers.
    """
    whole = max(counts[0], 1) if counts else 1
    widths = [max(100 * count / whole, _LEAST) if count else 0.0 for count in counts]
    drawn = []
    for place, width in enumerate(widths):
        top = place * _PLACE
        below = widths[place + 1] if place + 1 < len(widths) else None
        drawn.append(
            f'<rect class="f1" x="{_n(50 - width / 2)}" y="{_n(top)}" width="{_n(width)}"'
            f' height="{_n(_STAGE)}"/>'
        )
        if below is not None:
            drawn.append(
                f'<path class="f2" d="M{_n(50 - width / 2)} {_n(top + _STAGE)}H{_n(50 + width / 2)}'
                f'L{_n(50 + below / 2)} {_n(top + _PLACE)}H{_n(50 - below / 2)}Z"/>'
            )
    height = max(len(counts) * _PLACE - (_PLACE - _STAGE), 0)
    return as_markup(
        f'<svg class="funnel" viewBox="0 0 100 {_n(height)}" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(label)}">{"".join(drawn)}</svg>'
    )


def times_svg(median_ms: int, most_ms: int, top_ms: int) -> Markup:
    """A strip of time: to the median, and to where most lie, on a scale that several share. The
    words beside it say both."""
    top = max(top_ms, 1)
    ends = ((2, most_ms), (1, median_ms))
    drawn = "".join(
        f'<rect class="f{colour}" width="{_n(max(100 * end / top, _LEAST))}" height="10"/>'
        for colour, end in ends
    )
    return as_markup(
        '<svg class="times" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="f0" width="100" height="10"/>{drawn}</svg>'
    )


def curves_svg(series: Sequence[Sequence[int | None]], label: str) -> Markup:
    """A line for each series, over the same places and scale as bars have. ``label`` is for screen
    readers; the classes ``l1``, ``l2``… give a line its colour and its dashes. Where a series has
    None, it has no line."""
    top = top_of_lines(series)
    drawn = [
        f'<path class="grid-line" d="M0 {_n(line * _HEIGHT / _LINES)}H100"/>'
        for line in range(_LINES + 1)
    ]
    for number, values in enumerate(series, start=1):
        last = max(len(values) - 1, 1)
        points = " ".join(
            f"{_n(place * 100 / last)} {_n(_HEIGHT - value * _HEIGHT / top)}"
            for place, value in enumerate(values)
            if value is not None
        )
        if points:
            drawn.append(f'<path class="l{number}" d="M{points}"/>')
    return as_markup(
        '<svg class="curves" viewBox="0 0 100 100" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(label)}">{"".join(drawn)}</svg>'
    )


def spark_svg(values: Sequence[float]) -> Markup:
    """A line without a scale, shown next to a figure; empty without data."""
    if len(values) < 2:
        return Markup("")
    low, high = min(values), max(values)
    low -= (high - low) * 0.1 or 1
    last = len(values) - 1
    points = " ".join(
        f"{_n(place * 100 / last)} {_n(30 - 28 * (value - low) / (high - low))}"
        for place, value in enumerate(values)
    )
    return as_markup(
        '<svg class="spark" viewBox="0 0 100 32" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="area" d="M{points} 100 32 0 32Z"/><path d="M{points}"/></svg>'
    )


def _n(value: float) -> str:
    """A coordinate, as short as it is exact enough."""
    return f"{value:.1f}".removesuffix(".0")
