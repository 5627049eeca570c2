/** The actor in a worker process, which runs tasks. */
import {
  type ObjectEntry,
  type TaskFunction,
  type TaskOrder,
  type TaskOutcome,
  TaskWorkerActor,
  type WorkerOptions,
} from "../../../generated/tasks.js";
import { context as handlerContext } from "../../index.js";
import { makeContext } from "../context/context-factory.js";
import { joinContext } from "../context/join-context.js";
import type { ContextMember } from "../context/member.js";
import { findFunction, type TaskImplementation } from "../function-registry.js";
import { currentTurn, mainClock } from "../kernel.js";
import { tell } from "../tell.js";
import { BegunFile } from "./begun-file.js";
import { LeaseSlot, type SlotHost } from "./lease-slot.js";
import { type RunEnvironment, TaskRun } from "./task-run.js";

/** The tasks of one lease, and the functions that have been named in it. */
interface LeaseState {
  readonly slot: LeaseSlot;
  readonly functions: Functions;
  readonly environment: RunEnvironment;
  /** End what is kept of results that their receivers do not have yet, by the numbers of their tasks. */
  readonly kept: Map<number, () => void>;
  /** The process that sends the tasks of the lease. */
  readonly holder: bigint;
}

/** @internal */
export class PoolWorker extends TaskWorkerActor {
  readonly #leases = new Map<number, LeaseState>();
  #context: { readonly member: ContextMember; readonly context: object; readonly options: WorkerOptions } | undefined;
  #begun: BegunFile | undefined;

  configure(options: WorkerOptions): void {
    const { begunFile, context } = options;
    if (begunFile !== undefined) this.#begun = BegunFile.open(begunFile, context);
    const member = joinContext(options);
    this.#context = { member, context: makeContext(member), options };
  }

  run(order: TaskOrder): Promise<TaskOutcome> | TaskOutcome {
    if (this.#context === undefined) throw new Error("cannot run a task: this worker was not configured");
    const lease = this.#leaseOf(order.lease);
    // A task can be handed back before it begins: the function is known from then on nevertheless.
    if (order.defines !== undefined) define(lease.functions, order.fn, order.defines);
    const chain = order.chain ?? [{ proc: lease.holder, id: order.id }];
    const run = new TaskRun(order, chain, lease.environment, currentTurn()!);
    lease.slot.add(run);
    return run.outcome;
  }

  cancel(lease: number, id: number): void {
    this.#leases.get(lease)?.slot.cancel(id);
  }

  takeBack(lease: number): void {
    this.#leases.get(lease)?.slot.takeBack();
  }

  async endLease(lease: number): Promise<void> {
    const state = this.#leases.get(lease);
    await state?.slot.end();
    for (const close of state?.kept.values() ?? []) close();
    this.#leases.delete(lease);
    this.#begun?.forget(lease);
    this.#context?.member.refs.tasksEnded();
  }

  taken(lease: number, id: number): void {
    const kept = this.#leases.get(lease)?.kept;
    kept?.get(id)?.();
    kept?.delete(id);
  }

  objects(): ObjectEntry[] {
    return this.#context?.member.refs.largeResults() ?? [];
  }

  override cleanup(): void {
    this.#context?.member.close("the worker process ends");
  }

  #leaseOf(id: number): LeaseState {
    let lease = this.#leases.get(id);
    if (lease === undefined) {
      const holder = handlerContext().caller.id.proc;
      const { member, context } = this.#context!;
      const slot = new LeaseSlot(this.#hostOf(id));
      const functions: Functions = new Map();
      const find = (fn: number) => findDefined(functions, fn);
      const begins = (order: number) => this.#begun?.record(id, order);
      const kept = new Map<number, () => void>();
      const keep = (task: number, close: () => void) => void kept.set(task, close);
      const environment = { context, member, slot, find, begins, keep, now: () => mainClock().now() };
      lease = { slot, functions, holder, environment, kept };
      this.#leases.set(id, lease);
    }
    return lease;
  }

  #hostOf(lease: number): SlotHost {
    const { member, options } = this.#context!;
    const { host } = options;
    return {
      suspend: () => member.inTurn(() => tell(host, () => host.suspend.broadcast(lease))),
      resume: () => member.inTurn(() => tell(host, () => host.resume.broadcast(lease))),
      later: (body) => mainClock().nextTurn(body),
    };
  }
}

type Functions = Map<number, TaskImplementation | Promise<TaskImplementation> | Error>;

/** Begins to look for a function. Its module is imported once, and an error is kept for all tasks of the lease. */
function define(functions: Functions, fn: number, defines: TaskFunction): void {
  let found: TaskImplementation | Promise<TaskImplementation> | Error;
  try {
    found = findFunction(defines);
  } catch (error) {
    found = error as Error;
  }
  functions.set(fn, found);
  if (!(found instanceof Promise)) return;
  found.then(
    (implementation) => functions.set(fn, implementation),
    (error: Error) => functions.set(fn, error),
  );
}

function findDefined(functions: Functions, fn: number): TaskImplementation | Promise<TaskImplementation> {
  const found = functions.get(fn);
  if (found instanceof Error) throw found;
  if (found === undefined) throw new Error(`cannot run function ${fn} of a lease: it was not defined before`);
  return found;
}
