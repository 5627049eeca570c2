/** Starts a task: encodes its arguments, waits for those that are results of others, and passes it on. */

import type { TaskOrigin } from "../../../generated/tasks.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { TaskError } from "../errors.js";
import { ObjectRef, recordOf } from "../refs/object-ref.js";
import { Result } from "../refs/result.js";
import { PendingTask, RunTimes } from "../submit/pending-task.js";
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
  const pending = new PendingTask(task, result, timesOf(task), retries, chainOf(member, result.id));
  const parts: (Uint8Array | ObjectRef<unknown>)[] = [];
  let held: object[] | undefined;
  let isComplete = plan.ready === undefined;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    if (arg instanceof ObjectRef) {
      isComplete = false;
      const own = member.own(arg, `cannot run ${label}`);
      parts.push(own);
      held ??= [];
      held.push(own);
    } else {
      const { bytes, refs } = member.keepingRefs(argumentCodec(task, i, member), arg, placeOf(task, i));
      parts.push(bytes);
      if (refs !== undefined) {
        held ??= [];
        held.push(...refs);
      }
    }
  }
  pending.held = held;
  if (isComplete) {
    pending.args = encodeArguments(label, parts as Uint8Array[]);
    member.submit(pending, plan.nextClass());
  } else {
    startLater(member, plan, pending, parts);
  }
  return new ObjectRef({ member, result, codec: resultCodec(task, member), remote: undefined });
}

/** Starts a task when its arguments are there, and the versions of its packages are known. */
function startLater(
  member: ContextMember,
  plan: RunPlan,
  pending: PendingTask,
  parts: readonly (Uint8Array | ObjectRef<unknown>)[],
): void {
  const { task, label, result } = pending;
  const taskClass = plan.ready === undefined ? plan.nextClass() : undefined;
  const submit = () => {
    if (result.isSettled) return;
    try {
      pending.args = encodeArguments(
        label,
        parts.map((part, i) => (part instanceof ObjectRef ? passOn(member, task, i, part) : part)),
      );
      member.submit(pending, taskClass ?? plan.nextClass());
    } catch (error) {
      result.reject(error as Error);
    }
  };
  const begin = () => whenAllSettled(parts, label, result, submit);
  if (plan.ready === undefined) begin();
  else plan.ready.then(begin, (error: Error) => result.reject(error));
}

/** Calls `ready` when all references have values. If one has failed, the task fails without being run. */
function whenAllSettled(
  parts: readonly (Uint8Array | ObjectRef<unknown>)[],
  label: string,
  result: Result,
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
    argument.whenSettled(() => {
      const cause = argument.error;
      if (cause !== undefined) {
        const text = `task ${label} was not run: argument ${i + 1}, the result of ${part.label}, has failed: ${cause.message}`;
        result.reject(new TaskError(text, { task: label, remoteName: cause.name, cause }));
      } else if (codec.load === undefined) {
        one();
      } else {
        codec.load().then(one, (error: Error) => result.reject(error));
      }
    });
  }
  one();
}

/** Returns the encoded value of a reference as an argument: as it is if the types are equal. */
function passOn(member: ContextMember, task: Task, index: number, ref: ObjectRef<unknown>): Uint8Array {
  const { result, codec } = recordOf(ref);
  const bytes = result.bytes;
  // It was released after it had settled.
  if (bytes === undefined) throw result.error!;
  const wanted = argumentCodec(task, index, member);
  if (wanted.fingerprint === codec.fingerprint) return bytes;
  return wanted.encode(codec.decode(bytes), placeOf(task, index));
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
