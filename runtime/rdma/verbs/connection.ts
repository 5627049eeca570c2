/**
 * The initiator's side of the way to one process through one port: its queue pair, made when it is needed, and made anew when it
 * has broken, for which the owner's event loop is needed each time.
 */

import type { GrantClaim } from "../../../generated/rdma.js";
import { offAbort, onAbort } from "../../abort-listeners.js";
import { lazyModules } from "../../lazy-modules.js";
import type { Ask } from "../backend.js";
import { RdmaError } from "../errors.js";
import { refused } from "../refusal.js";
import type { Devices, OpenPort } from "./devices.js";
import { Heartbeat, readBeat } from "./heartbeat.js";
import { type Answer, decodeAnswer, encodeRequest, type Request, TOKEN_BYTES } from "./messages.js";
import { Pair } from "./pair.js";
import type { Port } from "./ports.js";

/** How long the first read may take, in ms: beyond it the network does not lead there. */
const probeLimit = 1_000;

/** The owner's device does not answer, though its process does. */
export class NoWay extends Error {}

/** Granted memory as the owner's device knows it, and a queue pair that leads there. */
export interface Way {
  readonly pair: Pair;
  readonly port: OpenPort;
  readonly address: bigint;
  readonly key: number;
}

interface Connected {
  readonly pair: Pair;
  readonly heartbeat: Heartbeat;
}

export class Connection {
  readonly #devices: Devices;
  readonly #our: Port;
  readonly #gid: Uint8Array;
  readonly #token = new Uint8Array(lazyModules.crypto.randomBytes(TOKEN_BYTES));
  #connected: Connected | undefined;
  #connecting: Promise<unknown> | undefined;

  /** @param gid the owner's port */
  constructor(devices: Devices, our: Port, gid: Uint8Array) {
    this.#devices = devices;
    this.#our = our;
    this.#gid = gid;
  }

  /**
   * The way to what is granted; one question to the owner.
   * @param what is being done, as texts of errors say it
   * @throws RdmaError when the owner refuses the grant, or is gone; NoWay when its device is not reached; what `signal` says
   */
  async reach(grant: GrantClaim, ask: Ask, what: string, signal: AbortSignal): Promise<Way> {
    const port = await this.#devices.open(this.#our);
    // Whoever connects may have more time than this one, and the owner may be stopped.
    while (this.#connecting !== undefined)
      await unlessAborted(
        this.#connecting.catch(() => undefined),
        signal,
      );
    const asked = (request: Request) => question(request, ask, what, signal);
    const pair = this.#pair();
    if (pair !== undefined) return { pair, port, ...(await asked({ grant, gid: this.#gid })) };
    const connecting = this.#connect(port, grant, asked);
    this.#connecting = connecting;
    try {
      return await connecting;
    } finally {
      this.#connecting = undefined;
    }
  }

  #pair(): Pair | undefined {
    return this.#connected?.pair.broken === false ? this.#connected.pair : undefined;
  }

  async #connect(port: OpenPort, grant: GrantClaim, asked: (request: Request) => Promise<Answer>): Promise<Way> {
    this.close();
    const pair = await Pair.create(port.device);
    try {
      const end = { pair: pair.name, beat: port.device.beat };
      const request = { grant, gid: this.#gid, connect: { token: this.#token, end } };
      const { address, key, end: peer } = await asked(request);
      if (peer === undefined) throw new NoWay("the owner has no queue pair to offer");
      await pair.connect(peer.pair);
      const limit = this.#devices.clock.after(probeLimit, () => void pair.destroy());
      const secret = await readBeat(port, pair, peer.beat);
      limit.cancel();
      if (secret === undefined || Buffer.compare(secret, peer.beat.secret) !== 0) {
        throw new NoWay(`RDMA port ${this.#our.device} does not lead to the owner`);
      }
      const heartbeat = new Heartbeat(this.#devices.clock, port, pair, peer.beat, () => this.#lost(pair));
      this.#connected = { pair, heartbeat };
      return { pair, port, address, key };
    } catch (error) {
      pair.destroy().catch(() => undefined);
      throw error;
    }
  }

  #lost(pair: Pair): void {
    if (this.#connected?.pair === pair) this.close();
  }

  /** The next one who wants to go this way makes a queue pair anew. Transfers under way end first, flushed. Idempotent. */
  close(): void {
    this.#connected?.heartbeat.stop();
    this.#connected?.pair.destroy().catch(() => undefined);
    this.#connected = undefined;
  }
}

async function question(request: Request, ask: Ask, what: string, signal: AbortSignal): Promise<Answer> {
  const bytes = await unlessAborted(ask(encodeRequest(request), signal), signal).catch((error) => {
    if (signal.aborted || error instanceof RdmaError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new RdmaError("ERR_RDMA_PEER_GONE", `cannot ${what}: the owner is not reached: ${why}`, { cause: error });
  });
  const answer = decodeAnswer(bytes);
  if (typeof answer === "string") throw refused(answer, what);
  if ("why" in answer) throw new NoWay(answer.why);
  return answer;
}

/** What is waited for may need an owner that is stopped, and never come. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    onAbort(signal, abort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    offAbort(signal, abort);
  }
}
