/**
 * The owner's side of a connection for bulk bytes: looks at what is claimed, reads and writes its own memory, and answers in the order of
 * the questions. A peer that breaks the rules, or does not read its answers, harms nobody else.
 */
import type { Clock } from "../../link/clock.js";
import { ProtocolError } from "../../link/frame.js";
import type { Grant } from "../grant.js";
import type { GrantedRange, OwnerService } from "../service.js";
import {
  Kind,
  MOST_ASKED,
  QUESTION_BYTES,
  type Question,
  type Refused,
  readIntroduction,
  readQuestion,
  writeAnswer,
  writeWelcome,
} from "./frames.js";
import { Body, type FrameHandler, Incoming } from "./incoming.js";
import { Outgoing, type Sendable } from "./outgoing.js";
import { lends, type Way } from "./way.js";

/**
 * How long memory that is taken back waits for a peer to take, or to send, the bytes that are under way, in ms. After that the connection is
 * ended: the peer makes another one.
 */
const PATIENCE = 1000;

/** Shorter answers are copied: a second piece costs the kernel more. */
const COPIED = 16 * 1024;

export interface OwnerOptions {
  readonly clock: Clock;
  readonly universe: bigint;
  readonly service: OwnerService;
  /**
   * Not this process is the owner: the other side is one that was asked to connect.
   * @throws ProtocolError when nobody has asked it
   */
  offered(token: bigint, arrival: Arrival): void;
  /** It has ended, or was taken over. */
  ended(connection: OwnerConnection): void;
}

/** A connection that an owner has made, and who reads from it. */
export interface Arrival {
  readonly way: Way;
  readonly incoming: Incoming;
}

/** What is owed, in the order of the questions; a write that is still coming has no answer yet. */
interface Owed {
  readonly read?: Question;
  answer?: Uint8Array;
}

interface Landing {
  readonly question: Question;
  readonly owed: Owed;
  /** Undefined: it is refused, and goes nowhere. */
  readonly grant: Grant | undefined;
  readonly body: Body;
}

export class OwnerConnection implements FrameHandler {
  readonly #options: OwnerOptions;
  readonly #way: Way;
  readonly #incoming: Incoming;
  readonly #outgoing: Outgoing;
  #introduced = false;
  readonly #owed: Owed[] = [];
  /** The write that is coming. */
  #landing: Landing | undefined;
  /** How many answers with memory of a grant the pipe has and has not taken. */
  readonly #lent = new Map<Grant, number>();
  #waiting: (() => void)[] = [];

  /** @param offer what is said first, where this side has made the connection */
  constructor(way: Way, options: OwnerOptions, offer?: Uint8Array) {
    this.#options = options;
    this.#way = way;
    this.#incoming = new Incoming(QUESTION_BYTES, this, way.direct);
    this.#outgoing = new Outgoing(way.pipe, () => this.#next());
    way.pipe.open(this.#incoming);
    if (offer !== undefined) this.#owe({ answer: offer });
  }

  /**
   * A grant has been ended. Resolves when nothing here reads or writes its memory any more: soon, since a peer that holds it up
   * loses the connection.
   */
  async release(grant: Grant): Promise<void> {
    const waits: (Promise<void> | undefined)[] = [];
    const landing = this.#landing;
    if (landing?.grant === grant) waits.push(this.#incoming.withdraw(landing.body));
    if (this.#lent.has(grant)) waits.push(this.#taken(grant));
    const pending = waits.filter((wait) => wait !== undefined);
    if (pending.length === 0) return;
    const why = new Error("the peer has held up memory that was taken back");
    const timer = this.#options.clock.after(PATIENCE, () => this.destroy(why), true);
    await Promise.all(pending);
    timer.cancel();
  }

  destroy(error?: Error): void {
    this.#way.pipe.destroy(error);
    this.#incoming.stop(error);
  }

  frame(view: DataView, at: number): Body | undefined {
    if (!this.#introduced) {
      this.#introduced = true;
      const token = readIntroduction(view, at, this.#options.universe);
      if (token === undefined) this.#owe({ answer: writeWelcome() });
      else this.#handOver(token);
      return undefined;
    }
    if (this.#owed.length >= MOST_ASKED) {
      throw new ProtocolError(`cannot read memory frame: ${MOST_ASKED} questions wait for an answer already`);
    }
    const question = readQuestion(view, at);
    if (question.kind === Kind.read) {
      this.#owe({ read: question });
      return undefined;
    }
    return this.#write(question);
  }

  complete(): void {
    const { question, owed } = this.#landing!;
    this.#landing = undefined;
    // Once more: it may have been taken back since, and of the bytes only the first have been put there.
    const found = this.#find(question);
    owed.answer = writeAnswer(typeof found === "string" ? found : undefined, 0);
    this.#outgoing.pump();
  }

  ended(error: Error | undefined): void {
    this.#outgoing.stop();
    this.#owed.length = 0;
    this.#landing = undefined;
    // Also when it was the peer who has ended it, or has broken the rules.
    this.#way.pipe.destroy(error);
    this.#options.ended(this);
  }

  #handOver(token: bigint): void {
    this.#options.offered(token, { way: this.#way, incoming: this.#incoming });
    this.#options.ended(this);
  }

  #owe(owed: Owed): void {
    this.#owed.push(owed);
    this.#outgoing.pump();
  }

  #write(question: Question): Body {
    const found = this.#find(question);
    const owed: Owed = {};
    this.#owed.push(owed);
    const { bytes, grant } = typeof found === "string" ? {} : found;
    const body = new Body(question.length, bytes);
    this.#landing = { question, owed, grant, body };
    return body;
  }

  #find({ kind, claim, offset, length }: Question): GrantedRange | Refused {
    return this.#options.service.range(claim, offset, length, kind === Kind.read ? "read" : "write");
  }

  /** Looks at the claim when its turn has come: what has been taken back by then is not sent. */
  #next(): Sendable | undefined {
    const owed = this.#owed[0];
    if (owed === undefined || (owed.answer === undefined && owed.read === undefined)) return undefined;
    this.#owed.shift();
    if (owed.answer !== undefined) return { chunks: [owed.answer] };
    const found = this.#find(owed.read!);
    if (typeof found === "string") return { chunks: [writeAnswer(found, 0)] };
    const { bytes, grant } = found;
    const head = writeAnswer(undefined, bytes.length);
    if (bytes.length <= COPIED) return { chunks: [Buffer.concat([head, bytes])] };
    if (!lends(this.#way, bytes)) return { chunks: [head, bytes.slice()] };
    this.#lent.set(grant, (this.#lent.get(grant) ?? 0) + 1);
    return { chunks: [head, bytes], sent: () => this.#returned(grant) };
  }

  #returned(grant: Grant): void {
    const left = this.#lent.get(grant)! - 1;
    if (left > 0) this.#lent.set(grant, left);
    else this.#lent.delete(grant);
    for (const look of this.#waiting.splice(0)) look();
  }

  async #taken(grant: Grant): Promise<void> {
    while (this.#lent.has(grant)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
