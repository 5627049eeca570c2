/**
 * Memory that processes reach into: registered by one, used by all to whom it has sent the buffer. The owner has the memory itself;
 * everybody else has a handle, and moves bytes between that memory and views of his own.
 */

import { currentDomain, type RdmaDomain } from "./domain.js";
import { RdmaError } from "./errors.js";
import type { Access } from "./grant.js";
import type { MemoryHandle } from "./handle.js";
import { type OpenOptions, TransportSelection } from "./opening.js";
import type { TransferDirection, TransferOperation } from "./operation.js";
import { MemoryRegistration } from "./owned.js";
import { type ByteRange, type Region, segmentsOfRange, segmentsOfRegion, type TransferSegments } from "./region.js";
import { runTransfer, type TransferOptions } from "./transfer.js";
import type { Transport } from "./transport.js";

/** What a transfer moves, and how long it may take. */
export interface RdmaTransferOptions extends TransferOptions, ByteRange {
  /** A block of n dimensions instead of a range: `length` is its own then. */
  readonly region?: Region;
}

export interface RegisterOptions {
  /** What those may do to whom the buffer itself is sent; default `rw`. */
  readonly access?: Access;
}

export interface GrantOptions {
  /** In bytes; default 0. */
  readonly offset?: number;
  /** In bytes; default: up to the end. */
  readonly length?: number;
  /** Default `r`. */
  readonly access?: Access;
}

export interface RevokeOptions {
  /** How long writers are waited for that do not come to an end, in ms; default 10,000. */
  readonly timeout?: number;
}

/** Only this module makes buffers. */
const constructorKey = Symbol("RdmaBuffer");

export class RdmaBuffer {
  /** In bytes. */
  readonly size: number;
  /** What those may do who have it; the owner himself may do all. */
  readonly access: Access;
  /** @internal */
  readonly handle: MemoryHandle;
  readonly #registration: MemoryRegistration | undefined;
  #domain: RdmaDomain | undefined;
  #selection: TransportSelection | undefined;
  #isDropped = false;

  /** @internal */
  constructor(key: symbol, handle: MemoryHandle, owned?: MemoryRegistration) {
    if (key !== constructorKey)
      throw new TypeError("cannot make an RdmaBuffer: use RdmaBuffer.register or RdmaBuffer.allocate");
    this.handle = handle;
    this.size = handle.length;
    this.access = handle.access;
    this.#registration = owned;
  }

  /**
   * Lets others use memory that there is, from now on until it is dropped. It must stay where it is: its ArrayBuffer must not be
   * transferred or detached. Slices of Node.js's pool (small Buffers) are registered as the ranges that they are.
   * @throws TypeError when it can move (a resizable ArrayBuffer) or has no bytes; RdmaError when there are too many grants
   */
  static register(view: ArrayBufferView, options: RegisterOptions = {}): RdmaBuffer {
    const bytes = bytesOf(view);
    if (bytes.length === 0) throw new TypeError("cannot register memory: it has no bytes");
    if ((bytes.buffer as { resizable?: boolean; growable?: boolean }).resizable === true) {
      throw new TypeError(
        "cannot register memory: a resizable ArrayBuffer can give it back; use one of a fixed length",
      );
    }
    const here = currentDomain();
    return RdmaBuffer.#registerOwned(here, here.register(bytes), options);
  }

  /**
   * Memory that other processes of this machine can map: the fastest there is, and a view of it in place. Zeroed.
   * @param bytes more than 0
   * @throws RdmaError when there is not so much memory
   */
  static allocate(bytes: number, options: RegisterOptions = {}): RdmaBuffer {
    if (!Number.isSafeInteger(bytes) || bytes <= 0) {
      throw new TypeError(`cannot allocate memory: expected a number of bytes above 0, got ${bytes}`);
    }
    const here = currentDomain();
    return RdmaBuffer.#registerOwned(here, here.allocate(bytes), options);
  }

  static #registerOwned(
    here: RdmaDomain,
    memory: MemoryRegistration["memory"],
    { access = "rw" }: RegisterOptions,
  ): RdmaBuffer {
    const { grant, handle } = here.grant(memory, 0, memory.bytes.length, access);
    return new RdmaBuffer(constructorKey, handle, new MemoryRegistration(here, memory, grant));
  }

  /** @internal What came in a message. */
  static fromHandle(handle: MemoryHandle): RdmaBuffer {
    return new RdmaBuffer(constructorKey, handle);
  }

  /** Whether the memory is this process's own, and this the buffer that says what becomes of it. */
  get owned(): boolean {
    return this.#registration !== undefined;
  }

  /** How bytes move: `local` at the owner; undefined as long as nobody has opened it. */
  get transport(): Transport | "local" | undefined {
    return this.#registration === undefined ? this.#selection?.selected?.transport : "local";
  }

  /** Whether the owner's event loop does nothing for transfers; undefined as long as nobody has opened it. */
  get oneSided(): boolean | undefined {
    return this.#registration === undefined ? this.#selection?.selected?.oneSided : true;
  }

  /** The memory itself, at its owner. @throws RdmaError elsewhere, and when it was dropped */
  get view(): Uint8Array {
    const owned = this.#requireOwned("view", "it is memory of another process: read it with readInto, or map it");
    this.#checkNotDropped("view");
    return owned.view;
  }

  /**
   * Finds the way to the memory, which otherwise the first transfer does; or another one, if that in use is none of `transports`.
   * @throws RdmaError when the handle is refused, its owner is gone, or no transport that is allowed leads there
   */
  async open(options: OpenOptions = {}): Promise<this> {
    if (this.#registration === undefined) await this.#transportSelection().open(options);
    return this;
  }

  /**
   * Reads from the memory into a view of this process. Has begun when this returns. Resolves when the bytes are there: each was
   * in the granted memory while the grant was good, but all together are no snapshot of what others write meanwhile.
   * When it rejects, what is in the view is undefined, and nothing writes to it any more.
   */
  readInto(local: ArrayBufferView, options: RdmaTransferOptions = {}): Promise<void> {
    return this.#transfer("read", local, options);
  }

  /**
   * Writes into the memory what a view of this process holds; it must not change meanwhile. Has begun when this returns. Resolves when
   * the bytes are there. When it rejects, any of them may be.
   */
  writeFrom(local: ArrayBufferView, options: RdmaTransferOptions = {}): Promise<void> {
    return this.#transfer("write", local, options);
  }

  /**
   * The memory in place, as long as the view is held: what its owner and others write is seen, as it happens to come. Of a buffer for
   * reading alone, what is written into it stays here. Not revoked with the grant, and not gone with its owner.
   * @throws RdmaError where the transport is not `shared`: the memory is on another machine, or was not made by `allocate`
   */
  async map(options: OpenOptions = {}): Promise<Uint8Array> {
    this.#checkNotDropped("map");
    if (this.#registration !== undefined) return this.#registration.view;
    return this.#transportSelection().map(options);
  }

  /**
   * Part of the memory, or less of a right, as a buffer of its own, to be sent to others and taken back by itself.
   * @throws RdmaError for who is not the owner, or when it leaves this buffer
   */
  grant({ offset = 0, length = this.size - offset, access = "r" }: GrantOptions = {}): RdmaBuffer {
    const owned = this.#requireOwned("grant part of an RdmaBuffer", "only its owner can");
    this.#checkNotDropped("grant part of an RdmaBuffer");
    segmentsOfRange({ offset, length }, this.size, length);
    if (length === 0) throw new RdmaError("ERR_RDMA_BOUNDS", "cannot grant part of an RdmaBuffer: it has no bytes");
    if (access === "rw" && this.access === "r") {
      throw new RdmaError("ERR_RDMA_ACCESS", "cannot grant part of an RdmaBuffer for writing: it is for reading alone");
    }
    const { handle, part } = owned.grantPart(offset, length, access);
    return new RdmaBuffer(constructorKey, handle, part);
  }

  /**
   * Takes a grant back: this one, or one that `grant` has made of it. Resolves when no process reads or writes by it any more, or
   * what is read is thrown away. From when it is called, new transfers are refused. Idempotent.
   * @throws RdmaError TIMEOUT when a writer does not come to an end in time (it was stopped by SIGSTOP): it may still write, and
   * the grant stays refused; revoke it again later
   */
  async revoke(granted: RdmaBuffer = this, options: RevokeOptions = {}): Promise<void> {
    const own = this.#requireOwned("revoke a grant", "only its owner can");
    const owned = granted.#requireOwned("revoke a grant", "only its owner can");
    if (owned.memory !== own.memory) {
      throw new RdmaError("ERR_RDMA_UNSUPPORTED", "cannot revoke a grant: it is of other memory");
    }
    await owned.revoke(options.timeout);
  }

  /**
   * At the owner: takes all grants back and unregisters the memory; memory of `allocate` is gone then, except for who has mapped it.
   * Of a part that was granted: takes that back. Elsewhere: the handle is no longer used here. Idempotent.
   * @throws RdmaError TIMEOUT as `revoke`
   */
  async drop(options: RevokeOptions = {}): Promise<void> {
    this.#isDropped = true;
    if (this.#registration !== undefined) await this.#registration.drop(options.timeout);
    await this.#selection?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drop();
  }

  toString(): string {
    return `RdmaBuffer(${this.size} bytes, ${this.access}${this.transport === undefined ? "" : `, ${this.transport}`})`;
  }

  #transfer(direction: TransferDirection, view: ArrayBufferView, options: RdmaTransferOptions): Promise<void> {
    try {
      const local = bytesOf(view);
      this.#checkNotDropped(direction);
      const stretches = this.#segmentsOf(local.length, options);
      if (direction === "write" && this.access === "r" && this.#registration === undefined) {
        throw new RdmaError(
          "ERR_RDMA_ACCESS",
          `cannot write ${stretches.bytes} bytes: the buffer is for reading alone`,
        );
      }
      const { clock } = this.#localDomain();
      return runTransfer(direction, local, stretches, options, clock, (operation) => this.#startOperation(operation));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #segmentsOf(local: number, options: RdmaTransferOptions): TransferSegments {
    const { region, offset = 0 } = options;
    if (region !== undefined) return segmentsOfRegion(region, offset, this.size, local);
    return segmentsOfRange(options, this.size, local);
  }

  #startOperation(operation: TransferOperation): Promise<void> | undefined {
    return this.#registration === undefined
      ? this.#transportSelection().startOperation(operation)
      : this.#registration.transfer(operation);
  }

  #transportSelection(): TransportSelection {
    this.#selection ??= new TransportSelection(this.#localDomain(), this.handle);
    return this.#selection;
  }

  #localDomain(): RdmaDomain {
    this.#domain ??= this.#registration?.domain ?? currentDomain();
    return this.#domain;
  }

  #requireOwned(what: string, why: string): MemoryRegistration {
    if (this.#registration !== undefined) return this.#registration;
    throw new RdmaError("ERR_RDMA_UNSUPPORTED", `cannot ${what}: ${why}`);
  }

  #checkNotDropped(what: string): void {
    if (this.#isDropped) throw new RdmaError("ERR_RDMA_DROPPED", `cannot ${what}: the buffer was dropped here`);
  }
}

function bytesOf(view: ArrayBufferView): Uint8Array {
  if (view instanceof Uint8Array) return view;
  if (!ArrayBuffer.isView(view))
    throw new TypeError(`expected a view of memory, got ${view === null ? "null" : typeof view}`);
  return new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength);
}
