/**
 * Transport `stream`: the owner's event loop reads and writes its memory itself, when it is asked to, and checks everything. Needs no
 * addon and goes wherever messages go, by connections that carry nothing else. Bytes go in pieces, several under way at a time.
 */
import type { ProcId } from "../../link/address.js";
import type { Clock, Random } from "../../link/clock.js";
import type { Backend, Opened } from "../backend.js";
import { RdmaError } from "../errors.js";
import type { Grant } from "../grant.js";
import { claimOf, type Handle } from "../handle.js";
import { type Operation, stretchesOf } from "../operation.js";
import { isRefusal, refused } from "../refusal.js";
import type { Road } from "../roads.js";
import { OwnerService } from "../service.js";
import type { Grants } from "../table.js";
import { Kind, PIECE_BYTES, type Refused, writeOffer } from "./frames.js";
import { Lost } from "./initiator.js";
import { readInvitation } from "./invitation.js";
import { OwnerConnection } from "./owner.js";
import { StreamPeers } from "./peers.js";
import type { Way } from "./way.js";

/** Bytes of one transfer that are asked for at a time, and pieces, since short ones cost more than their bytes. */
const WINDOW_BYTES = 8 << 20;
const WINDOW_PIECES = 256;

/** How often in a row a piece is lost before its owner counts as gone. */
const MOST_LOST = 3;

interface Stretch {
  readonly remote: number;
  readonly local: number;
  readonly length: number;
}

export class StreamBackend implements Backend {
  readonly transport = "stream";
  readonly oneSided = false;
  readonly #road: Road;
  readonly #clock: Clock;
  readonly #service: OwnerService;
  readonly #peers: StreamPeers;
  readonly #accepted = new Set<OwnerConnection>();
  /** Those that this side has made, by whom it was asked to: one for each. */
  readonly #offered = new Map<ProcId, OwnerConnection>();

  constructor(road: Road, grants: Grants, clock: Clock, random: Random) {
    this.#road = road;
    this.#clock = clock;
    this.#service = new OwnerService(grants);
    this.#peers = new StreamPeers(road, clock, random);
  }

  unavailable(): undefined {
    return undefined;
  }

  granted(): undefined {
    this.#road.listen((way) => this.accept(way));
  }

  accept(way: Way): void {
    this.#serve(way);
  }

  /** Somebody cannot connect to this process, and asks it to connect to him. */
  async answer(request: Uint8Array): Promise<Uint8Array> {
    const { token, proc, location } = readInvitation(request);
    const way = await this.#road.connect(proc, location);
    if (way === undefined) throw new Error("there is no way to the process that wants to be connected to");
    this.#offered.get(proc)?.destroy(new Error("it has asked for another connection"));
    this.#offered.set(proc, this.#serve(way, writeOffer(this.#road.universe, token)));
    return new Uint8Array(0);
  }

  #serve(way: Way, offer?: Uint8Array): OwnerConnection {
    const connection = new OwnerConnection(
      way,
      {
        clock: this.#clock,
        universe: this.#road.universe,
        service: this.#service,
        offered: (token, arrival) => this.#peers.arrived(token, arrival),
        ended: (over) => {
          this.#accepted.delete(over);
          for (const [proc, one] of this.#offered) if (one === over) this.#offered.delete(proc);
        },
      },
      offer,
    );
    this.#accepted.add(connection);
    return connection;
  }

  async revoked(grant: Grant): Promise<void> {
    await Promise.all([...this.#accepted].map((connection) => connection.release(grant)));
  }

  gone(peer: ProcId, reason: string): void {
    this.#peers.gone(peer, reason);
    this.#offered.get(peer)?.destroy(new Error(reason));
  }

  close(): void {
    this.#peers.close();
    for (const connection of this.#accepted) connection.destroy();
  }

  async open(handle: Handle): Promise<Opened> {
    await this.#look(handle, "open");
    return { transfer: (operation) => this.#transfer(handle, operation), close() {} };
  }

  /** Nothing is moved: its owner says whether it could be. */
  async #look(handle: Handle, what: string): Promise<void> {
    const nothing = { kind: Kind.read, claim: claimOf(handle), offset: 0, own: new Uint8Array(0) };
    for (let lost = 0; ; lost++) {
      try {
        check(await this.#peers.move(handle, nothing), what);
        return;
      } catch (error) {
        if (!(error instanceof Lost) || lost >= MOST_LOST) throw asGone(error);
      }
    }
  }

  #transfer(handle: Handle, operation: Operation): Promise<void> {
    return new Promise((resolve, reject) => {
      const stretches = cut(operation);
      let next = stretches.next();
      let bytes = 0;
      let underWay = 0;
      let ended = false;
      const end = (error?: unknown) => {
        if (ended) return;
        ended = true;
        if (error === undefined) {
          resolve();
          return;
        }
        operation.cancel();
        // What is still under way is thrown away when it comes: nothing touches local memory after this.
        const settle = () => reject(error as Error);
        this.#peers.release(handle, operation).then(settle, settle);
      };
      const fill = () => {
        while (
          !ended &&
          !next.done &&
          underWay < WINDOW_PIECES &&
          (bytes === 0 || bytes + next.value.length <= WINDOW_BYTES)
        ) {
          const stretch = next.value;
          next = stretches.next();
          bytes += stretch.length;
          underWay++;
          this.#move(handle, operation, stretch).then(() => {
            bytes -= stretch.length;
            underWay--;
            if (ended) return;
            operation.count(stretch.length);
            if (underWay === 0 && next.done) end();
            else if (bytes <= WINDOW_BYTES / 2 && underWay <= WINDOW_PIECES / 2) fill();
          }, end);
        }
        if (underWay === 0 && next.done) end();
      };
      operation.onCancel(() => {
        end(new RdmaError("ERR_RDMA_UNKNOWN", `cannot ${operation.direction}: it was given up`));
      });
      fill();
    });
  }

  async #move(handle: Handle, operation: Operation, { remote, local, length }: Stretch): Promise<void> {
    const { direction } = operation;
    const own = operation.local.subarray(local, local + length);
    const piece = { operation, kind: Kind[direction], claim: claimOf(handle), offset: remote, own };
    for (let lost = 0; ; lost++) {
      try {
        check(await this.#peers.move(handle, piece), direction);
        return;
      } catch (error) {
        if (!(error instanceof Lost) || lost >= MOST_LOST) throw asGone(error);
        if (operation.cancelled) throw error;
        if (direction === "read") continue;
        // If its owner is still there, the bytes may be, too, and others may have been written over them since.
        await this.#look(handle, direction);
        const why = `the connection to its owner was lost: ${error.message}`;
        throw new RdmaError("ERR_RDMA_UNKNOWN", `cannot write: ${why}`, { cause: error });
      }
    }
  }
}

function* cut(operation: Operation): Generator<Stretch, undefined> {
  for (const { remote, local, length } of stretchesOf(operation)) {
    for (let at = 0; at < length; at += PIECE_BYTES) {
      yield { remote: remote + at, local: local + at, length: Math.min(PIECE_BYTES, length - at) };
    }
  }
  return undefined;
}

function asGone(error: unknown): unknown {
  if (!(error instanceof Lost)) return error;
  const why = `connections to it end: ${error.message}`;
  return new RdmaError("ERR_RDMA_PEER_GONE", `cannot reach the owner of an RdmaBuffer: ${why}`, { cause: error });
}

/** @throws RdmaError when it is a refusal */
function check(why: Refused | undefined, what: string): void {
  if (why === undefined) return;
  if (isRefusal(why)) throw refused(why, what);
  // Both are checked here first: the owner and the handle do not agree.
  throw new RdmaError(why === "access" ? "ERR_RDMA_ACCESS" : "ERR_RDMA_BOUNDS", `cannot ${what}: the owner refuses it`);
}
