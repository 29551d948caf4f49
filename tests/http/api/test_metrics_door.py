"""``/metrics`` on the public address: for programs on this machine, and for nobody's proxy."""

import runpy
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from prometheus_client.parser import text_string_to_metric_families

from risala.http.api.app import create_api
from risala.http.api.metrics import add_metrics, create_metrics
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp

WIRE = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "server/wire.py")))
GET = "GET /metrics HTTP/1.1"
OWN = "Host: 127.0.0.1:8080"

LOCAL = [
    [GET, OWN], [GET, "Host: localhost"], [GET, "Host: LocalHost:9090"], [GET, "Host: [::1]:8080"],
    [GET, "Host: 127.0.0.2"], ["GET http://127.0.0.1/metrics HTTP/1.1", "Host: elsewhere"],
    [GET, OWN, "User-Agent: Prometheus/3.0", "Accept: */*", "X-Prometheus-Scrape-Timeout: 10"],
]  # fmt: skip
PROXIED = [
    [GET, OWN, header]
    for header in (
        "Via: 1.1 proxy", "Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.1",
        "X-Forwarded-For:", "X-Forwarded-Proto: https", "X-Forwarded-Host: risala.mr",
        "x-forwarded-port: 443", "X-Forwarded-Whatever: 1", "X-Real-IP: 192.0.2.1",
        "CF-Connecting-IP: 192.0.2.1", "CF-Ray: 1", "cf-visitor: {}", "CDN-Loop: cloudflare",
        "True-Client-IP: 192.0.2.1", "Fastly-Client-IP: 192.0.2.1", "X-Amzn-Trace-Id: Root=1",
        "X-Envoy-External-Address: 192.0.2.1", "Fly-Client-IP: 192.0.2.1",
    )
]  # fmt: skip
FOREIGN = [
    [GET, "Host: api.risala.mr"], [GET, "Host: 192.0.2.1:8080"], [GET, "Host: localhost.evil.com"],
    [GET, "Host: 127.0.0.1.nip.io"], [GET, "Host: 127.0.0.1@evil.com"], [GET, "Host:"],
    ["GET http://evil.com/metrics HTTP/1.1", OWN],
    ["GET /metrics HTTP/1.0", OWN], ["GET /metrics HTTP/1.0"],
    ["GET //metrics HTTP/1.1", OWN], ["GET /metrics/ HTTP/1.1", OWN],
]  # fmt: skip


@pytest.fixture
async def both(gateway, settings):
    """The public address, and one of the metrics' own."""
    gateway.metrics = lambda: (
        b"# HELP risala_ready x\n# TYPE risala_ready gauge\nrisala_ready 1.0\n"
    )
    api = create_api(gateway, settings)
    add_metrics(api, gateway, everybody=False)
    measured = create_metrics(gateway, settings, api.tally)
    shutdown = trio.Event()
    async with trio.open_nursery() as nursery:
        urls = []
        for app in (api, measured):
            sock = listen_tcp("127.0.0.1", 0)
            urls.append(base_url(sock))
            serve = partial(serve_app, app, settings.http, sock=sock, shutdown=shutdown)
            await nursery.start(serve)
        yield urls
        shutdown.set()


async def ask(url, lines):
    async with WIRE.open_wire(url) as wire:
        await wire.send(WIRE.request(*lines, host=None))
        return await wire.answer()


@pytest.mark.parametrize("lines", LOCAL, ids=lambda lines: " ".join(lines[1:]))
async def test_a_program_on_this_machine_reads_them(both, lines):
    answer = await ask(both[0], lines)
    assert answer.status == 200
    assert b"risala_ready 1.0\n" in answer.body


@pytest.mark.parametrize("lines", PROXIED + FOREIGN, ids=" ".join)
async def test_whoever_a_proxy_asks_for_is_told_that_there_is_no_such_path(both, lines):
    answer = await ask(both[0], lines)
    assert answer.status == 404
    assert b"risala_ready" not in answer.body


@pytest.mark.parametrize("lines", [LOCAL[0], PROXIED[0], FOREIGN[0], ["GET /metrics HTTP/1.0"]])
async def test_at_an_address_of_their_own_everybody_reads_them(both, lines):
    assert (await ask(both[1], lines)).status == 200


async def test_answers_are_counted_by_status_and_wrong_keys(both, keys):
    post = "POST /api/sms HTTP/1.1"
    empty = [OWN, "Content-Type: application/json", "Content-Length: 0"]
    for lines in (
        [post, *empty, "x-api-key: wrong"],
        [post, *empty, "x-api-key: other"],
        [post, *empty],
        [post, *empty, f"x-api-key: {keys['secret']}"],
        [post, *empty, "Transfer-Encoding: chunked"],
        [post, OWN, "x: " + "a" * 70_000],
        ["GET /nothing HTTP/1.1", OWN],
        ["GET /healthz HTTP/1.1", OWN],
    ):
        await ask(both[0], lines)
    for url in both:
        page = (await ask(url, [GET, OWN])).body.decode()
        found = {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
        }
        counts = {key[1]: n for key, n in found.items() if key[0] == "risala_http_responses_total"}
        counts["200"] -= url == both[1]  # the page before this one
        assert counts == {"200": 1, "400": 2, "401": 3, "404": 1, "431": 1}
        assert found["risala_http_failed_keys_total",] == 2
        assert found["risala_http_failed_keys_delayed_total",] == 0
        assert found["risala_ready",] == 1
