/**
 * The connections of an initiator to owners. Each owner has one connection, which is opened on demand and again after
 * it was lost. Owners that cannot be connected to are reached by calls.
 */
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

/** Maximum number of open connections. Beyond it, the idle connection that was used longest ago is closed. */
const MAX_CONNECTIONS = 256;

/** Time limit in ms for a connection to arrive after its owner has reported that it is open. */
const ARRIVAL_LIMIT_MS = 5000;

type OwnerAddress = Pick<MemoryHandle, "proc" | "location">;

interface OwnerEntry {
  /** Resolves with the connection, or with undefined if the owner is reached by calls. Never rejects. */
  readonly opening: Promise<InitiatorConnection | undefined>;
  /** The connection, once it is open. */
  connection: InitiatorConnection | undefined;
}

export class OwnerConnections {
  readonly #connector: PeerConnector;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Pending invitations by token. */
  readonly #invited = new Map<bigint, (arrival: OfferedConnection) => void>();
  /** Owners, the one that was used longest ago first. */
  readonly #entries = new Map<ProcId, OwnerEntry>();

  constructor(connector: PeerConnector, clock: Clock, random: Random) {
    this.#connector = connector;
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Transfers a piece.
   * @throws ConnectionLostError, as a rejection, if the connection ends; RdmaError if the owner is gone or answers
   * wrongly
   */
  async move(owner: OwnerAddress, piece: MemoryPiece): Promise<Refused | undefined> {
    const known = this.#entryOf(owner);
    const connection = known.connection ?? (await known.opening);
    // The canceller has been promised that the memory is not accessed any more.
    if (piece.operation?.isCancelled === true) throw new ConnectionLostError("it was cancelled");
    return connection === undefined ? moveByCall(this.#connector, owner, piece) : connection.move(piece);
  }

  /** Resolves when the memory of a cancelled operation is not accessed any more. */
  async release({ proc }: OwnerAddress, operation: TransferOperation): Promise<void> {
    await this.#entries.get(proc)?.connection?.release(operation);
  }

  /** Takes the connection of an invited owner. @throws ProtocolError if no owner was invited with this token */
  connectionArrived(token: bigint, arrival: OfferedConnection): void {
    const welcome = this.#invited.get(token);
    if (welcome === undefined) {
      throw new ProtocolError("cannot read memory frame: a connection without an invitation");
    }
    this.#invited.delete(token);
    welcome(arrival);
  }

  /** Handles the end of a proc, as its links report it. */
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
      // The owner was reported gone while the connection was being opened.
      if (this.#entries.get(proc) !== known) connection?.destroy();
    });
    return known;
  }

  async #open(owner: OwnerAddress, ended: () => void): Promise<InitiatorConnection | undefined> {
    const { universe } = this.#connector;
    try {
      const bulk = await this.#connector.connect(owner.proc, owner.location);
      if (bulk !== undefined) return await InitiatorConnection.open(bulk, this.#clock, universe, ended);
      const arrival = await this.#invite(owner);
      return arrival && (await InitiatorConnection.open(arrival.bulk, this.#clock, universe, ended, arrival.incoming));
    } catch {
      // The owner is then reached by calls, which report the cause if it is gone.
      return undefined;
    }
  }

  /**
   * Asks an owner to connect to this process.
   * @returns undefined if no process can connect to this one; rejects if the owner cannot connect
   */
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
