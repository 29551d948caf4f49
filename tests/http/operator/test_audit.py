"""The audit trail in the console: read, filtered, gone through and taken along."""

from __future__ import annotations

import csv
import json
import re

import pytest

from cases import sweep
from risala.engine.journal.audit import heads_file
from risala.engine.rules.trail.chain import ChainEnd
from risala.engine.rules.trail.heads import signed_head


@pytest.fixture
async def told(post):
    """Some things that were done, each by its own hand."""
    whose = {"organization_id": post.organization_id}
    sender = await post.do("sender.request", name="BARAKA", description="Orders", **whose)
    await post.do("sender.clear", sender_id=sender["id"])
    await post.do("org.set", name="=cmd|' /C calc'!A0 <b>", low_balance="5", **whose)
    return sender["id"]


def operations(page):
    return re.findall(r'operation=([a-z_.]+)"><code>', page.text)


async def test_a_line_says_who_did_what_and_what_it_changed(post, told, operator):
    page = await operator.get("/operator/audit")
    assert {"org.create", "sender.request", "sender.clear", "org.set"} <= {*operations(page)}
    assert f'href="/operator/senders/{told}"' in page.text
    shown = re.sub(r"</?bdi[^>]*>", "", page.text)
    assert re.search(r"<code class=\"raw\">cleared</code>\s*no → yes", shown)
    assert "&lt;b&gt;" in page.text
    assert "root" in page.text
    assert "Command line" in page.text


async def test_what_was_only_read_is_shown_when_asked_for(post, told, operator):
    page = await operator.get("/operator/audit")
    page = await operator.get("/operator/audit")
    assert "audit.list" not in operations(page)
    seen = await operator.get("/operator/audit?views=yes")
    assert "audit.list" in operations(seen)
    assert "viewed the audit log." in seen.text
    assert {"org.set", "audit.list"} <= {*operations(seen)}
    named = await operator.get("/operator/audit?operation=audit.list")
    assert {*operations(named)} == {"audit.list"}
    assert (await operator.get("/operator/audit?views=all")).status == 422


async def test_a_line_is_a_sentence_about_things_by_their_names(post, told, operator):
    whose = {"organization_id": post.organization_id}
    await post.do("key.create", name="Boutique en ligne", type="secret", mode="live", **whose)
    await post.do("retention.run")
    page = await operator.get("/operator/audit")
    shown = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page.text))
    assert "root created the key Boutique en ligne." in shown
    assert "root approved the sender name BARAKA." in shown
    assert page.text.count(">Today</th>") == 1


async def test_an_alert_is_told_in_words_and_by_the_clock_of_its_reader(post, operator):
    await post.do("alert.mute", kind="backup_old", minutes=600)
    page = await operator.get("/operator/audit?operation=alert.")
    rows = re.sub(r"<[^>]+>", " ", page.text.partition("<tbody")[2].partition("</tbody")[0])
    assert rows.count("Backup too old") == 2
    assert "backup_old" not in rows
    assert re.search(r"until\s+\d+ \w+ \d{4}, \d\d:\d\d:\d\d", rows.replace("\u00a0", " "))
    assert "Z" not in rows


async def test_the_page_says_how_far_the_trail_was_checked_and_signed(post, told, operator):
    assert "No signed head has gone out yet." in (await operator.get("/operator/audit")).text
    head = signed_head(ChainEnd(3, "0" * 64), "2026-01-01T08:30:00.000Z", bytes(32))
    heads_file.add(post.gateway.services.settings.storage.data_dir, head)
    shown = re.sub(r"</?bdi[^>]*>", "", (await operator.get("/operator/audit")).text)
    assert "Checked and signed up to line 3," in shown


@sweep(
    ("query", "found"),
    [
        ("operation=sender.clear", {"sender.clear"}),
        ("operation=sender.", {"sender.clear", "sender.request"}),
        ("operation=sender.&face=cli", {"sender.clear", "sender.request"}),
        ("operation=sender.&face=dashboard", set()),
        ("who=nobody", set()),
        ("operation=sender.clear&since=2000-01-01&until=2000-01-02", set()),
    ],
)
async def test_the_filters_stand_in_the_address(told, operator, query, found):
    page = await operator.get(f"/operator/audit?{query}")
    assert {*operations(page)} == found
    assert ("No line matches" in page.text) == (not found)
    assert "remove this filter" in page.text


async def test_a_thing_and_an_organization_have_lines_of_their_own(post, told, operator):
    page = await operator.get(f"/operator/audit?thing={told}")
    assert operations(page) == ["sender.clear", "sender.request"]
    page = await operator.get(f"/operator/audit?thing={post.organization_id}")
    assert operations(page)[:2] == ["org.set", "sender.clear"]
    assert "user.create" not in operations(page)


async def test_the_list_goes_on_by_key(post, operator):
    whose = {"organization_id": post.organization_id}
    for number in range(55):
        await post.do("org.set", name=f"Baraka {number}", **whose)
    first = await operator.get("/operator/audit?operation=org.set")
    assert len(operations(first)) == 50
    on = next(each["href"] for tag, each in first.tags if tag == "a" and each.get("rel") == "next")
    second = await operator.get(on)
    assert len(operations(second)) == 5
    back = next(each["href"] for tag, each in second.tags if each.get("rel") == "prev")
    assert operations(await operator.get(back)) == operations(first)
    strange = await operator.get("/operator/audit?before=nonsense")
    assert (strange.status, strange.location) == (422, None)


async def test_all_of_it_is_taken_along_as_a_table(post, told, operator):
    page = await operator.get("/operator/audit/export?operation=org.")
    page = await operator.get(page.location)
    assert "Only what matches:" in page.text
    download_id = page.field("id")
    at = f"/operator/audit/export/file?operation=org.&form=comma&id={download_id}"
    file = await operator.get(at)
    assert file.headers["content-type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(
        r'attachment; filename="audit-\d{4}-\d\d-\d\d\.csv"', file.headers["content-disposition"]
    )
    rows = [*csv.DictReader(file.text.removeprefix("\ufeff").splitlines())]
    assert {each["operation"] for each in rows} >= {"org.set", "org.create"}
    assert all(each["operation"].startswith("org.") for each in rows)
    assert "=cmd" in rows[0]["after"]
    assert not any(value.startswith(("=", "+", "@")) for each in rows for value in each.values())
    page = await operator.get(f"/operator/audit/export?operation=org.&id={download_id}")
    assert "The file is complete" in page.text
    (line, *_) = (await post.do("audit.list", operation="audit.export"))["lines"]
    assert (line["who"], line["after"]) == ("mariem@risala.example", {"operation": "org."})


async def test_all_of_it_is_taken_along_for_programs(told, operator):
    file = await operator.get("/operator/audit/export/file?operation=sender.&form=jsonl")
    assert file.headers["content-type"] == "application/x-ndjson"
    assert file.headers["content-disposition"].endswith('.jsonl"')
    lines = [json.loads(each) for each in file.text.splitlines()]
    assert [each["operation"] for each in lines] == ["sender.clear", "sender.request"]
    assert lines[0]["after"]["cleared"] is True


async def test_of_nothing_there_is_a_file_too(operator):
    file = await operator.get("/operator/audit/export/file?who=nobody&form=semicolon")
    assert file.text.removeprefix("\ufeff").startswith('"seq";"at"')
    assert file.text.count("\n") == 1
