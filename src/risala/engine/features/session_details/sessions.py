"""The part that details have in sessions: they are stored with one, count, and are told of it; a
code of the caller's own, and the payment that a code is for, are sealed until it ends."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from typing import Any, Final

from risala.engine.features.session_details.records import NAME, SaidDetails
from risala.engine.features.session_details.rules import (
    PAYMENT,
    minor_of,
    names_payment,
    same_payment,
    shown_amount,
)
from risala.engine.features.session_details.stored import SessionDetailRepository
from risala.engine.features.session_details.stored_texts import CodeTemplateRepository
from risala.engine.model.commands import Beside
from risala.engine.model.errors import FieldFault, Invalid
from risala.engine.model.states import Mode
from risala.engine.rules.sealing import NONCE_BYTES, Seal
from risala.engine.rules.template import variables_of
from risala.engine.rules.verification import VerificationRow
from risala.engine.verify.session_features import (
    NOTHING,
    CodeCheck,
    CodeGone,
    Opening,
    SessionSources,
)

CLIENT_PREFIX_V6: Final = 64
"""Bits of an IPv6 address that tell users apart: a household or a phone has a whole /64."""


class SessionDetails:
    """See the module's text."""

    def __init__(self, sources: SessionSources) -> None:
        self._stored = sources.repositories.part(SessionDetailRepository)
        self._templates = sources.repositories.part(CodeTemplateRepository)
        self._seal = Seal(sources.ring, "session details")

    async def open(self, opening: Opening) -> Opening:
        details, per_hour = self._details(opening), opening.settings.client_ip_per_hour
        if details.client is None or opening.mode is Mode.TEST:
            per_hour = 0
        if per_hour:  # before the other limits; and once more in the transaction, which is exact
            self._stored.check_client(details, per_hour)
        sealed = _sealed_of(opening)
        if sealed:
            nonce = secrets.token_bytes(NONCE_BYTES)
            closed = self._seal.close(json.dumps(sealed, ensure_ascii=False), opening.id, nonce)
            details = replace(details, secrets=tuple(sealed), sealed=closed)
        if "template" in opening.command.beside or "amount" in sealed:
            opening = self._with_text(opening, sealed)
        return replace(
            opening,
            code_length=len(sealed["code"]) if "code" in sealed else opening.code_length,
            features=(*opening.features, NAME),
            stores=(*opening.stores, self._stored.storing(details, per_hour)),
        )

    def _details(self, opening: Opening) -> SaidDetails:
        beside, organization_id = opening.command.beside, opening.organization_id
        client: str | None = beside.get("clientIp")
        return SaidDetails(
            opening.id,
            organization_id,
            opening.mode.value,
            opening.now_ms,
            None if client is None else self._seal.mark(_bucket_of(client), organization_id),
            beside.get("userAgent"),
            tuple(beside.get("tags", ())),
        )

    def _with_text(self, opening: Opening, sealed: Mapping[str, Any]) -> Opening:
        """The session with a text of its own: by name, or with the payment that it is for.

        Raises:
            Invalid: there is no such text, or a variable of it is missing.
        """
        command, settings = opening.command, opening.settings
        locale = command.locale or settings.language
        name: str | None = command.beside.get("template")
        template = settings.template_of(command.locale) if name is None else None
        if name is not None:
            texts = self._templates.named(opening.organization_id, name)
            template = texts.get(locale or "") or texts.get("")
        if template is None:
            text = (
                "The organization has no text of codes by this name, or not in this language:"
                " see `risala verify templates` or Verify > Texts by name."
            )
            raise Invalid("template", "unknown_template", text)
        if "amount" in sealed and not names_payment(template):
            template = f"{template}\n{settings.words_of(command.locale).payment}"
        words = _words(sealed)
        if missing := [each for each in variables_of(template) if each not in words]:
            text = f"`variables` must have {', '.join(missing)}: the text wants them."
            raise Invalid("variables", "missing_variable", text)
        text = settings.frozen(template, command.locale, command.app_hash, command.origin)
        return replace(opening, text=text, words=words)

    def code(self, session: VerificationRow) -> str | None:
        details = self._of_pending(session)
        if "code" not in details.secrets:
            return None
        code: str = self._opened(details)["code"]
        return code

    def words(self, session: VerificationRow) -> Mapping[str, str]:
        details = self._of_pending(session)
        has_words = not {"amount", "variables"}.isdisjoint(details.secrets)
        return _words(self._opened(details)) if has_words else NOTHING

    def judge(self, session: VerificationRow, check: CodeCheck) -> bool | None:
        reported: str | None = check.beside.get("reported")
        try:
            details = self._of_pending(session) if NAME in session.feature_names else None
            names = () if details is None else details.secrets
            if reported is not None and "code" not in names:
                text = "`reported` is only for sessions whose code you gave yourself. Give `code`."
                raise Invalid("reported", "not_own_code", text)
            if details is not None and "amount" in names:
                _want_payment(check.beside)
                if not same_payment(self._opened(details), check.beside):
                    return False
        except CodeGone:
            return False
        return None if reported is None else reported == "approved"

    def details(self, session: VerificationRow) -> Mapping[str, Any]:
        details = self._stored.details_of(session.id)
        return {"tags": list(details.tags)} if details is not None and details.tags else NOTHING

    def _of_pending(self, session: VerificationRow) -> SaidDetails:
        """
        Raises:
            CodeGone: there is no row, though there was one: nothing is approved without it.
        """
        details = self._stored.details_of(session.id)
        if details is None:
            raise CodeGone
        return details

    def _opened(self, details: SaidDetails) -> dict[str, Any]:
        """
        Raises:
            CodeGone: the session has ended, or the server's key is gone.
        """
        opened = None
        if details.sealed is not None:
            opened = self._seal.open(details.sealed, details.verification_id)
        if opened is None:
            raise CodeGone
        values: dict[str, Any] = json.loads(opened)
        return values


def _sealed_of(opening: Opening) -> dict[str, Any]:
    """What is sealed of a request: its code; its payment, with the amount in minor units.

    Raises:
        Invalid: each of them that is not possible.
    """
    beside = opening.command.beside
    values = {name: beside[name] for name in ("code", "variables", *PAYMENT) if name in beside}
    faults = []
    if "code" in values and not opening.settings.own_codes:
        text = (
            "Codes of your own are not switched on: `risala verify config --own-codes` or the box"
            " in Verify > Settings does so."
        )
        faults.append(FieldFault("code", "not_allowed", text))
    if "variables" in values and "template" not in beside:
        text = "`template` is required with `variables`."
        faults.append(FieldFault("template", "required", text))
    missing = [name for name in PAYMENT if name not in values]
    if len(missing) < len(PAYMENT):
        faults += [_missing(name) for name in missing]
    if not missing:
        minor = minor_of(values["amount"], values["currency"])
        if minor is None:
            text = f"`amount` has more decimals than {values['currency']}."
            faults.append(FieldFault("amount", "invalid_amount", text))
        values["amount"] = minor
    if faults:
        raise Invalid.of(faults)
    return values


def _want_payment(beside: Beside) -> None:
    """
    Raises:
        Invalid: a check does not name a payment, and its session has one.
    """
    if missing := [_missing(name) for name in PAYMENT if name not in beside]:
        raise Invalid.of(missing)


def _missing(name: str) -> FieldFault:
    return FieldFault(name, "required", f"`{name}` is required: the code is for a payment.")


def _words(sealed: Mapping[str, Any]) -> dict[str, str]:
    """What is written into the text."""
    words = dict(sealed.get("variables", NOTHING))
    if "amount" in sealed:
        amount = shown_amount(sealed["amount"], sealed["currency"])
        words |= {"amount": amount, "currency": sealed["currency"], "payee": sealed["payee"]}
    return words


def _bucket_of(address: str) -> str:
    """What is counted as one user's address."""
    at = ip_address(address)
    return str(at) if at.version == 4 else f"{int(at) >> (128 - CLIENT_PREFIX_V6):x}"
