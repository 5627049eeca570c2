/** The references of a context in one process: they are written into values, read from them, borrowed and lent. */
import {
  type ObjectEntry,
  type ObjectReference,
  ObjectReferenceCodec,
  type TaskOwnerMesh,
  type TaskRootMesh,
} from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import type { ObjectLostError } from "../errors.js";
import { type Clock, callForAnswer, type DropDetector } from "../kernel.js";
import { decodeHeld, type EncodeHeld, encodeInto, type HeldValue } from "../objects/held-value.js";
import { LargeResults } from "../objects/large-results.js";
import { MachineStores } from "../objects/machine-stores.js";
import type { ObjectStore } from "../objects/object-store.js";
import { StoredValue } from "../objects/stored-value.js";
import { ValueSources } from "../objects/value-sources.js";
import { decodePlain, encodePlain, encodePlainParts, type PlainPlace } from "../values/index.js";
import { BorrowedResults } from "./borrowed-results.js";
import type { StoreFinder } from "./borrowed-value.js";
import { ExportedResults } from "./exported-results.js";
import { ImportedCodec } from "./imported-codec.js";
import { ObjectRef, type RefContext, recordOf } from "./object-ref.js";
import { lostResult, type Result } from "./result.js";
import type { ValueCodec } from "./value-codec.js";

/** The part of a context in one process, as its references use it. */
export interface ReferringMember extends RefContext {
  /** The number of the host in the context; undefined: this process runs on none of them. */
  readonly host: number | undefined;
  /** The actor that serves the results of this process. */
  readonly ownerMesh: TaskOwnerMesh<never>;
  /** Runs code that sends messages, apart from the handler that is running. */
  inTurn(body: () => void): void;
  /** The large values of this process. Undefined: they are in its heap. */
  readonly objects: ObjectStore | undefined;
  /** The number of this process. */
  readonly proc: bigint;
  readonly clock: Clock;
  /** Finds the store that brings values to the machine of this process. */
  readonly storeFor: StoreFinder;
  /** Returns the center of the context. */
  readonly root: () => TaskRootMesh<never>;
}

/** The result of a task that is about to be sent. */
export interface ReturnedValue {
  readonly bytes: HeldValue;
  readonly hasReferences: boolean;
  /** To be called when the receiver has borrowed the references to values of other processes. Undefined: the result contains none. */
  readonly taken: (() => void) | undefined;
}

/** The references in a result that has arrived. */
export interface ArrivedReferences {
  readonly refs: readonly object[];
  /** Resolves when the owners of references that their sender keeps know that this process has them. Undefined: there are none. */
  readonly borrowed: Promise<unknown> | undefined;
}

export class MemberReferences {
  readonly #member: ReferringMember;
  /** The results of this process to which other processes have references. */
  readonly exported: ExportedResults;
  /** The places in which other machines find the results of this process. */
  readonly sources: ValueSources;
  /** The stores from which the guests of other machines get them. */
  readonly machineStores: MachineStores;
  readonly #large: LargeResults;
  readonly #borrowed: BorrowedResults;
  /** The references of other processes on this event loop, as those of this one. */
  readonly #adopted = new WeakMap<ObjectRef<unknown>, ObjectRef<unknown>>();

  /** Encode values that this process keeps, and results of tasks. */
  readonly #encodeKept: EncodeHeld;
  readonly #encodeResult: EncodeHeld;

  constructor(member: ReferringMember, drops: DropDetector) {
    this.#member = member;
    const { objects } = member;
    this.#encodeKept = objects === undefined ? encodeWith : encodeInto(objects, false);
    this.#encodeResult = objects === undefined ? encodeWith : encodeInto(objects, true);
    this.exported = new ExportedResults(drops, (borrower, ended) => this.#watch(borrower, ended));
    this.sources = new ValueSources(member, drops);
    this.machineStores = new MachineStores({
      root: member.root,
      inTurn: (body) => member.inTurn(body),
      hasEnded: (store) => this.sources.hasEnded(store),
    });
    this.#large = new LargeResults(drops);
    this.#borrowed = new BorrowedResults(drops, {
      get clock() {
        return member.clock;
      },
      storeFor: member.storeFor,
      keeper: objects,
      inTurn: (body) => member.inTurn(body),
    });
  }

  /** The codec of plain values, in which references can be nested. */
  readonly plain: ValueCodec = {
    fingerprint: undefined,
    name: "plain value",
    encode: (value, place) => encodePlain(value, place, this),
    decode: (bytes) => decodePlain(bytes, this),
    encodeParts: (value, place) => encodePlainParts(value, place, this),
    decodeStored: (value, reader) => decodePlain(value.head, this, value.apartFor(reader)),
  };

  /** Whether the references that are written or read are collected, and those that have been. */
  #isCollecting = false;
  #seen: object[] | undefined;
  /** Whether references are written into, or read from, the result of a task that is passed to another process. */
  #isReturning = false;
  /** The owner of the process that gets the result that is being encoded; undefined: the program. */
  #receiver: TaskOwnerMesh<never> | undefined;
  /** The process that has sent the result that is being decoded. */
  #sender = 0n;

  /** Encodes a value. Returns the references in it, too, which the caller keeps as long as the bytes. */
  keeping(
    codec: ValueCodec,
    value: unknown,
    place: PlainPlace,
  ): { readonly bytes: Uint8Array; readonly refs: readonly object[] | undefined } {
    return this.#collecting(false, encodeWith, codec, value, place);
  }

  /** Encodes a value that this process keeps. Returns the references in it, too. */
  holding(
    codec: ValueCodec,
    value: unknown,
    place: PlainPlace,
  ): { readonly bytes: HeldValue; readonly refs: readonly object[] | undefined } {
    return this.#collecting(false, this.#encodeKept, codec, value, place);
  }

  /**
   * Encodes the result of a task. The references in it to values of this process are kept here until the process that has started the task
   * borrows them, and those to values of others until `taken` is called.
   *
   * @param isStored whether it may be in the memory of the machine
   * @param receiver the owner of that process; undefined: the program
   */
  returning(
    codec: ValueCodec,
    value: unknown,
    place: PlainPlace,
    isStored: boolean,
    receiver: TaskOwnerMesh<never> | undefined,
  ): ReturnedValue {
    const before = this.#receiver;
    this.#receiver = receiver;
    try {
      const encode = isStored ? this.#encodeResult : encodeWith;
      const { bytes, refs } = this.#collecting<unknown, PlainPlace, HeldValue>(true, encode, codec, value, place);
      if (refs === undefined) return { bytes, hasReferences: false, taken: undefined };
      const remotes = refs.flatMap((ref) => recordOf(ref as ObjectRef<unknown>).remote ?? []);
      const taken = remotes.length === 0 ? undefined : this.#borrowed.lend(remotes, this.#member.ownerMesh);
      return { bytes, hasReferences: true, taken };
    } finally {
      this.#receiver = before;
    }
  }

  /**
   * Returns the references in the result of a task of this process, which has just arrived.
   *
   * @param sender the process that has run the task
   */
  contained(codec: ValueCodec, value: HeldValue, sender: bigint): ArrivedReferences {
    this.#sender = sender;
    const { refs = [] } = this.#collecting(true, this.#decodeReferences, codec, value, undefined);
    const isLent = (ref: object) => {
      const { remote, member } = recordOf(ref as ObjectRef<unknown>);
      return (remote === undefined ? member.proc : procsOf(remote.owner)[0]) !== sender;
    };
    const borrowed = refs.some(isLent) ? (this.#borrowed.acknowledgements.until() ?? Promise.resolve()) : undefined;
    return { refs, borrowed };
  }

  /**
   * Resolves when the owners of all values to which this process has references know that it has them. Undefined: they do.
   *
   * @param except a process that is not waited for, because it gets all messages of this one in order
   */
  untilBorrowed(except: bigint): Promise<unknown> | undefined {
    return this.#borrowed.acknowledgements.until(except);
  }

  /** Calls `body` with the last three arguments: a closure for each task would be garbage. */
  #collecting<V, P, R>(
    isReturning: boolean,
    body: (codec: ValueCodec, value: V, place: P) => R,
    codec: ValueCodec,
    value: V,
    place: P,
  ): { bytes: R; refs: object[] | undefined } {
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

  readonly #decodeReferences = (codec: ValueCodec, value: HeldValue): void => {
    // The type of a schema finds the context of its references by the running code.
    if (codec !== this.plain) this.#member.inTurn(() => void decodeHeld(codec, value, {}));
    // Plain values can be decoded without their large binary values.
    else if (value instanceof StoredValue) decodePlain(value.head, this, { size: value.size, at: () => noMemory });
    else decodePlain(value, this);
  };

  #see(ref: object): void {
    if (!this.#isCollecting) return;
    if (this.#seen === undefined) this.#seen = [ref];
    else this.#seen.push(ref);
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
    if (member === this.#member) return ref;
    if (member.id !== this.#member.id || member.closed !== undefined) {
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

  isRef(value: object): boolean {
    return value instanceof ObjectRef;
  }

  /** Encodes a reference. */
  write(ref: object): Uint8Array {
    const own = this.own(ref as ObjectRef<unknown>, "cannot send a reference");
    const { result, remote, codec } = recordOf(own);
    this.#see(own);
    const { size, memory: stored } = result;
    const known = { ...(size !== undefined && { size }), ...(stored !== undefined && { stored }) };
    if (remote !== undefined) return ObjectReferenceCodec.encode({ ...remote, ...known });
    const { id: context, ownerMesh: owner } = this.#member;
    const id = this.exported.export(result, this.#isReturning, this.#receiver);
    const reference: ObjectReference = {
      ...{ context, owner, id },
      label: result.label,
      ...known,
    };
    const host = result.elsewhere === undefined ? this.#member.host : result.elsewhere.host;
    if (host !== undefined) reference.host = host;
    if (codec.task !== undefined) reference.task = codec.task;
    return ObjectReferenceCodec.encode(reference);
  }

  /** Decodes a reference. */
  read(bytes: Uint8Array): ObjectRef<unknown> {
    const ref = this.#made(bytes, this.#isReturning);
    this.#see(ref);
    return ref;
  }

  #made(bytes: Uint8Array, isReturned: boolean): ObjectRef<unknown> {
    const remote = ObjectReferenceCodec.decode(bytes);
    const member = this.#member;
    if (remote.context !== member.id) {
      throw new TypeError(
        `cannot read the reference to ${remote.label}: it belongs to the context ${remote.context}, and this one is ${member.id}`,
      );
    }
    const codec = remote.task === undefined ? this.plain : new ImportedCodec(remote.task);
    const owner = procsOf(remote.owner)[0]!;
    // A process counts the references on their way that it sends itself. References of others are kept by who sends them.
    const isCounted = isReturned && owner === this.#sender;
    if (owner === member.proc) {
      if (isCounted) this.exported.returned(remote.id, owner);
      const result = this.exported.known(remote.id) ?? lostResult(remote.label);
      return new ObjectRef({ member, result, codec, remote: undefined });
    }
    // A process can have many references, which share what is equal in them.
    remote.context = member.id;
    remote.owner = this.#borrowed.shared(remote.owner);
    const result = this.#borrowed.borrow(remote, member.ownerMesh, isCounted);
    return new ObjectRef({ member, result, codec, remote });
  }

  #watch(borrower: TaskOwnerMesh<never>, ended: () => void): void {
    this.#member.inTurn(() => callForAnswer(borrower.untilLeft, [], { answered: ended, failed: ended }));
  }

  /** Whether a value or the result of a task is being encoded or decoded, which keeps the references in it. */
  get isCollecting(): boolean {
    return this.#isCollecting;
  }

  /** Drops the values of a process, which has ended or has left the context. */
  ownerLeft(proc: bigint, reason: ObjectLostError): void {
    this.#borrowed.ownerLeft(proc, reason);
  }

  /** Notes that a result of this process has a large value, for reports. */
  noteLarge(result: Result): void {
    this.#large.add(result);
  }

  /** Returns the large values that this process owns. */
  largeResults(): ObjectEntry[] {
    return this.#large.list((id) => this.exported.borrowersOf(id));
  }

  /** Tasks of this process have ended, and may have dropped references to large values of others. */
  tasksEnded(): void {
    this.#borrowed.suspectDropped();
  }

  /** Ends the references, because the context is closed in this process. */
  close(error: ObjectLostError): void {
    this.exported.clear();
    this.#borrowed.close(error);
  }
}

const encodeWith = (codec: ValueCodec, value: unknown, place: PlainPlace): Uint8Array => codec.encode(value, place);

/** The memory of binary values that nobody reads. */
const noMemory = new ArrayBuffer(0);
