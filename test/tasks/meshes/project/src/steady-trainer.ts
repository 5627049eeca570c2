import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { JobContext, type ObjectRef } from "viceroy/tasks";
import { type Batch, TrainerActor } from "../generated/trainer.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Records of the use of memory are smaller files of the same kind. */
const recordBytes = 2 ** 20;

/** Returns the inodes of the sealed memory that a process has open or mapped. */
export function inodesOf(pid: number | "self"): string[] {
  const found = new Set<string>();
  for (const file of readdirSync(`/proc/${pid}/fd`)) {
    try {
      if (readlinkSync(`/proc/${pid}/fd/${file}`) !== "/memfd:viceroy (deleted)") continue;
      const { ino, size } = statSync(`/proc/${pid}/fd/${file}`);
      if (size > recordBytes) found.add(String(ino));
    } catch {
      // It was closed meanwhile.
    }
  }
  for (const line of readFileSync(`/proc/${pid}/maps`, "utf8").split("\n")) {
    if (!line.endsWith("/memfd:viceroy (deleted)")) continue;
    const [range, , , , ino] = line.split(/ +/);
    const [from, to] = range!.split("-").map((address) => Number.parseInt(address, 16));
    if (to! - from! > recordBytes) found.add(ino!);
  }
  return [...found].sort();
}

export class SteadyTrainer extends TrainerActor {
  readonly #initial: ObjectRef<number> | undefined;
  #kept: ObjectRef<Float32Array> | undefined;
  #array: Float32Array | undefined;

  constructor(initial?: ObjectRef<number>) {
    super();
    this.#initial = initial;
  }

  async load(weights: ObjectRef<Float32Array>) {
    this.#kept = weights;
    return this.read();
  }

  keep(weights: ObjectRef<Float32Array>) {
    this.#kept = weights;
  }

  async read(timeout?: number) {
    this.#array = await this.#kept!.get(timeout === undefined ? {} : { timeout });
    const { length } = this.#array;
    return { pid: process.pid, length, first: this.#array[0]!, last: this.#array[length - 1]! };
  }

  async scribble(by: number) {
    const before = this.#array![0]!;
    this.#array!.fill(by);
    return before;
  }

  async sum({ single, many, named, maybe, layers, nested }: Batch) {
    const [array] = await Promise.all([single.get()]);
    const numbers = await Promise.all(many.map((one) => one.get()));
    const texts = await Promise.all([...named.values()].map((one) => one.get()));
    const { name, layers: byName } = await layers.get();
    const { inner, text } = await nested.get();
    const lengths = [...texts, name, text].reduce((sum, { length }) => sum + length, 0);
    const small = [
      ...numbers,
      maybe === undefined ? 0 : await maybe.get(),
      await inner.get(),
      byName.get("first")![0]!,
    ];
    return array[0]! + lengths + small.reduce((sum, one) => sum + one, 0);
  }

  number(value: ObjectRef<number>) {
    return value.get();
  }

  async initial() {
    return (await this.#initial?.get()) ?? -1;
  }

  give() {
    return { weights: this.#kept! };
  }

  async *giveMany(count: number) {
    for (let i = 0; i < count; i++) yield { weights: this.#kept! };
  }

  async drop() {
    this.#kept = undefined;
    this.#array = undefined;
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      collect();
    }
  }

  inodes() {
    return inodesOf("self");
  }

  whyNot() {
    return this.#kept!.get().then(
      () => "there is a value",
      (error: Error) => `${error.name}: ${error.message}`,
    );
  }

  release() {
    this.#kept!.release();
  }

  startTasks() {
    try {
      return String(JobContext.current());
    } catch (error) {
      return (error as Error).message;
    }
  }
}
