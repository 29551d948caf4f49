"""The lines of the audit trail as sentences: who did what, by the name of its thing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from risala.engine.model.records.upkeep.trail import AuditLine
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest

SENTENCES: Final[Mapping[str, str]] = {
    "adjust": N_("{who} adjusted the balance of {thing}."),
    "alert.acknowledge": N_("{who} acknowledged the alert {thing}."),
    "alert.mute": N_("{who} muted the alert {thing}."),
    "alert.unmute": N_("{who} ended the muting of the alert {thing}."),
    "approval.confirm": N_("{who} confirmed the request {thing}."),
    "approval.refuse": N_("{who} refused the request {thing}."),
    "audit.export": N_("{who} exported the audit log."),
    "audit.list": N_("{who} viewed the audit log."),
    "carriers.apply": N_("{who} applied new settings of the carriers."),
    "carriers.ask": N_("{who} ran a command of the carrier {thing}."),
    "carriers.drain": N_("{who} drained the carrier {thing}."),
    "carriers.end_override": N_("{who} ended the override of the carrier {thing}."),
    "carriers.override": N_("{who} overrode the settings of the carrier {thing}."),
    "carriers.pause": N_("{who} paused the carrier {thing}."),
    "carriers.reconnect": N_("{who} reconnected the carrier {thing}."),
    "carriers.resume": N_("{who} resumed the carrier {thing}."),
    "country.close": N_("{who} closed a country to {thing}."),
    "country.open": N_("{who} opened a country to {thing}."),
    "factor.add_app": N_("{who} added a code generator to the sign-in."),
    "factor.add_passkey": N_("{who} added a passkey to the sign-in."),
    "factor.remove": N_("{who} removed a second factor."),
    "hook.create": N_("{who} created the hook {thing}."),
    "hook.delete": N_("{who} deleted the hook {thing}."),
    "key.create": N_("{who} created the key {thing}."),
    "key.delete": N_("{who} deleted the key {thing}."),
    "key.disable": N_("{who} disabled the key {thing}."),
    "key.enable": N_("{who} enabled the key {thing}."),
    "key.rotate": N_("{who} rotated the key {thing}."),
    "key.set": N_("{who} changed the key {thing}."),
    "mailing.create": N_("{who} prepared the mailing {thing}."),
    "mailing.delete": N_("{who} deleted the mailing {thing}."),
    "mailing.pause": N_("{who} paused the mailing {thing}."),
    "mailing.start": N_("{who} started the mailing {thing}."),
    "mailing.stop": N_("{who} stopped the mailing {thing}."),
    "member.add": N_("{who} added the member {thing}."),
    "member.invite": N_("{who} invited {thing}."),
    "member.remove": N_("{who} removed the member {thing}."),
    "member.set_role": N_("{who} changed the role of {thing}."),
    "message.body": N_("{who} read the text of the message {thing}."),
    "message.cancel": N_("{who} canceled the message {thing}."),
    "message.erase": N_("{who} erased the message {thing}."),
    "message.find": N_("{who} searched for messages."),
    "message.list": N_("{who} viewed messages."),
    "org.create": N_("{who} created the organization {thing}."),
    "org.delete": N_("{who} deleted the organization {thing}."),
    "org.list": N_("{who} viewed the organizations."),
    "org.resume": N_("{who} resumed the organization {thing}."),
    "org.set": N_("{who} changed the organization {thing}."),
    "org.suspend": N_("{who} suspended the organization {thing}."),
    "payment.begin": N_("{who} began the payment {thing}."),
    "payment.claim": N_("{who} reported the payment {thing} as made."),
    "payment.confirm": N_("{who} confirmed the payment {thing}."),
    "payment.queue": N_("{who} viewed the payments to decide."),
    "payment.refuse": N_("{who} refused the payment {thing}."),
    "price.set": N_("{who} set a price."),
    "send": N_("{who} sent the message {thing}."),
    "sender.clear": N_("{who} approved the sender name {thing}."),
    "sender.deny": N_("{who} denied the sender name {thing}."),
    "sender.list": N_("{who} viewed the sender names."),
    "sender.request": N_("{who} requested the sender name {thing}."),
    "sender.requests": N_("{who} viewed the requests for sender names."),
    "sign_in": N_("{who} signed in."),
    "topup": N_("{who} topped up {thing}."),
    "user.create": N_("{who} created the user {thing}."),
    "user.delete": N_("{who} deleted the user {thing}."),
    "user.reset_factors": N_("{who} reset the second factors of {thing}."),
    "user.set": N_("{who} changed the user {thing}."),
    "user.sign_in": N_("{who} made a link to sign in for {thing}."),
    "user.sign_out": N_("{who} ended the sessions of {thing}."),
    "verify.send": N_("{who} sent the code {thing}."),
    "webhook.create": N_("{who} created the webhook endpoint {thing}."),
    "webhook.delete": N_("{who} deleted the webhook endpoint {thing}."),
    "webhook.disable": N_("{who} disabled the webhook endpoint {thing}."),
    "webhook.enable": N_("{who} enabled the webhook endpoint {thing}."),
    "webhook.rotate": N_("{who} rotated the secret of the webhook endpoint {thing}."),
    "webhook.update": N_("{who} changed the webhook endpoint {thing}."),
}
"""What was done, by the operation. Others are told by their name."""
OTHER: Final = N_("{who} did {operation}.")
OTHER_OF: Final = N_("{who} did {operation}: {thing}.")
_NAMES: Final = ("name", "email", "url", "to")
"""The values of a line that name its thing, the best first."""


def sentence_of(request: PageRequest, line: AuditLine, thing: Markup | None) -> Markup:
    """A line in a sentence.

    Args:
        thing: what it was done to; None: the line names nothing.
    """
    who = Markup('<a href="{}">{}</a>').format(
        request.at("audit", who=line.who), request.name_of(line.who)
    )
    template = SENTENCES.get(line.action)
    if template is not None and (thing is not None or "{thing}" not in template):
        return request.words(template, who=who, thing=thing or "")
    holes = {"who": who, "operation": request.code(line.action)}
    if thing is None:
        return request.words(OTHER, **holes)
    return request.words(OTHER_OF, thing=thing, **holes)


def name_of(line: AuditLine) -> str | None:
    """What people call the thing of a line: its name in the line, else its id."""
    values: Mapping[str, Any] = {**(line.before or {}), **(line.after or {})}
    names = (values.get(name) for name in _NAMES)
    named = next((each for each in names if isinstance(each, str) and each), None)
    return named or line.subject or line.organization_id
