/**
 * One run: `node --import tsx simulated.ts <hosts> <processes on each>` prints one line of JSON. A driver attaches simulated hosts that run
 * `viceroy host`, and spawns processes with an actor each: the code of real clusters, in virtual time. The start of a process takes a random
 * time of 1 to 40 ms; the latency between hosts is 0.1 to 0.5 ms.
 */
import { writeSync } from "node:fs";
import { attachHosts } from "../../runtime/index.js";
import { Link } from "../../runtime/link/link.js";
import type { Pipe } from "../../runtime/link/transport/pipe.js";
import { currentRuntime } from "../../runtime/proc/process/current-runtime.js";
import { simulate } from "../../runtime/testing/index.js";
import { Counter, type CounterMesh } from "../../test/actor/counter.js";
import { Meter } from "../cast/meter.js";

const [, , hostsText, eachText] = process.argv;
const count = Number(hostsText);
const each = Number(eachText);
const token = "shared by driver and hosts";

const meter = new Meter();
const { attach } = Link.prototype;

/** Processor time of the whole simulation, in ms. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

await simulate(async (simulation) => {
  const { proc } = currentRuntime().mainProc;
  Link.prototype.attach = function (this: Link, pipe: Pipe) {
    attach.call(this, this.host === proc ? meter.pipe(pipe) : pipe);
  };
  const names = Array.from({ length: count }, (_, i) => `n${i}`);
  for (const name of names) simulation.startHost(name, { token });
  await simulation.sleep(1000);

  const begun = { now: simulation.now, used: cpuTime() };
  const addresses = names.map((name) => `tcp://${name}`);
  const hosts = meter.time(() => attachHosts(addresses, { token }));
  await hosts.ready;
  const attached = { now: simulation.now, used: cpuTime(), bytes: meter.bytes, driver: meter.ms };

  const procs = meter.time(() => hosts.spawnProcs({ gpus: each }));
  await procs.ready;
  const started = { now: simulation.now, used: cpuTime(), bytes: meter.bytes, driver: meter.ms };
  const spawn = () => procs.spawn("counters", Counter as never, ...([1] as never)) as unknown as CounterMesh;
  const answers = await meter.time(spawn).value.callSettled();
  const sum = [...answers.values()].reduce((all, one) => all + (one.status === "fulfilled" ? one.value : 0), 0);
  if (sum !== count * each) throw new Error(`expected ${count * each} answers, got ${sum}`);

  const result = {
    attach: attached.now - begun.now,
    spawn: started.now - attached.now,
    answer: simulation.now - started.now,
    attachDriver: attached.driver / count,
    attachAll: (attached.used - begun.used) / count,
    attachBytes: attached.bytes / count,
    spawnDriver: (started.driver - attached.driver) / (count * each),
    spawnAll: (started.used - attached.used) / (count * each),
    spawnBytes: (started.bytes - attached.bytes) / (count * each),
  };
  writeSync(1, `${JSON.stringify(result)}\n`);
  process.exit(0);
});
