/** Waits for results: meanwhile the task lets others run, and a wait that cannot end is found out. */

import type { TaskOrigin } from "../../../generated/tasks.js";
import { DeadlockError } from "../../index.js";
import type { ObjectRef } from "../refs/object-ref.js";
import { currentScope, type RunningTask } from "./current.js";
import { type ContextMember, originOf } from "./member.js";

/** The time in ms between two looks at tasks that may wait for this one. */
const DEADLOCK_CHECK_MS = 250;

/**
 * Awaits `settled`. If a task of the context runs this code, it gives its place up meanwhile.
 * @param refs the references that are waited for
 */
export async function whileWaiting<T>(
  member: ContextMember,
  refs: readonly ObjectRef<unknown>[],
  settled: Promise<T>,
): Promise<T> {
  const scope = currentScope();
  const task = scope?.task;
  if (task === undefined) return settled;
  const { proc } = member;
  const own = refs.map((ref) => originOf(ref)).filter((origin) => origin.proc === proc);
  const deadlocks = refs.filter((ref) => indexInChain(ref, task.chain) >= 0);
  for (const ref of deadlocks) if (indexInChain(ref, task.chain) === 0) throw waitsForItself(task, ref);
  for (const { id } of own) task.awaited.set(id, (task.awaited.get(id) ?? 0) + 1);
  task.suspend();
  try {
    return await (deadlocks.length === 0 ? settled : Promise.race([settled, untilDeadlock(member, task, deadlocks)]));
  } finally {
    task.resume();
    for (const { id } of own) {
      const left = task.awaited.get(id)! - 1;
      if (left === 0) task.awaited.delete(id);
      else task.awaited.set(id, left);
    }
  }
}

function indexInChain(ref: ObjectRef<unknown>, chain: readonly TaskOrigin[]): number {
  const { proc, id } = originOf(ref);
  return chain.findIndex((link) => link.proc === proc && link.id === id);
}

function waitsForItself(task: RunningTask, ref: ObjectRef<unknown>): DeadlockError {
  return new DeadlockError(`task ${task.label} waits for its own result, ${ref.label}, so that it would never end`);
}

/** Rejects when a task that is waited for waits, directly or through others, for this one. */
function untilDeadlock(member: ContextMember, task: RunningTask, refs: readonly ObjectRef<unknown>[]): Promise<never> {
  return new Promise((_, reject) => {
    const look = async (): Promise<void> => {
      const waiting = refs.filter(({ isSettled }) => !isSettled);
      if (waiting.length === 0 || member.closed !== undefined) return;
      for (const ref of waiting) {
        if (await isAwaitedUpTo(member, task.chain, indexInChain(ref, task.chain))) {
          reject(
            new DeadlockError(
              `task ${task.label} waits for the result of ${ref.label}, which waits for ${task.label}: ` +
                "neither would ever end; return the value, or pass it as an argument",
            ),
          );
          return;
        }
      }
      member.clock.after(DEADLOCK_CHECK_MS, () => void look());
    };
    void look();
  });
}

/** Returns whether each task of the chain below `end` is waited for by the one that has started it. */
async function isAwaitedUpTo(member: ContextMember, chain: readonly TaskOrigin[], end: number): Promise<boolean> {
  for (const { owner, id } of chain.slice(0, end)) {
    if (owner === undefined) return false;
    const isAwaited = await new Promise<boolean>((resolve) => {
      member.inTurn(() => {
        owner.isAwaited.callOne(id).then(resolve, () => resolve(false));
      });
    });
    if (!isAwaited) return false;
  }
  return true;
}
