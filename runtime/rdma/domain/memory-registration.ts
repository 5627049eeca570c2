/** An owner's side of a buffer: the memory, the grant that the buffer's handle names, and the grants of its parts. */

import { RdmaError } from "../errors.js";
import type { Access, Grant } from "../grant/grant.js";
import { GrantState } from "../grant/grant-slot.js";
import type { LocalMemory } from "../grant/local-memory.js";
import type { MemoryHandle } from "../grant/memory-handle.js";
import { segmentsOf, type TransferOperation } from "../transfer/transfer-operation.js";
import type { RdmaDomain } from "./rdma-domain.js";

export class MemoryRegistration {
  readonly domain: RdmaDomain;
  readonly memory: LocalMemory;
  readonly #grant: Grant;
  /** The granted parts that have not been dropped; undefined if this registration is itself a part. */
  readonly #parts: Set<MemoryRegistration> | undefined;
  #ending: Promise<void> | undefined;
  #isReleased = false;

  constructor(domain: RdmaDomain, memory: LocalMemory, grant: Grant, whole = true) {
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

  grantPart(
    offset: number,
    length: number,
    access: Access,
  ): { readonly handle: MemoryHandle; readonly part: MemoryRegistration } {
    const { handle, grant } = this.domain.grant(this.memory, this.#grant.offset + offset, length, access);
    const part = new MemoryRegistration(this.domain, this.memory, grant, false);
    this.#parts?.add(part);
    return { handle, part };
  }

  revoke(timeout?: number): Promise<void> {
    return this.#endGrant(GrantState.revoked, timeout);
  }

  async drop(timeout?: number): Promise<void> {
    const parts = [...(this.#parts ?? [])];
    await Promise.all([
      this.#endGrant(GrantState.dropped, timeout),
      ...parts.map((part) => part.#endGrant(GrantState.dropped, timeout)),
    ]);
    this.#parts?.clear();
    if (this.#parts === undefined || this.#isReleased) return;
    this.#isReleased = true;
    this.domain.releaseMemory(this.memory);
  }

  /** Copies the bytes of an operation of the owner itself. The copy is complete when the method returns. */
  transfer(operation: TransferOperation): undefined {
    const { view } = this;
    for (const { remote, local, length } of segmentsOf(operation)) {
      const there = view.subarray(remote, remote + length);
      const here = operation.local.subarray(local, local + length);
      if (operation.direction === "read") here.set(there);
      else there.set(here);
    }
    return undefined;
  }

  /** Ends the grant, once. If ending the grant fails, the next call tries again. */
  #endGrant(state: typeof GrantState.revoked | typeof GrantState.dropped, timeout: number | undefined): Promise<void> {
    this.#ending ??= this.domain.endGrant(this.#grant, state, timeout).catch((error) => {
      this.#ending = undefined;
      throw error;
    });
    return this.#ending;
  }
}
