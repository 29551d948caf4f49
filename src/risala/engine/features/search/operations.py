"""The search over everything that an organization has, or over all organizations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import Field, PlainValidator

from risala.engine.features.search.nouns import NOUNS
from risala.engine.features.search.stored.rows import SearchRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import ArgumentKind, ModeWord, OfMaybeOrganization, words
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.callers import Caller, CallerKind, OperatorRole, Role
from risala.engine.model.errors import RateLimited
from risala.engine.model.features import features
from risala.engine.model.ids import is_id, is_id_end
from risala.engine.model.records.asks import NumberPart
from risala.engine.model.records.search import (
    FIND,
    ITEMS_MAX,
    WORDS_MAX,
    Findable,
    FoundItem,
    FoundItems,
    SearchHit,
    SearchWords,
)
from risala.engine.model.states import Mode
from risala.engine.rules.roles import VIEWERS
from risala.engine.rules.windows import SlidingWindows, Window
from risala.engine.services import Services
from risala.sms.numbering.plan import NumberingPlan

A_MINUTE_MAX: Final = 120
"""Searches of one member, operator or key in a minute: somebody who types searches twice a
second."""
CALLERS_MAX: Final = 5000
"""Callers whose searches are counted; beyond that, the one that has searched least lately is
forgotten."""
_MINUTE_MS: Final = 60_000
_TEST: Final = "test"


class FindAnything(OfMaybeOrganization):
    """Find what has some words, some digits of its number, or an id or the end of one."""

    query: Annotated[str, PlainValidator(words(WORDS_MAX)), ArgumentKind("text")] = Field(
        repr=False
    )
    mode: ModeWord = "live"
    """Whose messages and sessions are searched; for programs, everything."""


class SearchLimit:
    """How often each caller may search. Words are kept nowhere."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._windows = SlidingWindows((Window(A_MINUTE_MAX, _MINUTE_MS),), CALLERS_MAX)

    def take(self, caller: Caller) -> None:
        """Count a search.

        Raises:
            RateLimited: there were too many in the last minute.
        """
        now_ms = self._services.recorder.clock.now_ms()
        wait_ms = self._windows.take((caller.who, caller.organization_id), now_ms)
        if wait_ms:
            seconds = -(-wait_ms // 1000)
            sentence = f"There are too many searches. Wait {seconds} seconds, then search again."
            raise RateLimited("search", seconds, sentence)


OPERATIONS: Final = Operations()


@OPERATIONS(
    FIND,
    roles=VIEWERS,
    operators=frozenset(OperatorRole),
    owner=owners.named,
    reads_all_organizations=True,
    shows_texts=True,
)
async def _find(call: Call[FindAnything]) -> FoundItems:
    arguments, services = call.arguments, call.services
    call.part(SearchLimit).take(call.caller)
    whose = arguments.organization_id
    if whose is not None:
        services.accounts.organization(whose)
        await _note(call, whose)
    of_mode = call.caller.face is CallerKind.API
    words_read = read_words(
        services.settings.plan, arguments.query, whose, arguments.mode, of_mode=of_mode
    )
    kinds = tuple(_kinds(call))
    hits = await call.stored(SearchRepository).find(kinds, words_read)
    elsewhere = [row for kind in kinds for row in await _elsewhere(services, kind, words_read)]
    items = tuple(_item(services, whose, each) for each in (*hits.rows, *elsewhere))
    return FoundItems(items[:ITEMS_MAX], hits.cut or len(items) > ITEMS_MAX)


async def _elsewhere(
    services: Services, kind: Findable, words_read: SearchWords
) -> Sequence[SearchHit]:
    """What of a kind is not in the database."""
    if kind.elsewhere is None or not words_read.id_end.startswith(f"{kind.prefix}_"):
        return ()
    hits = await kind.elsewhere(services, words_read)
    return [each for each in hits if not words_read.of_mode or each.mode == words_read.mode]


async def _note(call: Call[FindAnything], organization_id: str) -> None:
    """The audit entry of a search in one organization: for a member one a minute, for an operator
    each time, for programs none. The words are in none of them."""
    if call.caller.face is CallerKind.API:
        return
    looks, by = call.services.looks, call.audit(organization_id=organization_id, always=True)
    look = (call.caller, call.action)
    if call.caller.is_member and looks.stands(look, by.at):
        return
    await call.note(by)
    looks.note(look, by.at)


def _kinds(call: Call[FindAnything]) -> Iterator[Findable]:
    """What the caller may see, in the order of the answer."""
    caller, everywhere = call.caller, call.arguments.organization_id is None
    is_test_key = caller.face is CallerKind.API and call.arguments.mode == Mode.TEST.value
    declared = (each.findable() for each in features() if each.findable is not None)
    for kind in (*NOUNS, *(one for kinds in declared for one in kinds)):
        if (kind.console if everywhere else kind.page) is None:
            continue
        if caller.role is Role.OPERATOR and caller.operator_role not in kind.operators:
            continue
        if is_test_key and kind.mode is None and kind.find is None:
            continue  # it is of no mode: test keys see what is of theirs
        yield kind


def _item(services: Services, organization_id: str | None, hit: SearchHit) -> FoundItem:
    http = services.settings.http
    if organization_id is None:
        url = f"{http.console_url or http.public_url or ''}/operator/{hit.page}"
    else:
        url = f"{http.public_url or ''}/app/{organization_id}/{_in_mode(hit)}"
    return FoundItem(
        *(hit.kind, hit.id, hit.title, hit.at, url),
        mode=hit.mode,
        state=hit.state,
        note=hit.note,
        organization=hit.organization,
    )


def _in_mode(hit: SearchHit) -> str:
    """The page's address, which says so where its data is for tests."""
    if hit.mode != _TEST:
        return hit.page
    return f"{hit.page}{'&' if '?' in hit.page else '?'}mode=test"


def read_words(
    plan: NumberingPlan, text: str, organization_id: str | None, mode: str, *, of_mode: bool
) -> SearchWords:
    """What a text may be: a part of a number, an id or the end of one, and always words.

    Args:
        text: with single spaces.
        organization_id: None: all organizations are searched.
    """
    digits, part = plan.digits_of(text), None
    if digits is not None and len(digits) >= plan.part_min:
        part = NumberPart(digits, plan.ranges_of(digits))
    is_end = is_id_end(text) or is_id(text, text.partition("_")[0])
    return SearchWords(text, organization_id, mode, of_mode, part, text if is_end else "")
