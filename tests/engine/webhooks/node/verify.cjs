// Prints whether the official verifier accepts a request: {"secret", "headers", "body" (base64)}.
const { Webhook } = require("standardwebhooks");

const given = JSON.parse(process.argv[2]);
const bytes = Buffer.from(given.body, "base64");
const answers = [bytes, bytes.toString("utf8")].map((body) => {
  try {
    return new Webhook(given.secret).verify(body, given.headers).type;
  } catch (error) {
    return `refused: ${error.constructor.name}`;
  }
});
console.log(JSON.stringify(answers));
