/** A context in one process: the results that this process knows, and the tasks that it starts. */
import {
  type ObjectReference,
  ObjectReferenceCodec,
  type TaskOwnerMesh,
  type TaskRootMesh,
} from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ObjectLostError } from "../errors.js";
import { callInTurn, type LocalActor, mainClock, NoMessageTurn, runInTurn } from "../kernel.js";
import { BorrowedResult } from "../refs/borrowed-result.js";
import { BorrowedResults } from "../refs/borrowed-results.js";
import { ExportedResults } from "../refs/exported-results.js";
import { ImportedCodec } from "../refs/imported-codec.js";
import { ObjectRef, recordOf } from "../refs/object-ref.js";
import { Result } from "../refs/result.js";
import type { ValueCodec } from "../refs/value-codec.js";
import type { PendingTask } from "../submit/pending-task.js";
import { Submitter } from "../submit/submitter.js";
import type { TaskClass } from "../submit/task-class.js";
import { decodePlain, encodePlain, type PlainPlace } from "../values/index.js";
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
  /** Makes what starts tasks. It is called when the process starts its first task. */
  readonly makeSubmitter: () => Submitter | Promise<Submitter>;
}

export class ContextMember {
  readonly id: string;
  /** The number of the host in the context that this process runs on; undefined: it runs on none of them. */
  readonly host: number | undefined;
  readonly exported: ExportedResults;
  readonly #borrowed: BorrowedResults;
  readonly #owner: () => TaskOwnerMesh<never>;
  readonly #turn: NoMessageTurn;
  #lastResult = 0;
  #closed: string | undefined;
  /** The references of other processes on this event loop, as those of this one. */
  readonly #adopted = new WeakMap<ObjectRef<unknown>, ObjectRef<unknown>>();
  /** The number of this process. */
  readonly proc: bigint;
  /** Returns the center of the context. */
  readonly root: () => TaskRootMesh<never>;
  /** Loads the generated registries of the program, so that the classes of its actors are known here. */
  readonly loadRegistries: () => Promise<void>;
  /** Returns 64 random bits. */
  readonly newId: () => bigint;
  readonly #makeSubmitter: () => Submitter | Promise<Submitter>;
  #submitter: Submitter | Promise<Submitter> | undefined;

  constructor({ id, host, cell, owner, root, loadRegistries, makeSubmitter }: MemberParts) {
    this.id = id;
    this.host = host;
    this.loadRegistries = loadRegistries;
    this.root = root;
    this.newId = () => cell.proc.random.id();
    this.#makeSubmitter = makeSubmitter;
    this.#owner = owner;
    this.proc = cell.proc.id;
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.#turn = new NoMessageTurn(cell);
    this.exported = new ExportedResults(cell.proc.drops, (borrower, ended) => this.#watch(borrower, ended));
    this.#borrowed = new BorrowedResults(cell.proc.drops, (body) => this.inTurn(body));
  }

  /** The codec of plain values, in which references can be nested. */
  readonly plain: ValueCodec = {
    fingerprint: undefined,
    name: "plain value",
    encode: (value, place) => encodePlain(value, place, this.refs),
    decode: (bytes) => decodePlain(bytes, this.refs),
  };

  /** Writes and reads references in plain values. */
  readonly refs = {
    isRef: (value: object): boolean => value instanceof ObjectRef,
    write: (ref: object): Uint8Array => this.#write(ref as ObjectRef<unknown>),
    read: (bytes: Uint8Array): ObjectRef<unknown> => this.#read(bytes),
  };

  /** Whether the references that are written or read are collected, and those that have been. */
  #isCollecting = false;
  #seen: object[] | undefined;
  /** Whether references are written into, or read from, the result of a task that is passed to another process. */
  #isReturning = false;
  /** The owner of the process that gets the result that is being encoded; undefined: the program. */
  #receiver: TaskOwnerMesh<never> | undefined;

  /** Encodes a value. Returns the references in it, too, which the caller keeps as long as the bytes. */
  keepingRefs(
    codec: ValueCodec,
    value: unknown,
    place: PlainPlace,
  ): { readonly bytes: Uint8Array; readonly refs: readonly object[] | undefined } {
    return this.#collecting(false, encodeWith, codec, value, place);
  }

  /**
   * Encodes the result of a task. The references in it are kept here until the process that has started the task borrows them.
   *
   * @param receiver the owner of that process; undefined: the program
   */
  returningRefs(
    codec: ValueCodec,
    value: unknown,
    place: PlainPlace,
    receiver: TaskOwnerMesh<never> | undefined,
  ): { readonly bytes: Uint8Array; readonly hasReferences: boolean } {
    const before = this.#receiver;
    this.#receiver = receiver;
    try {
      const { bytes, refs } = this.#collecting(true, encodeWith, codec, value, place);
      return { bytes, hasReferences: refs !== undefined };
    } finally {
      this.#receiver = before;
    }
  }

  /** Returns the references in the result of a task of this process, which has just arrived. */
  referencesIn(value: Uint8Array): readonly object[] {
    const { refs = [] } = this.#collecting(true, decodeWith, this.plain, value, undefined);
    return refs;
  }

  /** Calls `body` with the last three arguments: a closure for each task would be garbage. */
  #collecting<V, P>(
    isReturning: boolean,
    body: (codec: ValueCodec, value: V, place: P) => Uint8Array,
    codec: ValueCodec,
    value: V,
    place: P,
  ): { bytes: Uint8Array; refs: object[] | undefined } {
    // Getters of values can run code that encodes other values.
    const wasCollecting = this.#isCollecting;
    const seen = this.#seen;
    const wasReturning = this.#isReturning;
    this.#isCollecting = true;
    this.#seen = undefined;
    this.#isReturning = isReturning;
    try {
      const bytes = body(codec, value, place);
      return { bytes, refs: this.#seen };
    } finally {
      this.#isCollecting = wasCollecting;
      this.#seen = seen;
      this.#isReturning = wasReturning;
    }
  }

  #see(ref: object): void {
    if (!this.#isCollecting) return;
    if (this.#seen === undefined) this.#seen = [ref];
    else this.#seen.push(ref);
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

  /**
   * Returns a reference of this context as one of this process. Processes on one event loop can get references of each other
   * by closures.
   *
   * @param what begins the text of the error: `cannot get a result`
   * @throws TypeError if the reference belongs to another context
   */
  own(ref: ObjectRef<unknown>, what: string): ObjectRef<unknown> {
    const { member } = recordOf(ref);
    if (member === this) return ref;
    if (member.id !== this.id || member.closed !== undefined) {
      throw new TypeError(
        `${what}: ${ref.label} belongs to the context ${member.id}, which is ${member.closed === undefined ? "another one" : "closed"}; ` +
          `get the value there, and pass it by put`,
      );
    }
    let known = this.#adopted.get(ref);
    if (known === undefined) {
      known = this.#made(member.refs.write(ref), false);
      this.#adopted.set(ref, known);
    }
    return known;
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
  bytesOf(ref: ObjectRef<unknown>): Promise<Uint8Array> {
    const { result } = recordOf(ref);
    return new Promise((resolve, reject) => result.whenSettled(() => settle(result, resolve, reject)));
  }

  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#leave();
    if (this.#submitter instanceof Submitter) this.#submitter.close(reason);
    this.exported.clear();
    this.#borrowed.close(new ObjectLostError(`the context ${this.id} is closed: ${reason}`));
  }

  #write(ref: ObjectRef<unknown>): Uint8Array {
    const own = this.own(ref, "cannot send a reference");
    const { result, remote, codec } = recordOf(own);
    this.#see(own);
    const size = result.bytes?.length ?? (result instanceof BorrowedResult ? result.size : undefined);
    const known = size === undefined ? {} : { size };
    if (remote !== undefined) return ObjectReferenceCodec.encode({ ...remote, ...known });
    const id = this.exported.export(result, this.#isReturning, this.#receiver);
    const reference: ObjectReference = {
      ...{ context: this.id, owner: this.#owner(), id },
      label: result.label,
      ...known,
    };
    if (this.host !== undefined) reference.host = this.host;
    if (codec.task !== undefined) reference.task = codec.task;
    return ObjectReferenceCodec.encode(reference);
  }

  #read(bytes: Uint8Array): ObjectRef<unknown> {
    const ref = this.#made(bytes, this.#isReturning);
    this.#see(ref);
    return ref;
  }

  #made(bytes: Uint8Array, isReturned: boolean): ObjectRef<unknown> {
    const remote = ObjectReferenceCodec.decode(bytes);
    if (remote.context !== this.id) {
      throw new TypeError(
        `cannot read the reference to ${remote.label}: it belongs to the context ${remote.context}, and this one is ${this.id}`,
      );
    }
    const codec = remote.task === undefined ? this.plain : new ImportedCodec(remote.task);
    if (procsOf(remote.owner)[0] === this.proc) {
      const result = this.exported.known(remote.id) ?? lostResult(remote.label);
      return new ObjectRef({ member: this, result, codec, remote: undefined });
    }
    const result = this.#borrowed.borrow(remote, this.#owner(), isReturned);
    return new ObjectRef({ member: this, result, codec, remote });
  }

  #watch(borrower: TaskOwnerMesh<never>, ended: () => void): void {
    this.inTurn(() => void borrower.untilLeft.callOne().then(ended, ended));
  }

  /** The clock of the process. */
  get clock() {
    return mainClock();
  }
}

const encodeWith = (codec: ValueCodec, value: unknown, place: PlainPlace): Uint8Array => codec.encode(value, place);

function decodeWith(codec: ValueCodec, bytes: Uint8Array): Uint8Array {
  codec.decode(bytes);
  return bytes;
}

function settle(result: Result, resolve: (bytes: Uint8Array) => void, reject: (error: Error) => void): void {
  if (result.bytes !== undefined) resolve(result.bytes);
  else reject(result.error!);
}

function lostResult(label: string): Result {
  const lost = new Result(0, label);
  lost.reject(new ObjectLostError(`the result of ${label} does not exist any more: its references have been dropped`));
  return lost;
}

/** Returns the process that has started the task of a result, and the number there. */
export function originOf(ref: ObjectRef<unknown>): { readonly proc: bigint; readonly id: number } {
  const { result, remote, member } = recordOf(ref);
  if (remote !== undefined) return { proc: procsOf(remote.owner)[0]!, id: remote.id };
  return { proc: member.proc, id: result.id };
}
