/**
 * One run: `node --import tsx driver.ts <flat|tree> <actors> <calls>`; the result is one line of JSON. All procs are in
 * this process; what the root does is what is measured: frames and bytes of its links, in both directions, and the time
 * between its call and its last answer in which its own code runs.
 */

import { Kind } from "../../runtime/link/frame.js";
import type { Pipe, PipeSink } from "../../runtime/link/pipe.js";
import { Counter } from "../../test/actor/counter.js";
import { World } from "../../test/actor/world.js";

const [, , way, actorsText, callsText] = process.argv;
const actors = Number(actorsText);
const calls = Number(callsText);

const seen = { frames: 0, bytes: 0, ms: 0 };

/** Frames in the bytes of one write, which are whole. */
function count(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  seen.bytes += bytes.length;
  for (let at = 0; at < bytes.length; at += (view.getUint32(at, true) + 7) & ~7) {
    const kind = view.getUint32(at + 4, true) & 0xff;
    if (kind !== Kind.block) seen.frames++;
  }
}

function measured(pipe: Pipe): Pipe {
  return {
    open: (sink) => pipe.open(timed(sink)),
    write: (chunks, done) => {
      for (const chunk of chunks) count(chunk);
      pipe.write(chunks, done);
    },
    close: () => pipe.close(),
    destroy: (error) => pipe.destroy(error),
    ref: () => pipe.ref(),
    unref: () => pipe.unref(),
  };
}

function timed(sink: PipeSink): PipeSink {
  let buffer: Uint8Array = new Uint8Array(0);
  return {
    buffer: () => {
      buffer = sink.buffer();
      return buffer;
    },
    received: (n) => {
      count(buffer.subarray(0, n));
      const start = performance.now();
      sink.received(n);
      seen.ms += performance.now() - start;
    },
    closed: (error) => sink.closed(error),
  };
}

const world = new World({ treeAbove: way === "tree" ? 1 : Number.MAX_SAFE_INTEGER });
const dial = world.dial.bind(world);
world.dial = (location, from) => dial(location, from).then((pipe) => (from === "root" ? measured(pipe) : pipe));
const procs = Array.from({ length: actors }, (_, i) => world.proc(`p${i}`));
const mesh = world.spawn("counters", Counter, [1], procs);

async function call(): Promise<void> {
  const start = performance.now();
  const answer = mesh.value.call();
  seen.ms += performance.now() - start;
  const total = [...(await answer).values()].reduce((a, b) => a + b, 0);
  if (total !== actors) throw new Error(`expected ${actors} answers, got ${total}`);
}

const first = performance.now();
await call();
const setUp = performance.now() - first;
for (let i = 0; i < 5; i++) await call();
Object.assign(seen, { frames: 0, bytes: 0, ms: 0 });
const start = performance.now();
for (let i = 0; i < calls; i++) await call();
const wall = performance.now() - start;
const { frames, bytes, ms } = seen;
process.stdout.write(
  `${JSON.stringify({ frames: frames / calls, bytes: bytes / calls, root: (ms * 1000) / calls, us: (wall * 1000) / calls, first: setUp })}\n`,
);
process.exit(0);
