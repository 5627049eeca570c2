/** child_process with its IPC channel (`process.send`) and call ids, with "json" and "advanced" serialization. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { pinned } from "../../harness/child.js";

/** Runs in the child. */
export function serve() {
  process.on("message", (message) => process.send(message));
}

export async function startWith(serialization, cpus) {
  const [command, ...args] = pinned(cpus, [process.execPath, fileURLToPath(import.meta.url), "child"]);
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"], serialization });
  const pending = new Map();
  let nextId = 0;
  child.on("message", ({ id, record }) => {
    pending.get(id)(record);
    pending.delete(id);
  });
  return {
    call: (record) =>
      new Promise((resolve) => {
        const id = nextId++;
        pending.set(id, resolve);
        child.send({ id, record });
      }),
    close: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.kill();
      }),
  };
}

if (process.argv[2] === "child") serve();
