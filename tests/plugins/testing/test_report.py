"""The report of a conformance run is read by people who have not the source."""

from __future__ import annotations

import pytest

from risala.plugins.testing.conformance import DriverConformance
from risala.plugins.testing.mailers import MailerConformance
from risala.plugins.testing.report import plain
from risala.plugins.testing.suite import checks_of


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("It ends within :attr:`leave_s`.", "It ends within `leave_s`."),
        ("See :class:`~risala.plugins.contract.Posting`.", "See `Posting`."),
        ("``run`` ends.", "`run` ends."),
    ],
)
def test_names_stand_without_their_roles(sentence, told):
    assert plain(sentence) == told


@pytest.mark.parametrize("suite", [DriverConformance, MailerConformance])
def test_no_check_is_told_with_a_role(suite):
    told = [plain(sentence) for _, sentence, _ in checks_of(suite)]
    assert told
    assert [each for each in told if ":`" in each or "``" in each] == []
