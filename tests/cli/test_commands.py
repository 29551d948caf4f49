"""Each command: what it asks of the engine, what it prints, its exit code."""

import json

import pytest

from risala.engine.model.errors import InsufficientBalance, Invalid, NotFound, StorageFailed


@pytest.mark.parametrize(
    ("arguments", "operation", "given"),
    [
        (["org", "create", "Shop"], "org.create", {"name": "Shop"}),
        (
            ["org", "create", "Shop", "--price", "0.40"],
            "org.create",
            {"name": "Shop", "price_per_segment": "0.40"},
        ),
        (["org", "list"], "org.list", {"limit": 200}),
        (["org", "show"], "org.show", {"organization_id": "org_1"}),
        (["org", "show", "org_7"], "org.show", {"organization_id": "org_7"}),
        (["org", "show", "Shop 1"], "org.show", {"organization_id": "org_1"}),
        (["org", "suspend", "org_1"], "org.suspend", {"organization_id": "org_1"}),
        (["org", "resume", "org_1"], "org.resume", {"organization_id": "org_1"}),
        (
            ["key", "create"],
            "key.create",
            {"organization_id": "org_1", "type": "secret", "mode": "live"},
        ),
        (
            ["key", "create", "--type", "publishable", "--name", "web", "--org", "org_2"],
            "key.create",
            {"organization_id": "org_2", "type": "publishable", "mode": "live", "name": "web"},
        ),
        (
            ["key", "create", "--test"],
            "key.create",
            {"organization_id": "org_1", "type": "secret", "mode": "test"},
        ),
        (["key", "list"], "key.list", {"organization_id": "org_1"}),
        (["key", "enable", "key_1"], "key.enable", {"key_id": "key_1"}),
        (["key", "disable", "key_1"], "key.disable", {"key_id": "key_1"}),
        (["key", "delete", "key_1"], "key.delete", {"key_id": "key_1"}),
        (["topup", "100"], "topup", {"organization_id": "org_1", "amount": "100"}),
        (
            ["topup", "org_1", "100", "--note", "desk 7"],
            "topup",
            {"organization_id": "org_1", "amount": "100", "note": "desk 7"},
        ),
        (
            ["topup", "100", "--reference", "BK-1"],
            "topup",
            {"organization_id": "org_1", "amount": "100", "reference": "BK-1"},
        ),
        (
            ["adjust", "-5.25", "--reason", "a slip"],
            "adjust",
            {"organization_id": "org_1", "amount": "-5.25", "reason": "a slip"},
        ),
        (
            ["ledger", "org_1", "--before", "9", "--by-hand"],
            "ledger.list",
            {"organization_id": "org_1", "limit": 50, "before": 9, "by_hand": True},
        ),
        (
            ["send", "36 12 34 56", "Hello"],
            "send",
            {
                "organization_id": "org_1",
                "to": "+22236123456",
                "body": "Hello",
                "urgent": False,
                "mode": "live",
            },
        ),
        (
            ["send", "+22236123456", "Hi", "--from", "Acme", "--key", "k" * 8, "--urgent"],
            "send",
            {
                "organization_id": "org_1",
                "to": "+22236123456",
                "body": "Hi",
                "from": "Acme",
                "idempotency_key": "k" * 8,
                "urgent": True,
                "mode": "live",
            },
        ),
        (
            ["send", "36123456", "Hi", "--at", "2030-01-02T03:04:05Z", "--validity", "2h"],
            "send",
            {
                "organization_id": "org_1",
                "to": "+22236123456",
                "body": "Hi",
                "urgent": False,
                "mode": "live",
                "send_at": "2030-01-02T03:04:05.000Z",
                "validity_s": 7200,
            },
        ),
        (["message", "show", "sms_1"], "message.show", {"message_id": "sms_1"}),
        (["message", "cancel", "sms_1"], "message.cancel", {"message_id": "sms_1"}),
        (
            ["org", "set", "--price", "0.40", "--no-smart-encoding", "--lean-answers"],
            "org.set",
            {
                "organization_id": "org_1",
                "price_per_segment": "0.40",
                "smart_encoding": False,
                "lean_answers": True,
            },
        ),
        (
            [
                "org",
                "set",
                "org_2",
                "--price",
                "general",
                "--sms-per-s",
                "general",
                "--low-balance",
                "general",
            ],
            "org.set",
            {
                "organization_id": "org_2",
                "price_per_segment": None,
                "sms_per_s": None,
                "low_balance": None,
            },
        ),
        (["price"], "price", {}),
        (["price", "show", "org_2"], "org.show", {"organization_id": "org_2"}),
        (
            ["price", "set", "0.40"],
            "org.set",
            {"organization_id": "org_1", "price_per_segment": "0.40"},
        ),
        (
            ["price", "set", "org_2", "general"],
            "org.set",
            {"organization_id": "org_2", "price_per_segment": None},
        ),
        (
            ["sender", "request", "Acme", "--description", "receipts"],
            "sender.request",
            {"organization_id": "org_1", "name": "Acme", "description": "receipts"},
        ),
        (["sender", "list"], "sender.list", {}),
        (["sender", "clear", "ACME"], "sender.clear", {"sender_id": "snd_1"}),
        (["sender", "waive", "snd_7"], "sender.waive", {"sender_id": "snd_7"}),
        (
            ["sender", "deny", "Acme", "--reason", "misleading"],
            "sender.deny",
            {"sender_id": "snd_1", "reason": "misleading"},
        ),
        (["audit"], "audit", {}),
        (["carriers"], "carriers", {}),
    ],
)
def test_a_command_asks_the_engine_and_prints_json_when_asked(
    asked, operator, arguments, operation, given
):
    done = asked(*arguments)
    assert (done.exit_code, done.stderr.count("\n") <= 1) == (0, True), done.output
    assert (operation, given) in operator.asked
    assert done.stdout
    assert "\x1b" not in done.output
    done = asked(*arguments, "--json")
    assert done.exit_code == 0
    assert isinstance(json.loads(done.stdout), dict)
    assert done.stderr == ""


def test_carriers_show_window_rate_and_queue(asked):
    [_, row] = asked("carriers").stdout.splitlines()
    assert row.split("  ")[0] == "m"
    for cell in ("up, paused", "2 of 10", "4.5 of 50", "over 10000", "Bound."):
        assert cell in row


def test_a_carrier_with_its_facts_and_its_life(asked):
    shown = asked("carriers", "show", "m").stdout
    for cell in ("signal_dbm", "-73", "ussd CODE", "Dials it.", "08:30:00.123", "soft reset"):
        assert cell in shown
    assert "Receipts that matched no message: 7; 2 wait for theirs." in shown
    assert "20 (by a deleted user, 2026-11-21 08:32:00.000; the settings: 50)" in shown
    for cell in ("08:31:00.456", "1a2b", "DELIVRD", "it fits several messages"):
        assert cell in shown


def test_what_a_carrier_is_asked(asked, operator):
    assert "Solde: 12 MRU" in asked("carriers", "ask", "m", "ussd", "*124#", "1").stdout
    values = {"carrier": "m", "command": "ussd", "arguments": ["*124#", "1"]}
    assert operator.asked[-1] == ("carriers.ask", values)
    assert "ussd CODE" in asked("carriers", "ask", "m").stdout


def test_a_sender_that_two_have_asked_for_is_not_guessed(asked, operator):
    operator.senders = 2
    done = asked("sender", "waive", "acme")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "Use the id of one" in done.stderr
    assert "has not been requested" in asked("sender", "waive", "Other").stderr


@pytest.mark.parametrize("step", ["request", "clear", "waive"])
def test_what_to_look_at_twice_in_a_senders_name_is_told(asked, step):
    more = ("--description", "receipts") if step == "request" else ()
    done = asked("sender", step, "Acme", *more)
    assert done.exit_code == 0
    assert done.stderr == "Check Acme carefully. It is a generic name.\n"
    assert "It is a generic name." in asked("sender", "list").stdout


def test_money_is_a_decimal_with_its_currency(asked):
    assert "12.50 MRU" in asked("org", "list").stdout
    assert asked("topup", "org_1", "100.00").stdout == (
        "Added 100.00 MRU to Shop 1: the balance is 112.50 MRU.\n"
    )


def test_a_message_that_nobody_serves_is_told(asked, operator):
    operator.warning = "It waits: no enabled carrier serves this number."
    done = asked("send", "36 12 34 56", "Hello")
    assert done.exit_code == 0
    assert done.stderr.splitlines()[0] == operator.warning
    shown = asked("send", "36 12 34 56", "Hello", "--json")
    assert operator.warning in shown.stdout


def test_the_ledger_and_what_corrects_it(asked):
    assert asked("adjust", "org_1", "-2.50", "--reason", "a slip").stdout == (
        "Adjusted Shop 1 by -2.50 MRU: the balance is 110.00 MRU.\n"
    )
    done = asked("ledger")
    for cell in ("ENTRY", "adjustment", "-2.50 MRU", "110.00 MRU", "a slip"):
        assert cell in done.stdout
    assert done.stderr == "There are older ones: --before 7.\n"


def test_a_keys_value_is_alone_on_stdout_and_the_warning_is_not(asked):
    done = asked("key", "create")
    assert done.stdout == "sk_live_value\n"
    assert "cannot be shown again" in done.stderr


def test_a_message_is_shown_with_its_timeline_and_cannot_drive_the_terminal(asked):
    shown = asked("message", "show", "sms_1").stdout
    assert "0.50 MRU" in shown
    assert "two⏎lines \\x1b[31mred" in shown
    assert "Acknowledged." in shown
    assert "ESME_ROK" in shown
    assert "2026-01-01 00:00:00.123" in shown


@pytest.mark.parametrize(
    ("refusal", "sentence", "code"),
    [
        (NotFound("There is no message sms_9."), "There is no message sms_9.", "NOT_FOUND"),
        (InsufficientBalance("Top up first."), "Top up first.", "PAYMENT_REQUIRED"),
        (Invalid("body", "too_long", "It is too long."), "It is too long.", "BAD_REQUEST"),
        (
            StorageFailed(),
            "The service cannot store messages right now. Try again in a moment.",
            "SERVICE_UNAVAILABLE",
        ),
    ],
)
def test_a_refusal_is_exit_code_1_and_one_sentence(asked, operator, refusal, sentence, code):
    operator.refuse = refusal
    done = asked("message", "show", "sms_9")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", sentence + "\n")
    done = asked("message", "show", "sms_9", "--json")
    assert (done.exit_code, done.stdout) == (1, "")
    error = json.loads(done.stderr)
    assert (error["code"], error["message"]) == (code, sentence)


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["org", "nonsense"],
        ["org", "create"],
        ["key", "create", "--type", "golden"],
        ["topup"],
        ["topup", "a", "b", "c"],
        ["adjust", "5"],
        ["ledger", "--limit", "0"],
        ["org", "set"],
        ["org", "set", "--sms-per-s", "fast"],
        ["sender", "deny", "Acme", "--reason", "ugly"],
        ["sender", "request", "Acme"],
        ["send", "36123456", "Hi", "--at", "tomorrow-ish"],
        ["send", "36123456", "Hi", "--validity", "soon"],
        ["backup"],
        ["send", "12345", "Hello"],
        ["send", "+33612345678", "Hello"],
        ["serve", "--port", "70000"],
        ["audit", "extra"],
        ["simulate", "smsc", "--receipt-delay-s", "-1"],
    ],
)
def test_wrong_usage_is_exit_code_2(risala, arguments):
    done = risala(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "Usage:" in done.stderr


class TestWhichOrganization:
    @pytest.mark.parametrize(
        ("count", "given", "sentence"),
        [
            (0, [], "There are no organizations yet"),
            (2, [], "There are 2 organizations. Say which one with --org."),
            (2, ["--org", "Nobody"], "There is no organization named 'Nobody'"),
        ],
    )
    def test_it_must_be_clear(self, asked, operator, count, given, sentence):
        operator.organizations = count
        done = asked("send", "36123456", "Hello", *given)
        assert done.exit_code == 1
        assert done.stderr.startswith(sentence)
        assert [name for name, _ in operator.asked] == ["org.find"]

    def test_a_name_will_do(self, asked, operator):
        operator.organizations = 2
        asked("key", "list", "--org", "Shop 2")
        assert operator.asked[-1] == ("key.list", {"organization_id": "org_2"})


def test_an_audit_that_finds_something_is_exit_code_1(asked, operator):
    operator.clean = False
    done = asked("audit")
    assert done.exit_code == 1
    assert "off by 0.50" in done.stdout
    assert done.stderr == "The audit found 1 fault.\n"
    done = asked("audit", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["clean"] is False


class TestInit:
    def test_writes_a_file_that_loads(self, risala, tmp_path):
        done = risala("init")
        assert done.exit_code == 0
        assert (tmp_path / "risala.toml").read_text().startswith("#")
        assert json.loads(risala("plugins", "--json").stdout)["faults"] == []

    def test_never_writes_over_a_file_unasked(self, risala, tmp_path):
        path = tmp_path / "mine.toml"
        path.write_text("# mine")
        done = risala("init", str(path))
        assert done.exit_code == 1
        assert "--force" in done.stderr
        assert path.read_text() == "# mine"
        assert risala("init", str(path), "--force", "--json").exit_code == 0
        assert path.read_text() != "# mine"


def test_faulty_settings_are_named(risala, tmp_path):
    (tmp_path / "risala.toml").write_text("[http]\nport = 'x'\nhots = 1\n")
    done = risala("plugins")
    assert done.exit_code == 1
    assert "http.port" in done.stderr
    assert "http.hots" in done.stderr


def test_plugins(risala):
    found = json.loads(risala("plugins", "--json").stdout)
    assert {"smpp", "loopback"} <= {driver["name"] for driver in found["drivers"]}
    assert "loopback" in risala("plugins").stdout
