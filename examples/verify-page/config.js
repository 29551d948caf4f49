// The lines to change. The key is a publishable one: whoever opens the page can read it.
window.RISALA = {
  api: "http://127.0.0.1:8080",
  key: "pk_live_…",
  // Where numbers without a country's code are from: its code, what is dialled before them only
  // at home (empty in many countries), and how people write one. In Kenya:
  // { code: "254", trunk: "0", example: "0712 123456" }
  home: { code: "222", trunk: "", example: "36 12 34 56" },
  // This page's host, once it is registered (`risala verify config --origin HOST`): phones then
  // offer to fill the code in. Empty: they may still offer it, from the text of the SMS.
  origin: "",
};
