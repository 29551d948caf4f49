"""`risala send --from-mail` as a mail server calls it: what it asks, and how it ends."""

import os

import pytest
from click.testing import CliRunner

from risala.cli.main import cli
from risala.engine.model.errors import (
    Conflict,
    CountryNotOpen,
    Draining,
    Forbidden,
    InsufficientBalance,
    Invalid,
    NotFound,
    OutcomeUnknown,
    RateLimited,
    SenderNotApproved,
)

MAIL = b"From: forged@example.com\nSubject: Disk\nMessage-ID: <1@x>\n\nIt is full.\n-- \nBob\n"


@pytest.fixture
def mailed(service):
    """Run the command with a mail on stdin."""

    def run(*arguments: str, mail: bytes = MAIL, data=service.data_dir):
        command = ["send", "--from-mail", "--data", str(data), *arguments]
        return CliRunner().invoke(
            cli, command, input=mail, prog_name="risala", catch_exceptions=False
        )

    return run


def test_a_mail_is_handed_on_without_a_word(mailed, operator):
    done = mailed("--to=36123456@sms.example", "--mail-from=Bob@Example.com")
    assert (done.exit_code, done.output) == (0, "")
    ((name, told),) = operator.asked
    assert name == "message.mail"
    assert len(told.pop("digest")) == 64
    assert told == {
        "to": "36123456",
        "mail_from": "Bob@Example.com",
        "subject": "Disk",
        "text": "It is full.",
        "automatic": False,
    }


@pytest.mark.parametrize(
    ("recipient", "number"),
    [
        ("+22236123456@sms.example", "+22236123456"),
        ("0022236123456@sms.example", "0022236123456"),
        ("<36123456@sms.example>", "36123456"),
        ('"36 12 34 56"@sms.example', "36 12 34 56"),
        ("36123456", "36123456"),
    ],
)
def test_the_number_is_the_part_before_the_at(mailed, operator, recipient, number):
    assert mailed(f"--to={recipient}", "--mail-from=b@x").exit_code == 0
    assert operator.asked[0][1]["to"] == number


@pytest.mark.parametrize("null", ["", "<>", "MAILER-DAEMON", "MAILER-DAEMON@host.example"])
def test_bounces_have_no_sender(mailed, operator, null):
    assert mailed("--to=36123456@a", f"--mail-from={null}").exit_code == 0
    assert operator.asked[0][1]["mail_from"] == ""


def test_what_is_passed_over_is_told_for_the_log(mailed, operator):
    operator.ignored = "The mail is a bounce."
    done = mailed("--to=36123456@a", "--mail-from=")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "The mail is a bounce.\n")


def test_the_envelope_may_be_in_the_environment(mailed, operator, monkeypatch):
    """So do Exim, which lets no address of a stranger into an argument, and OpenSMTPD."""
    monkeypatch.setenv("RECIPIENT", "36123456@sms.example")
    monkeypatch.setenv("SENDER", "bob@x")
    head = b"Return-Path: <forged@x>\nDelivered-To: 46123456@sms.example\n"
    assert mailed(mail=head + MAIL).exit_code == 0
    told = operator.asked[-1][1]
    assert (told["to"], told["mail_from"]) == ("36123456", "bob@x")
    monkeypatch.setenv("SENDER", "")
    assert mailed("--to=26123456@sms.example", mail=head + MAIL).exit_code == 0
    told = operator.asked[-1][1]
    assert (told["to"], told["mail_from"]) == ("26123456", "")


def test_the_envelope_may_be_in_the_head(mailed, operator):
    head = b"Return-Path: <bob@x>\nDelivered-To: 36123456@sms.example\nTo: team@x\n"
    assert mailed(mail=head + MAIL).exit_code == 0
    told = operator.asked[0][1]
    assert (told["to"], told["mail_from"]) == ("36123456", "bob@x")


TO = Invalid("to", "invalid_phone_number", "`to` must look like +22236123456.")
REFUSED = {
    "number": (TO, os.EX_NOUSER, "The part of the address before the @ must look like +222"),
    "text": (Invalid("text", "missing", "The mail has no text."), os.EX_DATAERR, "no text"),
    "balance": (InsufficientBalance(), os.EX_UNAVAILABLE, "balance"),
    "sender": (Forbidden("eve@x may not send."), os.EX_NOPERM, "eve@x may not send."),
    "country": (CountryNotOpen("Senegal"), os.EX_NOPERM, "Senegal"),
    "settings": (Conflict("No table."), os.EX_CONFIG, "No table."),
    "organization": (NotFound("There is no org_1."), os.EX_CONFIG, "org_1"),
    "name": (SenderNotApproved("Acme"), os.EX_CONFIG, "Acme"),
    "rate": (RateLimited("mail", 9, "Too many."), os.EX_TEMPFAIL, "Too many."),
    "stop": (Draining(), os.EX_TEMPFAIL, "stopping"),
    "disk": (OutcomeUnknown("Send it\nagain."), os.EX_TEMPFAIL, "Send it again."),
}


@pytest.mark.parametrize(("error", "code", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refusals_end_with_the_codes_of_sysexits(mailed, operator, error, code, sentence):
    operator.refuse = error
    done = mailed("--to=12@sms.example", "--mail-from=eve@x")
    assert (done.exit_code, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_service_that_is_down_is_tried_later(mailed, operator, tmp_path):
    done = mailed("--to=36123456@a", "--mail-from=b@x", data=tmp_path / "elsewhere")
    assert done.exit_code == os.EX_TEMPFAIL
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "elsewhere").exists()


def test_a_mail_that_cannot_be_read_is_not_asked_about(mailed, operator):
    done = mailed("--to=36123456@a", "--mail-from=b@x", mail=b"X: " + b"y" * 200_000)
    assert (done.exit_code, operator.asked) == (os.EX_DATAERR, [])


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mail-from=b@x",),  # two recipients in the head
        ("--to=36123456@a",),  # no envelope: From may be forged
        ("--to=36123456@a", "--mail-from=b@x", "--no-such-option"),
        ("--to=36123456@a", "--mail-from=b@x", "--urgent"),
        ("36123456", "--mail-from=b@x"),
    ],
)
def test_wrong_usage_by_a_mail_server(mailed, operator, arguments):
    done = mailed(*arguments, mail=b"To: a@x, b@x\n" + MAIL)
    assert (done.exit_code, done.stdout, operator.asked) == (os.EX_USAGE, "", [])
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((), "Missing argument 'TO'"),
        (("36123456",), "Missing argument 'BODY'"),
        (("36123456", "hi", "--to", "x"), "--from-mail"),
    ],
)
def test_by_hand_it_is_as_before(risala, arguments, word):
    done = risala("send", *arguments)
    assert done.exit_code == 2
    assert word in done.stderr
