"""What the simulator shows in a terminal, with a scenario, from outside."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
import trio
import trio.testing
from click.testing import CliRunner
from rich.console import Console

from patience import HANG_S
from risala.cli.lab.smsc_console import SmscJsonView, SmscLineView, SmscLiveView, SmscTally
from risala.cli.main import cli
from risala.lab.smsc import simulator as s
from risala.sms.message import Concatenation
from risala.sms.receipt import ReceiptState

SCENARIOS = Path(__file__).parents[3] / "examples/scenarios"


def submitted(**changes) -> s.Submitted:
    fields = {
        "system_id": "me",
        "message_id": "7",
        "command_status": 0,
        "mishap": None,
        "is_taken": True,
        "sender": "ACME",
        "recipient": "+22236123456",
        "text": "Hello",
        "data_coding": 0,
        "concatenation": None,
        "registered_delivery": 1,
        "validity_period": "",
        "priority_flag": 0,
    }
    return s.Submitted(**{**fields, **changes})


def test_rates_are_means_of_the_last_whole_seconds():
    tally = SmscTally()
    for now_s in (10.0, 10.5, 11.0, 11.1, 11.9):
        tally.hear(submitted(), now_s)
    assert tally.rate_per_s("Submitted", 12.2) == 1.0
    assert tally.rate_per_s("Submitted", 16.2) == 0.6
    assert tally.rate_per_s("Submitted", 30) == 0


def test_the_picture_has_rates_binds_totals_and_the_last_messages():
    tally = SmscTally()
    out = io.StringIO()
    view = SmscLiveView(tally, "A bad day", Console(file=out, force_terminal=True, width=100))
    message = s.ReceivedMessage(0, "smsc", "me", "ACME", "+22236123456", "Bon\x1b[2Jjour", 1)
    for event in (
        s.Listening("127.0.0.1", 2775),
        s.Bound("me", "transceiver"),
        s.Bound("me", "transceiver"),
        s.Unbound("me", "dropped"),
        submitted(),
        submitted(command_status=0x58),
        submitted(mishap="never", is_taken=False),
        s.MessageReceived(message),
        s.ReceiptSent("me", "7", ReceiptState.DELIVERED, 0),
        s.InboundSent("me", "+22236123456", "1234", "Oui", None, 0),
        s.Trouble("me", "a command_length of 5"),
    ):
        tally.hear(event, 1.0)
        view.hear(event)
    view.refresh(2.0)
    view.end()
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
    for words in (
        *("SMSC at 127.0.0.1:2775", "A bad day", "me as transceiver × 1"),
        *("1 ESME_RTHROTTLED", "1 never", "a command_length of 5"),
        r"ACME → +22236123456: Bon\x1b[2Jjour",
    ):
        assert words in shown
    assert tally.summary() == [
        "Refused: 1 × ESME_RTHROTTLED.",
        "Mishaps: 1 × never.",
        "From phones: 1 part.",
        "Total: 3 segments, 1 messages, 1 receipts, 1 troubles.",
    ]


def test_a_scenario_and_what_it_says_itself_are_not_for_one_line():
    scenario = str(SCENARIOS / "bytes.toml")
    done = CliRunner().invoke(
        cli, ["simulate", "smsc", "--scenario", scenario, "--rate-per-s", "5"]
    )
    assert done.exit_code == 2
    assert "--rate-per-s cannot be used with a scenario" in done.output


def test_a_scenario_that_is_none_says_where(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("[mishaps]\nkind = 3\n")
    done = CliRunner().invoke(cli, ["simulate", "smsc", "--scenario", str(path)])
    assert done.exit_code == 1
    assert "mishaps" in done.stderr


def test_lines_name_what_was_refused_and_show_what_phones_send(capsys):
    view = SmscLineView(SmscTally())
    for event in (
        s.BindRefused("me", 0x0E),
        s.BindRefused("me", None),
        submitted(command_status=0x58, message_id=""),
        s.InboundSent("me", "+22236123456", "1234", "Oui", Concatenation(7, 2, 1, 8), 0x64),
        s.Changed("me", "7", "canceled", "Hello"),
    ):
        view.hear(event)
    lines = [line[9:] for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "refused   me: ESME_RINVPASWD",
        "refused   me: no answer",
        "refused   +22236123456: ESME_RTHROTTLED",
        "inbound   +22236123456 → 1234 part 1 of 2, not taken: it comes again: Oui",
        "canceled  7: Hello",
    ]


@pytest.mark.slow
def test_in_a_terminal_it_is_a_live_picture_and_ends_by_ctrl_c():
    ours, theirs = pty.openpty()
    scenario = str(SCENARIOS / "everything.toml")
    command = ["-m", "risala", "simulate", "smsc", "--port", "0", "--scenario", scenario]
    simulator = subprocess.Popen(
        [sys.executable, *command], stdout=theirs, stderr=theirs, stdin=theirs, close_fds=True
    )
    os.close(theirs)
    shown = b""
    until = time.monotonic() + HANG_S
    try:
        while b"Bound: none" not in shown:
            assert time.monotonic() < until, shown
            shown += os.read(ours, 65536)
        simulator.send_signal(signal.SIGINT)
        while True:
            try:
                got = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            shown += got
        assert simulator.wait(HANG_S) == 0
    finally:
        simulator.kill()
        simulator.wait()
        os.close(ours)
    assert b"Everything at once" in shown
    assert b"Total: 0 segments" in shown


def test_json_lines_are_the_events_field_by_field(capsys):
    place = Concatenation(reference=7, total=2, number=1, bits=8)
    message = s.ReceivedMessage(1, "sim", "esme", "+1", "+2", "été", 2)
    told = [
        s.Listening("127.0.0.1", 2775),
        s.BindRefused("esme", None),
        s.Submitted("esme", "a", 0, None, True, "+1", "+2", "x", 0, place, 1, "", 0),
        s.MessageReceived(message),
        s.ReceiptSent("esme", "a", ReceiptState.DELIVERED, 0),
    ]
    view = SmscJsonView()
    for event in told:
        view.hear(event)
    assert capsys.readouterr().out == ""  # written together, when the loop comes round
    view.end()
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"event": type(event).__name__, **asdict(event)} for event in told
    ]
    assert "été" in lines[3]
    view.end()
    assert capsys.readouterr().out == ""


async def test_json_lines_come_by_themselves(capsys):
    view = SmscJsonView()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(view.run)
        for port in (1, 2):
            view.hear(s.Listening("127.0.0.1", port))
            await trio.testing.wait_all_tasks_blocked()
            assert json.loads(capsys.readouterr().out)["port"] == port
        nursery.cancel_scope.cancel()
