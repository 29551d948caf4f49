"""Users and members by command: words for people, links on stdout, one sentence where it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from risala.cli.main import cli

pytestmark = pytest.mark.slow
A, B = "a@example.com", "b@example.com"


@pytest.fixture
def run(tmp_path: Path):
    def call(*arguments: str, ends: int = 0):
        data = ("--data", str(tmp_path / "data"))
        done = CliRunner().invoke(cli, (*arguments, *data), prog_name="risala")
        assert done.exit_code == ends, done.output
        return done

    call("org", "create", "Shop")
    return call


def test_users_and_members(run):
    made = run("user", "create", A, "--operator").stdout
    assert "Created the operator a@example.com (administrator): usr_" in made
    assert "There is already a user" in run("user", "create", A.upper(), ends=1).stderr
    assert "e-mail address" in run("user", "create", "nobody", ends=1).stderr
    assert (
        "b@example.com is now an owner."
        in run("member", "add", "Shop", B, "--role", "owner").stdout
    )
    run("member", "add", "Shop", A, "--role", "viewer")
    assert "is now a developer" in run("member", "role", "Shop", A, "developer").stdout
    assert (
        "is invited as viewer until"
        in run("member", "invite", "Shop", "c@example.com", "--role", "viewer").stdout
    )
    listed = run("member", "list", "Shop").stdout
    assert [line.split()[:3] for line in listed.splitlines()[1:]] == [
        [B, "owner", listed.splitlines()[1].split()[2]],
        [A, "developer", listed.splitlines()[2].split()[2]],
        ["c@example.com", "viewer", "(invited)"],
    ]
    assert "needs an owner" in run("member", "remove", "Shop", B, ends=1).stderr
    assert "is no longer a member" in run("member", "remove", "Shop", A).stdout
    assert "There is no member" in run("member", "remove", "Shop", A, ends=1).stderr
    shown = run("user", "show", B).stdout
    assert "Shop" in shown
    assert "The user is not signed in." in shown
    assert run("user", "list").stdout.count("@example.com") == 2


def test_a_link_is_on_stdout_alone(run):
    run("user", "create", A)
    made = run("user", "sign-in", A)
    (line,) = made.stdout.splitlines()
    assert line.startswith("http://127.0.0.1:8080/sign-in/link/")
    assert "The service is not running" in made.stderr
    assert "is not an operator" in run("user", "sign-in", A, "--console", ends=1).stderr
    assert "There is no user" in run("user", "sign-in", B, ends=1).stderr


def test_who_lost_their_mailbox_gets_another_address(run):
    run("user", "create", A, "--name", "Fatima", "--language", "ar")
    changed = run("user", "set", A, "--email", B).stdout
    assert B in changed
    assert "Fatima" in changed
    assert "There is no user" in run("user", "show", A, ends=1).stderr
    assert "Say what to change" in run("user", "set", B, ends=2).stderr
    assert "b@example.com was signed out of 0 sessions." in run("user", "sign-out", B).stdout
