"""The receipt of a payment as PDF: what its page says, on paper."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.config.model import LegalSection
from risala.engine.features.statements.records import Issuer
from risala.engine.model.errors import NotFound
from risala.engine.model.records.ledger import LedgerEntry
from risala.http.dashboard.billing.statement import payment_named
from risala.http.web.face import PageAccess
from risala.http.web.files.paper import Paper, can_write, text_of
from risala.http.web.formats import Formats, ms_of
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.http.web.statements import PAPER_COMMAND, isolated, issuer_lines, pdf_response


async def shown(request: PageRequest) -> dict[str, Any]:
    """Whether the receipt can be had as a file, and what would bring that."""
    return {"has_paper": can_write(), "command_of_paper": PAPER_COMMAND}


async def paper(request: PageRequest) -> TrioResponse:
    """The receipt as a PDF.

    Raises:
        NotFound: there is no such payment, or files cannot be written here.
    """
    if not can_write():
        raise NotFound("There is no such entry.")
    entry, currency = await payment_named(request)
    formats = request.formats
    own = Formats(formats.words, formats.zone, currency, formats.now_ms)
    place = request.place
    named = (place.name if place else "", request.organization_id)
    made = paper_of(entry, named, request.site.settings.legal, own)
    return await pdf_response(made, f"receipt-{entry.seq}.pdf")


def paper_of(
    entry: LedgerEntry, organization: tuple[str, str], legal: LegalSection, formats: Formats
) -> Paper:
    """The receipt as a file.

    Args:
        organization: its name and its id.
    """
    words, (name, organization_id) = formats.words, organization
    issuer = Issuer(legal.name, legal.address, legal.tax_id, legal.trade_register)
    at_ms = ms_of(entry.at)
    facts = [
        (words("For"), isolated(name)),
        (words("Organization"), isolated(organization_id)),
        (words("Time"), formats.moment_text(at_ms)),
        (words("Reference"), isolated(entry.reference)),
        (words("Note"), isolated(entry.note or "")),
        (words("Entry number"), formats.num(entry.seq)),
        (words("Balance after"), formats.money(entry.balance_after)),
    ]
    return Paper(
        language=words.language,
        title=text_of(words("Receipt")),
        sender=issuer_lines(issuer, words),
        facts=tuple((text_of(title), text_of(value)) for title, value in facts if value),
        sums=((text_of(words("Received")), text_of(formats.money(entry.amount))),),
        tables=(),
        notes=(),
        page=text_of(words("Page {page}", page="{page}")),
        as_of_ms=at_ms,
    )


ROUTES: Final = (
    PageRoute(path="/app/<org>/billing/receipts/<seq>/pdf", view=paper, access=PageAccess.VIEWER),
)
