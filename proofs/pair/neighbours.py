"""What stands around the pair: the proxy before it, and the carrier."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from processes import Process
from proofs.pair.machines import ROOT
from proofs.pair.network import Network
from proofs.process.around import Around

CARRIER_PORT: Final = 2775
NGINX: Final = """
daemon off;
pid {place}/nginx.pid;
error_log {place}/nginx.log warn;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {place}/nginx-body;
  proxy_temp_path {place}/nginx-proxy;
  fastcgi_temp_path {place}/nginx-fastcgi;
  uwsgi_temp_path {place}/nginx-uwsgi;
  scgi_temp_path {place}/nginx-scgi;
  upstream pair {{
    server {one} max_fails=0;
    server {two} max_fails=0;
  }}
  server {{
    listen 80;
    location / {{
      proxy_pass http://pair;
      proxy_connect_timeout 1s;
      proxy_read_timeout 8s;
      # A request is repeated at the other machine: its idempotency key makes that harmless.
      proxy_next_upstream error timeout http_503 non_idempotent;
      add_header X-Machine $upstream_addr always;
    }}
  }}
}}
"""


class Smsc(Around):
    """``risala simulate smsc``, on a machine of its own."""

    def __init__(self, network: Network, cwd: Path) -> None:
        given = ("--host", network.address("carrier"), "--json", "--receipt-delay-s", "0.1")
        simulate = ["-m", "risala", "simulate", "smsc", *given]
        self._network = network
        super().__init__("smsc", lambda _: [*simulate, "--port", str(CARRIER_PORT)], cwd)

    def _launch(self) -> None:
        command = [sys.executable, *self._command(0)]
        path = f"{ROOT / 'src'}"
        inside = self._network.inside("carrier", command)
        self.process = Process(inside, self._cwd, PYTHONPATH=path)
        self.process.wait_line(lambda line: '"Listening"' in line)
