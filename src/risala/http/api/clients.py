"""``/clients/``: the module by which pages of other origins ask the service, and the wheel by which
programs in Python do; the page ``/clients/`` says how each is had."""

from __future__ import annotations

import base64
import hashlib
import io
import tomllib
import zipfile
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

from quart_trio.wrappers import TrioResponse

import risala
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


# The wheel of the Python client, made of its sources: pip installs it from the service.
#
# A wheel without compiled parts is a zip archive with its own metadata (PEP 427). What it has is
# what ``clients/python`` builds: the service's wheel brings the client's sources along as data,
# and in a checkout they are where they are written.

_PACKED: Final = STATIC / "clients" / "python"
"""In the service's own wheel; ``pyproject.toml`` puts it there."""
_PACKAGE: Final = Path(risala.__file__).parent
_PROJECT: Final = _PACKAGE.parents[1] / "clients" / "python"
"""In a checkout."""
_MADE_AT: Final = (2020, 2, 2, 0, 0, 0)
"""The time of all files in the archive, so that the same sources make the same octets."""
_IS_FILE: Final = 0o100644 << 16
_WHEEL: Final = "Wheel-Version: 1.0\nGenerator: risala\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class Wheel(NamedTuple):
    """A wheel by its file name, which says what it is."""

    name: str
    content: bytes


@cache
def client_wheel() -> Wheel | None:
    """The client's wheel, of this version of the service; None: its sources are not there. Made
    once: a process is of one version."""
    is_packed = _PACKED.is_dir()
    about, sources = (_PACKED, _PACKED / "client") if is_packed else (_PROJECT, _PACKAGE / "client")
    if not (about / "pyproject.toml").is_file():
        return None
    project = tomllib.loads((about / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = f"{project['name'].replace('-', '_')}-{project['version']}"
    files = {
        f"risala/client/{path.name}": path.read_bytes()
        for path in sorted(sources.iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    }
    readme = (about / project["readme"]).read_text(encoding="utf-8")
    info = f"{name}.dist-info"
    files[f"{info}/METADATA"] = _metadata(project, readme).encode()
    files[f"{info}/WHEEL"] = _WHEEL.encode()
    for each in project["license-files"]:
        files[f"{info}/licenses/{each}"] = (about / each).read_bytes()
    return Wheel(f"{name}-py3-none-any.whl", _archive(files, f"{info}/RECORD"))


def _metadata(project: Mapping[str, Any], readme: str) -> str:
    """The core metadata, of version 2.4."""
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", project["name"]),
        ("Version", project["version"]),
        ("Summary", project["description"]),
        ("License-Expression", project["license"]),
        *(("License-File", each) for each in project["license-files"]),
        *(("Classifier", each) for each in sorted(project["classifiers"])),
        ("Requires-Python", project["requires-python"]),
        *(("Requires-Dist", each) for each in sorted(project["dependencies"])),
        ("Description-Content-Type", "text/markdown"),
    ]
    return "".join(f"{name}: {value}\n" for name, value in fields) + f"\n{readme}"


def _archive(files: Mapping[str, bytes], record: str) -> bytes:
    """The files as a zip archive, with the record of them and their hashes as the last."""
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items()]
    whole = {**files, record: f"{''.join(lines)}{record},,\n".encode()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in whole.items():
            entry = zipfile.ZipInfo(name, _MADE_AT)
            entry.external_attr, entry.compress_type = _IS_FILE, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return out.getvalue()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
