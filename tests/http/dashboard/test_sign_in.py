"""Coming in and going out."""

import pytest

from risala.engine.model.errors import Forbidden, RateLimited, Unavailable
from risala.engine.model.people import SessionKind
from risala.http.web.forms import (
    UNSENT_AGE_MAX_MS,
    UNSENT_CHARACTERS_MAX,
    UNSENT_MAX,
    SentForm,
    UnsentForms,
)
from web_people import CODE


async def asked(reader, email="aicha@baraka.example", path="/sign-in"):
    """The page that wants the code."""
    page = await reader.submit(await reader.get(path), "/sign-in", {"email": email})
    assert page.status == 303
    return await reader.get(page.location)


async def test_a_code_signs_in_with_a_session_of_its_own(stranger, gateway):
    page = await asked(stranger)
    before = dict(stranger.cookies)
    assert "aicha@baraka.example" in page.text
    assert 'autocomplete="one-time-code"' in page.text
    page = await stranger.submit(page, "/sign-in", {"code": CODE})
    assert (page.status, page.location) == (303, "/app")
    assert "risala-door" not in stranger.cookies
    assert stranger.cookies["risala"] not in before.values()
    assert gateway.people.sessions.find(stranger.cookies["risala"], SessionKind.CUSTOMER)
    set_cookies = page.headers.getlist("set-cookie")
    assert all("HttpOnly" in each and "SameSite=Lax" in each for each in set_cookies)


async def test_a_session_that_somebody_planted_is_not_taken_over(stranger, gateway):
    stranger.cookies["risala"] = "planted"
    page = await asked(stranger)
    await stranger.submit(page, "/sign-in", {"code": CODE})
    assert stranger.cookies["risala"] != "planted"
    assert "planted" not in gateway.people.web_sessions


async def test_a_code_belongs_to_the_browser_that_asked(stranger, app):
    await asked(stranger)
    other = type(stranger)(app)
    page = await other.get("/sign-in")
    assert 'name="email"' in page.text
    page = await other.submit(page, "/sign-in", {"code": CODE})
    assert page.status == 422
    assert "no longer works" in page.text


async def test_known_and_unknown_addresses_are_answered_alike(stranger, app):
    texts = set()
    for email in ("aicha@baraka.example", "nobody@baraka.example"):
        reader = type(stranger)(app)
        page = await asked(reader, email)
        hidden = [page.field("form_token"), email]
        text = page.text
        for each in hidden:
            text = text.replace(each, "")
        texts.add(text.partition("<main")[2].partition("</main>")[0].partition("form_token")[0])
    assert len(texts) == 1


async def test_wrong_codes_say_how_many_tries_are_left(stranger):
    page = await asked(stranger)
    page = await stranger.submit(page, "/sign-in", {"code": "000000"})
    assert page.status == 422
    assert "4 tries are left" in page.text
    assert page.text.count("<title>Error:") == 1
    for _ in range(4):
        page = await stranger.submit(page, "/sign-in", {"code": "000000"})
    assert "Ask for a new one" in page.text
    assert 'name="email"' in page.text


async def test_what_is_no_address_is_told_at_the_field(stranger):
    page = await stranger.submit(await stranger.get("/sign-in"), "/sign-in", {"email": "<b>aicha"})
    assert page.status == 422
    assert 'aria-describedby="email-fault" aria-invalid="true"' in page.text
    assert 'value="&lt;b&gt;aicha"' in page.text


async def test_a_limit_says_when_again(stranger, gateway):
    gateway.people.refuse = RateLimited("address", 1800, "Too many.")
    page = await stranger.submit(await stranger.get("/sign-in"), "/sign-in", {"email": "a@b.c"})
    assert page.status == 422
    assert "Try again in 30 minutes" in page.text


async def test_a_service_that_cannot_store_says_so(stranger, gateway):
    gateway.people.refuse = Unavailable("No.")
    page = await stranger.submit(await stranger.get("/sign-in"), "/sign-in", {"email": "a@b.c"})
    assert page.status == 503
    assert "Accepted messages are kept" in page.text
    assert page.headers["retry-after"] == "1"


async def test_where_sign_up_is_closed(stranger, gateway, monkeypatch):
    async def finish(*_):
        raise Forbidden("No.")

    page = await asked(stranger)
    monkeypatch.setattr(gateway.people, "finish", finish)
    page = await stranger.submit(page, "/sign-in", {"code": CODE})
    assert "No new accounts can be created here" in page.text


async def test_after_signing_in_one_is_where_one_wanted_to_be(stranger):
    page = await stranger.get("/app/org_1/keys?mode=test")
    page = await stranger.get(page.location)
    page = await stranger.submit(
        page, "/sign-in", {"email": "a@b.example", "next": page.field("next")}
    )
    page = await stranger.get(page.location)
    page = await stranger.submit(page, "/sign-in", {"code": CODE, "next": page.field("next")})
    assert page.location == "/app/org_1/keys?mode=test"


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example"])
async def test_nobody_is_sent_elsewhere(stranger, target):
    page = await stranger.get(f"/sign-in?next={target}")
    assert "evil" not in page.text.partition("<main")[2].partition("</main>")[0]
    page = await stranger.submit(page, "/sign-in", {"email": "a@b.example", "next": target})
    assert page.location == "/sign-in"
    page = await stranger.get("/sign-in")
    page = await stranger.submit(page, "/sign-in", {"code": CODE, "next": target})
    assert page.location == "/app"


async def test_signing_out_ends_the_session(owner, gateway):
    token = owner.cookies["risala"]
    page = await owner.submit(await owner.get("/app/org_1/keys"), "/sign-out")
    assert page.location == "/sign-in"
    assert "risala" not in owner.cookies
    assert token not in gateway.people.web_sessions
    page = await owner.get("/sign-in")
    assert "You are signed out." in page.text
    assert "You are signed out." not in (await owner.get("/sign-in")).text


async def test_a_link_is_used_by_its_button_alone(stranger, gateway):
    gateway.people.links["L1"] = SessionKind.CUSTOMER
    page = await stranger.get("/sign-in/link/L1")
    assert page.headers["referrer-policy"] == "no-referrer"
    assert gateway.people.links
    page = await stranger.submit(page, "/sign-in/link/L1")
    assert page.location == "/app"
    assert stranger.cookies["risala"] in gateway.people.web_sessions
    page = await stranger.get("/sign-in/link/L1")
    assert page.status == 404
    assert "no longer works" in page.text


async def test_a_change_of_role_renews_the_cookie(owner, gateway):
    from dataclasses import replace

    old = owner.cookies["risala"]
    session = gateway.people.web_sessions[old]
    gateway.people.web_sessions[old] = replace(session, stale=True)
    page = await owner.get("/app/org_1/keys")
    assert page.status == 200
    assert owner.cookies["risala"] != old
    assert (await owner.submit(page, "/app/org_1/keys/key_1/disable")).status == 303


async def test_language_and_colours_are_kept(stranger):
    page = await stranger.get("/sign-in")
    page = await stranger.submit(page, "/language", {"language": "ar", "next": "/sign-in"})
    assert page.location == "/sign-in"
    page = await stranger.get("/sign-in")
    assert '<html lang="ar" dir="rtl"' in page.text
    assert "إرسال رمز إلي" in page.text
    await stranger.submit(page, "/theme", {"theme": "dark", "next": "//evil.example"}, drawn=False)
    assert 'id="dark" media="screen"' in (await stranger.get("/sign-in")).text
    await stranger.submit(page, "/theme", {"theme": "<b>"}, drawn=False)
    assert 'id="dark" media="screen"' in (await stranger.get("/sign-in")).text


async def test_a_readers_choice_is_that_of_their_mails_too(owner, gateway):
    page = await owner.get("/app/org_1/keys")
    await owner.submit(page, "/language", {"language": "fr", "next": "/app/org_1/keys"})
    assert ("account.set", {"language": "fr"}) in gateway.done


async def test_plain_http_from_elsewhere_sets_no_cookie(stranger):
    page = await stranger.get("/sign-in", x_forwarded_for="192.0.2.7")
    assert page.status == 403
    assert page.cookies == {}
    assert "strict-transport-security" not in page.headers
    assert "These pages need https" in page.text
    assert "<form" not in page.text


async def test_over_https_a_cookie_is_bound_to_its_host(stranger):
    stranger.scheme = "https"
    stranger.headers["host"] = "sms.example.mr"
    page = await asked(stranger)
    assert page.headers["strict-transport-security"] == "max-age=31536000"
    assert "__Host-risala-door" in stranger.cookies
    stranger.headers |= {"origin": "https://sms.example.mr", "sec-fetch-site": "same-origin"}
    page = await stranger.submit(page, "/sign-in", {"code": CODE})
    assert {"__Host-risala"} == {*stranger.cookies}
    for each in page.headers.getlist("set-cookie"):
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= {*each.split("; ")}
        assert "Domain" not in each


async def test_the_typed_address_of_signing_out_asks_first(owner, stranger, gateway):
    page = await owner.get("/sign-out")
    assert "Sign out?" in page.text
    assert gateway.people.web_sessions
    assert (await owner.submit(page, "/sign-out")).location == "/sign-in"
    assert (await stranger.get("/sign-out")).location == "/sign-in"


async def test_an_address_that_is_no_text_is_refused(stranger):
    assert (await stranger.get("/sign-in?next=%ff")).status == 400


async def test_what_was_written_when_the_session_ended_is_kept(owner, gateway):
    """The form is not done; whoever is back on the same browser sees it and sends it."""
    form = await owner.get("/app/org_1/messages/new")
    token = owner.cookies.pop("risala")
    wrote = {"to": "36123456", "body": "Votre commande\nest <prête>."}
    owner.headers["sec-fetch-site"] = "same-origin"
    page = await owner.submit(form, "/app/org_1/messages/new", wrote)
    assert page.location == "/sign-in?next=%2Fapp%2Fagain"
    assert "Your session had ended" in (await owner.get(page.location)).text
    assert "Votre commande" not in (await owner.get("/app/again")).text
    owner.cookies["risala"] = token
    page = await owner.get("/app/again")
    assert "Votre commande\nest &lt;prête&gt;.</textarea>" in page.text
    assert page.field("form_token") not in form.text
    assert not [name for name, _ in gateway.done if name == "send"]
    assert '<form class="row" method="post" action="/app/org_1/messages/new">' in page.text


async def test_what_was_written_before_one_signed_in_again_elsewhere_is_kept(
    owner, reader_as, gateway
):
    """The form's mark is of the session before: nothing is done, and it is shown with a new one."""
    form = await owner.get("/app/org_1/messages/new")
    owner.cookies["risala"] = reader_as().cookies["risala"]
    wrote = {"to": "36123456", "body": "Votre commande"}
    path = "/app/org_1/messages/new"
    assert (await owner.submit(form, path, wrote)).status == 403  # the browser does not say whose
    owner.headers["sec-fetch-site"] = "cross-site"
    assert (await owner.submit(form, path, wrote)).status == 403
    owner.headers["sec-fetch-site"] = "same-origin"
    page = await owner.submit(form, path, wrote)
    assert page.location == "/app/again"
    page = await owner.get(page.location)
    assert "You have signed in again" in page.text
    assert "Votre commande</textarea>" in page.text
    assert not [name for name, _ in gateway.done if name == "send"]
    again = await owner.submit(page, path, wrote)
    assert again.location != "/app/again"
    assert again.status != 403
    assert [name for name, _ in gateway.done if name == "send"]


@pytest.mark.parametrize("site", ["cross-site", "same-site", None])
async def test_nobody_lays_down_a_form_for_others(owner, site):
    token = owner.cookies.pop("risala")
    more = {} if site is None else {"sec_fetch_site": site}
    page = await owner.post("/app/org_1/messages/new", {"body": "Evil"}, **more)
    assert page.location == "/sign-in"
    owner.cookies["risala"] = token
    assert (await owner.get("/app/again")).location == "/app"


def test_forms_that_are_kept_are_few_short_and_soon_gone():
    unsent = UnsentForms()
    names = [unsent.keep("/x", SentForm({"a": (str(n),)}), 0) for n in range(UNSENT_MAX + 1)]
    assert unsent.find(names[0], 0) is None
    assert unsent.find(names[1], UNSENT_AGE_MAX_MS)
    assert unsent.find(names[1], UNSENT_AGE_MAX_MS + 1) is None
    assert unsent.keep("/x", SentForm({"a": ("x" * UNSENT_CHARACTERS_MAX,)}), 0) is None
