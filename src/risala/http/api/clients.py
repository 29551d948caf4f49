"""``/clients/``: the module by which pages of other origins ask the service, and the wheel by which
programs in Python do."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.http.api.client_wheel import client_wheel
from risala.http.common.assets import STATIC, Assets, asset_response, made_asset
from risala.http.common.base import JsonApp

FOLDER: Final = "/clients"
MODULE: Final = f"{FOLDER}/risala.js"
FILE: Final = STATIC / "clients" / "risala.js"
"""A copy of ``clients/javascript/risala.js``, by ``make client``: the wheel has no more."""
_KEPT: Final = "public, max-age=3600"
"""The address stays when the content changes: a page has the new one an hour after an upgrade. What
an older one asks is answered as before."""


def add_clients(app: JsonApp) -> None:
    """Serve both, to everybody: nothing secret is in them."""
    _add_module(app)
    _add_wheel(app)


def _add_wheel(app: JsonApp) -> None:
    """Serve the Python client's wheel at its file name, which pip reads. The name is made of the
    client's version: who asks for another one finds none here."""
    wheel = client_wheel()
    if wheel is None:
        return
    asset = made_asset(wheel.content, ".whl")

    async def download() -> TrioResponse:
        response = asset_response(asset)
        response.headers["cache-control"] = _KEPT
        return response

    app.route_to(f"{FOLDER}/{wheel.name}", download, method="GET")


def _add_module(app: JsonApp) -> None:
    """Serve the module, to pages of every origin."""
    assets = Assets(FOLDER, {FILE.name: FILE})

    async def module() -> TrioResponse:
        response = asset_response(await assets.get(FILE.name))
        response.headers["cache-control"] = _KEPT
        # Browsers load a module of another origin only where this says so.
        response.headers["access-control-allow-origin"] = "*"
        return response

    app.route_to(MODULE, module, method="GET")
