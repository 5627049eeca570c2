/**
 * The initiator's side of the way to one process through one port: its queue pair, made when it is needed, and made anew when it
 * has broken, for which the owner's event loop is needed each time.
 */

import type { GrantClaim } from "../../../../generated/rdma.js";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { offAbort, onAbort } from "../../../abort-listeners.js";
import { lazyModules } from "../../../lazy-modules.js";
import { RdmaError } from "../../errors.js";
import { refusalError } from "../../grant/refusal.js";
import type { AskOwner } from "../backend.js";
import type { OpenPort, RdmaDevices } from "./devices.js";
import { Heartbeat, readHeartbeat } from "./heartbeat.js";
import { decodeAnswer, encodeRequest, TOKEN_BYTES, type VerbsAnswer, type VerbsRequest } from "./messages.js";
import type { RdmaPort } from "./ports.js";
import { QueuePair } from "./queue-pair.js";

/** How long the first read may take, in ms: beyond it the network does not lead there. */
const probeLimit = 1_000;

/** The owner's device does not answer, though its process does. */
export class NoPathError extends Error {}

/** Granted memory as the owner's device knows it, and a queue pair that leads there. */
export interface VerbsPath {
  readonly pair: QueuePair;
  readonly port: OpenPort;
  readonly address: bigint;
  readonly key: number;
}

interface ConnectedPair {
  readonly pair: QueuePair;
  readonly heartbeat: Heartbeat;
}

export class VerbsConnection {
  readonly #devices: RdmaDevices;
  readonly #ownPort: RdmaPort;
  readonly #ownerGid: Uint8Array;
  readonly #token = new Uint8Array(lazyModules.crypto.randomBytes(TOKEN_BYTES));
  #connected: ConnectedPair | undefined;
  #connecting: Promise<unknown> | undefined;

  /** @param gid the owner's port */
  constructor(devices: RdmaDevices, our: RdmaPort, gid: Uint8Array) {
    this.#devices = devices;
    this.#ownPort = our;
    this.#ownerGid = gid;
  }

  /**
   * The way to what is granted; one question to the owner.
   * @param what is being done, as texts of errors say it
   * @throws RdmaError when the owner refuses the grant, or is gone; NoPathError when its device is not reached; what `signal` says
   */
  async openPath(grant: GrantClaim, ask: AskOwner, what: string, signal: AbortSignal): Promise<VerbsPath> {
    const port = await this.#devices.open(this.#ownPort);
    // Whoever connects may have more time than this one, and the owner may be stopped.
    while (this.#connecting !== undefined)
      await unlessAborted(
        this.#connecting.catch(() => undefined),
        signal,
      );
    const asked = (request: VerbsRequest) => askForAnswer(request, ask, what, signal);
    const pair = this.#livePair();
    if (pair !== undefined) return { pair, port, ...(await asked({ grant, gid: this.#ownerGid })) };
    const connecting = this.#connect(port, grant, asked);
    this.#connecting = connecting;
    try {
      return await connecting;
    } finally {
      this.#connecting = undefined;
    }
  }

  #livePair(): QueuePair | undefined {
    return this.#connected?.pair.isBroken === false ? this.#connected.pair : undefined;
  }

  async #connect(
    port: OpenPort,
    grant: GrantClaim,
    asked: (request: VerbsRequest) => Promise<VerbsAnswer>,
  ): Promise<VerbsPath> {
    this.close();
    const pair = await QueuePair.create(port.device);
    try {
      const end = { pair: pair.address, heartbeatTarget: port.device.heartbeatTarget };
      const request = { grant, gid: this.#ownerGid, connect: { token: this.#token, end } };
      const { address, key, end: peer } = await asked(request);
      if (peer === undefined) throw new NoPathError("the owner has no queue pair to offer");
      await pair.connect(peer.pair);
      const limit = this.#devices.clock.after(probeLimit, () => void pair.destroy());
      const secret = await readHeartbeat(port, pair, peer.heartbeatTarget);
      limit.cancel();
      if (secret === undefined || Buffer.compare(secret, peer.heartbeatTarget.secret) !== 0) {
        throw new NoPathError(`RDMA port ${this.#ownPort.device} does not lead to the owner`);
      }
      const heartbeat = new Heartbeat(this.#devices.clock, port, pair, peer.heartbeatTarget, () =>
        this.#pairLost(pair),
      );
      this.#connected = { pair, heartbeat };
      return { pair, port, address, key };
    } catch (error) {
      pair.destroy().catch(() => undefined);
      throw error;
    }
  }

  #pairLost(pair: QueuePair): void {
    if (this.#connected?.pair === pair) this.close();
  }

  /** The next one who wants to go this way makes a queue pair anew. Transfers under way end first, flushed. Idempotent. */
  close(): void {
    this.#connected?.heartbeat.stop();
    this.#connected?.pair.destroy().catch(() => undefined);
    this.#connected = undefined;
  }
}

async function askForAnswer(
  request: VerbsRequest,
  ask: AskOwner,
  what: string,
  signal: AbortSignal,
): Promise<VerbsAnswer> {
  const bytes = await unlessAborted(ask(encodeRequest(request), signal), signal).catch((error) => {
    if (signal.aborted || error instanceof RdmaError) throw error;
    const why = errorMessage(error);
    throw new RdmaError("ERR_RDMA_PEER_GONE", `cannot ${what}: the owner is not reached: ${why}`, { cause: error });
  });
  const answer = decodeAnswer(bytes);
  if (typeof answer === "string") throw refusalError(answer, what);
  if ("why" in answer) throw new NoPathError(answer.why);
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
