/** Tests what is read about processes of this machine. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { type ProcessStat, processStat } from "../runtime/process-table.js";

/** Starts a process that waits as spares do. It has 200 MB of memory, which the system takes back before the process is a zombie. */
async function startLarge(): Promise<ChildProcess> {
  const program = "globalThis.memory = Buffer.alloc(200e6, 1); console.log('ready'); fs.readSync(0, Buffer.alloc(1));";
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout!, "data");
  return child;
}

/** Kills a process, and returns what is read about it until it is a zombie. */
async function readWhileItEnds(child: ChildProcess): Promise<ProcessStat[]> {
  const pid = child.pid!;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  const read: ProcessStat[] = [];
  // There is no pause, in which Node.js would ask for the exit status. That removes the process.
  while (read.at(-1)?.state !== "Z") read.push(processStat(pid)!);
  await exited;
  expect(processStat(pid)).toBeUndefined();
  return read;
}

test("a process that is killed is known to end before it is a zombie", async () => {
  for (;;) {
    const child = await startLarge();
    expect(processStat(child.pid!)).toMatchObject({ parent: process.pid, isEnding: false });
    const read = await readWhileItEnds(child);
    expect(read.at(-1)!.isEnding).toBe(true);
    // Another thread of the process may be the last to use the memory. Then the process is a zombie at once.
    if (read.some(({ state, isEnding }) => state !== "Z" && isEnding)) return;
  }
});
