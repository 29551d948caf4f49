"""``/clients/``: the module by which pages of other origins ask the service, and the wheel by which
programs in Python do; the page ``/clients/`` says how each is had."""

from __future__ import annotations

from html import escape
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.http.api.client_wheel import client_wheel
from risala.http.api.reference import html_response, text_page
from risala.http.common.assets import STATIC, Assets, asset_response, made_asset
from risala.http.common.base import JsonApp

FOLDER: Final = "/clients"
MODULE: Final = f"{FOLDER}/risala.js"
FILE: Final = STATIC / "clients" / "risala.js"
"""A copy of ``clients/javascript/risala.js``, by ``make client``: the wheel has no more."""
_KEPT: Final = "public, max-age=3600"
"""The address stays when the content changes: a page has the new one an hour after an upgrade. What
an older one asks is answered as before."""


def add_clients(app: JsonApp, reference: Assets) -> None:
    """Serve all, to everybody: nothing secret is in them.

    Args:
        reference: the files of the reference's pages, of which the page has its style.
    """
    _add_module(app)
    _add_wheel(app)

    async def page() -> TrioResponse:
        return html_response(await text_page(reference, "Clients", _listed(), depth=1))

    app.route_to(f"{FOLDER}/", page, method="GET")


def _listed() -> str:
    """The page's content."""
    wheel = client_wheel()
    rows = [
        ("JavaScript", FILE.name, f'import {{ Risala }} from "/clients/{FILE.name}"'),
        *([("Python", wheel.name, f"pip install …/clients/{wheel.name}")] if wheel else ()),
    ]
    items = "".join(
        f'<li>{language}: <a href="{name}">{name}</a><br><code>{escape(use)}</code></li>'
        for language, name, use in rows
    )
    return (
        f"<p>This service has a client for each of these. Write its address in place of …</p>"
        f"<ul>{items}</ul>"
    )


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
