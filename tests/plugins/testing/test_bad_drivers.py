"""The suite that we ship to plugin authors finds what is wrong, and says so in a sentence."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from made_once import made_once
from patience import HANG_S
from risala.plugins.testing.apart import ApartRun, BlockedLoopError

HERE = Path(__file__).parent
BAD = [
    HERE / f"{name}.py" for name in ("bad_drivers", "bad_called", "bad_others", "planted_drivers")
]
TUTORIAL = HERE.parents[2] / "docs" / "tutorials" / "write-a-driver.md"


def load(path):
    sys.path.insert(0, str(HERE))
    try:
        spec = importlib.util.spec_from_file_location(f"{path.stem}_listed", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(HERE))
        sys.modules.pop("sound_driver", None)
    return module


EXPECTED = {
    (path.stem, suite): told for path in BAD[:-1] for suite, told in load(path).EXPECTED.items()
}
PLANTED = load(BAD[-1]).PLANTED
SOUND = [
    ("bad_drivers", "TestSound"),
    ("bad_drivers", "TestPosted"),
    ("bad_drivers", "TestWhole"),
    ("bad_drivers", "TestPlainTexts"),
    ("bad_called", "TestCalled"),
    ("bad_called", "TestByToken"),
    ("bad_called", "TestStreams"),
    ("bad_called", "TestBySecretAddress"),
    ("bad_drivers", "TestParts"),
    ("bad_drivers", "TestSharing"),
    ("bad_drivers", "TestKnowsIds"),
    ("bad_drivers", "TestFetched"),
    ("bad_others", "TestSoundMailer"),
    ("bad_others", "TestSoundSink"),
    ("bad_others", "TestSoundCard"),
]

UNSEEN = {"TestByToken": {"test_a_changed_body_is_refused", "test_an_old_call_is_refused"}}
"""A token in a header says nothing of time and body."""


def _untraced():
    """Without the tool that counts branches: it holds on to the runs that are left behind."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The report on all of them: pytest runs them as an author would, without our settings."""
    folder = made_once(tmp_path_factory, "bad-plugins", _report)
    suites = {}
    for path in BAD:
        told = json.loads((folder / f"{path.stem}.json").read_text(encoding="utf-8"))["suites"]
        suites |= {(path.stem, one["suite"]): one for one in told}
    return suites


def _report(folder):
    """All files at once: their time is that of drivers that stand still."""
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    begun = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
                *("-c", str(folder / "pytest.ini"), "--import-mode=importlib", "-W", "ignore"),
                "--noconftest",
                *("--rootdir", str(folder), "--risala-report", str(folder / f"{path.stem}.json")),
                str(path),
            ],
            env={**_untraced(), "PYTHONPATH": str(HERE)},
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for path in BAD
    ]
    try:
        for each in begun:
            each.wait(HANG_S * 5)
    finally:
        for each in begun:
            each.kill()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("suite", EXPECTED, ids="-".join)
def test_a_bad_plugin_fails_the_check_that_it_should_and_no_other(found, suite):
    check, sentence = EXPECTED[suite]
    failed = [one for one in found[suite]["checks"] if one["result"] == "failed"]
    assert [one["check"] for one in failed] == [check], failed
    assert sentence in failed[0]["text"]
    assert failed[0]["contract"].startswith("docs/reference/")
    assert not found[suite]["passes"]


def test_the_tutorial_says_how_many_are_caught():
    missed = [mistake for mistake, check in PLANTED.values() if check is None]
    assert len(PLANTED) == 20
    assert missed == [
        "Two submits at once get each other's ids, so that receipts are about the other message."
    ]
    text = " ".join(TUTORIAL.read_text("utf-8").split())
    assert "Of twenty mistakes that authors make, the suite catches nineteen." in text


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("suite", PLANTED)
def test_a_planted_mistake_is_caught_by_the_check_that_is_named(found, suite):
    _, check = PLANTED[suite]
    results = found["planted_drivers", suite]
    failed = [one["check"] for one in results["checks"] if one["result"] == "failed"]
    assert failed == ([check] if check else [])
    assert results["passes"] == (check is None)


@pytest.mark.slow
@pytest.mark.long
def test_a_suite_that_allows_longer_steps_says_so(found):
    told = {one["check"]: one for one in found["bad_drivers", "TestSlow"]["checks"]}
    loop = told["test_lets_the_loop_run"]
    assert loop["result"] == "not shown"
    assert "a step may take 1 s" in loop["text"]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("suite", SOUND, ids="-".join)
def test_a_sound_plugin_passes_every_check(found, suite):
    results = {one["check"]: one["result"] for one in found[suite]["checks"]}
    shown = {check for check, result in results.items() if result != "not shown"}
    assert {*results} - shown == UNSEEN.get(suite[1], set())
    assert {results[check] for check in shown} <= {"passed", "does not apply"}
    assert found[suite]["passes"]
    assert len(results) >= 12


class _CutDown:
    """The token of a run that closed its wake-up socket a moment ago."""

    def run_sync_soon(self, wake):
        raise OSError(errno.EBADF, "Bad file descriptor")


@pytest.mark.slow
def test_a_run_that_ends_as_it_is_left_is_no_error():
    run = ApartRun(clock=None, blocked_s=0.1, whole_s=60)

    async def block():
        run._token = _CutDown()
        time.sleep(1)  # noqa: ASYNC251 -- what is shown

    with pytest.raises(BlockedLoopError):
        run.run(block)
