/**
 * The initiator's side of a connection for bulk bytes: asks for pieces of an owner's memory, some ahead of their answers, and takes these
 * in their order. What it is asked for waits while enough is under way; what is given up is let go of.
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

/** Bytes under way at a time, asked for or sent: what keeps a fast connection busy. */
const WINDOW_BYTES = 8 << 20;

/** How long who gives up waits for bytes under way from or to its memory, in ms. After that the connection is ended. */
const RELEASE_LIMIT_MS = 500;

/** The connection has ended, for whatever reason: what was asked for on it may have been done or not. */
export class ConnectionLostError extends Error {}

/** At most `PIECE_BYTES` that lie side by side on both sides. */
export interface MemoryPiece {
  /** What it is part of; undefined: of nothing that can be given up. */
  readonly operation?: TransferOperation;
  readonly kind: typeof MemoryFrameKind.read | typeof MemoryFrameKind.write;
  readonly claim: GrantClaim;
  readonly offset: number;
  /** Where they come from, or go to. */
  readonly local: Uint8Array;
}

class PieceRequest {
  readonly piece: MemoryPiece;
  /** Of a read: what follows the answer. */
  readonly body: FrameBody | undefined;
  readonly settle: (result: Refused | ConnectionLostError | undefined) => void;
  /** The pipe has memory of a write, and has not taken it yet. */
  isLent = false;
  #takenListeners: (() => void)[] = [];

  constructor(piece: MemoryPiece, settle: (result: Refused | ConnectionLostError | undefined) => void) {
    this.piece = piece;
    this.settle = settle;
    this.body = piece.kind === MemoryFrameKind.read ? new FrameBody(piece.local.length, piece.local) : undefined;
  }

  toFrame(way: BulkConnection): OutgoingFrame {
    const { kind, claim, offset, local } = this.piece;
    const question = writeRequest({ kind, claim, offset, length: local.length });
    if (kind === MemoryFrameKind.read || local.length === 0) return { chunks: [question] };
    if (!canLend(way, local)) return { chunks: [question, local.slice()] };
    this.isLent = true;
    const sent = () => {
      this.isLent = false;
      for (const resolve of this.#takenListeners.splice(0)) resolve();
    };
    return { chunks: [question, local], sent };
  }

  /** Resolves when the pipe has taken it, or is destroyed. */
  whenTaken(): Promise<void> {
    return new Promise((resolve) => this.#takenListeners.push(resolve));
  }
}

export class InitiatorConnection implements MemoryFrameHandler {
  readonly #connection: BulkConnection;
  readonly #clock: Clock;
  readonly #incoming: FrameReceiver;
  readonly #outgoing: FrameSender;
  /** What has not been asked for yet, and what has and is not answered; oldest first. */
  #unsent: PieceRequest[] = [];
  readonly #unanswered: PieceRequest[] = [];
  /** Of what has been asked for. */
  #bytes = 0;
  #hello: Uint8Array | undefined;
  #welcome: { resolve(): void; reject(error: Error): void } | undefined;
  #lostError: ConnectionLostError | undefined;
  readonly #onEnded: () => void;

  /**
   * @param ended it has ended; called once, before those hear of it who wait for pieces
   * @param incoming reads from the way already, since the owner has made it
   * @throws Error when the other side ends it at once
   */
  static async open(
    way: BulkConnection,
    clock: Clock,
    universe: bigint,
    ended: () => void,
    incoming?: FrameReceiver,
  ): Promise<InitiatorConnection> {
    const made = new InitiatorConnection(way, clock, universe, ended, incoming);
    way.pipe.ref();
    await new Promise<void>((resolve, reject) => {
      made.#welcome = { resolve, reject };
      if (incoming === undefined) way.pipe.open(made.#incoming);
      else incoming.handOver(ANSWER_BYTES, made);
      made.#outgoing.sendPending();
    });
    made.#unrefWhenIdle();
    return made;
  }

  private constructor(
    way: BulkConnection,
    clock: Clock,
    universe: bigint,
    ended: () => void,
    incoming: FrameReceiver | undefined,
  ) {
    this.#connection = way;
    this.#clock = clock;
    this.#onEnded = ended;
    this.#hello = writeHello(universe);
    this.#incoming = incoming ?? new FrameReceiver(ANSWER_BYTES, this, way.isDirect);
    this.#outgoing = new FrameSender(way.pipe, () => this.#nextFrame());
  }

  /** Nothing is under way. */
  get isIdle(): boolean {
    return this.#unanswered.length === 0 && this.#unsent.length === 0;
  }

  /**
   * Moves a piece, when its turn has come.
   * @returns why the owner refuses it; undefined: it has been moved
   * @throws Lost
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
   * Nobody wants an operation any more. Resolves when nothing here touches its memory: soon, since an owner who holds that up loses
   * the connection. Its pieces that were not asked for are lost.
   */
  async release(operation: TransferOperation): Promise<void> {
    const isOf = ({ piece }: PieceRequest) => piece.operation === operation;
    const dropped = this.#unsent.filter(isOf);
    this.#unsent = this.#unsent.filter((asked) => !isOf(asked));
    for (const { settle } of dropped) settle(new ConnectionLostError("it was given up"));
    this.#unrefWhenIdle();
    const pending = this.#unanswered.filter(isOf).map((asked) => {
      if (asked.body !== undefined) return this.#incoming.withdraw(asked.body);
      return asked.isLent ? asked.whenTaken() : undefined;
    });
    const held = pending.filter((wait) => wait !== undefined);
    if (held.length === 0) return;
    const why = new Error("its owner has held up what was given up");
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
    const asked = this.#unanswered[0];
    if (asked === undefined) throw new ProtocolError("cannot read memory frame: an answer that nobody has asked for");
    const refused = readAnswer(view, at, asked.body?.length ?? 0);
    if (refused === undefined && asked.body !== undefined) return asked.body;
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

  /** A connection holds the process only while something is under way. */
  #unrefWhenIdle(): void {
    if (this.isIdle) this.#connection.pipe.unref();
  }

  #nextFrame(): OutgoingFrame | undefined {
    if (this.#hello !== undefined) {
      const chunks = [this.#hello];
      this.#hello = undefined;
      return { chunks };
    }
    const asked = this.#unsent[0];
    if (asked === undefined || this.#unanswered.length >= MAX_UNANSWERED) return undefined;
    const { length } = asked.piece.local;
    if (this.#bytes > 0 && this.#bytes + length > WINDOW_BYTES) return undefined;
    this.#unsent.shift();
    this.#unanswered.push(asked);
    this.#bytes += length;
    return asked.toFrame(this.#connection);
  }
}
