/**
 * The state of registered memory in one process: the table of its grants, the transports, and the service that answers
 * peers. The process creates it when it first registers memory or first uses a buffer of another process.
 */

import { closeSync } from "node:fs";
import { errorMessage } from "../../../shared/text/error-message.js";
import type { Clock } from "../../link/clock.js";
import { ownMachineId } from "../../machine-id.js";
import { type RdmaAddon, rdmaAddon } from "../../native/rdma-addon.js";
import { currentRuntime } from "../../proc/process/current-runtime.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { RdmaError } from "../errors.js";
import type { Access, Grant } from "../grant/grant.js";
import { GrantState } from "../grant/grant-slot.js";
import { GrantTable } from "../grant/grant-table.js";
import { GrantedMemory } from "../grant/granted-memory.js";
import type { LocalMemory } from "../grant/local-memory.js";
import {
  MAX_PART_BYTES,
  type MemoryHandle,
  type ProcessIdentity,
  type TransportParts,
} from "../grant/memory-handle.js";
import { ownStartTime } from "../grant/start-time.js";
import { ProcPeerConnector } from "../peer/peer-connector.js";
import type { TransportBackend } from "../transport/backend.js";
import type { Transport } from "../transport-names.js";
import { createBackends } from "./create-backends.js";
import { LocalMemoryService } from "./local-memory-service.js";

/** Default time in ms for which a revocation waits for writers. */
const defaultRevokeTimeout = 10_000;

export class RdmaDomain {
  readonly addon: RdmaAddon | undefined;
  readonly clock: Clock;
  readonly grants: GrantTable;
  readonly peers: ProcPeerConnector;
  /** The backends of all transports, the fastest first. */
  readonly backends: readonly TransportBackend[];
  #serial = 0;

  constructor(owner: ProcessRuntime) {
    const { clock, random } = owner.platform;
    this.clock = clock;
    this.addon = rdmaAddon();
    this.grants = new GrantTable(this.addon, clock, random);
    this.peers = new ProcPeerConnector(owner);
    this.backends = createBackends(this.addon, this.peers, this.grants, clock, random);
    owner.memoryService = new LocalMemoryService(new GrantedMemory(this.grants), this.grants, this.backends);
    process.once("exit", () => this.grants.close());
  }

  get ownProcess(): ProcessIdentity {
    return { machine: ownMachineId(), pid: process.pid, started: ownStartTime(), table: this.grants.fd };
  }

  /**
   * Allocates memory, filled with zeros. With the addon, peers of this machine can map the memory.
   * @throws RdmaError if there is not enough memory
   */
  allocate(bytes: number): LocalMemory {
    if (this.addon === undefined) return { bytes: new Uint8Array(bytes), address: undefined, file: undefined };
    const { fd, buffer } = this.#createFile(this.addon, bytes);
    const view = new Uint8Array(buffer);
    return { bytes: view, address: this.addon.addressOf(view), file: { fd, serial: ++this.#serial } };
  }

  #createFile(addon: RdmaAddon, bytes: number): { fd: number; buffer: ArrayBuffer } {
    try {
      return addon.createMemory(bytes, false);
    } catch (error) {
      const why = errorMessage(error);
      throw new RdmaError("ERR_RDMA_LIMIT", `cannot allocate ${bytes} bytes: ${why}`, { cause: error });
    }
  }

  register(bytes: Uint8Array): LocalMemory {
    return { bytes, address: this.addon?.addressOf(bytes), file: undefined };
  }

  grant(memory: LocalMemory, offset: number, length: number, access: Access): { grant: Grant; handle: MemoryHandle } {
    const grant = this.grants.add(memory, offset, length, access);
    try {
      return { grant, handle: this.#handleOf(grant) };
    } catch (error) {
      this.grants.markEnded(grant, GrantState.dropped);
      this.grants.freeSlot(grant);
      throw error;
    }
  }

  #handleOf(grant: Grant): MemoryHandle {
    const parts: Partial<Record<Transport, Uint8Array>> = {};
    for (const backend of this.backends) {
      const part = backend.whyUnavailable() === undefined ? backend.handlePartOf?.(grant) : undefined;
      if (part === undefined) continue;
      if (part.length > MAX_PART_BYTES)
        throw new RangeError(
          `transport ${backend.transport} adds ${part.length} bytes to a handle, more than ${MAX_PART_BYTES}`,
        );
      parts[backend.transport] = part;
    }
    const { slot, generation, nonce, length, access } = grant;
    const { proc, location } = this.peers.ownAddress;
    return {
      slot,
      generation,
      nonce,
      length,
      access,
      proc,
      location,
      process: this.ownProcess,
      transportParts: parts as TransportParts,
    };
  }

  /**
   * Ends a grant. Resolves when no peer reads or writes through the grant any more; bytes that a peer still reads are
   * discarded.
   * @param timeout time in ms for which to wait for writers
   * @throws RdmaError if a writer does not end in time; the memory must not be reused then, and the call can be
   * repeated
   */
  async endGrant(
    grant: Grant,
    state: typeof GrantState.revoked | typeof GrantState.dropped,
    timeout = defaultRevokeTimeout,
  ): Promise<void> {
    this.grants.markEnded(grant, state);
    const giveUp = new AbortController();
    const timer = this.clock.after(timeout, () => giveUp.abort());
    try {
      await Promise.all([
        this.grants.whenWritersDone(grant, giveUp.signal),
        ...this.backends.map((backend) => backend.finishRevocation?.(grant, giveUp.signal)),
      ]);
      this.grants.freeSlot(grant);
    } finally {
      timer.cancel();
    }
  }

  /** Frees memory of `allocate` that has no grants any more. Processes that have mapped the memory keep it. */
  releaseMemory({ bytes, file }: LocalMemory): void {
    if (file === undefined) return;
    closeSync(file.fd);
    this.addon?.unmap(bytes.buffer as ArrayBuffer);
  }
}

const domains = new WeakMap<ProcessRuntime, RdmaDomain>();

/** Returns the domain of the process to which the running code belongs. */
export function currentDomain(): RdmaDomain {
  const owner = currentRuntime();
  let found = domains.get(owner);
  if (found === undefined) {
    found = new RdmaDomain(owner);
    domains.set(owner, found);
  }
  return found;
}
