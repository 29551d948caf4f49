"""Public client libraries talk to the laboratory's vendors of channels, and understand them: what
both a channel and its stand-in misread in the same way is found here."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from functools import partial
from types import ModuleType
from typing import Any

import pytest
import trio
from tests.lab.aggregators.test_clients import Rewriting
from twilio.rest import Client

from patience import HANG_S
from risala.drivers.http.calls import spoken
from risala.lab.aggregators.row import PASSWORD, TOKEN, USER
from risala.lab.aggregators.stand_in import StandIn
from risala.lab.channels.calls import AGGREGATORS as CALLING
from risala.lab.channels.calls import spoken_code
from risala.lab.channels.telegram import TelegramGateway
from risala.lab.channels.vendor import Vendor
from risala.lab.channels.whatsapp import NUMBER_ID, TEMPLATE, VERSION, WhatsAppCloud

TO = "+22236123456"
CODE = "482913"


def library(name: str) -> ModuleType:
    """A vendor's library, which only the lock of development has."""
    return pytest.importorskip(name, reason=f"NOT TRIED: there is no {name}")


@asynccontextmanager
async def played(vendor: Vendor | StandIn):
    async with trio.open_nursery() as nursery:
        with trio.fail_after(HANG_S):
            await nursery.start(vendor.run)
            yield vendor
        nursery.cancel_scope.cancel()


async def done(work: Any, *arguments: object, **more: object) -> Any:
    """Do what waits, in a thread."""
    return await trio.to_thread.run_sync(partial(work, *arguments, **more), abandon_on_cancel=True)


# -- WhatsApp


def pywa_at(cloud: WhatsAppCloud, token: str | None = None) -> Any:
    """The client ``pywa``, which asks the stand-in."""
    client = library("pywa").WhatsApp(
        phone_id=NUMBER_ID, token=token or cloud.token, api_version=float(VERSION[2:])
    )
    client.api._session.base_url = cloud.api
    return client


def filled() -> list[Any]:
    """An authentication template's code, as ``pywa`` writes it."""
    templates = library("pywa.types.templates")
    body = templates.AuthenticationBody.params(otp=CODE)
    return [body, templates.CopyCodeOTPButton.params(otp=CODE)]


async def test_pywa_sends_a_code() -> None:
    language = library("pywa.types.templates").TemplateLanguage
    async with played(WhatsAppCloud()) as cloud:
        client = pywa_at(cloud)
        sent = await done(client.send_template, TO, TEMPLATE, language.FRENCH, filled())
        assert sent.id == cloud.last
        assert cloud.codes == [(TO, CODE)]
        number = await done(client.get_business_phone_number)
        assert number.display_phone_number == "+222 36 00 00 01"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (131026, "MessageUndeliverable"),
        (131056, "TooManyMessages"),
        (130429, "RateLimitHit"),
        (131042, "BusinessPaymentIssue"),
    ],
)
async def test_pywa_understands_the_errors(code: int, name: str) -> None:
    errors, templates = library("pywa.errors"), library("pywa.types.templates")

    def fault_of(client: Any, template: str = TEMPLATE) -> Exception | None:
        # Caught in its thread: these exceptions cannot be raised again in another one.
        try:
            client.send_template(TO, template, templates.TemplateLanguage.ENGLISH, filled())
        except errors.WhatsAppError as error:
            return error
        return None

    async with played(WhatsAppCloud(refuses=[code])) as cloud:
        assert type(await done(fault_of, pywa_at(cloud))).__name__ == name
        assert isinstance(await done(fault_of, pywa_at(cloud), "x"), errors.TemplateNotExists)
        assert isinstance(await done(fault_of, pywa_at(cloud, "x")), errors.ExpiredAccessToken)
        assert await done(fault_of, pywa_at(cloud)) is None


@pytest.mark.parametrize("word", ["sent", "delivered", "read", "failed"])
def test_pywa_reads_a_report_and_believes_its_signature(word: str) -> None:
    statuses, validate = library("pywa.types"), library("pywa.utils").webhook_updates_validator
    cloud = WhatsAppCloud(to={"wamid.1": TO.removeprefix("+")})
    report = cloud.reported("wamid.1", word)
    status = statuses.MessageStatus.from_update(pywa_at(cloud), report)
    assert (status.id, status.status.value) == ("wamid.1", word)
    assert (status.error and status.error.code) == (131026 if word == "failed" else None)
    body, signature = json.dumps(report).encode(), cloud.signed(report)["X-Hub-Signature-256"]
    assert validate(cloud.app_secret, body, signature)
    assert not validate(cloud.app_secret, body + b" ", signature)


# -- calls


async def test_twilios_client_calls() -> None:
    stand_in = StandIn(CALLING["twilio"], receipts=False)
    async with played(stand_in):
        client = Client(USER, PASSWORD, http_client=Rewriting(stand_in.url))
        twiml = f'<Response><Say language="fr-FR">{spoken("My shop", CODE, "fr")}</Say></Response>'
        asked = {"to": TO, "from_": "+15005550006", "twiml": twiml, "timeout": 25}
        call = await done(client.calls.create, **asked)
        (taken,) = stand_in.taken
        assert (call.sid, call.status) == (taken.id, "queued")
        assert (taken.to, spoken_code(taken)) == (TO, CODE)
        found = await done(client.calls(taken.id).fetch)
        assert (found.sid, found.status) == (taken.id, "completed")


async def test_infobips_client_calls() -> None:
    models, api = library("infobip_api_client.models"), library("infobip_api_client.api.voice_api")
    client = library("infobip_api_client.api_client")
    stand_in = StandIn(CALLING["infobip"], receipts=False)
    async with played(stand_in):
        message = models.CallsAdvancedMessage(
            destinations=[models.CallsDestination(to=TO.removeprefix("+"), messageId="ours-1")],
            text=spoken("My shop", CODE, "en"),
            language="en",
            ringTimeout=25,
        )
        configuration = client.Configuration(host=stand_in.url, api_key=TOKEN)
        voice = api.VoiceApi(client.ApiClient(configuration))
        body = models.CallsAdvancedBody(messages=[message])
        answer = await done(voice.send_advanced_voice_tts, body)
        (taken,) = stand_in.taken
        assert (taken.id, taken.to, spoken_code(taken)) == ("ours-1", TO, CODE)
        (called,) = answer.messages
        assert (called.message_id, called.status.group_name) == ("ours-1", "PENDING")


# -- Telegram


async def test_a_client_of_telegrams_gateway() -> None:
    gateway_library = library("telegram_gateway_verification")
    async with played(TelegramGateway()) as gateway:
        client = gateway_library.TelegramGatewayClient(gateway.token, gateway.url)
        asked = {"phone_number": TO, "code": CODE, "ttl": 60, "payload": "sms_1"}
        sent = await done(client.send_verification_message, **asked)
        assert (sent.request_id, sent.request_cost) == (gateway.last, 0.01)
        assert gateway.codes == [(TO, CODE)]
        report = gateway.become(gateway.last, "expired")
        found = await done(client.check_verification_status, request_id=gateway.last)
        assert (found.delivery_status.status, found.is_refunded) == ("expired", True)
        gateway.people = set()
        with pytest.raises(gateway_library.TelegramGatewayAPIError, match="PHONE_NUMBER_NOT_FOUND"):
            await done(client.send_verification_message, **asked)
        signed = gateway.signed(report)
        proof = {
            "api_token": gateway.token,
            "timestamp_header": signed["X-Request-Timestamp"],
            "signature_header": signed["X-Request-Signature"],
            "raw_body": json.dumps(report).encode(),
        }
        believes = gateway_library.verify_callback_signature
        assert believes(**proof)
        assert not believes(**{**proof, "raw_body": b"{}"})
