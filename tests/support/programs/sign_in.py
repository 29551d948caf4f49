"""Requests of identity servers: a code for somebody who signs in."""

from __future__ import annotations

from programs.program import Program, as_json, is_2xx, member, parsed
from risala.engine.features.hooks.rules.answers import HookAnswer
from risala.engine.features.hooks.rules.requests import HookMessage, HookProof


def gotrue_takes(answer: HookAnswer) -> bool:
    """hookshttp.go: 204; or 200 and 202 with the media type `application/json`, unless the body
    has an `error` with a `message` (hookserrors.go)."""
    if answer.status == 204:
        return True
    is_json = (answer.content_type or "").partition(";")[0] == "application/json"
    return answer.status in (200, 202) and is_json and not member(answer, "error", "message")


def gotrue_tries_again(answer: HookAnswer) -> bool:
    """hookshttp.go: 429 and 503 with `retry-after`, at once and three times in all."""
    return answer.status in (429, 503) and bool(answer.headers.get("Retry-After"))


GOTRUE_SOURCE = "supabase/auth v2.196.0, internal/hooks/hookshttp/hookshttp.go, v0hooks/v0hooks.go"
GOTRUE_USER = {
    "id": "8484b834-f29e-4af2-bf42-80644d154f76",
    "aud": "authenticated",
    "role": "authenticated",
    "email": "",
    "phone": "22236123456",
    "app_metadata": {"provider": "phone", "providers": ["phone"]},
    "user_metadata": {},
    "identities": [],
    "created_at": "2026-11-27T08:00:00.000000Z",
    "updated_at": "2026-11-27T08:00:00.000000Z",
    "is_anonymous": False,
}
GOTRUE_HEADERS = {"accept-encoding": "identity", "user-agent": "Go-http-client/1.1"}
METADATA = {
    "uuid": "3a2f1a62-65b5-4c7c-9a47-dd06ed0f1ee2",
    "time": "2026-11-27T08:00:00.12345Z",
    "name": "send-sms",
    "ip_address": "203.0.113.7",
}
SUPABASE = Program(
    preset="supabase-auth",
    source=GOTRUE_SOURCE,
    proof=HookProof.STANDARD_WEBHOOKS,
    headers=GOTRUE_HEADERS,
    body=as_json(
        {
            "metadata": METADATA,
            "user": GOTRUE_USER,
            "sms": {"otp": "561166", "phone": "22236123456"},
        }
    ),
    reads=(HookMessage("22236123456", None, "561166", once=METADATA["uuid"]),),
    takes=gotrue_takes,
    tries_again=gotrue_tries_again,
)
SUPABASE_CHANGE = Program(  # of somebody who changes the number: the code goes to the new one
    preset="supabase-auth",
    source=GOTRUE_SOURCE,
    proof=HookProof.STANDARD_WEBHOOKS,
    headers=GOTRUE_HEADERS,
    body=as_json(
        {
            "metadata": METADATA,
            "user": {**GOTRUE_USER, "new_phone": "22246123456"},
            "sms": {"otp": "012345", "phone": "22246123456"},
        }
    ),
    reads=(HookMessage("22246123456", None, "012345", once=METADATA["uuid"]),),
    takes=gotrue_takes,
    tries_again=gotrue_tries_again,
)
SUPABASE_OLD = Program(
    preset="supabase-auth",
    source="supabase/auth v2.151.0, internal/hooks/auth_hooks.go: no metadata, no `sms.phone`",
    proof=HookProof.STANDARD_WEBHOOKS,
    headers=GOTRUE_HEADERS,
    body=as_json({"user": GOTRUE_USER, "sms": {"otp": "561166"}}),
    reads=(HookMessage("22236123456", None, "561166"),),
    takes=gotrue_takes,
    tries_again=gotrue_tries_again,
)
ZITADEL_TEXT = (
    "561166 is your one-time password for id.example.com. Use it within the next 5m0s.\n"
    "@id.example.com #561166"
)
ZITADEL_BODY = as_json(
    {
        "contextInfo": {
            "eventType": "user.human.otp.sms.code.added",
            "provider": {"id": "285181292935381355", "description": "risala"},
            "recipientPhoneNumber": "+22236123456",
        },
        "templateData": {
            "title": "Zitadel - One-time password",
            "preHeader": "One-time password",
            "subject": "One-time password",
            "greeting": "Hello Amina Fall,",
            "text": ZITADEL_TEXT,
            "buttonText": "Enter",
            "primaryColor": "#5469d4",
            "fontFamily": "-apple-system, BlinkMacSystemFont, Segoe UI",
            "footerText": "VerifySMSOTP.Footer",
        },
        "args": {
            "oTP": "561166",
            "origin": "https://id.example.com",
            "domain": "id.example.com",
            "expiry": 300000000000,
            "lastPhone": "+22236123456",
            "verifiedPhone": "+22236123456",
            "userName": "amina",
        },
    }
)
ZITADEL_SOURCE = (
    "zitadel/zitadel 89ad958c, internal/notification/channels/webhook/channel.go: "
    "`resp.StatusCode < 200 || resp.StatusCode >= 300` is an error; docs/docs/guides/manage/"
    "customize/notification-providers.mdx 9f209616: the payload"
)
ZITADEL = Program(
    preset="zitadel",
    source=ZITADEL_SOURCE,
    proof=HookProof.PATH,
    body=ZITADEL_BODY,
    reads=(HookMessage("+22236123456", ZITADEL_TEXT, "561166"),),
)
ZITADEL_SIGNED = Program(
    preset="zitadel",
    source="zitadel/zitadel 0e7a14e5, pkg/actions/signing.go: `t=…,v1=…`, hex, key as text",
    proof=HookProof.TIMED_SIGNATURE,
    body=ZITADEL_BODY,
    reads=ZITADEL.reads,
)
LOGTO = Program(
    preset="logto",
    source=(
        "logto-io/logto 1fbc5544, packages/connectors/connector-http-sms/src/index.ts: got, which "
        "throws for each status but 2xx and never repeats a POST; authorization as it was typed"
    ),
    headers={"authorization": "Bearer {secret}", "user-agent": "got (https://github.com/)"},
    body=as_json(
        {
            "to": "22236123456",
            "type": "SignIn",
            "payload": {"code": "561166", "locale": "fr-FR", "uiLocales": "fr-FR fr"},
            "ip": "203.0.113.7",
        }
    ),
    reads=(HookMessage("22236123456", None, "561166", locale="fr"),),
)
LOGTO_BARE = Program(  # its user typed the secret alone
    preset="logto",
    source=LOGTO.source,
    headers={"authorization": "{secret}"},
    body=as_json({"to": "+22236123456", "type": "Register", "payload": {"code": "012345"}}),
    reads=(HookMessage("+22236123456", None, "012345"),),
)
AUTHENTIK_SOURCE = (
    "goauthentik/authentik 048be7dc, authentik/stages/authenticator_sms/models.py: "
    "`raise_for_status`; the answer's text is shown to the person"
)
AUTHENTIK_TEXT = "Use this code to authenticate in authentik: 561166"
AUTHENTIK = Program(
    preset="authentik",
    source=AUTHENTIK_SOURCE,
    headers={"authorization": "Bearer {secret}", "user-agent": "authentik@2026.8.0"},
    body=as_json(
        {"From": "anything", "To": "+222 36 12 34 56", "Body": "561166", "Message": AUTHENTIK_TEXT}
    ),
    reads=(HookMessage("+222 36 12 34 56", AUTHENTIK_TEXT, "561166"),),
)
AUTHENTIK_BASIC = Program(  # with a mapping
    preset="authentik",
    source=AUTHENTIK_SOURCE,
    proof=HookProof.BASIC,
    headers={"authorization": "Basic {basic}"},
    body=as_json({"to": "+22236123456", "body": "Votre code : 561166"}),
    reads=(HookMessage("+22236123456", "Votre code : 561166", None),),
)
KEYCLOAK_SOURCE = (
    "netzbegruenung/keycloak-mfa-plugins v26.7.1-1, gateway/ApiSmsService.java: any 2xx; else it "
    "writes a line to its log and goes on"
)
KEYCLOAK = Program(
    preset="keycloak",
    source=KEYCLOAK_SOURCE + "; JSON by format, without escapes: a line end stays one",
    headers={"authorization": "Bearer {secret}", "user-agent": "Java-http-client/21.0.8"},
    body=b'{"body":"Your SMS code is 561166 and is valid for 5 minutes.\n@id.example.com #561166",'
    b'"to":"+22236123456","from":"Keycloak"}',
    reads=(
        HookMessage(
            "+22236123456",
            "Your SMS code is 561166 and is valid for 5 minutes.\n@id.example.com #561166",
            None,
        ),
    ),
)
KEYCLOAK_FORM = Program(
    preset="keycloak",
    source=KEYCLOAK_SOURCE,
    proof=HookProof.BASIC,
    headers={"authorization": "Basic {basic}"},
    content_type="application/x-www-form-urlencoded",
    body=b"body=Code+%3A+561166+%C3%A9&to=%2B22236123456&from=Keycloak",
    reads=(HookMessage("+22236123456", "Code : 561166 é", None),),
)
KRATOS = Program(
    preset="kratos",
    source=(
        "ory/kratos b86338da, courier/http_channel.go: `res.StatusCode >= 200 && < 300`; the "
        "courier's queue tries every other answer again; request/auth.go; courier/sms_test.go"
    ),
    proof=HookProof.BASIC,
    headers={"authorization": "Basic {basic}", "user-agent": "Go-http-client/1.1"},
    body=as_json({"to": "+22236123456", "body": "\nYour login code is: 561166\n\nIt expires in 5"}),
    reads=(HookMessage("+22236123456", "Your login code is: 561166\n\nIt expires in 5", None),),
    tries_again=lambda answer: not is_2xx(answer),
)


def authgear_takes(answer: HookAnswer) -> bool:
    """client.go: a body that is a JSON object counts by its `code` alone, which must be `ok`;
    only for another body the status does."""
    if isinstance(parsed(answer), dict):
        return member(answer, "code") == "ok"
    return is_2xx(answer)


AUTHGEAR_BODY = as_json(
    {
        "to": "+22236123456",
        "body": "561166 is your Myapp verification code",
        "app_id": "myapp",
        "template_name": "verification_sms.txt",
        "language_tag": "ar",
        "template_variables": {"app_name": "Myapp", "code": "561166", "phone": "+22236123456"},
    }
)
AUTHGEAR = Program(
    preset="authgear",
    source="authgear/authgear-server fa7a7d55, pkg/lib/infra/sms/custom/client.go, model.go",
    proof=HookProof.PATH,
    headers={"x-authgear-body-signature": "00"},
    body=AUTHGEAR_BODY,
    reads=(
        HookMessage(
            "+22236123456", "561166 is your Myapp verification code", "561166", locale="ar"
        ),
    ),
    takes=authgear_takes,
)
AUTHGEAR_SIGNED = Program(
    preset="authgear",
    source="authgear/authgear-server fa7a7d55, pkg/lib/hook/hook_web.go: HMAC-SHA256, hex",
    proof=HookProof.BODY_SIGNATURE,
    body=AUTHGEAR_BODY,
    reads=AUTHGEAR.reads,
    takes=authgear_takes,
)
FUSIONAUTH = Program(
    preset="fusionauth",
    source=(
        "FusionAuth/fusionauth-site 85071edc, docs/customize/email-and-messages/"
        "generic-messenger.mdx: a status from 200 to 299"
    ),
    proof=HookProof.BASIC,
    headers={"authorization": "Basic {basic}"},
    body=as_json(
        {
            "phoneNumber": "+222 36123456",
            "textMessage": "Two Factor Code: 561166",
            "type": "SMS",
        }
    ),
    reads=(HookMessage("+222 36123456", "Two Factor Code: 561166", None),),
)
PRIVACYIDEA = Program(
    preset="privacyidea",
    source=(
        "privacyidea/privacyidea v3.14dev2, privacyidea/lib/smsprovider/HttpSMSProvider.py: "
        "`r.status_code not in [200, 201, 202]` is an error"
    ),
    proof=HookProof.BASIC,
    headers={"authorization": "Basic {basic}", "user-agent": "python-requests/2.32.5"},
    content_type="application/x-www-form-urlencoded",
    body=b"to=%2B22236123456&text=Code+561166",
    reads=(HookMessage("+22236123456", "Code 561166", None),),
    takes=lambda answer: answer.status in (200, 201, 202),
)
PRIVACYIDEA_JSON = Program(  # it reads options as JSON where they are: the code is a number
    preset="privacyidea",
    source=PRIVACYIDEA.source + "; SEND_DATA_AS_JSON",
    proof=HookProof.BEARER,
    headers={"authorization": "Bearer {secret}"},
    body=as_json({"to": 22236123456, "text": 561166}),
    reads=(HookMessage("22236123456", "561166", None),),
    takes=PRIVACYIDEA.takes,
)
PROGRAMS = (
    *(SUPABASE, SUPABASE_CHANGE, SUPABASE_OLD, ZITADEL, ZITADEL_SIGNED, LOGTO, LOGTO_BARE),
    *(AUTHENTIK, AUTHENTIK_BASIC, KEYCLOAK, KEYCLOAK_FORM, KRATOS, AUTHGEAR, AUTHGEAR_SIGNED),
    *(FUSIONAUTH, PRIVACYIDEA, PRIVACYIDEA_JSON),
)
