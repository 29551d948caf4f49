"""The search over everything, for programs with a secret key (contract §15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import AfterValidator, Field

from risala.dataclass import dataclass
from risala.engine.model.records.search import FIND, WORDS_MAX
from risala.http.api import answers, fields
from risala.http.api.fields import Compared
from risala.http.api.management.performer import KeyPerformer
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

_MISSING: Final = "There is no such organization."


def _words(text: str) -> str:
    words = " ".join(text.split())
    if not words:
        raise ValueError("must have a character that is no space")
    return words


class SearchBody(RequestBody):
    """What is looked for."""

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=WORDS_MAX,
            json_schema_extra={"pattern": fields.FIT_PATTERN},
            description="Words, digits of a number (four at least), an id or its end.",
            examples=["3456"],
            repr=False,
        ),
        AfterValidator(_words),
    ]


def handlers(gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """``POST /api/search``."""
    return {"/api/search": _Search(KeyPerformer(gateway, _MISSING), context, auth).find}


@dataclass(frozen=True, slots=True)
class _Search:
    performer: KeyPerformer
    context: Compared
    auth: ApiKeyAuth

    async def find(self, request: PlainRequest) -> PlainAnswer:
        principal = self.auth.secret(request)
        body = parse_body(SearchBody, await read_body(request), self.context())
        answer = await self.performer.ask(
            principal,
            FIND,
            organization_id=principal.organization_id,
            query=body.query,
            mode=principal.mode.value,
        )
        items = [answers.FOUND_ITEM.wire(each) for each in answer.items]
        return PlainAnswer(json_bytes({"items": items}))
