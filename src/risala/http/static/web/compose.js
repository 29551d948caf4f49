// Writing to many: a file by drag and drop, and a saved text where the cursor stands.
// A part with data-drop has an <input type="file">, data-max (bytes) and data-too-large (a sentence);
// a button with data-insert names a <select> whose options have data-text, and data-into a field.
for (const zone of document.querySelectorAll("[data-drop]")) {
  const input = zone.querySelector('input[type="file"]'), fault = zone.querySelector("[data-fault]");
  const place = zone.closest("form");
  const has = (event) => event.dataTransfer?.types.includes("Files");
  const check = () => {
    const big = input.files[0]?.size > Number(zone.dataset.max);
    fault.textContent = big ? zone.dataset.tooLarge : "";
    fault.hidden = !big;
    if (big) input.value = "";
  };
  input.addEventListener("change", check);
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
    check();
  });
}

for (const button of document.querySelectorAll("[data-insert]")) {
  const { insert, into } = button.dataset;
  const field = document.getElementById(into);
  field.setSelectionRange(field.value.length, field.value.length);  // the cursor of who has not been there
  button.addEventListener("click", (event) => {
    event.preventDefault();
    const text = insert ? document.getElementById(insert).selectedOptions[0]?.dataset.text : button.dataset.text;
    if (!text) return;
    field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
}

// The sender above the phone: the one that is chosen.
const sender = document.getElementById("preview-sender");
document.getElementById("from")?.addEventListener("change", (event) => {
  if (sender) sender.textContent = event.target.value || sender.dataset.usual;
});
