/** The actor in a worker process, which runs tasks. */
import { type TaskOrder, type TaskOutcome, type TaskOrigin, TaskWorkerActor, type WorkerOptions } from "../../../generated/tasks.js";
import { context as handlerContext } from "../../index.js";
import { joinContext } from "../context/join-context.js";
import type { JobContext } from "../context/job-context.js";
import { findFunction, type TaskImplementation } from "../function-registry.js";
import { mainClock } from "../kernel.js";
import { memberOf } from "../context/job-context.js";
import { LeaseSlot, type SlotHost } from "./lease-slot.js";
import { TaskRun } from "./task-run.js";

/** The tasks of one lease, and the functions that have been named in it. */
interface LeaseState {
  readonly slot: LeaseSlot;
  readonly functions: Map<number, TaskImplementation | Promise<TaskImplementation> | Error>;
}

/** @internal */
export class PoolWorker extends TaskWorkerActor {
  readonly #leases = new Map<number, LeaseState>();
  #context: JobContext | undefined;
  #options: WorkerOptions | undefined;

  async configure(options: WorkerOptions): Promise<void> {
    this.#options = options;
    this.#context = await joinContext(options);
  }

  run(order: TaskOrder): Promise<TaskOutcome> {
    const context = this.#context;
    if (context === undefined) throw new Error("cannot run a task: this worker was not configured");
    const lease = this.#leaseOf(order.lease);
    const chain = order.chain ?? [originOfCaller(order.id)];
    const member = memberOf(context);
    return new Promise((resolve, reject) => {
      const find = () => this.#find(lease, order);
      const environment = { context, member, slot: lease.slot, now: () => mainClock().now() };
      lease.slot.add(new TaskRun(order, chain, find, environment, resolve, reject));
    });
  }

  cancel(lease: number, id: number): void {
    this.#leases.get(lease)?.slot.cancel(id);
  }

  takeBack(lease: number): void {
    this.#leases.get(lease)?.slot.takeBack();
  }

  endLease(lease: number): void {
    this.#leases.delete(lease);
  }

  #leaseOf(id: number): LeaseState {
    let lease = this.#leases.get(id);
    if (lease === undefined) {
      lease = { slot: new LeaseSlot(this.#hostOf(id)), functions: new Map() };
      this.#leases.set(id, lease);
    }
    return lease;
  }

  #hostOf(lease: number): SlotHost {
    const member = memberOf(this.#context!);
    const { host } = this.#options!;
    return {
      suspend: () => member.inTurn(() => void host.suspend.broadcast(lease)),
      resume: () => member.inTurn(() => void host.resume.broadcast(lease)),
      later: (body) => mainClock().nextTurn(body),
    };
  }

  #find(lease: LeaseState, { fn, defines }: TaskOrder): TaskImplementation | Promise<TaskImplementation> {
    let found = lease.functions.get(fn);
    if (found === undefined) {
      if (defines === undefined) throw new Error(`cannot run function ${fn} of a lease: it was not defined before`);
      found = look(defines);
      lease.functions.set(fn, found);
      if (found instanceof Promise) {
        found.then(
          (implementation) => lease.functions.set(fn, implementation),
          (error: Error) => lease.functions.set(fn, error),
        );
      }
    }
    if (found instanceof Error) throw found;
    return found;
  }
}

function look(defines: NonNullable<TaskOrder["defines"]>): TaskImplementation | Promise<TaskImplementation> | Error {
  try {
    return findFunction(defines);
  } catch (error) {
    return error as Error;
  }
}

function originOfCaller(id: number): TaskOrigin {
  return { proc: handlerContext().caller.id.proc, id };
}
