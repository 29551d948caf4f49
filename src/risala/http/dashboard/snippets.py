"""Examples that send a message, in the languages of our customers, with the reader's own address.

The key never stands in an example: what is copied from a page ends in repositories.
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

_CURL: Final = """\
curl {url}/api/sms \\
  -H "x-api-key: $RISALA_KEY" -H "content-type: application/json" \\
  -d '{{"to": "{to}", "body": "Bonjour"}}'"""
_PYTHON: Final = """\
import os, httpx
httpx.post("{url}/api/sms",
  headers={{"x-api-key": os.environ["RISALA_KEY"]}},
  json={{"to": "{to}", "body": "Bonjour"}})"""
_JAVASCRIPT: Final = """\
await fetch("{url}/api/sms", {{ method: "POST",
  headers: {{ "x-api-key": process.env.RISALA_KEY, "content-type": "application/json" }},
  body: JSON.stringify({{ to: "{to}", body: "Bonjour" }}) }});"""
_PHP: Final = """\
$ch = curl_init("{url}/api/sms");
curl_setopt_array($ch, [CURLOPT_POSTFIELDS => json_encode(["to" => "{to}", "body" => "Bonjour"]),
  CURLOPT_HTTPHEADER => ["x-api-key: " . getenv("RISALA_KEY"), "content-type: application/json"]]);
curl_exec($ch);"""
_DART: Final = """\
await http.post(Uri.parse("{url}/api/sms"),
  headers: {{"x-api-key": key, "content-type": "application/json"}},
  body: jsonEncode({{"to": "{to}", "body": "Bonjour"}}));"""
SENDING: Final = (
    *(("curl", _CURL), ("Python", _PYTHON), ("JavaScript", _JAVASCRIPT)),
    *(("PHP", _PHP), ("Dart", _DART)),
)
NUMBER: Final = "+22236123456"
_QUOTED: Final = re.compile(r"""'[^'\n]*'|"[^"\n]*\"""")


def sending(url: str) -> list[tuple[str, Markup]]:
    """The example in each language, with what is quoted in it marked."""
    return [(name, marked(text.format(url=url, to=NUMBER))) for name, text in SENDING]


def marked(code: str) -> Markup:
    """Code with its strings marked, for the eye."""
    found, at = Markup(""), 0
    for quoted in _QUOTED.finditer(code):
        found += escape(code[at : quoted.start()]) + Markup("<i>{}</i>").format(quoted[0])
        at = quoted.end()
    return found + escape(code[at:])
