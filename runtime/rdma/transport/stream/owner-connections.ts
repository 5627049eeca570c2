/** The ways to owners: one connection to each, made when it is needed and again when it was lost; calls where there can be none. */
import type { ProcId } from "../../../link/address.js";
import type { Clock, Random } from "../../../link/clock.js";
import { ProtocolError } from "../../../link/frame/frame.js";
import type { MemoryHandle } from "../../grant/memory-handle.js";
import type { PeerConnector } from "../../peer/peer-connector.js";
import type { TransferOperation } from "../../transfer/transfer-operation.js";
import type { Refused } from "./frames.js";
import { ConnectionLostError, InitiatorConnection, type MemoryPiece } from "./initiator.js";
import { writeInvitation } from "./invitation.js";
import { moveByCall } from "./move-by-call.js";
import type { OfferedConnection } from "./owner.js";

/** Connections that are kept; of more, those go that nothing has been asked of for longest. */
const MAX_CONNECTIONS = 256;

/** How long a connection is waited for after its owner has said that it is made, in ms. */
const ARRIVAL_LIMIT_MS = 5000;

type OwnerAddress = Pick<MemoryHandle, "proc" | "location">;

interface OwnerEntry {
  /** Undefined: there is no way but calls. Never rejects. */
  readonly opening: Promise<InitiatorConnection | undefined>;
  /** As soon as it is there. */
  connection: InitiatorConnection | undefined;
}

export class OwnerConnections {
  readonly #connector: PeerConnector;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Connections that owners were asked to make, by token. */
  readonly #invited = new Map<bigint, (arrival: OfferedConnection) => void>();
  /** The one that was used longest ago first. */
  readonly #entries = new Map<ProcId, OwnerEntry>();

  constructor(road: PeerConnector, clock: Clock, random: Random) {
    this.#connector = road;
    this.#clock = clock;
    this.#random = random;
  }

  /** @throws Lost when the connection ends; RdmaError when the owner is gone, or answers something else */
  async move(owner: OwnerAddress, piece: MemoryPiece): Promise<Refused | undefined> {
    const known = this.#entryOf(owner);
    const connection = known.connection ?? (await known.opening);
    // Who has given up meanwhile was told that nothing touches the memory any more.
    if (piece.operation?.isCancelled === true) throw new ConnectionLostError("it was given up");
    return connection === undefined ? moveByCall(this.#connector, owner, piece) : connection.move(piece);
  }

  /** Resolves when nothing touches the memory of an operation that was given up. */
  async release({ proc }: OwnerAddress, operation: TransferOperation): Promise<void> {
    await this.#entries.get(proc)?.connection?.release(operation);
  }

  /** An owner has connected to this process. @throws ProtocolError when it was not asked to */
  connectionArrived(token: bigint, arrival: OfferedConnection): void {
    const welcome = this.#invited.get(token);
    if (welcome === undefined) {
      throw new ProtocolError("cannot read memory frame: a connection that nobody has asked for");
    }
    this.#invited.delete(token);
    welcome(arrival);
  }

  /** Somebody has ended, by what links tell. */
  ownerGone(peer: ProcId, reason: string): void {
    const known = this.#entries.get(peer);
    this.#entries.delete(peer);
    known?.connection?.destroy(new Error(reason));
  }

  close(): void {
    for (const { connection } of this.#entries.values()) connection?.destroy();
    this.#entries.clear();
  }

  #entryOf(owner: OwnerAddress): OwnerEntry {
    const { proc } = owner;
    const found = this.#entries.get(proc);
    if (found !== undefined) {
      this.#entries.delete(proc);
      this.#entries.set(proc, found);
      return found;
    }
    if (this.#entries.size >= MAX_CONNECTIONS) this.#closeLeastRecent();
    const known: OwnerEntry = { opening: this.#open(owner, () => forget()), connection: undefined };
    const forget = () => {
      if (this.#entries.get(proc) === known) this.#entries.delete(proc);
    };
    this.#entries.set(proc, known);
    void known.opening.then((connection) => {
      known.connection = connection;
      // Meanwhile its owner was said to be gone.
      if (this.#entries.get(proc) !== known) connection?.destroy();
    });
    return known;
  }

  async #open(owner: OwnerAddress, ended: () => void): Promise<InitiatorConnection | undefined> {
    const { universe } = this.#connector;
    try {
      const way = await this.#connector.connect(owner.proc, owner.location);
      if (way !== undefined) return await InitiatorConnection.open(way, this.#clock, universe, ended);
      const arrival = await this.#invite(owner);
      return arrival && (await InitiatorConnection.open(arrival.way, this.#clock, universe, ended, arrival.incoming));
    } catch {
      // Who is there and cannot be spoken to so, or is gone, is asked by calls, and these tell.
      return undefined;
    }
  }

  /** Asks an owner to connect to this process. @returns undefined: nobody can; rejects when this one cannot either */
  async #invite({ proc, location }: OwnerAddress): Promise<OfferedConnection | undefined> {
    const { reachableAddress } = this.#connector;
    if (reachableAddress === undefined) return undefined;
    const token = this.#random.id();
    const arrived = new Promise<OfferedConnection>((resolve) => this.#invited.set(token, resolve));
    try {
      const invitation = writeInvitation({ token, ...reachableAddress });
      await this.#connector.askAgent(proc, location, (agent) => agent.askMemory.callOne("stream", invitation));
      return await this.#withinLimit(arrived);
    } finally {
      this.#invited.delete(token);
    }
  }

  async #withinLimit<T>(awaited: Promise<T>): Promise<T | undefined> {
    let over = (): void => {};
    const limit = new Promise<undefined>((resolve) => {
      over = () => resolve(undefined);
    });
    const timer = this.#clock.after(ARRIVAL_LIMIT_MS, over, true);
    try {
      return await Promise.race([awaited, limit]);
    } finally {
      timer.cancel();
    }
  }

  #closeLeastRecent(): void {
    for (const [proc, { connection }] of this.#entries) {
      if (connection?.isIdle === false) continue;
      this.#entries.delete(proc);
      connection?.destroy();
      return;
    }
  }
}
