"""``risala simulate smsc`` as a process, against an ESME that we did not write."""

import json
import signal
import socket
import ssl
import sys
from pathlib import Path

import pytest
import smpplib.client
import smpplib.consts

from patience import HANG_S
from processes import Process

COMMAND = [sys.executable, "-m", "risala", "simulate", "smsc"]


def send(port: int) -> None:
    client = smpplib.client.Client("127.0.0.1", port, timeout=HANG_S, allow_unknown_opt_params=True)
    client.connect()
    try:
        client.bind_transceiver(system_id="me", password="pw")
        client.send_message(
            source_addr_ton=smpplib.consts.SMPP_TON_ALNUM,
            source_addr="Acme",
            dest_addr_ton=smpplib.consts.SMPP_TON_INTL,
            destination_addr="22236123456",
            short_message=b"Hello",
            registered_delivery=1,
        )
        client.read_once()  # submit_sm_resp
        client.read_once()  # the receipt, which smpplib answers
        client.unbind()
    finally:
        client.disconnect()


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_shows_binds_messages_and_receipts_and_ends_by_ctrl_c(as_json, tmp_path):
    arguments = ["--port", "0", "--system-id", "me", "--password", "pw", "--receipt-delay-s", "0"]
    command = [*COMMAND, *arguments, *(["--json"] if as_json else [])]
    simulator = Process(command, tmp_path)
    try:
        first = simulator.wait_line(bool)
        place = str(json.loads(first)["port"]) if as_json else first.split(";")[0]
        send(int(place.rpartition(":")[2]))
        simulator.signal(signal.SIGINT)
        assert (simulator.wait_exit(), simulator.errors) == (0, [])
    finally:
        simulator.end()
    if as_json:
        lines = [json.loads(line) for line in simulator.lines]
        names = [line["event"] for line in lines]
        assert {"Bound", "Submitted", "MessageReceived", "ReceiptSent", "Unbound"} <= set(names)
        [received] = [line for line in lines if line["event"] == "MessageReceived"]
        assert received["message"]["text"] == "Hello"
    else:
        output = "\n".join(simulator.lines)
        assert "me as transceiver" in output
        assert "22236123456: Hello" in output
        assert simulator.lines[-1] == "Total: 1 segments, 1 messages, 1 receipts, 0 troubles."


def test_a_port_in_use_is_exit_code_1(risala):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = risala("simulate", "smsc", "--port", str(taken.getsockname()[1]))
    assert done.exit_code == 1
    assert done.stderr.endswith("cannot be listened on.\n")


TLS = Path(__file__).parents[2] / "drivers/smpp/tls"


@pytest.mark.slow
def test_speaks_tls_with_clients_that_it_knows(tmp_path):
    files = ["--tls-cert", TLS / "server.pem", "--tls-client-ca", TLS / "ca.pem"]
    simulator = Process([*COMMAND, "--port", "0", *map(str, files)], tmp_path)
    try:
        port = int(simulator.wait_line(bool).split(";")[0].rpartition(":")[2])
        trust = ssl.create_default_context(cafile=TLS / "ca.pem")
        trust.load_cert_chain(TLS / "client.pem")
        with (
            socket.create_connection(("127.0.0.1", port), timeout=HANG_S) as plain,
            trust.wrap_socket(plain, server_hostname="localhost") as secured,
        ):
            secured.sendall(bytes.fromhex("00000010000000150000000000000007"))
            assert secured.recv(16).hex() == "00000010800000150000000000000007"
        simulator.signal(signal.SIGINT)
        simulator.wait_exit()
        assert simulator.errors == []
    finally:
        simulator.end()


def test_files_of_tls_that_cannot_be_used_are_exit_code_1_and_2(risala):
    done = risala("simulate", "smsc", "--tls-cert", "nowhere.pem")
    assert done.exit_code == 1
    assert "nowhere.pem cannot be read" in done.stderr
    done = risala("simulate", "smsc", "--tls-client-ca", "ca.pem")
    assert done.exit_code == 2
    assert "need --tls-cert" in done.stderr
