/** A process that returns what comes over file descriptor 3, and prints the number of bytes. */
import { parentPipe } from "../../../../runtime/link/transport/unix/connect.js";

const page = Buffer.alloc(64 * 1024);
let total = 0;
const pipe = parentPipe(3);
pipe.ref();
pipe.open({
  buffer: () => page,
  received(n) {
    total += n;
    pipe.write([Buffer.from(page.subarray(0, n))], () => {});
  },
  closed() {
    process.stdout.write(`${total}\n`, () => process.exit(0));
  },
});
pipe.write([Buffer.from("up")], () => {});
