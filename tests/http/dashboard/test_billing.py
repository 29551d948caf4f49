"""The billing page: figures, statement, receipts, and the low-balance alert."""

import re
from html import unescape
from urllib.parse import quote

import pytest
import trio

from cases import sweep
from risala.config.model import LegalSection, Settings
from risala.engine.model.callers import Role
from risala.engine.model.errors import EditConflict, Invalid
from risala.engine.model.people import Language
from risala.http.dashboard.app import create_dashboard
from web_browser import FixedClock
from web_people import RefusesTheChange, entry
from web_statements import month_invoice

BILLING = "/app/org_1/billing"


@pytest.fixture(autouse=True)
def _entries(gateway):
    gateway.month = {"payments": []}
    gateway.entries = [
        entry(1, "topup", "10000.00", reference="MS-220814", note="<script>alert(1)</script>"),
        entry(2, "adjustment", "36.00", note="Charged twice"),
        *(entry(seq) for seq in range(3, 40)),
    ]


async def test_the_figures(owner):
    page = await owner.get(BILLING)
    assert page.status == 200
    assert "12,480.50" in page.text
    # 12,480.50 at 1,134.50 a day.
    assert '<bdi class="num">11</bdi> days' in page.text
    assert "1,134.50" in page.text
    assert "5,000.00" in page.text


@pytest.mark.parametrize(("language", "shown"), [("fr", "1\u00a0000,00"), ("en", "1,000.00")])
async def test_the_usual_alert_is_proposed_as_its_reader_writes_it(reader_as, language, shown):
    page = await reader_as(language=Language(language)).get(BILLING)
    field = next(each for _, each in page.tags if each.get("name") == "low_balance")
    assert field["placeholder"] == shown


async def test_without_a_pace_nothing_is_foretold(owner, gateway):
    told = gateway.ledger
    gateway.ledger = lambda **asked: {**told(**asked), "spentADay": "0.00"}
    assert "last week’s spending is too low" in (await owner.get(BILLING)).text


async def test_the_statement_goes_on_by_key(owner, gateway):
    page = await owner.get(BILLING)
    assert "before=15" in page.text
    assert "sms_15" in page.text
    assert "sms_14" not in page.text
    page = await owner.get(f"{BILLING}?before=15")
    assert "sms_14" in page.text
    assert "sms_15" not in page.text
    assert f'href="{BILLING}?after=14" rel="prev"' in page.text
    page = await owner.get(f"{BILLING}?after=14")
    assert "sms_39" in page.text
    assert "sms_14" not in page.text


@pytest.mark.parametrize(
    ("kind", "seen", "unseen"),
    [
        ("charge", "sms_15", "MS-220814"),
        ("topup", "MS-220814", "Charged twice"),
        ("adjustment", "Charged twice", "MS-220814"),
        ("payments", "Charged twice", "sms_15"),
        ("refund", "No such entry", "sms_15"),
    ],
)
async def test_the_statement_by_kind(owner, kind, seen, unseen):
    page = await owner.get(f"{BILLING}?kind={quote(kind)}")
    assert seen in page.text
    assert unseen not in page.text


async def test_the_statement_by_days_of_the_organization(owner, gateway):
    gateway.organization["timeZone"] = "Asia/Tokyo"
    page = await owner.get(f"{BILLING}?kind=charge&since=2026-11-09&until=2026-11-10")
    asked = next(given for name, given in gateway.done if name == "ledger.list")
    assert (asked["since"], asked["until"]) == (
        "2026-11-09T00:00:00+09:00",
        "2026-11-11T00:00:00+09:00",
    )
    assert 'value="2026-11-10"' in page.text
    assert "since=2026-11-09" in page.text
    gateway.done.clear()
    page = await owner.get(f"{BILLING}?since=x&until=2026-99-99")
    assert page.status == 422
    assert "ledger.list" not in [name for name, _ in gateway.done]


@sweep("kind", ["<b>", "charges"])
async def test_a_kind_that_is_none_is_refused(owner, kind):
    page = await owner.get(f"{BILLING}?kind={quote(kind)}")
    assert page.status == 422
    assert "<b>" not in page.text.partition("<main")[2].replace("&lt;b&gt;", "")


async def test_the_days_of_the_statement_are_told_in_the_page_s_words(reader_as, gateway):
    gateway.organization["timeZone"] = "Asia/Tokyo"
    reader = reader_as(language=Language.ARABIC)
    page = await reader.get(f"{BILLING}?kind=charge&since=2026-11-09&until=2026-11-21")
    for told in ("الرسائل", "منذ 9 نوفمبر 2026", "حتى 21 نوفمبر 2026"):
        assert f"<span>{told}</span><svg" in page.text, [
            each for each in page.text.split("<svg") if 'class="chip"' in each
        ]
    chips = [each["href"] for tag, each in page.tags if each.get("class") == "chip"]
    assert chips[2].endswith("?kind=charge&since=2026-11-09")


async def test_a_look_that_was_broken_off_says_so(owner, gateway):
    gateway.looked_to = gateway.entries[0]["at"]
    page = await owner.get(f"{BILLING}?kind=refund")
    assert "older entries are on the next page" in page.text


async def test_the_statement_as_a_file(owner, gateway):
    gateway.entries.append(entry(900, "topup", "5.00", reference="+222 BK", note="=1+1"))
    page = await owner.get(f"{BILLING}/statement?kind=payments")
    assert page.status == 200
    assert page.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="statement-2026-11-21.csv"' in page.headers["content-disposition"]
    lines = page.text.removeprefix("\ufeff").splitlines()
    assert lines[0].startswith('"entry","createdAt","kind","amount"')
    assert lines[1].startswith('"900","2026-11-')
    assert '"topup","5.00","12480.50","MRU","\'+222 BK","","\'=1+1"' in lines[1]
    assert [line.split(",")[0] for line in lines[1:]] == ['"900"', '"2"', '"1"']


async def test_a_file_goes_on_beyond_one_answer(owner, gateway):
    gateway.entries = [entry(seq) for seq in range(1, 1102)]
    page = await owner.get(f"{BILLING}/statement")
    rows = page.text.splitlines()[1:]
    assert len(rows) == 1101
    assert rows[-1].startswith('"1",')


async def test_payments_alone_as_text(owner):
    page = await owner.get(f"{BILLING}?kind=payments")
    assert "MS-220814" in page.text
    assert "sms_15" not in page.text
    assert "<script>alert" not in page.text


@pytest.mark.parametrize("before", ["x", "-1", "9" * 30, "%D9%A3"])
async def test_a_wrong_place_is_refused(owner, before):
    page = await owner.get(f"{BILLING}?before={before}")
    assert page.status == 422
    assert "sms_39" not in page.text


async def test_a_receipt_is_of_a_payment_alone(owner):
    page = await owner.get(f"{BILLING}/receipts/1")
    assert page.status == 200
    assert "MS-220814" in page.text
    assert "10,000.00" in page.text
    for seq in ("2", "3", "99", "x", "9" * 30):
        assert (await owner.get(f"{BILLING}/receipts/{seq}")).status == 404


async def test_the_alert_is_set_and_taken_back(owner, gateway):
    page = await owner.get(BILLING)
    for given, asked in (("250", "250"), ("", None)):
        answer = await owner.submit(page, f"{BILLING}/alert", {"low_balance": given})
        assert answer.location == BILLING
        told = {"organization_id": "org_1", "low_balance": asked, "version": 7}
        assert gateway.done[-1] == ("org.set", told)


async def test_an_amount_is_read_as_its_reader_writes_it(owner, gateway):
    page = await owner.get(BILLING)
    for given in ("99,50", "99.50", "٩٩٫٥٠"):
        await owner.submit(page, f"{BILLING}/alert", {"low_balance": given})
        assert gateway.done[-1][1]["low_balance"] == "99.50"


async def test_who_comes_second_sees_the_first_before_it_is_overwritten(owner, gateway):
    page = await owner.get(BILLING)
    others = {**gateway.organization, "lowBalance": "400.00", "version": 9}
    gateway.organization = others
    gateway.perform = RefusesTheChange(gateway.perform, EditConflict("sidi@baraka.example"))
    page = await owner.submit(page, f"{BILLING}/alert", {"low_balance": "250"})
    assert page.status == 422
    assert "sidi@baraka.example</bdi> changed this meanwhile." in page.text
    assert "Present values" in page.text
    assert "400.00" in page.text
    assert 'value="250"' in page.text
    assert page.field("version") == "9"


async def test_a_wrong_amount_is_told_at_its_field(owner, gateway):
    page = await owner.get(BILLING)
    error = Invalid("low_balance", "invalid_amount", "No.")
    gateway.perform = RefusesTheChange(gateway.perform, error)
    page = await owner.submit(page, f"{BILLING}/alert", {"low_balance": "<lots>"})
    assert page.status == 422
    assert "Write an amount in digits" in page.text
    assert 'value="&lt;lots&gt;"' in page.text


async def test_an_organization_that_never_paid(owner, gateway):
    gateway.entries = []
    assert "Nothing here yet" in (await owner.get(BILLING)).text


async def test_a_viewer_reads_and_sets_nothing(reader_as):
    page = await reader_as(Role.VIEWER).get(BILLING)
    assert "Statement" in page.text
    assert "billing/alert" not in page.text


LEGAL = LegalSection(
    name="Risala <SARL>",
    address=("Îlot K, n° 12", "Nouakchott"),
    tax_id="NIF 00441122",
    trade_register="RC 81234",
)


@pytest.fixture
def app(request, gateway):
    """A dashboard whose operator has said who they are by law, where a test asks for that."""
    legal = LEGAL if "language" in request.fixturenames else LegalSection()
    settings = Settings(legal=legal)
    return create_dashboard(gateway, settings, shutdown=trio.Event(), clock=FixedClock())


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("Issued by", "Tax number", "Trade register")),
        ("fr", ("Émis par", "Numéro d’identification fiscale", "Registre du commerce")),
        ("ar", ("صادر عن", "رقم التعريف الضريبي", "السجل التجاري")),
    ],
)
@pytest.mark.parametrize("place", ["/receipts/1", ""])
async def test_receipts_and_statements_say_who_issued_them(reader_as, language, words, place):
    page = await reader_as(language=Language(language)).get(f"{BILLING}{place}")
    assert page.status == 200
    for each in (*words, "Îlot K, n° 12", "Nouakchott", "NIF 00441122", "RC 81234"):
        assert each in page.text
    assert "Risala &lt;SARL&gt;" in page.text


@pytest.mark.parametrize("place", ["/receipts/1", ""])
async def test_who_has_said_nothing_is_not_named(owner, place):
    page = await owner.get(f"{BILLING}{place}")
    assert "Issued by" not in page.text
    assert "Tax number" not in page.text


# -- the month


async def test_the_month_says_what_its_money_went_for(owner, gateway):
    page = await owner.get(f"{BILLING}?month=2026-10")
    assert ("statement.get", {"organization_id": "org_1", "month": "2026-10"}) in gateway.done
    for told in ("Oct 2026", "2,000.00", "4,000", "2,753.50", "Autumn", "&lt;Shop&gt;"):
        assert told in page.text
    # Another month on each side; none before the first entry, none after the present one.
    assert f'href="{BILLING}?month=2026-09" rel="prev"' in page.text
    assert f'href="{BILLING}?month=2026-11" rel="next"' in page.text
    page = await owner.get(f"{BILLING}?month=2026-09")
    assert 'rel="prev"' not in page.text.partition("h-month")[2].partition("</header>")[0]
    page = await owner.get(BILLING)
    assert 'rel="next"' not in page.text.partition("h-month")[2].partition("</header>")[0]


async def test_the_scale_of_small_costs_has_decimals(owner, gateway):
    def scale(page):
        drawn = page.text.partition('class="y"')[2].partition("</div>")[0]
        return re.findall("<span>(?:<[^>]*>)?([0-9.,]+)<", drawn)

    assert scale(await owner.get(BILLING))[-1] == "0"
    source = {"source": "key", "messages": 3, "amount": "1.50"}
    day = {"day": "2026-11-02", "sources": [source]}
    rest = {"refunded": "0.00", "credited": "0.00", "balanceAfter": "1.00"}
    gateway.month = {"days": [{**day, **rest}]}
    assert scale(await owner.get(BILLING)) == ["1.50", "1.00", "0.50", "0.00"]


async def test_a_month_that_is_none_is_refused_with_its_field(owner, gateway):
    gateway.refuse = Invalid("month", "invalid_month", "`month` is a month such as `2026-11`.")
    page = await owner.get(f"{BILLING}?month=<b>")
    assert page.status == 422
    assert "<b>" not in page.text.partition("<main")[2].replace("&lt;b&gt;", "")


async def test_each_payment_has_its_line_and_its_receipt(owner, gateway):
    gateway.month = {}
    page = await owner.get(BILLING)
    paid = page.text.partition('id="h-paid"')[2].partition("</section>")[0]
    assert "+10,000.00" in paid
    assert f'href="{BILLING}/receipts/1"' in paid
    assert "<script>" not in paid


async def test_the_end_of_the_balance_is_a_day(owner):
    assert "until" in (await owner.get(BILLING)).text
    assert "2 Dec 2026" in (await owner.get(BILLING)).text


async def test_days_that_are_not_summed_are_told(owner, gateway):
    gateway.month = {"payments": [], "countedUntil": "2026-11-20T00:00:00.000Z"}
    assert "days from" in (await owner.get(BILLING)).text


async def test_a_month_as_pdf(owner, gateway):
    page = await owner.get(f"{BILLING}/months/2026-11")
    assert page.status == 200
    assert page.headers["content-type"] == "application/pdf"
    assert page.headers["content-disposition"] == 'attachment; filename="statement-2026-11.pdf"'
    for odd in ("2026-1", "x", "2026-11.pdf"):
        assert (await owner.get(f"{BILLING}/months/{odd}")).status == 404


async def test_without_what_writes_pdf_there_is_no_button(owner, monkeypatch):
    monkeypatch.setattr("risala.http.web.files.paper._is_there", lambda: False)
    told = (await owner.get(BILLING)).text
    assert "(PDF)" not in told
    assert 'pip install "risala[pdf]"' in unescape(told)
    assert (await owner.get(f"{BILLING}/months/2026-11")).status == 404


async def test_a_month_leads_to_its_invoice(owner, gateway):
    gateway.invoices = (
        month_invoice("2026-10"),
        month_invoice("2026-09", id="inv_0", number="F-0041"),
    )
    page = await owner.get(f"{BILLING}?month=2026-10")
    shown, _, rest = page.text.partition('id="h-invoices"')
    assert f'href="{BILLING}/invoices/inv_1"' in shown
    assert f'href="{BILLING}/invoices/inv_0"' not in shown
    for told in ("F-0042", "Oct 2026", "1 Nov 2026", "2,753.50", f"{BILLING}/invoices/inv_0"):
        assert told in rest
    page = await owner.get(f"{BILLING}?month=2026-11")
    assert f"{BILLING}/invoices" not in page.text.partition('id="h-invoices"')[0]


async def test_a_month_whose_invoice_is_no_more_on_the_page_leads_to_it(owner, gateway):
    gateway.invoices = (
        *(month_invoice("2026-11", id="inv_3"), month_invoice("2026-10", id="inv_2")),
        month_invoice("2026-09", id="inv_1", number="F-0040"),
    )
    page = await owner.get(f"{BILLING}?month=2026-09")
    shown, _, rest = page.text.partition('id="h-invoices"')
    assert f'href="{BILLING}/invoices/inv_1"' in shown
    assert "F-0040" in rest
    assert "F-0040" not in (await owner.get(f"{BILLING}?month=2026-10")).text


async def test_owners_say_what_stands_about_them_on_invoices(owner, gateway, monkeypatch):
    assert "/app/org_1/settings/invoices" not in (await owner.get("/app/org_1/settings")).text
    monkeypatch.setattr(LegalSection, "can_invoice", True)
    assert 'href="/app/org_1/settings/invoices"' in (await owner.get("/app/org_1/settings")).text
    page = await owner.get("/app/org_1/settings/invoices")
    assert "3 &lt;Palm&gt; Avenue\nRosso</textarea>" in page.text
    assert 'value="0077"' in page.text
    typed = {"address": "Avenue 3\r\n\r\nRosso", "tax_id": ""}
    sent = await owner.submit(page, "/app/org_1/settings/invoices", typed)
    assert sent.location.endswith("/app/org_1/settings/invoices")
    given = {"organization_id": "org_1", "address": ["Avenue 3", "Rosso"], "tax_id": ""}
    assert gateway.done[-1] == ("invoice.customer", given)


async def test_without_invoices_nothing_speaks_of_them(owner):
    assert "nvoice" not in (await owner.get(BILLING)).text.partition("<main")[2]


async def test_an_invoice_as_pdf(owner, gateway, monkeypatch):
    gateway.invoices = (month_invoice(),)
    page = await owner.get(f"{BILLING}/invoices/inv_1")
    assert ("invoice.get", {"invoice_id": "inv_1"}) in gateway.done
    assert page.headers["content-type"] == "application/pdf"
    assert page.headers["content-disposition"] == 'attachment; filename="F-0042.pdf"'
    monkeypatch.setattr("risala.http.web.files.paper._is_there", lambda: False)
    assert (await owner.get(f"{BILLING}/invoices/inv_1")).status == 404


async def test_where_nobody_pays_a_month_has_parts_by_day(owner, gateway):
    gateway.is_self_paid = True
    gateway.month = {
        "ownParts": [{"day": "2026-10-02", "parts": 1208}, {"day": "2026-10-03", "parts": 3}]
    }
    page = await owner.get("/app/org_1/day-parts?month=2026-10")
    assert ("statement.get", {"organization_id": "org_1", "month": "2026-10"}) in gateway.done
    main = page.text.partition("<main")[2]
    for told in ("Oct 2026", "1,211", "1,208", "2 Oct 2026"):
        assert told in main
    assert "MRU" not in main
    assert 'href="/app/org_1/day-parts?month=2026-09" rel="prev"' in main
    assert 'href="/app/org_1/day-parts"' in (await owner.get("/app/org_1/overview")).text
    gateway.month = {"ownParts": []}
    assert "Nothing left" in (await owner.get("/app/org_1/day-parts")).text


async def test_where_customers_pay_nothing_leads_to_parts(owner):
    assert "/day-parts" not in (await owner.get(BILLING)).text
    assert "Nobody pays" not in (await owner.get("/app/org_1/day-parts")).text


async def test_a_receipt_as_pdf(owner, gateway, monkeypatch):
    page = await owner.get(f"{BILLING}/receipts/1")
    assert f'href="{BILLING}/receipts/1/pdf"' in page.text
    page = await owner.get(f"{BILLING}/receipts/1/pdf")
    assert page.headers["content-type"] == "application/pdf"
    assert page.headers["content-disposition"] == 'attachment; filename="receipt-1.pdf"'
    for odd in ("2", "3", "99", "x"):  # an adjustment, a charge, none
        assert (await owner.get(f"{BILLING}/receipts/{odd}/pdf")).status == 404
    monkeypatch.setattr("risala.http.web.files.paper._is_there", lambda: False)
    assert (await owner.get(f"{BILLING}/receipts/1/pdf")).status == 404
    assert "/pdf" not in (await owner.get(f"{BILLING}/receipts/1")).text


async def test_forms_stand_open_only_where_something_is_wrong(owner, gateway):
    page = await owner.get(BILLING)
    assert '<details class="opens" id="topup">' in page.text
    error = Invalid("low_balance", "invalid_amount", "No.")
    gateway.perform = RefusesTheChange(gateway.perform, error)
    page = await owner.submit(page, f"{BILLING}/alert", {"low_balance": "x"})
    assert '<details class="opens" id="alert" open>' in page.text
    assert '<details class="opens" id="topup">' in page.text


async def test_a_receipt_has_a_button_to_print(owner):
    assert "data-print" in (await owner.get(f"{BILLING}/receipts/1")).text
