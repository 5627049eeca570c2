/**
 * zeromq over ipc, DEALER to DEALER, with one frame for each message: a call id, then the record by the limit's hand-written codec. That
 * is more than users would build.
 */
import { Dealer } from "zeromq";
import { decodeRecord, encodeRecord, maxBytes } from "../../limit/record-codec.js";

export async function serve(path) {
  const dealer = newDealer();
  await dealer.bind(`ipc://${path}`);
  const send = sender(dealer);
  receive(dealer, (id, record) => send(encode(id, record)));
}

export async function connect(path) {
  const dealer = newDealer();
  dealer.connect(`ipc://${path}`);
  const send = sender(dealer);
  const pending = new Map();
  let nextId = 0;
  receive(dealer, (id, record) => {
    pending.get(id)(record);
    pending.delete(id);
  });
  return {
    call: (record) =>
      new Promise((resolve) => {
        const id = nextId++ >>> 0;
        pending.set(id, resolve);
        send(encode(id, record));
      }),
    close: () => dealer.close(),
  };
}

const newDealer = () => new Dealer({ sendHighWaterMark: 0, receiveHighWaterMark: 0 });

function encode(id, record) {
  const bytes = Buffer.allocUnsafeSlow(4 + maxBytes(record));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, id, true);
  return bytes.subarray(0, encodeRecord({ bytes, view }, 4, record));
}

async function receive(socket, onMessage) {
  for await (const [bytes] of socket) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    onMessage(view.getUint32(0, true), decodeRecord(bytes, view, 4, bytes.length));
  }
}

/** Queues sends, because a socket refuses a send while another one is waiting. */
function sender(socket) {
  let queue = [];
  let busy = false;
  const drain = async () => {
    busy = true;
    while (queue.length > 0) {
      const messages = queue;
      queue = [];
      for (const message of messages) await socket.send(message);
    }
    busy = false;
  };
  return (message) => {
    queue.push(message);
    if (!busy) drain();
  };
}
