"""Verifications by hand: configuration, sends, checks, cancels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeDigits,
    MaybeMoment,
    MaybeNumber,
    MaybeText,
    MaybeWhole,
    ModeWord,
    Moment,
    Number,
    OfOrganization,
    Text,
    fault,
    maybe,
    text,
)
from risala.engine.kernel.cursors import (
    MaybeTimedPlace,
    few_numbers,
    part_of,
    steps_of,
    written,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import Invalid
from risala.engine.model.money import money
from risala.engine.model.records.asks import CursorPage, Steps
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.message_lists import SessionFilter
from risala.engine.model.records.verify.sessions import (
    CANCEL,
    CHECK,
    FIGURES,
    GET,
    LIST,
    SEND,
    CodeSent,
    Funnel,
    JudgedCode,
    SessionPage,
    VerificationView,
)
from risala.engine.model.records.verify.settings import (
    ANY_LANGUAGE,
    CONFIG,
    AutofillSize,
    CodeConfiguration,
    CodeSettings,
    CodeSize,
)
from risala.engine.model.states import Mode, SessionState
from risala.engine.operations.messages import unserved_warning, warning_wire
from risala.engine.rules.roles import DEVELOPERS, READERS, SUPPORT, VIEWERS
from risala.engine.rules.template import DEFAULT_LOCALE, TEMPLATE_MAX
from risala.engine.rules.verification import VerificationRow
from risala.engine.rules.verify_settings import (
    BOUNDS,
    ENTRIES_MAX,
    VerifySettings,
    parse_verify_settings,
)
from risala.engine.services import Services
from risala.engine.verify.sessions import Judge, Open, Withdraw, settle_seen, view_of


class Configure(OfOrganization):
    """Change an organization's Verify settings. The other arguments are fields of
    :class:`VerifySettings`, which names their faults."""

    model_config = ConfigDict(extra="allow")

    version: MaybeWhole = None

    @property
    def changes(self) -> Json:
        return dict(self.model_extra or {})


class SendCodeTo(OfOrganization):
    """Send a one-time code by hand."""

    to: Number
    locale: MaybeText = None
    app_hash: MaybeText = None
    origin: MaybeText = None
    mode: ModeWord = "live"
    """A test code is not sent and costs nothing."""


class OfVerification(Arguments):
    """Names one verification session."""

    verification_id: Text


class CheckCode(OfVerification, OfOrganization):
    """Check a code."""

    code: Text = Field(repr=False)


def _sent_wire(sent: CodeSent) -> Json:
    return {"verificationId": sent.verification_id, **warning_wire(sent.warning)}


OPERATIONS: Final = Operations()
_CHANGE: Final[dict[str, Any]] = {"roles": DEVELOPERS, "changes": VerificationView}


@OPERATIONS(
    CONFIG,
    versioned_by="organization_id",
    roles=VIEWERS,
    operators=READERS,
    owner=owners.named,
    reserved=dict.fromkeys(VerifySettings.model_fields, DEVELOPERS),
    changes=CodeConfiguration,
)
async def _config(call: Call[Configure]) -> CodeConfiguration:
    """Show an organization's Verify configuration, after changing what was given."""
    services, organization_id = call.services, call.arguments.organization_id
    services.accounts.fresh_organization(organization_id)
    texts = services.settings.code_texts
    current = services.code_settings(organization_id)
    if call.arguments.changes:
        current = parse_verify_settings({**current.model_dump(), **call.arguments.changes}, texts)
        _check_sender(services, organization_id, current)
        by = call.audit(
            AuditImage.VERIFY_SETTINGS, organization_id, organization_id=organization_id
        )
        await services.repositories.verifications.put_settings(by, organization_id, current)
    return _shown(services, organization_id, current)


def _check_sender(services: Services, organization_id: str, settings: VerifySettings) -> None:
    if settings.sender is None:
        return
    sender = services.senders.by_name(organization_id, settings.sender)
    if sender is None or sender.status != "approved":
        text = f"The sender {settings.sender!r} is not approved for the organization."
        raise Invalid("sender", "not_approved", text)


def _shown(services: Services, organization_id: str, settings: VerifySettings) -> CodeConfiguration:
    organization = services.accounts.organization(organization_id)
    per_segment = services.intake.prices.per_segment_of(organization)
    texts = services.settings.code_texts
    sizes: dict[str, CodeSize] = {}
    with_lines: list[AutofillSize] = []
    for (locale, app_hash, origin), size in settings.sizes():
        language, price = locale or ANY_LANGUAGE, size.segments * per_segment
        figures = (size.segments, size.alphabet.value, price)
        if app_hash or origin:
            with_lines.append(AutofillSize(*figures, language, app_hash, origin))
        else:
            sizes[language] = CodeSize(*figures)
    return CodeConfiguration(
        organization.id,
        CodeSettings(**settings.model_dump()),
        BOUNDS,
        TEMPLATE_MAX,
        ENTRIES_MAX,
        {ANY_LANGUAGE: texts[DEFAULT_LOCALE].code, **{each: texts[each].code for each in texts}},
        sizes,
        tuple(with_lines),
        {name: each.name for name, each in texts.items()},
        {ANY_LANGUAGE: settings.words_of(None).never_share}
        | {name: each.never_share for name, each in texts.items()},
        (*_long_texts(sizes, organization.currency), *_unfilled(with_lines, organization.currency)),
    )


def _long_texts(sizes: Mapping[str, CodeSize], currency: str) -> Iterator[str]:
    for name, size in sizes.items():
        if size.segments > 1:
            yield (
                f"The template for {name} makes {size.segments} segments:"
                f" each code costs {money(size.price)} {currency}."
            )


def _unfilled(sizes: Iterable[AutofillSize], currency: str) -> Iterator[str]:
    for size in sizes:
        lines = " and ".join(
            name for name, has in (("app hash", size.app_hash), ("origin", size.origin)) if has
        )
        if size.segments > 1:
            android = " Android fills in no code of more than 140 octets." if size.app_hash else ""
            yield (
                f"The template for {size.language} with its {lines} makes {size.segments} segments:"
                f" each code costs {money(size.price)} {currency}.{android}"
            )


def _principal(call: Call[Any], organization_id: str, mode: Mode) -> Principal:
    organization = call.services.accounts.fresh_organization(organization_id)
    return Principal(organization.id, "operator", KeyType.SECRET, mode)


@OPERATIONS(SEND, wire=_sent_wire, owner=owners.named, **_CHANGE)
async def _send(call: Call[SendCodeTo]) -> CodeSent:
    arguments, services = call.arguments, call.services
    command = SendCode(
        to=arguments.to,
        locale=arguments.locale,
        app_hash=arguments.app_hash,
        origin=arguments.origin,
    )
    principal = _principal(call, arguments.organization_id, Mode(arguments.mode))
    policies = services.intake.policies
    if policies.are_there_for_codes:
        await policies.rule_code(principal, command.to)
    verification_id = await services.sessions.ask(
        Open(principal, command, call.audit(AuditImage.VERIFICATION))
    )
    session = services.repositories.verifications.session(verification_id)
    warning = None if session.is_fixed else unserved_warning(services, session.message_id)
    return CodeSent(verification_id, warning)


@OPERATIONS(CHECK, owner=owners.named, **_CHANGE)
async def _check(call: Call[CheckCode]) -> JudgedCode:
    arguments = call.arguments
    by = call.audit(AuditImage.VERIFICATION, arguments.verification_id)
    row = call.services.repositories.verifications.find(arguments.verification_id)
    mode = Mode.LIVE if row is None else Mode(row.mode)
    principal = _principal(call, arguments.organization_id, mode)
    approved = await call.services.sessions.ask(
        Judge(principal, arguments.verification_id, arguments.code, by)
    )
    return JudgedCode("approved" if approved else "denied")


@OPERATIONS(GET, roles=VIEWERS, operators=SUPPORT, owner=owners.of_verification)
async def _get(call: Call[OfVerification]) -> VerificationView:
    services, verification_id = call.services, call.arguments.verification_id
    row = services.repositories.verifications.session(verification_id)
    if await settle_seen(services.sessions, services.recorder.clock, (row,)):
        row = services.repositories.verifications.session(verification_id)
    return view_of(row, call.now_ms, services.session_features)


@OPERATIONS(CANCEL, operators=SUPPORT, owner=owners.of_verification, **_CHANGE)
async def _cancel(call: Call[OfVerification]) -> VerificationView:
    verification_id = call.arguments.verification_id
    by = call.audit(AuditImage.VERIFICATION, verification_id)
    await call.services.sessions.ask(Withdraw(verification_id, by))
    return await _get(call)


# -- lists of sessions, and the results of those of a time


def _state(value: object) -> str:
    state = text(value)
    if state not in set(SessionState):
        raise fault("invalid_status", "`{name}` must be the status of a session.")
    return state


class ListSessions(OfOrganization):
    """A page of an organization's verification sessions, the newest first."""

    mode: ModeWord = "live"
    status: Annotated[
        str | None, PlainValidator(maybe(_state)), ArgumentKind("status of a session")
    ] = None
    to: MaybeNumber = None
    digits: MaybeDigits = None
    """The digits of the number that got the code."""
    since: MaybeMoment = None
    until: MaybeMoment = None
    before: MaybeTimedPlace = None
    after: MaybeTimedPlace = None
    limit: MaybeWhole = None


class SumSessions(OfOrganization):
    """The results of an organization's verification sessions of a time."""

    since: Moment
    until: Moment
    mode: ModeWord = "live"


@OPERATIONS(LIST, roles=VIEWERS, operators=SUPPORT, owner=owners.named)
async def _list_sessions(call: Call[ListSessions]) -> SessionPage:
    arguments, now_ms = call.arguments, call.now_ms
    call.services.accounts.organization(arguments.organization_id)
    session_filter = SessionFilter(
        arguments.organization_id,
        arguments.mode,
        now_ms,
        status=arguments.status,
        recipient=arguments.to,
        part=part_of(call.services.settings.plan, arguments.digits),
        since=arguments.since,
        until=arguments.until,
    )
    steps = steps_of(arguments.limit, arguments.before, arguments.after)
    page = await _session_page(call, session_filter, steps)
    if await settle_seen(call.services.sessions, call.services.recorder.clock, page.items):
        page = await _session_page(call, session_filter, steps)
    return SessionPage(
        tuple(view_of(row, now_ms, call.services.session_features) for row in page.items),
        written(page.newer),
        written(page.older),
        None if page.looked_to is None else page.looked_to.created_at,
    )


async def _session_page(
    call: Call[ListSessions], session_filter: SessionFilter, steps: Steps
) -> CursorPage[VerificationRow]:
    stored = call.services.repositories.verifications
    with few_numbers():
        if session_filter.part is None:
            return stored.page(session_filter, steps)
        return await stored.page_by_part(session_filter, steps)


@OPERATIONS(FIGURES, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _figures(call: Call[SumSessions]) -> Funnel:
    arguments = call.arguments
    call.services.accounts.organization(arguments.organization_id)
    stored = call.services.repositories.verifications
    return stored.funnel(
        arguments.organization_id, arguments.mode, arguments.since, arguments.until
    )
