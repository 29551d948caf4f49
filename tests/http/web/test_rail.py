"""The rail: the list of the face, and the entries that pages bring."""

from __future__ import annotations

from dataclasses import replace

import pytest

from risala.http.dashboard.app import FACE, ROUTES
from risala.http.web.face import NavGroup, NavItem
from risala.http.web.routes import with_entries

GROUPS = (NavGroup("Send", (NavItem("messages", "messages", "Messages"),)), NavGroup(None, ()))


def route(slug: str, after: str):
    return replace(ROUTES[0], entry=NavItem(slug, "texts", slug, after=after))


def test_an_entry_stands_right_after_the_one_that_it_names():
    routes = [route("lists", "messages"), route("texts", "lists"), route("mailings", "messages")]
    first, second = with_entries(GROUPS, [*routes, replace(ROUTES[0], entry=None)])
    assert [item.slug for item in first.items] == ["messages", "mailings", "lists", "texts"]
    assert (first.title, second) == ("Send", GROUPS[1])


def test_an_entry_after_nothing_is_a_mistake():
    with pytest.raises(LookupError, match="no 'nothing', after which 'lists' stands"):
        with_entries(GROUPS, [route("lists", "nothing")])


def test_every_entry_leads_to_a_page_and_has_a_key_of_its_own():
    items = [item for group in FACE.navigation for item in group.items]
    keys = [item.key for item in items]
    assert len({*keys}) == len(keys)
    paths = {route.path for route in ROUTES}
    assert all(f"/app/<org>/{item.slug}" in paths for item in items)
