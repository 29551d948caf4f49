"""Settings of sender names."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from risala.config.kinds import Section

Word = Annotated[
    str,
    Field(
        min_length=1,
        max_length=40,
        json_schema_extra={"words": "a name of at most 40 characters"},
    ),
]

_GENERIC: Final = (
    *("admin", "alert", "alerte", "alerts", "auth", "bank", "banque", "cash", "client", "code"),
    *("company", "contact", "credit", "delivery", "demo", "info", "infos", "livraison", "login"),
    *("message", "mobile", "money", "msg", "news", "notice", "notif", "number", "offer", "offre"),
    *("otp", "paiement", "pay", "payment", "phone", "promo", "pub", "sante", "securite"),
    *("security", "service", "services", "shop", "sms", "store", "support", "test", "update"),
    *("verif", "verify", "welcome"),
)
_PROTECTED: Final = (
    # Networks and their brands.
    *("Chinguitel", "Mattel", "Mauritel", "Moov", "Orange"),
    # Banks and wallets of Mauritania.
    *("Amanty", "Attijari", "AUB", "BAMIS", "Bankily", "BCI", "BCM", "BEA", "BFI", "BIM", "BMCI"),
    *("BMI", "BNM", "BPM", "Click", "GazaPay", "GBM", "IBM", "Masrvi", "NBM", "Orabank"),
    *("QNB", "Sedad", "Société Générale"),
    # The state and public services.
    *("CNAM", "CNSS", "Douane", "Gendarmerie", "Houwiyeti", "Impots", "Mauripost", "Mauritanie"),
    *("Police", "SNDE", "SNIM", "Somelec"),
    # Names that are faked everywhere.
    *("Amazon", "Apple", "DHL", "Facebook", "FedEx", "Google", "Instagram", "Mastercard"),
    *("Microsoft", "MoneyGram", "Netflix", "PayPal", "Telegram", "TikTok", "UPS", "Visa"),
    *("Western Union", "WhatsApp"),
)


class SendersSection(Section):
    """Requests for senders that are marked for the operator, who decides; none is refused
    automatically. Names are compared as people read them quickly: ``M4TTEL`` is like Mattel. Names
    similar to the service's own sender, or to another organization's name or sender, are marked
    too."""

    generic: tuple[Word, ...] = _GENERIC
    """Words that are not a name: a sender made only of these is marked."""
    protected: tuple[Word, ...] = _PROTECTED
    """Banks, operators and others whose names are worth faking."""
