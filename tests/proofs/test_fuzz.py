"""Every stored input at its door, and inputs near them: `make fuzz` searches on from there."""

from __future__ import annotations

import ast
import math
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from proofs.fuzz import corpus
from proofs.fuzz.plants import PLANTS
from proofs.fuzz.table import TARGETS, target_named
from proofs.fuzz.target import FuzzTarget, Script, TooMuchWork, cuts, work_within

from cases import examples

NEAR = 100
"""Inputs near the stored ones that are tried at each door: what `make fuzz` does for a minute, in
a second."""
CORPORA_OCTETS_MAX = 300_000

doors = pytest.mark.parametrize("target", TARGETS, ids=lambda each: each.name)


@pytest.fixture(autouse=True)
def quiet():
    """Readers of others, which ours are compared with, warn of what they dislike."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def stored(target: FuzzTarget) -> list[bytes]:
    return [*target.seeds(), *corpus.load(target.name).values()]


@pytest.mark.slow
@doors
def test_stored_inputs_hold(target):
    for octets in stored(target):
        target.run(octets)


def near(target: FuzzTarget) -> st.SearchStrategy[bytes]:
    """A stored input with a few changes."""
    piece = st.binary(max_size=12)
    if target.words:
        piece |= st.sampled_from(target.words)
    change = st.tuples(st.integers(0, 2**16), st.integers(0, 8), piece)

    def changed(octets: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
        for place, lost, put in changes:
            at = place % (len(octets) + 1)
            octets = octets[:at] + put + octets[at + lost :]
        return octets[: target.octets_max]

    return st.builds(changed, st.sampled_from(stored(target)), st.lists(change, max_size=4))


@pytest.mark.slow
@doors
def test_inputs_near_the_stored_ones_hold(target):
    # The same ones in each run: what another run finds is for `make fuzz`.
    @settings(
        max_examples=examples(NEAR),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(octets=near(target))
    def held(octets):
        target.run(octets)

    held()


def test_doors_have_names_of_their_own():
    assert len({each.name for each in TARGETS}) == len(TARGETS)
    assert target_named(TARGETS[0].name) is TARGETS[0]
    with pytest.raises(LookupError, match="json-objects"):
        target_named("nowhere")


def test_a_bug_can_be_planted_at_each_door():
    assert [each.target for each in PLANTS if each.source.count(each.old) != 1] == []
    assert {each.target for each in PLANTS} == {each.name for each in TARGETS}
    for each in PLANTS:
        ast.parse(each.source.replace(each.old, each.new))


def test_what_is_stored_is_small_and_somebodys():
    files = [*corpus.PLACE.glob("*.txt")]
    assert {path.stem for path in files} <= {each.name for each in TARGETS}
    assert sum(path.stat().st_size for path in files) < CORPORA_OCTETS_MAX


@given(inputs=st.lists(st.binary(max_size=60), max_size=8))
def test_what_is_stored_reads_back(tmp_path_factory, inputs):
    place = tmp_path_factory.mktemp("corpus")
    wanted = corpus.named(inputs, {"broke-it": b"\xff\"'\\\n\t"})
    corpus.save("door", wanted, place)
    assert corpus.load("door", place) == wanted
    lines = (place / "door.txt").read_text("ascii").splitlines()
    assert lines[0].startswith("broke-it\t")
    assert len(lines) == len(wanted)


def test_octets_are_choices_and_then_none():
    script = Script(b"\1\3abcd")
    assert (script.flag(), script.some(), script.is_over) == (True, b"abc", False)
    assert (script.rest(), script.number(), script.is_over) == (b"d", 0, True)


@given(octets=st.binary(max_size=300))
def test_cuts_lose_nothing(octets):
    assert {b"".join(each) for each in cuts(octets)} == {octets}


def test_work_is_counted():
    with work_within(20):
        sorted(range(10))
    with pytest.raises(AssertionError, match="calls"), work_within(20):
        [len("x") for _ in range(50)]


def test_what_the_fuzzer_is_told_is_no_work(monkeypatch):
    monkeypatch.setattr(math.sqrt, "__module__", "atheris.native")
    with work_within(20):
        for number in range(100):
            math.sqrt(number)


def test_what_is_loaded_once_is_no_work_of_an_input():
    loaded: list[int] = []

    def load(octets: bytes) -> None:
        with work_within(10):
            if not loaded or octets == b"always":
                loaded.extend(abs(each) for each in range(50))

    target = FuzzTarget("loading", "it ends", load, lambda: ())
    target.run(b"once")
    with pytest.raises(TooMuchWork, match="limit"):
        target.run(b"always")
