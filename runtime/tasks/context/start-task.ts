/** Starts a task: encodes its arguments, waits for those that are results of others, and passes it on. */

import type { TaskOrigin } from "../../../generated/tasks.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { bytesOfHeld, decodeHeld } from "../objects/held-value.js";
import { ObjectRef, recordOf } from "../refs/object-ref.js";
import { Recipe, type RecipeOptions, type RecipePart } from "../refs/recipe.js";
import { Result } from "../refs/result.js";
import { failedArgument } from "../submit/failed-argument.js";
import { PendingTask, RunTimes } from "../submit/pending-task.js";
import { classNear } from "../submit/task-class.js";
import { Task } from "../task-object.js";
import { encodeArguments, type PlainPlace } from "../values/index.js";
import { argumentCodec, resultCodec } from "../values-of-task.js";
import { currentScope } from "./current.js";
import type { ContextMember } from "./member.js";
import type { RunPlan } from "./plan-run.js";

/** The number of retries of an idempotent task. */
const defaultRetries = 3;

const runTimes = new WeakMap<Task, RunTimes>();

/** @throws TypeError if the arguments do not fit the task */
export function startTask(
  member: ContextMember,
  plan: RunPlan,
  task: Task,
  args: readonly unknown[],
): ObjectRef<unknown> {
  if (!(task instanceof Task)) {
    throw new TypeError(
      `cannot run a task: expected what task(import.meta.url, "<name>", …) returns, got ${describeValue(task)}`,
    );
  }
  const label = plan.name ?? task.name;
  member.checkOpen(`cannot run ${label}`);
  checkArity(task, args);
  const result = new Result(member.newResultId(), label);
  const retries = retriesOf(plan, task, label);
  const chain = chainOf(member, result.id);
  const pending = new PendingTask(task, result, timesOf(task), retries, chain);
  const start: TaskStart = { member, plan, task, chain };
  const parts = new Array<Uint8Array | ObjectRef<unknown>>(args.length);
  let held: object[] | undefined;
  let isComplete = plan.ready === undefined;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    if (arg instanceof ObjectRef) {
      isComplete = false;
      const own = member.refs.own(arg, `cannot run ${label}`);
      parts[i] = own;
      held ??= [];
      held.push(own);
    } else {
      const { bytes, refs } = member.refs.keeping(argumentCodec(task, i, member), arg, placeOf(task, i));
      parts[i] = bytes;
      if (refs !== undefined) {
        held ??= [];
        held.push(...refs);
      }
    }
  }
  pending.held = held;
  if (isComplete) {
    pending.args = encodeArguments(label, parts as Uint8Array[]);
    if (retries > 0) result.recipe = recipeOf(start, retries, result, parts);
    member.submit(pending, plan.nextClass());
  } else {
    startLater(start, pending, parts);
  }
  return new ObjectRef({ member, result, codec: resultCodec(task, member), remote: undefined });
}

/** The parts that all runs of a task have in common. */
interface TaskStart {
  readonly member: ContextMember;
  readonly plan: RunPlan;
  readonly task: Task;
  readonly chain: TaskOrigin[] | undefined;
}

/** Returns how the result of a task that may run again is made again. */
function recipeOf(start: TaskStart, retries: number, result: Result, parts: readonly RecipePart[]): Recipe {
  const { member, task, chain } = start;
  const options: RecipeOptions = {
    ...{ member, label: result.label, retries, drops: member.drops },
    newId: () => member.newResultId(),
    run: (again, left, given) => {
      const pending = new PendingTask(task, again, timesOf(task), left, chain);
      pending.held = given.filter((part) => part instanceof ObjectRef);
      startLater(start, pending, given);
    },
  };
  return new Recipe(options, result, parts);
}

/** Starts a task when its arguments are there, and the versions of its packages are known. */
function startLater(start: TaskStart, pending: PendingTask, parts: readonly RecipePart[]): void {
  const { member, plan } = start;
  const { result } = pending;
  const taskClass = plan.ready === undefined ? plan.nextClass() : undefined;
  const submit = () => {
    if (result.isSettled) return;
    try {
      const near = encodeParts(start, pending, parts);
      member.submit(pending, classNear(taskClass ?? plan.nextClass(), near));
    } catch (error) {
      result.reject(error as Error);
    }
  };
  const begin = () => whenAllThere(member, pending, parts, submit);
  if (plan.ready === undefined) begin();
  else plan.ready.then(begin, (error: Error) => result.reject(error));
}

/**
 * Calls `ready` when all references have values, here or at their owners. If one has failed, the task fails without being run.
 */
function whenAllThere(
  member: ContextMember,
  { task, label, result }: PendingTask,
  parts: readonly (Uint8Array | ObjectRef<unknown>)[],
  ready: () => void,
): void {
  let left = 1;
  const one = () => {
    if (--left === 0) ready();
  };
  for (const [i, part] of parts.entries()) {
    if (!(part instanceof ObjectRef)) continue;
    left++;
    const { result: argument, codec } = recordOf(part);
    const there = () => {
      const cause = argument.error;
      if (cause !== undefined) {
        result.reject(failedArgument(label, i, part.label, cause));
      } else if (argument.value === undefined && !isPassedOn(member, task, i, part)) {
        // The value must be encoded in another way here.
        argument.whenSettled(there);
      } else {
        one();
      }
    };
    const loaded = () => {
      if (codec.load === undefined || argument.error !== undefined) there();
      else codec.load().then(there, (error: Error) => result.reject(error));
    };
    argument.whenDone(loaded);
  }
  one();
}

/** Encodes the arguments of a task. Returns the host that has most of them, if this one has fewer. */
function encodeParts(start: TaskStart, pending: PendingTask, parts: readonly RecipePart[]): number | undefined {
  const { member } = start;
  const { result: own, retries } = pending;
  const isFetched = (part: unknown, i: number) => part instanceof ObjectRef && isApart(member, pending.task, i, part);
  const large = parts.flatMap((part, i) => (isFetched(part, i) ? [i] : []));
  const encoded = parts.map((part, i) => (part instanceof ObjectRef ? passOn(member, pending.task, i, part) : part));
  pending.args = encodeArguments(pending.label, encoded);
  if (retries > 0) {
    const kept = parts.map((part, i) => (large.includes(i) ? part : encoded[i]!));
    own.recipe ??= recipeOf(start, retries, own, kept);
  }
  if (large.length === 0) return undefined;
  pending.fetched = large;
  const here = encoded.reduce((sum, { length }, i) => (large.includes(i) ? sum : sum + length), 0);
  const bytesAt = new Map<number | undefined, number>([[member.host, here]]);
  for (const i of large) {
    const ref = parts[i] as ObjectRef<unknown>;
    const { result } = recordOf(ref);
    const host = result.elsewhere === undefined ? member.host : result.elsewhere.host;
    bytesAt.set(host, (bytesAt.get(host) ?? 0) + (result.size ?? 0));
  }
  const [near] = [...bytesAt].reduce((most, one) => (one[1] > most[1] ? one : most));
  return near === member.host ? undefined : near;
}

/** Returns whether the worker gets a large argument by its reference: this process does not have it, or it is in the memory of the machine. */
function isApart(member: ContextMember, task: Task, index: number, ref: ObjectRef<unknown>): boolean {
  const { result } = recordOf(ref);
  if (result.isElsewhere) return true;
  return result.stored !== undefined && isPassedOn(member, task, index, ref);
}

/** Returns whether the encoded value of a reference is an argument as it is. */
function isPassedOn(member: ContextMember, task: Task, index: number, ref: ObjectRef<unknown>): boolean {
  return argumentCodec(task, index, member).fingerprint === recordOf(ref).codec.fingerprint;
}

/** Returns the encoded value of a reference as an argument: as it is if the types are equal, or the reference if its owner has it. */
function passOn(member: ContextMember, task: Task, index: number, ref: ObjectRef<unknown>): Uint8Array {
  const { result, codec } = recordOf(ref);
  if (isApart(member, task, index, ref)) return member.refs.write(ref);
  const { value } = result;
  // It was released after it had settled.
  if (value === undefined) throw result.error!;
  if (isPassedOn(member, task, index, ref)) return bytesOfHeld(value);
  return argumentCodec(task, index, member).encode(decodeHeld(codec, value, {}), placeOf(task, index));
}

const places = new WeakMap<Task, PlainPlace[]>();

function placeOf(task: Task, index: number): PlainPlace {
  let known = places.get(task);
  if (known === undefined) {
    known = [];
    places.set(task, known);
  }
  known[index] ??= { kind: "argument", task: task.name, index };
  return known[index];
}

function checkArity({ schema, name }: Task, args: readonly unknown[]): void {
  if (schema === undefined) return;
  const most = schema.args.length;
  if (args.length >= schema.minArgs && args.length <= most) return;
  const expected = schema.minArgs === most ? `${most}` : `${schema.minArgs} to ${most}`;
  throw new TypeError(
    `cannot run ${name}: expected ${expected} arguments (${schema.argNames.join(", ")}), got ${args.length}`,
  );
}

function timesOf(task: Task): RunTimes {
  let known = runTimes.get(task);
  if (known === undefined) {
    known = new RunTimes();
    runTimes.set(task, known);
  }
  return known;
}

function retriesOf({ retries }: RunPlan, { idempotent }: Task, label: string): number {
  if (retries === undefined) return idempotent ? defaultRetries : 0;
  if (retries === 0 || idempotent) return retries;
  throw new TypeError(
    `cannot run ${label}: retries need a task that can run several times: define it with { idempotent: true }`,
  );
}

/** Returns the task and those that have started it; undefined outside of tasks. */
function chainOf(member: ContextMember, id: number): TaskOrigin[] | undefined {
  const task = currentScope()?.task;
  if (task === undefined) return undefined;
  return [{ proc: member.proc, id, owner: member.ownerMesh }, ...task.chain];
}
