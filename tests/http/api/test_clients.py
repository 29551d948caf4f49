"""The clients by which pages and programs ask the service come from the service."""

import base64
import csv
import hashlib
import io
import zipfile
from pathlib import Path

from risala.client.version import VERSION
from risala.http.api.clients import FILE, MODULE

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "clients/javascript/risala.js"
PAGES = ("quick-start/python.md", "reference/http-api.md", "reference/python-client.md")


def test_what_is_served_is_the_client():
    assert FILE.read_bytes() == SOURCE.read_bytes(), "run `make client`"


async def test_a_page_of_any_origin_may_load_the_module(client):
    found = await client.get(MODULE, headers={"origin": "https://shop.example"})
    assert (found.status_code, await found.get_data()) == (200, SOURCE.read_bytes())
    assert found.content_type == "text/javascript; charset=utf-8"
    assert found.headers.getlist("access-control-allow-origin") == ["*"]
    assert found.headers["x-content-type-options"] == "nosniff"


async def test_it_is_asked_for_again_and_not_sent_twice(client):
    first = await client.get(MODULE)
    kept, etag = first.headers["cache-control"], first.headers["etag"]
    assert "immutable" not in kept  # the address stays when the module changes
    again = await client.get(MODULE, headers={"if-none-match": etag})
    assert (again.status_code, await again.get_data()) == (304, b"")
    assert again.headers["access-control-allow-origin"] == "*"


WHEEL = f"/clients/risala_client-{VERSION}-py3-none-any.whl"
PACKAGE = ROOT / "src/risala/client"


async def test_the_wheel_has_the_python_client_and_a_record_of_each_file(client):
    found = await client.get(WHEEL)
    assert (found.status_code, found.content_type) == (200, "application/octet-stream")
    with zipfile.ZipFile(io.BytesIO(await found.get_data())) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    ours = {f"risala/client/{path.name}": path.read_bytes() for path in PACKAGE.glob("*.py*")}
    ours["risala/client/py.typed"] = b""
    told = f"risala_client-{VERSION}.dist-info/"
    assert {name: data for name, data in files.items() if not name.startswith(told)} == ours
    for name, digest, size in csv.reader(files[f"{told}RECORD"].decode().splitlines()):
        if name == f"{told}RECORD":
            continue
        data = files.pop(name)
        hashed = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        assert (digest, size) == (f"sha256={hashed}", str(len(data)))
    assert [*files] == [f"{told}RECORD"]


async def test_the_wheel_is_not_sent_twice(client):
    first = await client.get(WHEEL, headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in first.headers  # it is compressed in itself
    assert "immutable" not in first.headers["cache-control"]
    again = await client.get(WHEEL, headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, await again.get_data()) == (304, b"")
    other = WHEEL.replace(VERSION, "9.9.9")
    assert (await client.get(other)).status_code == 404


def test_the_pages_name_the_file_that_is_there():
    assert [page for page in PAGES if WHEEL not in (ROOT / "docs" / page).read_text()] == []
