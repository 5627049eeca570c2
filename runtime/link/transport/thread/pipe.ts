/**
 * A byte pipe over a MessagePort, between a thread and its worker thread. Each write is one message, whose bytes are
 * copied once and then transferred.
 */
import type { MessagePort } from "node:worker_threads";
import { deliverBytes, type Pipe, totalBytes } from "../pipe.js";

/**
 * Makes a pipe over a port.
 * @param port one end of a MessageChannel, used by this pipe alone
 */
export function messagePortPipe(port: MessagePort): Pipe {
  let ended = false;
  let orderly = false;
  let failure: Error | undefined;
  port.unref();
  return {
    open(sink) {
      port.on("message", (message: Uint8Array | null) => {
        if (message !== null) deliverBytes(message, sink);
        else {
          orderly = true;
          port.close();
        }
      });
      port.once("close", () => {
        const gone = failure ?? (orderly || ended ? undefined : new Error("the thread has ended"));
        ended = true;
        sink.closed(gone);
      });
      // Adding a listener refs the port. Only a pending call should keep this thread alive.
      port.unref();
    },
    write(chunks, done) {
      if (!ended) {
        const bytes = concatChunks(chunks);
        port.postMessage(bytes, [bytes.buffer]);
      }
      queueMicrotask(done);
    },
    close() {
      if (ended) return;
      ended = true;
      port.postMessage(null);
      port.close();
    },
    destroy(error) {
      if (ended) return;
      ended = true;
      failure = error;
      port.close();
    },
    ref: () => port.ref(),
    unref: () => port.unref(),
  };
}

function concatChunks(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(totalBytes(chunks));
  let end = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, end);
    end += chunk.length;
  }
  return bytes;
}
