"""The search over everything: what is found by what, by whom, and what nobody finds."""

from __future__ import annotations

import re

import pytest
import trio

from made_invoices import issued
from mailing_book import add_list
from risala.engine.features.search import operations
from risala.engine.features.search.nouns import NOUNS
from risala.engine.features.search.stored import rows
from risala.engine.gateway.table import OPERATIONS
from risala.engine.model.callers import Caller, CallerKind, OperatorRole, Role, key_holder
from risala.engine.model.commands import SendCode
from risala.engine.model.errors import Forbidden, Invalid, NotFound, RateLimited
from risala.engine.model.features import features
from risala.engine.model.records.search import FIND, ITEMS_MAX
from risala.plugins.contract import Inbound, ReceiptState

TO, OTHER = "+22236123456", "+22222999888"
ALL = (*NOUNS, *(each for one in features() if one.findable is not None for each in one.findable()))
SHOWN_BY = {
    "message": ("message.show", "message.find"),
    "verification": ("verify.get", None),
    "key": ("key.show", None),
    "webhook": ("webhook.show", None),
    "sender": ("sender.list", "sender.find"),
    "member": ("member.list", None),
    "organization": (None, "org.show"),
    "user": (None, "user.show"),
    "hook": ("hook.show", None),
    "list": ("list.show", None),
    "person": ("list.show", None),
    "text": ("text.show", None),
    "mailing": ("mailing.show", None),
    "payment": ("payment.show", "payment.queue"),
    "conversation": ("conversation.get", None),
    "inbound": ("conversation.get", None),
    "request": ("request.show", None),
    "receipt": ("ledger.list", "ledger.list"),
    "credential": ("credential.list", None),
    "rule": ("answer.show", None),
    "word": ("opt_outs.words", None),
    "invoice": ("invoice.get", "invoice.get"),
}
"""The operations of the pages that show each kind: to members, and in the console."""


def member(house, role=Role.VIEWER):
    return Caller("who@shop.example", CallerKind.DASHBOARD, role, house.principal.organization_id)


def operator(role=OperatorRole.ADMINISTRATOR):
    return Caller("op@risala.example", CallerKind.CONSOLE, Role.OPERATOR, operator_role=role)


class Shop:
    """An organization that has something of each kind."""

    def __init__(self, house):
        self.house = house
        self.mine = {"organization_id": house.principal.organization_id}

    async def do(self, name, caller=None, /, **arguments):
        if caller is None:
            return await self.house.gateway.perform(name, {**self.mine, **arguments})
        return await self.house.gateway.perform(name, {**self.mine, **arguments}, caller)

    async def found(self, query, caller=None, **arguments):
        answer = await self.do(
            "search.find", caller or member(self.house), query=query, **arguments
        )
        return [(each["kind"], each["title"]) for each in answer["items"]]

    async def everywhere(self, query, role=OperatorRole.ADMINISTRATOR):
        arguments = {"query": query}
        answer = await self.house.gateway.perform(FIND.name, arguments, operator(role))
        return answer["items"]

    async def come_in(self, text, sender=TO):
        now_ms = self.house.clock.now_ms()
        await self.house.driver.context.inbound(Inbound(sender, "1234", text, now_ms, (text,)))
        await trio.sleep(0.1)


@pytest.fixture
async def shop(house):
    shop = Shop(house)
    await shop.do("inbound.route")
    return shop


@pytest.fixture
async def failed(shop):
    """A message that the carrier gave up."""
    message_id = await shop.house.send("Votre rendez-vous est demain", TO)
    await shop.house.wait_status(message_id, "sent")
    carrier_id = shop.house.gateway.show_message(message_id)[0].provider_message_id
    await shop.house.driver.receipt(carrier_id, ReceiptState.UNDELIVERABLE)
    await shop.house.wait_status(message_id, "undelivered")
    return message_id, carrier_id


@pytest.mark.parametrize(
    "query",
    [
        *("3456", "36 12 34 56", "٣٤٥٦", "+22236123456", "rendez vous", "RENDEZ-VOUS", "demain"),
        *("UNDELIV", "could not deliver", "mais n'a pas pu le livrer", "UNDELIVERABLE", "mattel"),
        "fake",
    ],
)
async def test_a_message_is_found_by_what_is_known_of_it(shop, failed, query, autojump_clock):
    assert await shop.found(query) == [("message", TO)]


async def test_a_message_is_found_by_each_of_its_ids(shop, failed, autojump_clock):
    message_id, carrier_id = failed
    keyed = await shop.house.send("Hello", OTHER, idempotency_key="order-77")
    for query in (message_id, message_id[-8:], message_id[-5:].lower(), message_id[4:], carrier_id):
        assert await shop.found(query) == [("message", TO)], query
    await shop.house.wait_status(keyed, "sent")
    assert await shop.found("order-77") == [("message", OTHER)]
    event = next(each for each in await shop.house.events() if each.get("messageId") == message_id)
    assert await shop.found(event["id"]) == [("message", TO)]
    assert await shop.found(message_id[:-1] + "0") == []


async def test_each_kind_is_found_by_its_name(shop, autojump_clock):
    mine = shop.mine["organization_id"]
    await shop.do("key.create", type="secret", mode="live", name="Boutique en ligne")
    await shop.do("webhook.create", url="https://crm.example/hook", types=["sms.sent"])
    await shop.do("sender.request", name="Baraka", description="Our shop in Nouakchott")
    await shop.do("hook.create", preset="grafana", name="Alarms", numbers=[TO])
    await shop.do("text.create", name="Absence", language="fr", text="Votre enfant")
    await shop.do("member.add", email="aicha@shop.example", role="viewer")
    journal = shop.house.gateway.services.recorder.journal
    await journal.commit(
        lambda conn: add_list(conn, "lst_1", [OTHER], organization_id=mine, created_at=1)
    )
    for query, kind in (
        *(("boutique", "key"), ("crm.example", "webhook"), ("baraka", "sender")),
        *(("alarms", "hook"), ("absence", "text"), ("enfant", "text"), ("aicha", "member")),
        ("9888", "person"),
    ):
        assert [found for found, _ in await shop.found(query)] == [kind], query
    key = (await shop.do("key.list"))["keys"][0]
    assert ("key", "Boutique en ligne") in await shop.found(key["last4"])
    assert await shop.found(key["id"]) == [("key", "Boutique en ligne")]
    assert await shop.found(key["id"][-6:]) == [("key", "Boutique en ligne")]


async def test_receipts_are_found_by_their_reference_or_note(shop, autojump_clock):
    paid = {"reference": "MS-220814", "note": "Au guichet"}
    entry = await shop.do("topup", amount="100", **paid)
    for query in ("MS-220814", "0814", "ms-22", "guichet"):
        assert await shop.found(query) == [("receipt", "MS-220814")], query
    (one,) = (await shop.do("search.find", member(shop.house), query="0814"))["items"]
    assert one["url"].endswith(f"/billing/receipts/{entry['seq']}")
    mine = shop.mine["organization_id"]
    (one,) = await shop.everywhere("ms-220814")
    assert one["url"] == f"/operator/organizations/{mine}/statement"
    assert (one["organization"], one["note"]) == ("Test", None)
    for query in ("0814", "guichet"):
        assert await shop.everywhere(query) == [], "parts and notes are for the organization"
    other = await shop.house.organization()
    stranger = Caller("who@else.example", CallerKind.DASHBOARD, Role.OWNER, other.organization_id)
    theirs = {"organization_id": other.organization_id, "query": "MS-220814"}
    assert (await shop.house.gateway.perform(FIND.name, theirs, stranger))["items"] == []


async def test_invoices_are_found_by_their_number_and_its_end(shop, autojump_clock):
    services, mine = shop.house.gateway.services, shop.mine["organization_id"]
    made = [await issued(services, mine, months) for months in range(3)]
    newest = made[0]
    assert [each.number for each in made] == ["T-0001", "T-0002", "T-0003"]
    for query in ("T-0001", "t-0001", "0001", "001", "T-1", newest.id, newest.id[-6:], "٠٠٠١"):
        assert await shop.found(query) == [("invoice", "T-0001")], query
    assert await shop.found("T-000") == []
    assert len(await shop.found("%")) == len(await shop.found("_")) == 0
    (one,) = (await shop.do("search.find", member(shop.house), query="0001"))["items"]
    assert one["url"].endswith(f"/app/{mine}/billing?month={newest.month}")
    for role in OperatorRole:
        (one,) = await shop.everywhere("0001", role)
        page = f"/operator/organizations/{mine}/statement?month={newest.month}"
        assert (one["url"], one["organization"]) == (page, "Test")
    key = key_holder("key_1", mine)
    assert await shop.found("T-0001", key) == [("invoice", "T-0001")]
    assert await shop.found("T-0001", key, mode="test") == [], "tests cost nothing"


async def test_nobody_finds_invoices_of_others_or_of_who_is_erased(shop, autojump_clock):
    services, mine = shop.house.gateway.services, shop.mine["organization_id"]
    await issued(services, mine)
    other = await shop.house.organization()
    stranger = Caller("who@else.example", CallerKind.DASHBOARD, Role.OWNER, other.organization_id)
    theirs = {"organization_id": other.organization_id, "query": "T-0001"}
    assert (await shop.house.gateway.perform(FIND.name, theirs, stranger))["items"] == []
    assert [each["kind"] for each in await shop.everywhere("T-0001")] == ["invoice"]
    await shop.do("org.delete", name="Test")
    assert await shop.everywhere("T-0001") == []
    assert await shop.found("T-0001") == []


async def test_ways_in_and_what_answers_are_found(shop, autojump_clock):
    made = await shop.do("credential.create", face="kannel", username="crm", name="Old CRM")
    await shop.do(
        "answer.create",
        name="Horaires",
        keywords=["\u0633\u0639\u0631", "prix"],
        text_fr="Nous ouvrons \u00e0 huit heures",
    )
    await shop.do("opt_outs.add_word", word="assez", role="stop", language="fr")
    for query, found in (
        *(("old crm", ("credential", "Old CRM")), ("kannel", ("credential", "Old CRM"))),
        *(("horaires", ("rule", "Horaires")), ("prix", ("rule", "Horaires"))),
        *(("\u0633\u0639\u0631", ("rule", "Horaires")), ("huit heures", ("rule", "Horaires"))),
        ("assez", ("word", "assez")),
    ):
        assert await shop.found(query) == [found], query
        assert await shop.everywhere(query) == [], query
    credential = (await shop.do("credential.list"))["credentials"][0]
    assert await shop.found(credential["last4"]) == [("credential", "Old CRM")]
    (one,) = (await shop.do("search.find", member(shop.house), query="assez"))["items"]
    assert one["url"].endswith("/inbound/words")
    assert made["password"] not in repr(await shop.do("search.find", query="crm"))
    await shop.house.gateway.perform("credential.revoke", {"credential_id": credential["id"]})
    assert await shop.found("old crm") == []


async def test_what_people_write_leads_to_their_conversation(shop, autojump_clock):
    await shop.come_in("salam, c'est ouvert ?")
    answer = await shop.do("search.find", member(shop.house), query="ouvert")
    (one,) = answer["items"]
    talks = (await shop.do("conversation.list"))["conversations"]
    assert (one["kind"], one["title"]) == ("inbound", TO)
    assert one["url"].endswith(f"/conversations/{talks[0]['conversationId']}")
    assert await shop.found("3456") == [("conversation", TO)]


async def test_codes_are_found_by_their_number_and_never_by_the_code(shop, autojump_clock):
    session = await shop.house.gateway.send_code(shop.house.principal, SendCode(to=TO))
    kinds = [kind for kind, _ in await shop.found("3456")]
    assert kinds == ["message", "verification"]
    assert await shop.found(session) == [("verification", TO)]
    (text,) = [each.text for each in shop.house.driver.submitted][:1] or [""]
    if code := re.search(r"\d{6}", text):
        assert await shop.found(code[0]) == []


async def test_the_console_finds_no_text_and_nobody_on_a_list(shop, failed, autojump_clock):
    message_id, carrier_id = failed
    await shop.come_in("what they wrote", OTHER)
    await shop.do("text.create", name="Absence", language="fr", text="Votre enfant")
    mine = shop.mine["organization_id"]
    journal = shop.house.gateway.services.recorder.journal
    await journal.commit(
        lambda conn: add_list(conn, "lst_1", [OTHER], organization_id=mine, created_at=1)
    )
    for query in ("demain", "rendez", "wrote", "enfant", "Absence", "9888", "345", "UNDELIV"):
        assert await shop.everywhere(query) == [], query
    for query in ("3456", message_id, carrier_id):
        (one,) = await shop.everywhere(query)
        assert (one["kind"], one["note"]) == ("message", "stat:UNDELIVERABLE")
        assert one["url"] == f"/operator/messages/{message_id}"
        assert one["organization"] == "Test"
    kinds = [each["kind"] for each in await shop.everywhere("Test")]
    assert kinds == ["organization"]


async def test_each_search_of_the_console_is_in_the_trail_without_its_words(
    shop, failed, autojump_clock
):
    for _ in range(2):
        await shop.everywhere("3456")
    lines = (await shop.house.gateway.perform("audit.list", {"operation": FIND.name}))["lines"]
    assert [(each["who"], each["after"]) for each in lines] == [("op@risala.example", None)] * 2
    reader = shop.house.gateway.services.repositories._store.reader
    assert "3456" not in repr(reader.execute("SELECT * FROM audit_log").fetchall())


async def test_a_member_leaves_one_line_a_minute_and_a_program_none(shop, failed, autojump_clock):
    for query in ("36", "361", "3612"):
        await shop.found(query)
    await shop.found("3456", key_holder("key_1", shop.mine["organization_id"]))
    lines = (await shop.house.gateway.perform("audit.list", {"operation": FIND.name}))["lines"]
    assert [each["who"] for each in lines] == ["who@shop.example"]


@pytest.mark.parametrize("role", OperatorRole)
async def test_an_operator_finds_what_their_pages_show(shop, failed, role, autojump_clock):
    found = [each["kind"] for each in await shop.everywhere("3456", role)]
    sees = role in (OperatorRole.ADMINISTRATOR, OperatorRole.SUPPORT)
    assert found == (["message"] if sees else [])
    assert [each["kind"] for each in await shop.everywhere("Test", role)] == ["organization"]


def test_each_kind_is_for_those_who_may_open_its_page():
    assert [each.kind for each in ALL] == list(dict.fromkeys(each.kind for each in ALL))
    assert {each.kind for each in ALL} == set(SHOWN_BY)
    for each in ALL:
        own, everywhere = SHOWN_BY[each.kind]
        assert (each.page is not None, each.console is not None) == (
            own is not None,
            everywhere is not None or each.kind == "sender",
        )
        for name in filter(None, (own, everywhere)):
            assert each.operators <= OPERATIONS[name].operators, (each.kind, name)
        if own is not None:
            assert OPERATIONS[own].roles >= OPERATIONS[FIND.name].roles


async def test_nobody_finds_what_is_of_another_organization(shop, failed, autojump_clock):
    other = await shop.house.organization()
    stranger = Caller("who@else.example", CallerKind.DASHBOARD, Role.OWNER, other.organization_id)
    for query in ("3456", failed[0], failed[1], "demain", failed[0][-8:]):
        theirs = {"organization_id": other.organization_id, "query": query}
        assert (await shop.house.gateway.perform(FIND.name, theirs, stranger))["items"] == []
        with pytest.raises(NotFound):
            await shop.do("search.find", stranger, query=query)
        with pytest.raises((NotFound, Forbidden)):
            await shop.house.gateway.perform(FIND.name, {"query": query}, stranger)


async def test_a_test_key_finds_what_is_of_tests(shop, failed, autojump_clock):
    sent = {"to": TO, "body": "For a test", "mode": "test"}
    await shop.do("send", **sent)
    await shop.do("text.create", name="Absence", language="fr", text="Votre enfant")
    key = key_holder("key_1", shop.mine["organization_id"])
    answer = await shop.do("search.find", key, query="3456", mode="test")
    assert [each["mode"] for each in answer["items"]] == ["test"]
    assert answer["items"][0]["url"].endswith("?mode=test")
    assert await shop.found("demain", key, mode="test") == []
    assert await shop.found(failed[0], key, mode="test") == []
    assert await shop.found("Absence", key, mode="test") == []
    assert await shop.found("Absence", key) == [("text", "Absence")]


async def erase(shop):
    """Every unit of it, as the service does them."""
    asked = await shop.do("number.forget", number=TO)
    for _ in range(200):
        done = await shop.house.gateway.perform("erasure.run", {"erasure_id": asked["id"]})
        if done["erasure"]["state"] == "done":
            return
    raise AssertionError("it comes to no end")


async def test_right_after_an_erasure_nothing_is_found(open_house, tmp_path, autojump_clock):
    async with open_house() as house:
        shop = Shop(house)
        await shop.do("inbound.route")
        await house.wait_status(await house.send("Votre rendez-vous est demain", TO), "sent")
        await shop.come_in("what they wrote")
        assert [kind for kind, _ in await shop.found("3456")] == ["message", "conversation"]
        assert [kind for kind, _ in await shop.found("wrote")] == ["inbound"]
        await erase(shop)
        for query in ("3456", TO, "rendez vous", "wrote", "demain"):
            assert await shop.found(query) == [], query
    files = {each.name: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    for word in (b"demain", b"what they wrote", TO.encode()):
        assert [name for name, octets in files.items() if word in octets] == [], word


async def test_whoever_is_off_a_list_is_not_found(shop, failed, autojump_clock):
    mine = shop.mine["organization_id"]
    journal = shop.house.gateway.services.recorder.journal
    await journal.commit(
        lambda conn: add_list(conn, "lst_1", [TO], organization_id=mine, created_at=1)
    )
    assert [kind for kind, _ in await shop.found("3456")] == ["message", "person"]
    await erase(shop)
    assert await shop.found("3456") == []


async def test_the_page_of_somebody_is_found_whatever_signs_are_in_the_address(
    shop, autojump_clock
):
    await shop.do("member.add", email="fatou+shop&a=b@shop.example", role="viewer")
    (one,) = await shop.everywhere("fatou+shop")
    assert one["url"].endswith("/operator/users?search=fatou%2Bshop%26a%3Db@shop.example")


async def test_more_searches_than_somebody_types_are_refused(shop, monkeypatch, autojump_clock):
    monkeypatch.setattr(operations, "A_MINUTE_MAX", 3)
    for _ in range(3):
        await shop.found("36")
    with pytest.raises(RateLimited) as refused:
        await shop.found("36")
    assert (refused.value.limit, refused.value.retry_after_s) == ("search", 60)
    await shop.found("36", Caller("else@x.example", CallerKind.DASHBOARD, Role.OWNER, **shop.mine))
    shop.house.pass_s(60)
    await shop.found("36")


@pytest.mark.parametrize("query", ["", " ", "x" * 101])
async def test_words_have_a_length(shop, query, autojump_clock):
    with pytest.raises(Invalid):
        await shop.found(query)


async def test_a_kind_that_costs_too_much_is_left_out(shop, failed, monkeypatch, autojump_clock):
    await shop.do("key.create", type="secret", mode="live", name="demain")
    assert [kind for kind, _ in await shop.found("demain")] == ["message", "key"]
    monkeypatch.setattr(rows, "STEPS_MAX", 0)
    monkeypatch.setattr(rows, "_STEPS", 1)
    answer = await shop.do("search.find", member(shop.house), query="demain")
    assert answer["cut"]
    assert "message" not in [each["kind"] for each in answer["items"]]


async def test_a_kind_that_takes_too_long_is_left_out(shop, failed, monkeypatch, autojump_clock):
    """Where one step is slow: a pattern and texts of one letter, repeated."""
    monkeypatch.setattr(rows, "TIME_MAX_S", -1)
    monkeypatch.setattr(rows, "_STEPS", 1)
    answer = await shop.do("search.find", member(shop.house), query="demain")
    assert answer["cut"]
    assert "message" not in [each["kind"] for each in answer["items"]]


@pytest.mark.parametrize(
    "query",
    [
        "%" * 100,
        "_" * 100,
        "*" * 100,
        '"' * 100,
        "(" * 50 + ")" * 50,
        "\\" * 100,
        "' OR 1=1 --",
        'NEAR("demain" "x")',
        "demain AND NOT x",
        "body:demain*",
        "\u202edemain\u202c",
        "<script>alert(1)</script>",
    ],
)
async def test_signs_of_queries_are_signs(shop, failed, query, autojump_clock):
    assert await shop.found(query) in ([], await shop.found("demain"))


async def test_an_answer_has_at_most_so_many_items(shop, autojump_clock):
    for number in range(9):
        await shop.do("key.create", type="secret", mode="live", name=f"Shop {number}")
    answer = await shop.do("search.find", member(shop.house), query="shop")
    assert [each["title"] for each in answer["items"]] == [f"Shop {n}" for n in range(8, 0, -1)]
    assert answer["cut"]
    assert len(answer["items"]) <= ITEMS_MAX
