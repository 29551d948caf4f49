"""By which door a request came, what cookies follow from it, and where nobody is sent."""

from types import SimpleNamespace

import pytest
from quart_trio.wrappers import TrioResponse
from werkzeug.datastructures import Headers

from risala.config.model import HttpSection, Settings
from risala.engine.model.people import SessionKind
from risala.http.common.client_address import ClientAddresses
from risala.http.web.cookie_policy import (
    CookiePolicy,
    Way,
    cookie_policy_of,
    is_own_form,
    safe_next,
)
from risala.http.web.face import address_of

TRUSTED = ClientAddresses(["10.0.0.2"])
PUBLIC = "https://sms.example.mr"


def request(peer="127.0.0.1", scheme="http", **headers):
    fields = Headers({name.replace("_", "-"): value for name, value in headers.items()})
    scope = {"client": (peer, 1)}
    return SimpleNamespace(scope=scope, scheme=scheme, headers=fields, http_version="1.1")


CONSOLE = "https://console.example.mr"


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({}, PUBLIC),
        ({"console_url": CONSOLE}, CONSOLE),
        ({"console_bind": "0.0.0.0:8081"}, None),
        ({"console_bind": "0.0.0.0:8081", "console_url": CONSOLE}, CONSOLE),
    ],
)
def test_where_forms_of_the_console_come_from(more, found):
    """At an address of its own, its browsers name that address, and not the customers'."""
    settings = Settings(http=HttpSection(public_url=PUBLIC, **more))
    assert address_of(settings, SessionKind.CUSTOMER) == PUBLIC
    assert address_of(settings, SessionKind.OPERATOR) == found
    asked = request(
        peer="192.0.2.7",
        scheme="https",
        origin=found or "https://192.0.2.1:8081",
        sec_fetch_site="same-origin",
    )
    door = cookie_policy_of(asked, TRUSTED, address_of(settings, SessionKind.OPERATOR))
    assert is_own_form(asked, door)


@pytest.mark.parametrize(
    ("asked", "way"),
    [
        (request(host="127.0.0.1:8080"), Way.LOCAL),
        (request(host="localhost"), Way.LOCAL),
        (request(peer="::1", host="[::1]:8080"), Way.LOCAL),
        (request(host="sms.example.mr"), Way.PLAIN),  # a proxy here, or a name bound anew
        (request(host="127.0.0.1", x_forwarded_for="192.0.2.7"), Way.PLAIN),
        (request(host="127.0.0.1", x_forwarded_proto="https"), Way.PLAIN),  # not a proxy of ours
        (request(peer="192.0.2.7", host="127.0.0.1"), Way.PLAIN),
        (request(peer="10.0.0.2", host="sms.example.mr", x_forwarded_proto="https"), Way.HTTPS),
        (request(peer="10.0.0.2", host="sms.example.mr", x_forwarded_proto="http"), Way.PLAIN),
        (request(peer="192.0.2.7", scheme="https", host="sms.example.mr"), Way.HTTPS),
    ],
)
def test_doors(asked, way):
    assert cookie_policy_of(asked, TRUSTED, PUBLIC).way is way


def test_cookies_of_each_door():
    reply = TrioResponse(b"")
    CookiePolicy(Way.HTTPS, PUBLIC).set_cookie(
        reply, CookiePolicy(Way.HTTPS, PUBLIC).session_cookie, "x"
    )
    CookiePolicy(Way.LOCAL, "").set_cookie(reply, CookiePolicy(Way.LOCAL, "").session_cookie, "x")
    safe, local = reply.headers.getlist("set-cookie")
    assert safe.startswith("__Host-risala=x; ")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= {*safe.split("; ")}
    assert "Domain" not in safe
    assert local.startswith("risala=x; ")
    assert {"HttpOnly", "Path=/", "SameSite=Lax"} <= {*local.split("; ")}
    assert "Secure" not in local


@pytest.mark.parametrize(
    ("told", "own"),
    [
        ({}, True),
        ({"origin": PUBLIC}, True),
        ({"origin": "HTTPS://SMS.example.mr"}, True),
        ({"origin": PUBLIC, "sec_fetch_site": "same-origin"}, True),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "http://sms.example.mr"}, False),
        ({"origin": PUBLIC, "sec_fetch_site": "cross-site"}, False),
        ({"origin": PUBLIC, "sec_fetch_site": "same-site"}, False),
        ({"origin": "null"}, False),
        ({"origin": "null", "sec_fetch_site": "same-origin"}, True),
    ],
)
def test_forms_of_our_own(told, own):
    assert is_own_form(request(**told), CookiePolicy(Way.HTTPS, PUBLIC)) is own


def test_without_a_public_address_it_is_the_browsers_word():
    assert not is_own_form(request(origin="https://sms.example.mr"), CookiePolicy(Way.HTTPS, ""))
    told = request(origin="https://sms.example.mr", sec_fetch_site="same-origin")
    assert is_own_form(told, CookiePolicy(Way.HTTPS, ""))


@pytest.mark.parametrize("target", ["/app", "/app/org_1/keys?mode=test", "/app?new"])
def test_where_one_may_be_sent(target):
    assert safe_next(target) == target


@pytest.mark.parametrize(
    "target",
    [
        *("", "/", "//evil.example", "/\\evil.example", "https://evil.example/app", "/apple"),
        *("/app//evil.example/", "/app\\evil", "/app\n", "/app/\t/x", "app", "/sign-in", "/app/é"),
        *("javascript:alert(1)", "/app" + "x" * 600, "/app /x"),
        *(
            "/app/..;x/operator",
            "/app/.;",
            "/app/../operator",
            "/app/./x",
            "/app/%2e%2e/operator",
            "/app/%2f/x",
        ),
    ],
)
def test_where_nobody_is_sent(target):
    assert safe_next(target) is None
