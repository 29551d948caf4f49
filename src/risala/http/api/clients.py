"""``/clients/risala.js``: the module by which pages of other origins ask the service."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.http.common.assets import STATIC, Assets, asset_response
from risala.http.common.base import JsonApp

MODULE: Final = "/clients/risala.js"
FILE: Final = STATIC / "clients" / "risala.js"
"""A copy of ``clients/javascript/risala.js``, by ``make client``: the wheel has no more."""
_KEPT: Final = "public, max-age=3600"
"""The address stays when the content changes: a page has the new one an hour after an upgrade. What
an older one asks is answered as before."""


def add_clients(app: JsonApp) -> None:
    """Serve the module, to everybody and to pages of every origin: nothing secret is in it."""
    assets = Assets("/clients", {FILE.name: FILE})

    async def module() -> TrioResponse:
        response = asset_response(await assets.get(FILE.name))
        response.headers["cache-control"] = _KEPT
        # Browsers load a module of another origin only where this says so.
        response.headers["access-control-allow-origin"] = "*"
        return response

    app.route_to(MODULE, module, method="GET")
