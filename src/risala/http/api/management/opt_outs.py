"""Words and answers of opt-outs, for programs with a secret key (contract §15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from risala.dataclass import dataclass
from risala.engine.features.opt_out_words import records
from risala.engine.features.opt_out_words.records import (
    ANSWERED,
    NOTE_MAX,
    TEXT_MAX,
    Back,
    OptOutWords,
)
from risala.engine.features.opt_out_words.words import LANGUAGES, WordRole
from risala.engine.model.commands import Principal
from risala.engine.model.errors import NotFound
from risala.engine.model.records.asks import Ask
from risala.engine.model.states import Mode
from risala.http.api import fields
from risala.http.api.answers import ApiAnswer
from risala.http.api.fields import Compared
from risala.http.api.management.list_bodies import EmptyBody, one_of
from risala.http.api.management.performer import KeyPerformer
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

MISSING: Final = "There is no such word or list, or the number has not opted out of that list."
NO_TEXTS: Final = "A test key has no opt-outs: no text comes in for it. Use a live key."
_FIT: Final[Any] = {"pattern": fields.FIT_PATTERN}
ListId = Annotated[str, Field(min_length=1, json_schema_extra=_FIT)]
Word = Annotated[str, Field(json_schema_extra=_FIT, description="One word, in any script.")]
Known = Annotated[str, *one_of(*LANGUAGES)]
Role = Annotated[
    str,
    *one_of(*(each.value for each in WordRole)),
    Field(
        description="What it does: `list` names a list, and stands behind a word of the others.",
        examples=["stop"],
    ),
]
Language = Annotated[Known, Field(description="Of the answer.", examples=["fr"])]
Answered = Annotated[str, *one_of(*ANSWERED)]


class UpdateOptOutsBody(RequestBody):
    """What is to be another. What is left out stays as it is."""

    sets: Annotated[
        list[Known] | None,
        Field(
            description="Languages whose usual words count, that of most recipients first.",
        ),
    ] = None
    answered: Annotated[
        list[Answered] | None,
        Field(description="What is answered."),
    ] = None
    back: Annotated[
        Annotated[str, *one_of(*(each.value for each in Back))] | None,
        Field(
            description="Who takes an opt-out back: `person` by START, `own` by START what no"
            " member noted, `hand` only a member with a note."
        ),
    ] = None


class AddOptOutWordBody(RequestBody):
    """A word of the organization's own."""

    word: Annotated[Word, Field(examples=["PAUSE"])]
    role: Role
    language: Language
    list_id: Annotated[ListId | None, Field(alias="listId")] = None


class RemoveOptOutWordBody(RequestBody):
    """Which word."""

    word: Annotated[Word, Field(examples=["SILENCE"])]


class OptOutAnswerBody(RequestBody):
    """An answer in the organization's own words."""

    role: Role
    language: Language
    text: Annotated[
        str,
        Field(
            max_length=TEXT_MAX,
            json_schema_extra=_FIT,
            description="May have `{{organization}}`, `{{list}}`, `{{stop}}` and `{{start}}`."
            " Empty: the usual one again.",
            examples=["{{organization}}: OK. {{start}}"],
        ),
    ]
    preview: Annotated[
        bool | None, Field(description="Only show what would be sent; nothing is stored.")
    ] = None


class ListOptOutBody(RequestBody):
    """A number, and a list of the organization."""

    list_id: Annotated[
        ListId, Field(alias="listId", examples=["lst_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"])
    ]
    number: fields.Number
    note: Annotated[
        str | None,
        Field(
            max_length=NOTE_MAX,
            json_schema_extra=_FIT,
            description="How its owner asked for it.",
            examples=["By telephone"],
        ),
    ] = None


WORD: Final = ApiAnswer("OptOutWordAnswer", record=records.CountedWord)
ANSWER: Final = ApiAnswer("OptOutTextAnswer", record=records.SentAnswer)
DEMAND: Final = ApiAnswer(
    "OptOutDemandAnswer", record=records.Demand, members="prefix confirmation sets"
)
LISTED: Final = ApiAnswer("ListOptOutAnswer", record=records.ListRecipient)


def _each(item: ApiAnswer, about: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": item.reference}, "description": about}


def _words(known: Sequence[str], about: str) -> dict[str, Any]:
    items = {"type": "string", "enum": [*known]}
    return {"type": "array", "items": items, "description": about}


OPT_OUTS: Final = ApiAnswer(
    "OptOutsAnswer",
    record=OptOutWords,
    members="heeds sets answered back words answers demands",
    more={
        "sets": _words(LANGUAGES, "Languages whose usual words count."),
        "answered": _words(ANSWERED, "What is answered."),
        "back": {
            "type": "string",
            "enum": [each.value for each in Back],
            "description": "Who takes an opt-out back.",
        },
        "words": _each(WORD, "All words that count now."),
        "answers": _each(ANSWER, "All answers, as they would be sent."),
        "demands": _each(
            DEMAND, "What networks and countries ask for: it stands above the settings."
        ),
    },
)
COMPONENTS: Final = (WORD, ANSWER, DEMAND, LISTED, OPT_OUTS)


def handlers(gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """``/api/opt-outs/…``."""
    made = _OptOuts(KeyPerformer(gateway, MISSING), context, auth)
    return {
        "/api/opt-outs/get": made.get,
        "/api/opt-outs/update": made.update,
        "/api/opt-outs/words/add": made.add_word,
        "/api/opt-outs/words/remove": made.remove_word,
        "/api/opt-outs/answer": made.answer,
        "/api/opt-outs/lists/add": made.list_out,
        "/api/opt-outs/lists/remove": made.list_back,
    }


@dataclass(frozen=True, slots=True)
class _OptOuts:
    performer: KeyPerformer
    context: Compared
    auth: ApiKeyAuth

    async def _ask(self, request: PlainRequest, model: type[RequestBody], ask: Ask[Any]) -> Any:  # noqa: ANN401 -- what the ask answers
        """Do what a request asks for.

        Raises:
            NotFound: there is no such thing, or the key is a test key.
        """
        principal: Principal = self.auth.secret(request)
        members = parse_body(model, await read_body(request), self.context()).given()
        if principal.mode is Mode.TEST:
            raise NotFound(NO_TEXTS)
        mine = principal.organization_id
        return await self.performer.ask(principal, ask, organization_id=mine, **members)

    async def get(self, request: PlainRequest) -> PlainAnswer:
        return _shown(await self._ask(request, EmptyBody, records.WORDS))

    async def update(self, request: PlainRequest) -> PlainAnswer:
        return _shown(await self._ask(request, UpdateOptOutsBody, records.WORDS))

    async def add_word(self, request: PlainRequest) -> PlainAnswer:
        return _shown(await self._ask(request, AddOptOutWordBody, records.ADD_WORD))

    async def remove_word(self, request: PlainRequest) -> PlainAnswer:
        return _shown(await self._ask(request, RemoveOptOutWordBody, records.REMOVE_WORD))

    async def answer(self, request: PlainRequest) -> PlainAnswer:
        return _shown(await self._ask(request, OptOutAnswerBody, records.ANSWER))

    async def list_out(self, request: PlainRequest) -> PlainAnswer:
        noted = await self._ask(request, ListOptOutBody, records.LIST_OUT)
        return PlainAnswer(json_bytes(LISTED.wire(noted)))

    async def list_back(self, request: PlainRequest) -> PlainAnswer:
        taken = await self._ask(request, ListOptOutBody, records.LIST_BACK)
        return PlainAnswer(json_bytes(LISTED.wire(taken)))


def _shown(shown: OptOutWords) -> PlainAnswer:
    settings = shown.settings
    wire = OPT_OUTS.wire(
        shown,
        sets=list(settings.sets),
        answered=list(settings.answered),
        back=settings.back.value,
        demands=[DEMAND.wire(each) for each in shown.demands],
    )
    return PlainAnswer(json_bytes(wire))
