"""Programs that send a message and verify a number, in our customers' languages, with the reader's
own address.

A live key is never part of a program: copied code ends in repositories. Programs read it from the
environment variable ``RISALA_KEY``, and the commands for a terminal set that variable first if the
page has the key: on the page that shows it once. A test key, which reaches no phone and costs
nothing, stands in the programs of the quick start while that page shows it, so that they run as
pasted.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from typing import Final

from markupsafe import Markup, escape

from risala.dataclass import dataclass
from risala.sms.numbering.plan import NumberingPlan

TEXT: Final = "Bonjour"
"""The text of the message in an example: a word of every language here, in one part."""
_LOCALE: Final = "fr"
"""The language of the code in an example."""
_QUOTED: Final = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")


def number_of(plan: NumberingPlan, *, is_test: bool) -> str:
    """An example's recipient. With a test key the last two digits choose the outcome: 00 is
    delivered."""
    return f"{plan.example[:-2]}00" if is_test else plan.example


def send_snippets(
    url: str, to: str, key: str | None = None, *, body: str = TEXT, test_key: str | None = None
) -> list[tuple[str, Markup]]:
    """A message in each language, with the quoted parts marked.

    Args:
        key: set in the environment by the commands for a terminal, so that they work as pasted;
            None: the reader sets it.
        test_key: stands in each program; None: each reads its key from the environment.
    """
    first = {} if key is None else {"curl": f"export RISALA_KEY='{key}'\n"}
    return [
        (
            each.name,
            marked(
                first.get(each.name, "")
                + each.written(each.sending, url, test_key, to=to, body=body)
            ),
        )
        for each in LANGUAGES
        if each.sending is not None
    ]


def verifying(url: str, to: str) -> list[tuple[str, Markup]]:
    """The code in each language that sends a one-time code and judges it."""
    return [
        (each.name, marked(each.written(each.verifying, url, None, to=to, locale=_LOCALE)))
        for each in LANGUAGES
        if each.verifying is not None
    ]


def marked(code: str) -> Markup:
    """Code with its strings marked, for the eye."""
    markup, at = Markup(""), 0
    for quoted in _QUOTED.finditer(code):
        markup += escape(code[at : quoted.start()]) + Markup("<i>{}</i>").format(quoted[0])
        at = quoted.end()
    return markup + escape(code[at:])


# The programs of the quick start, one a language: with a message, and with a code that is sent and
# checked.
#
# Each is a whole program that needs nothing beyond its language but, for Dart, ``package:http``.
# They stand in ``docs/quick-start`` too, whose tests run those whose language is on the machine.

_CURL: Final = """\
curl {url}/api/sms \\
  -H "x-api-key: {key}" -H "content-type: application/json" \\
  -d {json}"""
_PYTHON_CALL: Final = """\
import json, os, urllib.request

def risala(path, **body):
    request = urllib.request.Request("{url}" + path, json.dumps(body).encode(),
        {{"x-api-key": {key}, "content-type": "application/json"}})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

"""
_PYTHON: Final = (
    _PYTHON_CALL
    + """\
print(risala("/api/sms", to={to}, body={body}))"""
)
_JAVASCRIPT_CALL: Final = """\
const risala = async (path, body) => {{
  const answer = await fetch("{url}" + path, {{ method: "POST",
    headers: {{ "x-api-key": {key}, "content-type": "application/json" }},
    body: JSON.stringify(body) }});
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}};

"""
_JAVASCRIPT: Final = (
    _JAVASCRIPT_CALL
    + """\
console.log(await risala("/api/sms", {{ to: {to}, body: {body} }}));"""
)
_PHP_CALL: Final = """\
<?php
function risala(string $path, array $body): array {{
  $call = curl_init("{url}" . $path);
  curl_setopt_array($call, [
    CURLOPT_POSTFIELDS => json_encode($body), CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => ["x-api-key: " . {key}, "content-type: application/json"],
  ]);
  $answer = curl_exec($call);
  if (curl_getinfo($call, CURLINFO_RESPONSE_CODE) >= 400) throw new Exception($answer);
  return json_decode($answer, true);
}}

"""
_PHP: Final = (
    _PHP_CALL
    + """\
print_r(risala("/api/sms", ["to" => {to}, "body" => {body}]));"""
)
_JAVA_CALL: Final = """\
  static String risala(String path, String body) throws Exception {{
    var request = HttpRequest.newBuilder(URI.create("{url}" + path))
        .header("x-api-key", {key})
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body)).build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() >= 400) throw new Exception(answer.body());
    return answer.body();
  }}
"""
_JAVA: Final = (
    """\
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Send {{
"""
    + _JAVA_CALL
    + """
  public static void main(String[] arguments) throws Exception {{
    System.out.println(risala("/api/sms", {json}));
  }}
}}"""
)
_GO: Final = """\
package main

import (
\t"bytes"
\t"encoding/json"
\t"fmt"
\t"net/http"
\t"os"
)

func check(err error) {{
\tif err != nil {{
\t\tfmt.Fprintln(os.Stderr, err)
\t\tos.Exit(1)
\t}}
}}

func risala(path string, body map[string]string) map[string]any {{
\tcontent, err := json.Marshal(body)
\tcheck(err)
\trequest, err := http.NewRequest("POST", "{url}"+path, bytes.NewReader(content))
\tcheck(err)
\trequest.Header.Set("x-api-key", {key})
\trequest.Header.Set("content-type", "application/json")
\tanswer, err := http.DefaultClient.Do(request)
\tcheck(err)
\tdefer answer.Body.Close()
\tfound := map[string]any{{}}
\tcheck(json.NewDecoder(answer.Body).Decode(&found))
\tif answer.StatusCode >= 400 {{
\t\tcheck(fmt.Errorf("%v", found))
\t}}
\treturn found
}}

func main() {{
\tfmt.Println(risala("/api/sms", map[string]string{{"to": {to}, "body": {body}}}))
}}"""
_DART_CALL: Final = """\
import 'dart:convert';
import 'dart:io';
import 'package:http/http.dart' as http;

Future<Map<String, dynamic>> risala(String path, Map<String, String> body) async {{
  final key = {key};
  final answer = await http.post(Uri.parse('{url}$path'),
      headers: {{'x-api-key': key, 'content-type': 'application/json'}}, body: jsonEncode(body));
  if (answer.statusCode >= 400) throw HttpException(answer.body);
  return jsonDecode(answer.body) as Map<String, dynamic>;
}}

"""
_CURL_VERIFY: Final = """\
ID=$(curl -s {url}/api/verify/send \\
  -H "x-api-key: {key}" -H "content-type: application/json" \\
  -d {json} | cut -d '"' -f 4)
printf 'Code: '; read CODE
curl -s {url}/api/verify/check \\
  -H "x-api-key: {key}" -H "content-type: application/json" \\
  -d '{{"verificationId": "'$ID'", "code": "'$CODE'"}}'"""
_PYTHON_VERIFY: Final = (
    _PYTHON_CALL
    + """\
session = risala("/api/verify/send", to={to}, locale="fr")["verificationId"]
print(risala("/api/verify/check", verificationId=session, code=input("Code: ")))"""
)
_JAVASCRIPT_VERIFY: Final = (
    'import {{ createInterface }} from "node:readline/promises";\n\n'
    + _JAVASCRIPT_CALL
    + """\
const {{ verificationId }} = await risala("/api/verify/send", {{ to: {to}, locale: "fr" }});
const ask = createInterface({{ input: process.stdin, output: process.stdout }});
const code = await ask.question("Code: ");
console.log(await risala("/api/verify/check", {{ verificationId, code }}));
ask.close();"""
)
_PHP_VERIFY: Final = (
    _PHP_CALL
    + """\
$session = risala("/api/verify/send", ["to" => {to}, "locale" => "fr"])["verificationId"];
$code = readline("Code: ");
print_r(risala("/api/verify/check", ["verificationId" => $session, "code" => $code]));"""
)
_JAVA_VERIFY: Final = (
    """\
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Scanner;
import java.util.regex.Pattern;

public class Verify {{
"""
    + _JAVA_CALL
    + """
  static String member(String json, String name) {{
    var found = Pattern.compile("\\"" + name + "\\" ?: ?\\"([^\\"]*)\\"").matcher(json);
    return found.find() ? found.group(1) : "";
  }}

  public static void main(String[] arguments) throws Exception {{
    var started = risala("/api/verify/send", {json});
    var id = member(started, "verificationId");
    System.out.print("Code: ");
    var digits = new Scanner(System.in).nextLine().replaceAll("[^0-9]", "");
    var checked = risala("/api/verify/check",
        "{{\\"verificationId\\": \\"" + id + "\\", \\"code\\": \\"" + digits + "\\"}}");
    System.out.println(member(checked, "status"));
  }}
}}"""
)
_DART_VERIFY: Final = (
    _DART_CALL
    + """\
Future<void> main() async {{
  final sent = await risala('/api/verify/send', {{'to': {to}, 'locale': 'fr'}});
  stdout.write('Code: ');
  final code = stdin.readLineSync()!;
  final id = sent['verificationId'] as String;
  print(await risala('/api/verify/check', {{'verificationId': id, 'code': code}}));
}}"""
)

_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-f]{4})|.)")


def _quoted(text: str) -> str:
    """A text as JSON writes it, which Python, JavaScript, Java and Go read alike."""
    return json.dumps(text, ensure_ascii=False)


def _php(text: str) -> str:
    def escape(match: re.Match[str]) -> str:
        if match[0] == r"\b":  # a letter b for PHP
            return r"\u{8}"
        return match[0] if match[1] is None else rf"\u{{{match[1]}}}"

    return _ESCAPE.sub(escape, _quoted(text)).replace("$", r"\$")


def _dart(text: str) -> str:
    inner = _quoted(text)[1:-1].replace('\\"', '"')
    return "'" + inner.replace("'", "\\'").replace("$", "\\$") + "'"


@dataclass(frozen=True, slots=True)
class ProgramLanguage:
    """A language, and its two programs with holes.

    The holes: ``url``; ``key``, an expression of the API key; ``to`` and ``body``, literals of the
    language; ``json``, such a literal of the whole body of the request.
    """

    name: str
    literal: Callable[[str], str]
    """A text as the language quotes it."""
    environment: str
    """The expression that reads the key from the environment variable ``RISALA_KEY``."""
    sending: str | None
    """None: no program of it sends. What is in an app is in everybody's hands, so an app verifies
    numbers, with a publishable key, and sends nothing."""
    verifying: str | None
    """None: the page has no room for it; ``docs/quick-start`` has it."""

    def written(self, program: str, url: str, key: str | None, **body: str) -> str:
        """A program with its holes filled.

        Args:
            key: None: the program reads it from the environment.
            body: the members of the request's body.
        """
        if key is None:
            key = self.environment
        elif self.name != "curl":  # there it stands inside quotes already
            key = self.literal(key)
        whole = self.literal(json.dumps(body, ensure_ascii=False))
        members = {name: self.literal(text) for name, text in body.items()}
        return program.format(url=url, key=key, json=whole, **members)


LANGUAGES: Final = (
    ProgramLanguage("curl", shlex.quote, "$RISALA_KEY", _CURL, _CURL_VERIFY),
    ProgramLanguage("Python", _quoted, 'os.environ["RISALA_KEY"]', _PYTHON, _PYTHON_VERIFY),
    ProgramLanguage(
        "JavaScript", _quoted, "process.env.RISALA_KEY", _JAVASCRIPT, _JAVASCRIPT_VERIFY
    ),
    ProgramLanguage("PHP", _php, 'getenv("RISALA_KEY")', _PHP, _PHP_VERIFY),
    ProgramLanguage("Java", _quoted, 'System.getenv("RISALA_KEY")', _JAVA, _JAVA_VERIFY),
    ProgramLanguage("Go", _quoted, 'os.Getenv("RISALA_KEY")', _GO, None),
    ProgramLanguage("Dart", _dart, "Platform.environment['RISALA_KEY']!", None, _DART_VERIFY),
)
"""Our customers' languages, in the order of the page's tabs."""
