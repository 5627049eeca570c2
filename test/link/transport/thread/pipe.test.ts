import { MessageChannel, Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { Pipe } from "../../../../runtime/link/transport/pipe.js";
import { messagePortPipe } from "../../../../runtime/link/transport/thread/pipe.js";
import { until } from "../../../proc/until.js";

/** Records the bytes and the ends of a pipe. It reads into a small buffer; a link reads into a large one. */
function collect(pipe: Pipe) {
  const memory = new Uint8Array(5);
  const seen = { text: "", closed: [] as (Error | undefined)[] };
  pipe.open({
    buffer: () => memory,
    received(n) {
      seen.text += Buffer.from(memory.subarray(0, n)).toString("latin1");
    },
    closed: (error) => void seen.closed.push(error),
  });
  return seen;
}

test("bytes arrive in order, also those that are written before the other end is opened", async () => {
  const { port1, port2 } = new MessageChannel();
  const [near, far] = [messagePortPipe(port1), messagePortPipe(port2)];
  let done = 0;
  near.write([Buffer.from("one "), Buffer.from("two ")], () => done++);
  near.write([Buffer.from("three, which is longer")], () => done++);
  const seen = collect(far);
  await until(() => seen.text.length === 30);
  expect(seen.text).toBe("one two three, which is longer");
  expect(done).toBe(2);
  near.destroy();
});

test("close ends both ends without an error after all written bytes have arrived", async () => {
  const { port1, port2 } = new MessageChannel();
  const [near, far] = [messagePortPipe(port1), messagePortPipe(port2)];
  const [here, there] = [collect(near), collect(far)];
  near.write([Buffer.from("bye")], () => {});
  near.close();
  await until(() => there.closed.length > 0 && here.closed.length > 0);
  expect(there.text).toBe("bye");
  expect([...here.closed, ...there.closed]).toEqual([undefined, undefined]);
});

test("the termination of the other thread ends the pipe with an error", async () => {
  const { port1, port2 } = new MessageChannel();
  const seen = collect(messagePortPipe(port1));
  const worker = new Worker("require('worker_threads').workerData.ref(); for (;;);", {
    eval: true,
    workerData: port2,
    transferList: [port2],
  });
  worker.once("online", () => void worker.terminate());
  await until(() => seen.closed.length > 0);
  expect(seen.closed).toEqual([new Error("the thread has ended")]);
});
