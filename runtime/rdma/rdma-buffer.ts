/**
 * `RdmaBuffer`: registered memory as a value that can be sent. The owner has the memory itself. Other processes have a
 * handle, and copy bytes between the memory and their own views.
 */

import { MemoryRegistration } from "./domain/memory-registration.js";
import { currentDomain, type RdmaDomain } from "./domain/rdma-domain.js";
import { type OpenOptions, TransportSelection } from "./domain/transport-selection.js";
import { RdmaError } from "./errors.js";
import type { Access } from "./grant/grant.js";
import type { MemoryHandle } from "./grant/memory-handle.js";
import { runTransfer, type TransferOptions } from "./transfer/run-transfer.js";
import {
  type ByteRange,
  type Region,
  segmentsOfRange,
  segmentsOfRegion,
  type TransferSegments,
} from "./transfer/segments.js";
import type { TransferDirection, TransferOperation } from "./transfer/transfer-operation.js";
import type { Transport } from "./transport-names.js";

/** The options of a transfer: which bytes, and how long it may take. */
export interface RdmaTransferOptions extends TransferOptions, ByteRange {
  /** A block of several dimensions, instead of a range. Its `length` is computed. */
  readonly region?: Region;
}

/** The options of `register` and `allocate`. */
export interface RegisterOptions {
  /** The right of processes that receive the buffer. Default: `"rw"`. */
  readonly access?: Access;
}

/** The options of `grant`. */
export interface GrantOptions {
  /** The first byte, from 0. Default: 0. */
  readonly offset?: number;
  /** The number of bytes. Default: up to the end of the buffer. */
  readonly length?: number;
  /** The right of processes that receive the grant. Default: `"r"`. */
  readonly access?: Access;
}

/** The options of `revoke` and `drop`. */
export interface RevokeOptions {
  /** The time for which to wait for writers, in milliseconds. Default: 10,000. */
  readonly timeout?: number;
}

/** Only this module has the key, so only this module creates buffers. */
const constructorKey = Symbol("RdmaBuffer");

/**
 * Memory that other processes can read and write without the owner's event loop, where the transport allows it. The
 * owner registers the memory. Every process that receives the buffer has a handle of about 100 bytes.
 *
 * @example
 * ```ts
 * import { RdmaBuffer } from "viceroy/rdma";
 *
 * const weights = new Float32Array(1_024);
 * await using buffer = RdmaBuffer.register(weights, { access: "r" });
 * // Sent to another process as an argument or a result, where it is read:
 * async function fetchWeights(remote: RdmaBuffer): Promise<Float32Array> {
 *   const copy = new Float32Array(remote.size / 4);
 *   await remote.readInto(copy, { timeout: 5_000 });
 *   return copy;
 * }
 * ```
 */
export class RdmaBuffer {
  /** The number of bytes. */
  readonly size: number;
  /** The right of processes that receive the buffer. The owner may do everything. */
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
   * Registers existing memory until it is dropped. Its ArrayBuffer must not be transferred or detached meanwhile. A
   * slice of Node.js's pool, such as a small Buffer, is registered as that range only.
   *
   * @param view a view of the memory
   * @param options what other processes may do
   * @throws {TypeError} when the ArrayBuffer is resizable, or the view has no bytes
   * @throws {RdmaError} when the process has too many grants
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
   * Allocates memory that other processes of this machine can map, filled with zeros. Transfers of such memory are the
   * fastest on one machine.
   *
   * @param bytes number of bytes, an integer from 1
   * @param options what other processes may do
   * @throws {TypeError} when `bytes` is not an integer of at least 1
   * @throws {RdmaError} when there is not enough memory
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

  /** Makes the buffer of a received handle. @internal */
  static fromHandle(handle: MemoryHandle): RdmaBuffer {
    return new RdmaBuffer(constructorKey, handle);
  }

  /** Whether this process owns the memory, so that this buffer can revoke and drop it. */
  get owned(): boolean {
    return this.#registration !== undefined;
  }

  /** The transport of the buffer: `"local"` at the owner. Undefined until the buffer has been opened. */
  get transport(): Transport | "local" | undefined {
    return this.#registration === undefined ? this.#selection?.selected?.transport : "local";
  }

  /** Whether transfers leave the owner's event loop alone. Undefined until the buffer has been opened. */
  get oneSided(): boolean | undefined {
    return this.#registration === undefined ? this.#selection?.selected?.oneSided : true;
  }

  /**
   * The memory itself, at its owner.
   *
   * @throws {RdmaError} in other processes, and after `drop`
   */
  get view(): Uint8Array {
    const owned = this.#requireOwned("view", "it is memory of another process: read it with readInto, or map it");
    this.#checkNotDropped("view");
    return owned.view;
  }

  /**
   * Selects a transport, which otherwise the first transfer does. If the current transport is not one of `transports`,
   * another one is selected.
   *
   * @param options the allowed transports, and a signal
   * @returns this buffer
   * @throws {RdmaError} as a rejection, when the handle is refused, the owner is gone, or no allowed transport reaches
   *   the memory
   */
  async open(options: OpenOptions = {}): Promise<this> {
    if (this.#registration === undefined) await this.#transportSelection().open(options);
    return this;
  }

  /**
   * Reads from the memory into a local view. The transfer has started when the method returns. The bytes are not a
   * snapshot: other processes may write meanwhile.
   *
   * @param local the view that receives the bytes
   * @param options range, time limit, signal and progress; default: from the start of the buffer, as much as fits into
   *   `local`
   * @returns a promise that resolves when the bytes are in `local`
   * @throws {RdmaError} as a rejection, when the transfer fails; the content of `local` is then undefined, and `local`
   *   is not accessed any more
   */
  readInto(local: ArrayBufferView, options: RdmaTransferOptions = {}): Promise<void> {
    return this.#transfer("read", local, options);
  }

  /**
   * Writes a local view into the memory. The view must not change meanwhile. The transfer has started when the method
   * returns.
   *
   * @param local the view that has the bytes
   * @param options range, time limit, signal and progress; default: to the start of the buffer, all bytes of `local`
   * @returns a promise that resolves when the bytes are in the memory
   * @throws {RdmaError} as a rejection, when the transfer fails; some bytes may have been written
   */
  writeFrom(local: ArrayBufferView, options: RdmaTransferOptions = {}): Promise<void> {
    return this.#transfer("write", local, options);
  }

  /**
   * Maps the memory into this process: writes of the owner and of others are visible in the view. Writes to a view of a
   * read-only buffer stay local. The view stays valid when the grant is revoked or the owner ends.
   *
   * @param options the allowed transports, and a signal
   * @throws {RdmaError} as a rejection, when the transport is not `"shared"`: the memory is on another machine, or was
   *   not made by `allocate`
   */
  async map(options: OpenOptions = {}): Promise<Uint8Array> {
    this.#checkNotDropped("map");
    if (this.#registration !== undefined) return this.#registration.view;
    return this.#transportSelection().map(options);
  }

  /**
   * Returns a part of the memory, or a weaker right, as a buffer of its own, which can be sent and revoked by itself.
   *
   * @param options the range and the right
   * @throws {RdmaError} when this process is not the owner, or the range exceeds the buffer
   */
  grant({ offset = 0, length = this.size - offset, access = "r" }: GrantOptions = {}): RdmaBuffer {
    const owned = this.#requireOwned("grant part of an RdmaBuffer", "only its owner can do so");
    this.#checkNotDropped("grant part of an RdmaBuffer");
    segmentsOfRange({ offset, length }, this.size, length);
    if (length === 0) throw new RdmaError("ERR_RDMA_BOUNDS", "cannot grant part of an RdmaBuffer: it has no bytes");
    if (access === "rw" && this.access === "r") {
      throw new RdmaError("ERR_RDMA_ACCESS", "cannot grant part of an RdmaBuffer for writing: the buffer is read-only");
    }
    const { handle, part } = owned.grantPart(offset, length, access);
    return new RdmaBuffer(constructorKey, handle, part);
  }

  /**
   * Revokes this buffer's own grant, or one that `grant` has returned. New transfers are refused from the call on.
   * Revoking a grant again has no effect.
   *
   * @param granted the grant to revoke; default: that of this buffer
   * @param options the time for which to wait for writers
   * @returns a promise that resolves when no process uses the grant any more
   * @throws {RdmaError} as a rejection with `ERR_RDMA_TIMEOUT`, when a writer does not end in time, for example after
   *   SIGSTOP; the grant stays refused, but that writer may still write
   */
  async revoke(granted: RdmaBuffer = this, options: RevokeOptions = {}): Promise<void> {
    const own = this.#requireOwned("revoke a grant", "only its owner can do so");
    const owned = granted.#requireOwned("revoke a grant", "only its owner can do so");
    if (owned.memory !== own.memory) {
      throw new RdmaError("ERR_RDMA_UNSUPPORTED", "cannot revoke a grant: it belongs to other memory");
    }
    await owned.revoke(options.timeout);
  }

  /**
   * Ends the use of the buffer. At the owner, all grants are revoked and the memory is unregistered; memory of
   * `allocate` is freed, except for processes that have mapped it. A part that was granted is revoked. In other
   * processes, the handle is closed. Dropping a buffer again has no effect.
   *
   * @param options the time for which to wait for writers
   * @throws {RdmaError} as a rejection with `ERR_RDMA_TIMEOUT`, as for `revoke`
   */
  async drop(options: RevokeOptions = {}): Promise<void> {
    this.#isDropped = true;
    if (this.#registration !== undefined) await this.#registration.drop(options.timeout);
    await this.#selection?.close();
  }

  /** Drops the buffer at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.drop();
  }

  /** Returns size, access and transport as text. */
  toString(): string {
    return `RdmaBuffer(${this.size} bytes, ${this.access}${this.transport === undefined ? "" : `, ${this.transport}`})`;
  }

  #transfer(direction: TransferDirection, view: ArrayBufferView, options: RdmaTransferOptions): Promise<void> {
    try {
      const local = bytesOf(view);
      this.#checkNotDropped(direction);
      const segments = this.#segmentsOf(local.length, options);
      if (direction === "write" && this.access === "r" && this.#registration === undefined) {
        throw new RdmaError("ERR_RDMA_ACCESS", `cannot write ${segments.bytes} bytes: the buffer is read-only`);
      }
      const { clock } = this.#localDomain();
      return runTransfer(direction, local, segments, options, clock, (operation) => this.#startOperation(operation));
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
