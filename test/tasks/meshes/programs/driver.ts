/**
 * Has large values in a context on the first host, and meshes of trainers: `beside` runs on this host, next to the context, and `apart` on
 * the other hosts, which have no part in the context. It serves calls of the functions below.
 */
import { attachHosts, onUnhandledFault } from "viceroy";
import { JobContext, type ObjectRef } from "viceroy/tasks";
import { filledFloats, first } from "../../../fixtures/tasks/large-values.js";
import { serveCalls } from "../../objects/programs/serve-calls.js";
import "../project/generated/registry.js";
import { SteadyTrainer } from "../project/src/steady-trainer.js";

const [firstHost, ...others] = process.argv.slice(2);
const options = { timeout: 10_000, silence: 10_000 };
await using hosts = attachHosts([firstHost!], options);
await using otherHosts = attachHosts(others, options);
await using context = await JobContext.open({ hosts, procs: 1, resources: { cpus: 1 } });
// Processes are killed.
onUnhandledFault(() => {});

const meshes = {
  beside: hosts.spawnProcs({ gpus: 4 }, { name: "beside" }).spawn("trainers beside", SteadyTrainer),
  apart: otherHosts.spawnProcs({ gpus: 4 }, { name: "apart" }).spawn("trainers apart", SteadyTrainer),
};
const refs = new Map<string, ObjectRef<Float32Array>>();

await serveCalls({
  /** Starts all processes. */
  warm: () =>
    Promise.all([context.run(filledFloats, 1, 1).get(), ...Object.values(meshes).map((mesh) => mesh.initial.call())]),
  put(name: string, length: number, value: number) {
    refs.set(name, context.put(new Float32Array(length).fill(value)));
  },
  /** Makes a value by a task on the first host. */
  async make(name: string, length: number, value: number) {
    const ref = context.run(filledFloats, length, value);
    refs.set(name, ref);
    await context.wait([ref]);
  },
  /** Lets all trainers of a mesh read a value. Returns the first number that each of them has read. */
  async load(name: string, mesh: keyof typeof meshes) {
    const readings = await meshes[mesh].load.call(refs.get(name)!);
    return [...readings.values()].map((reading) => reading.first);
  },
  /** Lets the trainers of the first host of `apart` read a value. Returns what each has read; null: it has failed. */
  loadEach: (name: string) =>
    Promise.all(
      [0, 1, 2, 3].map((gpus) =>
        meshes.apart
          .slice({ hosts: 0, gpus })
          .load.callOne(refs.get(name)!)
          .then(
            (reading) => reading.first,
            () => null,
          ),
      ),
    ),
  /** Lets all trainers drop what they have read. */
  drop: () => Promise.all(Object.values(meshes).map((mesh) => mesh.drop.call())).then(() => {}),
  /** Lets a task on the first host read a value. */
  read: (name: string) => context.run(first, refs.get(name)!).get(),
  release: (name: string) => refs.get(name)!.release(),
});
