"""`make machine-test`: what of it needs no other machine."""

from __future__ import annotations

import dataclasses
import socket
from pathlib import Path

import pytest
from proofs.machine import clock, guest, later, report, tools
from proofs.machine.clock import WAYS, PageChanged, Walked, pasted, words
from proofs.machine.image import Image
from proofs.machine.report import Came


@pytest.mark.parametrize("way", WAYS, ids=lambda each: each.name)
def test_each_way_is_what_its_page_says(way):
    assert 0 < words(way.read()) < 400


def test_a_page_that_says_something_else_is_an_error():
    way = dataclasses.replace(WAYS[0], demo="make serve ARGS=--old")
    with pytest.raises(PageChanged, match="--old"):
        way.read()


def test_words_are_those_that_somebody_reads():
    page = "# Two words\n\n<!-- not run: no -->\n```sh\nsudo apt\n```\n| [A link](a/b.md) | `x` |\n"
    assert words(page) == 5


def test_the_line_to_paste_is_the_one_that_the_demo_prints():
    assert pasted("Risala is running\n") == ""
    assert pasted("Paste this:\ncurl -s http://h/api\nStop\n") == "curl -s http://h/api"


def test_what_is_missing_is_named_by_its_package():
    assert tools.missing({"sh": "dash", "no-such-program": "its-package"}) == ["its-package"]


@pytest.mark.parametrize("answered", [b"done 0 0\n", b""])
def test_a_reboot_may_end_the_agent_before_it_has_answered(monkeypatch, tmp_path, answered):
    monkeypatch.setattr(guest, "has_kvm", lambda image: True)
    machine = guest.Guest(Image("12", *[tmp_path] * 5), tmp_path, "first")
    machine._wire, agent = socket.socketpair()
    with machine._wire, agent:
        agent.sendall(answered + b"ready 2\ndone 0 8\nrunning\n")
        agent.shutdown(socket.SHUT_WR)  # nothing else comes
        assert machine.reboot() >= 0
        assert b"systemctl reboot" in agent.recv(1000)


def test_a_failure_shows_in_its_cell_and_a_step_that_was_not_reached_too():
    came = [
        Came("boot", "12", "up", 3.0),
        Came("boot", "13", "two\nlines", 4.4, held=False),
        Came("sent", "12", "delivered", 1.0),
    ]
    assert report.header(came) == ("What is done", "Debian 12", "Debian 13")
    assert report.rows(came) == [
        ("boot", "up (3 s)", "**failed**: two (4 s)"),
        ("sent", "delivered (1 s)", "not tried"),
    ]


def test_the_page_has_a_place_for_both_tables_and_keeps_what_it_has_of_the_other(tmp_path: Path):
    page = tmp_path / "evidence.md"
    page.write_text("".join(f"<!-- {each}: begin -->\n<!-- {each}: end -->\n" for each in PLACES))
    walked = [Walked(WAYS[0], "13", 90.0, 4, 100)]
    report.write(
        [Came("boot", "13", "up", 3.0), Came("sent", "13", "it is", 1.0)], [], "in qemu", page
    )
    report.write([], walked, "in qemu", page)
    for seconds in (5.0, 7.0):  # the later run takes the place of the earlier one
        walked = [Walked(WAYS[0], "12", 60 * seconds, 4, 100)]
        report.write([Came("boot", "12", "up", seconds)], walked, "in a container", page)
    told = page.read_text()
    assert "| What is done | Debian 12, in a container, commit " in told
    assert "| boot | up (7 s) | up (3 s) |\n| sent | not tried | it is (1 s) |" in told
    assert f"| {WAYS[0].name} | 12 | 7.0 | 4 | 100 | in a container |" in told
    assert f"| {WAYS[0].name} | 13 | 1.5 | 4 | 100 | in qemu |" in told
    assert told.count("up (5 s)") + told.count("5.0") == 0
    for each in PLACES:
        assert f"<!-- {each}: begin -->" in report.evidence.PAGE.read_text("utf-8")


PLACES = (report.SECTION, report.CLOCK)


@pytest.mark.parametrize(
    ("path", "may_stay"),
    [
        ("/var/backups/risala/moved.db", True),
        ("/etc/passwd-", True),
        ("/etc/risala", False),
        ("/usr/lib/risala/lib", False),
        ("/etc/systemd/system/multi-user.target.wants/risala.service", False),
    ],
)
def test_a_purge_may_leave_backups_and_nothing_of_the_package(path, may_stay):
    assert bool(later.LEFT.fullmatch(path)) == may_stay


def test_the_clock_counts_what_is_typed():
    assert [len(way.commands) for way in clock.WAYS] == [1, 3, 1]
