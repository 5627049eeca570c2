/**
 * One run: `node --import tsx simulated.ts <direct|tree> <actors> <calls> [<left>]` prints one line of JSON. `left` more actors
 * leave the mesh before the first call. Each actor has a simulated process on a host of its own, in virtual time: the run takes hours on one core, and the virtual time is that of a cluster. Frames, bytes
 * and processor time are those of the root; `ms` is the virtual time until all actors have answered.
 */
import { writeSync } from "node:fs";
import { thisHost } from "../../runtime/index.js";
import { Link } from "../../runtime/link/link.js";
import type { Pipe } from "../../runtime/link/transport/pipe.js";
import { currentRuntime } from "../../runtime/proc/process/current-runtime.js";
import { simulate } from "../../runtime/testing/index.js";
import { Counter, type CounterMesh } from "../../test/actor/counter.js";
import { Meter } from "./meter.js";

const [, , route, actorsText, callsText, leftText = "0"] = process.argv;
const actors = Number(actorsText);
const left = Number(leftText);
const calls = Number(callsText);
/** Virtual ms between two calls, so that work that one call leaves behind is not part of the next. */
const pause = 1000;

const meter = new Meter();
const { attach } = Link.prototype;

await simulate(
  async (simulation) => {
    const { proc } = currentRuntime().mainProc;
    Link.prototype.attach = function (this: Link, pipe: Pipe) {
      attach.call(this, this.host === proc ? meter.pipe(pipe) : pipe);
    };
    const procs = thisHost().spawnProcs({ gpus: actors + left });
    const spawned = procs.spawn("counters", Counter as never, ...([1] as never)) as unknown as CounterMesh<"gpus">;
    await spawned.ready;
    const resized = procs.resize({ gpus: actors });
    await resized.ready;
    const mesh = resized.resizeActors(spawned);
    const ready = simulation.now;
    const call = async (): Promise<number> => {
      await simulation.sleep(pause);
      meter.reset();
      const { now } = simulation;
      const answers = await meter.time(() => mesh.value.call());
      const took = simulation.now - now;
      const total = [...answers.values()].reduce((a, b) => a + b, 0);
      if (total !== actors) throw new Error(`expected ${actors} answers, got ${total}`);
      return took;
    };
    const first = await call();
    const sum = { frames: 0, bytes: 0, us: 0, ms: 0 };
    for (let i = 0; i < calls; i++) {
      const took = await call();
      // The pause also covers credit for the cast, and other messages that follow a call.
      await simulation.sleep(pause);
      sum.ms += took / calls;
      sum.frames += meter.frames / calls;
      sum.bytes += meter.bytes / calls;
      sum.us += (meter.ms * 1000) / calls;
    }
    writeSync(1, `${JSON.stringify({ ...sum, first, ready })}\n`);
    // An orderly shutdown of so many processes would take long.
    process.exit(0);
  },
  {
    place: ({ rank }) => `host${rank}`,
    limits: { treeAbove: route === "tree" ? 1 : Number.MAX_SAFE_INTEGER },
    limit: Number.MAX_SAFE_INTEGER,
  },
);
