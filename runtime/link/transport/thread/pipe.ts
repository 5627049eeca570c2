/**
 * A byte pipe over a MessagePort: what links this thread with a worker thread. Each write is one message, whose bytes
 * are copied out of the sender's batch once and then handed over, not copied again.
 */
import type { MessagePort } from "node:worker_threads";
import { deliverBytes, type Pipe, totalBytes } from "../pipe.js";

/** @param port one end of a MessageChannel; nobody else uses it */
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
      // Listening refs the port: it takes a pending call to hold this thread.
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
