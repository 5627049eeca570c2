/**
 * A pipe that outlives its connections. Its bytes are numbered by their place; what was sent is kept until the peer has
 * confirmed it; on a new connection each side says how many bytes it has, and the other goes on from there, byte for byte.
 * So nothing is lost and nothing comes twice, and the link above does not notice. Who makes connections is the concern of
 * dial.ts and accept.ts; after the give-up time without one, the pipe ends.
 */
import type { Clock, Timer } from "../clock.js";
import { ProtocolError } from "../frame/frame.js";
import type { Pipe, PipeSink } from "../transport/pipe.js";
import type { ResumableLimits } from "./limits.js";
import { ResendBuffer } from "./resend-buffer.js";
import { newAckSegment, newEndSegment, newResetSegment, type SegmentHandler, SegmentReader } from "./segment.js";
import { UnsentWrites } from "./unsent-writes.js";

/** Writes handed to the connection and not yet taken by it, and about how many bytes each may have. */
const WRITES_AHEAD = 2;
const WRITE_BYTES = 256 * 1024;

/** Bytes that come once more are read in pieces of so many at most. */
const DISCARD_BUFFER_BYTES = 16 * 1024;

/** The longest time between two attempts to replace a connection that has gone dumb, in ms. */
const MAX_ACK_TIMEOUT_MS = 60_000;

/** How long a connection may take to send the last word of a pipe that has ended, in ms. */
const LINGER_MS = 1000;

export interface ResumablePipeOptions {
  readonly clock: Clock;
  readonly limits: ResumableLimits;
  /** Who is at the other end, as errors name it. */
  readonly peer: string;
  /** The connection has ended; another one should be made. */
  connectionLost(pipe: ResumablePipe): void;
  /** The peer confirms nothing, and the connection stands. Absent: nobody cares. */
  ackOverdue?(pipe: ResumablePipe): void;
  /** The pipe has come to its end; called once. */
  pipeEnded(pipe: ResumablePipe): void;
}

interface PipeConnection {
  readonly pipe: Pipe;
  readonly reader: SegmentReader;
  writing: number;
  acking: boolean;
  endSent: boolean;
}

export class ResumablePipe implements Pipe, SegmentHandler {
  readonly #options: ResumablePipeOptions;
  readonly #limits: ResumableLimits;
  readonly #ackBytes: number;
  readonly #buffer = new ResendBuffer();
  readonly #unsent = new UnsentWrites();
  /** Behind the last byte that any connection was given. */
  #handedOut = 0;
  #received = 0;
  /** Bytes that come once more. */
  #repeatedBytes = 0;
  #confirmed = 0;
  #ackTimer: Timer | undefined;
  #giveUpTimer: Timer | undefined;
  /** How long to wait for a confirmation, in ms. */
  #ackTimeout: number;
  #overdueTimer: Timer | undefined;
  #connection: PipeConnection | undefined;
  #sink: PipeSink | undefined;
  #closing = false;
  #outcome: { readonly error: Error | undefined } | undefined;
  #isReferenced = false;
  #lastFailure: Error | undefined;

  constructor(options: ResumablePipeOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#ackBytes = Math.max(1, Math.floor(options.limits.resendBytes / 64));
    this.#ackTimeout = options.limits.overdueMs;
    this.#startGiveUpTimer();
  }

  /** Bytes of the link that have come so far. */
  get bytesReceived(): number {
    return this.#received;
  }

  /** Bytes that are kept for another connection. */
  get unconfirmedBytes(): number {
    return this.#buffer.size;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** Whether the peer can have received so many bytes, and what is missing can be sent again. */
  canResume(offset: number): boolean {
    return offset >= this.#buffer.start && offset <= this.#handedOut;
  }

  /** Nothing is taken from the connection any more: `bytesReceived` stands until the next one. */
  suspend(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#detach(connection);
    connection.pipe.destroy();
  }

  /**
   * Goes on over a new connection, whose peer has `offset` bytes. `canResume(offset)` is true.
   * @param told how many bytes the peer was told that this side has: since then, more may have come over the last connection
   */
  resume(pipe: Pipe, offset: number, told = this.#received): void {
    if (this.#outcome !== undefined) {
      this.#sendLastWord(pipe, this.#outcome.error);
      return;
    }
    this.suspend();
    this.#giveUpTimer?.cancel();
    this.#giveUpTimer = undefined;
    this.#buffer.rewind(offset);
    this.#confirmed = told;
    this.#repeatedBytes = this.#received - told;
    const connection: PipeConnection = {
      pipe,
      reader: new SegmentReader(this),
      writing: 0,
      acking: false,
      endSent: false,
    };
    this.#connection = connection;
    if (this.#isReferenced) pipe.ref();
    if (this.#sink !== undefined) pipe.open(connection.reader);
    this.#transfer();
  }

  /** Why the last attempt to connect again failed. */
  attemptFailed(error: Error): void {
    this.#lastFailure = error;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    if (this.#outcome !== undefined) sink.closed(this.#outcome.error);
    else this.#connection?.pipe.open(this.#connection.reader);
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    if (this.#outcome !== undefined || this.#closing) {
      queueMicrotask(done);
      return;
    }
    this.#unsent.add(chunks, done);
    this.#transfer();
  }

  close(): void {
    this.#closing = true;
    this.#transfer();
  }

  destroy(error?: Error): void {
    this.#endPipe(error, error?.message ?? "the process at the other end has ended the link");
  }

  ref(): void {
    this.#isReferenced = true;
    this.#connection?.pipe.ref();
  }

  unref(): void {
    this.#isReferenced = false;
    this.#connection?.pipe.unref();
  }

  buffer(): Uint8Array {
    if (this.#repeatedBytes === 0) return this.#sink!.buffer();
    return new Uint8Array(Math.min(this.#repeatedBytes, DISCARD_BUFFER_BYTES));
  }

  data(n: number): void {
    if (this.#repeatedBytes > 0) this.#repeatedBytes -= n;
    else {
      this.#received += n;
      this.#sink!.received(n);
      if (this.#connection === undefined) return;
    }
    if (this.#acknowledgeable - this.#confirmed >= this.#ackBytes) this.#sendAck();
    else this.#scheduleAck();
  }

  /** Bytes that this connection has shown to be here: what the peer can be told without surprise. */
  get #acknowledgeable(): number {
    return this.#received - this.#repeatedBytes;
  }

  ack(received: number): void {
    const { start, sent } = this.#buffer;
    if (received < start || received > sent) {
      throw new ProtocolError(`cannot read ack: expected ${start} to ${sent} bytes, got ${received}`);
    }
    this.#buffer.confirm(received);
    this.#ackTimeout = this.#limits.overdueMs;
    this.#transfer();
  }

  end(): void {
    this.#endPipe(undefined, undefined);
  }

  reset(reason: string): void {
    this.#endPipe(new Error(`${this.#options.peer} has ended the link: ${reason}`), undefined);
  }

  broken(error: Error): void {
    this.#endPipe(error, error.message);
  }

  lost(error: Error | undefined): void {
    const connection = this.#connection;
    if (connection !== undefined) this.#detach(connection);
    this.#lastFailure = error;
    this.#startGiveUpTimer();
    this.#options.connectionLost(this);
  }

  /** The link is given up unless another connection comes in time. */
  #startGiveUpTimer(): void {
    const { clock, peer } = this.#options;
    const { giveUpMs } = this.#limits;
    this.#giveUpTimer ??= clock.after(giveUpMs, () => {
      const cause = this.#lastFailure;
      const why = cause === undefined ? "" : `: ${cause.message}`;
      const text = `the connection to ${peer} was lost and not restored within ${giveUpMs} ms${why}`;
      this.#endPipe(new Error(text, { cause }), undefined);
    });
  }

  #detach(connection: PipeConnection): void {
    this.#connection = undefined;
    connection.reader.stop();
    this.#ackTimer?.cancel();
    this.#ackTimer = undefined;
    this.#startGiveUpTimer();
  }

  /** One at a time: a peer that does not take them gets no queue of them. */
  #sendAck(): void {
    const connection = this.#connection;
    this.#ackTimer?.cancel();
    this.#ackTimer = undefined;
    if (connection === undefined || connection.acking) return;
    this.#confirmed = this.#acknowledgeable;
    connection.acking = true;
    connection.pipe.write([newAckSegment(this.#confirmed)], () => {
      connection.acking = false;
      if (this.#connection === connection && this.#acknowledgeable > this.#confirmed) this.#scheduleAck();
    });
  }

  #scheduleAck(): void {
    this.#ackTimer ??= this.#options.clock.after(this.#limits.ackMs, () => this.#sendAck());
  }

  /** Hands the connection as much as it takes, and copies what there is room for. */
  #transfer(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    while (this.#connection === connection && connection.writing < WRITES_AHEAD) {
      while (this.#buffer.end - this.#buffer.sent < WRITE_BYTES && this.#copyUnsent());
      const chunks: Uint8Array[] = [];
      if (this.#buffer.takeSegment(chunks, WRITE_BYTES) === 0) {
        // Writes of no bytes at all.
        for (const done of this.#unsent.takeDone()) queueMicrotask(done);
        break;
      }
      this.#handedOut = Math.max(this.#handedOut, this.#buffer.sent);
      const copied = this.#unsent.takeDone();
      connection.writing++;
      connection.pipe.write(chunks, () => {
        connection.writing--;
        for (const done of copied) done();
        if (this.#connection === connection) this.#transfer();
      });
    }
    // What a write has made room for has been written meanwhile, maybe to another one.
    if (this.#connection !== connection) return;
    if (this.#overdueTimer === undefined && this.#buffer.size > 0) this.#watchForAck();
    if (!this.#closing || connection.endSent || !this.#unsent.isEmpty || this.#buffer.sent < this.#buffer.end) return;
    connection.endSent = true;
    connection.pipe.write([newEndSegment()], () => {});
  }

  /** Notices when nothing is confirmed for long. */
  #watchForAck(): void {
    const { clock, ackOverdue } = this.#options;
    if (ackOverdue === undefined) return;
    const { start } = this.#buffer;
    this.#overdueTimer = clock.after(this.#ackTimeout, () => {
      this.#overdueTimer = undefined;
      if (this.#connection === undefined || this.#buffer.size === 0) return;
      if (this.#buffer.start === start) {
        this.#ackTimeout = Math.min(MAX_ACK_TIMEOUT_MS, this.#ackTimeout * 2);
        ackOverdue(this);
      }
      this.#watchForAck();
    });
  }

  /** @returns whether anything was copied */
  #copyUnsent(): boolean {
    return this.#unsent.copyNext(this.#buffer, this.#limits.resendBytes - this.#buffer.size);
  }

  /** @param word what the peer is told; undefined: it was the peer who ended it, or is out of reach */
  #endPipe(error: Error | undefined, word: string | undefined): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = { error };
    const connection = this.#connection;
    if (connection !== undefined) this.#detach(connection);
    this.#giveUpTimer?.cancel();
    this.#overdueTimer?.cancel();
    if (connection !== undefined) this.#sendLastWord(connection.pipe, word === undefined ? undefined : new Error(word));
    this.#buffer.clear();
    for (const done of this.#unsent.clear()) queueMicrotask(done);
    this.#options.pipeEnded(this);
    queueMicrotask(() => this.#sink?.closed(error));
  }

  /** Ends a connection of a pipe that has ended. */
  #sendLastWord(pipe: Pipe, error: Error | undefined): void {
    pipe.write([error === undefined ? newEndSegment() : newResetSegment(error.message)], () => {});
    pipe.close();
    this.#options.clock.after(LINGER_MS, () => pipe.destroy());
  }
}
