// The page of a verification for a customer's own user: drawn again when a stream says that it has changed, and every
// five seconds where there is no stream.
const EVERY_MS = 5000;
let stream, timer;

const stop = () => {
  stream?.close();
  clearInterval(timer);
};

const draw = async () => {
  const answer = await fetch(location.href, { cache: "no-store" }).catch(() => null);
  if (!answer || ![200, 410].includes(answer.status)) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("state"), shown = document.getElementById("state");
  if (!fresh || fresh.textContent === shown.textContent) return;
  shown.replaceWith(fresh);
  if (fresh.dataset.state !== "waiting") stop();
};

const poll = () => {
  stream.close();
  timer ??= setInterval(draw, EVERY_MS);
};

stream = new EventSource(document.getElementById("state").dataset.live);
stream.onopen = draw; // it may have changed since the page was drawn
stream.onmessage = draw;
stream.addEventListener("over", draw);
stream.onerror = poll;
addEventListener("pagehide", stop);
