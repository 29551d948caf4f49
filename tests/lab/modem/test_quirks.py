"""What goes wrong: each quirk, hangs and what ends them, reports that stray, bad cables."""

from collections import Counter

import pytest

from risala.lab.modem.quirks import (
    SICK,
    LineRules,
    Quirk,
    QuirkKind,
    ReportRules,
    SendRefusal,
    Until,
    quirk_named,
)
from risala.lab.modem.world.events import (
    MessageReceived,
    Misbehaved,
    ModemStarted,
    PortGone,
    ReportSent,
    Submitted,
)
from risala.lab.modem.world.profiles import PROFILES

K = QuirkKind


@pytest.mark.parametrize(
    ("quirk", "said", "later"),
    [
        (Quirk(kind=K.SILENT, on="AT+CSQ"), "", ""),
        (Quirk(kind=K.LATE, on="AT+CSQ", wait_s=3), "", "\r\n+CSQ: 20,99\r\n\r\nOK\r\n"),
        (Quirk(kind=K.TWICE, on="AT+CSQ"), "\r\n+CSQ: 20,99\r\n\r\nOK\r\n" * 2, ""),
        (Quirk(kind=K.HALF, on="AT+CSQ"), "\r\n+CSQ: 20", ""),
        (Quirk(kind=K.REFUSE, on="AT+CSQ", error="MODEM ERROR: 5"), "\r\nMODEM ERROR: 5\r\n", ""),
        (Quirk(kind=K.HANG, on="AT+CSQ", for_s=3), "", ""),
    ],
)
def test_in_place_of_an_answer(new_desk, quirk, said, later):
    desk = new_desk(quirks=[quirk])
    assert desk.type("AT\r") == "\r\nOK\r\n"
    assert desk.type("AT+CSQ\r") == said
    assert desk.hear(4) == later
    assert desk.type("AT\r") == "\r\nOK\r\n"
    assert desk.of(Misbehaved) == [Misbehaved(quirk.kind, "AT+CSQ")]


def test_dropped_octets_and_garbage(new_desk):
    whole = "\r\n+CSQ: 20,99\r\n\r\nOK\r\n"
    desk = new_desk(quirks=[Quirk(kind=K.DROP, on="AT+CSQ")])
    answers = [desk.type("AT+CSQ\r") for _ in range(50)]
    assert {len(whole) - len(answer) for answer in answers} == {1, 2, 3}
    assert all(not Counter(answer) - Counter(whole) for answer in answers)
    desk = new_desk(quirks=[Quirk(kind=K.GARBAGE, on="AT+CSQ")])
    noise = desk.type("AT+CSQ\r").removesuffix(whole)
    assert noise
    assert all(ord(octet) >= 128 for octet in noise)


@pytest.mark.parametrize(
    ("when", "happens"),
    [
        ({}, "xxxxxxxx"),
        ({"every": 3}, "..x..x.."),
        ({"first": 2}, "xx......"),
        ({"skip": 5}, ".....xxx"),
        ({"skip": 1, "every": 2, "first": 2}, "..x.x..."),
        ({"percent": 0}, "........"),
        ({"percent": 100}, "xxxxxxxx"),
    ],
)
def test_when_it_happens(new_desk, when, happens):
    desk = new_desk(quirks=[Quirk(kind=K.SILENT, on="AT+CSQ", **when)])
    assert "".join("." if desk.type("AT+CSQ\r") else "x" for _ in range(8)) == happens


def test_a_share_is_about_that_share_and_the_same_each_time(new_desk):
    def silences():
        desk = new_desk(quirks=[Quirk(kind=K.SILENT, on="AT+CSQ", percent=20)])
        return [desk.type("AT+CSQ\r") == "" for _ in range(500)]

    assert 70 < sum(silences()) < 130
    assert silences() == silences()


@pytest.mark.parametrize("kind", [K.SILENT, K.HANG, K.REBOOT, K.VANISH, K.LATE, K.REFUSE])
@pytest.mark.parametrize("taken", [True, False])
def test_in_the_middle_of_a_send(new_desk, kind, taken):
    quirk = Quirk(kind=kind, on="body", taken=taken, for_s=5, first=1)
    desk = new_desk(quirks=[quirk])
    said = desk.send("once")
    assert "+CMGS: 0" not in said
    # Late is an answer all the same, so that it was taken.
    assert len(desk.of(MessageReceived)) == (taken or kind is K.LATE)
    desk.wait(30)
    desk.type("ATE0\r")
    assert desk.send("again")[-1] == "OK"
    assert desk.of(MessageReceived)[-1].text == "again"
    assert bool(desk.of(PortGone)) is (kind is K.VANISH)
    assert bool(desk.of(ModemStarted)) is (kind in (K.REBOOT, K.VANISH))


@pytest.mark.parametrize(
    ("kind", "prompt"),
    [
        (K.SILENT, ""),
        (K.TWICE, "\r\n> \r\n> "),
        (K.HALF, "\r\n"),
        (K.HANG, ""),
        (K.REFUSE, "ERROR"),
    ],
)
def test_a_prompt_goes_wrong(new_desk, kind, prompt):
    desk = new_desk(quirks=[Quirk(kind=kind, on="AT+CMGS", for_s=5)])
    assert desk.type("AT+CMGS=20\r").strip("\r\n") == prompt.strip("\r\n")
    desk.wait(6)
    desk.type("\x1b")
    assert desk.type("AT\r") == "\r\nOK\r\n"
    desk = new_desk(quirks=[Quirk(kind=K.LATE, on="AT+CMGS", wait_s=2)])
    assert desk.type("AT+CMGS=20\r") == ""
    assert desk.hear(3) == "\r\n> "


@pytest.mark.parametrize(
    ("until", "key"),
    [(Until.ESCAPE, "\x1b"), (Until.RESET, "AT Z\r"), (Until.RESTART, "at+cfun=1,1\r")],
)
def test_what_ends_a_hang(new_desk, until, key):
    desk = new_desk()
    desk.rows("AT+CMGF=1")
    desk.modem.power.hang(until=until)
    for other in ("AT\r", "\x1b", "AT+CFUN=1\r", "ATZ\r"):
        if other.strip("\r") not in key.replace(" ", "").upper() and other != key:
            assert desk.type(other, for_s=10) == ""
            assert not desk.modem.power.is_awake
    half = len(key) // 2
    desk.type(key[:half])
    desk.type(key[half:])
    assert desk.modem.power.is_awake
    desk.wait(5)
    desk.type("ATE0\r")
    assert desk.rows("AT+CMGF?") == [f"+CMGF: {0 if until is Until.RESTART else 1}"]


def test_what_comes_while_it_hangs_comes_afterwards(desk):
    desk.rows("AT+CNMI=2,1,0,1")
    desk.send("x", report=True)
    desk.modem.power.hang()
    desk.modem.network.send("+22246999999", "hello")
    assert desk.hear(5) == ""
    desk.modem.power.wake()
    said = desk.hear(0)
    assert "+CDS:" in said
    assert "+CMTI:" in said


def test_an_answer_that_was_under_way_at_a_hang_is_lost(new_desk):
    desk = new_desk(answer_after_s=2)
    assert desk.send("x") == []
    desk.modem.power.hang(for_s=1)
    assert desk.hear(10) == ""
    assert desk.type("AT\r") == "\r\nOK\r\n"
    assert desk.of(MessageReceived)


def test_a_vanished_port_forgets_all_but_its_storages(desk):
    desk.modem.network.send("+22246999999", "kept")
    desk.rows("AT+CMGF=1")
    desk.modem.power.vanish()
    assert desk.type("AT\r", for_s=100) == ""
    assert not desk.modem.power.is_present
    desk.modem.power.come_back()
    desk.wait(5)
    desk.type("ATE0\r")
    assert desk.rows("AT+CMGF?") == ["+CMGF: 0"]
    assert len(desk.rows("AT+CMGL=4")) == 2


@pytest.mark.parametrize("taken", [False, True])
def test_the_network_refuses_a_share(new_desk, taken):
    desk = new_desk(refusals=[SendRefusal(38, 40, taken=taken)])
    results = Counter(desk.send(str(number))[-1] for number in range(100))
    assert set(results) == {"OK", "+CMS ERROR: 38"}
    assert 25 < results["+CMS ERROR: 38"] < 55
    assert len(desk.of(MessageReceived)) == (100 if taken else results["OK"])
    assert Counter(it.error for it in desk.of(Submitted))[38] == results["+CMS ERROR: 38"]


@pytest.mark.parametrize(
    ("rules", "count"),
    [
        (ReportRules(lost_percent=100), 0),
        (ReportRules(twice_percent=100), 20),
        (ReportRules(early_percent=100), 10),
        (ReportRules(spread_s=3), 10),
    ],
)
def test_reports_stray(new_desk, rules, count):
    desk = new_desk(reports=rules)
    desk.rows("AT+CNMI=2,1,0,1")
    lines = [desk.send(str(number), report=True) for number in range(10)]
    desk.wait(10)
    reports = [report.reference for report in desk.of(ReportSent)]
    assert len(reports) == count
    early = [line.index(f"+CMGS: {n}") > 0 for n, line in enumerate(lines)]
    assert all(early) if rules.early_percent else not any(early)
    assert (reports == sorted(reports)) is (not rules.spread_s)


def test_a_bad_cable_loses_octets_each_way(new_desk):
    desk = new_desk(line=LineRules(lost_out_percent=10))
    assert any(desk.type("AT+CSQ\r") != "\r\n+CSQ: 20,99\r\n\r\nOK\r\n" for _ in range(20))
    desk = new_desk(line=LineRules(lost_in_percent=10))
    answers = {desk.type("AT+CSQ\r") for _ in range(50)}
    assert len(answers) > 1


def test_a_stick_talks_all_the_time_until_it_is_told_not_to(new_desk):
    desk = new_desk("huawei")
    assert desk.hear(60).count("^") > 5
    between = [desk.type("AT+CSQ;+CREG?;+CMGF?\r") for _ in range(50)]
    assert any(
        0 < said.find("^") < said.find("OK") and said.find("+CSQ") < said.find("^")
        for said in between
    )
    desk.ask("AT^CURC=0")
    assert desk.hear(600) == ""


def test_the_sick_one_has_all_of_it_and_each_can_be_had_alone():
    assert set(SICK) == set(QuirkKind)
    assert "sick" in PROFILES
    assert quirk_named("hang") is SICK["hang"]
    assert quirk_named("hang=12.5").percent == 12.5
    for text in ("sulk", "hang=", "hang=101", "hang=-1", "hang=nan"):
        with pytest.raises(ValueError, match=r"quirk|percentage"):
            quirk_named(text)


def test_what_was_to_come_of_an_earlier_life_does_not_come(new_desk):
    desk = new_desk(ussd_after_s=10)
    desk.rows('AT+CUSD=1,"*124#",15')
    desk.modem.power.restart("test")
    assert "+CUSD" not in desk.hear(30)
