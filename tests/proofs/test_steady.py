"""What counts as growth in a service that is under load for long."""

from __future__ import annotations

import pytest
from proofs.life.page import write_rows
from proofs.life.steady import GROWTHS, Sample, judged, slope

HOUR_S = 3600


def samples(name: str, value) -> list[Sample]:
    """One every ten seconds, in which one thing is as told and the others stay."""
    still = dict.fromkeys(GROWTHS, 100.0)
    return [Sample(at, {**still, name: value(at)}) for at in range(0, HOUR_S, 10)]


@pytest.mark.parametrize("name", GROWTHS)
def test_what_grows_by_more_than_is_allowed_is_found(name):
    found = {each.name: each for each in judged(samples(name, lambda at: 100 + at / 60))}
    assert not found[name].is_flat
    assert found[name].rise == pytest.approx(HOUR_S / 60 * 3 / 4, rel=0.01)
    assert all(each.is_flat for other, each in found.items() if other != name)


def test_what_comes_and_goes_does_not_grow():
    found = judged(samples("tasks", lambda at: 100 + 20 * (at // 10 % 2)))
    assert all(each.is_flat for each in found)


def test_more_at_once_on_a_machine_that_got_busy_does_not_grow():
    def at_once(at):
        return at // 10 % 6 * (4 if at > HOUR_S / 2 else 1)

    found = judged(samples("descriptors", lambda at: 70 + at_once(at)))
    assert all(each.is_flat for each in found)


def test_what_fills_at_the_beginning_does_not_grow():
    warm_s = HOUR_S / 4
    found = judged(samples("memory, MiB", lambda at: 50 + 50 * min(1.0, at / warm_s)))
    assert all(each.is_flat for each in found)


def test_one_point_has_no_slope():
    assert slope([(1.0, 5.0)]) == 0.0


def test_each_part_writes_its_own_row_and_leaves_the_others(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- life: begin -->\n<!-- life: end -->\n")
    write_rows({"one": "first"}, page)
    write_rows({"two": "second"}, page)
    write_rows({"one": "third"}, page)
    lines = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[1] for line in lines[2:]] == ["third", "second"]
