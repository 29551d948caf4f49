"""Files for browsers, from the package: read once, compressed once, never stale in a cache.

An address carries the digest of its content, so that it may be kept for a year.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import trio
from quart import request
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.http.common.base import JsonApp

STATIC: Final = Path(__file__).parents[1] / "static"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".whl": "application/octet-stream",
    ".woff2": "font/woff2",
}
_COMPRESSED: Final = frozenset({".whl", ".woff2"})
"""Kinds of files that gzip makes no smaller."""
_YEAR: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    compressed: bytes | None
    """Compressed by gzip; None: not smaller."""
    content_type: str
    digest: str

    @property
    def etag(self) -> str:
        # Weak: the compressed form is the same file, but not the same bytes.
        return f'W/"{self.digest}"'


class Assets:
    """Files of ``static/`` by name, served below one path."""

    def __init__(self, path: str, files: Mapping[str, Path]) -> None:
        self._path = path
        self._files = files
        self._read: dict[str, Asset] = {}

    def add_to(self, app: JsonApp) -> None:
        for name in self._files:
            self._add(app, name)

    def _add(self, app: JsonApp, name: str) -> None:
        async def serve() -> TrioResponse:
            return asset_response(await self.get(name))

        app.route_to(f"{self._path}/{name}", serve, method="GET")

    async def get(self, name: str) -> Asset:
        asset = self._read.get(name)
        if asset is None:
            asset = self._read[name] = await trio.to_thread.run_sync(load_asset, self._files[name])
        return asset

    async def addresses(self) -> dict[str, str]:
        """Each file's address, relative to the server's root."""
        return {
            name: f"{self._path.lstrip('/')}/{name}?v={(await self.get(name)).digest}"
            for name in self._files
        }


def load_asset(path: Path) -> Asset:
    """A file of the package, as it is."""
    return made_asset(path.read_bytes(), path.suffix)


def made_asset(content: bytes, suffix: str) -> Asset:
    """An asset of this content, with the type of that suffix."""
    return Asset(
        content=content,
        compressed=None if suffix in _COMPRESSED else gzip.compress(content, mtime=0),
        content_type=_TYPES[suffix],
        digest=hashlib.sha256(content).hexdigest()[:16],
    )


def asset_response(asset: Asset) -> TrioResponse:
    """The answer to the request that is being answered, for one file."""
    if asset.etag in request.headers.get("if-none-match", ""):
        response = TrioResponse(b"", 304)
        del response.headers["content-type"]
    elif asset.compressed is not None and request.accept_encodings.quality("gzip"):
        response = TrioResponse(asset.compressed, content_type=asset.content_type)
        response.headers["content-encoding"] = "gzip"
    else:
        response = TrioResponse(asset.content, content_type=asset.content_type)
    response.headers["etag"] = asset.etag
    response.headers["cache-control"] = _YEAR
    response.headers["vary"] = "accept-encoding"
    return response
