/**
 * The interfaces by which the submitter uses hosts, workers and time. In a program these are actors and the clock of the process; tests and
 * simulations have their own.
 */
import type {
  Lease,
  LeaseNotice,
  LeaseRequest,
  StoredMemory,
  TaskOrder,
  TaskOutcome,
} from "../../../generated/tasks.js";
import type { AnswerTaker, Clock } from "../kernel.js";
import type { Store } from "../objects/copies.js";
import type { HeldValue } from "../objects/held-value.js";
import type { ReceivedValue } from "../refs/elsewhere.js";
import type { ArrivedReferences } from "../refs/member-references.js";
import type { RemotePlace } from "../refs/remote-value.js";
import type { Result } from "../refs/result.js";
import type { Task } from "../task-object.js";

/** Takes the end of a task that was sent, from another turn of the event loop or microtask: its outcome, or its error or that of its process. */
export type OutcomeTaker = AnswerTaker<TaskOutcome>;

/** A worker process. */
export interface WorkerPort {
  /** The number of the process. */
  readonly proc: bigint;
  /** Sends a task. It throws when nothing can be sent now. */
  run(order: TaskOrder, taker: OutcomeTaker): void;
  cancel(lease: number, id: number): void;
  takeBack(lease: number): void;
  /** The lease has ended. */
  endLease(lease: number): void;
  /** The result of a task that the worker keeps is here, or this process has borrowed the references in it. */
  taken(lease: number, id: number): void;
}

/** A lease whose worker can be called. */
export interface GrantedLease extends Omit<Lease, "worker"> {
  readonly worker: WorkerPort;
}

/** A request for a lease, without its number. */
export type LeaseOrder = Omit<LeaseRequest, "number">;

/** The manager of a host. */
export interface HostPort {
  /** All resources of the host. */
  readonly total: Readonly<Record<string, number>>;
  /** The number of worker processes. */
  readonly procs: number;
  /**
   * Rejects with a {@link HostLostError} when the host has ended, with a {@link WorkerLostError} when the process has ended while it
   * started, and with any other error when the host refuses.
   */
  lease(order: LeaseOrder, signal: AbortSignal): Promise<GrantedLease>;
  giveBack(lease: number): void;
  /** @param ifBegun the number of an order whose task must be known to have begun; 0: the process is killed in any case */
  kill(lease: number, reason: string, ifBegun: number): void;
  /**
   * The store of the host takes a result over that a worker keeps. Resolves with the store and the place, or undefined if the store
   * cannot open it.
   */
  adopt(id: number, memory: StoredMemory): Promise<(RemotePlace & { readonly store: Store }) | undefined>;
  /** Calls `take` for each notice about a lease of this process. */
  listen(take: (notice: LeaseNotice) => void): void;
}

/** The lease under which a task has run, whose worker keeps the result. */
export interface ResultPlace {
  readonly id: number;
  readonly host: HostPort;
  readonly worker: WorkerPort;
}

/** Rejects a lease of a host that has ended. */
export class HostLostError extends Error {
  override readonly name: string = "HostLostError";
}

/** The parts of a submitter. */
export interface SubmitterOptions {
  readonly hosts: readonly HostPort[];
  /** The index of the host that this process runs on. */
  readonly home: number;
  /** The process that holds the leases. */
  readonly holder: bigint;
  readonly clock: Clock;
  /** Returns a number that is uniform in [0, 1). */
  readonly random: () => number;
  /** Runs code that sends messages, as code of the actor that owns the submitter. */
  readonly inTurn: (body: () => void) => void;
  /** Calls `body(first, second)`, which awaits nothing, in the same way at a lower cost. */
  readonly callInTurn: <A, B>(body: (first: A, second: B) => void, first: A, second: B) => void;
  /** Returns whether an error of `run` means that the worker process has ended. */
  readonly isLost: (error: unknown) => boolean;
  /** Returns the references in the encoded result of a task that has just arrived from a process. */
  readonly referencesIn: (task: Task, value: HeldValue, sender: bigint) => ArrivedReferences;
  /**
   * Takes a result that is in the memory of the host of its worker.
   *
   * @param isNeeded whether this process needs the value at once
   */
  readonly receive: (
    result: Result,
    memory: StoredMemory,
    place: ResultPlace,
    isNeeded: boolean,
  ) => ReceivedValue | Promise<ReceivedValue>;
  /** Called when a result has a large value. */
  readonly noteLarge: (result: Result) => void;
  /** The time in ms after which a task that was cancelled is ended with its process. */
  readonly grace: number;
}
