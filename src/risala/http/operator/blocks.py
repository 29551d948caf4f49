"""Blocks that plugins and drivers give for the console: drawn by us, in our frame, within limits.

What they give may be wrong, late, or an exception: then the page says so, and the log why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog
import trio

from risala.engine.gateway.table import OPERATIONS
from risala.engine.model.errors import EngineError
from risala.http.web.page_request import PageRequest
from risala.plugins.fits import is_block
from risala.plugins.loading import raised_at
from risala.plugins.page import (
    ConsolePage,
    PageBlock,
    PageFigures,
    PageForm,
    PageHeading,
    PageTable,
    PageText,
)

log = structlog.get_logger(__name__)

DRAW_S: Final = 10.0
"""How long a plugin may take over a page."""
REDRAWN_S_MIN: Final = 1.0
"""Seconds at least from one drawing of a live page to the next."""
ROWS_MAX: Final = 500
BLOCKS_MAX: Final = 50
TEXT_CHARACTERS_MAX: Final = 2000
_KINDS: Final = {
    PageHeading: "heading",
    PageText: "text",
    PageFigures: "figures",
    PageTable: "table",
    PageForm: "form",
}
Runs = list[list[dict[str, Any]]]
"""The blocks for the template: each form is a run, and all between two forms."""


class OperatorService:
    """A :class:`risala.plugins.page.PageService`: the operator's own rights, and less."""

    def __init__(self, request: PageRequest, *, acts: bool, address: str = "") -> None:
        self._request = request
        self._acts = acts
        self.address = address

    @property
    def language(self) -> str:
        return self._request.words.language.value

    @property
    def query(self) -> Mapping[str, str]:
        return dict(self._request.http.args)

    async def look(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        declared = OPERATIONS.get(operation)
        if declared is None or declared.changes or declared.shows_texts:
            raise PermissionError(f"{operation} is no operation that a page may look by")
        return await self._request.perform(operation, **arguments)

    async def do(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        declared = OPERATIONS.get(operation)
        if declared is None or declared.shows_texts or not self._acts:
            raise PermissionError(f"{operation} is no operation that a page may do now")
        return await self._request.perform(operation, **arguments)


async def blocks_of(
    request: PageRequest, name: str, page: ConsolePage, address: str = ""
) -> Sequence[PageBlock] | None:
    """The blocks of a page; None: it could not be drawn, and the log says why.

    Args:
        name: what the log calls the page.
        address: where its driver is called, if it is a driver's.
    """
    blocks: object = None
    try:
        with trio.move_on_after(DRAW_S) as scope:
            blocks = await page.show(OperatorService(request, acts=False, address=address))
    except EngineError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- its bug, which ends nobody else
        log_failure(name, f"{type(error).__name__}, at {raised_at(error)}")
        return None
    if scope.cancelled_caught:
        log_failure(name, f"it took longer than {DRAW_S:g} s")
        return None
    if not isinstance(blocks, Sequence) or not all(is_block(each) for each in blocks):
        log_failure(name, "it gave something that is no block")
        return None
    return blocks[:BLOCKS_MAX]


def runs_of(
    blocks: Sequence[PageBlock], faults: Mapping[str, str], sent: Mapping[str, str]
) -> Runs:
    """The blocks for the template.

    Args:
        faults: what is wrong with a form that was sent, by field.
        sent: what was typed into it.
    """
    runs: Runs = [[]]
    for block in blocks:
        shown = _shown(block, faults, sent)
        runs += [[shown], []] if isinstance(block, PageForm) else []
        if not isinstance(block, PageForm):
            runs[-1].append(shown)
    return runs


def log_failure(name: str, reason: str) -> None:
    """A line about a page, without the exception's text: it may quote the page."""
    log.error("page.failed", page=name, reason=reason)


def _shown(block: PageBlock, faults: Mapping[str, str], sent: Mapping[str, str]) -> dict[str, Any]:
    """A block for the template; of a refused form, with the typed values."""
    shown: dict[str, Any] = {"kind": _KINDS[type(block)], "block": block}
    if isinstance(block, PageTable):
        shown["rows"] = [[_cell(each) for each in row] for row in block.rows[:ROWS_MAX]]
        shown["left_out"] = max(0, len(block.rows) - ROWS_MAX)
    elif isinstance(block, PageFigures):
        shown["figures"] = [(label, _cell(value)) for label, value in block.figures]
    elif isinstance(block, PageForm):
        shown["faults"] = {name: str(text) for name, text in faults.items() if name}
        shown["sent"] = sent if faults else {}
    return shown


def _cell(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)[:TEXT_CHARACTERS_MAX]
