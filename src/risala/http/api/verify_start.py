"""``POST /api/verify/start``: the body, and its answer (contract §14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from risala.engine.model.commands import STARTING, Principal
from risala.engine.model.records.verify.sessions import Method
from risala.http.api import fields
from risala.http.api.answers import STARTED
from risala.http.api.verify_bodies import LOCALES
from risala.http.common.parse import has_escapes, read_object
from risala.http.common.validation import RequestBody, validate

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

_METHODS: Final = [each.value for each in Method]


def _method(text: str) -> str:
    if text not in _METHODS:
        names = " or ".join(f"`{each}`" for each in _METHODS)
        raise PydanticCustomError("invalid_method", "`method` must be {names}.", {"names": names})
    return text


class StartVerificationBody(RequestBody):
    """A verification without a code."""

    method: Annotated[
        str,
        AfterValidator(_method),
        Field(
            description="What your user does: sends a text, or calls and is not answered.",
            examples=["inbound_sms"],
            json_schema_extra={"enum": _METHODS},
        ),
    ]
    to: Annotated[
        fields.Number | None,
        Field(
            description="The number to prove. Without it, which secret keys alone may leave out and"
            " `missed_call` needs, the number that sends the text is proven.",
        ),
    ] = None
    locale: Annotated[
        str | None,
        Field(
            description="The language of the page, where it is one of the pages' languages.",
            examples=["fr"],
            json_schema_extra={"enum": LOCALES},
        ),
    ] = None


async def start_answer(
    gateway: Gateway, principal: Principal, raw: bytes, context: fields.BodyContext
) -> dict[str, Any]:
    """Open a verification in which the user sends a text, or calls.

    Raises:
        Problem: 400.
        Refusal, Unavailable: as
            :meth:`risala.engine.features.reverse.records.ReverseAccess.start` does.
    """
    members = read_object(raw)
    body = validate(StartVerificationBody, members, escapes=has_escapes(raw), context=context)
    starting = gateway.access(STARTING)
    started = await starting.start(principal, Method(body.method), body.to, body.locale)
    return STARTED.wire(started)
