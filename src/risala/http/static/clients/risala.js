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
export class UnknownIdError extends RequestFaultError {}

export class PaymentRequiredError extends RefusedError {
  fault = "organization";
  isPassing = true;
}

export class TooManyRequestsError extends RefusedError {
  fault = "caller";
  isPassing = true;

  /** Which: "sms", "phone", "organization", "ip", "network" or "cooldown". */
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
// What a proxy says when the service does not answer it. It may have been asked all the same.
const GATEWAY_STATUSES = [502, 503, 504];
// Refusals that come before the service looks a key up: they settle nothing of an earlier attempt.
const UNSETTLED_STATUSES = [401, 403, 413, 415];

function refusal(status, body, retryAfterS) {
  const usual = status < 500 ? RequestFaultError : ServiceFaultError;
  const isExpired = status === 401 && body?.data?.code === "KEY_EXPIRED";
  const kind = isExpired ? KeyExpiredError : (BY_STATUS[status] ?? usual);
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
   */
  sendVerification(to, { signal, ...more } = {}) {
    return this.#ask("/api/verify/send", { to, ...more }, { signal });
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
    const { from, sendAt, validitySeconds, metadata, signal } = options;
    const idempotencyKey = options.idempotencyKey ?? (await freshKey());
    const asked = { to, body, from, sendAt: iso(sendAt), validitySeconds, metadata, idempotencyKey };
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
    let before = null;
    do {
      const page = await this.listMessages({ ...asked, before, signal });
      yield* page.items;
      before = page.next;
    } while (before !== null);
  }

  // One call, with its attempts.

  async #ask(path, body, { signal, isRepeatable = false, idempotencyKey } = {}) {
    const deadline = now() + this.#retrying.deadlineMs;
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
