/**
 * The initiator's side of a connection for bulk bytes: asks for pieces of an owner's memory, some ahead of their answers, and takes these
 * in their order. What it is asked for waits while enough is under way; what is given up is let go of.
 */
import type { GrantClaim } from "../../../generated/rdma.js";
import type { Clock } from "../../link/clock.js";
import { ProtocolError } from "../../link/frame.js";
import type { Operation } from "../operation.js";
import {
  ANSWER_BYTES,
  Kind,
  MOST_ASKED,
  type Refused,
  readAnswer,
  readWelcome,
  writeHello,
  writeQuestion,
} from "./frames.js";
import { Body, type FrameHandler, Incoming } from "./incoming.js";
import { Outgoing, type Sendable } from "./outgoing.js";
import { lends, type Way } from "./way.js";

/** Bytes under way at a time, asked for or sent: what keeps a fast connection busy. */
const WINDOW_BYTES = 8 << 20;

/** How long who gives up waits for bytes under way from or to its memory, in ms. After that the connection is ended. */
const PATIENCE = 500;

/** The connection has ended, for whatever reason: what was asked for on it may have been done or not. */
export class Lost extends Error {}

/** At most `PIECE_BYTES` that lie side by side on both sides. */
export interface Piece {
  /** What it is part of; undefined: of nothing that can be given up. */
  readonly operation?: Operation;
  readonly kind: typeof Kind.read | typeof Kind.write;
  readonly claim: GrantClaim;
  readonly offset: number;
  /** Where they come from, or go to. */
  readonly own: Uint8Array;
}

class Asked {
  readonly piece: Piece;
  /** Of a read: what follows the answer. */
  readonly body: Body | undefined;
  readonly settle: (result: Refused | Lost | undefined) => void;
  /** The pipe has memory of a write, and has not taken it yet. */
  lent = false;
  #taken: (() => void)[] = [];

  constructor(piece: Piece, settle: (result: Refused | Lost | undefined) => void) {
    this.piece = piece;
    this.settle = settle;
    this.body = piece.kind === Kind.read ? new Body(piece.own.length, piece.own) : undefined;
  }

  sendable(way: Way): Sendable {
    const { kind, claim, offset, own } = this.piece;
    const question = writeQuestion({ kind, claim, offset, length: own.length });
    if (kind === Kind.read || own.length === 0) return { chunks: [question] };
    if (!lends(way, own)) return { chunks: [question, own.slice()] };
    this.lent = true;
    const sent = () => {
      this.lent = false;
      for (const resolve of this.#taken.splice(0)) resolve();
    };
    return { chunks: [question, own], sent };
  }

  /** Resolves when the pipe has taken it, or is destroyed. */
  taken(): Promise<void> {
    return new Promise((resolve) => this.#taken.push(resolve));
  }
}

export class InitiatorConnection implements FrameHandler {
  readonly #way: Way;
  readonly #clock: Clock;
  readonly #incoming: Incoming;
  readonly #outgoing: Outgoing;
  /** What has not been asked for yet, and what has and is not answered; oldest first. */
  #waiting: Asked[] = [];
  readonly #asked: Asked[] = [];
  /** Of what has been asked for. */
  #bytes = 0;
  #hello: Uint8Array | undefined;
  #welcome: { resolve(): void; reject(error: Error): void } | undefined;
  #lost: Lost | undefined;
  readonly #ended: () => void;

  /**
   * @param ended it has ended; called once, before those hear of it who wait for pieces
   * @param incoming reads from the way already, since the owner has made it
   * @throws Error when the other side ends it at once
   */
  static async open(
    way: Way,
    clock: Clock,
    universe: bigint,
    ended: () => void,
    incoming?: Incoming,
  ): Promise<InitiatorConnection> {
    const made = new InitiatorConnection(way, clock, universe, ended, incoming);
    way.pipe.ref();
    await new Promise<void>((resolve, reject) => {
      made.#welcome = { resolve, reject };
      if (incoming === undefined) way.pipe.open(made.#incoming);
      else incoming.handOver(ANSWER_BYTES, made);
      made.#outgoing.pump();
    });
    made.#rest();
    return made;
  }

  private constructor(way: Way, clock: Clock, universe: bigint, ended: () => void, incoming: Incoming | undefined) {
    this.#way = way;
    this.#clock = clock;
    this.#ended = ended;
    this.#hello = writeHello(universe);
    this.#incoming = incoming ?? new Incoming(ANSWER_BYTES, this, way.direct);
    this.#outgoing = new Outgoing(way.pipe, () => this.#next());
  }

  /** Nothing is under way. */
  get idle(): boolean {
    return this.#asked.length === 0 && this.#waiting.length === 0;
  }

  /**
   * Moves a piece, when its turn has come.
   * @returns why the owner refuses it; undefined: it has been moved
   * @throws Lost
   */
  move(piece: Piece): Promise<Refused | undefined> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    if (this.idle) this.#way.pipe.ref();
    return new Promise((resolve, reject) => {
      const settle = (result: Refused | Lost | undefined) => {
        if (result instanceof Lost) reject(result);
        else resolve(result);
      };
      this.#waiting.push(new Asked(piece, settle));
      this.#outgoing.pump();
    });
  }

  /**
   * Nobody wants an operation any more. Resolves when nothing here touches its memory: soon, since an owner who holds that up loses
   * the connection. Its pieces that were not asked for are lost.
   */
  async release(operation: Operation): Promise<void> {
    const isOf = ({ piece }: Asked) => piece.operation === operation;
    const dropped = this.#waiting.filter(isOf);
    this.#waiting = this.#waiting.filter((asked) => !isOf(asked));
    for (const { settle } of dropped) settle(new Lost("it was given up"));
    this.#rest();
    const pending = this.#asked.filter(isOf).map((asked) => {
      if (asked.body !== undefined) return this.#incoming.withdraw(asked.body);
      return asked.lent ? asked.taken() : undefined;
    });
    const held = pending.filter((wait) => wait !== undefined);
    if (held.length === 0) return;
    const why = new Error("its owner has held up what was given up");
    const timer = this.#clock.after(PATIENCE, () => this.destroy(why), true);
    await Promise.all(held);
    timer.cancel();
  }

  destroy(error?: Error): void {
    this.#way.pipe.destroy(error);
    this.#incoming.stop(error);
  }

  frame(view: DataView, at: number): Body | undefined {
    if (this.#welcome !== undefined) {
      readWelcome(view, at);
      this.#welcome.resolve();
      this.#welcome = undefined;
      return undefined;
    }
    const asked = this.#asked[0];
    if (asked === undefined) throw new ProtocolError("cannot read memory frame: an answer that nobody has asked for");
    const refused = readAnswer(view, at, asked.body?.length ?? 0);
    if (refused === undefined && asked.body !== undefined) return asked.body;
    this.#answered(refused);
    return undefined;
  }

  complete(): void {
    this.#answered(undefined);
  }

  ended(error: Error | undefined): void {
    const lost = new Lost(error?.message ?? "the connection has ended", { cause: error });
    this.#lost = lost;
    this.#outgoing.stop();
    this.#way.pipe.destroy(error);
    this.#welcome?.reject(lost);
    this.#ended();
    for (const { settle } of [...this.#asked.splice(0), ...this.#waiting.splice(0)]) settle(lost);
  }

  #answered(refused: Refused | undefined): void {
    const { piece, settle } = this.#asked.shift()!;
    this.#bytes -= piece.own.length;
    settle(refused);
    this.#outgoing.pump();
    this.#rest();
  }

  /** A connection holds the process only while something is under way. */
  #rest(): void {
    if (this.idle) this.#way.pipe.unref();
  }

  #next(): Sendable | undefined {
    if (this.#hello !== undefined) {
      const chunks = [this.#hello];
      this.#hello = undefined;
      return { chunks };
    }
    const asked = this.#waiting[0];
    if (asked === undefined || this.#asked.length >= MOST_ASKED) return undefined;
    const { length } = asked.piece.own;
    if (this.#bytes > 0 && this.#bytes + length > WINDOW_BYTES) return undefined;
    this.#waiting.shift();
    this.#asked.push(asked);
    this.#bytes += length;
    return asked.sendable(this.#way);
  }
}
