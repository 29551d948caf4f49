"""``risala mailing``: the question before, what is asked of the service, and the report."""

import csv
import json
import os
import signal
from dataclasses import replace

import pytest

from fake_mailing import MAILING, SENT
from risala.engine.features.mailings.records import Mailing, MailingState, MailingWait, RowState
from risala.engine.features.tables.records import RowFault

CHECKING = replace(MAILING, state=MailingState.CHECKING, ready=1, bad=0)
SENDING = replace(MAILING, state=MailingState.SENDING, ready=1, accepted=1)
DONE = replace(MAILING, state=MailingState.DONE, ready=0, accepted=2)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes("Prénom;Téléphone\r\nAïcha;36 12 34 56\r\n".encode("cp1252"))
    return str(path)


def send(asked, people, *more):
    return asked(
        "mailing", "send", "--org", "org_1", "--file", people, "--text", "Bonjour {{Prénom}}", *more
    )


def verbs(operator):
    return [name.partition(".")[2] for name, _ in operator.asked if name.startswith("mailing.")]


def given(operator, verb):
    return next(arguments for name, arguments in operator.asked if name == f"mailing.{verb}")


def test_a_yes_sends_what_was_shown(asked, operator, people):
    operator.mailing.looks = [CHECKING, MAILING]
    done = send(asked, people, "--yes", "--pace", "60", "--hours", "9-17", "--from", "ACME")
    assert done.exit_code == 0, done.output
    assert operator.uploads[0][:2] == ("org_1", "people.csv")
    assert "Aïcha".encode("cp1252") in operator.uploads[0][2]
    assert verbs(operator) == ["create", "set", "show", "show", "rows", "person", "start", "show"]
    made = given(operator, "create")
    assert (made["upload"], made["from"], made["mode"]) == ("upl_1", "ACME", "live")
    late = {"mailing_id": "mlg_1", "pace": 60, "from_hour": 9, "to_hour": 17}
    assert given(operator, "set") == late
    assert given(operator, "start") == {"mailing_id": "mlg_1", "version": 7}
    for told in (
        "windows-1252, semicolons, with names of columns, numbers in Téléphone",
        "1.00 MRU",
        "10.00 MRU, then 9.00 MRU",
        "less than a minute",
        "2 by loop",
        "Bonjour Aïcha",
        "not a phone number (Téléphone)",
        "2, which are not sent",
        "risala mailing show mlg_1",
    ):
        assert told in done.stdout, told
    assert "1 more bad row: risala mailing rows mlg_1" in done.stderr


def test_none_takes_pace_and_time_away(asked, operator):
    done = asked("mailing", "set", "mlg_1", "--pace", "none", "--at", "none", "--name", "none")
    assert done.exit_code == 0, done.output
    late = {"mailing_id": "mlg_1", "pace": None, "send_at": None, "name": "none"}
    assert given(operator, "set") == late


def test_a_no_leaves_a_draft(asked, operator, people):
    done = send(asked, people)  # the end of standard input is no yes
    assert "Send to 2 people?" in done.stdout
    assert "The draft stays: risala mailing start mlg_1" in done.stderr
    assert "start" not in verbs(operator)


def test_json_without_yes_is_a_draft(asked, operator, people):
    done = send(asked, people, "--json")
    told = json.loads(done.stdout)
    assert (told["mailing"]["state"], told["person"]["text"]) == ("draft", "Bonjour Aïcha")
    assert told["badRows"][0]["fault"] == "number"
    assert "start" not in verbs(operator)


def test_json_with_yes_is_the_mailing_that_sends(asked, operator, people):
    operator.mailing.looks = [MAILING, SENDING]
    done = send(asked, people, "--json", "--yes")
    assert json.loads(done.stdout)["mailing"]["state"] == "sending"


def test_nothing_to_send_is_refused(asked, operator, people):
    operator.mailing.now = replace(MAILING, ready=0)
    done = send(asked, people, "--yes")
    assert done.exit_code == 1
    assert "no row is ready" in done.stderr
    assert "start" not in verbs(operator)


def test_a_balance_that_is_too_small_is_told(asked, operator, people):
    operator.mailing.balance = 50
    assert "goes on after a top-up" in send(asked, people, "--yes").stderr


def test_it_is_followed_until_it_ends(asked, operator, people):
    waits = replace(SENDING, wait=MailingWait.BALANCE)
    operator.mailing.looks = [MAILING, SENDING, waits]
    operator.mailing.now = DONE
    done = send(asked, people, "--yes", "--wait")
    assert "mlg_1 is sent: 2 messages." in done.stdout
    assert "risala mailing report mlg_1" in done.stdout


def test_ctrl_c_ends_only_the_view(asked, operator, people):
    def interrupt(found: Mailing) -> None:
        if found.state is MailingState.SENDING:
            os.kill(os.getpid(), signal.SIGINT)

    operator.mailing.looks = [MAILING]
    operator.mailing.now, operator.mailing.at_look = SENDING, interrupt
    done = send(asked, people, "--yes", "--wait")
    assert done.exit_code == 0
    assert "goes on without this command" in done.stderr
    assert "risala mailing pause mlg_1" in done.stderr
    assert not {"pause", "stop"} & {*verbs(operator)}


def test_a_pause_by_somebody_else_is_told(asked, operator, people):
    operator.mailing.looks = [MAILING]
    operator.mailing.now = replace(SENDING, state=MailingState.PAUSED)
    done = send(asked, people, "--yes", "--wait")
    assert "mlg_1 is paused: 1 message." in done.stdout
    assert "risala mailing go-on mlg_1" in done.stderr


def test_either_a_file_or_a_list(asked, people):
    assert asked("mailing", "send", "--text", "x").exit_code == 2
    assert send(asked, people, "--list", "Parents").exit_code == 2


def test_a_file_that_is_not_there(asked, operator):
    done = asked("mailing", "send", "--org", "org_1", "--file", "nope.csv", "--text", "x")
    assert done.exit_code == 1
    assert "nope.csv cannot be read" in done.stderr


@pytest.mark.parametrize("hours", ["8", "20-8", "8-25", "x-y"])
def test_hours_are_hours(asked, people, hours):
    assert send(asked, people, "--hours", hours).exit_code == 2


def test_a_draft_is_started_after_the_same_question(asked, operator):
    done = asked("mailing", "start", "mlg_1", "--yes")
    assert "Bonjour Aïcha" in done.stdout
    assert given(operator, "start") == {"mailing_id": "mlg_1", "version": 7}


def test_what_sends_already_is_not_started(asked, operator):
    operator.mailing.now = SENDING
    done = asked("mailing", "start", "mlg_1", "--yes")
    assert (done.exit_code, done.stderr) == (1, "mlg_1 is no draft: it is sending.\n")


def test_a_mailing_says_what_it_waits_for(asked, operator):
    operator.mailing.now = replace(SENDING, wait=MailingWait.BALANCE)
    assert "the balance is used up" in asked("mailing", "show", "mlg_1").stdout
    assert "the balance is used up" in asked("mailing", "list", "--org", "org_1").stdout


def test_one_that_was_stopped_names_no_price_of_all(asked, operator):
    operator.mailing.now = replace(SENDING, state=MailingState.STOPPED)
    assert "price" not in asked("mailing", "show", "mlg_1").stdout
    operator.mailing.now = SENDING
    assert "price" in asked("mailing", "show", "mlg_1").stdout


@pytest.mark.parametrize(
    ("verb", "words"),
    [("pause", "is paused"), ("go-on", "goes on"), ("stop", "is stopped for good")],
)
def test_a_change_says_how_far_it_came(asked, operator, verb, words):
    operator.mailing.now = SENDING
    done = asked("mailing", verb, "mlg_1")
    assert done.stdout == f"mlg_1 {words}: 1 sent, 1 to send.\n"


def test_the_failed_ones_again_are_a_draft(asked, operator):
    assert "risala mailing start mlg_1" in asked("mailing", "again", "mlg_1").stdout


def test_bad_rows_with_their_reasons(asked, operator):
    told = asked("mailing", "rows", "mlg_1").stdout
    assert "=cmd()" in told
    assert "not a phone number (Téléphone)" in told
    assert given(operator, "rows") == {"mailing_id": "mlg_1", "state": "bad", "limit": 50}


def test_a_row_is_mended_in_its_place(asked, operator):
    done = asked("mailing", "mend", "mlg_1", "3", "Prénom=Bobo")
    assert "Row 3 is still bad: not a phone number (Téléphone)." in done.stderr
    assert given(operator, "mend") == {"mailing_id": "mlg_1", "row": 3, "cells": ["Bobo", "=cmd()"]}
    assert given(operator, "rows") == {"mailing_id": "mlg_1", "after": 2, "limit": 1}


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        (("9", "Prénom=x"), 1, "mlg_1 has no row 9."),
        (("3", "Nom=x"), 1, "There is no column 'Nom', only Prénom, Téléphone."),
        (("3", "Prénom"), 2, "COLUMN=VALUE"),
    ],
)
def test_what_cannot_be_mended_is_told(asked, operator, more, code, told):
    done = asked("mailing", "mend", "mlg_1", *more)
    assert (done.exit_code, told in done.stderr) == (code, True)
    assert "mend" not in verbs(operator)


def test_bad_rows_are_left_out(asked, operator):
    operator.mailing.now = replace(MAILING, bad=0, left_out=2)
    done = asked("mailing", "leave-out", "mlg_1")
    assert done.stdout == "mlg_1 leaves out 2 rows: 2 to send, 0 bad.\n"
    assert given(operator, "leave_out") == {"mailing_id": "mlg_1"}


def test_a_row_names_the_country_that_is_not_open(asked, operator):
    abroad = {"fault": RowFault.NOT_SERVED, "country": "FR", "number": None}
    operator.mailing.bad = (replace(SENT, state=RowState.BAD, status=None, **abroad),)
    assert (
        "a number of France (FR), which is not open here"
        in asked(*("mailing", "rows", "mlg_1")).stdout
    )


def test_a_report_in_parts_as_csv_without_formulas(asked, operator, tmp_path):
    target = tmp_path / "report.csv"
    done = asked("mailing", "report", "mlg_1", str(target))
    assert "2 rows" in done.stdout
    heading, sent, bad = csv.reader(target.read_text("utf-8-sig").splitlines())
    assert heading == [
        *("Row", "Recipient", "Prénom", "Téléphone", "Result", "What is wrong", "Parts", "Price"),
        "Message",
    ]
    assert sent == [
        *(
            "2",
            "'+22236123456",
            "Aïcha",
            "36 12 34 56",
            "delivered",
            "",
            "1",
            "0.50",
            SENT.message_id,
        )
    ]
    assert bad[3] == "'=cmd()"
    asked_for = [given for name, given in operator.asked if name == "mailing.report"]
    assert asked_for == [
        {"mailing_id": "mlg_1"},
        {"mailing_id": "mlg_1", "after": 1, "export": 5},
    ]


def test_a_report_as_a_workbook_is_the_services_file(asked, operator, tmp_path):
    written, target = tmp_path / "rep_1.xlsx", tmp_path / "report.xlsx"
    written.write_bytes(b"PK workbook")
    operator.mailing.workbook = str(written)
    done = asked("mailing", "report", "mlg_1", str(target), "--json")
    assert json.loads(done.stdout) == {"path": str(target), "rows": 4}
    assert target.read_bytes() == b"PK workbook"


def test_decimals_are_french_where_cells_are(asked, tmp_path):
    target = tmp_path / "report.csv"
    asked("mailing", "report", "mlg_1", str(target), "--semicolon")
    assert '"0,50";"sms_1"' in target.read_text("utf-8-sig")


def test_a_report_is_not_written_over_another_file(asked, tmp_path):
    target = tmp_path / "report.csv"
    target.write_text("mine")
    done = asked("mailing", "report", "mlg_1", str(target))
    assert done.exit_code == 1
    assert "--force" in done.stderr
    assert target.read_text() == "mine"
    assert asked("mailing", "report", "mlg_1", str(target), "--force").exit_code == 0
    assert asked("mailing", "report", "mlg_1", str(tmp_path / "report.txt")).exit_code == 2
