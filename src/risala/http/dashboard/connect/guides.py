"""What is pasted where in a program that sends through a hook, step by step.

Sentences are few and have holes: the names of a program's own pages and fields stay as the program
has them, in every language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.features.hooks.records import HookPreset
from risala.http.web.languages import N_, Words

OPEN: Final = N_("Open {place}.")
CHOOSE: Final = N_("As {field}, choose {choice}.")
WRITE: Final = N_("As {field}, write {value}.")
ADDRESS: Final = N_("As {field}, paste the address.")
SECRET: Final = N_("As {field}, paste the secret.")
SWITCH_ON: Final = N_("Switch {field} on.")
SWITCH_OFF: Final = N_("Switch {field} off.")
FILE: Final = N_("Put this into {file}:")
FIELD_TEXT: Final = N_("Put this into the field {field}:")
NAMED: Final = N_("Name {name} as the {field} of a contact.")
RESTART: Final = N_("Restart {program}.")


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One step: a sentence, and what is copied for it."""

    text: str
    names: Mapping[str, str] = field(default_factory=dict)
    """The program's own words, by the holes of the sentence."""
    block: str = ""
    """What is pasted, with ``<address>`` and ``<secret>``; empty: the sentence says all."""


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step as its reader sees it."""

    text: Markup
    block: str


def _supabase() -> tuple[GuideStep, ...]:
    env = (
        "GOTRUE_EXTERNAL_PHONE_ENABLED=true\n"
        "GOTRUE_HOOK_SEND_SMS_ENABLED=true\n"
        "GOTRUE_HOOK_SEND_SMS_URI=<address>\n"
        "GOTRUE_HOOK_SEND_SMS_SECRETS=<secret>"
    )
    return (
        GuideStep(OPEN, {"place": "Authentication → Auth Hooks → Send SMS hook"}),
        GuideStep(CHOOSE, {"field": "Hook type", "choice": "HTTPS"}),
        GuideStep(ADDRESS, {"field": "URL"}),
        GuideStep(SECRET, {"field": "Secret"}),
        GuideStep(
            N_("If you run {program} yourself, set this for the container {name} instead:"),
            {"program": "Supabase", "name": "auth"},
            env,
        ),
    )


_KRATOS: Final = """\
courier:
  channels:
    - id: sms
      type: http
      request_config:
        url: <address>
        method: POST
        headers:
          Content-Type: application/json
        # function(ctx) { to: ctx.recipient, body: ctx.body }
        body: base64://ZnVuY3Rpb24oY3R4KSB7IHRvOiBjdHgucmVjaXBpZW50LCBib2R5OiBjdHguYm9keSB9
        auth:
          type: basic_auth
          config:
            user: risala
            password: <secret>"""
_ALERTMANAGER: Final = """\
receivers:
  - name: sms
    webhook_configs:
      - url: <address>
        http_config:
          authorization:
            credentials: <secret>"""
_NAGIOS: Final = """\
define command {
  command_name  notify-service-by-sms
  command_line  /usr/bin/curl -fsS -m 10 -H @/etc/nagios/risala-header \
--data-urlencode "type=$NOTIFICATIONTYPE$" --data-urlencode "host=$HOSTNAME$" \
--data-urlencode "service=$SERVICEDESC$" --data-urlencode "state=$SERVICESTATE$" \
--data-urlencode "output=$SERVICEOUTPUT$" <address>
}
define command {
  command_name  notify-host-by-sms
  command_line  /usr/bin/curl -fsS -m 10 -H @/etc/nagios/risala-header \
--data-urlencode "type=$NOTIFICATIONTYPE$" --data-urlencode "host=$HOSTNAME$" \
--data-urlencode "state=$HOSTSTATE$" --data-urlencode "output=$HOSTOUTPUT$" <address>
}"""
_ZITADEL: Final = """\
curl -s https://id.example.com/admin/v1/sms/http -H "authorization: Bearer $TOKEN" \\
  -H "content-type: application/json" \\
  -d '{"endpoint": "<address>", "description": "Risala"}'
curl -s https://id.example.com/admin/v1/sms/THE_ID/_activate \\
  -H "authorization: Bearer $TOKEN" -H "content-type: application/json" -d '{}'"""
_HOME_ASSISTANT: Final = """\
notify:
  - name: sms
    platform: rest
    resource: <address>
    method: POST_JSON
    title_param_name: title
    headers:
      Authorization: <secret>"""

GUIDES: Final[Mapping[str, tuple[GuideStep, ...]]] = {
    "supabase-auth": _supabase(),
    "zitadel": (
        GuideStep(
            N_(
                "With the token of an administrator of {program}, create the provider, and "
                "activate it by the id in the answer:"
            ),
            {},
            _ZITADEL,
        ),
    ),
    "logto": (
        GuideStep(OPEN, {"place": "Connectors → SMS → HTTP SMS"}),
        GuideStep(ADDRESS, {"field": "Endpoint"}),
        GuideStep(SECRET, {"field": "Authorization Header"}),
    ),
    "authentik": (
        GuideStep(OPEN, {"place": "Flows and Stages → Stages → SMS Authenticator Setup Stage"}),
        GuideStep(CHOOSE, {"field": "Provider", "choice": "Generic"}),
        GuideStep(CHOOSE, {"field": "Authentication Type", "choice": "Bearer Token"}),
        GuideStep(ADDRESS, {"field": "External API URL"}),
        GuideStep(SECRET, {"field": "API Auth Username"}),
        GuideStep(N_("Leave {field} empty."), {"field": "Mapping"}),
    ),
    "keycloak": (
        GuideStep(
            N_("{program} needs the plug-in {plugin}: install it first."),
            {"program": "Keycloak", "plugin": "netzbegruenung/keycloak-mfa-plugins"},
        ),
        GuideStep(OPEN, {"place": "Authentication → Required actions → Update Mobile Number"}),
        GuideStep(SWITCH_OFF, {"field": "Simulation mode"}),
        GuideStep(
            N_("As {field}, write the one of your country."), {"field": "Default country prefix"}
        ),
        GuideStep(ADDRESS, {"field": "SMS API URL"}),
        GuideStep(SWITCH_ON, {"field": "Put API Secret Token in Authorization Header"}),
        GuideStep(SECRET, {"field": "API Secret"}),
        GuideStep(WRITE, {"field": "Message Attribute", "value": "body"}),
        GuideStep(WRITE, {"field": "Receiver Phone Number Attribute", "value": "to"}),
    ),
    "kratos": (
        GuideStep(FILE, {"file": "kratos.yml"}, _KRATOS),
        GuideStep(RESTART, {"program": "Kratos"}),
    ),
    "alertmanager": (
        GuideStep(FILE, {"file": "alertmanager.yml"}, _ALERTMANAGER),
        GuideStep(
            N_("Name {name} as the {field} of a route."), {"name": "sms", "field": "receiver"}
        ),
    ),
    "grafana": (
        GuideStep(OPEN, {"place": "Alerting → Contact points → New contact point"}),
        GuideStep(CHOOSE, {"field": "Integration", "choice": "Webhook"}),
        GuideStep(ADDRESS, {"field": "URL"}),
        GuideStep(SECRET, {"field": "Authorization Header - Credentials"}),
    ),
    "uptime-kuma": (
        GuideStep(OPEN, {"place": "Settings → Notifications → Setup Notification"}),
        GuideStep(CHOOSE, {"field": "Notification Type", "choice": "Webhook"}),
        GuideStep(ADDRESS, {"field": "Post URL"}),
        GuideStep(SWITCH_ON, {"field": "Additional Headers"}),
        GuideStep(
            FIELD_TEXT, {"field": "Additional Headers"}, '{\n  "Authorization": "<secret>"\n}'
        ),
    ),
    "uptime-kuma-sms": (
        GuideStep(OPEN, {"place": "Settings → Notifications → Setup Notification"}),
        GuideStep(CHOOSE, {"field": "Notification Type", "choice": "SMS Gateway"}),
        GuideStep(ADDRESS, {"field": "Server URL"}),
        GuideStep(SECRET, {"field": "API Key"}),
    ),
    "nagios": (
        GuideStep(FILE, {"file": "/etc/nagios/risala-header"}, "Authorization: Bearer <secret>"),
        GuideStep(FILE, {"file": "commands.cfg"}, _NAGIOS),
        GuideStep(
            NAMED,
            {"name": "notify-service-by-sms", "field": "service_notification_commands"},
        ),
        GuideStep(NAMED, {"name": "notify-host-by-sms", "field": "host_notification_commands"}),
        GuideStep(RESTART, {"program": "Nagios"}),
    ),
    "home-assistant": (
        GuideStep(FILE, {"file": "configuration.yaml"}, _HOME_ASSISTANT),
        GuideStep(RESTART, {"program": "Home Assistant"}),
        GuideStep(N_("Automations send with the action {name}."), {"name": "notify.sms"}),
    ),
    "odoo": (
        GuideStep(OPEN, {"place": "Settings → Technical → System Parameters"}),
        GuideStep(
            N_("Create the parameter {name}. Its value is the address."), {"name": "sms.endpoint"}
        ),
    ),
    "chatwoot": (
        GuideStep(OPEN, {"place": "Settings → Inboxes → Add Inbox → API"}),
        GuideStep(ADDRESS, {"field": "Webhook URL"}),
    ),
}
"""By preset, for its first proof; the others have :data:`BY_PROOF`."""

_PASTE: Final = GuideStep(
    N_("Paste the address where {program} asks for the address of an SMS provider or a webhook.")
)
_SIGNED: Final = (
    _PASTE,
    GuideStep(N_("It signs with a secret of its own: the one that you gave to this hook.")),
)
BY_PROOF: Final[Mapping[str, tuple[GuideStep, ...]]] = {
    "path": (_PASTE, GuideStep(N_("The end of the address is the secret: paste it whole."))),
    "bearer": (
        _PASTE,
        GuideStep(
            N_("It sends the secret with each request, in this header:"),
            {},
            "Authorization: Bearer <secret>",
        ),
    ),
    "basic": (
        _PASTE,
        GuideStep(N_("The secret is the password. The user name may be any.")),
    ),
    "header": (_PASTE, GuideStep(N_("It sends the secret with each request, in its own header."))),
    "standard-webhooks": (
        _PASTE,
        GuideStep(N_("Paste the secret where it asks for the secret of its signatures.")),
    ),
    "timed-signature": _SIGNED,
    "body-signature": _SIGNED,
}


def steps_of(
    words: Words, program: HookPreset | None, proof: str, address: str, secret: str
) -> list[ShownStep]:
    """The steps for a hook.

    Args:
        program: None: one without a preset.
        secret: as it is pasted, or what stands for it.
    """
    guide = None
    if program is not None and proof == program.proofs[0]:
        guide = GUIDES.get(program.name)
    title = words("your program") if program is None else _named(program.title)
    shown = []
    for step in BY_PROOF[proof] if guide is None else guide:
        holes = {name: Markup("<code>{}</code>").format(text) for name, text in step.names.items()}
        if "{program}" in step.text:
            own = step.names.get("program")
            holes["program"] = title if own is None else _named(own)
        if guide is None:  # whose block says the scheme itself
            secret = secret.removeprefix("Bearer ")
        block = step.block.replace("<address>", address).replace("<secret>", secret)
        shown.append(ShownStep(words(step.text, **holes), block))
    return shown


def _named(program: str) -> Markup:
    return Markup("<bdi>{}</bdi>").format(program)
