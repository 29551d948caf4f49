// Run by `node --test`, and by the repository's own tests.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import * as all from "./risala.js";
import {
  AbortedError, BadRequestError, ChallengeRequiredError, KeyExpiredError, LostAnswerError, RefusedError, Risala,
  RisalaError, SignatureError, solveChallenge, TooManyRequestsError, UnauthorizedError, UnavailableError,
  UnreadableAnswerError, Webhook,
} from "./risala.js";

const URL_ = "https://sms.example";
const KEY = "sk_live_" + "s".repeat(32);
const QUICK = { deadlineMs: 30_000, firstWaitMs: 0, waitMaxMs: 0 };
const SENT = { accepted: true, messageId: "sms_1" };
const FULL = { code: "SERVICE_UNAVAILABLE", message: "Full.", data: {}, requestId: "req_1" };

// Answers one request after the other with what it was given, and keeps them.
function scripted(...steps) {
  const requests = [];
  const fetch = async (url, options) => {
    requests.push({ url, ...options, body: JSON.parse(options.body) });
    const step = steps.shift();
    if (step instanceof Error) throw step;
    if (step === "never") {
      return new Promise((_, reject) => {
        options.signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    }
    return step;
  };
  return { requests, risala: new Risala(URL_ + "/", KEY, { ...QUICK, fetch }) };
}

const lost = () => new TypeError("fetch failed");
const answer = (status, body, headers) => new Response(JSON.stringify(body), { status, headers });

test("a message carries one key however often it is asked", async () => {
  const { requests, risala } = scripted(
    lost(), answer(503, FULL), new Response("<html>", { status: 502 }),
    answer(429, FULL, { "retry-after": "0" }), answer(200, SENT),
  );
  assert.deepEqual(await risala.sendMessage("+22236000000", "Salam", { from: "Acme" }), SENT);
  assert.equal(requests.length, 5);
  assert.equal(new Set(requests.map((each) => each.body.idempotencyKey)).size, 1);
  const [{ url, headers, body }] = requests;
  assert.equal(url, "https://sms.example/api/sms");
  assert.equal(headers["x-api-key"], KEY);
  assert.deepEqual(Object.keys(body), ["to", "body", "from", "idempotencyKey"]);
});

test("two messages carry two keys, and one's own is the one", async () => {
  const { requests, risala } = scripted(...[1, 2, 3].map(() => answer(200, SENT)));
  await risala.sendMessage("+22236000000", "a");
  await risala.sendMessage("+22236000000", "a");
  await risala.sendMessage("+22236000000", "a", { idempotencyKey: "order-77" });
  const keys = requests.map((each) => each.body.idempotencyKey);
  assert.equal(new Set(keys).size, 3);
  assert.equal(keys[2], "order-77");
});

test("pages follow one another", async () => {
  for (const [path, iter] of [
    ["/api/sms/list", (it) => it.iterMessages({ limit: 2 })],
    ["/api/billing/invoices", (it) => it.iterInvoices({ limit: 2 })],
  ]) {
    const { requests, risala } = scripted(
      answer(200, { items: [1, 2], next: "c" }), lost(), answer(200, { items: [3], next: null }),
    );
    const items = [];
    for await (const item of iter(risala)) items.push(item);
    assert.deepEqual(items, [1, 2, 3]);
    assert.deepEqual(requests.map((each) => each.url), Array(3).fill(URL_ + path));
    assert.deepEqual(requests.map((each) => each.body.before), [null, "c", "c"]);
  }
});

const RULE = "rul_1";
const CALLS = [
  ["billing/statement", { month: "2026-10" }, (it) => it.getStatement("2026-10")],
  ["billing/invoices", { before: "c" }, (it) => it.listInvoices({ before: "c" })],
  ["answers/list", {}, (it) => it.listAnswerRules()],
  ["answers/update", { ruleId: RULE, textFr: "" }, (it) => it.updateAnswerRule(RULE, { textFr: "" })],
  ["answers/try", { text: "prix", number: "1" }, (it) => it.tryText("prix", { number: "1" })],
  ["opt-outs/get", {}, (it) => it.getOptOuts()],
  ["opt-outs/update", { sets: ["fr"] }, (it) => it.updateOptOuts({ sets: ["fr"] })],
  ["opt-outs/words/add", { word: "assez", role: "stop", language: "fr" },
    (it) => it.addOptOutWord("assez", "stop", "fr")],
  ["opt-outs/answer", { role: "stop", language: "fr", text: "x", preview: true },
    (it) => it.setOptOutAnswer("stop", "fr", "x", { preview: true })],
  ["opt-outs/lists/add", { listId: "l", number: "1", note: "n" },
    (it) => it.optOutOfList("l", "1", { note: "n" })],
];
const ONCE = [
  ["answers/create", { name: "Hours", keywords: [] }, (it) => it.createAnswerRule("Hours", { keywords: [] })],
  ["answers/delete", { ruleId: RULE }, (it) => it.deleteAnswerRule(RULE)],
  ["answers/resume", { number: "1" }, (it) => it.resumeAnswers("1")],
  ["opt-outs/words/remove", { word: "assez" }, (it) => it.removeOptOutWord("assez")],
  ["opt-outs/lists/remove", { listId: "l", number: "1" }, (it) => it.optInToList("l", "1")],
];

test("what may be asked for twice is asked for again, and what may not is thrown", async () => {
  for (const [path, body, call] of CALLS) {
    const { requests, risala } = scripted(lost(), answer(200, { path }));
    assert.deepEqual(await call(risala), { path });
    for (const each of requests) assert.deepEqual([each.url, each.body], [`${URL_}/api/${path}`, body]);
  }
  for (const [path, body, call] of ONCE) {
    const { requests, risala } = scripted(lost());
    const error = await call(risala).then(assert.fail, (thrown) => thrown);
    assert.ok(error instanceof LostAnswerError && error.isMaybeDone);
    assert.deepEqual(requests.map((each) => [each.url, each.body]), [[`${URL_}/api/${path}`, body]]);
  }
});

test("a code is neither sent nor judged twice behind one's back", async () => {
  for (const call of [
    (it) => it.sendVerification("+22236000000"),
    (it) => it.checkVerification("v", "1"),
    (it) => it.checkNumber("+22236000000", "1"),
    (it) => it.resendVerification("v", { channel: "sms" }),
    (it) => it.startVerification("inbound_sms", "+22236000000"),
  ]) {
    for (const step of [lost(), answer(502, {}), answer(503, null)]) {
      const { requests, risala } = scripted(step);
      const error = await call(risala).then(assert.fail, (thrown) => thrown);
      assert.ok(error instanceof RisalaError && error.isMaybeDone);
      assert.equal(requests.length, 1);
    }
    const { risala } = scripted(answer(503, FULL), answer(429, FULL), answer(200, { status: "x" }));
    assert.deepEqual(await call(risala), { status: "x" });
  }
});

test("the figures of codes are asked for by days and by what they are of", async () => {
  const report = { by: "carrier", items: [] };
  const { requests, risala } = scripted(lost(), answer(200, report));
  const asked = { since: new Date(0), until: "2026-11-28T00:00:00Z", by: "carrier" };
  assert.deepEqual(await risala.getCodeFigures(asked), report);
  assert.equal(requests[1].url, "https://sms.example/api/verify/figures");
  assert.deepEqual(requests[1].body, { ...asked, since: "1970-01-01T00:00:00.000Z" });
});

test("an outcome that is unknown is asked for again by its key alone", async () => {
  const unknown = { ...FULL, data: { code: "OUTCOME_UNKNOWN" } };
  const sending = scripted(answer(503, unknown), answer(200, SENT));
  assert.deepEqual(await sending.risala.sendMessage("+22236000000", "a"), SENT);
  const error = await scripted(answer(503, unknown)).risala.sendVerification("+22236000000")
    .then(assert.fail, (thrown) => thrown);
  assert.ok(error instanceof UnavailableError && error.isMaybeDone);
  assert.equal(error.word, "OUTCOME_UNKNOWN");
});

test("a limit of an hour is told at once", async () => {
  const limited = { code: "TOO_MANY_REQUESTS", message: "…", data: { limit: "phone" } };
  const { risala } = scripted(answer(429, limited, { "retry-after": "3600" }));
  await assert.rejects(risala.sendVerification("+22236000000"), (error) => {
    assert.ok(error instanceof TooManyRequestsError);
    assert.deepEqual([error.limit, error.retryAfterS, error.fault], ["phone", 3600, "caller"]);
    return true;
  });
});

test("a refusal names its faults and is not asked again", async () => {
  const issue = { path: ["to"], code: "invalid_phone_number", message: "…" };
  const { requests, risala } = scripted(answer(400, { code: "BAD_REQUEST", data: { issues: [issue] } }));
  const error = await risala.sendMessage("36", "a").then(assert.fail, (thrown) => thrown);
  assert.ok(error instanceof BadRequestError);
  assert.deepEqual(error.issues, [issue]);
  assert.equal(error.name, "BadRequestError");
  assert.equal(error.idempotencyKey, requests[0].body.idempotencyKey);
});

test("a key whose time is over has an error of its own", async () => {
  for (const [data, isExpired] of [[{ code: "KEY_EXPIRED" }, true], [{}, false]]) {
    const { risala } = scripted(answer(401, { code: "UNAUTHORIZED", data }));
    const error = await risala.sendMessage("36", "a").then(assert.fail, (thrown) => thrown);
    assert.ok(error instanceof UnauthorizedError);
    assert.equal(error instanceof KeyExpiredError, isExpired);
  }
});

const ASKED = {
  id: "CAAAAHhyaXNhbGEuLi4uLi4uLi4uLi4uLi4uLi4u", algorithm: "SHA-256", bits: 8, parts: 16, validSeconds: 120,
};
const NONCE = "158.521.302.255.76.450.325.15.552.295.154.8.97.87.193.266";
const CHALLENGED = { code: "FORBIDDEN", message: "First.", data: { code: "CHALLENGE_REQUIRED", challenge: ASKED } };

test("a challenge is solved within the call, and its progress told", async () => {
  const { requests, risala } = scripted(answer(403, CHALLENGED), answer(200, { verificationId: "ver_1" }));
  const shares = [];
  const onProgress = (share) => shares.push(share);
  const started = await risala.sendVerification("+22236000000", { locale: "fr", onProgress });
  assert.deepEqual(started, { verificationId: "ver_1" });
  const [first, second] = requests.map((each) => each.body);
  assert.deepEqual(first, { to: "+22236000000", locale: "fr" });
  assert.deepEqual(second, { ...first, challenge: { id: ASKED.id, nonce: NONCE } });
  assert.deepEqual(shares, [...Array(17).keys()].map((each) => each / 16));
});

test("a challenge that is asked for ever is thrown, and one's own answer not replaced", async () => {
  const { requests, risala } = scripted(...[1, 2, 3].map(() => answer(403, CHALLENGED)));
  const error = await risala.sendVerification("+22236000000").then(assert.fail, (thrown) => thrown);
  assert.ok(error instanceof ChallengeRequiredError);
  assert.deepEqual(error.challenge, ASKED);
  assert.equal(requests.length, 3);
  const own = scripted(answer(403, CHALLENGED));
  const given = { challenge: { id: "x", nonce: "1" } };
  await assert.rejects(own.risala.sendVerification("+22236000000", given), ChallengeRequiredError);
  assert.equal(own.requests.length, 1);
});

test("a signal or the deadline ends a search that takes too long", async () => {
  const hard = { ...ASKED, bits: 32 };
  const over = new AbortController();
  const search = solveChallenge(hard, { signal: over.signal });
  over.abort();
  await assert.rejects(search, AbortedError);
  const quick = new AbortController();
  const shares = [];
  const onProgress = (share) => { shares.push(share); quick.abort(); };
  await assert.rejects(solveChallenge({ ...ASKED, bits: 1 }, { signal: quick.signal, onProgress }), AbortedError);
  assert.deepEqual(shares, [0]);
  const asked = { ...CHALLENGED, data: { code: "CHALLENGE_REQUIRED", challenge: hard } };
  const risala = new Risala(URL_, KEY, { deadlineMs: 50, fetch: async () => answer(403, asked) });
  await assert.rejects(risala.sendVerification("+22236000000"), ChallengeRequiredError);
});

test("a number has as many digits as it takes, and a challenge is one that is known", async () => {
  const { createHash } = await import("node:crypto");
  const { nonce } = await solveChallenge({ ...ASKED, bits: 13, parts: 2 });
  nonce.split(".").forEach((number, part) => {
    const digest = createHash("sha256").update(`${ASKED.id}.${part}.${number}`).digest();
    assert.equal(digest.readUInt32BE(0) >>> 19, 0);
  });
  for (const other of [{ bits: 33 }, { bits: 0 }, { parts: 65 }, { algorithm: "MD5" }, { id: 7 }, { id: "a b" }]) {
    await assert.rejects(solveChallenge({ ...ASKED, ...other }), UnreadableAnswerError);
  }
  await assert.rejects(solveChallenge(undefined), UnreadableAnswerError);
});

test("a refusal settles what became of a lost attempt, or does not", async () => {
  for (const [status, isMaybeDone] of [[400, false], [402, false], [401, true], [403, true]]) {
    const { risala } = scripted(lost(), answer(status, { code: "X", data: {} }));
    const error = await risala.sendMessage("+22236000000", "a").then(assert.fail, (thrown) => thrown);
    assert.ok(error instanceof RefusedError);
    assert.equal(error.isMaybeDone, isMaybeDone, String(status));
  }
});

test("what is not the service is not believed, and nobody else is asked", async () => {
  const steps = [
    new Response("<html>Sign in to this network"), answer(200, []), new Response(null, { status: 204 }),
    new Response(null, { status: 302, headers: { location: "https://elsewhere.example" } }),
  ];
  for (const step of steps) {
    const { requests, risala } = scripted(step);
    await assert.rejects(risala.sendMessage("+22236000000", "a"), UnreadableAnswerError);
    assert.equal(requests.length, 1);
    assert.equal(requests[0].redirect, "manual");
  }
});

test("a deadline ends a call that is never answered", async () => {
  const fetch = (_, { signal }) => new Promise((__, reject) => {
    signal.addEventListener("abort", () => reject(new Error("over")));
  });
  const hasty = new Risala(URL_, KEY, { fetch, deadlineMs: 30, attemptMs: 10, firstWaitMs: 1 });
  const error = await hasty.sendMessage("+22236000000", "a").then(assert.fail, (thrown) => thrown);
  assert.ok(error instanceof LostAnswerError && error.isPassing && error.idempotencyKey);
});

test("a signal ends a call: before it, within an attempt, between two", async () => {
  const over = AbortSignal.abort("no more");
  const before = await scripted(answer(200, SENT)).risala
    .sendMessage("+22236000000", "a", { signal: over }).then(assert.fail, (thrown) => thrown);
  assert.ok(before instanceof AbortedError && !before.isMaybeDone);
  assert.equal(before.cause, "no more");

  const within = new AbortController();
  const pending = scripted("never").risala
    .sendVerification("+22236000000", { signal: within.signal }).then(assert.fail, (thrown) => thrown);
  setImmediate(() => within.abort());
  const error = await pending;
  assert.ok(error instanceof AbortedError && error.isMaybeDone);

  const between = new AbortController();
  const fetch = async () => {
    setImmediate(() => between.abort());
    return answer(429, FULL, { "retry-after": "20" });
  };
  const waiting = new Risala(URL_, KEY, { fetch });
  const ended = await waiting.sendMessage("+22236000000", "a", { signal: between.signal })
    .then(assert.fail, (thrown) => thrown);
  assert.ok(ended instanceof AbortedError && ended.idempotencyKey && !ended.isMaybeDone);
});

test("every page is asked for as it is needed", async () => {
  const { requests, risala } = scripted(
    answer(200, { items: [1, 2], next: "c1", previous: null }),
    answer(200, { items: [3], next: null, previous: "c0" }),
  );
  const found = [];
  for await (const each of risala.iterMessages({ since: new Date(0), limit: 2 })) found.push(each);
  assert.deepEqual(found, [1, 2, 3]);
  const first = { limit: 2, before: null, since: "1970-01-01T00:00:00.000Z" };
  assert.deepEqual(requests.map((each) => each.body), [first, { ...first, before: "c1" }]);
});

test("a key is nowhere to be read", () => {
  const risala = new Risala(URL_, KEY);
  assert.equal(String(risala), "Risala https://sms.example sk_live_…");
  assert.equal(JSON.stringify(risala), "{}");
  assert.equal(String(new Risala(URL_, "somebodys_own_form")), "Risala https://sms.example …");
});

test("what is no address, key or option is a mistake of the program", () => {
  for (const url of ["", "sms.example", "ftp://sms.example", "https://a:b@sms.example"]) {
    assert.throws(() => new Risala(url, KEY), TypeError);
  }
  for (const key of ["", "sk live", "sk_live_é", undefined]) {
    assert.throws(() => new Risala(URL_, key), TypeError);
  }
  assert.throws(() => new Risala(URL_, KEY, { deadlineS: 5 }), /deadlineS/);
});

// -- webhooks -----------------------------------------------------------------------------------

const NOW = 1_790_000_000;
const SECRET = "whsec_" + Buffer.alloc(32, "k").toString("base64");
const OLD = "whsec_" + Buffer.alloc(32, "o").toString("base64");
const EVENT = { id: "evt_1", type: "sms.received", text: "نعم" };
const BODY = JSON.stringify(EVENT);

function signed(...secrets) {
  const made = secrets.map((each) => {
    const key = Buffer.from(each.slice(6), "base64");
    return "v1," + createHmac("sha256", key).update(`evt_1.${NOW}.${BODY}`).digest("base64");
  });
  return { "Webhook-Id": "evt_1", "Webhook-Timestamp": String(NOW), "Webhook-Signature": made.join(" ") };
}

const webhook = (secrets = SECRET) => new Webhook(secrets, { clock: () => NOW });

test("an event that was signed is taken, in whatever form it came", async () => {
  const headers = signed(SECRET);
  const bytes = Buffer.from(BODY);
  for (const body of [BODY, bytes, new Uint8Array(bytes), new Uint8Array(bytes).buffer]) {
    assert.deepEqual(await webhook().verify(body, headers), EVENT);
    assert.deepEqual(await webhook().verify(body, new Headers(headers)), EVENT);
  }
});

test("either secret does while one replaces the other", async () => {
  for (const secrets of [SECRET, OLD, [SECRET, OLD], [OLD, SECRET]]) {
    assert.deepEqual(await webhook(secrets).verify(BODY, signed(SECRET, OLD)), EVENT);
  }
});

test("what was changed, is missing or too old is refused", async () => {
  const changes = [
    { "Webhook-Id": "evt_2" }, { "Webhook-Timestamp": String(NOW + 1) }, { "Webhook-Timestamp": "x" },
    { "Webhook-Signature": "" }, { "Webhook-Signature": "v1,%%" }, { "Webhook-Signature": "v1," },
    { "Webhook-Signature": "v1," + Buffer.alloc(32).toString("base64") },
  ];
  for (const change of changes) {
    await assert.rejects(webhook().verify(BODY, { ...signed(SECRET), ...change }), SignatureError);
  }
  for (const name of Object.keys(signed(SECRET))) {
    const { [name]: _, ...rest } = signed(SECRET);
    await assert.rejects(webhook().verify(BODY, rest), SignatureError);
  }
  await assert.rejects(webhook().verify(BODY + " ", signed(SECRET)), SignatureError);
  await assert.rejects(webhook().verify(BODY, signed(OLD)), SignatureError);
  for (const late of [-301, 301]) {
    const slow = new Webhook(SECRET, { clock: () => NOW + late });
    await assert.rejects(slow.verify(BODY, signed(SECRET)), /too old/);
  }
  await assert.rejects(webhook().verify(EVENT, signed(SECRET)), TypeError);
});

test("the other signature is taken too, or refused", async () => {
  const made = (secret) => createHmac("sha256", secret).update(`${NOW}.${BODY}`).digest("hex");
  assert.deepEqual(await webhook().verifySigned(BODY, `t=${NOW},v1=${made(SECRET)}`), EVENT);
  const both = `t=${NOW},v1=${made("whsec_x")},v1=${made(OLD)}`;
  assert.deepEqual(await webhook([SECRET, OLD]).verifySigned(Buffer.from(BODY), both), EVENT);
  const wrong = [
    "", "v1=00", `t=${NOW}`, `t=${NOW},v1=zz`, `t=${NOW - 301},v1=${made(SECRET)}`,
    `t=${NOW},t=${NOW},v1=${made(SECRET)}`, `t=${NOW},v1=${made(OLD)}`,
  ];
  for (const each of wrong) {
    await assert.rejects(webhook().verifySigned(BODY, each), SignatureError);
  }
});

test("what is no secret is refused at once", () => {
  for (const secrets of [[], "", "whsec_", "whsec_é"]) {
    assert.throws(() => new Webhook(secrets), TypeError);
  }
});

test("every error is exported and stands in the tree at the top of the file", async () => {
  const { readFile } = await import("node:fs/promises");
  const text = await readFile(new URL("risala.js", import.meta.url), "utf8");
  const head = text.slice(0, text.indexOf("export "));
  const drawn = new Set(head.match(/\b[A-Z]\w*Error\b/g));
  drawn.delete("TypeError");
  const made = Object.keys(all).filter((name) => name.endsWith("Error"));
  assert.deepEqual([...drawn].sort(), made.sort());
});
