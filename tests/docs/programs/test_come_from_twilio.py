"""The HTTP clients of *Come from Twilio*: what each asks in place of Twilio.

Python's is run with Twilio's own library. The others are run where their language is there, with a
stand-in for the part of the library that they use: what it calls itself, and how it asks.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from doc_blocks import ROOT, blocks_of
from patience import HANG_S

PAGE = "docs/how-to/come-from-twilio.md"
ADDRESS = "https://sms.example"
PATH = "/2010-04-01/Accounts/AC1/Messages.json"
ASKED = f"POST {ADDRESS}{PATH} AC1:TOKEN +22236123456"
NODE = """
class RequestClient {
  async request({ method, uri, username, password, data }) {
    console.log(method.toUpperCase(), uri, `${username}:${password}`, data.To);
    return { sid: "SM1" };
  }
}
const uri = "https://api.twilio.com%s";
module.exports = (username, password, { httpClient }) => ({
  messages: { create: ({ to }) =>
    httpClient.request({ method: "post", uri, username, password, data: { To: to } }) },
});
module.exports.RequestClient = RequestClient;
"""
PHP = """<?php
namespace Twilio\\Http {
    class Response { public $sid = 'SM1'; }
    class CurlClient {
        public function request(string $method, string $url, array $params = [], array $data = [],
            array $headers = [], ?string $user = null, ?string $password = null,
            ?int $timeout = null, ?object $authStrategy = null): Response {
            echo strtoupper($method), " $url $user:$password ", $data['To'], "\\n";
            return new Response();
        }
    }
}
namespace Twilio\\Rest {
    class Client {
        public $messages;
        public function __construct($user, $password, $account, $region, $http) {
            $this->messages = new class($user, $password, $http) {
                public function __construct(public $user, public $password, public $http) {}
                public function create($to, $more) {
                    return $this->http->request('post', 'https://api.twilio.com%s', [],
                        ['To' => $to], [], $this->user, $this->password);
                }
            };
        }
    }
}
"""
HTTP = "com/twilio/http"
JAVA = {
    f"{HTTP}/HttpMethod.java": "package com.twilio.http; public enum HttpMethod { POST }",
    f"{HTTP}/Response.java": "package com.twilio.http; public class Response { }",
    f"{HTTP}/Request.java": """package com.twilio.http;
import java.util.*;
public class Request {
    private final HttpMethod method; private final String url; private String user, password;
    private Object type;
    private final Map<String, List<String>> query = new HashMap<>(), post = new HashMap<>(),
        header = new HashMap<>();
    public Request(HttpMethod method, String url) { this.method = method; this.url = url; }
    public HttpMethod getMethod() { return method; }
    public String getUrl() { return url; }
    public void setAuth(String user, String password) {
        this.user = user; this.password = password;
    }
    public String getUsername() { return user; }
    public String getPassword() { return password; }
    public Object getContentType() { return type; }
    public void setContentType(Object type) { this.type = type; }
    public Map<String, List<String>> getQueryParams() { return query; }
    public Map<String, List<String>> getPostParams() { return post; }
    public Map<String, List<String>> getHeaderParams() { return header; }
    public void addQueryParam(String name, String value) { query.put(name, List.of(value)); }
    public void addPostParam(String name, String value) { post.put(name, List.of(value)); }
    public void addHeaderParam(String name, String value) { header.put(name, List.of(value)); }
}""",
    f"{HTTP}/NetworkHttpClient.java": """package com.twilio.http;
public class NetworkHttpClient {
    public Response makeRequest(Request asked) {
        System.out.println(asked.getMethod() + " " + asked.getUrl() + " " + asked.getUsername()
            + ":" + asked.getPassword() + " " + asked.getPostParams().get("To").get(0));
        if (asked.getContentType() == null) throw new IllegalStateException();
        if (!asked.getQueryParams().containsKey("q")) throw new IllegalStateException();
        if (!asked.getHeaderParams().containsKey("h")) throw new IllegalStateException();
        return new Response();
    }
}""",
    f"{HTTP}/TwilioRestClient.java": """package com.twilio.http;
public class TwilioRestClient {
    public String user, password; public NetworkHttpClient http;
    public static class Builder {
        private final TwilioRestClient made = new TwilioRestClient();
        public Builder(String user, String password) {
            made.user = user; made.password = password;
        }
        public Builder httpClient(NetworkHttpClient http) { made.http = http; return this; }
        public TwilioRestClient build() { return made; }
    }
}""",
    "com/twilio/type/PhoneNumber.java": """package com.twilio.type;
public class PhoneNumber {
    public final String number;
    public PhoneNumber(String number) { this.number = number; }
}""",
    "com/twilio/rest/api/v2010/account/Message.java": """package com.twilio.rest.api.v2010.account;
import com.twilio.http.*;
import com.twilio.type.PhoneNumber;
public class Message {
    private final PhoneNumber to;
    private Message(PhoneNumber to) { this.to = to; }
    public static Message creator(PhoneNumber to, PhoneNumber from, String body) {
        return new Message(to);
    }
    public Message create(TwilioRestClient client) {
        Request asked = new Request(HttpMethod.POST, "https://api.twilio.com%s");
        asked.setAuth(client.user, client.password);
        asked.setContentType("form");
        asked.addPostParam("To", to.number);
        asked.addQueryParam("q", "1");
        asked.addHeaderParam("h", "1");
        client.http.makeRequest(asked);
        return this;
    }
    public String getSid() { return "SM1"; }
}""",
}


def program(language: str, address: str = ADDRESS) -> str:
    (block,) = (each for each in blocks_of(ROOT / PAGE) if each.language == language)
    assert ADDRESS in block.text
    return block.text.replace("AC…", "AC1").replace(ADDRESS, address)


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("%s", PATH), "utf-8")
    return path


def run(place: Path, *words: str) -> list[str]:
    done = subprocess.run(
        words, cwd=place, capture_output=True, text=True, timeout=HANG_S, check=False,
        env={**os.environ, "JAVA_TOOL_OPTIONS": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


class Answers(BaseHTTPRequestHandler):
    """Stands where Risala is, and notes what it is asked."""

    asked: list[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.asked.append(f"{self.command} {self.path}")
        body = b'{"sid": "SM1"}'
        self.send_response(201)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args) -> None:
        """Nothing."""


@pytest.fixture
def risala() -> Iterator[HTTPServer]:
    Answers.asked = []
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_python(risala, capsys):
    exec(compile(program("python", f"http://127.0.0.1:{risala.server_port}"), PAGE, "exec"), {})
    assert Answers.asked == [f"POST {PATH}"]
    assert capsys.readouterr().out == "SM1\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not there")
def test_node(tmp_path):
    put(tmp_path / "node_modules/twilio/index.js", NODE)
    put(tmp_path / "it.mjs", program("js"))
    assert run(tmp_path, "node", "it.mjs") == [ASKED, "SM1"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("php") is None, reason="PHP is not there")
def test_php(tmp_path):
    put(tmp_path / "vendor/autoload.php", PHP)
    put(tmp_path / "it.php", program("php"))
    assert run(tmp_path, "php", "-d", "display_errors=stderr", "it.php") == [ASKED, "SM1"]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(shutil.which("javac") is None, reason="a JDK is not there")
def test_java(tmp_path):
    files = [str(put(tmp_path / name, text)) for name, text in JAVA.items()]
    files.append(str(put(tmp_path / "AtRisala.java", program("java"))))
    run(tmp_path, "javac", "-encoding", "utf-8", "-d", "made", *files)
    assert run(tmp_path, "java", "-cp", "made", "AtRisala") == [ASKED, "SM1"]
