/**
 * One run: `node --import tsx inline.ts <direct|tree> <actors> <calls>` prints one line of JSON. All procs are in this process. The run
 * measures the root: the frames and bytes of its links, in both directions, and the time in which its own code runs between a call and
 * the last answer.
 */
import { Counter } from "../../test/actor/counter.js";
import { World } from "../../test/actor/world.js";
import { Meter } from "./meter.js";

const [, , route, actorsText, callsText] = process.argv;
const actors = Number(actorsText);
const calls = Number(callsText);

const meter = new Meter();
const world = new World({ treeAbove: route === "tree" ? 1 : Number.MAX_SAFE_INTEGER });
const dial = world.dial.bind(world);
world.dial = (location, from) => dial(location, from).then((pipe) => (from === "root" ? meter.pipe(pipe) : pipe));
const procs = Array.from({ length: actors }, (_, i) => world.proc(`p${i}`));
const mesh = world.spawn("counters", Counter, [1], procs);

async function call(): Promise<void> {
  const answer = meter.time(() => mesh.value.call());
  const total = [...(await answer).values()].reduce((a, b) => a + b, 0);
  if (total !== actors) throw new Error(`expected ${actors} answers, got ${total}`);
}

const first = performance.now();
await call();
const setUp = performance.now() - first;
for (let i = 0; i < 5; i++) await call();
meter.reset();
const start = performance.now();
for (let i = 0; i < calls; i++) await call();
const wall = performance.now() - start;
const { frames, bytes, ms } = meter;
process.stdout.write(
  `${JSON.stringify({ frames: frames / calls, bytes: bytes / calls, root: (ms * 1000) / calls, us: (wall * 1000) / calls, first: setUp })}\n`,
);
process.exit(0);
