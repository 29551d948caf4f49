"""Programs that send a message and verify a number, in our customers' languages, with the reader's
own address.

The key is never part of a program: copied code ends in repositories. Each is a whole program that
reads its key from the environment variable ``RISALA_KEY``, and needs nothing beyond its language
but, for Dart, ``package:http``. The commands for a terminal set that variable first if the page has
the key: on the page that shows it once.
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

from risala.sms.numbering.plan import NumberingPlan

_CURL: Final = """\
curl {url}/api/sms \\
  -H "x-api-key: $RISALA_KEY" -H "content-type: application/json" \\
  -d '{{"to": "{to}", "body": "Bonjour"}}'"""
_PYTHON_CALL: Final = """\
import json, os, urllib.request

def risala(path, **body):
    request = urllib.request.Request("{url}" + path, json.dumps(body).encode(),
        {{"x-api-key": os.environ["RISALA_KEY"], "content-type": "application/json"}})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

"""
_PYTHON: Final = (
    _PYTHON_CALL
    + """\
print(risala("/api/sms", to="{to}", body="Bonjour"))"""
)
_JAVASCRIPT_CALL: Final = """\
const risala = async (path, body) => {{
  const answer = await fetch("{url}" + path, {{ method: "POST",
    headers: {{ "x-api-key": process.env.RISALA_KEY, "content-type": "application/json" }},
    body: JSON.stringify(body) }});
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}};

"""
_JAVASCRIPT: Final = (
    _JAVASCRIPT_CALL
    + """\
console.log(await risala("/api/sms", {{ to: "{to}", body: "Bonjour" }}));"""
)
_PHP_CALL: Final = """\
<?php
function risala(string $path, array $body): array {{
  $call = curl_init("{url}" . $path);
  curl_setopt_array($call, [
    CURLOPT_POSTFIELDS => json_encode($body), CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => ["x-api-key: " . getenv("RISALA_KEY"), "content-type: application/json"],
  ]);
  $answer = curl_exec($call);
  if (curl_getinfo($call, CURLINFO_RESPONSE_CODE) >= 400) throw new Exception($answer);
  return json_decode($answer, true);
}}

"""
_PHP: Final = (
    _PHP_CALL
    + """\
print_r(risala("/api/sms", ["to" => "{to}", "body" => "Bonjour"]));"""
)
_DART_CALL: Final = """\
import 'dart:convert';
import 'dart:io';
import 'package:http/http.dart' as http;

Future<Map<String, dynamic>> risala(String path, Map<String, String> body) async {{
  final key = Platform.environment['RISALA_KEY']!;
  final answer = await http.post(Uri.parse('{url}$path'),
      headers: {{'x-api-key': key, 'content-type': 'application/json'}}, body: jsonEncode(body));
  if (answer.statusCode >= 400) throw HttpException(answer.body);
  return jsonDecode(answer.body) as Map<String, dynamic>;
}}

"""
_DART: Final = (
    _DART_CALL
    + """\
Future<void> main() async {{
  print(await risala('/api/sms', {{'to': '{to}', 'body': 'Bonjour'}}));
}}"""
)
SENDING: Final = (
    *(("curl", _CURL), ("Python", _PYTHON), ("JavaScript", _JAVASCRIPT)),
    *(("PHP", _PHP), ("Dart", _DART)),
)

_CURL_VERIFY: Final = """\
ID=$(curl -s {url}/api/verify/send \\
  -H "x-api-key: $RISALA_KEY" -H "content-type: application/json" \\
  -d '{{"to": "{to}", "locale": "fr"}}' | cut -d '"' -f 4)
printf 'Code: '; read CODE
curl -s {url}/api/verify/check \\
  -H "x-api-key: $RISALA_KEY" -H "content-type: application/json" \\
  -d '{{"verificationId": "'$ID'", "code": "'$CODE'"}}'"""
_PYTHON_VERIFY: Final = (
    _PYTHON_CALL
    + """\
session = risala("/api/verify/send", to="{to}", locale="fr")["verificationId"]
print(risala("/api/verify/check", verificationId=session, code=input("Code: ")))"""
)
_JAVASCRIPT_VERIFY: Final = (
    'import {{ createInterface }} from "node:readline/promises";\n\n'
    + _JAVASCRIPT_CALL
    + """\
const {{ verificationId }} = await risala("/api/verify/send", {{ to: "{to}", locale: "fr" }});
const ask = createInterface({{ input: process.stdin, output: process.stdout }});
const code = await ask.question("Code: ");
console.log(await risala("/api/verify/check", {{ verificationId, code }}));
ask.close();"""
)
_PHP_VERIFY: Final = (
    _PHP_CALL
    + """\
$session = risala("/api/verify/send", ["to" => "{to}", "locale" => "fr"])["verificationId"];
$code = readline("Code: ");
print_r(risala("/api/verify/check", ["verificationId" => $session, "code" => $code]));"""
)
_DART_VERIFY: Final = (
    _DART_CALL
    + """\
Future<void> main() async {{
  final sent = await risala('/api/verify/send', {{'to': '{to}', 'locale': 'fr'}});
  stdout.write('Code: ');
  final code = stdin.readLineSync()!;
  final id = sent['verificationId'] as String;
  print(await risala('/api/verify/check', {{'verificationId': id, 'code': code}}));
}}"""
)
VERIFYING: Final = (
    *(("curl", _CURL_VERIFY), ("Python", _PYTHON_VERIFY), ("JavaScript", _JAVASCRIPT_VERIFY)),
    *(("PHP", _PHP_VERIFY), ("Dart", _DART_VERIFY)),
)

_QUOTED: Final = re.compile(r"""'[^'\n]*'|"[^"\n]*\"""")


def number_of(plan: NumberingPlan, *, is_test: bool) -> str:
    """An example's recipient. With a test key the last two digits choose the outcome: 00 is
    delivered."""
    return f"{plan.example[:-2]}00" if is_test else plan.example


def send_snippets(url: str, to: str, key: str | None = None) -> list[tuple[str, Markup]]:
    """A message in each language, with the quoted parts marked.

    Args:
        key: set in the environment by the commands for a terminal, so that they work as pasted;
            None: the reader sets it.
    """
    first = {} if key is None else {"curl": f"export RISALA_KEY='{key}'\n"}
    return [
        (name, marked(first.get(name, "") + text.format(url=url, to=to))) for name, text in SENDING
    ]


def verifying(url: str, to: str) -> list[tuple[str, Markup]]:
    """The same for a code that is sent and judged."""
    return [(name, marked(text.format(url=url, to=to))) for name, text in VERIFYING]


def marked(code: str) -> Markup:
    """Code with its strings marked, for the eye."""
    found, at = Markup(""), 0
    for quoted in _QUOTED.finditer(code):
        found += escape(code[at : quoted.start()]) + Markup("<i>{}</i>").format(quoted[0])
        at = quoted.end()
    return found + escape(code[at:])
