/**
 * What is generated from a schema, as types: calls with the right arguments and dimensions compile, others do not; base
 * classes ask for every endpoint. Checked by the type checker alone; nothing here runs.
 */
import type { Actor, ActorDescriptor, Apply } from "viceroy/codegen/v1";
import type { Future } from "../../runtime/actor/call/future.js";
import type { Port } from "../../runtime/actor/port/port.js";
import type { ProcMesh } from "../../runtime/host/mesh/proc-mesh.js";
import { type Point, range, type ValueMesh } from "../../runtime/shape/index.js";
import {
  type Config,
  CounterActor,
  type CounterKind,
  type CounterMesh,
} from "../compiler/emit/golden/actors/expected/actors.js";
import type { WorkerMesh } from "../compiler/emit/golden/actors/expected/deep/worker.js";
import { type Choices, Level } from "../compiler/emit/golden/choices/expected/choices.js";
import type { NamedMesh } from "../compiler/emit/golden/inheritance/expected/base.js";
import type { GreeterMesh, LoudGreeterMesh } from "../compiler/emit/golden/inheritance/expected/derived.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_proof: Same<A, B>): void {}

declare const counters: CounterMesh<"hosts" | "gpus">;
declare const line: CounterMesh<"gpus">;
declare const anywhere: CounterMesh;
declare const config: Config;

/** Calls take what the schema says. */
export function calls(): void {
  same<ReturnType<typeof line.value.call>, Future<ValueMesh<number, "gpus">>>(true);
  same<ReturnType<typeof line.value.callOne>, Future<number>>(true);
  same<ReturnType<typeof line.get.choose>, Future<string | null>>(true);
  line.increment.broadcast();
  line.increment.broadcast(1);
  line.configure.call(config, true);
  line.configure.call({ name: "n", size: 1 }, true, "why");
  // @ts-expect-error: no number
  line.increment.call("1");
  // @ts-expect-error: one too many
  line.increment.call(1, 2);
  // @ts-expect-error: one too few
  line.configure.call(config);
  // @ts-expect-error: not a Config
  line.configure.call({ size: 1 }, true);
  // @ts-expect-error: not in the schema
  line.decrement.call(1);
}

declare const grid: ProcMesh<"hosts" | "gpus">;
declare const row: ProcMesh<"gpus">;

/** A mesh that is resized keeps its dimensions, and so do the actors on it. */
export function resizing(): void {
  same<ReturnType<typeof grid.resize>, ProcMesh<"hosts" | "gpus">>(true);
  grid.resize({ gpus: 8 });
  grid.resize({ hosts: 2 }, { drain: 100 });
  const resized = row.resize({ gpus: 8 }).resizeActors(line);
  same<typeof resized, CounterMesh<"gpus">>(true);
  // @ts-expect-error: two dimensions
  grid.resize({ hosts: 2, gpus: 8 });
  // @ts-expect-error: not a dimension
  grid.resize({ nodes: 2 });
  // @ts-expect-error: no dimension
  grid.resize({});
  // @ts-expect-error: not a number
  row.resize({ gpus: "8" });
  // @ts-expect-error: not an option
  row.resize({ gpus: 8 }, { reason: "why" });
  // @ts-expect-error: the actors have other dimensions
  row.resizeActors(counters);
}

/** With `@respond` the port is not the caller's business. */
export function responses(): void {
  same<ReturnType<typeof line.ask.callOne>, Future<string>>(true);
  line.ask.callOne("question");
  // @ts-expect-error: the port is the handler's
  line.ask.callOne(port, "question");
}
declare const port: Port<string>;

/** `reduce`: what the schema says with `@reduce`, or what the caller says. */
export function reductions(): void {
  same<ReturnType<typeof line.total.reduce>, Future<number>>(true);
  line.total.reduce();
  line.total.reduce(undefined);
  const most: Future<number> = line.total.reduce("max");
  const both: Future<number> = line.value.reduce((a, b) => a + b);
  // @ts-expect-error: no `@reduce`
  line.value.reduce();
  return void [most, both];
}

/** Streams. */
export async function streams(): Promise<void> {
  for await (const [point, value] of line.watch.stream(2)) {
    same<typeof point, Point<"gpus">>(true);
    same<typeof value, number>(true);
  }
  // @ts-expect-error: a stream has no single answer
  line.watch.callOne(2);
}

/** Dimensions. */
export function dimensions(): void {
  const host = counters.slice({ hosts: 0 });
  same<typeof host, CounterMesh<"gpus">>(true);
  const part = counters.slice({ gpus: range(0, 2) });
  same<typeof part, CounterMesh<"hosts" | "gpus">>(true);
  const renamed = line.rename({ gpus: "tp" });
  same<typeof renamed, CounterMesh<"tp">>(true);
  const flat = counters.flatten("rank");
  same<typeof flat, CounterMesh<"rank">>(true);
  same<Apply<CounterKind, "a">, CounterMesh<"a">>(true);
  // @ts-expect-error: no such dimension
  line.slice({ hosts: 0 });
  // @ts-expect-error: no such dimension left
  counters.slice({ hosts: 0 }).slice({ hosts: 0 });
}

/** Meshes as arguments. */
export function meshesAsArguments(gpus: WorkerMesh<"gpus">, both: WorkerMesh<"hosts" | "gpus">): void {
  line.workers.call(gpus, both);
  line.others.stream(line);
  line.others.stream(anywhere);
  // @ts-expect-error: other dimensions than the schema asks for
  line.workers.call(both, gpus);
}

/** A mesh of an actor that extends another one's interface can stand for it. */
export function substitution(loud: LoudGreeterMesh<"gpus">): void {
  const greeter: GreeterMesh<"gpus"> = loud;
  const named: NamedMesh<"gpus"> = greeter;
  const unnamed: NamedMesh = loud;
  // @ts-expect-error: not the other way round
  const louder: LoudGreeterMesh<"gpus"> = named;
  void [named, unnamed, louder];
}

/** Implementations. */
abstract class Halfway extends CounterActor {
  value(): number {
    return 1;
  }
}
// @ts-expect-error: endpoints are missing
export class Missing extends Halfway {}
export abstract class Wrong extends CounterActor {
  // @ts-expect-error: the wrong type
  value(): string {
    return "1";
  }
}
export abstract class Fine extends CounterActor {
  constructor(initial: number, _config?: Config) {
    super();
    void initial;
  }
  increment(by = 1): void {
    void by;
  }
  async value(): Promise<number> {
    return 1;
  }
  async *watch(count: number): AsyncGenerator<number> {
    yield count;
  }
  ask(port: Port<string>, question: string): void {
    port.send(question);
  }
}
const actor: typeof Actor = CounterActor;
void actor;

/** Spawning: the class says which arguments, and which mesh. */
export function spawning(procs: ProcMesh<"hosts" | "gpus">): void {
  const spawned = procs.spawn("counters", MemoryCounter, 3, config);
  same<typeof spawned, CounterMesh<"hosts" | "gpus">>(true);
  const row = procs.slice({ hosts: 0 }).spawn("row", MemoryCounter, 3);
  same<typeof row, CounterMesh<"gpus">>(true);
  // @ts-expect-error: the wrong argument
  procs.spawn("counters", MemoryCounter, "3");
  // @ts-expect-error: no argument
  procs.spawn("counters", MemoryCounter);
  // @ts-expect-error: the constructor takes something else than the schema says
  procs.spawn("counters", MisbuiltCounter, 3);
  procs.spawn("counters", ModestCounter, 3);
  // @ts-expect-error: not a class of an actor
  procs.spawn("counters", Date);
  // @ts-expect-error: abstract
  procs.spawn("counters", CounterActor, 3);
}
declare const MemoryCounter: {
  new (initial: number, config?: Config): CounterActor;
  readonly descriptor: ActorDescriptor;
};

declare const MisbuiltCounter: {
  new (initial: string): CounterActor;
  readonly descriptor: ActorDescriptor;
};
declare const ModestCounter: {
  new (): CounterActor;
  readonly descriptor: ActorDescriptor;
};

/** Enumerations are their values. */
export const choices: Pick<Choices, "level" | "direction"> = { level: Level.Info, direction: "north" };
export const plain: Pick<Choices, "level"> = { level: 20 };
// @ts-expect-error: no such value
export const unknown: Pick<Choices, "level"> = { level: 21 };
