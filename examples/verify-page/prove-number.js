import { Risala } from "/risala.js";

class ProveNumber extends HTMLElement {
  async connectedCallback() {
    const { api, key, to } = this.dataset;
    try {
      const started = await new Risala(api, key).startVerification("inbound_sms", to);
      const link = Object.assign(document.createElement("a"), { href: started.link });
      link.textContent = `${started.text} → ${started.sendTo}`;
      const drawing = new Image();
      drawing.src = `data:image/svg+xml,${encodeURIComponent(started.qrSvg)}`;
      drawing.alt = link.textContent;
      this.replaceChildren(link, drawing);
      this.dispatchEvent(new CustomEvent("started", { detail: started.verificationId, bubbles: true }));
    } catch (error) {
      this.textContent = error.message;
    }
  }
}
customElements.define("prove-number", ProveNumber);
