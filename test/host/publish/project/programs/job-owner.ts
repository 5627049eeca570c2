/**
 * A driver that spawns meshes on the hosts of a job, publishes them and detaches. It gets orders as lines of JSON, and
 * answers each with a line. The argument is the options of its job as JSON, with the name of its class.
 */
import { createInterface } from "node:readline";
import { type ActorMesh, lookup, onUnhandledFault, type ProcMesh, publish, thisHost, thisProc } from "viceroy";
import { attach, type Job, KubernetesJob, ProcessJob, SlurmJob, SSHJob } from "viceroy/job";
import { RdmaBuffer } from "viceroy/rdma";
import "../generated/registry.js";
import type { IndexMesh } from "../generated/index.js";
import { ShyIndex } from "../src/shy-index.js";
import { WordIndex } from "../src/word-index.js";

const classes = { process: ProcessJob, slurm: SlurmJob, ssh: SSHJob, kubernetes: KubernetesJob };
const { kind = "process", ...options } = JSON.parse(process.argv[2] ?? "{}") as { kind?: keyof typeof classes };
const job = new classes[kind](options as never) as Job<string>;
const procs = new Map<string, ProcMesh>();
const meshes = new Map<string, ActorMesh>();
const buffers: RdmaBuffer[] = [];
const calls = new Map<string, Promise<unknown>>();
let faults = 0;
const indexOf = (name: string) => meshes.get(name) as IndexMesh;

const commands: Record<string, (...args: string[]) => unknown> = {
  async state() {
    await job.state();
    return { applyId: job.applyId, pid: process.pid };
  },
  async attach() {
    await attach(job);
    return { applyId: job.applyId, pid: process.pid };
  },
  /** Spawns processes on the hosts of a mesh, on this machine ("machine") or in this process ("process"). */
  async spawn(name, where, shards = "1", further = "{}") {
    const at = { shards: Number(shards) };
    const hosts = where === "machine" ? thisHost() : where === "process" ? undefined : (await job.state())[where];
    const made = hosts?.spawnProcs(at, { name, ...JSON.parse(further) }) ?? thisProc();
    procs.set(name, made as ProcMesh);
  },
  async actors(name, on, further = "{}") {
    const mesh = procs
      .get(on)!
      .with(JSON.parse(further))
      .spawn(name, name === "shy" ? ShyIndex : WordIndex);
    meshes.set(name, mesh as ActorMesh);
    await mesh.ready;
  },
  async publish(name, mesh) {
    await publish(name, meshes.get(mesh)!);
  },
  async lookup(name) {
    meshes.set(name, await lookup<IndexMesh>(name));
  },
  register() {
    buffers.push(RdmaBuffer.register(new Uint8Array(16)));
  },
  async drop() {
    await Promise.all(buffers.map((buffer) => buffer.drop()));
  },
  hook() {
    onUnhandledFault(() => {
      faults++;
    });
  },
  /** The number of faults that the hook has seen. */
  faults: () => faults,
  unhook() {
    onUnhandledFault(undefined);
  },
  async add(mesh, word) {
    return [...(await indexOf(mesh).add.call(word)).values()];
  },
  /** Resizes a mesh of processes, and a mesh of actors on them. */
  async resize(on, mesh, shards) {
    const resized = procs.get(on)!.resize({ shards: Number(shards) });
    procs.set(on, resized);
    meshes.set(mesh, resized.resizeActors(meshes.get(mesh)!));
    await meshes.get(mesh)!.ready;
  },
  /** Lets the actors on a host fail as soon as there is a file. */
  failAt(mesh, hosts, file) {
    const failing = (indexOf(mesh) as IndexMesh<"hosts">).slice({ hosts: Number(hosts) });
    failing.block.broadcast(file);
    failing.fail.broadcast(`found ${file}`);
  },
  /** What the calls to all actors bring: answers, and messages of errors. */
  async outcomes(mesh) {
    const settled = [...(await indexOf(mesh).add.callSettled("x")).values()];
    return settled.map((each) => (each.status === "fulfilled" ? each.value : (each.reason as Error).message));
  },
  async states(mesh) {
    return [...(await indexOf(mesh).add.callSettled("x")).values()].map(({ status }) => status);
  },
  async where(mesh) {
    return [...(await indexOf(mesh).where.call()).values()].map(({ pid }) => pid);
  },
  /** Begins a call, whose outcome `outcome` returns. */
  begin(mesh, ms) {
    const call = indexOf(mesh).sleep.call(Number(ms));
    calls.set(
      mesh,
      call.then(
        () => "answered",
        (error: Error) => `${error.name}: ${error.message}`,
      ),
    );
  },
  outcome: (mesh) => calls.get(mesh),
  async stop(mesh) {
    await (meshes.get(mesh) ?? procs.get(mesh))!.stop();
  },
  async detach(drain = "5000") {
    await job.detach({ drain: Number(drain) });
  },
  async kill() {
    await job.kill();
  },
  active: () => job.active,
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
