/**
 * The initiator's connection to one process through one port. Its queue pair is created on demand, and again after it
 * has broken. Each creation needs the owner's event loop.
 */

import type { GrantClaim } from "../../../../generated/rdma.js";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { offAbort, onAbort } from "../../../abort-listeners.js";
import { lazyModules } from "../../../lazy-modules.js";
import { RdmaError } from "../../errors.js";
import { refusalError } from "../../grant/refusal.js";
import type { AskOwner } from "../backend.js";
import type { OpenRdmaPort, RdmaDevices } from "./devices.js";
import { Heartbeat, readHeartbeat } from "./heartbeat.js";
import { decodeAnswer, encodeRequest, TOKEN_BYTES, type VerbsAnswer, type VerbsRequest } from "./messages.js";
import type { RdmaPort } from "./ports.js";
import { QueuePair } from "./queue-pair.js";

/** Time limit in ms for the first read. If it takes longer, the network does not connect the two ports. */
const probeLimit = 1_000;

/** Reports that the owner's process answers but its device cannot be reached. */
export class NoPathError extends Error {}

/** A queue pair to an owner, with the address and key of the granted memory at the owner's device. */
export interface VerbsPath {
  readonly pair: QueuePair;
  readonly port: OpenRdmaPort;
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

  /** @param gid the address of the owner's port */
  constructor(devices: RdmaDevices, our: RdmaPort, gid: Uint8Array) {
    this.#devices = devices;
    this.#ownPort = our;
    this.#ownerGid = gid;
  }

  /**
   * Opens a path to granted memory, with one request to the owner.
   * @param what the operation, for error messages
   * @throws RdmaError if the owner refuses the grant or is gone; NoPathError if its device cannot be reached; the
   * reason of `signal`
   */
  async openPath(grant: GrantClaim, ask: AskOwner, what: string, signal: AbortSignal): Promise<VerbsPath> {
    const port = await this.#devices.open(this.#ownPort);
    // The pending attempt may have a longer time limit than this caller, and the owner may be stopped.
    while (this.#connecting !== undefined)
      await unlessAborted(
        this.#connecting.catch(() => undefined),
        signal,
      );
    const sendRequest = (request: VerbsRequest) => askForAnswer(request, ask, what, signal);
    const pair = this.#livePair();
    if (pair !== undefined) return { pair, port, ...(await sendRequest({ grant, gid: this.#ownerGid })) };
    const connecting = this.#connect(port, grant, sendRequest);
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
    port: OpenRdmaPort,
    grant: GrantClaim,
    sendRequest: (request: VerbsRequest) => Promise<VerbsAnswer>,
  ): Promise<VerbsPath> {
    this.close();
    const pair = await QueuePair.create(port.device);
    try {
      const end = { pair: pair.address, heartbeatTarget: port.device.heartbeatTarget };
      const request = { grant, gid: this.#ownerGid, connect: { token: this.#token, end } };
      const { address, key, end: peer } = await sendRequest(request);
      if (peer === undefined) throw new NoPathError("the owner has sent no queue pair");
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

  /** Destroys the queue pair, which flushes its transfers. The next caller creates another one. Idempotent. */
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
    throw new RdmaError("ERR_RDMA_PEER_GONE", `cannot ${what}: the owner cannot be reached: ${why}`, { cause: error });
  });
  const answer = decodeAnswer(bytes);
  if (typeof answer === "string") throw refusalError(answer, what);
  if ("why" in answer) throw new NoPathError(answer.why);
  return answer;
}

/** Waits for a promise or the abortion of a signal. The promise may never settle, because the owner may be stopped. */
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
