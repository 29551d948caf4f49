"""A send is spoilt at each point of its dialogue, in each way: what becomes of the message.

Eight modems at once: one for each point under each policy, each with prefixes of its own. Under
``fail`` status reports come, and settle what they can; under ``resend`` none does, so that only the
policy is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest

from patience import HANG_S

pytestmark = [pytest.mark.slow, pytest.mark.long]

POINTS = (
    "before the prompt",
    "after the prompt",
    "after Ctrl-Z, before +CMGS",
    "after +CMGS, before OK",
)
AGAIN = "No answer came, so it is sent again and may arrive twice."


@dataclass(frozen=True)
class End:
    status: str
    copies: int
    """At the phone."""
    again: bool = False
    """The policy sent it a second time, and the timeline says so."""


DELIVERED, FAILED, SENT = End("delivered", 1), End("failed", 0), End("sent", 1)
FAILED_AND_THERE = End("failed", 1)
"""What ``fail`` means: rather that than two of them."""
SENT_AGAIN, TWICE = End("sent", 1, again=True), End("sent", 2, again=True)

MENDED = {
    "fail": dict(zip(POINTS, (DELIVERED, FAILED, DELIVERED, DELIVERED), strict=True)),
    "resend": dict(zip(POINTS, (SENT, SENT_AGAIN, TWICE, SENT), strict=True)),
}
"""The service lives: it knows that before a prompt nothing left, and what +CMGS says."""
KILLED = {
    "fail": dict(zip(POINTS, (FAILED, FAILED, *[FAILED_AND_THERE] * 2), strict=True)),
    "resend": dict(zip(POINTS, (SENT_AGAIN, SENT_AGAIN, TWICE, TWICE), strict=True)),
}
"""The next process knows only that an attempt had begun."""
KILLED_AND_TOLD = {
    "fail": dict(zip(POINTS, (FAILED, FAILED, DELIVERED, DELIVERED), strict=True)),
    "resend": KILLED["resend"],
}
"""But for what a status report proves: it was the one submit to its recipient without an answer."""


class Scene:
    """A service, its modems, and a message to each of them."""

    def __init__(
        self, station, running, *, wait_s: float, report_after_s: float | None, **modem: float
    ) -> None:
        """``wait_s``: from an uncertain send to the policy. Without a time no reports come."""
        self.lines = {
            (action, point): station.modem(
                f"sim-{number}",
                report_status="delivered" if report_after_s and action == "fail" else "none",
                report_after_s=report_after_s or 0,
            )
            for number, (action, point) in enumerate(product(("fail", "resend"), POINTS))
        }
        carriers = {
            line.name: {
                "prefixes": f'["{_number(number)}"]',
                "on_uncertain_message": f'{{action = "{action}", after_s = {wait_s}}}',
            }
            for number, ((action, _), line) in enumerate(self.lines.items())
        }
        self.service = running(*self.lines.values(), carriers=carriers, **modem)
        self.account = self.service.organization()
        self.sent: dict[tuple[str, str], str] = {}

    def send_and_spoil(self, spoil, points) -> None:
        for number, ((action, point), line) in enumerate(self.lines.items()):
            line.arm(points(point), spoil)
            answer = self.service.send(self.account, to=_number(number), body=point)
            self.sent[action, point] = answer.json()["messageId"]
        for line in self.lines.values():
            line.wait_reached()

    def assert_ends(self, ends: dict[str, dict[str, End]]) -> None:
        """Each as it is said; the money agrees, and the next message goes."""
        expected = {(action, point): ends[action][point] for action, point in self.lines}
        for key, end in expected.items():
            self.service.wait_status(self.account, self.sent[key], end.status)
        assert {key: self._end(key) for key in self.lines} == expected
        failed = {self.sent[key] for key, end in expected.items() if end.status == "failed"}
        refunds = self.service.rows("SELECT reference FROM ledger WHERE kind = 'refund'")
        assert {reference for (reference,) in refunds} == failed
        assert len(refunds) == len(failed)
        for number, line in enumerate(self.lines.values()):
            line.configure(report_status="delivered", report_after_s=0)
            answer = self.service.send(self.account, to=_number(number), body="and now")
            self.service.wait_status(self.account, answer.json()["messageId"], "delivered")
            assert line.texts()["and now"] == 1
        self.service.assert_books_agree()
        self.service.assert_no_bug_logged()

    def _end(self, key: tuple[str, str]) -> End:
        return End(
            self.service.show(self.account, self.sent[key])["status"],
            self.lines[key].texts()[key[1]],
            AGAIN in self.service.timeline(self.sent[key]),
        )


def _number(number: int) -> str:
    return f"+222360{number}1234"


@pytest.mark.parametrize(
    ("spoil", "wait_s", "report_after_s"),
    [
        ("hang", 4, 0.1),
        ("garbage", 4, 0.1),
        # One that comes before the replugged modem is set up again goes nowhere, as in life.
        ("vanish", 9, 5),
    ],
)
def test_the_modem_goes_wrong(station, running, points, spoils, spoil, wait_s, report_after_s):
    scene = Scene(station, running, wait_s=wait_s, report_after_s=report_after_s)
    scene.send_and_spoil(spoils(spoil), points)
    scene.assert_ends(MENDED)


@pytest.mark.parametrize(
    ("wait_s", "report_after_s", "ends"),
    # A report that comes before the next process has set its modem up goes nowhere, as in life: a
    # slow machine starts eight of them in less than twenty seconds.
    [(2, None, KILLED), (30, 20, KILLED_AND_TOLD)],
)
def test_the_service_is_killed(station, running, points, spoils, wait_s, report_after_s, ends):
    # It is killed while it waits for each of them, however long it takes to send the last one.
    patient = {"prompt_timeout_s": HANG_S, "send_timeout_s": HANG_S}
    scene = Scene(station, running, wait_s=wait_s, report_after_s=report_after_s, **patient)
    scene.send_and_spoil(spoils.STALL, points)
    scene.service.kill()
    for line in scene.lines.values():
        line.do(line.wire.resume)
    scene.service.restart()
    scene.assert_ends(ends)
