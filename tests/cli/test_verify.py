"""`risala verify …` and the origins of keys, on an engine that a command opens by itself."""

import json

import pytest


@pytest.fixture
def run(risala, tmp_path):
    """Run a command on a data directory with one organization that has money."""
    data = ("--data", str(tmp_path / "data"))
    assert risala("org", "create", "Shop", *data).exit_code == 0
    assert risala("topup", "Shop", "100", *data).exit_code == 0
    return lambda *arguments: risala(*arguments, *data)


def shown(run, *arguments: str) -> dict:
    done = run("verify", "config", *arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_code_that_nobody_serves_is_told(run):
    done = run("verify", "send", "36 12 34 56")
    assert done.exit_code == 0
    assert done.stdout.startswith("A code for +22236123456 was accepted: ver_")
    assert "no enabled carrier serves this number" in done.stderr


def test_send_check_get_and_cancel(run, monkeypatch):
    monkeypatch.setenv("RISALA_CARRIERS", '[{"name": "m", "driver": "loopback"}]')
    done = run("verify", "send", "36 12 34 56", "--locale", "ar")
    assert done.exit_code == 0
    assert done.stdout.startswith("A code is on its way to +22236123456: ver_")
    assert "not running" in done.stderr
    verification_id = done.stdout.split()[-1]
    done = run("verify", "check", verification_id, "000")
    assert (done.exit_code, done.stdout) == (0, "denied\n")
    got = run("verify", "get", verification_id).stdout
    assert "pending" in got
    assert "failed attempts  1" in got
    done = run("verify", "cancel", verification_id)
    assert done.stdout == f"The verification {verification_id} is canceled.\n"
    assert "canceled (canceled)" in run("verify", "get", verification_id).stdout
    assert json.loads(run("verify", "check", verification_id, "000", "--json").stdout) == {
        "status": "denied"
    }
    assert "100.00 MRU" in run("org", "show").stdout  # refunded


@pytest.mark.parametrize(
    "command", [("get", "ver_9"), ("cancel", "ver_9"), ("check", "ver_9", "1")]
)
def test_an_unknown_verification_is_one_sentence(run, command):
    done = run("verify", *command)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "There is no verification ver_9.\n"


def test_what_is_refused_and_what_is_wrong(run):
    assert run("verify", "send", "12345").exit_code == 2
    assert run("verify", "send", "36123456", "--locale", "de").exit_code == 1
    done = run("verify", "send", "36123456", "--origin", "evil.example")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "not registered" in done.stderr
    for _ in range(5):
        assert run("verify", "send", "36123456").exit_code == 0
    assert "hourly limit" in run("verify", "send", "36123456").stderr


class TestConfig:
    def test_the_defaults_are_shown_for_people(self, run):
        done = run("verify", "config")
        assert done.exit_code == 0
        assert done.stderr == ""
        for text in ("10 minutes", "the default sender", "0.50 MRU", "رمز التحقق", "Votre code"):
            assert text in done.stdout
        assert "\x1b" not in done.stdout

    def test_everything_can_be_set_and_reset(self, run):
        before = shown(run)
        after = shown(
            run, "Shop", "--length", "4", "--expiry-minutes", "2", "--attempts", "3",
            "--per-phone", "2", "--per-org", "50", "--per-client-ip", "3", "--own-codes",
            "--never-share",
            "--template", "Shop: {{code}}",
            "--language", "fr",
            "--template-fr", "Boutique : {{code}}", "--template-in", "sw", "Duka: {{code}}",
            "--app-hash", "FA+9qCX9VSu",
            "--app-hash", "AAAAAAAAAAA", "--origin", "shop.example",
        )["settings"]  # fmt: skip
        assert after == {
            "code_length": 4,
            "expiry_minutes": 2,
            "attempts_max": 3,
            "per_phone_per_hour": 2,
            "per_organization_per_hour": 50,
            "language": "fr",
            "template": "Shop: {{code}}",
            "templates": {"fr": "Boutique : {{code}}", "sw": "Duka: {{code}}"},
            "sender": None,
            "app_hashes": ["FA+9qCX9VSu", "AAAAAAAAAAA"],
            "origins": ["shop.example"],
            "client_ip_per_hour": 3,
            "own_codes": True,
            "never_share": True,
        }
        assert shown(run)["settings"] == after
        reset = shown(run, "--reset")
        assert reset.pop("version") > before.pop("version")  # each change was one
        assert reset == before

    def test_a_text_of_one_language_leaves_the_others(self, run):
        shown(run, "--template-fr", "F {{code}}", "--template-ar", "ر {{code}}")
        after = shown(run, "--template-ar", "", "--template-en", "E {{code}}")["settings"]
        assert after["templates"] == {"fr": "F {{code}}", "en": "E {{code}}"}
        shown(run, "--template", "D {{code}}", "--app-hash", "FA+9qCX9VSu")
        after = shown(run, "--template", "", "--app-hash", "", "--sender", "")["settings"]
        assert (after["template"], after["app_hashes"], after["sender"]) == (None, [], None)

    def test_reset_and_a_change_at_once(self, run):
        shown(run, "--length", "8", "--template-fr", "F {{code}}")
        after = shown(run, "--reset", "--attempts", "2", "--template-en", "E {{code}}")["settings"]
        assert (after["code_length"], after["attempts_max"]) == (6, 2)
        assert after["templates"] == {"en": "E {{code}}"}

    def test_a_long_text_is_warned_about_with_its_price(self, run):
        done = run("verify", "config", "--template-ar", "رمز " * 20 + "{{code}}")
        assert done.exit_code == 0
        assert "2 segments" in done.stderr
        assert "1.00 MRU" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "word"),
        [
            (("--length", "3"), "code_length"),
            (("--template", "no code"), "{{code}}"),
            (("--template-fr", "rien"), "fr"),
            (("--sender", "Unknown"), "approved"),
            (("--origin", "https://shop.example"), "host name"),
            (("--app-hash", "short"), "11 base64 characters"),
        ],
    )
    def test_a_fault_is_named_and_changes_nothing(self, run, arguments, word):
        before = shown(run)
        done = run("verify", "config", *arguments)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert word in done.stderr
        assert shown(run) == before


class TestOrigins:
    def test_of_a_new_key_and_changed_later(self, run):
        done = run(
            "key", "create", "--type", "publishable", "--origin", "https://a.example",
            "--origin", "HTTPS://B.example/", "--json",
        )  # fmt: skip
        key = json.loads(done.stdout)["key"]
        assert key["allowedOrigins"] == ["https://a.example", "https://b.example"]
        said = run("key", "origins", key["id"]).stdout
        assert said.endswith("can be used by pages of https://a.example, https://b.example.\n")
        assert "https://c.example." in run("key", "origins", key["id"], "https://c.example").stdout
        assert "any page" in run("key", "origins", key["id"], "--any").stdout
        found = json.loads(run("key", "origins", key["id"], "--json").stdout)
        assert found["allowedOrigins"] is None

    def test_what_is_refused(self, run):
        assert run("key", "create", "--origin", "https://a.example").exit_code == 1
        done = run("key", "create", "--type", "publishable", "--origin", "a.example")
        assert done.exit_code == 1
        assert "https://app.example" in done.stderr
        assert run("key", "origins", "key_9").exit_code == 1
        assert run("key", "origins", "key_9", "https://a.example", "--any").exit_code == 2


def test_figures_are_a_table_with_all_together(run, monkeypatch):
    assert "No code was asked for in this time." in run("verify", "figures").stdout
    for number in ("36 12 34 56", "46 00 00 02"):
        assert run("verify", "send", number).exit_code == 0
    table = run("verify", "figures", "--by", "network", "--since", "1h").stdout.splitlines()
    assert table[0].split("  ")[0] == "NETWORK"
    assert [line.split()[:2] for line in table[1:]] == [
        ["mattel", "1"],
        ["mauritel", "1"],
        ["all", "2"],
    ]
    assert run("verify", "figures", "--by", "tag").exit_code == 2
