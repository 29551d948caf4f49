// Writing to many: a file by drag and drop, and a saved text where the cursor stands.
// A part with data-drop has an <input type="file">, data-max (bytes) and data-too-large (a sentence);
// A button with data-columns beside the input leads to the same page with the file's columns: with script its
// part of that page takes the place of this one, and what was typed stays.
// a button with data-insert names a <select> whose options have data-text, and data-into a field.
function drops(zone) {
  const input = zone.querySelector('input[type="file"]'), fault = zone.querySelector("[data-fault]");
  const place = zone.closest("form");
  const has = (event) => zone.isConnected && event.dataTransfer?.types.includes("Files");
  const check = () => {
    const big = input.files[0]?.size > Number(zone.dataset.max);
    fault.textContent = big ? zone.dataset.tooLarge : "";
    fault.hidden = !big;
    if (big) input.value = "";
  };
  const columns = zone.querySelector("[data-columns]");
  const show = async () => {
    const file = input.files[0];
    const sent = await fetch(columns.formAction, { method: "POST", body: new FormData(place) });
    const found = new DOMParser().parseFromString(await sent.text(), "text/html").getElementById("of-file");
    if (!found || input.files[0] !== file) return;  // another one was chosen meanwhile
    const held_focus = zone.contains(document.activeElement);
    zone.replaceWith(found);
    if (held_focus) {  // else the next Tab would begin at the top of the page
      found.tabIndex = -1;
      found.focus();
    }
    if (found.matches("[data-drop]")) drops(found);  // a file that cannot be read
    inserts(found);
  };
  columns?.addEventListener("click", (event) => {
    event.preventDefault();
    if (input.files.length) show();
  });
  input.addEventListener("change", () => {
    check();
    if (columns && input.files.length) show();
  });
  place.addEventListener("dragover", (event) => {
    if (!has(event)) return;
    event.preventDefault();
    zone.classList.add("over");
  });
  place.addEventListener("dragleave", (event) => {
    if (!place.contains(event.relatedTarget)) zone.classList.remove("over");
  });
  place.addEventListener("drop", (event) => {
    zone.classList.remove("over");
    if (!has(event)) return;
    event.preventDefault();
    input.files = event.dataTransfer.files;
    input.focus();
    input.dispatchEvent(new Event("change"));
  });
}
document.querySelectorAll("[data-drop]").forEach(drops);

function inserts(part) {
  for (const button of part.querySelectorAll("[data-insert]")) {
    const { insert, into } = button.dataset;
    const field = document.getElementById(into);
    if (part === document) field.setSelectionRange(field.value.length, field.value.length);  // who was not there yet
    button.addEventListener("click", (event) => {
      event.preventDefault();
      const text = insert ? document.getElementById(insert).selectedOptions[0]?.dataset.text : button.dataset.text;
      if (!text) return;
      field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.focus();
    });
  }
}
inserts(document);

// The sender above the phone: the one that is chosen.
const sender = document.getElementById("preview-sender");
document.getElementById("from")?.addEventListener("change", (event) => {
  if (sender) sender.textContent = event.target.value || sender.dataset.usual;
});
