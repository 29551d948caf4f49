"""Pages of plugins: drawn by us from blocks, in our frame; their own HTML is never shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import structlog
import trio
from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.gateway.table import OPERATIONS
from risala.engine.model.errors import EngineError, NotFound
from risala.engine.model.records.upkeep.plugins import ACT, PluginHealth
from risala.engine.model.records.upkeep.plugins import LIST as PLUGINS
from risala.http.operator.carriers.driver_words import driver_line
from risala.http.web.face import PageAccess
from risala.http.web.forms import MARK_FIELD, ONCE_FIELD
from risala.http.web.live import Pieces
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.plugins.loading import raised_at
from risala.plugins.page import (
    ActingPage,
    FormField,
    LivePage,
    PageAnswer,
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
_PAGE: Final = "/operator/plugins"
_KINDS: Final = {
    PageHeading: "heading",
    PageText: "text",
    PageFigures: "figures",
    PageTable: "table",
    PageForm: "form",
}


class OperatorService:
    """A :class:`risala.plugins.page.PageService`: the operator's own rights, and less."""

    def __init__(self, request: PageRequest, *, acts: bool) -> None:
        self._request = request
        self._acts = acts

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


async def listed(request: PageRequest) -> TrioResponse:
    report = await request.ask(PLUGINS)
    pages = request.site.gateway.console_pages
    return await request.page(
        "plugins/list.html",
        plugins=report.plugins,
        ailing=partial(ailing, request),
        contract=report.contract,
        pages=[(name, _title(request, name)) for name in sorted(pages)],
    )


def ailing(request: PageRequest, health: PluginHealth) -> Markup:
    """How something that a plugin brought fails, in the reader's language."""
    text = f"{health.state}: {health.text}" if health.text else health.state
    return driver_line(request.words, text)


async def show(request: PageRequest) -> TrioResponse:
    return await _drawn(request, _name(request), None, {})


async def live(request: PageRequest) -> TrioResponse:
    """What is no form, drawn again at the page's own intervals."""
    name = _name(request)
    page = request.site.gateway.console_pages[name].page
    if not isinstance(page, LivePage):
        raise NotFound("There is no such page.")
    pieces = Pieces()

    async def draw(_: object) -> str:
        runs = _runs(await _blocks(request, name), {}, {})
        return pieces.fresh(await request.drawn("plugins/pieces.html", {"runs": runs}))

    return request.live(draw, by_time=True, beat_s=max(REDRAWN_S_MIN, page.redrawn_every_s))


async def act(request: PageRequest) -> TrioResponse:
    name, action = _name(request), request.form.text("action")
    page = request.site.gateway.console_pages[name].page
    if not isinstance(page, ActingPage):
        raise NotFound("There is no such page.")
    fields = {
        each: request.form.text(each)
        for each in request.form.fields
        if each not in (MARK_FIELD, ONCE_FIELD, "action")
    }
    await request.ask(ACT, page=name, action=action)
    service = OperatorService(request, acts=True)
    answer: object = None
    try:
        with trio.move_on_after(DRAW_S) as scope:
            answer = await page.act(service, action, fields)
    except EngineError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- its bug, which ends nobody else
        _log(name, f"{type(error).__name__}, at {raised_at(error)}")
    else:
        if scope.cancelled_caught:
            _log(name, f"it took longer than {DRAW_S:g} s")
        elif not isinstance(answer, PageAnswer):
            _log(name, "it gave no answer to a form")
    return await _drawn(
        request, name, answer if isinstance(answer, PageAnswer) else _FAILED, fields
    )


_FAILED: Final = PageAnswer("", {"": ""})
"""For a plugin that failed to handle a form."""


async def _drawn(
    request: PageRequest, name: str, answer: PageAnswer | None, sent: Mapping[str, str]
) -> TrioResponse:
    faults = {} if answer is None else answer.faults
    return await request.page(
        "plugins/page.html",
        status=422 if faults else 200,
        title=_title(request, name),
        name=name,
        runs=_runs(await _blocks(request, name), faults, sent),
        is_live=isinstance(request.site.gateway.console_pages[name].page, LivePage),
        answer=answer,
        has_failed=answer is _FAILED,
        is_refused=bool(faults),
    )


async def _blocks(request: PageRequest, name: str) -> Sequence[PageBlock] | None:
    """The blocks of a page; None: the plugin failed."""
    blocks: object = None
    try:
        with trio.move_on_after(DRAW_S) as scope:
            service = OperatorService(request, acts=False)
            blocks = await request.site.gateway.console_pages[name].page.show(service)
    except EngineError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- its bug, which ends nobody else
        _log(name, f"{type(error).__name__}, at {raised_at(error)}")
        return None
    if scope.cancelled_caught:
        _log(name, f"it took longer than {DRAW_S:g} s")
        return None
    if not isinstance(blocks, Sequence) or not all(_is_block(each) for each in blocks):
        _log(name, "it gave something that is no block")
        return None
    return blocks[:BLOCKS_MAX]


def _runs(
    blocks: Sequence[PageBlock] | None, faults: Mapping[str, str], sent: Mapping[str, str]
) -> list[list[dict[str, Any]]] | None:
    """The blocks for the template, in runs: each form is one, and all between two forms. None: as
    :func:`_blocks`."""
    if blocks is None:
        return None
    runs: list[list[dict[str, Any]]] = [[]]
    for block in blocks:
        shown = _shown(block, faults, sent)
        runs += [[shown], []] if isinstance(block, PageForm) else []
        if not isinstance(block, PageForm):
            runs[-1].append(shown)
    return runs


def _is_block(block: object) -> bool:
    """Whether a block can be drawn: a plugin's data must not break the drawing."""
    match block:
        case PageHeading(text) | PageText(text):
            return isinstance(text, str)
        case PageFigures(figures):
            return all(len(each) == 2 and isinstance(each[0], str) for each in figures)
        case PageTable(columns, rows):
            return bool(columns) and all(len(row) == len(columns) for row in rows)
        case PageForm(action, submit, fields):
            return bool(action and submit) and all(
                isinstance(each, FormField) and each.name.isidentifier() for each in fields
            )
    return False


def _log(name: str, reason: str) -> None:
    # Without the exception's text: it may quote the page.
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


def _name(request: PageRequest) -> str:
    name = request.arguments["page"]
    if name not in request.site.gateway.console_pages:
        raise NotFound("There is no such page.")
    return name


def _title(request: PageRequest, name: str) -> str:
    titles = request.site.gateway.console_pages[name].title
    return titles.get(request.words.language.value) or titles["en"]


ROUTES: Final = (
    PageRoute(path=_PAGE, view=listed, access=PageAccess.OPERATOR, needs=PLUGINS),
    PageRoute(path=f"{_PAGE}/<page>", view=show, access=PageAccess.OPERATOR, needs=ACT),
    PageRoute(path=f"{_PAGE}/<page>/live", view=live, access=PageAccess.OPERATOR, needs=ACT),
    PageRoute(
        path=f"{_PAGE}/<page>",
        view=act,
        access=PageAccess.OPERATOR,
        needs=ACT,
        method="POST",
        once=True,
    ),
)
