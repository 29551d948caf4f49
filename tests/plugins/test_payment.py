"""A payment method of somebody else's, through pluggy: what is taken, built and refused."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, SecretStr

from risala.plugins.contributions import UnfitPluginError, contributions_of
from risala.plugins.hookspecs import hookimpl
from risala.plugins.manager import PluginManager
from risala.plugins.payment import (
    REFERENCE_CHARACTERS_MAX,
    CalledBack,
    Claimed,
    Confirmation,
    ForgedCallbackError,
    Payment,
    PaymentCallback,
    PaymentField,
    PaymentMethod,
    PaymentMethodFactory,
    PaymentOffer,
    PaymentPending,
    PaymentReport,
    PaymentSettled,
    Polled,
    Progress,
    normalised_reference,
)
from risala.plugins.payment_texts import HearsTexts
from risala.plugins.tables import PluginConfigError

PAYMENT = Payment(
    payment_id="pay_1",
    organization_id="org_1",
    amount=500_00,
    currency="MRU",
    language="fr",
    begun_at_ms=1_700_000_000_000,
    return_url="https://sms.example/app/org_1/billing",
    callback_url="https://sms.example/pay/shells/callback",
)
REFERENCE = PaymentField("reference", {"en": "Reference"}, is_reference=True)


class ShellSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    secret: SecretStr
    merchant: str = "0000"


class Shells:
    """Pays in shells, which the collector confirms by a signed call."""

    def __init__(self, settings: ShellSettings) -> None:
        self._settings = settings
        self.offer = PaymentOffer({"en": "Shells"}, amount_min=1_00)

    async def begin(self, payment: Payment) -> Progress:
        return PaymentPending(
            Confirmation.PROVIDER,
            instructions={"en": f"Bring shells to {self._settings.merchant}."},
            asks=(REFERENCE,),
        )

    async def claim(self, payment: Payment) -> Progress:
        return PaymentPending(Confirmation.PROVIDER, payment.entered["reference"])

    def sign(self, body: bytes) -> str:
        key = self._settings.secret.get_secret_value().encode()
        return hmac.new(key, body, hashlib.sha256).hexdigest()

    def callback(self, callback: PaymentCallback) -> tuple[PaymentReport, ...]:
        signature = callback.headers.get("x-shells", "")
        if not hmac.compare_digest(signature, self.sign(callback.body)):
            raise ForgedCallbackError("the signature is another")
        reference, amount = callback.body.decode().split()
        return (PaymentReport(PaymentSettled("shells", reference, int(amount), "MRU")),)


def factory(name: str = "shells", build: Any = Shells) -> PaymentMethodFactory:
    return PaymentMethodFactory(name, ShellSettings, build, "shells from the beach")


@dataclass
class Plugin:
    """Something with hooks, as an installed package brings it."""

    factories: tuple[Any, ...]

    @hookimpl
    def risala_register_payment_methods(self, register: Any) -> None:
        for one in self.factories:
            register(one)


class Entry:
    """An entry point that needs no package."""

    dist = None

    def __init__(self, name: str, plugin: object) -> None:
        self.name = name
        self._plugin = plugin

    def load(self) -> object:
        return self._plugin


def loaded(*plugins: Plugin) -> PluginManager:
    manager = PluginManager()
    manager.load((), installed=[Entry(f"p{at}", one) for at, one in enumerate(plugins)])
    return manager


def built(manager: PluginManager) -> Any:
    return manager.build_payment_method(
        "shells", {"secret_env": "SHELLS"}, lambda table, where: {"secret": "s3cret"}
    )


async def test_a_method_from_its_hook_to_a_settled_payment():
    manager = loaded(Plugin((factory(),)))
    assert manager.faults == ()
    assert manager.plugins()[0].brings["payment_methods"] == {"shells": "shells from the beach"}
    method = built(manager)
    assert isinstance(method, PaymentMethod)
    assert isinstance(method, Claimed)
    assert isinstance(method, CalledBack)
    assert not isinstance(method, Polled | HearsTexts)
    begun = await method.begin(PAYMENT)
    assert begun == await method.begin(PAYMENT)
    assert begun.asks == (REFERENCE,)
    claimed = await method.claim(replace(PAYMENT, entered={"reference": "ab-12"}))
    assert claimed.reference == "ab-12"
    body = b"AB12 50000"
    callback = PaymentCallback({"x-shells": method.sign(body)}, {}, body, 0)
    (report,) = method.callback(callback)
    assert report.result == PaymentSettled("shells", "AB12", 500_00, "MRU")
    assert normalised_reference(claimed.reference) == report.result.reference


async def test_a_forged_callback_is_refused():
    method = built(loaded(Plugin((factory(),))))
    with pytest.raises(ForgedCallbackError):
        method.callback(PaymentCallback({}, {}, b"AB12 50000", 0))


def test_values_are_frozen_and_show_nothing_of_customers():
    with pytest.raises(FrozenInstanceError):
        PAYMENT.amount = 1  # type: ignore[misc]
    entered = replace(PAYMENT, entered={"reference": "AB12"})
    settled = PaymentSettled("shells", "AB12", 1, "MRU", payer="+22236123456")
    callback = PaymentCallback({}, {}, b"AB12 50000", 0)
    assert "AB12" not in repr(entered)
    assert "+222" not in repr(settled)
    assert "AB12" not in repr(callback)


@pytest.mark.parametrize(
    ("factories", "reason"),
    [
        ((3,), "a int instead of a PaymentMethodFactory"),
        ((factory("Not Good"),), '"Not Good" cannot be the name of a payment method'),
        ((factory(), factory()), 'the payment method "shells" twice'),
    ],
)
def test_what_a_hook_brings_is_looked_at(factories, reason):
    with pytest.raises(UnfitPluginError, match=reason):
        contributions_of(Plugin(factories))


def test_two_plugins_of_one_method_are_both_named():
    manager = loaded(Plugin((factory(),)), Plugin((factory(),)))
    (fault,) = manager.faults
    assert fault.name == "p1"
    assert '"shells" is registered by the plugin p0 already' in fault.reason


class Offers(Shells):
    def __init__(self, offer: object) -> None:
        self.offer = offer  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda _: object(), "something that is no payment method"),
        (lambda _: Offers("cheap"), "a str instead of a PaymentOffer"),
        (lambda _: Offers(PaymentOffer({"fr": "Coquillages"})), "without its English"),
        (lambda _: Offers(PaymentOffer({"en": "x"}, amount_max=0)), "nobody can pay"),
        (lambda _: 1 // 0, "cannot be built"),
    ],
)
def test_what_is_built_is_looked_at(build, reason):
    with pytest.raises(PluginConfigError, match=reason):
        built(loaded(Plugin((factory(build=build),))))


def test_a_table_is_checked_by_the_method_s_own_model():
    manager = loaded(Plugin((factory(),)))
    with pytest.raises(PluginConfigError) as caught:
        manager.build_payment_method("shells", {"merchant": 3, "colour": "red"})
    keys = {fault.key for fault in caught.value.faults}
    assert keys == {"payments.shells.secret", "payments.shells.merchant", "payments.shells.colour"}
    with pytest.raises(PluginConfigError, match='no payment method "gold"; known: shells'):
        manager.build_payment_method("gold", {})


@pytest.mark.parametrize(
    ("typed", "reference"),
    [
        ("ab-12 34", "AB1234"),
        (" AB1234\n", "AB1234"),
        ("AB\u0661\u0662\u0663\u0664", "AB1234"),  # Arabic-Indic digits
        ("\uff21\uff22\uff11\uff12\uff13\uff14", "AB1234"),  # full width
        ("\u200fab\u200b1234", "AB1234"),  # marks that nobody sees
    ],
)
def test_a_reference_is_the_same_however_it_was_typed(typed, reference):
    assert normalised_reference(typed) == reference


@pytest.mark.parametrize("typed", ["", " - ", "A" * (REFERENCE_CHARACTERS_MAX + 1)])
def test_what_is_no_reference(typed):
    with pytest.raises(ValueError, match="letters and digits"):
        normalised_reference(typed)


@given(st.text(max_size=REFERENCE_CHARACTERS_MAX))
def test_normalising_twice_changes_nothing(typed):
    try:
        once = normalised_reference(typed)
    except ValueError:
        return
    assert normalised_reference(once) == once
