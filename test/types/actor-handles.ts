/**
 * The types of handles of actors: all endpoints of a mesh of one, and `run` with values or references. Checked by the type
 * checker alone; nothing here runs.
 */
import type { Future } from "../../runtime/actor/call/future.js";
import type { ActorHandle } from "../../runtime/tasks/actors/actor-handle.js";
import type { JobContext } from "../../runtime/tasks/context/job-context.js";
import type { ObjectRef } from "../../runtime/tasks/refs/object-ref.js";
import type { Config, CounterActor, CounterMesh } from "../compiler/emit/golden/actors/expected/actors.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_proof: Same<A, B>): void {}

declare const Counter: { new (initial: number, config?: Config): CounterActor } & Pick<
  typeof CounterActor,
  "descriptor"
>;
declare const context: JobContext;
declare const counter: ActorHandle<typeof Counter>;
declare const config: Config;
declare const number: ObjectRef<number>;
declare const text: ObjectRef<string>;

/** Endpoints are those of a mesh without dimensions. */
export function adverbs(): void {
  const mesh: CounterMesh<never> = counter;
  same<ReturnType<typeof mesh.value.callOne>, Future<number>>(true);
  same<ReturnType<typeof counter.value.callOne>, Future<number>>(true);
  counter.increment.broadcast(1);
  // @ts-expect-error: no number
  counter.increment.callOne("1");
  // @ts-expect-error: not in the schema
  counter.decrement.callOne();
}

/** Each argument of `run` is a value or a reference to one, and the result is a reference. */
export function run(): void {
  same<ReturnType<typeof counter.value.run>, ObjectRef<number>>(true);
  same<ReturnType<typeof counter.get.run>, ObjectRef<string | null>>(true);
  same<ReturnType<typeof counter.increment.run>, ObjectRef<void>>(true);
  same<Parameters<typeof counter.ask.run>, [question: string | ObjectRef<string>]>(true);
  counter.increment.run();
  counter.increment.run(1);
  counter.increment.run(number);
  counter.configure.run(config, true, text);
  counter.value.with({ timeout: 1000 }).with({}).run();
  // @ts-expect-error: a reference to a text
  counter.increment.run(text);
  // @ts-expect-error: one too many
  counter.increment.run(1, 2);
  // @ts-expect-error: one too few
  counter.configure.run(config);
  // @ts-expect-error: it yields a stream
  counter.watch.run(1);
}

/** A context takes the arguments of the constructor, and returns a handle of the class. */
export async function create(): Promise<void> {
  same<Awaited<ReturnType<typeof context.actor<typeof Counter>>>, ActorHandle<typeof Counter>>(true);
  await context.actor(Counter, [3], { name: "hits", getIfExists: true, restarts: 2, resources: { cpus: 1 } });
  await context.actor(Counter, [3, config]);
  same<Awaited<ReturnType<typeof context.getActor<typeof Counter>>>, ActorHandle<typeof Counter> | undefined>(true);
  // @ts-expect-error: no number
  await context.actor(Counter, ["3"]);
  // @ts-expect-error: no such option
  await context.actor(Counter, [3], { retries: 1 });
}
