// An ESME on node-smpp: node esme.js PORT '{"texts": [...]}'
// Submits each text (in parts where it is long), waits for all receipts, tells what came as JSON.
'use strict';
const smpp = require('smpp');

const job = JSON.parse(process.argv[3]);
const result = { ids: [], receipts: [], throttled: 0, inbound: [] };
const session = smpp.connect({ host: '127.0.0.1', port: Number(process.argv[2]) });

// Not the whole alphabet: what the tests send.
const isGsm = (text) => /^[\x20-\x7eéèà£\n]*$/.test(text);

function parts(text) {
  const size = isGsm(text) ? 153 : 67;
  if (text.length <= (isGsm(text) ? 160 : 70)) return [text];
  const cut = [];
  for (let at = 0; at < text.length; at += size) cut.push(text.slice(at, at + size));
  const reference = text.length % 256;
  return cut.map((message, n) => ({
    udh: Buffer.from([5, 0, 3, reference, cut.length, n + 1]),
    message,
  }));
}

function submit(message) {
  session.submit_sm({
    source_addr_ton: 5,
    source_addr: job.source_addr === undefined ? 'ACME' : job.source_addr,
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: '22236123456',
    registered_delivery: 1,
    short_message: message,
  }, (answer) => {
    if (answer.command_status === smpp.ESME_RTHROTTLED) {
      result.throttled += 1;
      setTimeout(() => submit(message), 50);
    } else if (answer.command_status !== 0) {
      fail(`submit_sm_resp: ${answer.command_status}`);
    } else {
      result.ids.push(answer.message_id);
      endWhenDone();
    }
  });
}

function fail(reason) {
  console.error(reason);
  process.exit(1);
}

let expected = 0;
function endWhenDone() {
  const enough = result.ids.length === expected && result.receipts.length === expected
    && result.inbound.length === (job.inbound || 0);
  if (enough) session.unbind(() => session.close());
}

session.on('error', (error) => fail(String(error)));
session.on('close', () => console.log(JSON.stringify(result)));
session.on('enquire_link', (pdu) => session.send(pdu.response()));
session.on('deliver_sm', (pdu) => {
  session.send(pdu.response());
  const text = pdu.short_message.message.toString();
  if (pdu.esm_class & 4) {
    result.receipts.push({
      text,
      id: String(pdu.receipted_message_id).replace(/\0$/, ''),
      state: pdu.message_state,
    });
  } else {
    result.inbound.push(text);
  }
  endWhenDone();
});
const { system_id = 'esme', password = 'secret' } = job;
session.bind_transceiver({ system_id, password }, (answer) => {
  if (answer.command_status !== 0) fail(`bind_transceiver_resp: ${answer.command_status}`);
  const all = job.texts.flatMap(parts);
  expected = all.length;
  all.forEach(submit);
});
