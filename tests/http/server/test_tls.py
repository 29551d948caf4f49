"""HTTPS by ourselves: the same guarded connection, on real sockets, with certificates for tests."""

import runpy
import shutil
import ssl
import tempfile
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from quart import request
from structlog.testing import capture_logs

from patience import HANG_S, until_true
from risala.config.model import HttpSection
from risala.engine.model.times import iso
from risala.http.server import server
from risala.http.server.listener_state import Patience
from risala.http.server.server import BoundAddress, serve_app
from risala.http.server.sockets import ListenError, listen_tcp
from risala.http.server.tls import ServerTls, ends_at

PROBE = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("guard_probe.py"))))
CERTIFICATES = Path(__file__).parents[2] / "drivers" / "smpp" / "tls"
OK = b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture(params=[PROBE.ProbeApp, PROBE.PlainProbeApp], ids=["quart", "plain"])
def app(request):
    return request.param()


@pytest.fixture
def tls(tmp_path):
    """Shows a copy of the server's certificate, which a test may replace."""
    return ServerTls(Path(shutil.copy(CERTIFICATES / "server.pem", tmp_path / "shown.pem")), None)


@pytest.fixture
def short(monkeypatch):
    def use(**seconds):
        monkeypatch.setattr(server, "Patience", partial(Patience, **seconds))

    return use


@asynccontextmanager
async def serving(app, tls, **http):
    sock = listen_tcp("127.0.0.1", 0)
    address, stop = sock.getsockname(), trio.Event()
    section = HttpSection(**{"graceful_stop_s": 1, **http})
    async with trio.open_nursery() as nursery:
        serve = partial(serve_app, app, section, sock=sock, shutdown=stop, tls=tls)
        await nursery.start(serve)
        yield address, stop
        stop.set()


def trusting():
    context = ssl.create_default_context(cafile=CERTIFICATES / "ca.pem")
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


@asynccontextmanager
async def opened(address, context=None):
    """A connection that insists on the server's goodbye."""
    raw = await trio.open_tcp_stream(*address)
    stream = trio.SSLStream(raw, context or trusting(), server_hostname="localhost")
    try:
        with trio.fail_after(HANG_S):
            await stream.do_handshake()
        yield stream
    finally:
        await trio.aclose_forcefully(stream)


async def test_a_connection_is_kept_and_taken_leave_of(app, tls):
    async with serving(app, tls) as (address, _), opened(address) as stream:
        assert stream.version() == "TLSv1.3"
        assert stream.selected_alpn_protocol() == "http/1.1"
        for _ in range(3):
            await stream.send_all(OK)
            assert (await PROBE.read_until(stream, b"}")).startswith(b"HTTP/1.1 200 ")
        await stream.send_all(LAST)
        answer = await PROBE.read_until(stream, None)  # raises where it was cut off
        assert b"connection: close" in answer


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1")
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_1])
async def test_versions(app, tls, version):
    context = trusting()
    context.set_ciphers("ALL:@SECLEVEL=0")  # else the client refuses the old one by itself
    context.minimum_version = context.maximum_version = version
    async with serving(app, tls) as (address, _):
        if version is ssl.TLSVersion.TLSv1_2:
            async with opened(address, context) as stream:
                assert stream.version() == "TLSv1.2"
                assert stream.cipher()[0].startswith("ECDHE-")
        else:
            with pytest.raises(trio.BrokenResourceError):
                async with opened(address, context):
                    raise AssertionError


async def test_what_speaks_plain_http_is_told(app, tls):
    async with serving(app, tls) as (address, _):
        answer = await PROBE.talk(address, OK)
    assert PROBE.problem(answer) == "BAD_REQUEST"
    assert b"https" in answer


@pytest.mark.slow
async def test_much_either_way_arrives_whole(app, tls):
    async with serving(app, tls) as (address, _), opened(address) as stream:
        head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n"
        await stream.send_all(head + bytes(99_999))
        assert b'{"bytes":99999}' in await PROBE.read_until(stream, b"}")
        await stream.send_all(b"GET /big HTTP/1.0\r\n\r\n")
        answer = await PROBE.read_until(stream, None)
    assert len(answer.partition(b"\r\n\r\n")[2]) == len(PROBE.BIG)


async def test_a_client_that_goes_away_cancels_its_handler(app, tls):
    async with serving(app, tls) as (address, _):
        async with opened(address) as stream:
            await stream.send_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
            await until_true(lambda: app.told == ["slow began"])
            await stream.aclose()
        await until_true(lambda: app.told == ["slow began", "slow cancelled"])


async def test_an_answer_before_the_body_reaches_a_client_that_pushes_on(app, tls):
    async with serving(app, tls) as (address, _), opened(address) as stream:
        head = b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n"
        await stream.send_all(head + bytes(300_000))
        assert b" 401 " in await PROBE.read_until(stream, b"}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent", [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01", b"\x16" + b"\xff" * 200], ids=len
)
async def test_a_handshake_that_is_none_costs_its_connection(app, tls, short, sent):
    short(header_s=0.3, idle_s=0.3)
    async with serving(app, tls, keep_alive_s=0.3) as (address, _):
        async with opened(address) as stream:  # until then some of the server may not have begun
            await stream.send_all(LAST)
            await PROBE.read_until(stream, None)
        before = trio.lowlevel.current_statistics().tasks_living
        for _ in range(20):
            async with await PROBE.open_raw(address) as stream:
                await stream.send_all(sent)
        kept = [await PROBE.open_raw(address) for _ in range(20)]
        for stream in kept:
            await stream.send_all(sent)
        await until_true(lambda: trio.lowlevel.current_statistics().tasks_living <= before)
        async with opened(address) as stream:
            await stream.send_all(OK)
            assert b" 200 " in await PROBE.read_until(stream, b"}")
        for stream in kept:
            await stream.aclose()


async def test_a_stop_is_in_order(app, tls):
    async with serving(app, tls) as (address, stop), opened(address) as idle:
        await idle.send_all(OK)
        await PROBE.read_until(idle, b"}")
        async with opened(address) as deaf:
            await deaf.send_all(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
            await deaf.receive_some(10)
            stop.set()
            await PROBE.read_until(idle, None)


async def test_the_app_is_told_that_it_is_https(tls):
    app = PROBE.JsonApp("scheme", body_bytes_max=1, body_timeout_s=1)

    async def scheme():
        return PROBE.json_response(request.scheme.encode())

    app.route_to("/scheme", scheme, method="GET")
    async with serving(app, tls) as (address, _), opened(address) as stream:
        await stream.send_all(b"GET /scheme HTTP/1.0\r\n\r\n")
        assert (await PROBE.read_until(stream, None)).endswith(b"\r\n\r\nhttps")


async def shown(address):
    async with opened(address, ssl._create_unverified_context()) as stream:
        return stream.getpeercert(binary_form=True)


async def test_a_renewed_certificate_is_for_new_connections(app, tls, tmp_path):
    async with serving(app, tls) as (address, _), opened(address) as old:
        first = await shown(address)
        (tmp_path / "shown.pem").write_text("torn")
        tls.reload()  # logs that it kept what there was
        assert await shown(address) == first
        shutil.copy(CERTIFICATES / "self.pem", tmp_path / "shown.pem")
        assert await shown(address) == first
        tls.reload()
        assert await shown(address) != first
        await old.send_all(OK)
        assert b" 200 " in await PROBE.read_until(old, b"}")


@pytest.mark.parametrize(
    ("certificate", "key", "words"),
    [
        ("missing.pem", None, "http.tls_certificate .* cannot be read: No such file"),
        ("server.pem", "missing.pem", "http.tls_key .* cannot be read: No such file"),
        ("ca.pem", None, "must be a certificate and its key in PEM"),
        ("make.sh", None, "must be a certificate and its key in PEM"),
        ("client.pem", "server.pem", "the key belongs to another certificate"),
        ("client.pem", "locked.key", "the key has a password"),
    ],
)
def test_files_that_cannot_be_used(certificate, key, words):
    with pytest.raises(ListenError, match=words):
        ServerTls(CERTIFICATES / certificate, key and CERTIFICATES / key)


class HandClock:
    def __init__(self, now_ms):
        self.ms = now_ms

    def now_ms(self):
        return self.ms


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("server.pem", "2120-01-01T00:00:00.000Z"),
        ("expired.pem", "2021-01-01T00:00:00.000Z"),
        ("ca.pem", "2120-01-01T00:00:00.000Z"),
        ("make.sh", None),
    ],
)
def test_when_a_certificate_ends(name, end):
    at = ends_at(CERTIFICATES / name)
    assert (at and iso(at)) == end


@given(st.binary(max_size=80))
def test_whatever_stands_there_is_no_fault_of_the_service(content):
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(ssl.DER_cert_to_PEM_cert(content).encode())
        file.flush()
        assert ends_at(Path(file.name)) is None


def test_the_end_is_warned_of_once_a_day():
    certificate, day = CERTIFICATES / "server.pem", 86_400_000
    clock = HandClock(ends_at(certificate) - 20 * day)

    def warnings(tls):
        with capture_logs() as logs:
            for _ in range(3):
                assert isinstance(tls.context, ssl.SSLContext)
        return [line["event"] for line in logs if line["log_level"] == "warning"]

    tls = ServerTls(certificate, None, clock)
    assert warnings(tls) == []
    clock.ms += 6 * day
    assert warnings(tls) == ["certificate.ends"]
    clock.ms += day - 1
    assert warnings(tls) == []
    clock.ms += 1
    assert warnings(tls) == ["certificate.ends"]
    with capture_logs() as logs:
        ServerTls(CERTIFICATES / "expired.pem", None)
    assert "certificate.ends" in [line["event"] for line in logs]


@pytest.mark.parametrize(("mode", "told"), [(0o600, []), (0o640, []), (0o644, ["certificate.key"])])
def test_a_key_that_others_may_read_is_told(tmp_path, mode, told):
    key = tmp_path / "server.pem"
    key.write_bytes((CERTIFICATES / "server.pem").read_bytes())
    key.chmod(mode)
    with capture_logs() as logs:
        tls = ServerTls(key, None)
    assert [line["event"] for line in logs] == told
    with capture_logs() as logs:
        tls.reload()
    assert [line["event"] for line in logs] == ["certificate.read", *told]


def test_an_address_says_how_it_is_spoken_to(tls):
    sock = listen_tcp("127.0.0.1", 0)
    with sock:
        assert BoundAddress(sock, tls).url == f"https://127.0.0.1:{sock.getsockname()[1]}"
        assert BoundAddress(sock).url == f"http://127.0.0.1:{sock.getsockname()[1]}"
