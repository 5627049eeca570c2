/** `JobContext`: runs tasks and actors on the worker processes of one or several hosts. */

import { describeValue } from "../../../shared/text/describe-value.js";
import type { ArgsOf, SpawnableClass } from "../../index.js";
import type { ActorHandle } from "../actors/actor-handle.js";
import type { ActorOptions } from "../actors/context-actor-options.js";
import { actorOf, getActor, stopActor } from "../actors/context-actors.js";
import { TaskCancelledError } from "../errors.js";
import type { Resources } from "../host/resources.js";
import { sizeOfHeld } from "../objects/held-value.js";
import { MIN_STORED_BYTES } from "../objects/stored-value.js";
import { createPlacementGroup } from "../placement/create-group.js";
import type { PlacementGroup } from "../placement/placement-group.js";
import type { PlacementOptions } from "../placement/placement-options.js";
import { ObjectRef, recordOf } from "../refs/object-ref.js";
import { Result } from "../refs/result.js";
import type { Task } from "../task-object.js";
import { putPlace } from "../values/index.js";
import { setContextFactory } from "./context-factory.js";
import { activateContext, currentScope } from "./current.js";
import type { GetOptions, Values } from "./get-options.js";
import { getAll, getOne } from "./get-values.js";
import { listObjects, type ObjectReport } from "./list-objects.js";
import type { ContextMember } from "./member.js";
import { type CloseContext, openContext } from "./open-context.js";
import type { JobContextOptions } from "./open-options.js";
import { planRun, type RunPlan } from "./plan-run.js";
import type { RunOptions } from "./run-options.js";
import { startTask } from "./start-task.js";
import { waitForRefs } from "./wait-for-refs.js";
import type { WaitOptions } from "./wait-options.js";

/** A value, or a reference to one. */
export type RefOr<T> = T | ObjectRef<T>;

/** The arguments of a task, each a value or a reference. */
export type RefOrArgs<A extends unknown[]> = { [I in keyof A]: RefOr<A[I]> };

/** Runs tasks with options. `JobContext.with` returns it. */
export interface TaskRunner {
  /**
   * Starts a task, as `JobContext.run` does.
   *
   * @param task what `task` has returned
   * @param args the arguments, each a value or a reference to one
   */
  run<A extends unknown[], R>(task: Task<A, R>, ...args: RefOrArgs<A>): ObjectRef<R>;
}

/**
 * Worker processes on one or several hosts, which run tasks. The program opens a context; tasks find theirs by
 * {@link JobContext.current}. Closing the context ends its tasks, its actors and its processes.
 *
 * @example
 * ```ts
 * import { JobContext, task } from "viceroy/tasks";
 *
 * export const square = task(import.meta.url, "square", (n: number) => n * n);
 *
 * await using context = await JobContext.open({ procs: 4 });
 * const refs = [1, 2, 3].map((n) => context.run(square, n));
 * console.log(await context.get(refs)); // [1, 4, 9]
 * ```
 */
export class JobContext implements AsyncDisposable {
  readonly #member: ContextMember;
  readonly #close: CloseContext | undefined;
  readonly #plan: RunPlan;

  static {
    setContextFactory((member) => new JobContext(member, undefined));
  }

  private constructor(member: ContextMember, close: CloseContext | undefined) {
    this.#member = member;
    this.#close = close;
    this.#plan = planRun({}, "cannot run a task");
  }

  /**
   * Starts worker processes, and returns when they can run tasks.
   *
   * @param options hosts, number of processes, resources
   * @throws {TypeError} when an option is malformed
   * @throws {RangeError} when a number is out of range
   * @throws {Error} when a host or a process could not be started
   */
  static async open(options: JobContextOptions = {}): Promise<JobContext> {
    const { member, close } = await openContext(options);
    return new JobContext(member, close);
  }

  /**
   * Returns the context of the running code: inside a task, the one that the task belongs to, and inside `activate`, that
   * context.
   *
   * @throws {Error} outside of both
   */
  static current(): JobContext {
    const scope = currentScope();
    if (scope !== undefined) return scope.context as JobContext;
    throw new Error(
      "no JobContext is set: JobContext.current() works inside of tasks, and inside of context.activate(); pass the context along elsewhere",
    );
  }

  /** Identifies the context. It is the same in all its processes. */
  get id(): string {
    return this.#member.id;
  }

  /**
   * The signal of the running task, which is aborted when the task is cancelled. Outside of tasks, it is never aborted.
   *
   * @example
   * ```ts
   * import { JobContext, task } from "viceroy/tasks";
   *
   * export const download = task(import.meta.url, "download", async (url: string) => {
   *   const response = await fetch(url, { signal: JobContext.current().signal });
   *   return await response.text();
   * });
   * ```
   */
  get signal(): AbortSignal {
    const scope = currentScope();
    return scope?.context === this && scope.task !== undefined ? scope.task.signal : neverAborted;
  }

  /**
   * Runs code for which {@link JobContext.current} returns this context.
   *
   * @param body the code; it may be asynchronous
   * @returns what `body` returns
   */
  activate<T>(body: () => T): T {
    return activateContext(this, body);
  }

  /**
   * Starts a task, and returns a reference to its result at once. Arguments are copied now, apart from those that are
   * references: the task begins when their results are there, and fails when one of them has failed.
   *
   * @param task what `task` has returned
   * @param args the arguments, each a value or a reference to one
   * @throws {TypeError} when an argument cannot be sent, there are too many or too few, or a reference belongs to another
   *   context
   * @throws {Error} when the context is closed
   */
  run<A extends unknown[], R>(task: Task<A, R>, ...args: RefOrArgs<A>): ObjectRef<R> {
    return startTask(this.#member, this.#plan, task as Task, args) as ObjectRef<R>;
  }

  /**
   * Returns what runs tasks with options.
   *
   * @example
   * ```ts
   * import { JobContext, task } from "viceroy/tasks";
   *
   * export const train = task(import.meta.url, "train", async (rate: number) => rate * 2);
   *
   * await using context = await JobContext.open({ procs: 2, resources: { cpus: 4, memory: 2 ** 30 } });
   * const ref = context.with({ resources: { cpus: 2, memory: 2 ** 28 } }).run(train, 0.1);
   * console.log(await context.get(ref)); // 0.2
   * ```
   *
   * @param options resources, name, environment, calls for each process, retries, placement
   * @throws {TypeError} when an option is malformed
   * @throws {RangeError} when a number is out of range
   */
  with(options: RunOptions): TaskRunner {
    const plan = planRun(options, "cannot run tasks");
    return {
      run: <A extends unknown[], R>(task: Task<A, R>, ...args: RefOrArgs<A>) =>
        startTask(this.#member, plan, task as Task, args) as ObjectRef<R>,
    };
  }

  /**
   * Waits for the value of a reference. What is no reference is returned as it is. In a task, others run meanwhile.
   *
   * @param ref the reference
   * @param options a time limit
   * @returns a copy of the value; each call returns its own. Binary values of 64 KiB and more can be mapped from the memory of the machine
   *   instead: one task sees the same memory at each call, and nobody else sees what it writes there
   * @throws {TaskError} as a rejection, when the task threw
   * @throws {WorkerLostError} as a rejection, when the process of the task ended
   * @throws {ObjectLostError} as a rejection, when the value was released or lost, or its file on disk is damaged
   * @throws {DeadlockError} as a rejection, when the task would wait for itself, or for a task that waits for it
   * @throws {TimeoutError} as a rejection, when the time limit has passed
   */
  get<T>(ref: ObjectRef<T>, options?: GetOptions): Promise<T>;
  /**
   * Waits for the values of several references. It rejects as soon as one of them has failed.
   *
   * @param refs references, and values, which are returned as they are
   * @param options a time limit
   * @returns the values, in the order of the references
   */
  get<const L extends readonly unknown[]>(refs: L, options?: GetOptions): Promise<Values<L>>;
  get<T>(value: T, options?: GetOptions): Promise<T>;
  get(given: unknown, options: GetOptions = {}): Promise<unknown> {
    if (Array.isArray(given)) return getAll(this.#member, given, options);
    return given instanceof ObjectRef ? getOne(this.#member, given, options) : Promise.resolve(given);
  }

  /**
   * Waits until `count` results are there, or the time limit has passed. A result that is an error counts.
   *
   * @param refs the references, each once
   * @param options the number of results, and a time limit
   * @returns the references with results, `count` of them at most, and the others, both in the order of `refs`
   * @throws {RangeError} when `count` is not from 1 to the number of references, or a reference occurs twice
   */
  wait<R extends ObjectRef<unknown>>(
    refs: readonly R[],
    options: WaitOptions = {},
  ): Promise<[done: R[], pending: R[]]> {
    return waitForRefs(this.#member, refs, options) as Promise<[R[], R[]]>;
  }

  /**
   * Stores a copy of a value, to which references can be passed any number of times. A value of 64 KiB or more is in the memory of the
   * machine, from which other processes read it without copying it, or on its disk if memory is full. If the disk is full, too, this
   * method can block the thread for 5 seconds, as the option `objects` of `open` says.
   *
   * @param value a plain value
   * @throws {TypeError} when it is not a plain value
   * @throws {ObjectStoreFullError} when there is room for it neither in memory nor on disk
   */
  put<T>(value: T): ObjectRef<T> {
    const member = this.#member;
    member.checkOpen("cannot put a value");
    const result = new Result(member.newResultId(), "put");
    const { bytes, refs } = member.refs.holding(member.refs.plain, value, putPlace);
    result.resolve(bytes, refs);
    if (sizeOfHeld(bytes) >= MIN_STORED_BYTES) member.refs.noteLarge(result);
    return new ObjectRef<T>({ member, result, codec: member.refs.plain, remote: undefined });
  }

  /**
   * Lists the values of 64 KiB and more that the program and its worker processes own, and the memory and disk that such values use on each
   * host. Processes that are busy answer later, and those that have ended do not.
   *
   * @returns the values, and the hosts
   * @throws {Error} as a rejection, when the context is closed
   */
  objects(): Promise<ObjectReport> {
    return listObjects(this.#member);
  }

  /**
   * Reserves resources on the hosts, all bundles together or none. Waits until they are free.
   *
   * @param bundles the resources of each bundle, which is on one host
   * @param options how the bundles are placed, and a time limit
   * @returns a mesh with the dimension `bundles`, whose slices are the option `placement` of tasks and actors
   * @throws {TypeError} as a rejection, when an option or the resources are malformed
   * @throws {ResourceUnavailableError} as a rejection, when the hosts can never have the bundles
   * @throws {TimeoutError} as a rejection, when the resources were not free in time
   */
  placementGroup(bundles: readonly Resources[], options: PlacementOptions = {}): Promise<PlacementGroup<"bundles">> {
    return createPlacementGroup(this.#member, bundles, options);
  }

  /**
   * Creates an actor in a process of its own, on a host that has its resources, or finds the one that has the name. It ends with
   * the context, or when it is stopped; dropping the handle does not stop it.
   *
   * @param actorClass a class that extends a generated actor class, exported by a module that the registry lists
   * @param args the arguments of the constructor
   * @param options name, lifetime, resources, restarts
   * @returns a handle, when the constructor and `init` have run
   * @throws {TypeError} as a rejection, when an option or an argument is malformed, or the actor with the name is of another
   *   class
   * @throws {RangeError} as a rejection, when a number is out of range
   * @throws {ActorNameTakenError} as a rejection, when an actor has the name, and `getIfExists` is not set
   * @throws {ResourceUnavailableError} as a rejection, when no host has its resources
   * @throws {TaskError} as a rejection, when the constructor or `init` threw
   * @throws {WorkerLostError} as a rejection, when its process ended meanwhile
   */
  actor<C extends SpawnableClass>(actorClass: C, args: ArgsOf<C>, options: ActorOptions = {}): Promise<ActorHandle<C>> {
    return actorOf(this.#member, actorClass, args, options);
  }

  /**
   * Finds an actor by its name. Waits while it is being created.
   *
   * @param actorClass the class of the actor
   * @param name the name that was given to `actor`
   * @returns a handle; undefined if no actor has the name
   * @throws {TypeError} as a rejection, when the actor is of another class
   */
  getActor<C extends SpawnableClass>(actorClass: C, name: string): Promise<ActorHandle<C> | undefined> {
    return getActor(this.#member, actorClass, name);
  }

  /**
   * Stops the actor with a name, and frees the name.
   *
   * @param name the name that was given to `actor`
   * @returns whether there was such an actor, when it has ended
   */
  stopActor(name: string): Promise<boolean> {
    return stopActor(this.#member, name);
  }

  /**
   * Cancels a task. One that has not begun does not run. One that runs is told by the signal of its context; if it does not
   * end in time, its process is killed. `get` rejects with TaskCancelledError. A task that has ended keeps its result.
   *
   * @param ref a reference to the result of a task that this process has started
   * @throws {TypeError} when the reference belongs to another context or process
   */
  cancel(ref: ObjectRef<unknown>): void {
    const member = this.#member;
    if (!(ref instanceof ObjectRef))
      throw new TypeError(`cannot cancel: expected an ObjectRef, got ${describeValue(ref)}`);
    const { result, remote } = recordOf(member.refs.own(ref, "cannot cancel"));
    if (remote !== undefined) {
      throw new TypeError(`cannot cancel ${ref.label}: another process has started it; cancel it there`);
    }
    if (result.isDone) return;
    const reason = "context.cancel was called";
    if (member.cancel(result, reason)) return;
    // Its arguments are missing, so that nobody else knows of it.
    result.reject(new TaskCancelledError(ref.label, `task ${ref.label} was cancelled: ${reason}`));
  }

  /**
   * Cancels all tasks, stops all actors, and ends all worker processes. Closing a context again has no effect.
   *
   * @returns a promise that resolves when all processes have ended
   * @throws {Error} as a rejection, inside of a task: only the program that has opened a context closes it
   */
  async close(): Promise<void> {
    if (this.#close === undefined) {
      throw new Error("cannot close the context: this is a worker process; the program that has opened it closes it");
    }
    await this.#close("context.close was called");
  }

  /** Closes the context at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the id as text. */
  toString(): string {
    return `JobContext ${this.id}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

const neverAborted = new AbortController().signal;
