"""``risala simulate smsc`` as a process, against an ESME that we did not write."""

import json
import signal
import socket
import subprocess
import sys

import pytest
import smpplib.client
import smpplib.consts

COMMAND = [sys.executable, "-m", "risala", "simulate", "smsc"]


def send(port: int) -> None:
    client = smpplib.client.Client("127.0.0.1", port, timeout=5, allow_unknown_opt_params=True)
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
def test_shows_binds_messages_and_receipts_and_ends_by_ctrl_c(as_json):
    arguments = ["--port", "0", "--system-id", "me", "--password", "pw", "--receipt-delay-s", "0"]
    simulator = subprocess.Popen(
        [*COMMAND, *arguments, *(["--json"] if as_json else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        first = simulator.stdout.readline()
        place = str(json.loads(first)["port"]) if as_json else first.split(";")[0]
        send(int(place.rpartition(":")[2]))
        simulator.send_signal(signal.SIGINT)
        output, errors = simulator.communicate(timeout=10)
    finally:
        simulator.kill()
        simulator.communicate()
    assert (simulator.returncode, errors) == (0, "")
    if as_json:
        lines = [json.loads(line) for line in output.splitlines()]
        names = [line["event"] for line in lines]
        assert {"Bound", "Submitted", "MessageReceived", "ReceiptSent", "Unbound"} <= set(names)
        [received] = [line for line in lines if line["event"] == "MessageReceived"]
        assert received["message"]["text"] == "Hello"
    else:
        assert "me as transceiver" in output
        assert "22236123456: Hello" in output
        assert output.splitlines()[-1] == "Total: 1 segments, 1 messages, 1 receipts, 0 troubles."


def test_a_port_in_use_is_exit_code_1(risala):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = risala("simulate", "smsc", "--port", str(taken.getsockname()[1]))
    assert done.exit_code == 1
    assert done.stderr.endswith("cannot be listened on.\n")
