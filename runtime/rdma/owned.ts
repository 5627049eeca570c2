/** An owner's side of a buffer: the memory, the grant that stands in handles of it, and the grants of its parts. */
import type { Domain } from "./domain.js";
import { RdmaError } from "./errors.js";
import type { Access, Grant } from "./grant.js";
import type { Handle } from "./handle.js";
import type { Memory } from "./memory.js";
import { type Operation, stretchesOf } from "./operation.js";
import { State } from "./slot.js";

export class Owned {
  readonly domain: Domain;
  readonly memory: Memory;
  readonly #grant: Grant;
  /** Parts of it that were granted, and are not taken back; undefined: this is itself a part. */
  readonly #parts: Set<Owned> | undefined;
  #ended: Promise<void> | undefined;
  #released = false;

  constructor(domain: Domain, memory: Memory, grant: Grant, whole = true) {
    this.domain = domain;
    this.memory = memory;
    this.#grant = grant;
    this.#parts = whole ? new Set() : undefined;
  }

  get view(): Uint8Array {
    const { offset, length } = this.#grant;
    const { bytes } = this.memory;
    if (bytes.length >= offset + length) return bytes.subarray(offset, offset + length);
    const why = "its ArrayBuffer was detached, although it is registered";
    throw new RdmaError("ERR_RDMA_FAULT", `cannot use the memory of an RdmaBuffer: ${why}`);
  }

  grant(offset: number, length: number, access: Access): { readonly handle: Handle; readonly part: Owned } {
    const { handle, grant } = this.domain.grant(this.memory, this.#grant.offset + offset, length, access);
    const part = new Owned(this.domain, this.memory, grant, false);
    this.#parts?.add(part);
    return { handle, part };
  }

  revoke(timeout?: number): Promise<void> {
    return this.#end(State.revoked, timeout);
  }

  async drop(timeout?: number): Promise<void> {
    const parts = [...(this.#parts ?? [])];
    await Promise.all([this.#end(State.dropped, timeout), ...parts.map((part) => part.#end(State.dropped, timeout))]);
    this.#parts?.clear();
    if (this.#parts === undefined || this.#released) return;
    this.#released = true;
    this.domain.release(this.memory);
  }

  /** The memory is here: what is to be moved is moved at once. */
  transfer(operation: Operation): undefined {
    const { view } = this;
    for (const { remote, local, length } of stretchesOf(operation)) {
      const there = view.subarray(remote, remote + length);
      const here = operation.local.subarray(local, local + length);
      if (operation.direction === "read") here.set(there);
      else there.set(here);
    }
    return undefined;
  }

  /** Once; again when it did not come to an end. */
  #end(state: typeof State.revoked | typeof State.dropped, timeout: number | undefined): Promise<void> {
    this.#ended ??= this.domain.end(this.#grant, state, timeout).catch((error) => {
      this.#ended = undefined;
      throw error;
    });
    return this.#ended;
  }
}
