"""Mailings that repeat by the API, for programs with a secret key."""

import pytest

NEW = {"name": "Rent", "text": "Due, {{name}}", "unit": "months", "monthDays": [31]}


@pytest.fixture
async def tenants(bureau, autojump_clock):
    """The id of a list with names."""
    mine = {"organization_id": bureau.organization_id}
    made = await bureau.perform("list.create", name="Tenants", **mine)
    list_id = made["list"]["id"]
    await bureau.perform(
        "list.add", list_id=list_id, number="+22236123456", cells={"name": "Amina"}
    )
    return list_id


async def test_one_is_made_shown_changed_and_ended(bureau, tenants, autojump_clock):
    made = await bureau.ask("/api/repeats/create", {**NEW, "listId": tenants, "time": "10:00"})
    assert (made["state"], made["monthDays"], made["from"]) == ("active", [31], None)
    assert "organizationId" not in made
    named = {"repeatId": made["repeatId"]}
    shown = await bureau.ask("/api/repeats/get", named)
    assert shown["repeat"] == made
    assert shown["timeZone"] == "Africa/Nouakchott"
    assert (len(shown["upcoming"]), shown["past"]) == (10, [])
    assert shown["upcoming"][1]["note"] in (None, "short_month")
    assert (await bureau.ask("/api/repeats/list"))["items"] == [made]
    changed = await bureau.ask("/api/repeats/update", {**named, "time": "09:00", "count": 3})
    assert (changed["time"], changed["count"]) == ("09:00", 3)
    assert len((await bureau.ask("/api/repeats/get", named))["upcoming"]) == 3
    paused = await bureau.ask("/api/repeats/pause", named)
    assert (paused["state"], paused["nextAt"]) == ("paused", None)
    assert (await bureau.ask("/api/repeats/resume", named))["state"] == "active"
    assert (await bureau.ask("/api/repeats/end", named))["reason"] == "hand"
    again = await bureau.ask("/api/repeats/resume", named, status=400)
    assert again["data"]["code"] == "CONFLICT"
    assert (await bureau.ask("/api/repeats/delete", named))["state"] == "ended"
    await bureau.ask("/api/repeats/get", named, status=404)


async def test_what_is_wrong_is_named(bureau, tenants, autojump_clock):
    body = {**NEW, "listId": tenants, "time": "10:00"}
    for wrong, member, code in (
        ({"text": "{{nobody}}"}, "text", "unknown_column"),
        ({"time": "21:00"}, "time", "outside_hours"),
        ({"monthDays": [0]}, "monthDays", "out_of_range"),
        ({"days": ["someday"]}, "days", "unknown_word"),
        ({"until": "2020-01-01"}, "until", "no_run"),
    ):
        assert await bureau.refused("/api/repeats/create", {**body, **wrong}) == [([member], code)]
    await bureau.ask("/api/repeats/create", {**body, "listId": "lst_1"}, status=404)
