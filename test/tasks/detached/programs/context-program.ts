/**
 * A program with a context over the hosts of a job, which creates and finds actors. It gets orders as lines of JSON, and
 * answers each with a line. The arguments are the options of its job, and those of its context, as JSON.
 */
import { createInterface } from "node:readline";
import { attach, type Job, ProcessJob, SlurmJob } from "viceroy/job";
import { type ActorHandle, type ActorOptions, detachedActors, JobContext, type JobContextOptions } from "viceroy/tasks";
import "../../../contract/project/generated/registry.js";
import { lookup } from "viceroy";
import { ProbeActor, type ProbeMesh } from "../../../contract/project/generated/probe.js";
import { MemoryCounter } from "../../../contract/project/src/memory-counter.js";
import { RealProbe } from "../../../contract/project/src/probe.js";
import { add, pidOfProbe, visibleGpus } from "../detached-tasks.js";

const [, , jobOptions = "{}", contextOptions = "{}"] = process.argv;
const { kind = "process", ...options } = JSON.parse(jobOptions) as { kind?: string };
const job = (kind === "slurm" ? new SlurmJob(options as never) : new ProcessJob(options as never)) as Job<string>;
const probes = new Map<string, ActorHandle<typeof RealProbe>>();
const probe = (name: string) => probes.get(name)!;
let context: JobContext;

const commands: Record<string, (...args: string[]) => unknown> = {
  /** Submits the job, or finds it, and opens a context on a mesh of its hosts. */
  async open(further = "{}") {
    const { workers } = await job.state();
    const given: JobContextOptions = { procs: 1, ...JSON.parse(contextOptions), ...JSON.parse(further) };
    context = await JobContext.open({ ...given, hosts: workers! });
    return { applyId: job.applyId, pid: process.pid };
  },
  close: () => context.close(),
  async actor(name, further = "{}", mode = "ok") {
    const own = JSON.parse(further) as ActorOptions;
    probes.set(name, await context.actor(RealProbe, [mode], { name, lifetime: "detached", ...own }));
    return probe(name).pid.callOne();
  },
  async counter(name, further = "{}") {
    await context.actor(MemoryCounter, [1], { name, lifetime: "detached", ...JSON.parse(further) });
  },
  async get(name) {
    const found = await context.getActor(RealProbe, name);
    if (found === undefined) return null;
    probes.set(name, found);
    return found.pid.callOne();
  },
  note: (name, text) => context.get(probe(name).note.run(text, 0)),
  log: (name) => probe(name).log.callOne(),
  exit: (name) => probe(name).exit.broadcast(1),
  pid: (name) => probe(name).pid.callOne(),
  stop: (name) => probe(name).stop(),
  stopActor: (name) => context.stopActor(name),
  pidInTask: (name) => context.get(context.run(pidOfProbe, name)),
  async lookup(name) {
    return (await lookup<ProbeMesh>(name, ProbeActor)).pid.callOne();
  },
  /** Runs a task with resources, and returns whether it has ended in time. */
  async runs(resources, ms) {
    const ref = context.with({ resources: JSON.parse(resources) }).run(add, 1, 2);
    const [done] = await context.wait([ref], { timeout: Number(ms) });
    if (done.length === 0) context.cancel(ref);
    return done.length === 1;
  },
  gpusOfTask: () => context.get(context.with({ resources: { gpus: 1 } }).run(visibleGpus)),
  async listed() {
    return detachedActors((await job.state())["workers"]!);
  },
  attach: () => attach(job).then(() => null),
  kill: () => job.kill(),
};

const answer = (line: object) => console.log(JSON.stringify(line));
answer({});
for await (const line of createInterface({ input: process.stdin })) {
  const [command = "", ...args] = JSON.parse(line) as string[];
  try {
    answer({ result: (await commands[command]!(...args)) ?? null });
  } catch (error) {
    answer({ error: `${(error as Error).name}: ${(error as Error).message}` });
  }
}
