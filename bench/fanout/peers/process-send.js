/** child_process with its IPC channel: one `send` per worker, and one promise for all answers. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export async function startWith(serialization, count) {
  let open;
  const children = Array.from({ length: count }, (_, worker) => {
    const child = fork(fileURLToPath(import.meta.url), ["child"], { serialization });
    child.on("message", (answer) => {
      open.answers[worker] = answer;
      if (--open.missing === 0) open.resolve(open.answers);
    });
    return child;
  });
  return {
    round: (record) =>
      new Promise((resolve) => {
        open = { answers: new Array(count), missing: count, resolve };
        for (const child of children) child.send(record);
      }),
    close: () => Promise.all(children.map((child) => child.kill() && once(child, "exit"))),
  };
}

if (process.argv[2] === "child") process.on("message", (record) => process.send({ id: record.id, ok: true }));
