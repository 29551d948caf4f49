// SMSGate's own client: sends a message, and asks for its state until it has left.
// Its file is a module without saying so, which Node before 22 does not find out by itself.
import { readFile } from "node:fs/promises";

const place = new URL("node_modules/android-sms-gateway/dist/index.js", import.meta.url);
const source = (await readFile(place)).toString("base64");
const { default: Gateway } = await import(`data:text/javascript;base64,${source}`);

const [base, login, password, number] = process.argv.slice(2);
const answered = async (url, options) => {
  const answer = await fetch(url, options);
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
};
const http = {
  get: (url, headers) => answered(url, { headers }),
  post: (url, body, headers) =>
    answered(url, { method: "POST", headers, body: JSON.stringify(body) }),
};
const client = new Gateway(login, password, http, base);
const sent = await client.send({ phoneNumbers: [number], textMessage: { text: "by npm" } });
let told = sent;
while (["Pending", "Processed"].includes(told.state)) told = await client.getState(sent.id);
console.log(JSON.stringify({ sent, told }));
