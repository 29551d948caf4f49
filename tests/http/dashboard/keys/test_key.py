"""The page of one key: its log of requests, where it is used from, another value."""

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import EditConflict, Invalid
from risala.engine.model.times import iso
from web_people import AT_MS, key
from web_requests import GONE, REQUESTS

HERE = "/app/org_1/keys/key_1"
SECURITY = f"{HERE}?tab=security"
SETTINGS = f"{HERE}?tab=settings"
DAY_MS = 86_400_000


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


async def test_the_log_says_what_was_asked_and_what_is_missing(owner):
    page = await owner.get(HERE)
    assert page.status == 200
    assert page.text.count("/requests/req_") == len(REQUESTS)
    assert "/api/verify/check</code>" in page.text
    assert "203.0.113.7" in page.text
    assert "12</bdi> requests are missing: too many came at once." in page.text
    assert "hx-sse:connect" in page.text
    # From the list of keys there is a way.
    assert f'href="{HERE}"' in (await owner.get("/app/org_1/keys")).text


async def test_the_log_is_filtered_and_goes_on_by_its_cursors(owner, gateway):
    page = await owner.get(f"{HERE}?status=4xx&path=/api/verify/check")
    assert page.text.count("/requests/req_") == 1
    (given,) = asked(gateway, "request.list")
    assert (given["status"], given["path"]) == ("4xx", "/api/verify/check")
    cursor = REQUESTS[2]["requestId"]
    assert f"{HERE}?status=4xx&amp;path=%2Fapi%2Fverify%2Fcheck&amp;before={cursor}" in page.text
    await owner.get(f"{HERE}?before={cursor}")
    given = asked(gateway, "request.list")[-1]
    assert given["before"] == cursor
    assert not {"status", "path"} & given.keys()
    for odd in ("status=odd", "path=/etc/passwd"):
        assert (await owner.get(f"{HERE}?{odd}")).status == 422
    page = await owner.get(f"{HERE}?status=2xx&path=/api/sms/batch")
    assert "No request matches these filters" in page.text


async def test_a_key_without_requests_says_what_appears_there(owner, gateway):
    gateway.keys["key_2"] = key(2)
    page = await owner.get("/app/org_1/keys/key_2")
    assert "No request yet" in page.text


async def test_the_places_of_a_key_are_shown_and_new_ones_marked(owner, gateway):
    assert "No place is known yet." in (await owner.get(SECURITY)).text
    gateway.key_places = [
        {"network": network, "firstAt": iso(AT_MS), "lastAt": iso(AT_MS), "isNew": is_new}
        for network, is_new in (("198.51.100.0/24", True), ("203.0.113.0/24", False))
    ]
    text = (await owner.get(SECURITY)).text
    assert text.index("198.51.100.0/24") < text.index('class="tag">new<') < text.index("first ")
    assert text.count('class="tag">new<') == 1
    assert "203.0.113.0/24" in text


async def test_the_list_says_how_long_keys_work(owner, gateway):
    assert "at most; then it has to be rotated" not in (await owner.get("/app/org_1/keys")).text
    gateway.key_age_days = 90
    assert "at most; then it has to be rotated" in (await owner.get("/app/org_1/keys")).text


async def test_one_request_shows_what_is_kept_of_it(owner):
    page = await owner.get(f"{HERE}/requests/{REQUESTS[0]['requestId']}")
    assert page.status == 200
    assert "‹43›" in page.text
    assert 'href="/app/org_1/messages/sms_9"' in page.text
    assert (await owner.get(f"{HERE}/requests/{GONE}")).status == 404


async def test_a_request_of_another_key_is_not_found(owner, gateway):
    gateway.keys["key_2"] = key(2)
    page = await owner.get(f"/app/org_1/keys/key_2/requests/{REQUESTS[0]['requestId']}")
    assert page.status == 404


async def test_what_is_new_is_counted_and_moves_nothing(owner, gateway, app, autojump_clock):
    ((name, token),) = owner.cookies.items()
    seen = REQUESTS[-1]["requestId"]
    told = b""
    async with app.test_client(use_cookies=False).request(
        f"{HERE}/live?status=4xx&seen={seen}",
        headers={"host": "127.0.0.1:8080", "cookie": f"{name}={token}", "accept-language": "en"},
        scope_base={"client": ("127.0.0.1", 1)},
    ) as stream:
        await stream.send_complete()
        while b"new request" not in told:
            told += await stream.receive()
        gateway.people.ended[token].set()  # which ends the stream
    assert b'id="fresh"' in told
    assert b"1</bdi> new request<" in told
    given = asked(gateway, "request.list")[-1]
    assert (given["after"], given["status"]) == (seen, "4xx")


async def test_addresses_are_set_one_a_line(owner, gateway):
    page = await owner.get(SECURITY)
    fields = {"allowed_addresses": "203.0.113.7\n2001:db8::/32", "version": page.field("version")}
    page = await owner.submit(page, HERE, fields)
    assert page.location == HERE
    given = asked(gateway, "key.set")[-1]
    assert given["allowed_addresses"] == ["203.0.113.7", "2001:db8::/32"]
    assert given["version"] == 4
    assert "allowed_origins" not in given
    page = await owner.get(HERE)
    assert "The key is changed." in page.text
    page = await owner.submit(page, HERE, {"allowed_addresses": ""})
    assert asked(gateway, "key.set")[-1]["allowed_addresses"] == []
    assert ">anywhere<" in (await owner.get(HERE)).text


async def test_a_key_says_whom_to_ask(owner, gateway):
    page = await owner.get(HERE)
    page = await owner.submit(page, HERE, {"contact": "Aïcha <b>"})
    assert asked(gateway, "key.set")[-1]["contact"] == "Aïcha <b>"
    gateway.keys["key_1"] = key(1, contact="Aïcha <b>")
    page = await owner.get(HERE)
    assert "<bdi>Aïcha &lt;b&gt;</bdi>" in page.text
    page = await owner.get(SETTINGS)
    (shown,) = (each for _, each in page.tags if each.get("name") == "contact")
    assert (shown["value"], shown["maxlength"]) == ("Aïcha <b>", "80")


async def test_an_expiry_is_chosen_kept_and_lifted(owner, gateway):
    def typed(page):
        (shown,) = (each for _, each in page.tags if each.get("name") == "expires_at")
        return shown["value"]

    page = await owner.get(SECURITY)
    assert typed(page) == ""
    await owner.submit(page, HERE, {"expires_at": "2099-05-01T08:30"})
    assert asked(gateway, "key.set")[-1]["expires_at"] == "2099-05-01T08:30:00+00:00"
    page = await owner.get(SECURITY)
    assert typed(page) == "2099-05-01T08:30"
    assert "It expire" not in page.text
    await owner.submit(page, HERE, {"expires_at": ""})
    assert asked(gateway, "key.set")[-1]["expires_at"] is None
    # One that is over stays as it was when something else is changed.
    gateway.keys["key_1"] = key(1, expiresAt=iso(AT_MS - DAY_MS))
    page = await owner.get(SECURITY)
    assert "It expired: every request with it is refused." in page.text
    await owner.submit(page, HERE, {"contact": "Aïcha", "expires_at": typed(page)})
    assert "expires_at" not in asked(gateway, "key.set")[-1]


async def test_a_key_in_its_last_days_says_so_in_words(owner, gateway):
    gateway.keys["key_1"] = key(1, expiresAt=iso(AT_MS + 13 * DAY_MS))
    gateway.keys["key_2"] = key(2, expiresAt=iso(AT_MS + 15 * DAY_MS))
    gateway.keys["key_3"] = key(3, expiresAt=iso(AT_MS - 1))
    assert "It expires on" in (await owner.get(HERE)).text
    page = (await owner.get("/app/org_1/keys")).text
    assert page.count("expires on") == 1
    assert page.count("is-expired") == 1


async def test_the_address_of_the_last_use_is_shown(owner, gateway):
    gateway.keys["key_1"] = key(1, lastUsedAt=iso(AT_MS), lastUsedAddress="203.0.113.9")
    assert 'from <code dir="auto">203.0.113.9</code>' in (await owner.get(HERE)).text
    assert "203.0.113.9" in (await owner.get("/app/org_1/keys")).text


async def test_answers_without_the_id_are_ticked_and_taken_back(owner, gateway):
    def boxes(page):
        return [each for _, each in page.tags if each.get("name") == "without_id"]

    page = await owner.get(SETTINGS)
    assert ["checked" in each for each in boxes(page)] == [False]
    await owner.submit(page, HERE, {"without_id": "yes"})
    assert asked(gateway, "key.set")[-1]["without_id"] is True
    page = await owner.get(SETTINGS)
    assert ["checked" in each for each in boxes(page)] == [True]
    assert 'without <code dir="auto">messageId</code>' in (await owner.get(HERE)).text
    await owner.submit(page, HERE, {})
    assert asked(gateway, "key.set")[-1]["without_id"] is False
    gateway.keys["key_1"] = key(1, type="publishable")
    assert boxes(await owner.get(SETTINGS)) == []  # nothing is sent by it


async def test_a_publishable_key_has_origins_too(owner, gateway):
    gateway.keys["key_1"] = key(1, type="publishable")
    page = await owner.get(HERE)
    fields = {"allowed_origins": "https://a.example", "allowed_addresses": ""}
    await owner.submit(page, HERE, fields)
    assert asked(gateway, "key.set")[-1]["allowed_origins"] == ["https://a.example"]


async def test_a_publishable_key_alone_asks_for_challenges(owner, gateway):
    def chosen(page):
        values = {"never", "when_suspicious", "always"}
        return [
            each["value"]
            for _, each in page.tags
            if each.get("value") in values and "selected" in each
        ]

    assert "Challenge before a code" not in (await owner.get(SECURITY)).text
    gateway.keys["key_1"] = key(1, type="publishable")
    page = await owner.get(SECURITY)
    assert chosen(page) == ["never"]
    await owner.submit(page, HERE, {"challenge": "always"})
    assert asked(gateway, "key.set")[-1]["challenge"] == "always"
    page = await owner.get(SECURITY)
    assert chosen(page) == ["always"]
    assert "Before each code</dd>" in (await owner.get(HERE)).text
    await owner.submit(page, HERE, {"challenge": "sometimes"})
    assert asked(gateway, "key.set")[-1]["challenge"] == "sometimes"  # the operation refuses it


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Invalid("allowed_addresses", "invalid_ip_address", "No."), "An address looks like"),
        (EditConflict("amina"), "Present values"),
    ],
)
async def test_what_is_refused_stays_typed(owner, gateway, error, told):
    page = await owner.get(SECURITY)

    async def perform(name, arguments, caller, perform=gateway.perform):
        if "allowed_addresses" in arguments:
            raise error
        return await perform(name, arguments, caller)

    gateway.perform = perform
    page = await owner.submit(page, HERE, {"allowed_addresses": "shop <b>", "part": "security"})
    assert page.status == 422
    assert told in page.text
    assert "shop &lt;b&gt;" in page.text


async def test_another_value_is_shown_once(owner, gateway):
    page = await owner.get(SECURITY)
    page = await owner.submit(page, f"{HERE}/rotate", {"overlap": "3600"})
    assert page.text.count("sk_live_" + "5" * 28 + "9nEw") == 1
    assert page.headers["cache-control"] == "no-store"
    assert "content-encoding" not in page.headers
    assert asked(gateway, "key.rotate") == [{"key_id": "key_1", "overlap_s": 3600}]
    page = await owner.get(HERE)
    assert "…x7Qd" in page.text
    assert "works until" in page.text
    page = await owner.submit(page, f"{HERE}/end-old")
    assert page.location == HERE
    assert "works until" not in (await owner.get(HERE)).text


async def test_an_overlap_that_nobody_offered_is_a_day(owner, gateway):
    page = await owner.get(SECURITY)
    await owner.submit(page, f"{HERE}/rotate", {"overlap": "99999999"})
    assert asked(gateway, "key.rotate")[-1]["overlap_s"] == 86_400


async def test_a_key_that_nobody_uses_is_marked(owner, gateway):
    gateway.keys["key_1"] = key(1, lastUsedAt=iso(AT_MS - 47 * DAY_MS))
    page = await owner.get(HERE)
    assert "It has not been used for" in page.text
    assert "47</bdi> days" in page.text
    gateway.keys["key_1"] = key(1, lastUsedAt=iso(AT_MS - DAY_MS))
    assert "It has not been used for" not in (await owner.get(HERE)).text


async def test_disable_comes_back_to_the_page(owner, gateway):
    page = await owner.get(SETTINGS)
    page = await owner.submit(page, f"{HERE}/disable", {"from": "page"})
    assert page.location == HERE
    assert not gateway.keys["key_1"]["enabled"]


async def test_a_viewer_reads_and_does_nothing(reader_as):
    page = await reader_as(Role.VIEWER).get(HERE)
    assert "Request log" in page.text
    actions = {each.get("action") for tag, each in page.tags if tag == "form"}
    assert actions == {
        "/language",
        "/theme",
        "/sign-out",
        "/app/org_1/search",
        HERE,
    }  # the last one filters
    assert "allowed_addresses" not in page.text


async def test_a_new_key_may_be_bound_at_once(owner, gateway):
    page = await owner.get("/app/org_1/keys/new")
    fields = {"type": "secret", "allowed_addresses": "203.0.113.7"}
    await owner.submit(page, "/app/org_1/keys", fields)
    assert asked(gateway, "key.create")[-1]["allowed_addresses"] == ["203.0.113.7"]


async def test_a_message_leads_to_its_key_and_request(owner):
    page = await owner.get("/app/org_1/messages/sms_1")
    assert f'href="{HERE}"' in page.text
    assert f'href="{HERE}/requests/{REQUESTS[-1]["requestId"]}"' in page.text


async def test_each_form_of_a_key_leaves_the_other_alone(owner, gateway):
    gateway.keys["key_1"] = key(1, allowedAddresses=["203.0.113.7"], contact="Sidi")
    page = await owner.get(SETTINGS)
    assert page.field("part") == "settings"
    assert "allowed_addresses" not in page.text
    page = await owner.submit(page, HERE, {"contact": "Aïcha", "part": "settings"})
    given = asked(gateway, "key.set")[-1]
    assert (given["contact"], "allowed_addresses" in given) == ("Aïcha", False)
    assert page.location == SETTINGS
    page = await owner.get(SECURITY)
    assert 'name="contact"' not in page.text
    page = await owner.submit(page, HERE, {"allowed_addresses": "", "part": "security"})
    given = asked(gateway, "key.set")[-1]
    assert (given["allowed_addresses"], "contact" in given) == ([], False)
    assert page.location == SECURITY


async def test_a_viewer_sees_where_a_key_is_used_from(reader_as):
    page = await reader_as(Role.VIEWER).get(SECURITY)
    assert "No place is known yet." in page.text
    assert "tab=settings" not in page.text
    assert "Rotate" not in page.text.replace("rotate the key", "")


async def test_the_answers_of_a_key_are_drawn_by_day(owner, gateway):
    page = await owner.get(HERE)
    assert asked(gateway, "request.list")[-1]["by_day"] is True
    assert 'aria-label="Requests by their answers"' in page.text
    assert page.text.count('<tr><th scope="row">') == 30
    assert ">4xx</th>" in page.text
    await owner.get(f"{HERE}?before={REQUESTS[2]['requestId']}")
    assert "by_day" not in asked(gateway, "request.list")[-1]


async def test_a_phone_shows_the_newest_rows_and_all_on_request(owner):
    assert 'class="panel few"' in (await owner.get(HERE)).text
    for query in ("rows=all", "status=2xx", f"before={REQUESTS[2]['requestId']}"):
        assert 'class="panel few"' not in (await owner.get(f"{HERE}?{query}")).text
