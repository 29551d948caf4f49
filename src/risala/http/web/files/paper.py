"""Pages on paper, as PDF: facts, tables and notes, in the reading direction of their language.

The file says nothing but what it is given: the same values make the same octets, whenever that is.
What writes it is imported when the first one is made, in the thread that makes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unicodedata import bidirectional

import trio
from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.model.people import Language

if TYPE_CHECKING:
    from fpdf import FPDF

ROWS_MAX: Final = 2000
"""Rows of all tables of one file: two seconds of a thread, some 60 pages. The rest is left out, and
the caller's note says so."""
_LETTERS_MAX: Final = 500
"""Letters of one cell or note: longer ones are cut."""
_FONTS: Final = Path(__file__).parent / "fonts"
_MARGIN_MM: Final = 16
_LINE_MM: Final = 5.6
_WIDTH_MM: Final = 210 - 2 * _MARGIN_MM
_FACT_MM: Final = 46
"""The width of what a fact is called."""
_INK: Final = (24, 32, 30)
_DIM: Final = (92, 100, 96)
_LINE: Final = (208, 205, 196)
_TAG: Final = re.compile(r"<(/?)(bdi|[a-z]+)[^>]*>")
_FIRST_STRONG, _POP = "\u2068", "\u2069"
_ISOLATES: Final = {"": _FIRST_STRONG, "/": _POP}
_LIMITER: Final = trio.lowlevel.RunVar[trio.CapacityLimiter]("one paper at a time")


@dataclass(frozen=True, slots=True)
class PaperColumn:
    title: str
    share: float
    """The part of the width; those of all columns together are 1."""
    is_number: bool = False
    """Stands at the end of its column."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    title: str
    columns: tuple[PaperColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    sum: tuple[str, ...] | None = None
    """A last row in bold."""


@dataclass(frozen=True, slots=True)
class Paper:
    """What a file says, in this order."""

    language: Language
    title: str
    sender: tuple[str, ...]
    """Lines about who issues it, the first in bold."""
    facts: tuple[tuple[str, str], ...]
    sums: tuple[tuple[str, str], ...]
    """Each with a line; the last in bold."""
    tables: tuple[PaperTable, ...]
    notes: tuple[str, ...]
    page: str
    """`Page {page}`, in the file's language."""
    as_of_ms: int
    """What the file calls its time: UTC epoch milliseconds."""
    parts: tuple[tuple[str, str], ...] = ()
    """What of the last sum is what, below it."""


def can_write() -> bool:
    """Whether what writes such files is installed (``risala[pdf]``)."""
    return _is_there()


@cache
def _is_there() -> bool:
    return all(find_spec(name) is not None for name in ("fpdf", "uharfbuzz"))


def text_of(shown: Markup | str) -> str:
    """A sentence or number of pages as text: isolates instead of their tags."""
    if not isinstance(shown, Markup):
        return shown
    bare = _TAG.sub(lambda tag: _ISOLATES[tag[1]] if tag[2] == "bdi" else "", shown)
    return unescape(bare)


async def pdf_of(paper: Paper) -> bytes:
    """The file, made in a thread: one at a time."""
    try:
        limiter = _LIMITER.get()
    except LookupError:
        limiter = trio.CapacityLimiter(1)
        _LIMITER.set(limiter)
    return await trio.to_thread.run_sync(write, paper, limiter=limiter)


def write(paper: Paper) -> bytes:
    """The file. It may take a second: call it in a thread."""
    writer = _Writer(paper)
    try:
        return writer.write()
    finally:
        writer.close()


class _Writer:
    """Places all of it, from the edge where its language begins to read."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._is_rtl = paper.language is Language.ARABIC
        self._left = ROWS_MAX
        self._pdf = self._begun()
        fonts: Mapping[str, Any] = self._pdf.fonts
        self._letters: Final = frozenset(map(chr, fonts["paper"].cmap))

    def _begun(self) -> FPDF:
        from fpdf import FPDF
        from fpdf.prefs import ViewerPreferences

        rtl, paper = self._is_rtl, self._paper

        class Pages(FPDF):
            def footer(self) -> None:
                self.set_y(-_MARGIN_MM)
                self.set_font("Paper", "", 8)
                self.set_text_color(*_DIM)
                text = paper.page.format(page=self.page_no())
                self.cell(_WIDTH_MM, 5, text, align="R" if rtl else "L")

        pdf = Pages(format="A4")
        for style, weight in (("", "Regular"), ("B", "SemiBold")):
            pdf.add_font("Paper", style, _FONTS / f"RisalaPaper-{weight}.ttf")
        pdf.set_text_shaping(use_shaping_engine=True, direction="rtl" if rtl else "ltr")
        pdf.set_margins(_MARGIN_MM, _MARGIN_MM)
        pdf.set_auto_page_break(True, _MARGIN_MM + 6)
        pdf.set_title(paper.title)
        pdf.set_lang(paper.language.value)
        pdf.viewer_preferences = ViewerPreferences(display_doc_title=True)
        pdf.set_producer("Risala")
        pdf.set_creation_date(datetime.fromtimestamp(paper.as_of_ms / 1000, UTC))
        return pdf

    def write(self) -> bytes:
        pdf, paper = self._pdf, self._paper
        pdf.add_page()
        for place, line in enumerate(paper.sender):
            self._line(line, bold=place == 0, size=10, dim=place > 0)
        if paper.sender:
            pdf.ln(6)
        self._line(paper.title, bold=True, size=17, height=9)
        pdf.ln(2)
        for name, value in paper.facts:
            self._row((name, value), (_FACT_MM, _WIDTH_MM - _FACT_MM), ends=(False, False))
        pdf.ln(4)
        for place, (name, value) in enumerate(paper.sums):
            widths = (_WIDTH_MM - _FACT_MM, _FACT_MM)
            last = place == len(paper.sums) - 1
            self._row((name, value), widths, ends=(False, True), bold=last, ruled=True)
        for name, value in paper.parts:
            widths = (_WIDTH_MM - _FACT_MM, _FACT_MM)
            self._row((name, value), widths, ends=(False, True), dim=True)
        for table in paper.tables:
            self._table(table)
        for note in paper.notes:
            pdf.ln(3)
            self._colour(_DIM)
            pdf.set_font("Paper", "", 9)
            pdf.multi_cell(_WIDTH_MM, 4.6, self._clean(note), align=self._start)
        return bytes(pdf.output())

    def close(self) -> None:
        """Close the fonts' files."""
        fonts: Mapping[str, Any] = self._pdf.fonts
        for each in fonts.values():
            each.close()

    @property
    def _start(self) -> str:
        return "R" if self._is_rtl else "L"

    def _colour(self, colour: tuple[int, int, int]) -> None:
        self._pdf.set_text_color(*colour)

    def _line(
        self, text: str, *, bold: bool, size: float, dim: bool = False, height: float = 5
    ) -> None:
        pdf = self._pdf
        pdf.set_font("Paper", "B" if bold else "", size)
        self._colour(_DIM if dim else _INK)
        text = self._clean(text)
        pdf.cell(_WIDTH_MM, height, text, align=self._start, new_x="LMARGIN", new_y="NEXT")

    def _table(self, table: PaperTable) -> None:
        pdf = self._pdf
        widths = [column.share * _WIDTH_MM for column in table.columns]
        ends = [column.is_number for column in table.columns]
        if pdf.will_page_break(8 + 3 * _LINE_MM):
            pdf.add_page()
        pdf.ln(7)
        self._line(table.title, bold=True, size=12, height=7)
        head = [column.title for column in table.columns]
        self._row(head, widths, ends, dim=True, ruled=True)
        for row in table.rows[: self._left]:
            if pdf.will_page_break(_LINE_MM):
                pdf.add_page()
                self._row(head, widths, ends, dim=True, ruled=True)
            self._row(row, widths, ends, ruled=True)
        self._left -= min(self._left, len(table.rows))
        if table.sum is not None:
            self._row(table.sum, widths, ends, bold=True)

    def _row(
        self,
        cells: Sequence[str],
        widths: Sequence[float],
        ends: Sequence[bool],
        *,
        bold: bool = False,
        dim: bool = False,
        ruled: bool = False,
    ) -> None:
        """One line of cells, from the edge where reading begins."""
        pdf = self._pdf
        if pdf.will_page_break(_LINE_MM):
            pdf.add_page()
        pdf.set_font("Paper", "B" if bold else "", 8.5 if dim else 9.5)
        self._colour(_DIM if dim else _INK)
        top, at = pdf.get_y(), float(_MARGIN_MM)
        for cell, width, is_end in zip(cells, widths, ends, strict=True):
            left = 2 * _MARGIN_MM + _WIDTH_MM - at - width if self._is_rtl else at
            pdf.set_xy(left, top)
            with self._direction_of(cell):
                text = self._fitting(self._clean(cell), width)
                # Numbers stand by their decimals, whichever way the file runs.
                pdf.cell(width, _LINE_MM, text, align="R" if is_end else self._start)
            at += width
        if ruled:
            pdf.set_draw_color(*_LINE)
            bottom = top + _LINE_MM
            pdf.line(_MARGIN_MM, bottom, _MARGIN_MM + _WIDTH_MM, bottom)
        pdf.set_xy(_MARGIN_MM, top + _LINE_MM)

    @contextmanager
    def _direction_of(self, cell: str) -> Iterator[None]:
        """A cell that is somebody's own words runs as its first letter does."""
        is_own = cell[:1] == _FIRST_STRONG and cell[-1:] == _POP
        letters = (bidirectional(each) for each in cell) if is_own else ()
        own = next((kind for kind in letters if kind in ("L", "R", "AL")), None)
        is_rtl = self._is_rtl if own is None else own != "L"
        if is_rtl == self._is_rtl:
            yield
            return
        self._shape(is_rtl=is_rtl)
        yield
        self._shape(is_rtl=self._is_rtl)

    def _shape(self, *, is_rtl: bool) -> None:
        direction = "rtl" if is_rtl else "ltr"
        self._pdf.set_text_shaping(use_shaping_engine=True, direction=direction)

    def _fitting(self, text: str, width: float) -> str:
        """A text that is too long for its cell ends with an ellipsis."""
        if self._pdf.get_string_width(text) <= width - 2:
            return text
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self._pdf.get_string_width(f"{text[:middle]}…") <= width - 2:
                low = middle
            else:
                high = middle - 1
        return f"{text[:low]}…"

    def _clean(self, text: str) -> str:
        """What the fonts can draw; a letter of another script is a question mark."""
        kept = text.replace("\u202f", "\u00a0")[:_LETTERS_MAX]
        known = self._letters | _INVISIBLE
        return "".join(each if each in known else "?" for each in kept)


_INVISIBLE: Final = frozenset("\u2066\u2067\u2068\u2069")
