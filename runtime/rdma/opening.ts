/** The way to the memory of another process, as one buffer has it: found when it is first needed, and again when another one is wanted. */
import { type Chosen, choose } from "./choose.js";
import type { Domain } from "./domain.js";
import { RdmaError } from "./errors.js";
import type { Handle } from "./handle.js";
import type { Operation } from "./operation.js";
import { allowedTransports, checkTransports, type Transport } from "./transport.js";

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
const never = new AbortController().signal;

export class Opening {
  readonly #domain: Domain;
  readonly #handle: Handle;
  #chosen: Chosen | undefined;
  #choosing: Promise<Chosen> | undefined;
  /** Those that were in use before: transfers may be under way on them. */
  readonly #former: Chosen[] = [];
  #inPlace: Uint8Array | undefined;
  #closed = false;

  constructor(domain: Domain, handle: Handle) {
    this.#domain = domain;
    this.#handle = handle;
  }

  /** What is in use; undefined: nothing yet. */
  get chosen(): Chosen | undefined {
    return this.#chosen;
  }

  /** On the spot where nobody has to be waited for. @throws TypeError, RdmaError, also as rejections */
  open({ transports, signal = never }: OpenOptions = {}): Chosen | Promise<Chosen> {
    if (transports !== undefined) checkTransports(transports);
    const chosen = this.#chosen;
    if (chosen !== undefined && (transports?.includes(chosen.transport) ?? true)) return chosen;
    const choosing = this.#choosing;
    if (choosing !== undefined) {
      if (transports === undefined) return choosing;
      // What it comes to may be none of these.
      const next = () => this.open({ transports, signal });
      return choosing.then(next, next);
    }
    const found = choose(this.#domain, this.#handle, transports ?? allowedTransports(), signal);
    return found instanceof Promise ? this.#wait(found) : this.#take(found);
  }

  /** Starts a transfer, at once if it can. */
  start(operation: Operation): Promise<void> | undefined {
    const chosen = this.open();
    return chosen instanceof Promise ? startWhenOpen(chosen, operation) : chosen.opened.transfer(operation);
  }

  /** The memory in place: the same view each time. @throws RdmaError where the transport cannot */
  async map(options: OpenOptions): Promise<Uint8Array> {
    const { opened, transport } = await this.open(options);
    if (opened.map === undefined) {
      const why = `transport ${transport} cannot; memory of RdmaBuffer.allocate can be mapped on the machine of its owner`;
      throw new RdmaError("ERR_RDMA_UNSUPPORTED", `cannot map an RdmaBuffer: ${why}`);
    }
    this.#inPlace ??= opened.map();
    return this.#inPlace;
  }

  /** It is used no more. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#chosen !== undefined) this.#former.push(this.#chosen);
    this.#chosen = undefined;
    for (const { opened } of this.#former.splice(0)) opened.close();
    await this.#choosing?.catch(() => undefined);
  }

  #take(chosen: Chosen): Chosen {
    if (this.#closed) chosen.opened.close();
    else {
      if (this.#chosen !== undefined) this.#former.push(this.#chosen);
      this.#chosen = chosen;
    }
    return chosen;
  }

  /** Whoever comes meanwhile waits for the same; when it comes to nothing, the next one tries again. */
  #wait(found: Promise<Chosen>): Promise<Chosen> {
    const over = () => {
      this.#choosing = undefined;
    };
    this.#choosing = found.then((chosen) => this.#take(chosen)).finally(over);
    return this.#choosing;
  }
}

async function startWhenOpen(opening: Promise<Chosen>, operation: Operation): Promise<void> {
  const given = new Promise<never>((_, reject) => operation.onCancel(() => reject(new Error("it was given up"))));
  const { opened } = await Promise.race([opening, given]);
  await opened.transfer(operation);
}
