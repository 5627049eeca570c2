/** The way to the memory of another process, as one buffer has it: found when it is first needed, and again when another one is wanted. */

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

/** Of who waits as long as it takes. */
const neverAborted = new AbortController().signal;

export class TransportSelection {
  readonly #domain: RdmaDomain;
  readonly #handle: MemoryHandle;
  #selected: SelectedTransport | undefined;
  #selecting: Promise<SelectedTransport> | undefined;
  /** Those that were in use before: transfers may be under way on them. */
  readonly #previous: SelectedTransport[] = [];
  #mappedView: Uint8Array | undefined;
  #isClosed = false;

  constructor(domain: RdmaDomain, handle: MemoryHandle) {
    this.#domain = domain;
    this.#handle = handle;
  }

  /** What is in use; undefined: nothing yet. */
  get selected(): SelectedTransport | undefined {
    return this.#selected;
  }

  /** On the spot where nobody has to be waited for. @throws TypeError, RdmaError, also as rejections */
  open({ transports, signal = neverAborted }: OpenOptions = {}): SelectedTransport | Promise<SelectedTransport> {
    if (transports !== undefined) checkTransports(transports);
    const chosen = this.#selected;
    if (chosen !== undefined && (transports?.includes(chosen.transport) ?? true)) return chosen;
    const choosing = this.#selecting;
    if (choosing !== undefined) {
      if (transports === undefined) return choosing;
      // What it comes to may be none of these.
      const next = () => this.open({ transports, signal });
      return choosing.then(next, next);
    }
    const found = selectTransport(this.#domain, this.#handle, transports ?? allowedTransports(), signal);
    return found instanceof Promise ? this.#installWhenSelected(found) : this.#install(found);
  }

  /** Starts a transfer, at once if it can. */
  startOperation(operation: TransferOperation): Promise<void> | undefined {
    const chosen = this.open();
    return chosen instanceof Promise ? startWhenSelected(chosen, operation) : chosen.opened.transfer(operation);
  }

  /** The memory in place: the same view each time. @throws RdmaError where the transport cannot */
  async map(options: OpenOptions): Promise<Uint8Array> {
    const { opened, transport } = await this.open(options);
    if (opened.map === undefined) {
      const why = `transport ${transport} cannot; memory of RdmaBuffer.allocate can be mapped on the machine of its owner`;
      throw new RdmaError("ERR_RDMA_UNSUPPORTED", `cannot map an RdmaBuffer: ${why}`);
    }
    this.#mappedView ??= opened.map();
    return this.#mappedView;
  }

  /** It is used no more. */
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

  /** Whoever comes meanwhile waits for the same; when it comes to nothing, the next one tries again. */
  #installWhenSelected(found: Promise<SelectedTransport>): Promise<SelectedTransport> {
    const over = () => {
      this.#selecting = undefined;
    };
    this.#selecting = found.then((chosen) => this.#install(chosen)).finally(over);
    return this.#selecting;
  }
}

async function startWhenSelected(opening: Promise<SelectedTransport>, operation: TransferOperation): Promise<void> {
  const given = new Promise<never>((_, reject) => operation.onCancel(() => reject(new Error("it was given up"))));
  const { opened } = await Promise.race([opening, given]);
  await opened.transfer(operation);
}
