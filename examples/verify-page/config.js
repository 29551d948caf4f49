// The two lines to change. The key is a publishable one: whoever opens the page can read it.
window.RISALA = {
  api: "http://127.0.0.1:8080",
  key: "pk_live_…",
  // This page's host, once it is registered (`risala verify config --origin HOST`): phones then
  // offer to fill the code in. Empty: they may still offer it, from the text of the SMS.
  origin: "",
};
