/** The ways to owners: one connection to each, made when it is needed and again when it was lost; calls where there can be none. */
import type { ProcId } from "../../link/address.js";
import type { Clock, Random } from "../../link/clock.js";
import { ProtocolError } from "../../link/frame.js";
import type { Handle } from "../handle.js";
import type { Operation } from "../operation.js";
import type { Road } from "../roads.js";
import { moveByCall } from "./calls.js";
import type { Refused } from "./frames.js";
import { InitiatorConnection, Lost, type Piece } from "./initiator.js";
import { writeInvitation } from "./invitation.js";
import type { Arrival } from "./owner.js";

/** Connections that are kept; of more, those go that nothing has been asked of for longest. */
const KEPT = 256;

/** How long a connection is waited for after its owner has said that it is made, in ms. */
const ARRIVAL = 5000;

type Owner = Pick<Handle, "proc" | "location">;

interface Known {
  /** Undefined: there is no way but calls. Never rejects. */
  readonly opening: Promise<InitiatorConnection | undefined>;
  /** As soon as it is there. */
  connection: InitiatorConnection | undefined;
}

export class StreamPeers {
  readonly #road: Road;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Connections that owners were asked to make, by token. */
  readonly #invited = new Map<bigint, (arrival: Arrival) => void>();
  /** The one that was used longest ago first. */
  readonly #known = new Map<ProcId, Known>();

  constructor(road: Road, clock: Clock, random: Random) {
    this.#road = road;
    this.#clock = clock;
    this.#random = random;
  }

  /** @throws Lost when the connection ends; RdmaError when the owner is gone, or answers something else */
  async move(owner: Owner, piece: Piece): Promise<Refused | undefined> {
    const known = this.#to(owner);
    const connection = known.connection ?? (await known.opening);
    // Who has given up meanwhile was told that nothing touches the memory any more.
    if (piece.operation?.cancelled === true) throw new Lost("it was given up");
    return connection === undefined ? moveByCall(this.#road, owner, piece) : connection.move(piece);
  }

  /** Resolves when nothing touches the memory of an operation that was given up. */
  async release({ proc }: Owner, operation: Operation): Promise<void> {
    await this.#known.get(proc)?.connection?.release(operation);
  }

  /** An owner has connected to this process. @throws ProtocolError when it was not asked to */
  arrived(token: bigint, arrival: Arrival): void {
    const welcome = this.#invited.get(token);
    if (welcome === undefined) {
      throw new ProtocolError("cannot read memory frame: a connection that nobody has asked for");
    }
    this.#invited.delete(token);
    welcome(arrival);
  }

  /** Somebody has ended, by what links tell. */
  gone(peer: ProcId, reason: string): void {
    const known = this.#known.get(peer);
    this.#known.delete(peer);
    known?.connection?.destroy(new Error(reason));
  }

  close(): void {
    for (const { connection } of this.#known.values()) connection?.destroy();
    this.#known.clear();
  }

  #to(owner: Owner): Known {
    const { proc } = owner;
    const found = this.#known.get(proc);
    if (found !== undefined) {
      this.#known.delete(proc);
      this.#known.set(proc, found);
      return found;
    }
    if (this.#known.size >= KEPT) this.#letGo();
    const known: Known = { opening: this.#open(owner, () => forget()), connection: undefined };
    const forget = () => {
      if (this.#known.get(proc) === known) this.#known.delete(proc);
    };
    this.#known.set(proc, known);
    void known.opening.then((connection) => {
      known.connection = connection;
      // Meanwhile its owner was said to be gone.
      if (this.#known.get(proc) !== known) connection?.destroy();
    });
    return known;
  }

  async #open(owner: Owner, ended: () => void): Promise<InitiatorConnection | undefined> {
    const { universe } = this.#road;
    try {
      const way = await this.#road.connect(owner.proc, owner.location);
      if (way !== undefined) return await InitiatorConnection.open(way, this.#clock, universe, ended);
      const arrival = await this.#invite(owner);
      return arrival && (await InitiatorConnection.open(arrival.way, this.#clock, universe, ended, arrival.incoming));
    } catch {
      // Who is there and cannot be spoken to so, or is gone, is asked by calls, and these tell.
      return undefined;
    }
  }

  /** Asks an owner to connect to this process. @returns undefined: nobody can; rejects when this one cannot either */
  async #invite({ proc, location }: Owner): Promise<Arrival | undefined> {
    const { reachable } = this.#road;
    if (reachable === undefined) return undefined;
    const token = this.#random.id();
    const arrived = new Promise<Arrival>((resolve) => this.#invited.set(token, resolve));
    try {
      const invitation = writeInvitation({ token, ...reachable });
      await this.#road.ask(proc, location, (agent) => agent.askMemory.callOne("stream", invitation));
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
    const timer = this.#clock.after(ARRIVAL, over, true);
    try {
      return await Promise.race([awaited, limit]);
    } finally {
      timer.cancel();
    }
  }

  #letGo(): void {
    for (const [proc, { connection }] of this.#known) {
      if (connection?.idle === false) continue;
      this.#known.delete(proc);
      connection?.destroy();
      return;
    }
  }
}
