"""What agents ask of a service beside the API: ``/llms.txt``, ``/skill.md``, and the trail of acts.

Everything is made when it is first asked for.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Final, Protocol

from pydantic import Field

from risala.config.model import Settings
from risala.engine.features.agents.records import (
    ACCESS,
    ACT_PATH,
    CALLS_MAX,
    LLMS_PATH,
    RUN_DIGITS,
    SKILL_PATH,
    TOOLS,
    AgentAct,
)
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.client_address import ClientAddresses
from risala.http.common.parse import read_body
from risala.http.common.plain import PlainAnswer, PlainRequest, PlainRoutes
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

_RUN: Final = f"^[0-9a-f]{{{RUN_DIGITS}}}$"
_TOOL: Final = f"^({'|'.join(tool.name for tool in TOOLS)})$"


class HasPaths(Protocol):
    """An app with paths that are answered from bytes to bytes."""

    @property
    def plain(self) -> PlainRoutes: ...


class AgentMounting(Protocol):
    """What the feature is given: the part that it uses of ``PathMounting``."""

    @property
    def app(self) -> HasPaths: ...

    @property
    def gateway(self) -> Gateway: ...

    @property
    def settings(self) -> Settings: ...


class AgentActBody(RequestBody):
    """What an agent is about to do."""

    tool: Annotated[str, Field(pattern=_TOOL)]
    run: Annotated[str, Field(pattern=_RUN)]
    call: Annotated[int, Field(ge=1, le=CALLS_MAX)]


class MarkdownAnswer(PlainAnswer):
    """An answer for people and agents, in Markdown."""

    __slots__ = ()

    def lines(self, request_id: str) -> bytes:
        _, _, rest = super().lines(request_id).partition(b"\r\n")
        return b"content-type: text/markdown; charset=utf-8\r\n" + rest


def mount(mounting: AgentMounting) -> None:
    """Answer the paths of agents."""
    gateway, settings = mounting.gateway, mounting.settings
    auth = ApiKeyAuth(gateway, ClientAddresses(settings.http.trusted_proxies))

    async def act(request: PlainRequest) -> PlainAnswer:
        principal = auth.secret(request)
        body = parse_body(AgentActBody, await read_body(request))
        line = await gateway.access(ACCESS).note(principal, AgentAct(**body.given()))
        return PlainAnswer(json_bytes({"line": line}))

    @cache
    def made() -> bytes:
        from risala.http.api.openapi.document import document
        from risala.http.api.openapi.skill import skill

        plan, currency = settings.plan, settings.service.currency
        return skill(document(plan=plan, currency=currency)).encode()

    async def read_skill(_: PlainRequest) -> PlainAnswer:
        return MarkdownAnswer(made())

    async def read_llms(_: PlainRequest) -> PlainAnswer:
        from risala.http.api.openapi.skill import LLMS

        return MarkdownAnswer(LLMS.encode())

    paths = mounting.app.plain
    paths.route(ACT_PATH, act)
    paths.route(SKILL_PATH, read_skill, method="GET")
    paths.route(LLMS_PATH, read_llms, method="GET")
