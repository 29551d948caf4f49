"""One listener: paths of pages are answered by pages, all others as before."""

import pytest
import trio

from risala.config.model import Settings
from risala.http.api.app import create_api
from risala.http.dashboard.app import create_dashboard
from web_people import FakeWebGateway

LOCAL = {"headers": {"host": "127.0.0.1"}, "scope_base": {"client": ("127.0.0.1", 1)}}


@pytest.fixture
def client(gateway):
    settings = Settings()
    pages = create_dashboard(FakeWebGateway(), settings, shutdown=trio.Event())
    return create_api(gateway, settings, pages=(pages,)).test_client()


@pytest.mark.parametrize("path", ["/", "/app", "/sign-in", "/sign-up/x", "/app/org_1", "/language"])
async def test_pages(client, path):
    response = await client.get(path, **LOCAL)
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["x-request-id"].startswith("req_")
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("path", ["/api/nope", "/nope", "/application", "//app", "/app/../api/sms"])
async def test_what_is_no_page_is_answered_in_json(client, path):
    response = await client.get(path, **LOCAL)
    assert response.status_code == 404
    assert (await response.get_json())["code"] == "NOT_FOUND"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/docs"])
async def test_the_api_s_own(client, path):
    assert (await client.get(path, **LOCAL)).status_code == 200


async def test_files_are_kept_for_a_year_and_compressed_once(client):
    page = await (await client.get("/sign-in", **LOCAL)).get_data(as_text=True)
    path = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    asked = {**LOCAL, "headers": {"host": "x", "accept-encoding": "gzip"}}
    response = await client.get(path, **asked)
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    etag = response.headers["etag"]
    again = await client.get(path, headers={"if-none-match": etag})
    assert again.status_code == 304
    assert (await client.get(path.replace("risala.", "risala.0"), **LOCAL)).status_code == 404
    assert (await client.get("/static/../app.py", **LOCAL)).status_code == 404
