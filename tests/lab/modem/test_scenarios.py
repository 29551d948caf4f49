"""Scenarios and their steps; each example is loaded and played."""

import pytest

from risala.lab.modem.script.actions import HELP, ActionError, Script, ScriptStep, perform
from risala.lab.modem.script.scenario import Scenario, load_scenario
from risala.lab.modem.world.config import ReportStatus
from risala.lab.modem.world.events import (
    InboundSent,
    MessageReceived,
    PortGone,
    ReportSent,
    Trouble,
)
from risala.lab.scenario_file import ScenarioError


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("title =", "is not TOML"),
        ("tittle = 'x'", "tittle: Extra inputs"),
        ("profile = 'nokia'", "profile: Value error, must be one of plain"),
        ("[[quirks]]\nkind = 'sulk'", "quirks.0.kind"),
        ("[[quirks]]\nkind = 'late'\nevery = 2\npercent = 5", "one of them says when"),
        ("[[steps]]\ndo = 'signal 5'", "needs at_s or after_sends"),
        ("[[steps]]\nat_s = 1\nafter_sends = 1\ndo = 'signal 5'", "needs at_s or after_sends"),
        ("[[steps]]\nat_s = 1\ndo = 'dance'", "There is no 'dance'"),
        ("[modem]\npin = 'x'\n[reports]\nlost_percent = 101", "modem.pin"),
    ],
)
def test_a_fault_is_named(tmp_path, text, fault):
    path = tmp_path / "scenario.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=r"scenario\.toml") as caught:
        load_scenario(path)
    assert fault in str(caught.value)
    with pytest.raises(ScenarioError, match="cannot be read"):
        load_scenario(tmp_path / "none.toml")


def test_all_that_it_says_arrives(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(
        'profile = "quectel"\nseed = 5\n[modem]\npin = "1234"\nplaces = { ME = 2 }\n'
        '[reports]\nstatus = "failed"\nafter_s = 3\nlost_percent = 5\n'
        "[[refusals]]\nerror = 38\npercent = 5\n[line]\nlost_in_percent = 1\n"
        '[[quirks]]\nkind = "hang"\non = "body"\nuntil = "reset"\n'
        '[[steps]]\nat_s = 2\ndo = "signal 3"\n'
    )
    loaded = load_scenario(path)
    config = loaded.config(number="+22236000009")
    assert (config.profile.name, config.pin, config.number) == ("quectel", "1234", "+22236000009")
    assert (config.report_status, config.report_after_s) == (ReportStatus.FAILED, 3)
    assert config.places == {"ME": 2}
    rules = loaded.rules
    assert rules["seed"] == 5
    assert rules["quirks"][0].until == "reset"
    assert rules["refusals"][0].error == 38
    assert rules["reports"].lost_percent == 5
    assert rules["line"].lost_in_percent == 1
    assert rules["steps"] == [ScriptStep(do="signal 3", at_s=2)]


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("signal 5", lambda modem: modem.signal == 5),
        ("register denied", lambda modem: modem.registration == 3),
        ("hang", lambda modem: not modem.power.is_awake),
        ("hang 5 reset", lambda modem: not modem.power.is_awake),
        ("vanish 3", lambda modem: not modem.power.is_present),
        ("reboot", lambda modem: not modem.power.is_listening),
        ("off", lambda modem: not modem.power.is_listening),
        ("report failed 9", lambda modem: modem.config.report_after_s == 9),
        ("refuse 38", lambda modem: modem.mood.refusals[0].error == 38),
        ("fill", lambda modem: modem.stores["SM"].is_full),
        ("fill me", lambda modem: modem.stores["ME"].is_full),
        ("ussd *1# Soon empty", lambda modem: modem.config.ussd["*1#"] == "Soon empty"),
        ("say RING", lambda modem: modem.take_output() == b"\r\nRING\r\n"),
        ("sms Ami a b", lambda modem: modem.stores["SM"].used == 1),
        ("flash +2223 a", lambda modem: modem.stores["SM"].used == 1),
        (f"shuffle 1234 {'x' * 200}", lambda modem: modem.stores["SM"].used == 2),
    ],
)
def test_a_word_is_done(desk, line, changed):
    assert not changed(desk.modem) if "refuse" not in line and "ussd" not in line else True
    perform(desk.modem, line)
    assert changed(desk.modem)


def test_words_that_undo(desk):
    perform(desk.modem, "fill")
    perform(desk.modem, "empty")
    assert desk.modem.stores["SM"].used == 0
    perform(desk.modem, "refuse 38")
    perform(desk.modem, "refuse off")
    assert desk.send("x")[-1] == "OK"
    perform(desk.modem, "hang")
    perform(desk.modem, "wake")
    assert desk.type("AT\r") == "\r\nOK\r\n"
    perform(desk.modem, "vanish")
    perform(desk.modem, "back")
    assert desk.modem.power.is_present


@pytest.mark.parametrize(
    "line",
    [
        "dance",
        "sms",
        "sms Ami",
        f"sms {'1' * 30} x",
        "sms عمر x",
        "signal x",
        "signal 50",
        "register nowhere",
        "hang x",
        "hang 5 never",
        "vanish nan",
        "vanish -1",
        "vanish 1e99",
        "report maybe",
        "refuse",
        "refuse 5000",
        "fill XX",
        "ussd *1#",
        "say",
    ],
)
def test_a_word_that_cannot_be_done_is_said(desk, line):
    with pytest.raises(ActionError):
        perform(desk.modem, line)


def test_help_tells_every_word():
    from risala.lab.modem.script.actions import _ACTIONS

    told = {word.split()[0] for usage in HELP for word in usage.split(", ")}
    assert told == set(_ACTIONS)


def test_steps_come_at_their_time_and_after_sends(desk):
    script = Script(
        desk.modem,
        [
            ScriptStep(do="signal 3", at_s=5),
            ScriptStep(do="register searching", after_sends=2),
            ScriptStep(do="sms عمر x", at_s=6),
        ],
    )
    tell = desk.modem.tell
    desk.modem.tell = desk.modem.network._tell = lambda event: (tell(event), script.hear(event))
    desk.wait(4.9)
    assert desk.modem.signal == 20
    desk.wait(0.2)
    assert desk.modem.signal == 3
    assert desk.send("x")[-1] == "OK"
    desk.wait(0)
    assert desk.send("x")[-1] == "OK"
    desk.wait(0)
    assert desk.send("x") == ["+CMS ERROR: 331"]
    desk.wait(2)
    assert desk.of(Trouble)


def test_the_default_scenario_is_a_plain_modem(desk):
    loaded = Scenario()
    assert loaded.config() == desk.modem.config
    assert loaded.rules["quirks"] is None


def test_events_of_a_day(desk):
    desk.rows("AT+CNMI=2,1,0,1")
    desk.send("x", report=True, for_s=1)
    perform(desk.modem, "sms Ami x")
    perform(desk.modem, "vanish")
    kinds = (MessageReceived, ReportSent, InboundSent, PortGone)
    assert [type(event) for event in desk.events if isinstance(event, kinds)] == list(kinds)
