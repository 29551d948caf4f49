"""The module by which pages ask the service comes from the service."""

from pathlib import Path

from risala.http.api.clients import FILE, MODULE

SOURCE = Path(__file__).parents[3] / "clients/javascript/risala.js"


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
