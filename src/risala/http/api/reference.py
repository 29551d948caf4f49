"""``/openapi.json``; ``/docs``, which draws it; ``/docs/errors``, which explains each error's word.

All are served offline and under a strict policy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.config.model import Settings
from risala.http.common.assets import STATIC, Assets
from risala.http.common.base import JsonApp
from risala.http.common.error_words import PAGE, STATUS_WORDS, WORDS, ErrorWord
from risala.http.common.respond import json_response

ASSETS: Final = "/docs/assets"
_FILES: Final = {
    "swagger-ui.css": STATIC / "vendor" / "swagger-ui" / "swagger-ui.css",
    "swagger-ui-bundle.js": STATIC / "vendor" / "swagger-ui" / "swagger-ui-bundle.js",
    "docs.css": STATIC / "docs" / "docs.css",
    "docs.js": STATIC / "docs" / "docs.js",
}
_PAGE: Final = STATIC / "docs" / "page.html"
_TEXT_PAGE: Final = STATIC / "docs" / "text.html"
_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'"
)
_code: Final = re.compile("`([^`]*)`").sub


def add_reference(app: JsonApp, settings: Settings) -> Assets:
    """Serve ``/openapi.json``, for the numbers, currency and languages of the settings, and the
    pages of the reference; returns their files, for pages of text beside them
    (:func:`text_page`)."""
    assets = Assets(ASSETS, _FILES)
    page = b""

    async def openapi() -> TrioResponse:
        from risala.http.api.openapi.document import document_bytes

        return json_response(
            document_bytes(settings.plan, settings.service.currency, tuple(settings.code_texts))
        )

    async def docs() -> TrioResponse:
        nonlocal page
        if not page:
            page = _page(await assets.addresses())
        return html_response(page)

    async def errors() -> TrioResponse:
        return html_response(await text_page(assets, "Errors", _errors(), depth=1))

    app.route_to("/openapi.json", openapi, method="GET")
    app.route_to("/docs", docs, method="GET")
    app.route_to(PAGE, errors, method="GET")
    assets.add_to(app)
    return assets


def html_response(page: bytes) -> TrioResponse:
    """An answer with a page of this room, under its policy."""
    response = TrioResponse(page, content_type="text/html; charset=utf-8")
    response.headers["content-security-policy"] = _POLICY
    response.headers["referrer-policy"] = "no-referrer"
    return response


async def text_page(assets: Assets, title: str, content: str, *, depth: int) -> bytes:
    """A page of text beside the reference.

    Args:
        assets: those of the reference, of which it uses the style.
        content: HTML.
        depth: folders between the page and the root; its links are relative, so that they are
            right behind a proxy that adds a prefix.
    """
    root = "../" * depth
    style = root + (await assets.addresses())["docs.css"]
    values = {"title": title, "content": content, "docs.css": escape(style), "docs": f"{root}docs"}
    page = _TEXT_PAGE.read_text(encoding="utf-8")
    for name, value in values.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    return page.encode()


def _errors() -> str:
    intro = (
        "<p>Every error has <code>code</code>; some have a more precise <code>data.code</code>. "
        "Both are stable. <code>message</code> is for people and may change.</p>"
    )
    return "\n".join(
        [
            intro,
            "<h2><code>data.code</code></h2>",
            *_word_rows(WORDS),
            "<h2><code>code</code></h2>",
            *_word_rows(STATUS_WORDS),
        ]
    )


def _word_rows(words: Mapping[str, ErrorWord]) -> list[str]:
    return [
        f'<section id="{name}"><h3><code>{name}</code> <small>{word.status}</small></h3>'
        f"<p>{_marked(word.when[0].upper() + word.when[1:])}. {_marked(word.remedy)}</p></section>"
        for name, word in words.items()
    ]


def _marked(text: str) -> str:
    """A sentence as HTML, with what stands between backquotes as code."""
    return _code(r"<code>\1</code>", escape(text, quote=False))


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
