/**
 * One run: `node driver.js <kind> <target> <count>` spawns `count` children, waits until each has answered one message, and stops them. Prints
 * a line of JSON: the ms since the first spawn and since the start of this process, processor time, the ms for stopping, and the us of both
 * for each child. `target` is a script, or the isolation of Viceroy's processes.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { Worker } from "node:worker_threads";
import { cpuSeconds, descendants } from "../harness/machine.js";

const [, , kind, target, countText] = process.argv;
const count = Number(countText);
const script = fileURLToPath(new URL(target, import.meta.url));

const kinds = {
  async fork() {
    return spawnAll(
      () => fork(script),
      (child) => child.send(1),
    );
  },
  async threads() {
    return spawnAll(
      () => new Worker(script),
      (worker) => worker.postMessage(1),
    );
  },
  async viceroy() {
    return spawnViceroy(await (await import("../viceroy/prepare.js")).loadDriver());
  },
  /** The number of children is 1; `target` is the number of spares. */
  async "viceroy-restart"() {
    return restartViceroy(await (await import("../viceroy/prepare.js")).loadDriver());
  },
  async "viceroy-tsx"() {
    return spawnViceroy(await (await import("../viceroy/prepare.js")).loadSource());
  },
};

const run = await kinds[kind]();
const start = performance.now();
const answers = await run.ready();
const end = performance.now();
if (!isDeepStrictEqual(answers, new Array(count).fill(1))) throw new Error(`unexpected answers ${answers}`);
const seconds = [process.pid, ...descendants(process.pid)].reduce((sum, pid) => sum + cpuSeconds(pid), 0);
const stopping = performance.now();
await run.stop();
const stop = performance.now() - stopping;
const ready = end - start;
const each = { readyEach: (ready * 1000) / count, stopEach: (stop * 1000) / count };
process.stdout.write(`${JSON.stringify({ ready, program: end, cpu: seconds * 1000, stop, ...each })}\n`);
process.exit(0);

function spawnAll(spawn, send) {
  let children;
  return {
    async ready() {
      children = Array.from({ length: count }, spawn);
      for (const child of children) send(child);
      return (await Promise.all(children.map((child) => once(child, "message")))).map(([answer]) => answer);
    },
    stop: () => Promise.all(children.map((child) => child.terminate?.() ?? (child.kill() && once(child, "exit")))),
  };
}

/** Kills a process, and waits until the process that takes its place has answered. */
async function restartViceroy({ spawnRestarted }) {
  const mesh = spawnRestarted(Number(target));
  const killed = await mesh.echo.pid.callOne();
  // A spare is started a second after the last process, and must have loaded the runtime.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  return {
    async ready() {
      process.kill(killed, "SIGKILL");
      for (;;) {
        // Calls fail until the new process is there.
        const answer = await mesh.echo.one.callOne().catch(() => undefined);
        if (answer !== undefined) return [answer];
        await new Promise(setImmediate);
      }
    },
    stop: () => mesh.stop(),
  };
}

/** The driver's modules are loaded, as in a program that spawns. Nothing of the children is loaded. */
function spawnViceroy({ spawnEcho }) {
  let mesh;
  return {
    async ready() {
      mesh = spawnEcho(count, target);
      return [...(await mesh.echo.one.call()).values()];
    },
    stop: () => mesh.stop(),
  };
}
