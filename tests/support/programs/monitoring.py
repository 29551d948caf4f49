"""Requests of what watches servers and houses: words for the hook's own numbers."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from programs.program import Program, as_json, as_python_json, is_2xx
from risala.engine.features.hooks.rules.requests import HookMessage, HookProof

BEARER = {"authorization": "Bearer {secret}"}
PLAIN = "text/plain; charset=utf-8"
FORM = "application/x-www-form-urlencoded"


def alert(text: str) -> tuple[HookMessage, ...]:
    return (HookMessage(None, text, None),)


ALERTS = [
    {
        "status": "firing",
        "labels": {"alertname": "HighLoad", "instance": f"web{number}:9100", "severity": "page"},
        "annotations": {"summary": f"web{number}: load is high"},
        "startsAt": "2026-11-27T08:00:00.000Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus:9090/graph?g0.expr=node_load1",
        "fingerprint": f"c6ba1ff2d9ba1ac{number}",
    }
    for number in (1, 2)
]
ALERTMANAGER_DATA = {
    "receiver": "sms",
    "status": "firing",
    "alerts": ALERTS,
    "notificationReason": "new_group",
    "groupLabels": {"alertname": "HighLoad"},
    "commonLabels": {"alertname": "HighLoad", "severity": "page"},
    "commonAnnotations": {},
    "routeLabels": {},
    "externalURL": "http://alertmanager:9093",
    "version": "4",
    "groupKey": '{}:{alertname="HighLoad"}',
    "truncatedAlerts": 0,
}
ALERTMANAGER = Program(
    preset="alertmanager",
    source=(
        "prometheus/alertmanager v0.34.0, notify/webhook/webhook.go, template/template.go; "
        "notify/util.go: 2xx is yes, 5xx is tried again, no other status is"
    ),
    headers={**BEARER, "user-agent": "Alertmanager/0.34.0"},
    body=as_json(ALERTMANAGER_DATA) + b"\n",
    reads=alert("firing: 2 HighLoad\nweb1: load is high, web2: load is high"),
    tries_again=lambda answer: answer.status // 100 == 5,
)
ALERTMANAGER_ONE = Program(
    preset="alertmanager",
    source=ALERTMANAGER.source,
    headers=BEARER,
    body=as_json(
        {
            **ALERTMANAGER_DATA,
            "status": "resolved",
            "alerts": [{**ALERTS[0], "status": "resolved", "endsAt": "2026-11-27T08:05:00Z"}],
            "commonLabels": ALERTS[0]["labels"],
            "commonAnnotations": ALERTS[0]["annotations"],
        }
    ),
    reads=alert("resolved: 1 HighLoad\nweb1: load is high"),
    tries_again=ALERTMANAGER.tries_again,
)
ALERTMANAGER_TEMPLATED = Program(
    preset="alertmanager",
    source="prometheus/alertmanager v0.34.0, notify/webhook/webhook.go, `payload`",
    proof=HookProof.BASIC,
    headers={"authorization": "Basic {basic}"},
    body=as_json({"text": "web1: load is high since 08:00"}) + b"\n",
    reads=alert("web1: load is high since 08:00"),
    tries_again=ALERTMANAGER.tries_again,
)
GRAFANA_SOURCE = (
    "grafana/alerting 783ce041, receivers/webhook/v1/webhook.go; http/client.go: "
    "`resp.StatusCode/100 == 2`, and no second try"
)
GRAFANA = Program(
    preset="grafana",
    source=GRAFANA_SOURCE,
    headers={**BEARER, "user-agent": "Grafana"},
    body=as_json(
        {
            "receiver": "my_receiver",
            "status": "firing",
            "alerts": [
                {
                    "status": "firing",
                    "labels": {"alertname": "alert1", "lbl1": "val1"},
                    "annotations": {},
                    "startsAt": "2026-11-27T08:00:00Z",
                    "endsAt": "0001-01-01T00:00:00Z",
                    "generatorURL": "http://localhost/test?orgId=1",
                    "fingerprint": "fac0861a85de433a",
                    "silenceURL": "http://localhost/alerting/silence/new",
                    "dashboardURL": "http://localhost/d/abcd?orgId=1",
                    "panelURL": "http://localhost/d/abcd?orgId=1&viewPanel=efgh",
                    "values": {"A": 93.5},
                    "valueString": "[ var='A' labels={} value=93.5 ]",
                    "orgId": 1,
                }
            ],
            "groupLabels": {"alertname": "alert1"},
            "commonLabels": {"alertname": "alert1", "lbl1": "val1"},
            "commonAnnotations": {},
            "externalURL": "http://localhost",
            "version": "1",
            "groupKey": "alertname",
            "truncatedAlerts": 0,
            "orgId": 1,
            "title": "[FIRING:1]  (val1)",
            "state": "alerting",
            "message": "**Firing**\n\nValue: A=93.5\nLabels:\n - alertname = alert1\n",
        }
    ),
    reads=alert("[FIRING:1] (val1)\n[ var='A' labels={} value=93.5 ]"),
)
GRAFANA_TEMPLATED = Program(
    preset="grafana",
    source=GRAFANA_SOURCE + "; `payload.template`",
    proof=HookProof.BASIC,
    headers={"authorization": "Basic {basic}"},
    body=as_json({"text": "Cold room: 9 °C"}),
    reads=alert("Cold room: 9 °C"),
)
KUMA_SOURCE = (
    "louislam/uptime-kuma 2.5.3, server/notification-providers/webhook.js, server/model/monitor.js:"
    " axios, which throws for each status but 2xx"
)
KUMA_TEXT = "[Shop] [🔴 Down] connect ECONNREFUSED 192.0.2.7:443"
KUMA = Program(
    preset="uptime-kuma",
    source=KUMA_SOURCE,
    headers={**BEARER, "user-agent": "Uptime-Kuma/2.5.3"},
    body=as_json(
        {
            "heartbeat": {
                "monitorID": 3,
                "status": 0,
                "time": "2026-11-27 08:00:00.000",
                "msg": "connect ECONNREFUSED 192.0.2.7:443",
                "important": True,
                "duration": 60,
                "timezone": "Africa/Nouakchott",
            },
            "monitor": {"id": 3, "name": "Shop", "url": "https://shop.example", "type": "http"},
            "msg": KUMA_TEXT,
        }
    ),
    reads=alert(KUMA_TEXT),
)
KUMA_GET = Program(
    preset="uptime-kuma",
    source=KUMA_SOURCE,
    method="GET",
    headers=BEARER,
    query=urlencode({"msg": KUMA_TEXT, "monitor": '{"id":3,"name":"Shop"}'}),
    content_type="",
    body=b"",
    reads=alert(KUMA_TEXT),
)
KUMA_SMS = Program(
    preset="uptime-kuma-sms",
    source=(
        "louislam/uptime-kuma 6398a958, server/notification-providers/sms-gateway.js: axios, which "
        "throws for each status but 2xx; a `status` of `failed` in the answer's JSON is an error"
    ),
    proof=HookProof.HEADER,
    suffix="/api/v1/sms/send",
    headers={"x-api-key": "{secret}", "user-agent": "axios/1.7.7"},
    body=as_json({"to": "+22236123456", "body": KUMA_TEXT}),
    reads=(HookMessage("+22236123456", KUMA_TEXT, None),),
    takes=lambda answer: is_2xx(answer) and json.loads(answer.body).get("status") != "failed",
)
NAGIOS = Program(
    preset="nagios",
    source=(
        "NagiosEnterprises/nagioscore, macros of notification commands ($NOTIFICATIONTYPE$, "
        "$HOSTNAME$, $SERVICEDESC$, $SERVICESTATE$, $SERVICEOUTPUT$); curl --data-urlencode, and "
        "--fail: a status from 400 on is an error"
    ),
    headers={**BEARER, "user-agent": "curl/7.88.1"},
    content_type=FORM,
    body=b"type=PROBLEM&host=db1&service=Disk%20%2F&state=CRITICAL"
    b"&output=DISK%20CRITICAL%20-%20free%20space%3A%20%2F%20512%20MB%20%283%25%29",
    reads=alert("PROBLEM: db1 Disk / CRITICAL\nDISK CRITICAL - free space: / 512 MB (3%)"),
    takes=lambda answer: answer.status < 400,
)
NAGIOS_HOST = Program(
    preset="nagios",
    source=NAGIOS.source,
    headers=BEARER,
    content_type=FORM,
    body=b"type=RECOVERY&host=db1&service=&state=UP&output=",
    reads=alert("RECOVERY: db1 UP"),
    takes=NAGIOS.takes,
)
GATUS = Program(
    preset="gatus",
    source=(
        "TwiN/gatus v5.36.0, alerting/provider/custom/custom.go: `response.StatusCode > 399` is "
        "an error; Go sends no content type of itself"
    ),
    headers=BEARER,
    content_type="",
    body='TRIGGERED: shop/website - says "no"\n❌ - `[STATUS] == 200`'.encode(),
    reads=alert('TRIGGERED: shop/website - says "no"\n❌ - `[STATUS] == 200`'),
    takes=lambda answer: answer.status < 400,
)
HEALTHCHECKS = Program(
    preset="healthchecks",
    source=(
        "healthchecks/healthchecks v4.3, hc/integrations/webhook/transport.py; hc/api/"
        "transports.py: `r.status_code not in (200, 201, 202, 204)` is an error, three tries"
    ),
    headers={**BEARER, "user-agent": "healthchecks.io"},
    content_type=PLAIN,
    body=b"[nightly backup] is down",
    reads=alert("[nightly backup] is down"),
    takes=lambda answer: answer.status in (200, 201, 202, 204),
    tries_again=lambda answer: answer.status not in (200, 201, 202, 204),
)
LIBRENMS = Program(
    preset="librenms",
    source=(
        "librenms/librenms 03400dc0, LibreNMS/Alert/Transport/Api.php: `$res->successful()`, which "
        "is a 2xx; the body is `text/plain`"
    ),
    proof=HookProof.BASIC,
    headers={"authorization": "Basic {basic}"},
    content_type="text/plain",
    body=b"Alert for device core-sw1 - Device Down\r\n",
    reads=alert("Alert for device core-sw1 - Device Down"),
)
ZABBIX = Program(
    preset="zabbix",
    source=(
        "Zabbix documentation, media type webhook: parameters To, Subject, Message; the script "
        "of our page posts them, and throws for each status but 2xx"
    ),
    headers={**BEARER, "user-agent": "Zabbix"},
    body=as_json(
        {
            "To": "+22236123456",
            "Subject": "Problem: Zabbix agent is not available",
            "Message": "Problem started at 08:00:00 on 2026.11.27\r\nHost: db1\r\nSeverity: High",
        }
    ),
    reads=(
        HookMessage(
            "+22236123456",
            "Problem started at 08:00:00 on 2026.11.27\nHost: db1\nSeverity: High",
            None,
        ),
    ),
)
APPRISE = Program(
    preset="apprise",
    source=(
        "caronc/apprise v1.13.0 and 2.3.0, apprise/plugins/custom_json.py: "
        "`status_code < 200 or >= 300` is an error"
    ),
    headers={**BEARER, "user-agent": "Apprise"},
    body=as_python_json(
        {
            "version": "1.0",
            "title": "Backup <b>failed</b>",
            "message": "disk full\n",
            "attachments": [],
            "type": "failure",
        }
    ),
    reads=alert("Backup <b>failed</b>\ndisk full"),
)
HOME_SOURCE = (
    "home-assistant/core 0625c9fa, homeassistant/components/rest/notify.py: a status from 400 on "
    "is a line in its log"
)
HOME = Program(
    preset="home-assistant",
    source=HOME_SOURCE + "; POST_JSON with `title_param_name`",
    headers={**BEARER, "user-agent": "python-requests/2.32.5"},
    body=as_python_json({"message": "The door is open.", "title": "Home Assistant"}),
    reads=alert("Home Assistant\nThe door is open."),
    takes=lambda answer: answer.status < 400,
)
HOME_GET = Program(
    preset="home-assistant",
    source=HOME_SOURCE + "; GET, which is its default",
    method="GET",
    headers=BEARER,
    query=urlencode({"message": "الباب مفتوح"}),
    content_type="",
    body=b"",
    reads=alert("الباب مفتوح"),
    takes=HOME.takes,
)
HOME_FORM = Program(
    preset="home-assistant",
    source=HOME_SOURCE + "; POST",
    headers=BEARER,
    content_type=FORM,
    body=b"message=The+door+is+open.&title=Home+Assistant",
    reads=HOME.reads,
    takes=HOME.takes,
)
SYNOLOGY = Program(
    preset="synology",
    source="Synology DSM, help of Notification, SMS: its user writes an address with parameters",
    proof=HookProof.PATH,
    method="GET",
    query="to=22236123456&text=Drive+1+on+NAS+failed.",
    content_type="",
    body=b"",
    reads=(HookMessage("22236123456", "Drive 1 on NAS failed.", None),),
    takes=is_2xx,
)
PROGRAMS = (
    *(ALERTMANAGER, ALERTMANAGER_ONE, ALERTMANAGER_TEMPLATED, GRAFANA, GRAFANA_TEMPLATED),
    *(
        KUMA,
        KUMA_GET,
        KUMA_SMS,
        NAGIOS,
        NAGIOS_HOST,
        GATUS,
        HEALTHCHECKS,
        LIBRENMS,
        ZABBIX,
        APPRISE,
    ),
    *(HOME, HOME_GET, HOME_FORM, SYNOLOGY),
)
