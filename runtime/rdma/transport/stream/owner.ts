/**
 * The owner's side of a connection for bulk bytes: looks at what is claimed, reads and writes its own memory, and answers in the order of
 * the questions. A peer that breaks the rules, or does not read its answers, harms nobody else.
 */
import type { Clock } from "../../../link/clock.js";
import { ProtocolError } from "../../../link/frame/frame.js";
import type { Grant } from "../../grant/grant.js";
import type { GrantedMemory, GrantedRange } from "../../grant/granted-memory.js";
import { type BulkConnection, canLend } from "../../peer/bulk-connection.js";
import { FrameBody, FrameReceiver, type MemoryFrameHandler } from "./frame-receiver.js";
import { FrameSender, type OutgoingFrame } from "./frame-sender.js";
import {
  MAX_UNANSWERED,
  MemoryFrameKind,
  type MemoryRequest,
  REQUEST_BYTES,
  type Refused,
  readIntroduction,
  readRequest,
  writeAnswer,
  writeWelcome,
} from "./frames.js";

/**
 * How long memory that is taken back waits for a peer to take, or to send, the bytes that are under way, in ms. After that the connection is
 * ended: the peer makes another one.
 */
const RELEASE_LIMIT_MS = 1000;

/** Shorter answers are copied: a second piece costs the kernel more. */
const MAX_COPIED_BYTES = 16 * 1024;

export interface OwnerConnectionOptions {
  readonly clock: Clock;
  readonly universe: bigint;
  readonly grantedMemory: GrantedMemory;
  /**
   * Not this process is the owner: the other side is one that was asked to connect.
   * @throws ProtocolError when nobody has asked it
   */
  offered(token: bigint, arrival: OfferedConnection): void;
  /** It has ended, or was taken over. */
  ended(connection: OwnerConnection): void;
}

/** A connection that an owner has made, and who reads from it. */
export interface OfferedConnection {
  readonly way: BulkConnection;
  readonly incoming: FrameReceiver;
}

/** What is owed, in the order of the questions; a write that is still coming has no answer yet. */
interface PendingAnswer {
  readonly read?: MemoryRequest;
  answer?: Uint8Array;
}

interface IncomingWrite {
  readonly question: MemoryRequest;
  readonly pendingAnswer: PendingAnswer;
  /** Undefined: it is refused, and goes nowhere. */
  readonly grant: Grant | undefined;
  readonly body: FrameBody;
}

export class OwnerConnection implements MemoryFrameHandler {
  readonly #options: OwnerConnectionOptions;
  readonly #connection: BulkConnection;
  readonly #incoming: FrameReceiver;
  readonly #outgoing: FrameSender;
  #isIntroduced = false;
  readonly #answers: PendingAnswer[] = [];
  /** The write that is coming. */
  #incomingWrite: IncomingWrite | undefined;
  /** How many answers with memory of a grant the pipe has and has not taken. */
  readonly #lentAnswers = new Map<Grant, number>();
  #takenListeners: (() => void)[] = [];

  /** @param offer what is said first, where this side has made the connection */
  constructor(way: BulkConnection, options: OwnerConnectionOptions, offer?: Uint8Array) {
    this.#options = options;
    this.#connection = way;
    this.#incoming = new FrameReceiver(REQUEST_BYTES, this, way.isDirect);
    this.#outgoing = new FrameSender(way.pipe, () => this.#nextFrame());
    way.pipe.open(this.#incoming);
    if (offer !== undefined) this.#queueAnswer({ answer: offer });
  }

  /**
   * A grant has been ended. Resolves when nothing here reads or writes its memory any more: soon, since a peer that holds it up
   * loses the connection.
   */
  async release(grant: Grant): Promise<void> {
    const waits: (Promise<void> | undefined)[] = [];
    const landing = this.#incomingWrite;
    if (landing?.grant === grant) waits.push(this.#incoming.withdraw(landing.body));
    if (this.#lentAnswers.has(grant)) waits.push(this.#whenTaken(grant));
    const pending = waits.filter((wait) => wait !== undefined);
    if (pending.length === 0) return;
    const why = new Error("the peer has held up memory that was taken back");
    const timer = this.#options.clock.after(RELEASE_LIMIT_MS, () => this.destroy(why), true);
    await Promise.all(pending);
    timer.cancel();
  }

  destroy(error?: Error): void {
    this.#connection.pipe.destroy(error);
    this.#incoming.stop(error);
  }

  frameReceived(view: DataView, at: number): FrameBody | undefined {
    if (!this.#isIntroduced) {
      this.#isIntroduced = true;
      const token = readIntroduction(view, at, this.#options.universe);
      if (token === undefined) this.#queueAnswer({ answer: writeWelcome() });
      else this.#handOver(token);
      return undefined;
    }
    if (this.#answers.length >= MAX_UNANSWERED) {
      throw new ProtocolError(`cannot read memory frame: ${MAX_UNANSWERED} questions wait for an answer already`);
    }
    const question = readRequest(view, at);
    if (question.kind === MemoryFrameKind.read) {
      this.#queueAnswer({ read: question });
      return undefined;
    }
    return this.#startWrite(question);
  }

  bodyReceived(): void {
    const { question, pendingAnswer } = this.#incomingWrite!;
    this.#incomingWrite = undefined;
    // Once more: it may have been taken back since, and of the bytes only the first have been put there.
    const found = this.#findRange(question);
    pendingAnswer.answer = writeAnswer(typeof found === "string" ? found : undefined, 0);
    this.#outgoing.sendPending();
  }

  connectionEnded(error: Error | undefined): void {
    this.#outgoing.stop();
    this.#answers.length = 0;
    this.#incomingWrite = undefined;
    // Also when it was the peer who has ended it, or has broken the rules.
    this.#connection.pipe.destroy(error);
    this.#options.ended(this);
  }

  #handOver(token: bigint): void {
    this.#options.offered(token, { way: this.#connection, incoming: this.#incoming });
    this.#options.ended(this);
  }

  #queueAnswer(owed: PendingAnswer): void {
    this.#answers.push(owed);
    this.#outgoing.sendPending();
  }

  #startWrite(question: MemoryRequest): FrameBody {
    const found = this.#findRange(question);
    const pendingAnswer: PendingAnswer = {};
    this.#answers.push(pendingAnswer);
    const { bytes, grant } = typeof found === "string" ? {} : found;
    const body = new FrameBody(question.length, bytes);
    this.#incomingWrite = { question, pendingAnswer, grant, body };
    return body;
  }

  #findRange({ kind, claim, offset, length }: MemoryRequest): GrantedRange | Refused {
    return this.#options.grantedMemory.findRange(
      claim,
      offset,
      length,
      kind === MemoryFrameKind.read ? "read" : "write",
    );
  }

  /** Looks at the claim when its turn has come: what has been taken back by then is not sent. */
  #nextFrame(): OutgoingFrame | undefined {
    const owed = this.#answers[0];
    if (owed === undefined || (owed.answer === undefined && owed.read === undefined)) return undefined;
    this.#answers.shift();
    if (owed.answer !== undefined) return { chunks: [owed.answer] };
    const found = this.#findRange(owed.read!);
    if (typeof found === "string") return { chunks: [writeAnswer(found, 0)] };
    const { bytes, grant } = found;
    const head = writeAnswer(undefined, bytes.length);
    if (bytes.length <= MAX_COPIED_BYTES) return { chunks: [Buffer.concat([head, bytes])] };
    if (!canLend(this.#connection, bytes)) return { chunks: [head, bytes.slice()] };
    this.#lentAnswers.set(grant, (this.#lentAnswers.get(grant) ?? 0) + 1);
    return { chunks: [head, bytes], sent: () => this.#answerTaken(grant) };
  }

  #answerTaken(grant: Grant): void {
    const left = this.#lentAnswers.get(grant)! - 1;
    if (left > 0) this.#lentAnswers.set(grant, left);
    else this.#lentAnswers.delete(grant);
    for (const look of this.#takenListeners.splice(0)) look();
  }

  async #whenTaken(grant: Grant): Promise<void> {
    while (this.#lentAnswers.has(grant)) await new Promise<void>((resolve) => this.#takenListeners.push(resolve));
  }
}
