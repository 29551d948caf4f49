"""``GET /metrics``, for Prometheus: on the main address for this machine alone, or on its own.

Everybody else is answered that there is no such path. A reverse proxy on this machine connects from
a loopback address too, on behalf of whoever asks it, so a request with a proxy's headers does not
count as local. Some proxies add no headers; behind one of those the metrics need an address of
their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from risala.config.model import Settings
from risala.http.common.client_address import is_local
from risala.http.common.failed_keys import AnswerTally
from risala.http.common.plain import PlainRoutes
from risala.http.common.problems import plain
from risala.http.server.late import LateApp

if TYPE_CHECKING:
    from quart_trio.wrappers import TrioResponse

    from risala.engine.gateway.gateway import Gateway
    from risala.http.common.base import JsonApp

CONTENT_TYPE: Final = "text/plain; version=1.0.0; charset=utf-8"


def add_metrics(
    app: JsonApp, gateway: Gateway, *, everybody: bool, tally: AnswerTally | None = None
) -> None:
    """Serve ``/metrics`` on ``app``.

    Args:
        everybody: serve every client; False: clients on this machine only.
        tally: the public face's counts of answers; those of ``app`` where it is left out.
    """
    # Imported here: see LateApp.
    from quart import request
    from quart_trio.wrappers import TrioResponse

    tally = tally or app.tally

    async def metrics() -> TrioResponse:
        if not everybody and not is_local(request):
            raise plain(404)
        return TrioResponse(gateway.metrics() + tally.page(), 200, content_type=CONTENT_TYPE)

    app.route_to("/metrics", metrics, method="GET")


def create_metrics(gateway: Gateway, settings: Settings, tally: AnswerTally) -> LateApp:
    """The app that serves ``/metrics`` on an address of its own, to whoever can reach that."""
    bytes_max, timeout_s = settings.http.body_max_bytes, settings.http.body_timeout_s

    def make(plain: PlainRoutes) -> JsonApp:
        from risala.http.common.base import JsonApp

        app = JsonApp(
            "risala.http.api.metrics",
            body_bytes_max=bytes_max,
            body_timeout_s=timeout_s,
            plain=plain,
        )
        add_metrics(app, gateway, everybody=True, tally=tally)
        return app

    none = PlainRoutes(
        body_bytes_max=bytes_max, body_timeout_s=timeout_s, tally=AnswerTally(), failed_keys=None
    )
    return LateApp(none, make)
