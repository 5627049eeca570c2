/**
 * Everything of registered memory that one process has: the table of what it grants, the transports, and who answers when a peer
 * needs this process. Made when memory is first registered, or a buffer of another process first used.
 */
import { closeSync } from "node:fs";
import type { Clock } from "../link/clock.js";
import { type RdmaAddon, rdmaAddon } from "../native/rdma-addon.js";
import { currentRuntime, type ProcessRuntime } from "../proc/process/process-runtime.js";
import type { Backend } from "./backend.js";
import { BackendService } from "./backend-service.js";
import { makeBackends } from "./backends.js";
import { RdmaError } from "./errors.js";
import type { Access, Grant } from "./grant.js";
import { type Handle, PART_BYTES, type Parts, type ProcessName } from "./handle.js";
import type { Memory } from "./memory.js";
import { ownMachine, ownStart } from "./process-name.js";
import { Roads } from "./roads.js";
import { OwnerService } from "./service.js";
import { State } from "./slot.js";
import { Table } from "./table.js";
import type { Transport } from "./transport.js";

/** How long a revocation waits for writers unless it is told otherwise, in ms. */
const writersLimit = 10_000;

export class Domain {
  readonly addon: RdmaAddon | undefined;
  readonly clock: Clock;
  readonly table: Table;
  readonly procs: Roads;
  /** Best first. */
  readonly backends: readonly Backend[];
  #serial = 0;

  constructor(owner: ProcessRuntime) {
    const { clock, random } = owner.platform;
    this.clock = clock;
    this.addon = rdmaAddon();
    this.table = new Table(this.addon, clock, random);
    this.procs = new Roads(owner);
    this.backends = makeBackends(this.addon, this.procs, this.table, clock, random);
    owner.memoryService = new BackendService(new OwnerService(this.table), this.backends);
    process.once("exit", () => this.table.close());
  }

  get process(): ProcessName {
    return { machine: ownMachine(), pid: process.pid, started: ownStart(), table: this.table.fd };
  }

  /** @throws RdmaError without the addon, or when there is not so much memory */
  allocate(bytes: number): Memory {
    if (this.addon === undefined) return { bytes: new Uint8Array(bytes), address: undefined, file: undefined };
    const { fd, buffer } = this.#create(this.addon, bytes);
    const view = new Uint8Array(buffer);
    return { bytes: view, address: this.addon.addressOf(view), file: { fd, serial: ++this.#serial } };
  }

  #create(addon: RdmaAddon, bytes: number): { fd: number; buffer: ArrayBuffer } {
    try {
      return addon.createMemory(bytes, false);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new RdmaError("ERR_RDMA_LIMIT", `cannot allocate ${bytes} bytes: ${why}`, { cause: error });
    }
  }

  register(bytes: Uint8Array): Memory {
    return { bytes, address: this.addon?.addressOf(bytes), file: undefined };
  }

  grant(memory: Memory, offset: number, length: number, access: Access): { grant: Grant; handle: Handle } {
    const grant = this.table.add(memory, offset, length, access);
    try {
      return { grant, handle: this.#handleOf(grant) };
    } catch (error) {
      this.table.end(grant, State.dropped);
      this.table.release(grant);
      throw error;
    }
  }

  #handleOf(grant: Grant): Handle {
    const parts: Partial<Record<Transport, Uint8Array>> = {};
    for (const backend of this.backends) {
      const part = backend.unavailable() === undefined ? backend.granted?.(grant) : undefined;
      if (part === undefined) continue;
      if (part.length > PART_BYTES) throw new RangeError(`transport ${backend.transport} has too much for a handle`);
      parts[backend.transport] = part;
    }
    const { slot, generation, nonce, length, access } = grant;
    const { proc, location } = this.procs.own;
    return { slot, generation, nonce, length, access, proc, location, process: this.process, parts: parts as Parts };
  }

  /**
   * Takes a grant back. Resolves when nobody reads or writes by it any more, or what is read is thrown away.
   * @param timeout for writers that do not come to an end, in ms
   * @throws RdmaError when one does not: the memory must not be used for anything else; may be called again
   */
  async end(grant: Grant, state: typeof State.revoked | typeof State.dropped, timeout = writersLimit): Promise<void> {
    this.table.end(grant, state);
    const giveUp = new AbortController();
    const timer = this.clock.after(timeout, () => giveUp.abort());
    try {
      await Promise.all([
        this.table.written(grant, giveUp.signal),
        ...this.backends.map((backend) => backend.revoked?.(grant, giveUp.signal)),
      ]);
      this.table.release(grant);
    } finally {
      timer.cancel();
    }
  }

  /** Memory that was registered, of which no grant is left. What was allocated is given back, unless others have it mapped. */
  release({ bytes, file }: Memory): void {
    if (file === undefined) return;
    closeSync(file.fd);
    this.addon?.unmap(bytes.buffer as ArrayBuffer);
  }
}

const domains = new WeakMap<ProcessRuntime, Domain>();

/** The one of the process that the running code belongs to. */
export function domain(): Domain {
  const owner = currentRuntime();
  let found = domains.get(owner);
  if (found === undefined) {
    found = new Domain(owner);
    domains.set(owner, found);
  }
  return found;
}
