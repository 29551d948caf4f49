"""Runs targets under atheris, each in a process of its own, and keeps what came of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from proofs.evidence import ROOT
from proofs.fuzz import corpus
from proofs.fuzz.target import FuzzTarget

TOOLS: Final = ROOT / ".venv-fuzz"
"""Where ``make fuzz`` puts atheris: a folder, so that it sees what the tests' environment has."""
BUILD: Final = ROOT / "build/fuzz"
_HANG_S: Final = 20
"""Seconds of one input that are no slowness any more, even on a loaded machine: most take less than
a millisecond."""
_MEMORY_MIB: Final = 2048
"""What one process may have: twenty times what it has after the imports."""
STORED_OCTETS_MAX: Final = 8192
"""Octets that are kept of a target's inputs: CI replays all of them with each run."""
STORED_MAX: Final = 120
Step = tuple[str, int, int]
"""A file, and two lines in it that follow each other."""
_PRODUCT: Final = "/risala/"
_state: Final = re.compile(r"^#(\d+)\s.*?cov: (\d+) ft: (\d+)")
_ran: Final = re.compile(r"^#(\d+)\s")


@dataclass(slots=True)
class Campaign:
    """What a run of one target came to, as far as it is."""

    target: FuzzTarget
    inputs: int = 0
    edges: int = 0
    found: Path | None = None
    """The input that broke it; None: none did."""
    error: str = ""
    """The last lines of a run that could not be made, or that ended by itself."""


def is_there() -> bool:
    return (TOOLS / "atheris").is_dir()


def run(
    target: FuzzTarget,
    seconds: int,
    told: Callable[[Campaign], None],
    *,
    source: Path = ROOT / "src",
    extra: Iterable[bytes] = (),
) -> Campaign:
    """Search for so many seconds, or until something breaks.

    Args:
        told: is called whenever there is more to tell.
        source: the product that is tried, where it is not the tree's own.
    """
    campaign = Campaign(target)
    place = BUILD / target.name
    given, grown = _emptied(place / "given"), _emptied(place / "grown")
    for octets in {*target.seeds(), *corpus.load(target.name).values(), *extra}:
        (given / corpus.name_of(octets)).write_bytes(octets)
    dictionary = place / "words"
    dictionary.write_text("".join(f'"{_hex(word)}"\n' for word in target.words))
    options = [
        *(f"-max_total_time={seconds}", f"-max_len={target.octets_max}", f"-timeout={_HANG_S}"),
        *(f"-rss_limit_mb={_MEMORY_MIB}", f"-artifact_prefix={place}/found-"),
        *("-print_final_stats=1", "-report_slow_units=1000", str(grown), str(given)),
    ]
    if target.words:
        options.insert(0, f"-dict={dictionary}")
    before = {*place.glob("found-*")}
    child = _start(target, options, source)
    lines: list[str] = []
    assert child.stdout is not None
    for line in child.stdout:
        lines = [*lines[-40:], line]
        if state := _state.match(line):
            campaign.edges = int(state[2])
        if state := _ran.match(line):
            campaign.inputs = int(state[1])
            told(campaign)
    if child.wait() != 0:
        campaign.error = "".join(lines)
        campaign.found = next(iter({*place.glob("found-*")} - before), None)
    return campaign


def minimised(target: FuzzTarget) -> dict[str, bytes]:
    """The fewest of all inputs, stored and grown, that take every step that all of them take; the
    shortest of them, as many as are kept."""
    grown = [each.read_bytes() for each in (BUILD / target.name / "grown").iterdir()]
    known = corpus.load(target.name)
    seen: set[Step] = set()
    for octets in (*target.seeds(), *known.values()):
        seen |= steps_of(target, octets)
    kept: list[bytes] = []
    room = STORED_OCTETS_MAX
    for octets in sorted(grown, key=lambda each: (len(each), each)):
        taken = steps_of(target, octets)
        if not taken <= seen and len(octets) <= room and len(kept) < STORED_MAX:
            seen |= taken
            room -= len(octets)
            kept.append(octets)
    return {**known, **corpus.named(kept, {})}


def steps_of(target: FuzzTarget, octets: bytes) -> set[Step]:
    """From which line to which an input goes, in the product's own files."""
    found: set[Step] = set()

    def note(frame: FrameType, what: str, of: object) -> Callable[..., object] | None:
        file = frame.f_code.co_filename
        if what == "call" and _PRODUCT not in file:
            return None
        before = frame.f_lineno

        def line(inner: FrameType, kind: str, argument: object) -> Callable[..., object]:
            nonlocal before
            found.add((file, before, inner.f_lineno))
            before = inner.f_lineno
            return line

        return line

    sys.settrace(note)
    try:
        target.run(octets)
    finally:
        sys.settrace(None)
    return found


def _start(target: FuzzTarget, options: list[str], source: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join(map(str, (source, ROOT, TOOLS)))
    environ = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "proofs.fuzz.child",
            target.run_once.__module__,
            target.name,
            *options,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environ,
        cwd=ROOT,
    )


def _emptied(place: Path) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for each in place.iterdir():
        each.unlink()
    return place


def _hex(word: bytes) -> str:
    return "".join(f"\\x{octet:02x}" for octet in word)
