"""Charts that the server draws."""

import re
import xml.etree.ElementTree as ET

import pytest

from risala.http.web.charts import (
    Bar,
    bars_svg,
    curves_svg,
    funnel_svg,
    spark_svg,
    strip_svg,
    times_svg,
    top_of,
)


@pytest.mark.parametrize(
    ("most", "top"),
    [(0, 3), (3, 3), (4, 6), (9, 15), (256, 300), (300, 300), (301, 600)],
)
def test_the_scale_ends_at_a_round_number(most, top):
    assert top_of([Bar((int(most),))]) == top


def test_bars():
    svg = bars_svg([Bar((0, 0, 0, 0)), Bar((150, 0, 1, 149))], 'a "label" <b>')
    root = ET.fromstring(svg)
    bars = root.findall("rect")
    assert root.get("aria-label") == 'a "label" <b>'
    assert [bar.get("class") for bar in bars] == ["f1", "f3", "f4"]
    assert all(float(bar.get("height")) > 0 for bar in bars)
    assert min(float(bar.get("y")) for bar in bars) >= -1
    assert not re.search("style|script|on[a-z]+=", svg)


def test_a_line_of_values_that_are_all_the_same():
    assert "nan" not in spark_svg([5, 5, 5])
    assert spark_svg([5]) == ""


def test_a_funnel_is_as_wide_as_what_is_left_and_in_the_middle():
    svg = funnel_svg([400, 200, 100, 0], 'a "label" <b>')
    root = ET.fromstring(svg)
    bars = root.findall("rect")
    assert root.get("aria-label") == 'a "label" <b>'
    assert [float(bar.get("width")) for bar in bars] == [100, 50, 25, 0]
    middles = [float(bar.get("x")) + float(bar.get("width")) / 2 for bar in bars]
    assert middles == [50] * 4
    assert len(root.findall("path")) == 3
    assert root.get("viewBox") == "0 0 100 112"
    assert not re.search("style|script|on[a-z]+=", svg)


def test_a_funnel_of_nothing_and_of_a_few_among_many():
    assert "nan" not in funnel_svg([0, 0], "none")
    widths = [float(each.get("width")) for each in ET.fromstring(funnel_svg([9999, 1], "x"))[::2]]
    assert widths[1] > 0.5


def test_a_strip_shows_how_each_day_went_whatever_its_number():
    svg = strip_svg([Bar((0, 0, 0, 0)), Bar((999, 0, 0, 1)), Bar((5, 0, 0, 0))], "<30> days")
    root = ET.fromstring(svg)
    assert root.get("aria-label") == "<30> days"
    empty, well, bad, good = root
    assert [each.get("class") for each in root] == ["f0", "f1", "f4", "f1"]
    assert float(bad.get("height")) > 10, "one failure among a thousand is seen"
    assert float(well.get("height")) + float(bad.get("height")) == pytest.approx(100, abs=0.1)
    assert (float(good.get("height")), float(empty.get("height"))) == (100, 8)


def test_curves_have_one_scale():
    root = ET.fromstring(curves_svg([(0, 100, 300), (), (None, 0, 150)], "a run"))
    lines = [each for each in root if each.get("class") != "grid-line"]
    assert [each.get("d") for each in lines] == [
        "M0 100 50 66.7 100 0",
        "M50 100 100 50",
    ]
    assert [each.get("class") for each in lines] == ["l1", "l3"]


def test_a_strip_of_time_shares_its_scale():
    ground, most, half = ET.fromstring(times_svg(2000, 5000, 10_000))
    assert [each.get("width") for each in (ground, most, half)] == ["100", "50", "20"]
    assert [each.get("class") for each in (ground, most, half)] == ["f0", "f2", "f1"]
