"""Aggregators' own client libraries talk to the laboratory's stand-ins, and understand them: what
both a preset and its stand-in misread in the same way is found here."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from types import ModuleType
from typing import Any
from urllib.parse import urlencode

import pytest
import trio
from requests.adapters import HTTPAdapter
from twilio.base.exceptions import TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.request_validator import RequestValidator
from twilio.rest import Client

from patience import HANG_S
from risala.drivers.http.templates import filled
from risala.lab.aggregators.row import PASSWORD, TOKEN, USER
from risala.lab.aggregators.stand_in import StandIn
from risala.lab.aggregators.table import AGGREGATORS, TWILIO

TO = "+22236123456"
TEXT = "Salut, سلام"


def library(name: str) -> ModuleType:
    """An aggregator's library, which only the lock of development has."""
    return pytest.importorskip(name, reason=f"NOT TRIED: there is no {name}")


@asynccontextmanager
async def played(name: str) -> AsyncIterator[StandIn]:
    stand_in = StandIn(AGGREGATORS[name], receipts=False)
    async with trio.open_nursery() as nursery:
        with trio.fail_after(HANG_S):
            await nursery.start(stand_in.run)
            yield stand_in
        nursery.cancel_scope.cancel()


async def done(work: Callable[..., Any], *arguments: object, **more: object) -> Any:
    """Do what waits, in a thread."""
    return await trio.to_thread.run_sync(partial(work, *arguments, **more), abandon_on_cancel=True)


class Rewriting(TwilioHttpClient):
    """Asks our address instead of Twilio's."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def request(self, method: str, url: str, *rest: Any, **more: Any) -> Any:
        return super().request(
            method, url.replace("https://api.twilio.com", self._url), *rest, **more
        )


async def test_twilios_client() -> None:
    async with played("twilio") as stand_in:
        client = Client(USER, PASSWORD, http_client=Rewriting(stand_in.url))
        message = await done(client.messages.create, to=TO, from_="RISALA", body=TEXT)
        (taken,) = stand_in.taken
        assert (taken.to, taken.sender, taken.text) == (TO, "RISALA", TEXT)
        assert (message.sid, message.status, message.num_segments) == (taken.id, "queued", "1")
        found = await done(client.messages(taken.id).fetch)
        assert (found.sid, found.status) == (taken.id, "delivered")
        balance = await done(client.balance.fetch)
        assert balance.balance == "12.50"
        stranger = Client(USER, "another", http_client=Rewriting(stand_in.url))
        with pytest.raises(TwilioRestException) as caught:
            await done(stranger.messages.create, to=TO, from_="RISALA", body=TEXT)
        assert (caught.value.status, caught.value.code) == (401, 20003)


def test_twilios_validator_takes_the_stand_ins_signature() -> None:
    url = "https://sms.example.com/carriers/twilio/inbound?a=1"
    form = {"To": "+22236123456", "Body": "a & b = é", "NumMedia": "0"}
    signature = TWILIO.sign(url, urlencode(form).encode())["x-twilio-signature"]
    validator = RequestValidator(PASSWORD)
    assert validator.validate(url, form, signature)
    assert not validator.validate(url, {**form, "Body": "other"}, signature)


async def test_africas_talkings_client() -> None:
    sms = library("africastalking.SMS")
    async with played("africastalking") as stand_in:
        client = sms.SMSService(USER, PASSWORD)
        client._baseUrl = f"{stand_in.url}/version1"
        answer = await done(client.send, TEXT, [TO], "RISALA")
        (taken,) = stand_in.taken
        assert (taken.to, taken.sender, taken.text) == (TO, "RISALA", TEXT)
        (recipient,) = answer["SMSMessageData"]["Recipients"]
        assert (recipient["statusCode"], recipient["messageId"]) == (101, taken.id)


def infobip(url: str, token: str = TOKEN) -> Any:
    library("infobip_api_client")
    client = library("infobip_api_client.api_client")
    configuration = client.Configuration(host=url, api_key=token)
    return library("infobip_api_client.api.sms_api").SmsApi(client.ApiClient(configuration))


def infobip_request() -> Any:
    models = library("infobip_api_client.models")
    text = models.SmsTextContent(text=TEXT)
    message = models.SmsMessage(
        sender="RISALA",
        destinations=[models.SmsDestination(to=TO.removeprefix("+"), messageId="ours-1")],
        content=models.SmsMessageContent(actual_instance=text),
    )
    return models.SmsRequest(messages=[message])


async def test_infobips_client() -> None:
    library("infobip_api_client")
    async with played("infobip") as stand_in:
        answer = await done(infobip(stand_in.url).send_sms_messages, infobip_request())
        (taken,) = stand_in.taken
        assert (taken.to, taken.sender, taken.text) == (TO, "RISALA", TEXT)
        (message,) = answer.messages
        assert (message.message_id, message.destination) == ("ours-1", TO.removeprefix("+"))
        assert message.status.group_name == "PENDING"
        stranger = infobip(stand_in.url, "another")
        with pytest.raises(library("infobip_api_client.exceptions").UnauthorizedException):
            await done(stranger.send_sms_messages, infobip_request())


def test_infobips_models_read_what_the_stand_in_brings() -> None:
    models = library("infobip_api_client.models")
    api = AGGREGATORS["infobip"]
    phones = {"to_digits": "22236123456", "from_digits": "22236123457"}
    values = {"id": "ours-1", "to": "1234", "text": TEXT, **phones}
    brought = filled(api.receipt.fields, values)
    (report,) = models.SmsDeliveryResult.model_validate(brought).results
    assert (report.message_id, report.to) == ("ours-1", "22236123456")
    assert (report.status.group_name, report.error.name) == ("DELIVERED", "NO_ERROR")
    brought = filled(api.inbound.fields, values)
    (text,) = models.SmsInboundMessageResult.model_validate(brought).results
    assert (text.var_from, text.to, text.text) == ("22236123457", "1234", TEXT)


class Plain(HTTPAdapter):
    """Asks the stand-in, whatever address the client has built in."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def send(self, request: Any, *rest: Any, **more: Any) -> Any:
        request.url = re.sub(r"^https://[^/]+", self._url, request.url)
        return super().send(request, *rest, **more)


async def test_vonages_client() -> None:
    sms, http = library("vonage_sms"), library("vonage_http_client")
    async with played("vonage") as stand_in:
        client = http.HttpClient(http.Auth(api_key=USER, api_secret=PASSWORD))
        client._session.mount("https://", Plain(stand_in.url))
        message = sms.SmsMessage(
            to=TO.removeprefix("+"),
            from_="RISALA",
            text=TEXT,
            type="unicode",
            ttl=3_600_000,
            client_ref="ours-1",
        )
        answer = await done(sms.Sms(client).send, message)
        (taken,) = stand_in.taken
        assert (taken.to, taken.sender, taken.text) == (TO, "RISALA", TEXT)
        assert (taken.id, taken.validity_s) == ("ours-1", 3600)
        (part,) = answer.messages
        assert (part.status, part.client_ref) == ("0", "ours-1")
        balance = await done(library("vonage_account").Account(client).get_balance)
        assert balance.value == 10.17


async def test_plivos_client() -> None:
    plivo = library("plivo")
    async with played("plivo") as stand_in:
        client = plivo.RestClient("MA" + "X" * 18, PASSWORD)
        client.session.auth = (USER, PASSWORD)
        client.session.mount("https://", Plain(stand_in.url))
        receipts = "https://sms.example.com/receipt"
        answer = await done(
            client.messages.create,
            src="RISALA",
            dst=TO.removeprefix("+"),
            text=TEXT,
            url=receipts,
            message_expiry=600,
        )
        (taken,) = stand_in.taken
        assert (taken.to, taken.sender, taken.text) == (TO, "RISALA", TEXT)
        assert (taken.callback, taken.validity_s) == (receipts, 600)
        assert answer.message_uuid == [taken.id]
        found = await done(client.messages.get, taken.id)
        assert (found.message_state, found.error_code) == ("delivered", "000")
        assert (await done(client.account.get)).cash_credits == "1.80900"


async def test_telnyxs_client() -> None:
    telnyx = library("telnyx")
    async with played("telnyx") as stand_in:
        client = telnyx.Telnyx(api_key=TOKEN, base_url=f"{stand_in.url}/v2", max_retries=0)
        answer = await done(client.messages.send, from_="RISALA", to=TO, text=TEXT)
        (taken,) = stand_in.taken
        assert (taken.to, taken.sender, taken.text) == (TO, "RISALA", TEXT)
        assert (answer.data.id, answer.data.to[0].status) == (taken.id, "queued")
        found = await done(client.messages.retrieve, taken.id)
        assert (found.data.id, found.data.to[0].status) == (taken.id, "delivered")
        assert (await done(client.balance.retrieve)).data.balance == "300.00"
        stranger = telnyx.Telnyx(api_key="another", base_url=f"{stand_in.url}/v2", max_retries=0)
        with pytest.raises(telnyx.AuthenticationError):
            await done(stranger.messages.send, from_="RISALA", to=TO, text=TEXT)


async def test_messagebirds_client() -> None:
    library("messagebird")
    client, http = library("messagebird.client"), library("messagebird.http_client")
    async with played("messagebird") as stand_in:
        bird = client.Client(TOKEN, http_client=http.HttpClient(stand_in.url, TOKEN, "tests"))
        more = {"datacoding": "auto", "reference": "ours-1", "validity": 600}
        answer = await done(bird.message_create, "RISALA", TO.removeprefix("+"), TEXT, more)
        (taken,) = stand_in.taken
        assert (taken.to, taken.sender, taken.text) == (TO, "RISALA", TEXT)
        assert (answer.id, answer.recipients["items"][0].status) == (taken.id, "sent")
        found = await done(bird.message, taken.id)
        assert found.recipients["items"][0].status == "delivered"
        assert (await done(bird.balance)).amount == 9.2
        stranger = client.Client("x", http_client=http.HttpClient(stand_in.url, "x", "tests"))
        with pytest.raises(client.ErrorException) as caught:
            await done(stranger.message_create, "RISALA", TO, TEXT)
        assert [each.code for each in caught.value.errors] == [2]


async def test_sinchs_client() -> None:
    sinch = library("sinch")
    async with played("sinch") as stand_in:
        client = sinch.SinchClient(service_plan_id=USER, sms_api_token=TOKEN, sms_region="us")
        client.configuration.sms_origin_with_service_plan_id = stand_in.url
        batches, reports = client.sms.batches, client.sms.delivery_reports
        answer = await done(
            batches.send_sms, to=[TO], from_="RISALA", body=TEXT, delivery_report="per_recipient"
        )
        (taken,) = stand_in.taken
        assert (taken.to, taken.sender, taken.text) == (TO, "RISALA", TEXT)
        assert answer.id == taken.id
        found = await done(reports.get, batch_id=taken.id, report_type="full")
        assert (found.batch_id, found.statuses[0].status) == (taken.id, "Delivered")


def test_sinchs_models_read_what_the_stand_in_brings() -> None:
    library("sinch")
    models = "sinch.domains.sms.models.v1"
    report = library(f"{models}.response.recipient_delivery_report").RecipientDeliveryReport
    text = library(f"{models}.shared.mo_text_message").MOTextMessage
    api = AGGREGATORS["sinch"]
    values = {"id": "ours-1", "to_digits": "22236123456", "from_digits": "22236123457"}
    brought = report.model_validate(filled(api.receipt.fields, values))
    assert (brought.batch_id, brought.recipient) == ("ours-1", "22236123456")
    assert (brought.status, brought.code) == ("Delivered", 0)
    brought = text.model_validate(
        filled(api.inbound.fields, {**values, "to": "1234", "text": TEXT})
    )
    assert (brought.from_, brought.to, brought.body) == ("22236123457", "1234", TEXT)
