"""Every page and every component in a real browser: by axe, by width, by theme, by language."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from looking import WIDEST, violations, wrong_on_any_screen
from risala.sms.segment import count
from web_verify import HOSTED

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MAILINGS = ("checking", "draft", "sending", "wait_balance", "paused", "stopped", "done", "gone")
CHAPTERS = (
    *("how-to.verify-a-phone-number", "how-to.connect.keycloak", "tutorials.dashboard"),
    *("reference.events", "reference.http-api", "reference.configuration"),
)
"""Of the handbook: translated and not, with tables, long lines and many headings."""
PAGES = {
    "": [
        *("/outbox", "/sign-in", "/sign-up", "/sign-in/link/none", "/nope", "/app/x"),
        *(f"/v/{HOSTED}", f"/v/call-{HOSTED}"),
    ],
    "NEW": ["/app"],
    "OWNER": [
        *(
            "/app/org_1/billing?month=2026-10",
            "/app/org_1/billing",
            "/app/org_1/billing?kind=payments",
            "/app/org_2/billing",
        ),
        *("/app/org_1/billing/receipts/1", "/app/org_1/day-parts", "/app/org_1/settings"),
        "/app/org_1/settings/invoices",
        *(f"/app/org_1/billing/payments/pay_{number}" for number in range(1, 9)),
        "/pay/sandbox/checkout/pay_3",
        *("/app/org_1/overview", "/app/org_1/overview?period=month", "/app/org_1/messages"),
        *("/app/org_1/messages?status=failed", "/app/org_1/messages/sms_uncertain"),
        *("/app/org_1/messages/sms_delivered", "/app/org_1/messages/sms_failed/again"),
        *("/app/org_1/keys", "/app/org_1/keys?mode=test", "/app/org_1/keys/new"),
        *("/app/org_1/start", "/app/org_1/start?mode=test"),
        *("/app/org_1/verify", "/app/org_1/verify/settings", "/app/org_1/verify/ver_1"),
        *("/app/org_1/verify/settings/fixed", "/app/org_1/verify/channels"),
        *("/app/org_1/verify/figures", "/app/org_1/verify/figures?by=key&period=week"),
        *("/app/org_1/verify/templates", "/app/org_1/verify/figures?by=network"),
        "/app/org_1/verify/guard",
        *("/app/org_1/verify/ver_1/cancel", "/app/org_1/verify/try"),
        *("/app/org_1/verify/try?id=ver_1&answer=denied", "/app/org_1/inbound"),
        *("/app/org_1/answers", "/app/org_1/answers/new", "/app/org_1/answers/rul_1"),
        *("/app/org_1/repeats", "/app/org_1/repeats/new", "/app/org_1/repeats/rpt_1"),
        *("/app/org_1/alarms", "/app/org_1/alarms/new", "/app/org_1/alarms/alc_1"),
        *("/app/org_1/alarms/raised/alm_1", "/app/org_1/alarms/alc_1/delete"),
        *("/app/org_1/handbook", "/app/org_1/handbook?q=signature", "/app/org_1/handbook?q=zzzz"),
        *(f"/app/org_1/handbook/{each}" for each in CHAPTERS),
        *("/app/org_1/search", "/app/org_1/search?q=3456", "/app/org_1/search?q=none"),
        *("/app/org_1/conversations", "/app/org_1/conversations?show=stopped&q=none"),
        *(f"/app/org_1/conversations/cnv_{each}" for each in ("1", "1?upto=77", "name", "stop")),
        *("/app/org_1/inbound/opt-outs", "/app/org_2/inbound/opt-outs"),
        *("/app/org_1/inbound/words", "/app/org_2/inbound/words"),
        "/app/org_1/lists/lst_1/opt-out?number=%2B22236120001",
        "/app/org_1/messages/export?id=aaaaaaaaaaaaaaaaaaaaaa&status=failed",
        *("/app/org_1/keys/key_1", "/app/org_1/keys/key_1?status=2xx&path=/api/sms/batch"),
        *("/app/org_1/keys/key_2", "/app/org_1/keys/key_5"),
        f"/app/org_1/keys/key_1/requests/req_{9:032d}",
        *("/app/org_1/keys/key_2/delete", "/app/org_1/nope", "/app/org_2/keys"),
        *(
            "/app/org_2/keys/new",
            "/app/org_1/parts",
            "/app?new",
            "/account",
            "/app/org_1/leave",
        ),
        *("/app/org_1/settings/kept", "/app/org_1/settings/forget?number=36123456"),
        *("/app/org_1/settings/exports/exp_ready", "/app/org_1/settings/exports/exp_writing"),
        *("/app/org_1/settings/deletions/del_1", "/app/org_1/settings/delete", "/account/delete"),
        *("/app/org_1/messages/new", "/app/org_1/messages/new?mode=test", "/app/org_1/mailings"),
        *("/app/org_1/mailings?older=7", "/app/org_1/mailings/mlg_draft/rows/8"),
        *(f"/app/org_1/mailings/mlg_{state}" for state in MAILINGS),
        *(f"/app/org_1/mailings/mlg_draft/{each}" for each in ("start", "stop", "delete")),
        *("/app/org_1/mailings/mlg_draft?state=all", "/app/org_2/mailings/mlg_draft"),
        *("/app/org_1/connect", "/app/org_1/connect/programs/grafana", "/app/org_1/connect/hok_1"),
        *("/app/org_1/connect/programs/zitadel", "/app/org_1/connect/hok_1/delete"),
        *("/app/org_1/lists", "/app/org_1/lists/lst_1?added=2&bad=3&rows=4", "/app/org_1/texts"),
        *("/app/org_1/lists/lst_empty", "/app/org_1/lists/lst_1/remove?number=%2B22236120001"),
        *(
            "/app/org_1/lists/lst_1/delete",
            "/app/org_1/texts/txt_1",
            "/app/org_1/texts/txt_1/delete",
        ),
        *("/app/org_1/webhooks", "/app/org_1/webhooks/new", "/app/org_1/webhooks/whe_1/delete"),
        *(
            "/app/org_1/webhooks/whe_1?event=evt_1",
            "/app/org_1/webhooks/whe_1?tab=settings",
            "/app/org_1/keys/key_1?tab=security",
            "/app/org_1/keys/key_2?tab=settings",
            "/app/org_1/senders",
            "/app/org_1/senders/new",
        ),
    ],
}


@pytest.mark.parametrize("language", WIDEST)
def test_no_page_is_closed_to_anybody(look, pages, language):
    """axe finds nothing, nothing runs over, and no text stands over another or is cut."""
    found = []
    for who, paths in PAGES.items():
        page = look(paths[0], who, language)
        for path in paths:
            found += wrong_on_any_screen(page, pages + path)
    assert found == []


@pytest.mark.parametrize("language", ["ar", "en"])
def test_amounts_stand_by_their_decimals(look, language):
    """Sums of different length in a column end at the same place, whichever way the page runs."""
    page = look(
        "/app/org_1/billing?since=2026-01-01",
        language=language,
        viewport={"width": 1280, "height": 844},
    )
    sums = page.locator(".entries tr > td:nth-child(3) bdi.num")
    sums.first.evaluate("one => { one.textContent = '12 480,50'; }")
    ends = sums.evaluate_all("all => all.map((one) => one.getBoundingClientRect().right)")
    assert len(ends) > 1
    assert max(ends) - min(ends) < 1  # pixel


def test_dialogs_and_menus_are_open_to_everybody(look):
    page = look("/app/org_1/keys", viewport={"width": 390, "height": 844})
    page.get_by_role("link", name="New key").click()
    expect(page.get_by_role("dialog", name="New key")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="New key")).to_be_focused()
    page.get_by_role("link", name="Delete Mobile app").click()
    expect(page.get_by_role("dialog")).to_contain_text("refused immediately")
    assert violations(page) == []
    page.get_by_role("button", name="Keep it").click()
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("link", name="API keys")).to_be_visible()
    page.locator("#side summary", has_text="Baraka Market").click()
    assert violations(page) == []


def test_keys_are_made_by_keyboard_alone(look):
    page = look("/app/org_1/keys")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="New key").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Name").focus()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="“By keyboard” is ready")).to_be_focused()
    assert page.get_by_label("The key").input_value().startswith("sk_live_")
    assert violations(page) == []


def test_shortcuts_lead_to_pages_and_can_be_switched_off(look, pages):
    page = look("/app/org_1/keys/new")
    page.keyboard.press("g")
    page.keyboard.press("k")
    page.wait_for_url(f"{pages}/app/org_1/keys")
    page.keyboard.press("?")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_colours_are_kept_without_a_reload(look, pages):
    page = look("/app/org_1/keys", color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    with page.expect_response("**/theme"):
        page.get_by_role("button", name="Dark").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.goto(f"{pages}/app/org_1/keys/new")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_all_of_it_works_without_script(look, pages):
    page = look("/app/org_1/keys", java_script_enabled=False)
    page.get_by_role("link", name="New key").click()
    page.get_by_label("Name").fill("No script")
    page.get_by_text("In an app or a page").click()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="“No script” is ready")).to_be_visible()
    page.get_by_role("link", name="I have saved it").click()
    page.get_by_role("button", name="Disable Mobile app").click()
    expect(page.get_by_text("The key is disabled")).to_be_visible()
    page.get_by_role("link", name="Delete Tests").click()
    page.get_by_label("Type the last four").fill("Vb31")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("The key is deleted.")).to_be_visible()
    page.get_by_role("button", name="Français").click()
    expect(page.get_by_role("heading", name="Clés API")).to_be_visible()


def test_a_piece_draws_itself_anew_under_the_policy(look):
    page = look("/app/org_1/parts?live=1")
    expect(page.locator("#piece")).to_have_text("drawn anew")


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("fr", "« ع » fait passer en Unicode 71 / 134 2 parties 1,00 MRU"),
        ("ar", "بسبب «ع» يصبح النص Unicode 71 / 134 جزآن 1,00 أوقية"),
        ("en", "“ع” makes it Unicode 71 / 134 2 parts 1.00 MRU"),
    ],
)
def test_parts_are_counted_while_one_types(look, language, shown):
    page = look("/app/org_1/parts", language=language)
    counter = page.locator("#sms-count")
    expect(counter).to_contain_text("GSM-7")
    page.locator("#sms").fill("{{code}}" + "a" * 64 + "ع")
    expect(page.locator("#sms-preview")).to_contain_text("482193a")
    told = " ".join(counter.locator("b, span").all_text_contents())
    for mark in "\u2068\u2069":
        told = told.replace(mark, "")
    assert told.replace("\u00a0", " ") == shown
    page.locator("#sms").fill("ع" * 65)
    expect(counter.locator("b")).to_have_text("Unicode")  # no letter of such a text is odd


def test_the_page_counts_as_the_service_does(look):
    """Texts that are not cut inside a letter: there the page guesses, and the service knows."""
    basic = "".join(chr(each) for each in range(32, 127)) + "éèÇøΔ\n"
    texts = [each * count for each in ("a", "ع", "[", "😀") for count in (1, 35, 70, 71, 160, 161)]
    texts += [basic * 3, basic + "ç", "", "ê" * 67 * 3]
    page = look("/app/org_1/parts")
    source = page.locator("script[src*='/sms.']").get_attribute("src")
    counted = page.evaluate(
        "async ([source, texts]) => texts.map((await import(source)).measure)", [source, texts]
    )
    for text, found in zip(texts, counted, strict=True):
        known = count(text)
        assert found["units"] == known.units, text
        assert found["parts"] in (known.segments, known.segments - 1), text


@pytest.mark.parametrize(
    ("language", "paths"),
    [
        ("fr", ["/sign-in", "/app/org_1/keys", "/app/org_1/billing", "/app/org_1/webhooks/whe_1"]),
        ("ar", ["/app/org_1/keys", "/app/org_1/verify/settings", "/app/org_1/members"]),
    ],
)
def test_the_first_page_is_small(look, pages, language, paths):
    """Under 100 kB on the wire, files and fonts included; a later page under 30."""
    page = look("/nope", language=language)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[int] = []
    session.on("Network.loadingFinished", lambda told: sizes.append(told["encodedDataLength"]))
    for first in (True, False):
        for path in paths:
            session.send("Network.setCacheDisabled", {"cacheDisabled": first})
            page.goto("about:blank")  # what the page before it still fetches is not counted
            sizes.clear()
            page.goto(pages + path, wait_until="load")  # a stream stays open for ever
            page.evaluate("document.fonts.ready.then(() => null)")
            assert 1000 < sum(sizes) < (100_000 if first else 30_000)


def test_a_receipt_on_paper_is_dark_on_white_also_for_readers_at_night(look):
    page = look("/app/org_1/billing/receipts/1", color_scheme="dark")
    page.emulate_media(media="print")
    amount = page.get_by_text("10,000.00").first
    ground, ink = amount.evaluate(
        "node => [getComputedStyle(node.closest('.panel')).backgroundColor,"
        " getComputedStyle(node).color]"
    )
    assert ground == "rgb(255, 255, 255)"
    assert all(int(part) < 80 for part in re.findall(r"\d+", ink)[:3])
    for left_out in (page.locator(".crumb"), page.get_by_role("navigation")):
        assert not any(each.is_visible() for each in left_out.all())
