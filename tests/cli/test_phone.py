"""``risala phone pair``: what it says to type, and why no phone came."""

import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from risala.cli.commands.upkeep.phone import LANGUAGES
from risala.cli.main import cli
from risala.cli.reach.options import Options
from risala.drivers.phone import commands
from risala.drivers.phone.page import API
from risala.drivers.phone.page_words import WORDS
from risala.http.first_run.pairing import API_PATH, PAIR, fault_of
from risala.http.first_run.pairing import TOKEN as TOKEN_COMMAND
from risala.lab.phone.actions import HELP, PhoneActionError, perform
from risala.lab.phone.phone import PhoneConfig
from risala.lab.phone.simulator import PhoneSimulator

SETTINGS = """
[http]
public_url = "https://sms.example"
[storage]
data_dir = "data"
[[carriers]]
name = "my-phone"
driver = "phone"
[carriers.phone]
"""
TOKEN = "private0token0of0the0phone"


@pytest.fixture
def pair(tmp_path, monkeypatch):
    (tmp_path / "risala.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    answers = {"token": {"token": TOKEN}, "pair": {"phone": "a14", "state": "registered"}}

    def ask(_, __, *, command, carrier, arguments):
        assert (carrier, arguments) == ("my-phone", [])
        return SimpleNamespace(value=SimpleNamespace(answer=answers[command]))

    monkeypatch.setattr(Options, "ask", ask)
    return lambda *given: CliRunner().invoke(cli, ["phone", "pair", *given])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_steps_are_printed_with_what_to_type(pair, language):
    printed = pair("my-phone", "--lang", language).output
    assert printed.count("https://sms.example/carriers/my-phone/mobile/v1") == 1
    assert printed.count(TOKEN) == 1
    for number, step in enumerate(WORDS[language].steps, 1):
        assert f"{number}. {step.partition('{')[0]}" in printed
    assert ("SETTINGS" in printed) is (language != "ar"), "the app has no French"


def test_programs_get_the_token_and_the_phone(pair):
    assert json.loads(pair("my-phone", "--json").stdout) == {
        "carrier": "my-phone",
        "url": "https://sms.example/carriers/my-phone/mobile/v1",
        "token": TOKEN,
        "phone": "a14",
        "state": "registered",
    }


def test_the_driver_knows_what_it_is_asked():
    assert (commands.PAIR.name, commands.TOKEN.name) == (PAIR, TOKEN_COMMAND)
    assert API_PATH == API
    assert tuple(WORDS) == LANGUAGES


def test_a_carrier_that_is_no_phone_is_told(pair):
    done = pair("another")
    assert done.exit_code == 1
    assert "another is not a carrier with a phone; those are: my-phone." in done.output


def test_a_carrier_that_shares_a_phone_names_whose_it_is(pair, tmp_path):
    more = SETTINGS.replace("my-phone", "second") + 'shares = "my-phone"\nsim = 2\n'
    more = more[more.index("[[carriers]]") :]
    (tmp_path / "risala.toml").write_text(SETTINGS + more)
    done = pair("second")
    assert done.exit_code == 1
    assert "second has the same phone as my-phone: risala phone pair my-phone" in done.output


def test_without_a_service_there_is_no_token(pair, monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    done = pair("my-phone", "--data", str(tmp_path))
    assert done.exit_code == 1
    assert "1. " not in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://sms.example/carriers/p/mobile/v1", ""),
        ("http://sms.example/carriers/p/mobile/v1", "The app only calls https"),
        ("http://127.0.0.1:8000/carriers/p/mobile/v1", "The phone cannot reach 127.0.0.1"),
    ],
)
def test_what_is_wrong_with_an_address(url, words):
    fault = fault_of(url)
    assert (fault is None) is not bool(words)
    assert fault is None or fault[0].format(**fault[1]).startswith(words)


def test_each_word_of_the_simulator_is_done():
    phone = PhoneSimulator(PhoneConfig("https://sms.example/mobile/v1", TOKEN))
    values = {"FROM": "+22244556677", "TEXT": "Hello", "SECONDS": "3", "N": "3"}
    for usage in HELP:
        word, *forms = usage.split()
        line = [word, *(values.get(each, each.split("|")[-1]) for each in forms)]
        if word not in ("drop", "deaf"):
            perform(phone, " ".join(line))
    for line in ("drop 3", "jump", "sms x", "late soon", "mute perhaps"):
        with pytest.raises(PhoneActionError):
            perform(phone, line)
    assert json.dumps([str(each) for each in phone.events])
