/** A thread that dials the given socket, and returns what comes. */
import { workerData } from "node:worker_threads";
import { connectUnix } from "../../../../runtime/link/transport/unix/connect.js";

const page = Buffer.alloc(64 * 1024);
const pipe = await connectUnix(workerData as string);
pipe.ref();
pipe.open({
  buffer: () => page,
  received: (n) => pipe.write([Buffer.from(page.subarray(0, n))], () => {}),
  closed: () => process.exit(),
});
pipe.write([Buffer.from("up")], () => {});
