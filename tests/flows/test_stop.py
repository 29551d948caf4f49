"""SIGTERM: in order, in time, with nothing lost; and one service on one data directory."""

from __future__ import annotations

import signal
import socket

import pytest
import trio

from patience import HANG_S
from risala.engine.model.lines import Kind

pytestmark = pytest.mark.slow


SLOWEST = "[http]\ngraceful_stop_s = 120\n[engine]\ndrain_s = 120"
"""The longest that a stop may be given. It is more than any test waits: where the stop must not
wait for something, a wait for it is seen as a hang."""


@pytest.mark.long
async def test_a_stop_under_load_loses_nothing_and_leaves_nothing_uncertain(premises, start_load):
    # Some thirty segments a second: some wait, however slowly a busy machine accepts.
    simulator = premises.simulator("--answer-delay-s", "0.3", "--receipt-delay-s", "0.1")
    service = premises.running(simulator, more=SLOWEST, carrier="window_max = 10")
    account = service.organization("100000")
    loads = []
    for number in range(2):
        load = start_load(service, account, f"stop round {number}")
        loads.append(load)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(load.run)
            await load.wait_answers(80)
            service.process.signal(signal.SIGTERM)
        assert service.process.wait_exit() == 0
        assert set(load.refused.values()) <= {503}
        service.assert_no_bug_logged()
        assert not (service.data / "control.sock").exists()
        states = dict(service.rows("SELECT status, count(*) FROM messages GROUP BY status"))
        assert "processing" not in states
        assert states["pending"] > 0
        service.restart()
    for load in loads:
        await load.repeat()
    service.wait_settled()
    bodies = {key for load in loads for key in load.answers}
    assert simulator.texts() == dict.fromkeys(bodies, 1)
    assert service.rows("SELECT count(*) FROM messages WHERE status <> 'delivered'") == [(0,)]
    uncertain = "SELECT count(*) FROM timeline WHERE kind = ?"
    assert service.rows(uncertain, Kind.UNCERTAIN.value) == [(0,)]
    service.assert_whole()
    service.assert_books_agree()


def test_a_stop_does_not_wait_for_clients_that_ask_nothing(premises):
    service = premises.running(premises.simulator(), more=SLOWEST)
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=HANG_S) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        assert service.stop() == 0


@pytest.mark.long
async def test_what_the_drains_deadline_cuts_is_uncertain_and_settled_by_the_next_start(premises):
    simulator = premises.simulator("--answer-delay-s", "60")
    policy = 'on_uncertain_message = { action = "fail", after_s = 0.5 }'
    service = premises.running(simulator, more="[engine]\ndrain_s = 0.3", carrier=policy)
    account = service.organization()
    message_id = service.send(account, body="never answered").json()["messageId"]
    service.wait_status(account, message_id, "processing")
    assert service.stop() == 0
    service.restart()
    shown = service.wait_status(account, message_id, "failed")
    assert shown["errorCode"] == "UNCERTAIN"
    assert any(text.startswith("Uncertain: ") for text in service.timeline(message_id))
    assert service.balance(account) == "1000.00"
    service.assert_books_agree()


def test_a_second_signal_ends_it_at_once(premises):
    simulator = premises.simulator("--answer-delay-s", "600")
    service = premises.running(simulator, more=SLOWEST)
    account = service.organization()
    message_id = service.send(account, body="never answered").json()["messageId"]
    service.wait_status(account, message_id, "processing")
    service.close()
    service.process.signal(signal.SIGTERM)
    # Not before the first was heard: two signals at once are one.
    service.process.wait_error(lambda line: "service.stopping" in line)
    service.process.signal(signal.SIGINT)
    assert service.process.wait_exit() == 128 + signal.SIGINT


@pytest.mark.long
def test_a_second_service_on_the_same_data_is_refused_in_one_sentence(premises):
    service = premises.running(premises.simulator())
    account = service.organization()
    second = premises.service("--config", str(premises.path / "risala-test.toml"))
    second.launch()
    assert second.process.wait_exit() == 1
    assert second.process.lines == []
    (sentence,) = second.process.errors
    pid = service.process.popen.pid
    assert sentence == f"The data directory {service.data} is in use by process {pid}."
    # The first is none the worse for it.
    message_id = service.send(account, body="still here").json()["messageId"]
    service.wait_status(account, message_id, "delivered")
    # And its commands find it, while it runs and after.
    shown = service.command("message", "show", message_id)
    assert shown.returncode == 0
    assert "delivered" in shown.stdout
    assert service.stop() == 0
    service.assert_books_agree()


def test_a_port_that_is_taken_is_one_sentence(premises):
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        port = sock.getsockname()[1]
        service = premises.service("--port", str(port))
        service.launch()
        assert service.process.wait_exit() == 1
    (sentence,) = service.process.errors
    assert sentence.startswith(f"127.0.0.1:{port} is in use")
