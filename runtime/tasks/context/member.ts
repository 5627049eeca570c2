/** A context in one process: the results that this process knows, and the tasks that it starts. */
import type { TaskOwnerMesh, TaskRootMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ObjectLostError } from "../errors.js";
import { callInTurn, type DropDetector, type LocalActor, mainClock, NoMessageTurn, runInTurn } from "../kernel.js";
import { closeStore } from "../objects/context-objects.js";
import type { HeldValue } from "../objects/held-value.js";
import type { ObjectStore } from "../objects/object-store.js";
import type { StoreFinder } from "../refs/borrowed-value.js";
import { MemberReferences, type ReferringMember } from "../refs/member-references.js";
import { type ObjectRef, recordOf } from "../refs/object-ref.js";
import type { RemoteOwner } from "../refs/remote-value.js";
import type { Result } from "../refs/result.js";
import type { PendingTask } from "../submit/pending-task.js";
import { Submitter } from "../submit/submitter.js";
import type { TaskClass } from "../submit/task-class.js";
import type { RunningTask } from "./current.js";

/** The parts of a member that exist before it. */
export interface MemberParts {
  /** The id of the context. */
  readonly id: string;
  /** The number of the host in the context that this process runs on; undefined: it runs on none of them. */
  readonly host: number | undefined;
  /** The actor that sends the messages of the member. */
  readonly cell: LocalActor;
  /** Returns the actor that serves the results of this process. It is created when the first reference is sent. */
  readonly owner: () => TaskOwnerMesh<never>;
  /** Returns the center of the context. */
  readonly root: () => TaskRootMesh<never>;
  /** Loads the generated registries of the program. */
  readonly loadRegistries: () => Promise<void>;
  /** See `storeFor` of the member. */
  readonly storeFor: StoreFinder;
  /** The large values of this process. Undefined: they are in its heap. */
  readonly objects: ObjectStore | undefined;
  /** Makes what starts tasks. It is called when the process starts its first task. */
  readonly makeSubmitter: () => Submitter | Promise<Submitter>;
}

export class ContextMember implements ReferringMember {
  readonly id: string;
  /** The number of the host in the context that this process runs on; undefined: it runs on none of them. */
  readonly host: number | undefined;
  readonly refs: MemberReferences;
  readonly #owner: () => TaskOwnerMesh<never>;
  readonly #turn: NoMessageTurn;
  #lastResult = 0;
  #closed: string | undefined;
  /** The number of this process. */
  readonly proc: bigint;
  /** Finds what is not referred to any more. */
  readonly drops: DropDetector;
  /** Returns the center of the context. */
  readonly root: () => TaskRootMesh<never>;
  /** Loads the generated registries of the program, so that the classes of its actors are known here. */
  readonly loadRegistries: () => Promise<void>;
  /** The large values of this process. Undefined: they are in its heap. */
  readonly objects: ObjectStore | undefined;
  /** Returns 64 random bits. */
  readonly newId: () => bigint;
  /** Finds the store that brings values to the machine of this process. */
  readonly storeFor: StoreFinder;
  readonly #makeSubmitter: () => Submitter | Promise<Submitter>;
  #submitter: Submitter | Promise<Submitter> | undefined;

  constructor({ id, host, cell, owner, root, loadRegistries, storeFor, objects, makeSubmitter }: MemberParts) {
    this.id = id;
    this.host = host;
    this.loadRegistries = loadRegistries;
    this.objects = objects;
    this.root = root;
    this.storeFor = storeFor;
    this.newId = () => cell.proc.random.id();
    this.#makeSubmitter = makeSubmitter;
    this.#owner = owner;
    this.proc = cell.proc.id;
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.#turn = new NoMessageTurn(cell);
    this.drops = cell.proc.drops;
    this.refs = new MemberReferences(this, this.drops);
  }

  /** Resolves when the context is closed in this process. */
  readonly left: Promise<void>;
  #leave: () => void = () => {};
  /** The tasks of this process that wait for results. */
  readonly waiting = new Set<RunningTask>();

  /** Returns whether a task of this process waits for the result with a number now. */
  isAwaited(id: number): boolean {
    for (const { awaited } of this.waiting) if (awaited.has(id)) return true;
    return false;
  }

  /** The reason for which the context is closed in this process. Undefined: it is open. */
  get closed(): string | undefined {
    return this.#closed;
  }

  /** The actor that serves the results of this process. */
  get ownerMesh(): TaskOwnerMesh<never> {
    return this.#owner();
  }

  /** This process as the owner of values that are on other hosts. */
  get remoteOwner(): RemoteOwner {
    const { proc, clock, objects: keeper } = this;
    return { proc, clock, keeper, sources: this.refs.sources, inTurn: (body) => this.inTurn(body) };
  }

  /** Returns the number of a new result of this process. */
  newResultId(): number {
    return ++this.#lastResult;
  }

  /** Runs code that sends messages, apart from the handler that is running. */
  inTurn(body: () => void): void {
    runInTurn(this.#turn, body);
  }

  /** Calls `body(first, second)`, which sends messages and awaits nothing, apart from the handler that is running. */
  callInTurn<A, B>(body: (first: A, second: B) => void, first: A, second: B): void {
    callInTurn(this.#turn, body, first, second);
  }

  /** @throws Error if the context is closed */
  checkOpen(what: string): void {
    if (this.#closed !== undefined) throw new Error(`${what}: the context ${this.id} is closed: ${this.#closed}`);
  }

  /** Starts a task whose arguments are encoded. */
  submit(task: PendingTask, taskClass: TaskClass): void {
    this.#submitter ??= this.#makeSubmitter();
    const submitter = this.#submitter;
    if (submitter instanceof Submitter) {
      submitter.submit(task, taskClass);
      return;
    }
    submitter.then(
      (made) => {
        this.#submitter = made;
        if (this.#closed !== undefined) made.close(this.#closed);
        made.submit(task, taskClass);
      },
      (error: Error) => task.result.reject(error),
    );
  }

  /** Cancels the task of a result. Returns false if this process has started none that has not ended. */
  cancel(result: Result, reason: string): boolean {
    if (!(this.#submitter instanceof Submitter)) return false;
    return this.#submitter.cancelResult(result, reason);
  }

  /** Resolves with the encoded value of a reference. Rejects with its error. */
  valueOf(ref: ObjectRef<unknown>): Promise<HeldValue> {
    const { result } = recordOf(ref);
    return new Promise((resolve, reject) => result.whenSettled(() => settle(result, resolve, reject)));
  }

  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#leave();
    if (this.#submitter instanceof Submitter) this.#submitter.close(reason);
    this.refs.close(new ObjectLostError(`the context ${this.id} is closed: ${reason}`));
    if (this.objects !== undefined) closeStore(this.id);
  }

  /** The clock of the process. */
  get clock() {
    return mainClock();
  }
}

function settle(result: Result, resolve: (value: HeldValue) => void, reject: (error: Error) => void): void {
  if (result.value !== undefined) resolve(result.value);
  else reject(result.error!);
}

/** Returns the process that has started the task of a result, and the number there. */
export function originOf(ref: ObjectRef<unknown>): { readonly proc: bigint; readonly id: number } {
  const { result, remote, member } = recordOf(ref);
  if (remote !== undefined) return { proc: procsOf(remote.owner)[0]!, id: remote.id };
  return { proc: member.proc, id: result.id };
}
