/** The ways to owners: one connection to each, made when it is needed and again when it was lost; calls where there can be none. */
import type { ProcId } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";
import type { Handle } from "../handle.js";
import type { Operation } from "../operation.js";
import type { Road } from "../roads.js";
import { moveByCall } from "./calls.js";
import type { Refused } from "./frames.js";
import { InitiatorConnection, Lost, type Piece } from "./initiator.js";

/** Connections that are kept; of more, those go that nothing has been asked of for longest. */
const KEPT = 256;

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
  /** The one that was used longest ago first. */
  readonly #known = new Map<ProcId, Known>();

  constructor(road: Road, clock: Clock) {
    this.#road = road;
    this.#clock = clock;
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

  async #open({ proc, location }: Owner, ended: () => void): Promise<InitiatorConnection | undefined> {
    try {
      const way = await this.#road.connect(proc, location);
      return way && (await InitiatorConnection.open(way, this.#clock, this.#road.universe, ended));
    } catch {
      // Who is there and cannot be spoken to so, or is gone, is asked by calls, and these tell.
      return undefined;
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
