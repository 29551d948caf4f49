"""Requests of business software: texts to its customers and staff."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote, urlencode

from programs.program import Program, as_json, as_python_json, member, parsed
from risala.engine.features.hooks.rules.answers import HookAnswer
from risala.engine.features.hooks.rules.requests import HookMessage, HookProof

BEARER = {"authorization": "Bearer {secret}"}
FORM = "application/x-www-form-urlencoded"
UUIDS = ("2c6f4a0d8b6e4d0e9c0b6f1a2d3e4f50", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "ab" * 16)


def odoo_takes(answer: HookAnswer) -> bool:
    """iap_tools.py: `raise_for_status`, then JSON without `error`; sms_api.py: a list of results,
    each with `uuid` and one of its states."""
    results = member(answer, "result")
    if answer.status >= 400 or "error" in (parsed(answer) or {}) or not isinstance(results, list):
        return False
    return all(each["uuid"] in UUIDS and each["state"] == "success" for each in results)


ODOO = Program(
    preset="odoo",
    source="odoo/odoo 00ff5b16, addons/sms/tools/sms_api.py; addons/iap/tools/iap_tools.py",
    proof=HookProof.PATH,
    suffix="/api/sms/3/send",
    headers={"user-agent": "python-requests/2.32.5", "accept": "*/*"},
    body=as_python_json(
        {
            "jsonrpc": "2.0",
            "method": "call",
            "params": {
                "messages": [
                    {
                        "content": "Your order S00042 is ready.",
                        "numbers": [
                            {"uuid": UUIDS[0], "number": "+22236123456"},
                            {"uuid": UUIDS[1], "number": "+22246123456"},
                        ],
                    },
                    {
                        "content": "Votre commande S00043 est prête.",
                        "numbers": [{"uuid": UUIDS[2], "number": "+22222123456"}],
                    },
                ],
                "webhook_url": "https://odoo.example/sms/status",
                "dbuuid": "5f8f9c3e-2a4b-11f1-8f3e-0242ac120002",
                "account_token": "0123456789abcdef0123456789abcdef",
            },
            "id": "9b2a0d7c6e5f4a3b2c1d0e9f8a7b6c5d",
        }
    ),
    reads=tuple(
        HookMessage(number, text, None, reference=uuid, once=uuid)
        for number, text, uuid in [
            ("+22236123456", "Your order S00042 is ready.", UUIDS[0]),
            ("+22246123456", "Your order S00042 is ready.", UUIDS[1]),
            ("+22222123456", "Votre commande S00043 est prête.", UUIDS[2]),
        ]
    ),
    takes=odoo_takes,
)
ERPNEXT_SOURCE = (
    "frappe/frappe 08bc3e3d, frappe/core/doctype/sms_settings/sms_settings.py: "
    "`raise_for_status`, then `200 <= status < 300`; one request for each receiver"
)
ERPNEXT = Program(
    preset="erpnext",
    source=ERPNEXT_SOURCE,
    headers={**BEARER, "accept": "text/plain, text/html, */*"},
    content_type=FORM,
    body=b"text=Invoice+ACC-SINV-2026-00017&to=36123456",
    reads=(HookMessage("36123456", "Invoice ACC-SINV-2026-00017", None),),
)
ERPNEXT_GET = Program(
    preset="erpnext",
    source=ERPNEXT_SOURCE,
    method="GET",
    headers=BEARER,
    query="text=Facture+pr%C3%AAte&to=%2B22236123456",
    content_type="",
    body=b"",
    reads=(HookMessage("+22236123456", "Facture prête", None),),
)
NOVU = Program(
    preset="novu",
    source=(
        "novuhq/novu 74a2e9a6, packages/providers/src/lib/sms/generic-sms/generic-sms.provider.ts:"
        " axios, which throws for each status but 2xx; it reads `id` and `date` of the answer's "
        "JSON, which must be there to be read"
    ),
    headers={"authorization": "{secret}", "user-agent": "axios/1.7.7"},
    body=as_json(
        {
            "to": "+22236123456",
            "content": "Your parcel has arrived.",
            "from": "",
            "attachments": None,
            "id": "671a3a1a5b0c9e0012345678",
            "customData": {},
            "sender": "",
        }
    ),
    reads=(
        HookMessage(
            "+22236123456",
            "Your parcel has arrived.",
            None,
            reference="671a3a1a5b0c9e0012345678",
            once="671a3a1a5b0c9e0012345678",
        ),
    ),
    takes=lambda answer: 200 <= answer.status <= 299 and isinstance(parsed(answer), dict),
)
TRACCAR_SOURCE = (
    "traccar/traccar v6.14.5, src/main/java/org/traccar/sms/HttpSmsClient.java: "
    "`response.getStatus() / 100 != 2` is an error"
)
TRACCAR = Program(
    preset="traccar",
    source=TRACCAR_SOURCE,
    headers=BEARER,
    content_type="application/json;charset=UTF-8",
    body=as_json({"to": "+22236123456", "text": "Truck 7: ignition on at 2026-11-27 08:00"}),
    reads=(HookMessage("+22236123456", "Truck 7: ignition on at 2026-11-27 08:00", None),),
)
TRACCAR_FORM = Program(
    preset="traccar",
    source=TRACCAR_SOURCE,
    headers={"authorization": "Basic {basic}"},
    proof=HookProof.BASIC,
    content_type="application/x-www-form-urlencoded;charset=UTF-8",
    body=b"to=%2B22236123456&text=Truck+7+%26+8",
    reads=(HookMessage("+22236123456", "Truck 7 & 8", None),),
)
COMMCARE_SOURCE = (
    "dimagi/commcare-hq 13c28ce9, corehq/messaging/smsbackends/http/models.py: Latin-1 where the "
    "text has no other letters, else UTF-8; urlopen, which throws from 400 on"
)
COMMCARE = Program(
    preset="commcare",
    source=COMMCARE_SOURCE,
    proof=HookProof.PATH,
    method="GET",
    query=urlencode({"text": "Visite à l'hôpital".encode("iso-8859-1"), "to": "22236123456"}),
    content_type="",
    body=b"",
    reads=(HookMessage("22236123456", "Visite à l'hôpital", None),),
    takes=lambda answer: answer.status < 400,
)
COMMCARE_POST = Program(
    preset="commcare",
    source=COMMCARE_SOURCE,
    proof=HookProof.PATH,
    content_type=FORM,
    body=urlencode({"text": "موعدك غدا".encode(), "to": "22236123456"}).encode(),
    reads=(HookMessage("22236123456", "موعدك غدا", None),),
    takes=COMMCARE.takes,
)
DHIS2 = Program(
    preset="dhis2",
    source=(
        "dhis2/dhis2-core 29c829d8, org/hisp/dhis/sms/config/SimplisticHttpGetGateWay.java: "
        "200, 201 and 202; the address in ISO-8859-1"
    ),
    proof=HookProof.PATH,
    method="GET",
    query="text=" + quote("Rapport reçu".encode("iso-8859-1")) + "&to=22236123456",
    content_type="",
    body=b"",
    reads=(HookMessage("22236123456", "Rapport reçu", None),),
    takes=lambda answer: answer.status in (200, 201, 202),
)
DHIS2_FORM = Program(
    preset="dhis2",
    source=(
        "dhis2/dhis2-core, SimplisticHttpGetGateWay.java with `configurationTemplate`, and "
        "SmsUtilsTest.java: the text as a form has it, recipients with commas; 200, 201 and 202"
    ),
    proof=HookProof.PATH,
    content_type=FORM,
    body=b"text=Rapport+re%C3%A7u&to=22236123456",
    reads=DHIS2.reads,
    takes=DHIS2.takes,
)
MESHCENTRAL = Program(
    preset="meshcentral",
    source="Ylianst/MeshCentral, meshsms.js, provider `url`: `res.statusCode == 200`",
    proof=HookProof.PATH,
    method="GET",
    query="to=%2B22236123456&text=" + quote("[[MeshCentral]] Verification code is: 561166"),
    content_type="",
    body=b"",
    reads=(HookMessage("+22236123456", "[[MeshCentral]] Verification code is: 561166", None),),
    takes=lambda answer: answer.status == 200,
)
CHATWOOT_DATA = {
    "account": {"id": 1, "name": "Shop"},
    "additional_attributes": {},
    "content_attributes": {},
    "content_type": "text",
    "content": "Your order is on its way.",
    "conversation": {
        "additional_attributes": {},
        "can_reply": True,
        "channel": "Channel::Api",
        "contact_inbox": {"id": 7, "contact_id": 5, "inbox_id": 3, "source_id": "22236123456"},
        "id": 48,
        "inbox_id": 3,
        "messages": [{"id": 24753, "content": "Your order is on its way.", "message_type": 1}],
        "labels": [],
        "meta": {
            "sender": {
                "id": 5,
                "name": "Mariem",
                "phone_number": "+22236123456",
                "type": "contact",
            },
            "assignee": {"id": 2, "name": "Sidi", "type": "user"},
            "hmac_verified": False,
        },
        "status": "open",
        "unread_count": 0,
    },
    "created_at": "2026-11-30T08:00:00.000Z",
    "id": 24753,
    "inbox": {"id": 3, "name": "SMS"},
    "message_type": "outgoing",
    "private": False,
    "sender": {"id": 2, "name": "Sidi", "email": "sidi@shop.example", "type": "user"},
    "source_id": None,
    "event": "message_created",
}
CHATWOOT = Program(
    preset="chatwoot",
    source=(
        "chatwoot/chatwoot 4.14.2, app/listeners/webhook_listener.rb, lib/webhooks/trigger.rb, "
        "app/presenters/conversations/event_data_presenter.rb: RestClient, which raises from 400 on"
    ),
    proof=HookProof.PATH,
    headers={"user-agent": "rest-client/2.1.0", "accept": "application/json"},
    body=as_json(CHATWOOT_DATA),
    reads=(
        HookMessage(
            "+22236123456", "Your order is on its way.", None, reference="24753", once="24753"
        ),
    ),
    takes=lambda answer: answer.status < 400,
)
CHATWOOT_BESIDE = tuple(
    replace(CHATWOOT, body=as_json({**CHATWOOT_DATA, **other}), reads=())
    for other in (
        {"private": True},
        {"message_type": "incoming"},
        {"event": "message_updated"},
        {"event": "conversation_created", "message_type": None},
    )
)
"""What Chatwoot also tells the same address, and nobody wants sent."""
PROGRAMS = (
    *(ODOO, ERPNEXT, ERPNEXT_GET, NOVU, TRACCAR, TRACCAR_FORM, COMMCARE, COMMCARE_POST),
    *(DHIS2, DHIS2_FORM, MESHCENTRAL, CHATWOOT),
    *CHATWOOT_BESIDE,
)
