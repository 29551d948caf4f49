"""Check an export of Risala's audit trail without Risala.

    risala audit-log --chain > trail.jsonl
    python3 check_trail.py trail.jsonl [HEADS …]

HEADS are files with signed heads that went out earlier: mails, logs, the standby's audit.heads.
Needs Python 3.11 or later; for the signatures also `pip install cryptography`.
"""

import hashlib
import json
import re
import sys
from base64 import b64decode
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

hashes, keys, faults, heads = {0: "0" * 64}, set(), [], []
for text in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
    line = json.loads(text)
    if isinstance(line, dict):  # the names of the columns, or at the end a head
        heads += [line] if "signature" in line else []
        continue
    *values, told = line
    seq, action, subject = values[0], values[5], values[7]
    body = json.dumps(values, separators=(",", ":"))
    if seq - 1 not in hashes:
        faults.append(f"line {seq}: the line before it is missing")
    elif hashlib.sha256((hashes[seq - 1] + body).encode()).hexdigest() != told:
        faults.append(f"line {seq}: it or the line before it was changed")
    hashes[seq] = told
    keys |= {subject} if action == "audit.key" else set()
for name in sys.argv[2:]:
    text = Path(name).read_text(encoding="utf-8", errors="replace").replace('\\"', '"')
    heads += [json.loads(each) for each in re.findall(r'\{"seq":[^{}]*\}', text)]
for head in heads:
    signed = json.dumps(
        ["risala audit head 1", head["seq"], head["hash"], head["at"]], separators=(",", ":")
    )
    try:
        key = Ed25519PublicKey.from_public_bytes(b64decode(head["key"]))
        key.verify(b64decode(head["signature"]), signed.encode())
    except (InvalidSignature, ValueError):
        faults.append(f"head of line {head['seq']}: its signature is wrong")
    if hashes.get(head["seq"]) != head["hash"] or head["key"] not in keys:
        faults.append(f"head of line {head['seq']}: the trail does not fit it")
print(*faults, f"{len(hashes) - 1} lines, {len(heads)} heads, {len(faults)} faults", sep="\n")
sys.exit(bool(faults))
