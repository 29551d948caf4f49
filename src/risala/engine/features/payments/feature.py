"""Payments by customers, and what banks write about them."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.people_records import MailKind

_HERE: Final = "features.payments."
_PAYMENTS: Final = _HERE + "stored.payments:"
_TEXTS: Final = _HERE + "stored.texts:"
_LETTER: Final = later(_HERE + "service:letter")
FEATURE: Final = Feature(
    name="payments",
    findable=later("features.payments.operations.payments:FOUND"),
    operations=(
        later(_HERE + "operations.payments:OPERATIONS"),
        later(_HERE + "operations.texts:OPERATIONS"),
    ),
    views=("payment.list", "payment.queue", "payment.texts"),
    images={
        AuditImage.BANK_BALANCE: later(_TEXTS + "balance"),
        AuditImage.BANK_TEXT: later(_TEXTS + "text"),
        AuditImage.PAYMENT: later(_PAYMENTS + "payment"),
    },
    exported={"payments": later(_PAYMENTS + "exported")},
    decides={"payments": later(_PAYMENTS + "count_claimed")},
    letters={MailKind.PAYMENT_CONFIRMED: _LETTER, MailKind.PAYMENT_REFUSED: _LETTER},
    access=later(_HERE + "service:access"),
    duties={Duty.CARRIER_TEXTS: later(_HERE + "service:taker")},
    topped_up=later(_TEXTS + "settle_by_hand"),
    credits=later(_PAYMENTS + "of_entry"),
    books=later(_PAYMENTS + "BOOKS"),
    metrics=later(_HERE + "service:of_payments"),
    tasks=later(_HERE + "service:tasks"),
    rests_without=("payment_methods",),
    tables=("payments", "bank_texts", "bank_balances"),
    walks={WalkKind.BANK_TEXTS: later(_TEXTS + "forget_words")},
    dashboard=(
        elsewhere("http.dashboard.billing.top_up:ROUTES"),
        elsewhere("http.dashboard.billing.checkout:ROUTES"),
    ),
    console=(
        elsewhere("http.operator.bank:ROUTES"),
        elsewhere("http.operator.payments:ROUTES"),
    ),
    commands={"payment": elsewhere("cli.commands.accounts.payment:payment")},
    shown={"billing": elsewhere("http.dashboard.billing.top_up:ways")},
    called=elsewhere("http.dashboard.billing.checkout:add_callbacks"),
)
