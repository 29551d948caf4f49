"""Submit texts by smpplib, and wait for the receipt of each: PORT SYSTEM_ID PASSWORD TEXT…"""

import sys

import smpplib.client
import smpplib.gsm

port, system_id, password, *texts = sys.argv[1:]
client = smpplib.client.Client("127.0.0.1", int(port), allow_unknown_opt_params=True)
ids: list[str] = []
receipts: list[str] = []
client.set_message_sent_handler(lambda pdu: ids.append(pdu.message_id.decode()))
client.set_message_received_handler(lambda pdu: receipts.append(pdu.receipted_message_id.decode()))
client.connect()
client.bind_transceiver(system_id=system_id, password=password)
sent = 0
for text in texts:
    parts, encoding, msg_type = smpplib.gsm.make_parts(text)
    for part in parts:
        client.send_message(
            source_addr_ton=5,
            source_addr_npi=0,
            source_addr="RISALA",
            dest_addr_ton=1,
            dest_addr_npi=1,
            destination_addr="22236123456",
            short_message=part,
            data_coding=encoding,
            esm_class=msg_type,
            registered_delivery=True,
        )
        sent += 1
while len(receipts) < sent:
    client.read_once()
client.unbind()
client.disconnect()
assert sorted(ids) == sorted(receipts), (ids, receipts)
print(len(ids))
