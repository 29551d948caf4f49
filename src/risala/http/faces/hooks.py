"""Hooks on the API's listener: ``/hooks/ID``, and ``/hooks/ID/SECRET`` for programs that take an
address alone.

The secret in an address is in no log, request log, error or trace: they know the path by the name
of its place.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from risala.config.model import Settings
from risala.engine.model.clock import Clock, SystemClock
from risala.engine.model.records.asks import FeatureAccess
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.client_address import ClientAddresses
from risala.http.common.parse import read_raw
from risala.http.common.plain import Fields, Handler, PlainPath, PlainRequest
from risala.http.faces.paths import FacedApp, PathMounting, TypedAnswer
from risala.plugins.face import FaceAnswer

if TYPE_CHECKING:
    from risala.engine.features.hooks.rules.answers import HookReceipt
    from risala.engine.features.hooks.rules.requests import HookRequest
    from risala.engine.gateway.gateway import Gateway


PATH: Final = "/hooks/{id}"
_TARGET: Final = re.compile(rb"/hooks/(hok_[0-9A-Z]{1,40})((?:/[A-Za-z0-9._~%-]{1,256}){0,6})/?")
METHODS: Final = ("GET", "POST")


class ReceivesHooks(Protocol):
    """The used part of :class:`risala.engine.features.hooks.receiving.HookReceiver`."""

    async def receive(
        self, hook_id: str, request: HookRequest, address: object | None, /
    ) -> HookReceipt: ...


ACCESS: Final[FeatureAccess[ReceivesHooks]] = FeatureAccess("hooks")


class HookPaths:
    """Answers the addresses of hooks."""

    def __init__(
        self, app: FacedApp, receiver: ReceivesHooks, keys: ApiKeyAuth, clock: Clock
    ) -> None:
        self._app = app
        self._receiver = receiver
        self._keys = keys
        self._clock = clock

    def find(self, target: bytes) -> PlainPath | None:
        """The path for a target; None: it is no hook's."""
        place, _, query = target.partition(b"?")
        match = _TARGET.fullmatch(place)
        if match is None:
            return None
        hook_id, rest = match[1].decode(), match[2].decode()
        handlers: dict[str, Handler] = {
            method: partial(self._answer, method, hook_id, rest, query.decode("latin-1"))
            for method in METHODS
        }
        return PlainPath(PATH, handlers, self._app.plain.bytes_max)

    async def _answer(
        self, method: str, hook_id: str, rest: str, query: str, request: PlainRequest
    ) -> TypedAnswer:
        # Imported here: a service without hooks needs nothing of them.
        from risala.engine.features.hooks.rules.requests import HookRequest

        body = await read_raw(request)
        fields = _texts(request.fields)
        secret, _, suffix = rest.removeprefix("/").partition("/")
        receipt = await self._receiver.receive(
            hook_id,
            HookRequest(
                method=method,
                query=query,
                headers=fields,
                body=body,
                content_type=fields.get("content-type", ""),
                path_secret=secret or None,
                at_s=self._clock.now_ms() // 1000,
                suffix=f"/{suffix}" if suffix else "",
            ),
            self._keys.address(request),
        )
        request.principal = receipt.principal
        request.shown = _noted(receipt)
        answer = receipt.answer
        if not receipt.is_proved:
            # Anybody may have written it: only what a proved program writes is noted.
            request.raw = None
            await self._app.plain.hold_guess(request.fields, request.client, answer.status)
        return TypedAnswer(
            FaceAnswer(
                answer.body,
                answer.status,
                answer.content_type or "application/json",
                tuple(answer.headers.items()),
            )
        )


class _LateReceiver:
    """The receiver of a gateway, which is made when the first request for a hook comes."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def receive(
        self, hook_id: str, request: HookRequest, address: object | None, /
    ) -> HookReceipt:
        return await self._gateway.access(ACCESS).receive(hook_id, request, address)


def _texts(fields: Fields) -> dict[str, str]:
    return {name.decode("latin-1"): values[0].decode("latin-1") for name, values in fields.items()}


def _noted(receipt: HookReceipt) -> bytes:
    """What the log shows of the answer: what was wrong, or what was sent."""
    body = {"message": receipt.sentence} if receipt.sentence else {"messageId": receipt.message_id}
    return json.dumps(body, ensure_ascii=False).encode()


def add_hooks(
    app: FacedApp,
    gateway: Gateway,
    receiver: ReceivesHooks,
    settings: Settings,
    clock: Clock | None = None,
) -> None:
    """Answer hooks in addition to the API's paths."""
    keys = ApiKeyAuth(gateway, ClientAddresses(settings.http.trusted_proxies))
    paths = HookPaths(app, receiver, keys, clock or SystemClock())
    app.plain.mount(paths.find)


def mount(mounting: PathMounting) -> None:
    """Answer hooks."""
    gateway = mounting.gateway
    add_hooks(mounting.app, gateway, _LateReceiver(gateway), mounting.settings)
