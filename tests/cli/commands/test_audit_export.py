"""The whole audit trail as a file."""

import csv
import io
import json
import sys

import pytest
from click.testing import CliRunner

from forked_processes import start
from patience import HANG_S
from processes import environment
from risala.cli.main import cli
from risala.engine.operations import trail
from risala.engine.rules.trail.chain import ChainEnd
from risala.engine.rules.trail.heads import signed_head

NAMES = ('Shop, "Ltd"', "=HYPERLINK(1)", "متجر")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trail, "EXPORT_PART", 2)

    def run(*arguments):
        found = CliRunner().invoke(cli, [*arguments, "--data", str(tmp_path / "data")])
        assert found.exit_code == 0, found.output
        return found.output

    for name in NAMES:
        run("org", "create", name)
    return run


def test_as_csv_it_is_all_lines_and_no_formula(run):
    rows = list(csv.DictReader(io.StringIO(run("audit-log", "--csv", "--operation", "org."))))
    assert [row["operation"] for row in rows] == ["org.create"] * 3
    assert [json.loads(row["after"])["name"] for row in rows] == list(NAMES)[::-1]
    assert all(row["who"] and row["at"].endswith("Z") for row in rows)
    assert "" in {row["before"] for row in rows}


def test_as_json_it_is_a_line_for_each(run):
    lines = [json.loads(line) for line in run("audit-log", "--jsonl").splitlines()]
    assert [line["seq"] for line in lines] == sorted((line["seq"] for line in lines), reverse=True)
    assert lines[0]["operation"] == "audit.export"
    assert [line["after"]["name"] for line in lines[1:]] == list(NAMES)[::-1]


def test_what_was_only_viewed_may_be_left_out(run):
    run("org", "list")
    every = json.loads(run("audit-log", "--json"))["lines"]
    changes = json.loads(run("audit-log", "--json", "--changes-only"))["lines"]
    assert {line["operation"] for line in every} > {"org.list", "org.create"}
    assert {line["operation"] for line in changes} == {"org.create"}
    assert "org.list" not in run("audit-log", "--csv", "--changes-only")


def test_with_its_chain_it_is_the_whole_trail_from_the_beginning(run):
    first, *lines = [json.loads(line) for line in run("audit-log", "--chain").splitlines()]
    assert first["columns"][0] == "seq"
    assert first["columns"][-1] == "hash"
    assert [line[0] for line in lines] == list(range(1, len(lines) + 1))
    assert [line[5] for line in lines][-1] == "audit.chain"
    refused = CliRunner().invoke(cli, ["audit-log", "--chain", "--who", "omar"])
    assert "leave the filters out" in refused.output


def test_heads_of_a_file_are_compared_with_it(run, tmp_path):
    data = ["--data", str(tmp_path / "data")]
    (tmp_path / "heads").write_text("no head\n")
    refused = CliRunner().invoke(cli, ["audit", "--heads", str(tmp_path / "heads"), *data])
    assert "has no head" in refused.output
    line = json.loads(run("audit-log", "--chain").splitlines()[-1])
    head = signed_head(ChainEnd(line[0], line[-1]), "2026-01-01T00:00:00.000Z", bytes(32))
    (tmp_path / "heads").write_text(f"> {head.text}\n")
    found = CliRunner().invoke(cli, ["audit", "--heads", str(tmp_path / "heads"), *data])
    assert found.exit_code == 1  # no line of the trail names this key
    assert f"head of line {line[0]} " in found.output


@pytest.mark.slow
def test_who_has_read_enough_is_no_fault(run, tmp_path):
    command = (sys.executable, "-m", "risala", "audit-log", "--jsonl", "--data", "data")
    process = start(command, tmp_path, environment(), typed=False)
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == ""
    assert process.wait(HANG_S) == 0
