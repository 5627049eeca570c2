/**
 * Transport `stream`: the owner's event loop reads and writes its memory itself, when it is asked to, and checks everything. Needs no
 * addon and goes wherever messages go. Bytes go in pieces, several under way at a time.
 */
import type { ProcAgentMesh } from "../../generated/proc-agent.js";
import type { MemoryAnswer } from "../../generated/rdma.js";
import type { Backend, Opened } from "./backend.js";
import { RdmaError } from "./errors.js";
import { claimOf, type Handle } from "./handle.js";
import type { Road } from "./memory-proc.js";
import { type Operation, stretchesOf } from "./operation.js";
import { isRefusal, refused } from "./refusal.js";
import { STREAM_CHUNK } from "./service.js";

/** Bytes under way at a time, asked for or sent: what keeps a fast connection busy. */
const WINDOW_BYTES = 4 << 20;
/** Pieces under way at a time: short ones cost more than their bytes. */
const WINDOW_PIECES = 256;

interface Piece {
  readonly remote: number;
  readonly local: number;
  readonly length: number;
}

export class StreamBackend implements Backend {
  readonly transport = "stream";
  readonly oneSided = false;
  readonly #road: Road;

  constructor(road: Road) {
    this.#road = road;
  }

  unavailable(): undefined {
    return undefined;
  }

  async open(handle: Handle): Promise<Opened> {
    check(await this.#ask(handle, 0, 0), "open");
    return { transfer: (operation) => this.#transfer(handle, operation), close() {} };
  }

  #transfer(handle: Handle, operation: Operation): Promise<void> {
    return new Promise((resolve, reject) => {
      const pieces = cut(operation);
      let next = pieces.next();
      let bytes = 0;
      let underWay = 0;
      let ended = false;
      const end = (error?: unknown) => {
        ended = true;
        if (error === undefined) resolve();
        else {
          // What is still under way is thrown away when it comes: nothing touches local memory after this.
          operation.cancel();
          reject(error as Error);
        }
      };
      const fill = () => {
        while (
          !ended &&
          !next.done &&
          underWay < WINDOW_PIECES &&
          (bytes === 0 || bytes + next.value.length <= WINDOW_BYTES)
        ) {
          const piece = next.value;
          next = pieces.next();
          bytes += piece.length;
          underWay++;
          this.#move(handle, operation, piece).then(() => {
            bytes -= piece.length;
            underWay--;
            if (ended) return;
            if (underWay === 0 && next.done) end();
            else fill();
          }, end);
        }
        if (!ended && underWay === 0 && next.done) end();
      };
      operation.onCancel(() => {
        if (!ended) end(new RdmaError("ERR_RDMA_UNKNOWN", `cannot ${operation.direction}: it was given up`));
      });
      fill();
    });
  }

  async #move(handle: Handle, operation: Operation, { remote, local, length }: Piece): Promise<void> {
    const { direction } = operation;
    const own = operation.local.subarray(local, local + length);
    if (direction === "read") {
      const { bytes } = check(await this.#ask(handle, remote, length), direction);
      if (bytes?.length !== length) {
        const why = `its owner has sent ${bytes?.length ?? "no"} bytes for ${length}`;
        throw new RdmaError("ERR_RDMA_FAULT", `cannot read an RdmaBuffer: ${why}`);
      }
      if (operation.cancelled) return;
      own.set(bytes);
    } else {
      // A copy: messages are sent from where their bytes are, maybe later than this is given up.
      const bytes = own.slice();
      check(await this.#send(handle, (agent) => agent.writeMemory.callOne(claimOf(handle), remote, bytes)), direction);
    }
    operation.count(length);
  }

  #ask(handle: Handle, offset: number, length: number): Promise<MemoryAnswer> {
    return this.#send(handle, (agent) => agent.readMemory.callOne(claimOf(handle), offset, length));
  }

  async #send(
    { proc, location }: Handle,
    call: (agent: ProcAgentMesh) => PromiseLike<MemoryAnswer>,
  ): Promise<MemoryAnswer> {
    try {
      return await this.#road.ask(proc, location, call);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new RdmaError("ERR_RDMA_PEER_GONE", `cannot reach the owner of an RdmaBuffer: ${why}`, { cause: error });
    }
  }
}

function* cut(operation: Operation): Generator<Piece, undefined> {
  for (const { remote, local, length } of stretchesOf(operation)) {
    for (let at = 0; at < length; at += STREAM_CHUNK) {
      yield { remote: remote + at, local: local + at, length: Math.min(STREAM_CHUNK, length - at) };
    }
  }
  return undefined;
}

/** @throws RdmaError when it is a refusal */
function check(answer: MemoryAnswer, what: string): MemoryAnswer {
  const { refused: why } = answer;
  if (why === undefined) return answer;
  if (isRefusal(why)) throw refused(why, what);
  // Both are checked here first: the owner and the handle do not agree.
  throw new RdmaError(why === "access" ? "ERR_RDMA_ACCESS" : "ERR_RDMA_BOUNDS", `cannot ${what}: the owner refuses it`);
}
