"""The API's paths beside sends and codes: what answers them is loaded when one is first called.

Each call is an operation, of which the engine loads the table at the first one too
(:class:`risala.engine.gateway.gateway.Gateway`). A service that only sends has no memory for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

import trio

from risala.engine.model.features import features
from risala.http.api.fields import Compared
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest, PlainRoutes

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

_HERE: Final = "risala.http.api.management."
PATHS: Final[Mapping[str, Sequence[str]]] = {
    _HERE + "lists": (
        *("/api/sms/list", "/api/verify/list", "/api/inbound/list", "/api/ledger/list"),
        *("/api/verify/figures", "/api/balance/get", "/api/senders/list"),
    ),
    _HERE + "conversations": (
        *("/api/conversations/list", "/api/conversations/get"),
        *("/api/conversations/reply", "/api/conversations/mark"),
    ),
    _HERE + "answer_rules": (
        *("/api/answers/list", "/api/answers/create", "/api/answers/update"),
        *("/api/answers/delete", "/api/answers/try", "/api/answers/resume"),
    ),
    _HERE + "search": ("/api/search",),
    _HERE + "actions": ("/api/sms/cancel", "/api/sms/estimate", "/api/verify/cancel"),
    _HERE + "webhooks": (
        *("/api/webhooks/list", "/api/webhooks/create", "/api/webhooks/update"),
        *("/api/webhooks/delete", "/api/webhooks/rotate", "/api/webhooks/test"),
        *("/api/webhooks/deliveries", "/api/webhooks/replay"),
    ),
}
"""The paths by the module that answers them: its ``handlers`` returns a handler for each."""


def add_management(
    paths: PlainRoutes, gateway: Gateway, context: Compared, auth: ApiKeyAuth
) -> None:
    """Answer all of :data:`PATHS` and those of features, with POST."""
    of_features = {
        each.api_handlers.module: each.api_paths for each in features() if each.api_handlers
    }
    for module, names in {**PATHS, **of_features}.items():
        late = _Late(module, partial(_handlers, module, gateway, context, auth))
        for name in names:
            paths.route(name, partial(late.answer, name))


def _handlers(
    module: str, gateway: Gateway, context: Compared, auth: ApiKeyAuth
) -> Mapping[str, Handler]:
    made: Mapping[str, Handler] = import_module(module).handlers(gateway, context, auth)
    return made


class _Late:
    """The handlers of one module, once one of them is called."""

    def __init__(self, module: str, make: Callable[[], Mapping[str, Handler]]) -> None:
        self._module = module
        self._make = make
        self._handlers: Mapping[str, Handler] | None = None

    async def answer(self, path: str, request: PlainRequest) -> PlainAnswer:
        if self._handlers is None:
            # In a thread: nobody else waits for it.
            await trio.to_thread.run_sync(import_module, self._module)
            self._handlers = self._make()
        return await self._handlers[path](request)
