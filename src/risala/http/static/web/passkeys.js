// Passkeys: a form with data-passkey ("get" or "create") is shown where the browser knows them. Its data-question is
// what the service asks, as JSON; the browser's answer goes into the field "passkey", and the form is sent.
const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const asked = (question) => {
  const found = JSON.parse(question);
  found.challenge = bytes(found.challenge);
  if (found.user) found.user.id = bytes(found.user.id);
  for (const each of found.excludeCredentials ?? []) each.id = bytes(each.id);
  return found;
};

const answered = (credential) => {
  const { response } = credential, parts = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
    if (response[name]) parts[name] = text(response[name]);
  return JSON.stringify({
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    response: parts,
    clientExtensionResults: {},
  });
};

for (const button of document.querySelectorAll("[data-print]")) button.addEventListener("click", () => print());

if (window.PublicKeyCredential) {
  for (const note of document.querySelectorAll("[data-no-passkeys]")) note.hidden = true;
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    const failed = form.querySelector("[data-failed]"), field = form.elements.passkey;
    addEventListener("pageshow", () => { field.value = ""; });
    form.addEventListener("submit", async (event) => {
      if (field.value) return;
      event.preventDefault();
      event.stopPropagation();  // it is not sent yet
      failed.hidden = true;
      try {
        const publicKey = asked(form.dataset.question);
        field.value = answered(await navigator.credentials[form.dataset.passkey]({ publicKey }));
      } catch {
        failed.hidden = false;
        return;
      }
      form.requestSubmit();
    });
  }
}
