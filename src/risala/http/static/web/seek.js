// The panel of the search over everything: a combobox with a list. It keeps no words.
const panel = document.getElementById("seek-panel");
const field = document.getElementById("seek-text");
const list = document.getElementById("seek-list");
const told = document.getElementById("seek-told");
const byEnter = "byEnter" in panel.dataset;  // each search is in the audit log there
const WAIT_MS = 180, SHORT = 2;
const first = told.textContent;
let timer = 0, asking, shown = "";

const options = () => [...list.querySelectorAll('[role="option"]')];
const chosen = () => list.querySelector('[aria-selected="true"]');
const choose = (option) => {
  chosen()?.setAttribute("aria-selected", "false");
  if (option) {
    option.setAttribute("aria-selected", "true");
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  } else field.removeAttribute("aria-activedescendant");
};
const show = (html, words) => {
  list.innerHTML = html;
  const line = list.querySelector("[data-told]");
  told.textContent = words ?? line?.textContent.trim().replace(/\s+/g, " ") ?? first;
  line?.remove();
  options().forEach((option, n) => { option.id = `seek-${n}`; });
  list.hidden = !options().length;
  field.setAttribute("aria-expanded", String(!list.hidden));
  choose(options()[0]);
};
const ask = async () => {
  clearTimeout(timer);
  asking?.abort();
  const text = field.value.trim();
  shown = text;
  if (text.length < SHORT) return show("");
  asking = new AbortController();
  const at = new URL(panel.dataset.found, location.href);
  at.searchParams.set("q", text);
  try {
    const answer = await fetch(at, { signal: asking.signal, headers: { "hx-request": "true" } });
    if (answer.status === 401 || answer.redirected) return field.form.submit();
    if (!answer.ok) throw new Error();
    show(await answer.text());
  } catch (error) {
    if (error.name !== "AbortError") { shown = ""; show("", panel.dataset.failed); }
  }
};

field.addEventListener("input", () => {
  clearTimeout(timer);
  if (!byEnter) timer = setTimeout(ask, WAIT_MS);
});
field.addEventListener("keydown", async (event) => {
  if (event.isComposing) return;
  const all = options(), at = all.indexOf(chosen());
  const step = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
  if (step !== undefined && all.length) {
    event.preventDefault();
    choose(all[(step + all.length) % all.length]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    const isNew = field.value.trim() !== shown;
    if (isNew) await ask();
    if (!isNew || !byEnter) chosen()?.click();
  }
});
panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
panel.addEventListener("close", () => { asking?.abort(); field.value = shown = ""; show(""); });

// What was typed before this file came.
export const begin = () => { if (field.value && !byEnter) ask(); };
