"""Static files of the pages, read and compressed once, under names that carry a digest.

A name changes with its content, so a browser keeps a file for a year without asking again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.http.common.assets import STATIC, Asset, load_asset, made_asset

PLACE: Final = "/static/"
_OWN: Final = STATIC / "web"
_VENDOR: Final = STATIC / "vendor"
_FILES: Final = (
    *(_VENDOR / "instrument-sans" / "instrument-sans-latin-wght-normal.woff2",),
    *(_VENDOR / "readex-pro" / "readex-pro-arabic-wght-normal.woff2",),
    *(_VENDOR / "ibm-plex-mono" / "ibm-plex-mono-latin-400-normal.woff2",),
    *(_OWN / "icons.svg", _OWN / "favicon.svg", _OWN / "chevron.svg"),
    _VENDOR / "htmx" / "htmx.min.js",
    *(_VENDOR / "uplot" / "uPlot.iife.min.js", _VENDOR / "uplot" / "uPlot.min.css"),
    *(_OWN / "ui.js", _OWN / "seek.js", _OWN / "sms.js", _OWN / "compose.js", _OWN / "plot.js"),
    *(_OWN / "passkeys.js", _OWN / "hosted.js"),
    *(_OWN / "risala.css", _OWN / "dark.css"),
)
"""Prepended to the names in a style sheet: their addresses are part of the sheet's content."""
_LIVE: Final = (_VENDOR / "htmx" / "htmx.min.js", _VENDOR / "htmx" / "hx-sse.min.js")
"""One file: htmx scans the page as soon as it has run. When its extension came later, in a separate
file, the page opened no stream and showed no error."""
_NAMED: Final = re.compile(r"url\(([\w.-]+)\)")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The static files of the pages."""

    assets: Mapping[str, Asset]
    """The files by path."""
    addresses: Mapping[str, str]
    """Paths by the files' own names."""


@cache
def load_shelf() -> Shelf:
    """Read all of it: some 30 ms the first time, so in a thread."""
    assets: dict[str, Asset] = {}
    addresses: dict[str, str] = {}
    for path in _FILES:
        _put(path.name, _load(path, addresses), assets, addresses)
    live = made_asset(b"\n".join(path.read_bytes() for path in _LIVE), ".js")
    _put("live.min.js", live, assets, addresses)
    return Shelf(assets, addresses)


def _put(name: str, asset: Asset, assets: dict[str, Asset], addresses: dict[str, str]) -> None:
    stem, suffix = name.rsplit(".", 1)
    addresses[name] = f"{PLACE}{stem}.{asset.digest}.{suffix}"
    assets[addresses[name]] = asset


def _load(path: Path, addresses: Mapping[str, str]) -> Asset:
    if path.suffix != ".css":
        return load_asset(path)
    sheet = path.read_text(encoding="utf-8")
    named = _NAMED.sub(lambda match: f"url({addresses[match[1]]})", sheet)
    return made_asset(named.encode(), path.suffix)
