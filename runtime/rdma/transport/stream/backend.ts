/**
 * Transport `stream`: the owner's event loop reads and writes its memory on request, and checks each request. It needs
 * no addon and reaches every process that messages reach, over connections that carry only memory bytes. A transfer is
 * cut into pieces, several of which are in flight at a time.
 */
import type { ProcId } from "../../../link/address.js";
import type { Clock, Random } from "../../../link/clock.js";
import { RdmaError } from "../../errors.js";
import type { Grant } from "../../grant/grant.js";
import type { GrantLookup } from "../../grant/grant-table.js";
import { GrantedMemory } from "../../grant/granted-memory.js";
import { grantClaimOf, type MemoryHandle } from "../../grant/memory-handle.js";
import { isRefusal, refusalError } from "../../grant/refusal.js";
import type { BulkConnection } from "../../peer/bulk-connection.js";
import type { PeerConnector } from "../../peer/peer-connector.js";
import { segmentsOf, type TransferOperation } from "../../transfer/transfer-operation.js";
import type { OpenedMemory, TransportBackend } from "../backend.js";
import { MAX_PIECE_BYTES, MemoryFrameKind, type Refused, writeOffer } from "./frames.js";
import { ConnectionLostError } from "./initiator.js";
import { readInvitation } from "./invitation.js";
import { OwnerConnection } from "./owner.js";
import { OwnerConnections } from "./owner-connections.js";

/** Maximum number of bytes and pieces of one transfer in flight. */
const WINDOW_BYTES = 8 << 20;
const WINDOW_PIECES = 256;

/** Number of lost connections in a row after which the owner counts as gone. */
const MAX_LOST_ATTEMPTS = 3;

interface PieceRange {
  readonly remote: number;
  readonly local: number;
  readonly length: number;
}

export class StreamBackend implements TransportBackend {
  readonly transport = "stream";
  readonly oneSided = false;
  readonly #connector: PeerConnector;
  readonly #clock: Clock;
  readonly #grantedMemory: GrantedMemory;
  readonly #owners: OwnerConnections;
  readonly #accepted = new Set<OwnerConnection>();
  /** Connections that this owner has opened on request, one for each initiator. */
  readonly #offered = new Map<ProcId, OwnerConnection>();

  constructor(connector: PeerConnector, grants: GrantLookup, clock: Clock, random: Random) {
    this.#connector = connector;
    this.#clock = clock;
    this.#grantedMemory = new GrantedMemory(grants);
    this.#owners = new OwnerConnections(connector, clock, random);
  }

  whyUnavailable(): undefined {
    return undefined;
  }

  handlePartOf(): undefined {
    this.#connector.listen((bulk) => this.acceptConnection(bulk));
  }

  acceptConnection(bulk: BulkConnection): void {
    this.#serveConnection(bulk);
  }

  /** Connects to an initiator that cannot connect to this process, on its request. */
  async answerPeer(request: Uint8Array): Promise<Uint8Array> {
    const { token, proc, location } = readInvitation(request);
    const bulk = await this.#connector.connect(proc, location);
    if (bulk === undefined) throw new Error("the initiator cannot be reached");
    this.#offered.get(proc)?.destroy(new Error("it has requested another connection"));
    this.#offered.set(proc, this.#serveConnection(bulk, writeOffer(this.#connector.universe, token)));
    return new Uint8Array(0);
  }

  #serveConnection(bulk: BulkConnection, offer?: Uint8Array): OwnerConnection {
    const connection = new OwnerConnection(
      bulk,
      {
        clock: this.#clock,
        universe: this.#connector.universe,
        grantedMemory: this.#grantedMemory,
        offered: (token, arrival) => this.#owners.connectionArrived(token, arrival),
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

  async finishRevocation(grant: Grant): Promise<void> {
    await Promise.all([...this.#accepted].map((connection) => connection.release(grant)));
  }

  peerGone(peer: ProcId, reason: string): void {
    this.#owners.ownerGone(peer, reason);
    this.#offered.get(peer)?.destroy(new Error(reason));
  }

  close(): void {
    this.#owners.close();
    for (const connection of this.#accepted) connection.destroy();
  }

  async open(handle: MemoryHandle): Promise<OpenedMemory> {
    await this.#probe(handle, "open");
    return { transfer: (operation) => this.#transfer(handle, operation), close() {} };
  }

  /** Asks the owner whether a handle is valid, with a read of 0 bytes. */
  async #probe(handle: MemoryHandle, what: string): Promise<void> {
    const nothing = { kind: MemoryFrameKind.read, claim: grantClaimOf(handle), offset: 0, local: new Uint8Array(0) };
    for (let lost = 0; ; lost++) {
      try {
        throwRefusal(await this.#owners.move(handle, nothing), what);
        return;
      } catch (error) {
        if (!(error instanceof ConnectionLostError) || lost >= MAX_LOST_ATTEMPTS) throw lostAsPeerGone(error);
      }
    }
  }

  #transfer(handle: MemoryHandle, operation: TransferOperation): Promise<void> {
    return new Promise((resolve, reject) => {
      const pieces = cutIntoPieces(operation);
      let next = pieces.next();
      let bytes = 0;
      let inFlight = 0;
      let ended = false;
      const end = (error?: unknown) => {
        if (ended) return;
        ended = true;
        if (error === undefined) {
          resolve();
          return;
        }
        operation.cancel();
        // Pieces in flight are discarded when they arrive. After `release`, local memory is not accessed any more.
        const settle = () => reject(error as Error);
        this.#owners.release(handle, operation).then(settle, settle);
      };
      const fill = () => {
        while (
          !ended &&
          !next.done &&
          inFlight < WINDOW_PIECES &&
          (bytes === 0 || bytes + next.value.length <= WINDOW_BYTES)
        ) {
          const piece = next.value;
          next = pieces.next();
          bytes += piece.length;
          inFlight++;
          this.#movePiece(handle, operation, piece).then(() => {
            bytes -= piece.length;
            inFlight--;
            if (ended) return;
            operation.addMoved(piece.length);
            if (inFlight === 0 && next.done) end();
            else if (bytes <= WINDOW_BYTES / 2 && inFlight <= WINDOW_PIECES / 2) fill();
          }, end);
        }
        if (inFlight === 0 && next.done) end();
      };
      operation.onCancel(() => {
        end(new RdmaError("ERR_RDMA_UNKNOWN", `cannot ${operation.direction}: it was cancelled`));
      });
      fill();
    });
  }

  async #movePiece(
    handle: MemoryHandle,
    operation: TransferOperation,
    { remote, local, length }: PieceRange,
  ): Promise<void> {
    const { direction } = operation;
    const own = operation.local.subarray(local, local + length);
    const piece = {
      operation,
      kind: MemoryFrameKind[direction],
      claim: grantClaimOf(handle),
      offset: remote,
      local: own,
    };
    for (let lost = 0; ; lost++) {
      try {
        throwRefusal(await this.#owners.move(handle, piece), direction);
        return;
      } catch (error) {
        if (!(error instanceof ConnectionLostError) || lost >= MAX_LOST_ATTEMPTS) throw lostAsPeerGone(error);
        if (operation.isCancelled) throw error;
        if (direction === "read") continue;
        // If the owner is alive, the bytes may have arrived, and other writers may have overwritten them since.
        await this.#probe(handle, direction);
        const why = `the connection to its owner was lost: ${error.message}`;
        throw new RdmaError("ERR_RDMA_UNKNOWN", `cannot write: ${why}`, { cause: error });
      }
    }
  }
}

function* cutIntoPieces(operation: TransferOperation): Generator<PieceRange, undefined> {
  for (const { remote, local, length } of segmentsOf(operation)) {
    for (let at = 0; at < length; at += MAX_PIECE_BYTES) {
      yield { remote: remote + at, local: local + at, length: Math.min(MAX_PIECE_BYTES, length - at) };
    }
  }
  return undefined;
}

function lostAsPeerGone(error: unknown): unknown {
  if (!(error instanceof ConnectionLostError)) return error;
  const why = `connections to it are lost: ${error.message}`;
  return new RdmaError("ERR_RDMA_PEER_GONE", `cannot reach the owner of an RdmaBuffer: ${why}`, { cause: error });
}

/** @throws RdmaError if the owner refuses the piece */
function throwRefusal(why: Refused | undefined, what: string): void {
  if (why === undefined) return;
  if (isRefusal(why)) throw refusalError(why, what);
  // The initiator has checked rights and bounds before, so the handle contradicts the slot of the owner.
  throw new RdmaError(why === "access" ? "ERR_RDMA_ACCESS" : "ERR_RDMA_BOUNDS", `cannot ${what}: the owner refuses it`);
}
