"""A machine for the first run: a carrier's simulator, and answers that may be wrong."""

from collections.abc import Sequence

import pytest

from risala.http.first_run.answers import Answers, Wrong
from risala.http.first_run.questions import FirstRunStep

AGGREGATORS = (("infobip", "Infobip"), ("mikrotik", "MikroTik"), ("twilio", "Twilio"))
NEEDED = {
    "infobip": ("url", "token"),
    "mikrotik": ("url", "user", "password", "values.port"),
    "twilio": ("user", "password", "secret_address"),
}


class ScriptedTrials:
    """Trials whose outcomes are given beforehand."""

    def __init__(self) -> None:
        self.wrong: dict[str, list[Wrong]] = {}
        """For each step, what its next tries find; then they find nothing."""
        self.tried: list[str] = []
        self.found: Sequence[tuple[str, str]] = ()

    async def choices(self, question: str) -> Sequence[tuple[str, str]]:
        return self.found if question == "modem_port" else AGGREGATORS

    def needs(self, preset: str) -> Sequence[str]:
        return NEEDED.get(preset, ())

    async def attempt(self, step: FirstRunStep, answers: Answers, standing: Answers) -> None:
        self.tried.append(step.name)
        if self.wrong.get(step.name):
            raise self.wrong[step.name].pop(0)


@pytest.fixture
def trials():
    return ScriptedTrials()


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    for name in ("RISALA_DATA", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "Africa/Nouakchott")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
