"""The engine's connections to the outside other than carriers, built from the settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Final
from urllib.parse import urlsplit

from risala.app.listening import ServiceAddresses
from risala.config.faults import ConfigError, Fault
from risala.config.model import Settings
from risala.engine.features.providers.records import CONSOLE, ORGANIZATIONS
from risala.engine.model.people import Language
from risala.engine.rules.webhooks.signatures import is_secret
from risala.engine.rules.webhooks.url import UrlRefused, parse_target, rules_of
from risala.engine.wiring.connections import Connections
from risala.http.outbound.late import LateOutbound, open_late_outbound
from risala.plugins.manager import PluginManager
from risala.plugins.payment import PaymentMethod
from risala.plugins.payment_texts import HearsTexts

IDENTITY_CALLS_MAX: Final = 16
"""The most questions to identity providers at once: each sign-in has two or three."""
_UNSIGNED: Final = "must be set where alerts.webhook_url is"


async def open_outside(
    outer: AsyncExitStack,
    settings: Settings,
    plugins: PluginManager,
    listening: ServiceAddresses,
    answers: Callable[[], Mapping[int, int]],
) -> Connections:
    """A client for webhooks, mail if a server is set, and the payment methods that have a table;
    they end with ``outer``.

    Args:
        answers: how it has answered since the start, by status.

    Raises:
        ConfigError: no plugin has the mailer or a payment method, one refused its table, or a
            bank's texts come to a carrier that must not receive them; or alerts are to be sent
            somewhere without a secret to sign them.
    """
    webhooks = settings.webhooks
    client = open_late_outbound(rules_of(webhooks), webhooks.attempts_max)
    fetches = {
        **_identity_fetches(settings),
        ORGANIZATIONS: open_late_outbound(rules_of(webhooks), IDENTITY_CALLS_MAX),
    }
    mailer = plugins.build_mailer(settings.mail)
    methods = {
        name: plugins.build_payment_method(name, table)
        for name, table in settings.payments.methods.items()
    }
    _refuse_misplaced(settings, methods)
    sinks = {
        name: plugins.build_sink(name, table) for name, table in settings.sinks.by_name.items()
    }
    policies = {
        name: plugins.build_policy(name, table) for name, table in settings.policies.by_name.items()
    }
    faces = {
        name: plugins.build_face(name, table) for name, table in settings.compat.enabled.items()
    }
    pages = plugins.build_pages()
    return Connections(
        await outer.enter_async_context(client),
        mailer,
        methods,
        faces,
        url=listening.api.url,
        console_url=listening.console_url,
        answers=answers,
        call_secret=_alert_secret(settings),
        fetches={name: await outer.enter_async_context(each) for name, each in fetches.items()},
        secrets={CONSOLE: _identity_secret(settings)},
        plugins=plugins.plugins(),
        plugin_faults=plugins.faults,
        sinks=sinks,
        policies=policies,
        pages=pages,
        say_driver=_say_driver,
    )


def _say_driver(language: Language, text: str) -> str:
    """A driver's sentence in a language; read with the pages' catalogues, which few mails need."""
    from risala.http.operator.carriers.driver_words import driver_text

    return driver_text(language, text)


def _identity_fetches(settings: Settings) -> dict[str, AbstractAsyncContextManager[LateOutbound]]:
    """What asks the identity provider of the console, if there is one.

    Raises:
        ConfigError: its address must not be asked.
    """
    oidc, webhooks = settings.people.oidc, settings.webhooks
    if oidc.issuer is None:
        return {}
    networks = (*webhooks.allow_networks, *oidc.allow_networks)
    ports = (*webhooks.ports, urlsplit(oidc.issuer).port or 443)
    changed = webhooks.model_copy(update={"allow_networks": networks, "ports": ports})
    rules = rules_of(changed)
    try:
        parse_target(oidc.issuer, rules)
    except UrlRefused as refused:
        raise ConfigError([Fault("people.oidc.issuer", str(refused), "people")]) from None
    return {CONSOLE: open_late_outbound(rules, IDENTITY_CALLS_MAX)}


def _identity_secret(settings: Settings) -> str:
    """The secret by which the identity provider knows this service; empty: it has none.

    Raises:
        ConfigError: the variable that is named is not set.
    """
    oidc = settings.people.oidc
    if oidc.issuer is None or oidc.client_secret_env is None:
        return ""
    secret = os.environ.get(oidc.client_secret_env, "")
    if not secret:
        text = f"the environment variable {oidc.client_secret_env} is not set"
        raise ConfigError([Fault("people.oidc.client_secret_env", text, "people")])
    return secret


def _alert_secret(settings: Settings) -> str:
    """The secret that signs calls about alerts; empty without such calls.

    Raises:
        ConfigError: it is missing or malformed.
    """
    alerts = settings.alerts
    if not alerts.webhook_url:
        return ""
    name = alerts.webhook_secret_env
    if name is None:
        raise ConfigError([Fault("alerts.webhook_secret_env", _UNSIGNED, "alerts")])
    secret = os.environ.get(name, "")
    if not is_secret(secret):
        text = f"the environment variable {name} must hold `whsec_` and 32 bytes in base64"
        raise ConfigError([Fault("alerts.webhook_secret_env", text, "alerts")])
    faults = [*_unreachable(settings)]
    if faults:  # found out now, and not when something is wrong already
        raise ConfigError(faults)
    return secret


def _unreachable(settings: Settings) -> Iterator[Fault]:
    """Addresses for alerts that must not be called."""
    rules = rules_of(settings.webhooks)
    for url in settings.alerts.webhook_url:
        try:
            parse_target(url, rules)
        except UrlRefused as refused:
            yield Fault("alerts.webhook_url", str(refused), "alerts")


def _refuse_misplaced(settings: Settings, methods: Mapping[str, PaymentMethod]) -> None:
    """Refuse methods whose bank's texts arrive at no SIM of their own, or that would believe such
    texts for customers who never enter the number they paid from.

    Raises:
        ConfigError: each fault.
    """
    carriers = {each.name: each for each in settings.carriers}
    faults = []
    for name, method in methods.items():
        if not isinstance(method, HearsTexts):
            continue
        carrier = carriers.get(method.carrier)
        if carrier is None:
            faults.append(_fault(name, "carrier", "is the name of no carrier"))
        elif not carrier.receives_only:
            text = "must be a carrier with `receives_only = true`: its SIM is for nothing else"
            faults.append(_fault(name, "carrier", text))
        if method.caps is not None and settings.payments.codes_organization is None:
            text = "needs payments.codes_organization: nobody shows otherwise whose number paid"
            faults.append(_fault(name, "by_itself", text))
    if faults:
        raise ConfigError(faults)


def refuse_shared(settings: Settings, methods: Mapping[str, PaymentMethod]) -> None:
    """Refuse new settings that open a SIM on which the running methods hear their bank.

    Methods change only at a restart, but carriers at once: customers would get the bank's messages,
    and customers' messages would be read as the bank's.

    Raises:
        ConfigError: each such carrier.
    """
    heard = {each.carrier: name for name, each in methods.items() if isinstance(each, HearsTexts)}
    faults = [
        Fault(
            f"carriers[{number}].receives_only",
            f"must stay true until a restart: payments.{heard[each.name]} hears its bank by it",
            "carriers",
        )
        for number, each in enumerate(settings.carriers)
        if each.name in heard and not each.receives_only
    ]
    if faults:
        raise ConfigError(faults)


def _fault(method: str, key: str, text: str) -> Fault:
    return Fault(f"payments.{method}.sms.{key}", text, "payments")
