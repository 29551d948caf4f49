"""``/openapi.json``, and ``/docs``, which draws it: offline, under a strict policy."""

from __future__ import annotations

from html import escape
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.http.common.assets import STATIC, Assets
from risala.http.common.base import JsonApp
from risala.http.common.respond import json_response
from risala.sms.numbering.plan import NumberingPlan

ASSETS: Final = "/docs/assets"
_FILES: Final = {
    "swagger-ui.css": STATIC / "vendor" / "swagger-ui" / "swagger-ui.css",
    "swagger-ui-bundle.js": STATIC / "vendor" / "swagger-ui" / "swagger-ui-bundle.js",
    "docs.css": STATIC / "docs" / "docs.css",
    "docs.js": STATIC / "docs" / "docs.js",
}
_PAGE: Final = STATIC / "docs" / "page.html"
_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'"
)


def add_reference(app: JsonApp, plan: NumberingPlan, currency: str) -> None:
    """Serve ``/openapi.json``, for a plan's numbers and a currency's amounts, and ``/docs``."""
    assets = Assets(ASSETS, _FILES)
    page = b""

    async def openapi() -> TrioResponse:
        from risala.http.api.openapi.document import document_bytes

        return json_response(document_bytes(plan, currency))

    async def docs() -> TrioResponse:
        nonlocal page
        if not page:
            page = _page(await assets.addresses())
        response = TrioResponse(page, content_type="text/html; charset=utf-8")
        response.headers["content-security-policy"] = _POLICY
        response.headers["referrer-policy"] = "no-referrer"
        return response

    app.route_to("/openapi.json", openapi, method="GET")
    app.route_to("/docs", docs, method="GET")
    assets.add_to(app)


def _page(addresses: dict[str, str]) -> bytes:
    from risala.http.api.openapi.document import OPERATIONS

    text = _PAGE.read_text(encoding="utf-8")
    for name, address in addresses.items():
        text = text.replace(f"{{{{{name}}}}}", escape(address))
    rows = "\n".join(
        f"<tr><td><code>{operation.method.upper()} {escape(operation.path)}</code></td>"
        f"<td>{escape(operation.summary)}</td></tr>"
        for operation in OPERATIONS
    )
    return text.replace("{{operations}}", rows).encode()
