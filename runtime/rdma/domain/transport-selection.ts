/**
 * The transport that one buffer uses for the memory of another process. It is selected at first use, and again if the
 * caller allows only other transports.
 */

import { RdmaError } from "../errors.js";
import type { MemoryHandle } from "../grant/memory-handle.js";
import type { TransferOperation } from "../transfer/transfer-operation.js";
import { allowedTransports, checkTransports, type Transport } from "../transport-names.js";
import type { RdmaDomain } from "./rdma-domain.js";
import { type SelectedTransport, selectTransport } from "./select-transport.js";

/** The options of `open` and `map`. */
export interface OpenOptions {
  /**
   * The allowed transports. Default: the current one; before there is one, those of the environment variable
   * `VICEROY_RDMA_TRANSPORT`, or all.
   */
  readonly transports?: readonly Transport[];
  /** When aborted, the wait for the owner ends. */
  readonly signal?: AbortSignal;
}

/** The signal of callers that do not limit the wait. */
const neverAborted = new AbortController().signal;

export class TransportSelection {
  readonly #domain: RdmaDomain;
  readonly #handle: MemoryHandle;
  #selected: SelectedTransport | undefined;
  #selecting: Promise<SelectedTransport> | undefined;
  /** Transports that were selected before. Transfers may still use them. */
  readonly #previous: SelectedTransport[] = [];
  #mappedView: Uint8Array | undefined;
  #isClosed = false;

  constructor(domain: RdmaDomain, handle: MemoryHandle) {
    this.#domain = domain;
    this.#handle = handle;
  }

  /** The selected transport, or undefined before the first selection. */
  get selected(): SelectedTransport | undefined {
    return this.#selected;
  }

  /**
   * Selects a transport. Returns synchronously if no transport has to wait.
   * @throws TypeError, RdmaError, also as rejections
   */
  open({ transports, signal = neverAborted }: OpenOptions = {}): SelectedTransport | Promise<SelectedTransport> {
    if (transports !== undefined) checkTransports(transports);
    const chosen = this.#selected;
    if (chosen !== undefined && (transports?.includes(chosen.transport) ?? true)) return chosen;
    const choosing = this.#selecting;
    if (choosing !== undefined) {
      if (transports === undefined) return choosing;
      // The pending selection may choose a transport that this caller does not allow.
      const next = () => this.open({ transports, signal });
      return choosing.then(next, next);
    }
    const found = selectTransport(this.#domain, this.#handle, transports ?? allowedTransports(), signal);
    return found instanceof Promise ? this.#installWhenSelected(found) : this.#install(found);
  }

  /** Starts a transfer, synchronously if a transport is selected. */
  startOperation(operation: TransferOperation): Promise<void> | undefined {
    const chosen = this.open();
    return chosen instanceof Promise ? startWhenSelected(chosen, operation) : chosen.opened.transfer(operation);
  }

  /** Maps the memory. Each call returns the same view. @throws RdmaError if the transport cannot map memory */
  async map(options: OpenOptions): Promise<Uint8Array> {
    const { opened, transport } = await this.open(options);
    if (opened.map === undefined) {
      const why = `transport ${transport} cannot map memory; only memory of RdmaBuffer.allocate can be mapped, on the machine of its owner`;
      throw new RdmaError("ERR_RDMA_UNSUPPORTED", `cannot map an RdmaBuffer: ${why}`);
    }
    this.#mappedView ??= opened.map();
    return this.#mappedView;
  }

  /** Closes the opened memory, when the buffer is no longer used. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#selected !== undefined) this.#previous.push(this.#selected);
    this.#selected = undefined;
    for (const { opened } of this.#previous.splice(0)) opened.close();
    await this.#selecting?.catch(() => undefined);
  }

  #install(chosen: SelectedTransport): SelectedTransport {
    if (this.#isClosed) chosen.opened.close();
    else {
      if (this.#selected !== undefined) this.#previous.push(this.#selected);
      this.#selected = chosen;
    }
    return chosen;
  }

  /**
   * Installs a transport when it has been selected. Callers share a pending selection; after a failure the next caller
   * starts another one.
   */
  #installWhenSelected(found: Promise<SelectedTransport>): Promise<SelectedTransport> {
    const over = () => {
      this.#selecting = undefined;
    };
    this.#selecting = found.then((chosen) => this.#install(chosen)).finally(over);
    return this.#selecting;
  }
}

async function startWhenSelected(opening: Promise<SelectedTransport>, operation: TransferOperation): Promise<void> {
  const cancelled = new Promise<never>((_, reject) => operation.onCancel(() => reject(new Error("it was cancelled"))));
  const { opened } = await Promise.race([opening, cancelled]);
  await opened.transfer(operation);
}
