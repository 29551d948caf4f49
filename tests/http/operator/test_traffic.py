"""What went over a carrier's link: questions with their answers, filtered, folded and in pages."""

from __future__ import annotations

import re
from itertools import count

import pytest

from risala.engine.model.records.carriers import routes
from risala.engine.model.records.carriers.routes import Traffic, TrafficLine
from risala.http.operator.carriers.traffic import exchanges_of, folded
from web_people import AT_MS

PAGE = "/operator/carriers/fake/traffic"


def lines_of(*texts):
    """Lines a tenth of a second apart; those that begin with a ``<`` came from the carrier."""
    numbers = count(1)
    return tuple(
        TrafficLine(number, AT_MS + number * 100, not text.startswith("<"), text.lstrip("<"), 0)
        for number, text in zip(numbers, texts, strict=False)
    )


ALIVE = tuple(
    text
    for number in range(20, 38)
    for text in (f"enquire_link #{number}", f"<enquire_link_resp #{number} ESME_ROK")
)
SOME = (
    "submit_sm #1 destination_addr=…1234 (12 octets)",
    "submit_sm #2 destination_addr=…5678 (12 octets)",
    "<submit_sm_resp #2 ESME_RTHROTTLED",
    "<submit_sm_resp #1 ESME_ROK message_id=abc",
    "<deliver_sm #1 source_addr=…1234 (90 octets)",
    "deliver_sm_resp #1 ESME_ROK",
    *ALIVE,
    "<submit_sm_resp #9 ESME_ROK message_id=late",
)


def test_an_answer_stands_beside_its_question():
    shown = exchanges_of(lines_of(*SOME))
    first, second, receipt = shown[:3]
    assert (first.answer, first.took_ms) == ("ESME_ROK message_id=abc", 300)
    assert (second.answer, second.took_ms) == ("ESME_RTHROTTLED", 100)
    assert (receipt.kind, receipt.sent, receipt.took_ms) == ("deliver", False, 100)
    assert [each.kind for each in shown[:2]] == ["submit", "submit"]
    assert (shown[-1].text, shown[-1].answer) == (
        "submit_sm_resp #9 ESME_ROK message_id=late",
        None,
    )


def test_the_same_number_the_other_way_is_another_question():
    ours, theirs = exchanges_of(lines_of("enquire_link #3", "<enquire_link #3"))
    assert (ours.answer, theirs.answer) == (None, None)
    ours, theirs = exchanges_of(
        lines_of("enquire_link #3", "<enquire_link #3", "enquire_link_resp #3 ESME_ROK")
    )
    assert (ours.answer, theirs.answer) == (None, "ESME_ROK")


def test_questions_whether_the_peer_is_there_are_one_row():
    rows = folded(exchanges_of(lines_of(*SOME))[::-1])
    assert [each.count for each in rows] == [1, 18, 1, 1, 1]
    assert rows[1].first_at == AT_MS + 700
    theirs = ("<enquire_link #1", "enquire_link_resp #1 ESME_ROK")
    (mixed,) = folded(exchanges_of(lines_of(*ALIVE[:2], *theirs, *ALIVE[2:]))[::-1])
    assert (mixed.count, mixed.is_mixed, rows[1].is_mixed) == (19, True, False)
    unanswered = folded(exchanges_of(lines_of(*ALIVE, "enquire_link #99"))[::-1])
    assert [each.count for each in unanswered] == [1, 18], "one that nobody answered stands alone"


@pytest.fixture
def shown(post, operator, monkeypatch):
    answer = post.gateway.ask

    async def get(lines, query=""):
        async def ask(asked, arguments, caller):
            found = await answer(asked, arguments, caller)
            return found._replace(value=Traffic(lines)) if asked == routes.TRAFFIC else found

        monkeypatch.setattr(post.gateway, "ask", ask)
        return await operator.get(f"{PAGE}{query}")

    return get


def rows(page):
    return re.findall(r'<tr role="row">\s*<td.*?</tr>', page.text, re.DOTALL)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 5),
        ("?digits=1234", 2),
        ("?digits=36121234", 2),
        ("?digits=34", 2),
        ("?digits=12", 0),
        ("?digits=5678&kind=submit", 1),
        ("?kind=deliver", 1),
        ("?kind=link", 18),
        ("?kind=other", 0),
    ],
)
async def test_it_is_filtered_by_digits_and_kind(shown, query, found):
    page = await shown(lines_of(*SOME), query)
    assert len(rows(page)) == found
    assert ("Nothing here matches" in page.text) == (not found)


async def test_a_hundred_rows_are_a_page(shown):
    lines = lines_of(*(f"AT+X{number}" for number in range(250)))
    page = await shown(lines)
    assert len(rows(page)) == 100
    assert 'hx-sse:connect="/operator/carriers/fake/traffic/live"' in page.text
    assert f"{PAGE}?before=151" in page.text
    page = await shown(lines, "?before=151")
    assert (len(rows(page)), "hx-sse" in page.text) == (100, False)
    assert f'href="{PAGE}"' in page.text
    assert len(rows(await shown(lines, "?before=51"))) == 50
    assert (await shown(lines, "?before=x")).status == 422
    assert (await shown(lines, "?kind=x")).status == 422
