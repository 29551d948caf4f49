"""The settings of a standby: what goes together, and what is refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from risala.config.outward import StandbySection

HERE = Path("/mnt/standby")


def test_a_file_of_before_goes_on_as_it_is():
    assert StandbySection().copy_kind is None
    assert StandbySection().lease_kind is None
    old = StandbySection(directory=HERE / "shipped", lease_directory=HERE / "lease")
    assert (old.copy_kind, old.lease_kind) == ("directory", "directory")
    assert StandbySection(directory=HERE).lease_kind is None


def test_the_lease_alone_can_be_in_postgresql():
    mixed = StandbySection(copy="directory", directory=HERE, lease="postgresql")
    assert (mixed.copy_kind, mixed.lease_kind) == ("directory", "postgresql")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"copy": "directory"}, "set directory too"),
        ({"lease": "directory"}, "set lease_directory too"),
        ({"copy": "postgresql"}, 'set lease = "postgresql" too'),
        ({"copy": "postgresql", "lease_directory": HERE}, 'set lease = "postgresql" too'),
        ({"replicate": "before_answer"}, 'needs copy = "postgresql"'),
        ({"postgresql": {"url": "postgresql://user:secret@db/x"}}, "url"),
    ],
)
def test_what_does_not_go_together_is_refused(given, told):
    with pytest.raises(ValidationError) as refused:
        StandbySection(**given)
    assert told in str(refused.value)
    assert "secret" not in str(refused.value)
