/**
 * The owner's side of a connection for memory bytes. It checks each claim, reads and writes its own memory, and answers
 * in the order of the requests. A peer that violates the protocol or does not read its answers affects no other
 * connection.
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
 * Time in ms for which the end of a grant waits for a peer to receive or send the bytes in flight. After that the
 * connection is ended, and the peer opens another one.
 */
const RELEASE_LIMIT_MS = 1000;

/** Maximum number of bytes that are copied behind the answer. Sending a second buffer would take the kernel longer. */
const MAX_COPIED_BYTES = 16 * 1024;

export interface OwnerConnectionOptions {
  readonly clock: Clock;
  readonly universe: bigint;
  readonly grantedMemory: GrantedMemory;
  /**
   * Called if the peer is an owner that has connected on an invitation of this process.
   * @throws ProtocolError if there was no such invitation
   */
  offered(token: bigint, arrival: OfferedConnection): void;
  /** Called when the connection has ended or was handed over to an initiator. */
  ended(connection: OwnerConnection): void;
}

/** A connection that an owner has opened, with the receiver that reads from it. */
export interface OfferedConnection {
  readonly bulk: BulkConnection;
  readonly incoming: FrameReceiver;
}

/** The answer to a request. While a write is being received, it has neither `read` nor `answer`. */
interface PendingAnswer {
  readonly read?: MemoryRequest;
  answer?: Uint8Array;
}

interface IncomingWrite {
  readonly request: MemoryRequest;
  readonly pendingAnswer: PendingAnswer;
  /** The grant, or undefined if the write is refused and its bytes are discarded. */
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
  /** The write that is being received. */
  #incomingWrite: IncomingWrite | undefined;
  /** Number of answers with memory of a grant that the pipe has not taken yet. */
  readonly #lentAnswers = new Map<Grant, number>();
  #takenListeners: (() => void)[] = [];

  /** @param offer the first frame, if this owner has opened the connection */
  constructor(bulk: BulkConnection, options: OwnerConnectionOptions, offer?: Uint8Array) {
    this.#options = options;
    this.#connection = bulk;
    this.#incoming = new FrameReceiver(REQUEST_BYTES, this, bulk.isDirect);
    this.#outgoing = new FrameSender(bulk.pipe, () => this.#nextFrame());
    bulk.pipe.open(this.#incoming);
    if (offer !== undefined) this.#queueAnswer({ answer: offer });
  }

  /**
   * Stops using the memory of an ended grant. Resolves when this connection accesses the memory no more. If the peer
   * delays that by more than `RELEASE_LIMIT_MS`, the connection is ended.
   */
  async release(grant: Grant): Promise<void> {
    const waits: (Promise<void> | undefined)[] = [];
    const write = this.#incomingWrite;
    if (write?.grant === grant) waits.push(this.#incoming.withdraw(write.body));
    if (this.#lentAnswers.has(grant)) waits.push(this.#whenTaken(grant));
    const pending = waits.filter((wait) => wait !== undefined);
    if (pending.length === 0) return;
    const why = new Error("the peer has delayed the end of a grant");
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
      throw new ProtocolError(`cannot read memory frame: expected at most ${MAX_UNANSWERED} unanswered requests`);
    }
    const request = readRequest(view, at);
    if (request.kind === MemoryFrameKind.read) {
      this.#queueAnswer({ read: request });
      return undefined;
    }
    return this.#startWrite(request);
  }

  bodyReceived(): void {
    const { request, pendingAnswer } = this.#incomingWrite!;
    this.#incomingWrite = undefined;
    // The claim is checked again, because the grant may have ended while the bytes were being received.
    const found = this.#findRange(request);
    pendingAnswer.answer = writeAnswer(typeof found === "string" ? found : undefined, 0);
    this.#outgoing.sendPending();
  }

  connectionEnded(error: Error | undefined): void {
    this.#outgoing.stop();
    this.#answers.length = 0;
    this.#incomingWrite = undefined;
    // The pipe may still be open if a frame was invalid.
    this.#connection.pipe.destroy(error);
    this.#options.ended(this);
  }

  #handOver(token: bigint): void {
    this.#options.offered(token, { bulk: this.#connection, incoming: this.#incoming });
    this.#options.ended(this);
  }

  #queueAnswer(answer: PendingAnswer): void {
    this.#answers.push(answer);
    this.#outgoing.sendPending();
  }

  #startWrite(request: MemoryRequest): FrameBody {
    const found = this.#findRange(request);
    const pendingAnswer: PendingAnswer = {};
    this.#answers.push(pendingAnswer);
    const { bytes, grant } = typeof found === "string" ? {} : found;
    const body = new FrameBody(request.length, bytes);
    this.#incomingWrite = { request, pendingAnswer, grant, body };
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

  /** Returns the next answer. The claim of a read is checked here, so that memory of an ended grant is not sent. */
  #nextFrame(): OutgoingFrame | undefined {
    const next = this.#answers[0];
    if (next === undefined || (next.answer === undefined && next.read === undefined)) return undefined;
    this.#answers.shift();
    if (next.answer !== undefined) return { chunks: [next.answer] };
    const found = this.#findRange(next.read!);
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
