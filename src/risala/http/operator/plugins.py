"""Pages of plugins: drawn by us from blocks, in our frame; their own HTML is never shown."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import trio
from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import EngineError, NotFound
from risala.engine.model.records.upkeep.plugins import ACT, PluginHealth
from risala.engine.model.records.upkeep.plugins import LIST as PLUGINS
from risala.http.operator.blocks import (
    DRAW_S,
    REDRAWN_S_MIN,
    OperatorService,
    Runs,
    blocks_of,
    log_failure,
    runs_of,
)
from risala.http.operator.carriers.driver_words import driver_line
from risala.http.web.face import PageAccess
from risala.http.web.forms import MARK_FIELD, ONCE_FIELD
from risala.http.web.live import Pieces
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.plugins.loading import raised_at
from risala.plugins.page import ActingPage, ConsolePage, LivePage, PageAnswer

_PAGE: Final = "/operator/plugins"


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
    page = _page(request, name)
    if not isinstance(page, LivePage):
        raise NotFound("There is no such page.")
    pieces = Pieces()

    async def draw(_: object) -> str:
        runs = await _runs(request, name, {}, {})
        return pieces.fresh(await request.drawn("plugins/pieces.html", {"runs": runs}))

    return request.live(draw, by_time=True, beat_s=max(REDRAWN_S_MIN, page.redrawn_every_s))


async def act(request: PageRequest) -> TrioResponse:
    name, action = _name(request), request.form.text("action")
    page = _page(request, name)
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
        log_failure(name, f"{type(error).__name__}, at {raised_at(error)}")
    else:
        if scope.cancelled_caught:
            log_failure(name, f"it took longer than {DRAW_S:g} s")
        elif not isinstance(answer, PageAnswer):
            log_failure(name, "it gave no answer to a form")
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
        runs=await _runs(request, name, faults, sent),
        is_live=isinstance(_page(request, name), LivePage),
        answer=answer,
        has_failed=answer is _FAILED,
        is_refused=bool(faults),
    )


async def _runs(
    request: PageRequest, name: str, faults: Mapping[str, str], sent: Mapping[str, str]
) -> Runs | None:
    """The page for the template; None: the plugin failed."""
    blocks = await blocks_of(request, name, _page(request, name))
    return None if blocks is None else runs_of(blocks, faults, sent)


def _page(request: PageRequest, name: str) -> ConsolePage:
    return request.site.gateway.console_pages[name].page


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
