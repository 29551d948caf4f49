// An SMSC on node-smpp: node smsc.js '{"throttleEvery": 5, "inbound": ["…"]}'
// Its first line is its port; then a line of JSON for each submit. Ends with its standard input.
'use strict';
const smpp = require('smpp');

const job = JSON.parse(process.argv[2]);
const tell = (thing) => process.stdout.write(`${JSON.stringify(thing)}\n`);
let submits = 0;
let ids = 0;

function receipt(session, pdu, id) {
  const now = '2611210310';
  session.deliver_sm({
    source_addr_ton: pdu.dest_addr_ton,
    source_addr_npi: pdu.dest_addr_npi,
    source_addr: pdu.destination_addr,
    destination_addr: pdu.source_addr,
    esm_class: smpp.ESM_CLASS.MC_DELIVERY_RECEIPT,
    short_message: `id:${id} sub:001 dlvrd:001 submit date:${now} done date:${now} stat:DELIVRD err:000 text:`,
  }, (answer) => tell({ receiptAnswer: answer.command_status }));
}

function inbound(session, text) {
  const cut = [];
  for (let at = 0; at < text.length; at += 60) cut.push(text.slice(at, at + 60));
  cut.map((message, n) => ({ message, n })).reverse().forEach(({ message, n }) => {
    session.deliver_sm({
      source_addr_ton: 1,
      source_addr_npi: 1,
      source_addr: '22236123456',
      destination_addr: '1234',
      data_coding: 8,
      short_message: cut.length === 1 ? message : {
        udh: Buffer.from([5, 0, 3, text.length % 256, cut.length, n + 1]),
        message,
      },
    }, (answer) => tell({ inboundAnswer: answer.command_status }));
  });
}

const server = smpp.createServer((session) => {
  session.on('error', () => {});
  session.on('enquire_link', (pdu) => session.send(pdu.response()));
  session.on('unbind', (pdu) => {
    session.send(pdu.response());
    session.close();
  });
  session.on('bind_transceiver', (pdu) => {
    const known = pdu.system_id === 'risala' && pdu.password === 'secret';
    session.send(pdu.response({
      command_status: known ? 0 : smpp.ESME_RINVPASWD,
      system_id: 'node-smpp',
    }));
    if (known) (job.inbound || []).forEach((text) => inbound(session, text));
  });
  session.on('query_sm', (pdu) => {
    session.send(pdu.response({ message_id: pdu.message_id, message_state: 2 }));
  });
  session.on('submit_sm', (pdu) => {
    submits += 1;
    if (job.throttleEvery && submits % job.throttleEvery === 0) {
      session.send(pdu.response({ command_status: smpp.ESME_RTHROTTLED }));
      return;
    }
    ids += 1;
    const id = `node-${ids}`;
    session.send(pdu.response({ message_id: id }));
    const udh = pdu.short_message.udh;
    tell({
      text: pdu.short_message.message.toString(),
      udh: udh ? [...(Array.isArray(udh) ? udh[0] : udh)] : null,
      dataCoding: pdu.data_coding,
      from: pdu.source_addr,
      to: pdu.destination_addr,
      validity: pdu.validity_period,
      userMessageReference: pdu.user_message_reference,
    });
    if (!job.loseReceipts) receipt(session, pdu, id);
  });
});
server.listen(0, '127.0.0.1', () => tell(server.address().port));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
