"""Routes of an app: none is compiled for an address that nobody asks for."""

from __future__ import annotations

from quart.routing import QuartRule

from risala.http.common.base import JsonApp


async def page():
    raise AssertionError


def test_an_address_is_compiled_when_it_is_asked_for(monkeypatch):
    compiled = []
    really = QuartRule._get_func_code

    def counted(code, name):
        compiled.append(name)
        return really(code, name)

    monkeypatch.setattr(QuartRule, "_get_func_code", staticmethod(counted))
    app = JsonApp("a", body_bytes_max=1000, body_timeout_s=1)
    app.route_to("/a/<name>", page)
    addresses = app.url_map.bind("sms.example")
    assert addresses.match("/a/b", method="POST") == ("/a/<name>", {"name": "b"})
    assert compiled == []
    assert addresses.build("/a/<name>", {"name": "c", "more": "1"}, method="POST") == "/a/c?more=1"
    assert len(compiled) == 1
