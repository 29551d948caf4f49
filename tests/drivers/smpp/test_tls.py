"""The driver over TLS, and what it says where there is none; the certificates are in ``tls/``."""

import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio
from pydantic import ValidationError

from patience import HANG_S
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.protocol.codec import encode
from risala.drivers.smpp.protocol.pdu import GenericNack
from risala.drivers.smpp.reaching import UnreachableError, open_stream
from risala.drivers.smpp.server_tls import TlsFilesError, server_context
from risala.drivers.smpp.settings import SmppSettings
from risala.drivers.smpp.tls import TlsError, client_context
from risala.lab.smsc.simulator import SimulatorConfig, SimulatorEvent, SmscSimulator, Trouble
from risala.plugins.contract import Accepted, Health, HealthState
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

FILES = Path(__file__).parent / "tls"
CA = FILES / "ca.pem"
CLIENT = FILES / "client.pem"
PLAIN = {"tls": False, "tls_ca_file": None}


def settings(port: int = 2775, **changes) -> SmppSettings:
    values = {
        "host": "localhost",
        "port": port,
        "system_id": "risala",
        "password": "secret",
        "tls": True,
        "tls_ca_file": CA,
        "reconnect_first_s": 0.01,
        "reconnect_max_s": 0.05,
    }
    return SmppSettings(**{**values, **changes})


class Carrier:
    def __init__(self, driver: SmppDriver) -> None:
        self.context = RecordingContext()
        self.driver = driver
        self.events: list[SimulatorEvent] = []

    async def wait_said(self, words: str) -> Health:
        await self.context.wait_until(lambda it: bool(it.healths) and words in it.healths[-1].text)
        return self.context.healths[-1]


@asynccontextmanager
async def carrier(
    certificate: str | None = "server.pem", *, client_ca: Path | None = None, **changes
) -> AsyncIterator[Carrier]:
    """The simulator with this certificate (None: plain), and the driver at it."""
    tls = certificate and server_context(FILES / certificate, client_ca_file=client_ca)
    events: list[SimulatorEvent] = []
    config = SimulatorConfig(receipt_after_s=0.01, accounts={"risala": "secret"}, tls=tls)
    simulator = SmscSimulator(config, on_event=events.append)
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            port = await nursery.start(simulator.run)
            it = Carrier(SmppDriver("smsc", settings(port, **changes)))
            it.events = events
            await nursery.start(it.driver.run, it.context)
            yield it
            nursery.cancel_scope.cancel()


async def test_a_message_goes_over_tls():
    async with carrier() as it:
        await it.context.wait_health(HealthState.UP)
        assert isinstance(await it.driver.submit(segment()), Accepted)
        await it.context.wait_receipts(1)


async def test_a_certificate_of_another_name_is_taken_where_the_settings_name_it():
    async with carrier("other.pem", tls_server_name="smsc.example.net") as it:
        await it.context.wait_health(HealthState.UP)


@pytest.mark.parametrize(
    ("certificate", "changes", "said", "state"),
    [
        ("other.pem", {}, "for another name than localhost. Set host", HealthState.SICK),
        ("server.pem", {"host": "127.0.0.1"}, "another name than 127.0.0.1", HealthState.SICK),
        (
            "server.pem",
            {"tls_ca_file": None},
            "not signed by a CA that this machine",
            HealthState.SICK,
        ),
        ("stranger.pem", {}, "not signed by a CA in tls_ca_file", HealthState.SICK),
        ("self.pem", {}, "is self-signed", HealthState.SICK),
        ("expired.pem", {}, "has expired. The carrier must renew it", HealthState.DOWN),
        ("early.pem", {}, "is not valid yet", HealthState.DOWN),
        ("client.pem", {}, "not made for a server", HealthState.DOWN),
    ],
)
async def test_each_certificate_that_is_not_accepted_has_its_sentence(
    certificate, changes, said, state
):
    async with carrier(certificate, **changes) as it:
        assert (await it.wait_said(said)).state is state


# -- ours ----------------------------------------------------------------------------------------


async def test_a_carrier_that_wants_to_know_us_sees_our_certificate():
    async with carrier(client_ca=CA, tls_cert_file=CLIENT) as it:
        await it.context.wait_health(HealthState.UP)


def test_a_key_in_a_file_of_its_own_with_a_password():
    files = {"tls_cert_file": CLIENT, "tls_key_file": FILES / "locked.key"}
    client_context(settings(**files, tls_key_password="sesame"))
    for wrong in ("", "simsim"):
        with pytest.raises(TlsError, match="another tls_key_password") as caught:
            client_context(settings(**files, tls_key_password=wrong))
        assert "simsim" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "wants a client certificate. Ask the carrier for one"),
        ({"tls_cert_file": FILES / "stranger.pem"}, "does not accept our client certificate"),
    ],
)
async def test_a_carrier_that_does_not_know_us_is_told_of(changes, said):
    async with carrier(client_ca=CA, **changes) as it:
        assert (await it.wait_said(said)).state is HealthState.SICK


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tls_ca_file": "nowhere.pem"}, "tls_ca_file nowhere.pem is not there"),
        ({"tls_ca_file": FILES / "make.sh"}, "make.sh has no certificates"),
        ({"tls_cert_file": "nowhere.pem"}, "tls_cert_file nowhere.pem is not there"),
        ({"tls_cert_file": CA}, "does not hold what it should"),
        (
            {"tls_cert_file": CLIENT, "tls_key_file": FILES / "server.pem"},
            "belongs to another certificate",
        ),
    ],
)
async def test_files_that_cannot_be_used_are_our_own_fault_and_cost_the_carrier_nothing(
    changes, said
):
    async with carrier(**changes) as it:
        assert (await it.wait_said(said)).state is HealthState.SICK
        assert not any(isinstance(event, Trouble) for event in it.events)


@pytest.mark.parametrize(
    "changes",
    [{"tls_key_file": CLIENT}, {"tls": False, "tls_cert_file": CLIENT}],
)
def test_settings_of_tls_that_mean_nothing_are_faults(changes):
    with pytest.raises(ValidationError, match="tls_cert_file"):
        settings(**changes)


# -- ports that are not what we take them for -----------------------------------------------------


@asynccontextmanager
async def listening(serve) -> AsyncIterator[int]:
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            listen = partial(trio.serve_tcp, serve, 0, host="127.0.0.1")
            (listener,) = await nursery.start(listen)
            yield listener.socket.getsockname()[1]
            nursery.cancel_scope.cancel()


async def refusing(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.send_all(encode(GenericNack(command_status=2), 1))
    await stream.aclose()


async def closing(stream: trio.SocketStream) -> None:
    await stream.receive_some()
    await stream.aclose()


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        (refusing, "does not use TLS on this port"),
        (closing, "closed the connection instead of speaking TLS"),
    ],
)
async def test_tls_to_a_plain_port_says_so(serve, said):
    async with listening(serve) as port:
        with pytest.raises(TlsError, match=said) as caught:
            await open_stream(settings(port, host="127.0.0.1", connect_timeout_s=HANG_S))
        assert "set tls = false" in str(caught.value)


async def test_tls_to_a_port_that_stays_silent_says_so(mock_clock):
    async def silent(stream: trio.SocketStream) -> None:
        """As an SMSC that waits for the rest of a very long PDU."""
        await stream.receive_some()
        mock_clock.jump(5)
        async for _ in stream:
            pass

    said = "took the connection, but did not speak TLS within 5 s"
    async with listening(silent) as port:
        with pytest.raises(TlsError, match=said) as caught:
            await open_stream(settings(port, host="127.0.0.1", connect_timeout_s=5))
        assert "set tls = false" in str(caught.value)


async def test_a_plain_bind_to_a_port_of_tls_says_so():
    async def alerting(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(b"\x15\x03\x03\0\2\2\x46")
        await stream.aclose()

    async with listening(alerting) as port:
        said, state = await said_by(settings(port, host="127.0.0.1", **PLAIN))
    assert said.endswith("speaks TLS on this port: set tls = true.")
    assert state is HealthState.SICK


async def test_a_plain_bind_that_a_port_of_tls_merely_hangs_up_on_says_what_to_ask():
    """As OpenSSL does."""
    async with carrier(**PLAIN) as it:
        await it.wait_said("the peer closed the connection. If it goes on, ask")
        assert "No TLS with a client: wrong version number." in {
            event.text for event in it.events if isinstance(event, Trouble)
        }


async def test_a_link_that_ends_before_the_bind_is_no_matter_of_tls():
    async def leaving(stream: trio.SocketStream) -> None:
        secured = trio.SSLStream(stream, server_context(FILES / "server.pem"), server_side=True)
        await secured.receive_some()
        await trio.aclose_forcefully(stream)

    async with listening(leaving) as port:
        said, state = await said_by(settings(port))
    assert said.endswith("the peer closed the connection.")
    assert state is HealthState.DOWN


async def said_by(ours: SmppSettings) -> tuple[str, HealthState]:
    """What a driver has to say of its first attempt."""
    context = RecordingContext()
    async with trio.open_nursery() as nursery:
        await nursery.start(SmppDriver("smsc", ours).run, context)
        await context.wait_until(lambda it: len(it.healths) > 1)
        nursery.cancel_scope.cancel()
    return context.healths[1].text, context.healths[1].state


class NoNames(trio.abc.HostnameResolver):
    """A machine whose DNS knows nothing."""

    async def getaddrinfo(self, *wanted):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def getnameinfo(self, *wanted):
        raise socket.gaierror


async def test_no_connection_says_why(unused_port):
    with trio.fail_after(HANG_S):
        with pytest.raises(UnreachableError, match="nothing listens there"):
            await open_stream(settings(unused_port, host="127.0.0.1", **PLAIN))
        trio.socket.set_custom_hostname_resolver(NoNames())
        with pytest.raises(UnreachableError, match=r"the name nowhere\.invalid is not known here"):
            await open_stream(settings(unused_port, host="nowhere.invalid", **PLAIN))
        with pytest.raises(UnreachableError, match=r"no address 192\.0\.2\.10: see source_address"):
            await open_stream(
                settings(unused_port, host="127.0.0.1", source_address="192.0.2.10", **PLAIN)
            )


@pytest.fixture
async def unused_port():
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    return port


# -- the simulator's own files --------------------------------------------------------------------


def test_files_that_the_simulator_cannot_use_have_a_sentence(tmp_path):
    with pytest.raises(TlsFilesError, match=r"nowhere.pem cannot be read"):
        server_context(Path("nowhere.pem"))
    with pytest.raises(TlsFilesError, match=r"make.sh cannot be read, or has no certificates"):
        server_context(FILES / "server.pem", client_ca_file=FILES / "make.sh")
    shutil.copy(FILES / "server.pem", tmp_path / "key.pem")
    server_context(FILES / "server.pem", tmp_path / "key.pem")
