"""The questions in a terminal: wrong answers, the way back, what stands."""

import click
import pytest
from click.testing import CliRunner

from risala.cli.first_run.conversation import Conversation
from risala.http.first_run.answers import Wrong
from risala.http.first_run.progress import read_answer
from risala.http.first_run.questions import QUESTIONS


def talk(trials, *typed: str, standing=None):
    """What was answered, and what was to be read."""

    @click.command()
    def command():
        conversation = Conversation(trials, standing or {})
        conversation.ask()
        command.answers = conversation.answers

    done = CliRunner().invoke(command, input="".join(f"{each}\n" for each in typed))
    assert done.exception is None, done.output
    return command.answers, done.output


MONEY = ("", "", "", "")
"""Country, who pays, currency and price as they are offered."""
LAST = ("", "", "", "me@example.mr", "", "36 12 34 56")
"""From the public address to the phone, for whoever has no mail."""
SMPP = ("", "mattel", "smsc.example.net", "", "", "risala", "s3cret", "", "")


def test_enter_takes_what_is_offered(trials):
    answers, told = talk(trials, *MONEY, *SMPP, *LAST)
    assert answers == {
        "country": "MR",
        "payer": "customers",
        "currency": "MRU",
        "price": "0.50",
        "carrier": "smpp",
        "carrier_name": "mattel",
        "smpp_host": "smsc.example.net",
        "smpp_port": "2775",
        "smpp_tls": "no",
        "smpp_system_id": "risala",
        "smpp_password": "s3cret",
        "smpp_rate": "10",
        "sender": "RISALA",
        "public_url": "",
        "port": "8080",
        "mail_host": "",
        "operator": "me@example.mr",
        "organization": "My organization",
        "phone": "+22236123456",
    }
    assert trials.tried == ["smpp", "address"]
    assert "s3cret" not in told


def test_each_answer_is_shown_before_it_is_written(trials):
    mail = ("", "", "smtp.example.mr", "2525", "", "", "a@b.mr", "me@example.mr", "", "", "n")

    @click.command()
    def command():
        conversation = Conversation(trials, {})
        conversation.ask()
        conversation.confirmed("risala.toml")

    typed = "".join(f"{each}\n" for each in (*MONEY, *SMPP, *mail))
    told = CliRunner().invoke(command, input=typed).output.rpartition("Country")[2]
    ports = [line.split()[-1] for line in told.splitlines() if line.startswith("Port  ")]
    assert ports == ["2775", "2525"]


def test_another_country_has_another_currency_and_proposes_no_price(trials):
    answers, told = talk(
        trials,
        "sn",
        "",
        "",
        "",
        "much",
        "15",
        "trial",
        "",
        "",
        "",
        "me@example.sn",
        "",
        "77 123 45 67",
        standing={"country": "MR", "currency": "MRU", "price": "0.50"},
    )
    assert (answers["currency"], answers["price"]) == ("XOF", "15")
    assert told.count("Price of a part: ") == 3, "nobody knows what a part costs there"
    assert "Fill this in." in told
    assert "Write an amount in digits, such as 25." in told
    assert answers["phone"] == "+221771234567"


def test_a_country_is_asked_without_a_proposal_where_the_machine_names_none(trials, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("LANG", "C")
    answers, told = talk(trials, "", "KE", "1", "", "trial", *LAST[:-1], "0712 123456")
    assert told.count("Country: ") == 3, "the step's title, and the question twice"
    assert told.count("Choose a country.") == 1
    assert (answers["country"], answers["phone"]) == ("KE", "+254712123456")


def test_a_wrong_answer_is_asked_again_with_what_is_wrong(trials):
    wrong = ("XX", "MR", "", "euros", "", "0.555", "1,5")
    answers, told = talk(trials, *wrong, "9", "trial", "", "", "", "me", "me@a.mr", "", "12", "")
    assert answers["price"] == "1.5"
    for sentence in (
        "XX is no country that Risala knows.",
        "A currency has three letters",
        "MRU has 2 decimals. Write an amount such as 0.50.",
        "Choose one of these: android, hilink, http, modem, smpp, trial.",
        "This is not an e-mail address.",
        "This is no mobile number of your country. Write it like 36 12 34 56.",
    ):
        assert sentence in told


def test_back_returns_across_steps(trials):
    answers, told = talk(
        trials,
        *("", "", "EUR", "back", "back", "back", "SN", "", ""),
        *("back", "back", "back", "", "", "XAF"),
        "15",
        "trial",
        *LAST[:3],
        "back",
        "-",
        "me@a.sn",
        "",
        "",
    )
    assert (answers["country"], answers["currency"]) == ("SN", "XAF")
    assert told.count("Where do most of your messages go?") == 3


def test_what_does_not_work_is_told_and_may_be_changed_or_kept(trials):
    said = "The carrier says that the password is wrong."
    trials.wrong["smpp"] = [Wrong(remark=said), Wrong(remark=said)]
    again = ("",) * 5 + ("other", "", "")
    answers, told = talk(trials, *MONEY, *SMPP, "n", *again, "y", *LAST)
    assert told.count(said) == 2
    assert answers["smpp_password"] == "other"


def test_a_modem_that_was_found_is_offered(trials):
    trials.found = [("/dev/serial/by-id/a", "huawei E1752")]
    answers, told = talk(trials, *MONEY, "", "", "1", "", *LAST)
    assert (answers["carrier"], answers["modem_port"]) == ("modem", "/dev/serial/by-id/a")
    assert "1  huawei E1752 (/dev/serial/by-id/a)" in told
    assert "modem_pin" not in {key for key, value in answers.items() if value}


def test_an_aggregator_is_chosen_from_those_that_are_known(trials):
    account = ("http", "3", "", "", "AC1", "s3cret", "", "")
    answers, told = talk(trials, *MONEY, *account, *LAST)
    assert "3  Twilio (twilio)" in told
    assert (answers["carrier_name"], answers["http_preset"]) == ("aggregator", "twilio")
    assert (answers["http_user"], answers["http_password"]) == ("AC1", "s3cret")
    assert not answers["http_url"]
    assert trials.tried == ["account", "address"]


@pytest.mark.parametrize(
    ("preset", "typed", "asked"),
    [
        ("1", ("", "https://x.api.infobip.com", "s3cret", "", ""), {"http_token"}),
        (
            "2",
            ("", "", "https://192.168.88.1", "admin", "", "s3cret", "", "", ""),
            {"http_user", "http_password", "http_port"},
        ),
    ],
    ids=["Infobip", "MikroTik"],
)
def test_of_an_account_only_what_the_aggregator_needs_is_asked(trials, preset, typed, asked):
    answers, _ = talk(trials, *MONEY, "http", preset, *typed, *LAST)
    usual = {"http_preset", "http_needs", "http_url", "http_rate"}
    assert {name for name in answers if name.startswith("http_")} == usual | asked
    assert answers["http_url"].startswith("https://")
    assert answers["http_rate"] == ("0.2" if "http_port" in asked else "10")


def test_another_aggregator_forgets_what_the_first_one_needed(trials):
    standing = {
        "carrier": "http",
        "http_preset": "twilio",
        "http_user": "AC1",
        "http_password": "s3cret",
    }
    account = ("", "infobip", "", "https://x.api.infobip.com", "t0ken", "", "")
    answers, _ = talk(trials, *MONEY, *account, *LAST, standing=standing)
    assert answers["http_token"] == "t0ken"
    assert not {"http_user", "http_password"} & answers.keys()


def test_what_stands_is_offered_and_can_be_emptied(trials):
    standing = {
        "country": "MR",
        "payer": "customers",
        "currency": "MRU",
        "price": "0.40",
        "carrier": "trial",
        "public_url": "https://a.mr",
        "port": "9000",
        "mail_host": "m.mr",
        "mail_port": "25",
        "mail_security": "none",
        "mail_user": "u",
        "mail_password": "p",
        "mail_sender": "a@b.mr",
        "operator": "me@a.mr",
        "organization": "Mine",
        "sender": "ACME",
    }
    answers, _ = talk(trials, *[""] * 5, "-", *[""] * 10, standing=standing)
    assert answers == {**standing, "public_url": "", "phone": ""}


@pytest.mark.parametrize("at", [0, 3])
def test_an_end_of_the_input_is_an_end(trials, at):
    @click.command()
    def command():
        Conversation(trials, {}).ask()

    done = CliRunner().invoke(command, input="\n" * at)
    assert done.exit_code == 1


@pytest.mark.parametrize("word", ["none", "No", "-", " "])
@pytest.mark.parametrize("name", ["mail_host", "public_url", "phone"])
def test_words_that_leave_an_answer_out(name, word):
    assert read_answer(QUESTIONS[name], word, {}) == ""


def test_who_sends_for_himself_is_asked_no_price(trials):
    ways = ("FR", "1", "", "trial", "", "none", "me@a.fr", "", "06 12 34 56 78")
    answers, told = talk(trials, *ways[:4], "", "", *ways[5:])
    assert (answers["payer"], answers["parts_per_day"]) == ("self", "200")
    assert "price" not in answers
    assert answers["mail_host"] == ""
    assert "Signing in at the mail server" not in told
