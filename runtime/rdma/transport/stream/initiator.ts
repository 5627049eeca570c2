/**
 * The initiator's side of a connection for memory bytes. It pipelines requests for pieces of an owner's memory, and the
 * answers arrive in order. Further requests wait while the window is full. Cancelled operations release their memory.
 */
import type { GrantClaim } from "../../../../generated/rdma.js";
import type { Clock } from "../../../link/clock.js";
import { ProtocolError } from "../../../link/frame/frame.js";
import { type BulkConnection, canLend } from "../../peer/bulk-connection.js";
import type { TransferOperation } from "../../transfer/transfer-operation.js";
import { FrameBody, FrameReceiver, type MemoryFrameHandler } from "./frame-receiver.js";
import { FrameSender, type OutgoingFrame } from "./frame-sender.js";
import {
  ANSWER_BYTES,
  MAX_UNANSWERED,
  MemoryFrameKind,
  type Refused,
  readAnswer,
  readWelcome,
  writeHello,
  writeRequest,
} from "./frames.js";

/** Maximum number of bytes in flight, which keeps a fast connection busy. */
const WINDOW_BYTES = 8 << 20;

/**
 * Time in ms for which a cancelled operation waits for bytes in flight from or to its memory, before the connection is
 * ended.
 */
const RELEASE_LIMIT_MS = 500;

/** Reports that the connection has ended. A pending request may have been carried out or not. */
export class ConnectionLostError extends Error {}

/** A piece of a transfer: at most `MAX_PIECE_BYTES`, contiguous on both sides. */
export interface MemoryPiece {
  /** The operation that can cancel the piece; undefined if the piece cannot be cancelled. */
  readonly operation?: TransferOperation;
  readonly kind: typeof MemoryFrameKind.read | typeof MemoryFrameKind.write;
  readonly claim: GrantClaim;
  readonly offset: number;
  /** The source or the destination of the bytes in this process. */
  readonly local: Uint8Array;
}

class PieceRequest {
  readonly piece: MemoryPiece;
  /** The body of the answer, for a read. */
  readonly body: FrameBody | undefined;
  readonly settle: (result: Refused | ConnectionLostError | undefined) => void;
  /** Whether the pipe has been given the memory of a write and has not taken it yet. */
  isLent = false;
  #takenListeners: (() => void)[] = [];

  constructor(piece: MemoryPiece, settle: (result: Refused | ConnectionLostError | undefined) => void) {
    this.piece = piece;
    this.settle = settle;
    this.body = piece.kind === MemoryFrameKind.read ? new FrameBody(piece.local.length, piece.local) : undefined;
  }

  toFrame(bulk: BulkConnection): OutgoingFrame {
    const { kind, claim, offset, local } = this.piece;
    const request = writeRequest({ kind, claim, offset, length: local.length });
    if (kind === MemoryFrameKind.read || local.length === 0) return { chunks: [request] };
    if (!canLend(bulk, local)) return { chunks: [request, local.slice()] };
    this.isLent = true;
    const sent = () => {
      this.isLent = false;
      for (const resolve of this.#takenListeners.splice(0)) resolve();
    };
    return { chunks: [request, local], sent };
  }

  /** Resolves when the pipe has taken the memory or was destroyed. */
  whenTaken(): Promise<void> {
    return new Promise((resolve) => this.#takenListeners.push(resolve));
  }
}

export class InitiatorConnection implements MemoryFrameHandler {
  readonly #connection: BulkConnection;
  readonly #clock: Clock;
  readonly #incoming: FrameReceiver;
  readonly #outgoing: FrameSender;
  /** Requests that wait to be sent, and requests that wait for an answer; the oldest first. */
  #unsent: PieceRequest[] = [];
  readonly #unanswered: PieceRequest[] = [];
  /** Number of bytes of the unanswered requests. */
  #bytes = 0;
  #hello: Uint8Array | undefined;
  #welcome: { resolve(): void; reject(error: Error): void } | undefined;
  #lostError: ConnectionLostError | undefined;
  readonly #onEnded: () => void;

  /**
   * Opens a connection. Rejects if the owner ends the connection at once.
   * @param ended called once, when the connection has ended, before pending requests fail
   * @param incoming the receiver that already reads from the pipe, if the owner has opened the connection
   */
  static async open(
    bulk: BulkConnection,
    clock: Clock,
    universe: bigint,
    ended: () => void,
    incoming?: FrameReceiver,
  ): Promise<InitiatorConnection> {
    const made = new InitiatorConnection(bulk, clock, universe, ended, incoming);
    bulk.pipe.ref();
    await new Promise<void>((resolve, reject) => {
      made.#welcome = { resolve, reject };
      if (incoming === undefined) bulk.pipe.open(made.#incoming);
      else incoming.handOver(ANSWER_BYTES, made);
      made.#outgoing.sendPending();
    });
    made.#unrefWhenIdle();
    return made;
  }

  private constructor(
    bulk: BulkConnection,
    clock: Clock,
    universe: bigint,
    ended: () => void,
    incoming: FrameReceiver | undefined,
  ) {
    this.#connection = bulk;
    this.#clock = clock;
    this.#onEnded = ended;
    this.#hello = writeHello(universe);
    this.#incoming = incoming ?? new FrameReceiver(ANSWER_BYTES, this, bulk.isDirect);
    this.#outgoing = new FrameSender(bulk.pipe, () => this.#nextFrame());
  }

  /** Whether no request is pending. */
  get isIdle(): boolean {
    return this.#unanswered.length === 0 && this.#unsent.length === 0;
  }

  /**
   * Transfers a piece, after the pieces before it.
   * @returns the refusal of the owner, or undefined if the piece was transferred
   * @throws ConnectionLostError as a rejection
   */
  move(piece: MemoryPiece): Promise<Refused | undefined> {
    if (this.#lostError !== undefined) return Promise.reject(this.#lostError);
    if (this.isIdle) this.#connection.pipe.ref();
    return new Promise((resolve, reject) => {
      const settle = (result: Refused | ConnectionLostError | undefined) => {
        if (result instanceof ConnectionLostError) reject(result);
        else resolve(result);
      };
      this.#unsent.push(new PieceRequest(piece, settle));
      this.#outgoing.sendPending();
    });
  }

  /**
   * Cancels the pieces of an operation. Resolves when this connection accesses the memory of the operation no more. If
   * the owner delays that by more than `RELEASE_LIMIT_MS`, the connection is ended.
   */
  async release(operation: TransferOperation): Promise<void> {
    const isOf = ({ piece }: PieceRequest) => piece.operation === operation;
    const dropped = this.#unsent.filter(isOf);
    this.#unsent = this.#unsent.filter((request) => !isOf(request));
    for (const { settle } of dropped) settle(new ConnectionLostError("it was cancelled"));
    this.#unrefWhenIdle();
    const pending = this.#unanswered.filter(isOf).map((request) => {
      if (request.body !== undefined) return this.#incoming.withdraw(request.body);
      return request.isLent ? request.whenTaken() : undefined;
    });
    const held = pending.filter((wait) => wait !== undefined);
    if (held.length === 0) return;
    const why = new Error("its owner has delayed a cancelled transfer");
    const timer = this.#clock.after(RELEASE_LIMIT_MS, () => this.destroy(why), true);
    await Promise.all(held);
    timer.cancel();
  }

  destroy(error?: Error): void {
    this.#connection.pipe.destroy(error);
    this.#incoming.stop(error);
  }

  frameReceived(view: DataView, at: number): FrameBody | undefined {
    if (this.#welcome !== undefined) {
      readWelcome(view, at);
      this.#welcome.resolve();
      this.#welcome = undefined;
      return undefined;
    }
    const request = this.#unanswered[0];
    if (request === undefined) throw new ProtocolError("cannot read memory frame: an answer without a request");
    const refused = readAnswer(view, at, request.body?.length ?? 0);
    if (refused === undefined && request.body !== undefined) return request.body;
    this.#settleOldest(refused);
    return undefined;
  }

  bodyReceived(): void {
    this.#settleOldest(undefined);
  }

  connectionEnded(error: Error | undefined): void {
    const lost = new ConnectionLostError(error?.message ?? "the connection has ended", { cause: error });
    this.#lostError = lost;
    this.#outgoing.stop();
    this.#connection.pipe.destroy(error);
    this.#welcome?.reject(lost);
    this.#onEnded();
    for (const { settle } of [...this.#unanswered.splice(0), ...this.#unsent.splice(0)]) settle(lost);
  }

  #settleOldest(refused: Refused | undefined): void {
    const { piece, settle } = this.#unanswered.shift()!;
    this.#bytes -= piece.local.length;
    settle(refused);
    this.#outgoing.sendPending();
    this.#unrefWhenIdle();
  }

  /** Lets this process end unless a request is pending. */
  #unrefWhenIdle(): void {
    if (this.isIdle) this.#connection.pipe.unref();
  }

  #nextFrame(): OutgoingFrame | undefined {
    if (this.#hello !== undefined) {
      const chunks = [this.#hello];
      this.#hello = undefined;
      return { chunks };
    }
    const request = this.#unsent[0];
    if (request === undefined || this.#unanswered.length >= MAX_UNANSWERED) return undefined;
    const { length } = request.piece.local;
    if (this.#bytes > 0 && this.#bytes + length > WINDOW_BYTES) return undefined;
    this.#unsent.shift();
    this.#unanswered.push(request);
    this.#bytes += length;
    return request.toFrame(this.#connection);
  }
}
