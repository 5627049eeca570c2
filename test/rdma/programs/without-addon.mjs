/** Uses two buffers in a process without the addon, which prints one warning. Prints the bytes that it has read. */
import { RdmaBuffer } from "viceroy/rdma";

const first = RdmaBuffer.register(Uint8Array.of(1, 2, 3));
const second = RdmaBuffer.allocate(3);
await second.writeFrom(first.view);
const bytes = new Uint8Array(2);
await second.readInto(bytes, { offset: 1 });
console.log([...bytes].join(" "));
