/**
 * Puts values of 2 MiB until memory, limited to 8 MiB, and the disk are full, and prints what happened. The limit of the disk is far above what the
 * system has. The argument is the folder of the values on disk.
 */
import { readdirSync } from "node:fs";
import { JobContext } from "viceroy/tasks";

const [folder] = process.argv.slice(2);
/** With its head and the token, a value has 2 MiB less 4096 bytes in memory. */
const bytes = 2 ** 21 - 8192 - 16;
const objects = { memory: 2 ** 23, disk: 2 ** 40, folder, whenFull: "fail" };
const context = await JobContext.open({ procs: 1, isolation: "inline", objects });
const refs = [];
let error;
for (let i = 0; i < 64 && error === undefined; i++) {
  try {
    refs.push(context.put(new Uint8Array(bytes).fill(i)));
  } catch (thrown) {
    error = thrown;
  }
}
const intact = async () => {
  let count = 0;
  for (const [i, ref] of refs.entries()) {
    const value = await context.get(ref);
    if (value.length === bytes && Buffer.compare(value, new Uint8Array(bytes).fill(i)) === 0) count++;
  }
  return count;
};
const before = { put: refs.length, intact: await intact() };
// The next one has room when another one is gone.
refs.at(-1).release();
refs[refs.length - 1] = context.put(new Uint8Array(bytes).fill(refs.length - 1));
const after = { put: refs.length, intact: await intact() };
const left = readdirSync(folder);
console.log(JSON.stringify({ name: error?.name, message: error?.message, before, after, left }));
await context.close();
