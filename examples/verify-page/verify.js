"use strict";

// Plain JavaScript: two requests, three steps; what solves a challenge comes from the service.

const TIMEOUT_MS = 20000;
const { api, key, home, origin } = window.RISALA;
const shape = home.example.replace(home.trunk, "");  // as it is written behind "+222"
const byId = (id) => document.getElementById(id);

let language = firstLanguage();
let number = "";
let verificationId = "";
let notice = null; // the text that is shown, so that it changes its language too
let timer = null;
let autofill = null;

// -- the API ------------------------------------------------------------------------------------

async function ask(path, body) {
  let response;
  try {
    response = await fetch(api + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    return { fault: "offline" };
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  if (answer.data?.code === "CHALLENGE_REQUIRED" && body.challenge === undefined) {
    const challenge = await solve(answer.data.challenge);
    return challenge === null ? { fault: "offline" } : ask(path, { ...body, challenge });
  }
  console.warn("Risala:", response.status, answer.message, response.headers.get("x-request-id"));
  switch (response.status) {
    case 400: return { fault: path.endsWith("send") ? "badNumber" : "noCode" };
    case 401: case 403: return { fault: "misplaced" };
    case 404: return { fault: "denied" };
    case 429: return { fault: "wait", seconds: Number(response.headers.get("retry-after")) || 60 };
    case 503: return { fault: "offline" };
    default: return { fault: "unable" };
  }
}

// The key may want this browser to compute for a second first: the service brings how.
async function solve(challenge) {
  const bar = byId("work");
  const onProgress = (share) => { bar.value = share; };
  tell("working");
  bar.hidden = false;
  try {
    const { solveChallenge } = await import(api + "/clients/risala.js");
    return await solveChallenge(challenge, { onProgress });
  } catch {
    return null;
  } finally {
    bar.hidden = true;
    tell(null);
  }
}

// -- what is typed ------------------------------------------------------------------------------

const ARABIC_DIGITS = /[٠-٩۰-۹]/g;

function westernDigits(text) {
  return text.replace(ARABIC_DIGITS, (digit) => String(digit.charCodeAt(0) % 16));
}

function digitsIn(text) {
  return text.replace(/\D/g, "").length;
}

// "36 12 34 56", "+222 36123456", "00222…" and "222…" are one number; null where it can be none.
// Whether it is a mobile number of a country that is served, the service knows.
function asNumber(text) {
  const typed = westernDigits(text).replace(/[\s().-]/g, "").replace(/^00/, "+");
  const { code, trunk } = home;
  const isWhole = typed.startsWith(code) && typed.length === code.length + digitsIn(shape);
  const local = typed.startsWith(trunk) ? typed.slice(trunk.length) : typed;
  const number = typed.startsWith("+") ? typed : "+" + (isWhole ? typed : code + local);
  return /^\+[1-9]\d{7,14}$/.test(number) ? number : null;
}

// A number of home as people write it there, behind its code: "+222 36 12 34 56".
function spaced(number) {
  const digits = [...number.slice(1 + home.code.length)];
  if (!number.startsWith("+" + home.code) || digits.length !== digitsIn(shape)) return number;
  return "+" + home.code + " " + shape.replace(/\d/g, () => digits.shift());
}

// -- what is shown ------------------------------------------------------------------------------

function say(name) {
  return window.TEXTS[language][name].replace("{example}", "\u2066" + home.example + "\u2069");
}

function firstLanguage() {
  const asked = new URLSearchParams(location.search).get("lang");
  const wanted = [asked, ...navigator.languages].map((each) => (each || "").slice(0, 2));
  return wanted.find((each) => each in window.TEXTS) || "fr";
}

function speak(chosen) {
  language = chosen;
  document.documentElement.lang = chosen;
  document.documentElement.dir = chosen === "ar" ? "rtl" : "ltr";
  document.title = say("page");
  for (const each of document.querySelectorAll("[data-text]")) {
    each.textContent = say(each.dataset.text);
  }
  for (const each of document.querySelectorAll("[data-fault]")) {
    each.textContent = say(each.dataset.fault);
  }
  for (const each of byId("languages").children) {
    each.setAttribute("aria-pressed", String(each.lang === chosen));
  }
  tell(notice);
}

function step(name, focused) {
  for (const each of ["number", "code", "done"]) byId("step-" + each).hidden = each !== name;
  quiet();
  byId(focused).focus();
}

function tell(name) {
  notice = name;
  byId("notice").hidden = name === null;
  byId("notice-text").textContent = name === null ? "" : say(name);
}

function fault(input, name) {
  const place = byId(input.id + "-fault");
  if (name === null) delete place.dataset.fault;
  else place.dataset.fault = name;
  place.textContent = name === null ? "" : say(name);
  input.setAttribute("aria-invalid", String(name !== null));
  if (name !== null) input.focus();
}

function quiet() {
  clearInterval(timer);
  byId("timer").textContent = "";
  tell(null);
  fault(byId("number"), null);
  fault(byId("code"), null);
}

// Hold `button` until the service will listen again, and show how long that is.
function wait(button, seconds) {
  const until = Date.now() + seconds * 1000;
  button.disabled = true;
  setTimeout(() => { button.disabled = false; }, seconds * 1000);
  const show = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left <= 0) return quiet();
    byId("timer").textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
    return undefined;
  };
  timer = setInterval(show, 500);
  show();
  tell("wait");
}

// Ask while `button` rests; what went wrong is shown, and then there is no answer.
async function askBy(button, path, body, input) {
  quiet();
  button.disabled = true;
  const answer = await ask(path, body);
  button.disabled = false;
  if (answer.fault === undefined) return answer;
  if (answer.fault === "wait") wait(button, answer.seconds);
  else if (["badNumber", "noCode", "denied"].includes(answer.fault)) fault(input, answer.fault);
  else tell(answer.fault);
  return null;
}

// -- the three steps ----------------------------------------------------------------------------

async function send(button, input) {
  const body = { to: number, locale: language };
  if (origin) body.origin = origin;
  const answer = await askBy(button, "/api/verify/send", body, input);
  if (answer === null) return false;
  verificationId = answer.verificationId;
  byId("code").value = "";
  listenForCode();
  return true;
}

async function check() {
  const code = westernDigits(byId("code").value).trim();
  if (code === "") return fault(byId("code"), "noCode");
  const button = byId("step-code").querySelector(".main");
  const body = { verificationId, code };
  const answer = await askBy(button, "/api/verify/check", body, byId("code"));
  if (answer === null) return undefined;
  if (answer.status !== "approved") return fault(byId("code"), "denied");
  autofill?.abort();
  byId("verified").textContent = spaced(number);
  step("done", "done-title");
  // What a real page does now: give `verificationId` to its own server. That asks
  // POST /api/verify/get with its secret key; what a browser says proves nothing.
  document.dispatchEvent(new CustomEvent("verified", { detail: { verificationId } }));
  return undefined;
}

// Chromium on Android reads the code out of an SMS that is bound to this host.
async function listenForCode() {
  if (!origin || !("OTPCredential" in window)) return;
  autofill?.abort();
  autofill = new AbortController();
  try {
    const options = { otp: { transport: ["sms"] }, signal: autofill.signal };
    const found = await navigator.credentials.get(options);
    byId("code").value = found.code;
    await check();
  } catch {
    // The user will type it.
  }
}

byId("step-number").querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  number = asNumber(byId("number").value);
  if (number === null) return fault(byId("number"), "badNumber");
  if (!(await send(event.submitter, byId("number")))) return undefined;
  byId("sent-to").textContent = spaced(number);
  return step("code", "code");
});
byId("step-code").querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  check();
});
byId("again").addEventListener("click", async (event) => {
  if (await send(event.currentTarget, byId("code"))) {
    tell("sentAgain");
    byId("code").focus();
  }
});
byId("other").addEventListener("click", () => step("number", "number"));
byId("languages").addEventListener("click", (event) => {
  if (event.target.lang) speak(event.target.lang);
});

byId("prefix").textContent = "+" + home.code;
byId("number").placeholder = shape;
speak(language);
