"""What cannot be printed or logged is lost, and harms nobody."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager

import pytest

from risala.app.outlets import unharmed


@contextmanager
def piped():
    """Standard output and error as a process has them, over pipes: their two ends by name. In the
    test itself, because pytest puts its own in their place before each."""
    ends, before = {}, {name: getattr(sys, name) for name in ("stdout", "stderr")}
    for name in before:
        ends[name] = os.pipe()
        setattr(sys, name, os.fdopen(ends[name][1], "w", buffering=1, encoding="utf-8"))
    try:
        yield ends
    finally:
        for name, stream in before.items():
            getattr(sys, name).close()
            setattr(sys, name, stream)


def test_lines_go_where_they_went():
    with piped() as ends:
        with unharmed():
            print("رسالة", flush=True)
            print("a fault", file=sys.stderr)
            assert not sys.stderr.isatty()
            assert sys.stderr.fileno() == ends["stderr"][1]
        assert os.read(ends["stdout"][0], 100).decode() == "رسالة\n"
        assert os.read(ends["stderr"][0], 100) == b"a fault\n"


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_who_does_not_read_any_more_harms_nobody(name):
    with piped() as ends:
        reader, writer = ends[name]
        os.close(reader)
        with unharmed():
            for number in range(3):
                print("nobody reads it", number, file=getattr(sys, name))
            # Somebody does again, as where a disk has room again.
            again, end = os.pipe()
            os.dup2(end, writer)
            os.close(end)
            print("back", file=getattr(sys, name))
        lines = os.read(again, 1000).decode().split("\n")
        os.close(again)
    assert "back" in lines
    assert lines[-1] == ""
    if name == "stderr":
        assert json.loads(lines[1])["event"] == "log.lost"
        assert json.loads(lines[1])["lines"] >= 3


def test_a_stream_that_leads_nowhere_stays_as_it_is(capsys):
    with unharmed():
        print("seen", file=sys.stderr)
    assert capsys.readouterr().err == "seen\n"
