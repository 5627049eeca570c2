/** One run: `node driver.js <kind> <count>` prints one line of JSON. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { descendants } from "../harness/machine.js";
import { records } from "../rpc/records.js";
import { loadDriver } from "../viceroy/prepare.js";
import { usage } from "./usage.js";

const [, , kind, countText] = process.argv;
const count = Number(countText);
const mebibyte = 2 ** 20;

const kinds = {
  /** The baseline: a Map from names to objects with one number each. */
  async objects() {
    const before = usage();
    const start = performance.now();
    const table = new Map();
    for (let i = 0; i < count; i++) table.set(`cell-${i}`, { value: i });
    const us = ((performance.now() - start) * 1000) / count;
    return { driver: 0, child: (usage().heap - before.heap) / table.size, us };
  },

  async actors() {
    const { spawnGauged } = await loadDriver();
    const { gauge, cell, stop } = spawnGauged();
    const before = { child: await gauge.usage.callOne(), driver: usage() };
    const start = performance.now();
    const cells = [];
    // Called in groups of a thousand, so that the result is the memory of actors and not of calls in flight.
    for (let i = 0; i < count; i += 1000) {
      const group = Array.from({ length: Math.min(1000, count - i) }, (_, j) => cell(i + j));
      const values = await Promise.all(group.map((actor) => actor.value.callOne()));
      if (!values.every((value, j) => value === i + j)) throw new Error("an actor has answered for another one");
      cells.push(...group);
    }
    const us = ((performance.now() - start) * 1000) / count;
    const after = { child: await gauge.usage.callOne(), driver: usage() };
    await stop();
    return {
      child: (after.child.heap - before.child.heap) / count,
      driver: (after.driver.heap - before.driver.heap) / cells.length,
      us,
    };
  },

  async fork() {
    const empty = fileURLToPath(new URL("../spawn/empty.cjs", import.meta.url));
    const children = Array.from({ length: count }, () => fork(empty));
    for (const child of children) child.send(1);
    await Promise.all(children.map((child) => once(child, "message")));
    const sizes = await perProcess(children.map(({ pid }) => pid));
    for (const child of children) child.kill();
    return sizes;
  },

  async procs() {
    const { spawnEcho } = await loadDriver();
    const { echo, stop } = spawnEcho(count);
    await echo.one.call();
    // The largest processes are those of the mesh. The others, such as the watcher, are smaller.
    const pids = descendants(process.pid);
    const largest = pids.sort((a, b) => resident(b) - resident(a)).slice(0, count);
    const sizes = await perProcess(largest);
    await stop();
    return sizes;
  },

  /** Procs that share a process. Each consists of an agent, one actor, and both ends of a link to the root. */
  async inline() {
    const { spawnEcho } = await loadDriver();
    const ask = async (size) => {
      const { echo } = spawnEcho(size, "inline");
      await Promise.all(Array.from({ length: size }, (_, i) => echo.slice({ procs: i }).one.callOne()));
      return echo;
    };
    const first = await ask(1);
    const before = usage();
    const start = performance.now();
    const echo = await ask(count);
    const us = ((performance.now() - start) * 1000) / count;
    // The last writes complete a moment later, and memory outside the heap is freed after a collection.
    await delay(200);
    usage();
    await delay(200);
    const after = usage();
    await Promise.all([first, echo].map((mesh) => mesh.slice({ procs: 0 }).one.callOne()));
    return { heap: (after.heap - before.heap) / count, us };
  },

  /** IPC accepts every message, and keeps those that the receiver has not handled. */
  async "flood-ipc"() {
    const child = fork(fileURLToPath(import.meta.url), ["flood-ipc-child", String(count)], {
      serialization: "advanced",
    });
    const [first] = await once(child, "message");
    const before = usage();
    const start = performance.now();
    const answer = once(child, "message");
    for (let i = 0; i < count; i++) {
      child.send(records[i & 15]);
      if (i % 64 === 63) await new Promise(setImmediate);
    }
    const [last] = await answer;
    const k = count / (performance.now() - start);
    child.kill();
    return { driver: (usage().peak - before.resident) / mebibyte, child: (last.peak - first.resident) / mebibyte, k };
  },

  async "flood-ipc-child"() {
    let taken = 0;
    let queue = Promise.resolve();
    process.on("message", () => {
      // One message at a time, with a turn of the event loop for each, as in an actor.
      queue = queue.then(async () => {
        await new Promise(setImmediate);
        if (++taken === count) process.send(usage());
      });
    });
    process.send(usage());
    return new Promise(() => {});
  },

  async flood() {
    const { spawnGauged } = await loadDriver();
    const { gauge, sink, stop } = spawnGauged();
    const slow = sink();
    await slow.ready;
    const before = { child: await gauge.usage.callOne(), driver: usage() };
    const start = performance.now();
    for (let i = 0; i < count; i++) {
      const sent = slow.take.broadcast(records[i & 15]);
      if (i % 64 === 63) await sent;
    }
    if ((await slow.taken.callOne()) !== count) throw new Error("messages were lost");
    const k = count / (performance.now() - start);
    const after = { child: await gauge.usage.callOne(), driver: usage() };
    await stop();
    const grown = (side) => (after[side].peak - before[side].resident) / mebibyte;
    return { driver: grown("driver"), child: grown("child"), k };
  },
};

/** Returns averages over processes after they have become idle. */
async function perProcess(pids) {
  await delay(500);
  const average = (of) => pids.reduce((sum, pid) => sum + of(pid), 0) / pids.length / mebibyte;
  return { unshared: average(unshared), resident: average(resident) };
}

const resident = (pid) => kibibytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+)/gm);
/** Bytes of pages that no other process has mapped. */
const unshared = (pid) => kibibytes(`/proc/${pid}/smaps_rollup`, /^Private_\w+:\s+(\d+)/gm);

function kibibytes(file, pattern) {
  return [...readFileSync(file, "latin1").matchAll(pattern)].reduce((sum, match) => sum + Number(match[1]) * 1024, 0);
}

process.stdout.write(`${JSON.stringify(await kinds[kind]())}\n`);
process.exit(0);
