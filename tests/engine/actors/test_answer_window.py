"""A caller's wait for the log."""

import pytest
import trio

from risala.engine.actors.answer_window import AnswerWindow


class Log:
    """Is late after ``until_s``, and says so to the last digit of the clock."""

    answer_wait_s = 5.0
    waits = True
    is_late = refuses = False

    def __init__(self, until_s: float) -> None:
        self._until_s = until_s
        self._looks = 0

    @property
    def late_in_s(self) -> float:
        self._looks += 1
        assert self._looks < 10, "it looks again and again, and no time passes"
        left_s = self._until_s - trio.current_time()
        return 1e-18 if left_s == 0 else left_s


async def test_a_moment_too_near_for_the_clock_passes(mock_clock):
    window = AnswerWindow()
    mock_clock.autojump_threshold = 0
    async with trio.open_nursery() as nursery:
        await nursery.start(window.run)
        window.log = Log(trio.current_time() + Log.answer_wait_s)
        with pytest.raises(TimeoutError):
            await window.within(trio.sleep_forever, TimeoutError)
        nursery.cancel_scope.cancel()
