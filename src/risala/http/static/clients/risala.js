// Risala from JavaScript: verify phone numbers, send SMS, take in webhooks. One file, no dependency,
// the same in a browser and in Node 18 or newer.
//
//   import { Risala } from "./risala.js";
//   const risala = new Risala("https://sms.example", "pk_live_…");
//   const { verificationId } = await risala.sendVerification("+33612345678");
//   const { status } = await risala.checkVerification(verificationId, "042137");
//
// A browser has a publishable key, which opens these two calls alone. What needs a secret key is for
// servers: a secret key in a page is everybody's.
//
// Every call ends in its answer or in a RisalaError, within its deadline:
//
//   RisalaError                       whatever is thrown, but for TypeError: a program's own mistake
//   ├── RefusedError                  the service answered with an error: status, code, data
//   │   ├── RequestFaultError         yours: the same request is refused again
//   │   │   ├── BadRequestError       400: `issues` names each fault
//   │   │   ├── UnauthorizedError     401: no such key
//   │   │   │   └── KeyExpiredError   its time is over
//   │   │   ├── KeyForbiddenError     403: not with this key, or not from this page
//   │   │   │   └── ChallengeRequiredError   its challenge has to be solved first
//   │   │   └── UnknownIdError        404
//   │   ├── PaymentRequiredError      402: the organization must top up
//   │   ├── TooManyRequestsError      429: `limit` says which, `retryAfterS` how long
//   │   └── ServiceFaultError         5xx
//   │       └── UnavailableError      503: again in a moment
//   ├── UnansweredError               no answer came, or none that can be read
//   │   ├── LostAnswerError           whether it was carried out is not known
//   │   └── UnreadableAnswerError     what came is no answer of this service
//   ├── AbortedError                  your signal ended it; `isMaybeDone` says whether it had left
//   └── SignatureError                a webhook that the service did not sign
//
// fetch does not tell whether a request left before it failed. So a failure of the network is always
// a LostAnswerError here, and only what cannot be done twice is asked again after one: sends, which
// carry one idempotency key in every attempt, and what only reads.

export const VERSION = "1.1.0-dev.0";

/** How long a call tries, and how it waits between two attempts. */
export const RETRYING = Object.freeze({
  /** For the whole call, with all its attempts and waits. */
  deadlineMs: 60_000,
  /** For one attempt: longer than the service takes under its heaviest load. */
  attemptMs: 15_000,
  /** Before the second attempt, at most; doubled each time, and drawn at random below that. */
  firstWaitMs: 200,
  waitMaxMs: 8_000,
  /** The longest Retry-After that is waited for. A limit of an hour is told at once instead. */
  retryAfterMaxMs: 30_000,
});

// -- errors -------------------------------------------------------------------------------------

export class RisalaError extends Error {
  /** Whose fault: "caller", "organization", "service" or "network". */
  fault = "network";
  /** Whether the same call may pass later. */
  isPassing = false;
  /** Whether the call, or an attempt of it, may have been carried out nevertheless. */
  isMaybeDone = false;
  /** The key of the message that was to be sent: with it, it can be sent again, and goes out once. */
  idempotencyKey = undefined;

  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class RefusedError extends RisalaError {
  constructor(status, body, retryAfterS) {
    const told = isObject(body) ? body : {};
    const code = typeof told.code === "string" ? told.code : "";
    const message = typeof told.message === "string" ? told.message : "It was not said why.";
    super(`${status} ${code}: ${message}`.replace(" :", ":"));
    this.status = status;
    /** The API's word for the status; empty where a proxy answered. */
    this.code = code;
    this.data = isObject(told.data) ? told.data : {};
    /** A narrower word, such as "SENDER_NOT_APPROVED", "SPEND_CAP" or "OUTCOME_UNKNOWN". */
    this.word = typeof this.data.code === "string" ? this.data.code : undefined;
    this.requestId = typeof told.requestId === "string" ? told.requestId : undefined;
    this.retryAfterS = retryAfterS;
  }
}

export class RequestFaultError extends RefusedError {
  fault = "caller";
}

export class BadRequestError extends RequestFaultError {
  /** Every fault of the body: [{ path, code, message }]. */
  get issues() {
    return Array.isArray(this.data.issues) ? this.data.issues : [];
  }
}

export class UnauthorizedError extends RequestFaultError {}
// The key was valid until a time that is over.
export class KeyExpiredError extends UnauthorizedError {}
export class KeyForbiddenError extends RequestFaultError {}

export class ChallengeRequiredError extends KeyForbiddenError {
  /** What solveChallenge takes. */
  get challenge() {
    return this.data.challenge;
  }
}

export class UnknownIdError extends RequestFaultError {}

export class PaymentRequiredError extends RefusedError {
  fault = "organization";
  isPassing = true;
}

export class TooManyRequestsError extends RefusedError {
  fault = "caller";
  isPassing = true;

  /** Which: "sms", "phone", "organization", "ip", "network", "cooldown", "client_ip" or
   * "pumping". */
  get limit() {
    return this.data.limit;
  }
}

export class ServiceFaultError extends RefusedError {
  fault = "service";
  isPassing = true;
}

export class UnavailableError extends ServiceFaultError {}
export class UnansweredError extends RisalaError {}

export class LostAnswerError extends UnansweredError {
  isPassing = true;
  isMaybeDone = true;
}

export class UnreadableAnswerError extends UnansweredError {
  isMaybeDone = true;
}

export class AbortedError extends RisalaError {
  fault = "caller";
}

export class SignatureError extends RisalaError {
  fault = "caller";
}

const BY_STATUS = {
  400: BadRequestError,
  401: UnauthorizedError,
  402: PaymentRequiredError,
  403: KeyForbiddenError,
  404: UnknownIdError,
  429: TooManyRequestsError,
  503: UnavailableError,
};
const BY_WORD = {
  "401 KEY_EXPIRED": KeyExpiredError,
  "403 CHALLENGE_REQUIRED": ChallengeRequiredError,
};
// What a proxy says when the service does not answer it. It may have been asked all the same.
const GATEWAY_STATUSES = [502, 503, 504];
// Refusals that come before the service looks a key up: they settle nothing of an earlier attempt.
const UNSETTLED_STATUSES = [401, 403, 413, 415];

function refusal(status, body, retryAfterS) {
  const usual = status < 500 ? RequestFaultError : ServiceFaultError;
  const kind = BY_WORD[`${status} ${body?.data?.code}`] ?? BY_STATUS[status] ?? usual;
  const error = new kind(status, body, retryAfterS);
  // The service's own 503 says that nothing was stored, but for this word.
  const isOwn503 = status === 503 && error.code !== "" && error.word !== "OUTCOME_UNKNOWN";
  error.isMaybeDone = status >= 500 && !isOwn503;
  return error;
}

function passes(error) {
  if (error instanceof RefusedError) {
    return [408, 429].includes(error.status) || GATEWAY_STATUSES.includes(error.status);
  }
  return error instanceof LostAnswerError;
}

// Whether a refusal says that no earlier attempt of the call was carried out.
function settles(error) {
  if (!(error instanceof RefusedError) || error.status >= 500) return false;
  return !UNSETTLED_STATUSES.includes(error.status);
}

// -- the service --------------------------------------------------------------------------------

export class Risala {
  #url;
  #key;
  #retrying;
  #fetch;

  /**
   * `url` is the service's address, `key` an API key. `options` are those of RETRYING that differ,
   * and `fetch` for a fetch of your own.
   */
  constructor(url, key, { fetch = globalThis.fetch, ...retrying } = {}) {
    const parsed = new URL(url);
    if (!/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password) {
      throw new TypeError("The service's address is like https://sms.example");
    }
    if (typeof key !== "string" || !/^[!-~]+$/.test(key)) {
      throw new TypeError("An API key is a word of ASCII characters: pk_live_… or sk_live_…");
    }
    for (const name of Object.keys(retrying)) {
      if (!(name in RETRYING)) throw new TypeError(`There is no option ${name}.`);
    }
    this.#url = url.replace(/\/+$/, "");
    this.#key = key;
    this.#retrying = { ...RETRYING, ...retrying };
    this.#fetch = fetch;
  }

  /** With what kind of key, never with the key itself. */
  toString() {
    return `Risala ${this.#url} ${/^([sp]k_(live|test)_)?/.exec(this.#key)[0]}…`;
  }

  // With a publishable key, or a secret one.

  /**
   * Send a code: `{ verificationId }`. Options are the API's members, and `signal`, which
   * ends the call. It has no idempotency key: after a LostAnswerError a code may be on its way, and
   * another call sends another one.
   *
   * Where the key asks for a challenge, it is solved within the call, which takes about a second:
   * `onProgress` is called with the share that is done, from 0 to 1. If you give a `challenge`
   * yourself, a refusal of it is thrown.
   */
  async sendVerification(to, { signal, onProgress, ...more } = {}) {
    const deadline = now() + this.#retrying.deadlineMs;
    const body = { to, ...more };
    for (let asked = 1; ; asked += 1) {
      try {
        return await this.#ask("/api/verify/send", body, { signal, deadline });
      } catch (error) {
        const isOurs = error instanceof ChallengeRequiredError && more.challenge === undefined;
        if (!isOurs || asked > CHALLENGES_MAX) throw error;
        const left = deadline - now();
        const answer = await solved(error.challenge, { signal, onProgress, timeoutMs: left });
        if (answer === null) throw error;
        body.challenge = answer;
      }
    }
  }

  /**
   * Judge a code that somebody typed: `{ status }`, "approved" or "denied". After a LostAnswerError
   * it may have been judged, and a code is approved once: have your server ask getVerification.
   */
  checkVerification(verificationId, code, { signal, ...more } = {}) {
    return this.#ask("/api/verify/check", { verificationId, code, ...more }, { signal });
  }

  /** Bring the same code by the next channel, or by a named one. */
  resendVerification(verificationId, { channel, signal } = {}) {
    return this.#ask("/api/verify/resend", { verificationId, channel }, { signal });
  }

  /**
   * Let a user prove a number by a text ("inbound_sms") or a call ("missed_call"): `{ verificationId, sendTo,
   * text, link, qrSvg, page, expiresAt }`. Show `page`, or the link and the drawing on a page of your own.
   */
  startVerification(method, to, { signal, ...more } = {}) {
    return this.#ask("/api/verify/start", { method, to, ...more }, { signal });
  }

  // With a secret key: on a server.

  /** As checkVerification, of the newest pending verification of a number; it has none: UnknownIdError. */
  checkNumber(to, code, { signal } = {}) {
    return this.#ask("/api/verify/check", { to, code }, { signal });
  }

  /** What became of a verification. */
  getVerification(verificationId, { signal } = {}) {
    return this.#ask("/api/verify/get", { verificationId }, { signal, isRepeatable: true });
  }

  /**
   * How many codes were asked for, sent, delivered and entered on whole days, `since` and `until` in
   * the organization's time zone; `by` is "day", "network", "country", "carrier", "channel" or "key".
   */
  getCodeFigures({ since, until, by, signal } = {}) {
    const asked = { since: iso(since), until: iso(until), by };
    return this.#ask("/api/verify/figures", asked, { signal, isRepeatable: true });
  }

  /**
   * Send an SMS. It is stored, charged and on the service's disk when this resolves. Every attempt
   * carries one idempotency key, yours or one that is made for the call.
   */
  async sendMessage(to, body, options = {}) {
    const { from, sendAt, validitySeconds, metadata, messageClass, signal } = options;
    const idempotencyKey = options.idempotencyKey ?? (await freshKey());
    const sent = { to, body, from, sendAt: iso(sendAt), validitySeconds, metadata, messageClass };
    const asked = { ...sent, idempotencyKey };
    return this.#ask("/api/sms", asked, { signal, isRepeatable: true, idempotencyKey });
  }

  /** Get a message. */
  getMessage(messageId, { signal } = {}) {
    return this.#ask("/api/sms/get", { messageId }, { signal, isRepeatable: true });
  }

  /** A page of messages, the newest first: `{ items, next, previous }`. */
  listMessages({ signal, ...asked } = {}) {
    const body = { ...asked, since: iso(asked.since), until: iso(asked.until) };
    return this.#ask("/api/sms/list", body, { signal, isRepeatable: true });
  }

  /** All messages, the newest first, page by page: `for await (const message of …)`. */
  async *iterMessages({ signal, ...asked } = {}) {
    yield* pages((before) => this.listMessages({ ...asked, before, signal }));
  }

  // Money.

  /** What was charged, refunded and paid in a month such as "2026-10"; without it in the present one. */
  getStatement(month, { signal } = {}) {
    return this.#ask("/api/billing/statement", { month }, { signal, isRepeatable: true });
  }

  /** A page of invoices, the newest first: `{ items, next, previous }`. */
  listInvoices({ signal, ...asked } = {}) {
    return this.#ask("/api/billing/invoices", asked, { signal, isRepeatable: true });
  }

  /** All invoices, the newest first, page by page. */
  async *iterInvoices({ signal, ...asked } = {}) {
    yield* pages((before) => this.listInvoices({ ...asked, before, signal }));
  }

  // Automatic answers.

  /** The rules in their order, and the numbers that get no automatic answers for a day: `{ items, paused }`. */
  listAnswerRules({ signal } = {}) {
    return this.#ask("/api/answers/list", {}, { signal, isRepeatable: true });
  }

  /** Make a rule that answers texts, or forwards them; without `place` the last one. */
  createAnswerRule(name, { signal, ...rule } = {}) {
    return this.#ask("/api/answers/create", { name, ...rule }, { signal });
  }

  /** Change a rule; what is left out stays. */
  updateAnswerRule(ruleId, { signal, ...rule } = {}) {
    return this.#ask("/api/answers/update", { ruleId, ...rule }, { signal, isRepeatable: true });
  }

  /** Delete a rule; resolves with the rule as it was. */
  deleteAnswerRule(ruleId, { signal } = {}) {
    return this.#ask("/api/answers/delete", { ruleId }, { signal });
  }

  /** What a text would be answered now: `{ rule, answer, forwards }`. Nothing is sent. */
  tryText(text, { number, signal } = {}) {
    return this.#ask("/api/answers/try", { text, number }, { signal, isRepeatable: true });
  }

  /** Let automatic answers to a number leave again. */
  resumeAnswers(number, { signal } = {}) {
    return this.#ask("/api/answers/resume", { number }, { signal });
  }

  // Opt-outs. All but the last two resolve with the words that count, and what is answered.

  /** The words by which people end messages. */
  getOptOuts({ signal } = {}) {
    return this.#ask("/api/opt-outs/get", {}, { signal, isRepeatable: true });
  }

  /** Choose whose usual words count, what is answered, and who takes an opt-out back; what is left out stays. */
  updateOptOuts({ sets, answered, back, signal } = {}) {
    return this.#ask("/api/opt-outs/update", { sets, answered, back }, { signal, isRepeatable: true });
  }

  /** Add a word of your own; its role is "stop", "start", "help", or "list", which names one. */
  addOptOutWord(word, role, language, { listId, signal } = {}) {
    const asked = { word, role, language, listId };
    return this.#ask("/api/opt-outs/words/add", asked, { signal, isRepeatable: true });
  }

  /** Remove a word of your own. */
  removeOptOutWord(word, { signal } = {}) {
    return this.#ask("/api/opt-outs/words/remove", { word }, { signal });
  }

  /** Write an answer in your own words; an empty text brings the usual one back. With `preview` nothing is stored. */
  setOptOutAnswer(role, language, text, { preview, signal } = {}) {
    const asked = { role, language, text, preview };
    return this.#ask("/api/opt-outs/answer", asked, { signal, isRepeatable: true });
  }

  /** Note that a number wants no messages of one list. */
  optOutOfList(listId, number, { note, signal } = {}) {
    return this.#ask("/api/opt-outs/lists/add", { listId, number, note }, { signal, isRepeatable: true });
  }

  /** Let messages of one list reach a number again; `note` says how its owner asked. */
  optInToList(listId, number, { note, signal } = {}) {
    return this.#ask("/api/opt-outs/lists/remove", { listId, number, note }, { signal });
  }

  // One call, with its attempts.

  async #ask(path, body, { signal, isRepeatable = false, idempotencyKey, deadline } = {}) {
    deadline ??= now() + this.#retrying.deadlineMs;
    let isMaybeDone = false;
    for (let failed = 1; ; failed += 1) {
      let error;
      try {
        return await this.#attempt(path, body, deadline, signal);
      } catch (thrown) {
        if (!(thrown instanceof RisalaError)) throw thrown;
        error = thrown;
      }
      error.idempotencyKey = idempotencyKey;
      const wasLost = error.isMaybeDone;
      isMaybeDone ||= wasLost;
      error.isMaybeDone = isMaybeDone && !settles(error);
      const waitMs = this.#waitMs(error, failed);
      const isOver = !passes(error) || (wasLost && !isRepeatable);
      if (isOver || waitMs === null || now() + waitMs >= deadline) throw error;
      await pause(waitMs, signal, error);
    }
  }

  // Before the next attempt; null where the service asks for more patience than there is.
  #waitMs(error, failed) {
    const { firstWaitMs, waitMaxMs, retryAfterMaxMs } = this.#retrying;
    const backoff = Math.random() * Math.min(firstWaitMs * 2 ** Math.min(failed - 1, 30), waitMaxMs);
    const asked = (error.retryAfterS ?? 0) * 1000;
    return asked > retryAfterMaxMs ? null : asked + backoff;
  }

  async #attempt(path, body, deadline, signal) {
    if (signal?.aborted) throw aborted(signal, false);
    const limit = new AbortController();
    const end = () => limit.abort();
    const limitMs = Math.max(0, Math.min(this.#retrying.attemptMs, deadline - now()));
    const timer = setTimeout(end, limitMs);
    signal?.addEventListener("abort", end, { once: true });
    try {
      const ask = this.#fetch; // without `this`: a browser's fetch wants its window
      const response = await ask(this.#url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": this.#key },
        body: JSON.stringify(body),
        signal: limit.signal,
        credentials: "omit",
        cache: "no-store",
        redirect: "manual", // the key is for this address alone
      });
      return await read(response);
    } catch (error) {
      if (error instanceof RisalaError) throw error;
      if (signal?.aborted) throw aborted(signal, true);
      const why = limit.signal.aborted ? `Nothing came within ${Math.round(limitMs)} ms` : error;
      throw new LostAnswerError(`No answer came: whether it was carried out is not known. ${why}`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  }
}

// What a response says: the JSON object of a 200, or an error.
async function* pages(page) {
  let before = null;
  do {
    const { items, next } = await page(before);
    yield* items;
    before = next;
  } while (before !== null);
}

async function read(response) {
  const text = await response.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  if (response.status >= 400) {
    const told = response.headers.get("retry-after") ?? "";
    throw refusal(response.status, body, /^\d{1,9}$/.test(told) ? Number(told) : undefined);
  }
  if (response.status === 200 && isObject(body)) return body;
  throw new UnreadableAnswerError(`${response.status}, and no JSON object: not Risala's.`);
}

function aborted(signal, isMaybeDone, before) {
  const error = new AbortedError("The call was ended by its signal.", { cause: signal.reason });
  error.isMaybeDone = isMaybeDone || Boolean(before?.isMaybeDone);
  error.idempotencyKey = before?.idempotencyKey;
  return error;
}

function pause(ms, signal, before) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(aborted(signal, false, before));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

function now() {
  return globalThis.performance.now();
}

// Node 18 has WebCrypto in a module only; the name is kept from bundlers, which browsers need none of.
const NODE_CRYPTO = "node:crypto";

async function webCrypto() {
  return globalThis.crypto ?? (await import(/* webpackIgnore: true */ NODE_CRYPTO)).webcrypto;
}

// An idempotency key that nobody else makes.
async function freshKey() {
  const drawn = (await webCrypto()).getRandomValues(new Uint8Array(16));
  return "idk_" + [...drawn].map((each) => each.toString(16).padStart(2, "0")).join("");
}

function iso(at) {
  return at instanceof Date ? at.toISOString() : at;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// -- challenges ---------------------------------------------------------------------------------

/** Challenges that one call solves, before it throws the next: one may have got too old. */
const CHALLENGES_MAX = 2;
/** How long the search goes on before the page may draw and listen. */
const SLICE_MS = 16;
/** Hashes between two looks at the clock. */
const ROUND = 256;
/** What one block of SHA-256 takes (FIPS 180-4 §5.1.1). */
const BLOCK_OCTETS_MAX = 55;

/**
 * Solve a challenge, which is `challenge` of a ChallengeRequiredError: `{ id, nonce }`, what the
 * service takes as `challenge`. It works a few milliseconds at a time, so that a page goes on
 * drawing. `signal` ends it; `onProgress` is called with the share that is done, from 0 to 1.
 */
export function solveChallenge(challenge, { signal, onProgress } = {}) {
  return solved(challenge, { signal, onProgress, timeoutMs: Infinity });
}

// The answer; null where it was not found in time.
async function solved(challenge, { signal, onProgress, timeoutMs }) {
  const { id, algorithm, bits, parts } = isObject(challenge) ? challenge : {};
  const isKnown = algorithm === "SHA-256" && bits >= 1 && bits <= 32 && parts >= 1 && parts <= 64;
  if (!isKnown || typeof id !== "string" || !/^[\w-]{1,40}$/.test(id)) {
    throw new UnreadableAnswerError("This version of the client cannot solve such a challenge.");
  }
  const until = now() + timeoutMs;
  const numbers = [];
  let slice = now() + SLICE_MS;
  onProgress?.(0);
  for (let part = 0; part < parts; part += 1) {
    const search = searching(`${id}.${part}.`, bits);
    let found = null;
    while (found === null) {
      if (now() >= slice) {
        await breath();
        slice = now() + SLICE_MS;
      }
      if (signal?.aborted) throw aborted(signal, false);
      if (now() >= until) return null;
      found = search(ROUND);
    }
    numbers.push(found);
    onProgress?.(numbers.length / parts);
  }
  if (signal?.aborted) throw aborted(signal, false);
  return { id, nonce: numbers.join(".") };
}

// Lets the page do what waits. A timer would do it too, and waits a second in a hidden page.
function breath() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

// SHA-256 of short texts (FIPS 180-4 §6.2), of which only the first word is looked at: WebCrypto
// answers each hash by a promise, which takes longer than the hash.

const FRACTIONS = fractions(64, 3);
const FIRST = fractions(8, 2);

// The first 32 bits of the fractions of the roots of the first primes.
function fractions(count, degree) {
  const found = [];
  for (let each = 2; found.length < count; each += 1) {
    if (Array.from({ length: each - 2 }, (_, n) => each % (n + 2)).includes(0)) continue;
    const root = degree === 2 ? Math.sqrt(each) : Math.cbrt(each);
    found.push(((root - Math.floor(root)) * 2 ** 32) | 0);
  }
  return Int32Array.from(found);
}

// A search for the least number that, behind a text, has a hash with so many zero bits at its
// beginning: a function that tries some more, and returns the number's digits, or null.
function searching(text, bits) {
  const words = new Int32Array(64);
  const free = 32 - bits;
  let digits = 0; // of the present number; with 0 there was none
  const set = (at, octet) => {
    words[at >> 2] |= octet << (24 - 8 * (at & 3));
  };
  // The block with the first number of so many digits.
  const begin = (count) => {
    digits = count;
    const written = text + (count === 1 ? "0" : "1" + "0".repeat(count - 1));
    if (written.length > BLOCK_OCTETS_MAX) throw new UnreadableAnswerError("It has no solution.");
    words.fill(0, 0, 16);
    [...written].forEach((each, at) => set(at, each.charCodeAt(0)));
    set(written.length, 0x80);
    words[15] = written.length * 8;
  };
  const step = () => {
    for (let at = text.length + digits - 1; at >= text.length; at -= 1) {
      const shift = 24 - 8 * (at & 3);
      if (((words[at >> 2] >>> shift) & 255) !== 57) {
        words[at >> 2] += 1 << shift;
        return;
      }
      words[at >> 2] -= 9 << shift;
    }
    begin(digits + 1);
  };
  const shown = () =>
    Array.from({ length: digits }, (_, n) => text.length + n)
      .map((at) => String.fromCharCode((words[at >> 2] >>> (24 - 8 * (at & 3))) & 255))
      .join("");
  return (count) => {
    for (let tried = 0; tried < count; tried += 1) {
      if (digits === 0) begin(1);
      else step();
      if (firstWord(words) >>> free === 0) return shown();
    }
    return null;
  };
}

// The first word of the hash of a block, whose 16 words are the first of 64.
function firstWord(words) {
  for (let at = 16; at < 64; at += 1) {
    const low = words[at - 15];
    const high = words[at - 2];
    const s0 = ((low >>> 7) | (low << 25)) ^ ((low >>> 18) | (low << 14)) ^ (low >>> 3);
    const s1 = ((high >>> 17) | (high << 15)) ^ ((high >>> 19) | (high << 13)) ^ (high >>> 10);
    words[at] = (words[at - 16] + s0 + words[at - 7] + s1) | 0;
  }
  let a = FIRST[0];
  let b = FIRST[1];
  let c = FIRST[2];
  let d = FIRST[3];
  let e = FIRST[4];
  let f = FIRST[5];
  let g = FIRST[6];
  let h = FIRST[7];
  for (let at = 0; at < 64; at += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + FRACTIONS[at] + words[at]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  return (FIRST[0] + a) | 0;
}

// -- webhooks -----------------------------------------------------------------------------------

/** How far a signature's time may be from ours. */
export const TOLERANCE_S = 300;

/**
 * An endpoint's side: `await new Webhook(secret).verify(body, headers)` is the event, or throws a
 * SignatureError. While one secret replaces the other, give both: `new Webhook([fresh, old])`.
 */
export class Webhook {
  #secrets;
  #toleranceS;
  #clock;

  constructor(secrets, { toleranceS = TOLERANCE_S, clock = () => Date.now() / 1000 } = {}) {
    this.#secrets = [secrets].flat();
    if (this.#secrets.length === 0) throw new TypeError("A webhook needs its secret: whsec_…");
    this.#secrets.forEach(keyOf);
    this.#toleranceS = toleranceS;
    this.#clock = clock;
  }

  /**
   * By the headers webhook-id, webhook-timestamp and webhook-signature. `body` is what came, before
   * anything has parsed it: a string, bytes or an ArrayBuffer. `headers` are a Headers object or
   * names with values, in whatever case.
   */
  async verify(body, headers) {
    const bytes = octets(body);
    const [id, at, told] = ["id", "timestamp", "signature"].map((name) => {
      const value = header(headers, `webhook-${name}`);
      if (value === undefined) throw new SignatureError(`There is no header webhook-${name}.`);
      return value;
    });
    this.#checkTime(at);
    const given = told.split(" ").filter((each) => each.startsWith("v1,"));
    const signatures = given.map((each) => unbased(each.slice(3)));
    await this.#check(this.#secrets.map(keyOf), `${id}.${at}.`, bytes, signatures);
    return parsed(bytes);
  }

  /** The same by a header `t=<unix>,v1=<hex>`, which an endpoint can be set to carry. */
  async verifySigned(body, signature) {
    const bytes = octets(body);
    const parts = signature.split(",").map((each) => each.trim().split("="));
    const times = parts.filter(([name]) => name === "t").map(([, value]) => value ?? "");
    if (times.length !== 1) throw new SignatureError("The signature does not tell its time.");
    this.#checkTime(times[0]);
    const given = parts.filter(([name]) => name === "v1").map(([, value]) => unhexed(value ?? ""));
    await this.#check(this.#secrets.map(octets), `${times[0]}.`, bytes, given);
    return parsed(bytes);
  }

  #checkTime(at) {
    if (!/^\d{1,12}$/.test(at)) throw new SignatureError("The signature's time is no number.");
    if (Math.abs(this.#clock() - Number(at)) > this.#toleranceS) {
      throw new SignatureError("The signature is too old, or of a time to come.");
    }
  }

  // WebCrypto compares, in a time that does not tell how much of a signature is right.
  async #check(keys, head, bytes, given) {
    const { subtle } = await webCrypto();
    const content = new Uint8Array([...octets(head), ...bytes]);
    let found = false;
    for (const key of keys) {
      const made = await subtle.importKey(
        "raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"],
      );
      for (const each of given) found = (await subtle.verify("HMAC", made, each, content)) || found;
    }
    if (!found) throw new SignatureError("No signature is by this endpoint's secret.");
  }
}

function parsed(bytes) {
  let event;
  try {
    event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new SignatureError("The body is no JSON.", { cause: error });
  }
  if (!isObject(event) || typeof event.id !== "string" || typeof event.type !== "string") {
    throw new SignatureError("The body is no event.");
  }
  return event;
}

function keyOf(secret) {
  const key = unbased(String(secret).replace(/^whsec_/, ""));
  if (key.length === 0) throw new TypeError("A webhook's secret is like whsec_…");
  return key;
}

function header(headers, name) {
  if (typeof headers.get === "function") return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name);
  return found === undefined ? undefined : String(found[1]);
}

function octets(value) {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw new TypeError("The body is a string or bytes: what came, before it was parsed.");
}

function unbased(text) {
  try {
    return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function unhexed(text) {
  if (!/^([0-9a-f]{2})+$/i.test(text)) return new Uint8Array();
  return Uint8Array.from(text.match(/../g), (each) => Number.parseInt(each, 16));
}
