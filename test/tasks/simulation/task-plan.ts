/** What the tasks of simulated contexts do. Plans are drawn before a run, so that a run without some of them can be repeated. */
import type { Seeded } from "../../../runtime/testing/index.js";

/**
 * - `sleep`: works for a while. It ends early when it is cancelled.
 * - `stubborn`: works for a while, also when it is cancelled.
 * - `throw`: throws after a while.
 * - `nest`: starts its children, and waits for them by `get`.
 * - `pick`: starts its children, and waits for some of them by `wait`.
 */
export type TaskKind = "sleep" | "stubborn" | "throw" | "nest" | "pick";

/** The resources of a task: a processor, one slot, or all slots of a host. Only tasks without children use slots. */
export type TaskNeeds = "cpu" | "slot" | "all slots";

export interface TaskPlan {
  readonly kind: TaskKind;
  /** The duration of its work in ms of virtual time. */
  readonly ms: number;
  readonly idempotent: boolean;
  readonly needs: TaskNeeds;
  readonly children: readonly TaskPlan[];
  /** Whether each child gets the result of the one before it as an argument. */
  readonly isChain: boolean;
}

const leaves: readonly TaskKind[] = ["sleep", "sleep", "sleep", "sleep", "sleep", "throw", "stubborn"];
const needs: readonly TaskNeeds[] = ["cpu", "cpu", "cpu", "slot", "slot", "slot", "all slots"];

/** @param depth the number of levels of children that are possible */
export function drawTask(random: Seeded, depth = 2): TaskPlan {
  const isNested = depth > 0 && random.chance(0.2);
  const kind = isNested ? random.pick(["nest", "nest", "pick"] as const) : random.pick(leaves);
  const ms = random.chance(0.1) ? 50 + random.int(300) : random.int(15);
  const own = { kind, ms, idempotent: random.chance(0.5), isChain: random.chance(0.3) };
  const count = isNested ? 1 + random.int(4) : 0;
  const drawn = random.pick(needs);
  const children = Array.from({ length: count }, () => drawTask(random, depth - 1));
  return { ...own, needs: isNested ? "cpu" : drawn, children };
}
