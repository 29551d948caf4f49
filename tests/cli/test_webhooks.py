"""`risala webhook …` against a real data directory: with no service beside it, and with one."""

import json
from functools import partial
from pathlib import Path

import pytest
import trio

from risala.cli.commands.messaging.webhook_log import replay_failed
from risala.cli.reach.performer import GatewaySession


@pytest.fixture
def webhook(risala, tmp_path: Path):
    """Run `risala webhook …` alone on a directory that has one organization."""
    data = str(tmp_path / "own")
    assert risala("org", "create", "Shop", "--data", data).exit_code == 0
    return lambda *arguments: risala("webhook", *arguments, "--data", data)


def made(webhook, *more: str) -> dict:
    done = webhook("create", "https://example.com/hook", "--json", *more)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)["endpoint"]


def test_the_secret_is_alone_on_stdout_once(webhook):
    done = webhook("create", "https://example.com/hook")
    assert done.exit_code == 0
    assert done.stdout.startswith("whsec_")
    assert done.stdout.count("\n") == 1
    assert "only once" in done.stderr
    assert "sms.failed" in done.stderr
    assert "sms.delivered" not in done.stderr
    secret = done.stdout.strip()
    assert secret not in webhook("list").stdout + webhook("list", "--json").stdout
    listed = json.loads(webhook("list", "--json").stdout)["endpoints"]
    assert secret not in webhook("show", listed[0]["id"], "--json").stdout


def test_an_endpoint_is_made_changed_and_shown(webhook):
    endpoint = made(
        webhook,
        *("--type", "sms.sent", "--type", "sms.delivered", "--header", "X-Token: abc def"),
        *("--description", "shop", "--notify", "a@example.org", "--test"),
    )
    assert endpoint["types"] == ["sms.sent", "sms.delivered"]
    assert "sms.delivered" in webhook("list").stdout
    assert (endpoint["mode"], endpoint["headers"]) == ("test", {"X-Token": "***"})
    shown = webhook("show", endpoint["id"]).stdout
    assert "X-Token" in shown
    assert "abc" not in shown
    done = webhook("update", endpoint["id"], "--url", "https://example.org/", "--description", "x")
    assert "https://example.org/" in done.stdout
    assert "sms.delivered" in done.stdout
    assert "shop" not in done.stdout
    done = webhook("update", endpoint["id"], "--signature-header", "X-Shop-Signature")
    assert "X-Shop-Signature" in done.stdout
    done = webhook("update", endpoint["id"], "--signature-header", "")
    assert "X-Shop-Signature" not in done.stdout


def test_received_messages_get_another_shape(webhook):
    template = "from={{from}}\ntext={{text}}"
    endpoint = made(webhook, "--shape", "form", "--template", template)
    assert (endpoint["shape"], endpoint["types"]) == ("form", ["sms.received"])
    assert "from={{from}}" in webhook("show", endpoint["id"]).stdout
    done = webhook("update", endpoint["id"], "--template", "text={{body}}")
    assert done.exit_code == 1
    assert "not {{body}}" in done.stderr
    assert "rapidpro" in webhook("update", endpoint["id"], "--shape", "rapidpro").stdout
    assert "form" not in webhook("update", endpoint["id"], "--shape", "event").stdout


def test_the_life_of_an_endpoint(webhook):
    name = made(webhook)["id"]
    assert "disabled" in webhook("disable", name).stdout
    assert "disabled" in webhook("list").stdout
    assert "enabled" in webhook("enable", name).stdout
    rotated = webhook("rotate", name)
    assert rotated.stdout.startswith("whsec_")
    assert "until" in rotated.stderr
    refused = webhook("rotate", name)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert webhook("rotate", name, "--at-once").exit_code == 0
    assert "Nothing has been delivered" in webhook("deliveries", name).stdout
    assert webhook("delete", name).exit_code == 0
    gone = webhook("show", name)
    assert (gone.exit_code, gone.stderr) == (1, f"There is no webhook endpoint {name}.\n")
    assert "There are no endpoints yet" in webhook("list").stdout


def test_without_a_service_a_test_event_waits(webhook):
    name = made(webhook)["id"]
    done = webhook("test", name)
    assert done.exit_code == 1
    assert "not running" in done.stderr
    assert "webhook.test" in webhook("deliveries", name).stdout
    event = json.loads(webhook("deliveries", name, "--json").stdout)["deliveries"][0]["eventId"]
    assert "not been attempted yet" in webhook("deliveries", name, event).stdout
    refused = webhook("replay", name, event)
    assert refused.exit_code == 1
    assert "pending" in refused.stderr
    webhook("disable", name)
    webhook("enable", name)
    done = webhook("replay", name, "--failed-since", "1h")
    assert done.stdout == "Queued again: 1 of 1 failed delivery.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["create", "http://example.com/"], "A URL begins with https://."),
        (
            ["create", "https://10.0.0.1/"],
            "Webhooks are not sent to 10.0.0.1, because it is private.",
        ),
        (["create", "https://example.com/", "--type", "sms.gone"], "`types` must be of these"),
        (["show", "whe_1"], "There is no webhook endpoint whe_1."),
        (["replay", "whe_1", "evt_1"], "There is no webhook endpoint whe_1."),
    ],
)
def test_a_refusal_is_one_sentence(webhook, arguments, sentence):
    done = webhook(*arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(sentence)


@pytest.mark.parametrize(
    "arguments",
    [
        ["create"],
        ["create", "https://example.com/", "--header", "nonsense"],
        ["update", "whe_1"],
        ["replay", "whe_1"],
        ["replay", "whe_1", "evt_1", "--failed-since", "2h"],
        ["replay", "whe_1", "--failed-since", "yesterday"],
        ["deliveries", "whe_1", "--state", "lost"],
    ],
)
def test_wrong_usage(webhook, arguments):
    assert webhook(*arguments).exit_code == 2


def test_a_replay_tells_how_far_it_has_come():
    steps = [
        {"replayed": 200, "total": 450, "until": 7, "done": False},
        {"replayed": 200, "total": None, "until": 7, "done": False},
        {"replayed": 50, "total": None, "until": 7, "done": True},
    ]
    asked, seen = [], []

    class Chunks:
        async def perform(self, _, arguments):
            await trio.lowlevel.checkpoint()
            asked.append(arguments.get("until"))
            return steps[len(asked) - 1]

    session = GatewaySession(Chunks(), running=True)
    done = trio.run(partial(replay_failed, session, "whe_1", "t", lambda *at: seen.append(at)))
    assert done == (450, 450)
    assert asked == [None, 7, 7]
    assert seen == [(200, 450), (400, 450), (450, 450)]


def test_nothing_is_to_be_followed_where_nothing_runs(risala, tmp_path):
    data = str(tmp_path / "own")
    risala("org", "create", "Shop", "--data", data)
    done = risala("tail", "--data", data)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("The service is not running")
