/**
 * A pipe that outlives its connections. Its bytes are numbered by their place; what was sent is kept until the peer has
 * confirmed it; on a new connection each side says how many bytes it has, and the other goes on from there, byte for byte.
 * So nothing is lost and nothing comes twice, and the link above does not notice. Who makes connections is the concern of
 * dial.ts and accept.ts; after the give-up time without one, the pipe ends.
 */
import type { Clock, Timer } from "../clock.js";
import { ProtocolError } from "../frame.js";
import type { Pipe, PipeSink } from "../pipe.js";
import type { LastingLimits } from "./limits.js";
import { ResendBuffer } from "./resend-buffer.js";
import { ackSegment, endSegment, resetSegment, type SegmentHandler, SegmentReader } from "./segment.js";
import { Unsent } from "./unsent.js";

/** Writes handed to the connection and not yet taken by it, and about how many bytes each may have. */
const WRITES_AHEAD = 2;
const WRITE_BYTES = 256 * 1024;

/** Bytes that come once more are read in pieces of so many at most. */
const WASTE_BYTES = 16 * 1024;

/** The longest time between two attempts to replace a connection that has gone dumb, in ms. */
const LONGEST_PATIENCE = 60_000;

/** How long a connection may take to send the last word of a pipe that has ended, in ms. */
const LINGER = 1000;

export interface LastingPipeOptions {
  readonly clock: Clock;
  readonly limits: LastingLimits;
  /** Who is at the other end, as errors name it. */
  readonly peer: string;
  /** The connection has ended; another one should be made. */
  lost(pipe: LastingPipe): void;
  /** The peer confirms nothing, and the connection stands. Absent: nobody cares. */
  overdue?(pipe: LastingPipe): void;
  /** The pipe has come to its end; called once. */
  over(pipe: LastingPipe): void;
}

interface Connection {
  readonly pipe: Pipe;
  readonly reader: SegmentReader;
  writing: number;
  acking: boolean;
  endSent: boolean;
}

export class LastingPipe implements Pipe, SegmentHandler {
  readonly #options: LastingPipeOptions;
  readonly #limits: LastingLimits;
  readonly #ackBytes: number;
  readonly #buffer = new ResendBuffer();
  readonly #unsent = new Unsent();
  /** Behind the last byte that any connection was given. */
  #handed = 0;
  #received = 0;
  /** Bytes that come once more. */
  #repeated = 0;
  #confirmed = 0;
  #ackTimer: Timer | undefined;
  #giveUpTimer: Timer | undefined;
  /** How long to wait for a confirmation, in ms. */
  #patience: number;
  #overdueTimer: Timer | undefined;
  #connection: Connection | undefined;
  #sink: PipeSink | undefined;
  #closing = false;
  #over: { readonly error: Error | undefined } | undefined;
  #referenced = false;
  #lastFailure: Error | undefined;

  constructor(options: LastingPipeOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#ackBytes = Math.max(1, Math.floor(options.limits.resendBytes / 64));
    this.#patience = options.limits.overdueMs;
    this.#waitForNext();
  }

  /** Bytes of the link that have come so far. */
  get bytesReceived(): number {
    return this.#received;
  }

  /** Bytes that are kept for another connection. */
  get retained(): number {
    return this.#buffer.size;
  }

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  get ended(): boolean {
    return this.#over !== undefined;
  }

  /** Whether the peer can have received so many bytes, and what is missing can be sent again. */
  canResume(offset: number): boolean {
    return offset >= this.#buffer.start && offset <= this.#handed;
  }

  /** Nothing is taken from the connection any more: `bytesReceived` stands until the next one. */
  suspend(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#drop(connection);
    connection.pipe.destroy();
  }

  /**
   * Goes on over a new connection, whose peer has `offset` bytes. `canResume(offset)` is true.
   * @param told how many bytes the peer was told that this side has: since then, more may have come over the last connection
   */
  resume(pipe: Pipe, offset: number, told = this.#received): void {
    if (this.#over !== undefined) {
      this.#lastWord(pipe, this.#over.error);
      return;
    }
    this.suspend();
    this.#giveUpTimer?.cancel();
    this.#giveUpTimer = undefined;
    this.#buffer.rewind(offset);
    this.#confirmed = told;
    this.#repeated = this.#received - told;
    const connection: Connection = { pipe, reader: new SegmentReader(this), writing: 0, acking: false, endSent: false };
    this.#connection = connection;
    if (this.#referenced) pipe.ref();
    if (this.#sink !== undefined) pipe.open(connection.reader);
    this.#pump();
  }

  /** Why the last attempt to connect again failed. */
  attemptFailed(error: Error): void {
    this.#lastFailure = error;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    if (this.#over !== undefined) sink.closed(this.#over.error);
    else this.#connection?.pipe.open(this.#connection.reader);
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    if (this.#over !== undefined || this.#closing) {
      queueMicrotask(done);
      return;
    }
    this.#unsent.add(chunks, done);
    this.#pump();
  }

  close(): void {
    this.#closing = true;
    this.#pump();
  }

  destroy(error?: Error): void {
    this.#finish(error, error?.message ?? "the process at the other end has ended the link");
  }

  ref(): void {
    this.#referenced = true;
    this.#connection?.pipe.ref();
  }

  unref(): void {
    this.#referenced = false;
    this.#connection?.pipe.unref();
  }

  buffer(): Uint8Array {
    if (this.#repeated === 0) return this.#sink!.buffer();
    return new Uint8Array(Math.min(this.#repeated, WASTE_BYTES));
  }

  data(n: number): void {
    if (this.#repeated > 0) this.#repeated -= n;
    else {
      this.#received += n;
      this.#sink!.received(n);
      if (this.#connection === undefined) return;
    }
    if (this.#taken - this.#confirmed >= this.#ackBytes) this.#ack();
    else this.#ackLater();
  }

  /** Bytes that this connection has shown to be here: what the peer can be told without surprise. */
  get #taken(): number {
    return this.#received - this.#repeated;
  }

  ack(received: number): void {
    const { start, sent } = this.#buffer;
    if (received < start || received > sent) {
      throw new ProtocolError(`cannot read ack: expected ${start} to ${sent} bytes, got ${received}`);
    }
    this.#buffer.confirm(received);
    this.#patience = this.#limits.overdueMs;
    this.#pump();
  }

  end(): void {
    this.#finish(undefined, undefined);
  }

  reset(reason: string): void {
    this.#finish(new Error(`${this.#options.peer} has ended the link: ${reason}`), undefined);
  }

  broken(error: Error): void {
    this.#finish(error, error.message);
  }

  lost(error: Error | undefined): void {
    const connection = this.#connection;
    if (connection !== undefined) this.#drop(connection);
    this.#lastFailure = error;
    this.#waitForNext();
    this.#options.lost(this);
  }

  /** The link is given up unless another connection comes in time. */
  #waitForNext(): void {
    const { clock, peer } = this.#options;
    const { giveUpMs } = this.#limits;
    this.#giveUpTimer ??= clock.after(giveUpMs, () => {
      const cause = this.#lastFailure;
      const why = cause === undefined ? "" : `: ${cause.message}`;
      const text = `the connection to ${peer} was lost and not restored within ${giveUpMs} ms${why}`;
      this.#finish(new Error(text, { cause }), undefined);
    });
  }

  #drop(connection: Connection): void {
    this.#connection = undefined;
    connection.reader.stop();
    this.#ackTimer?.cancel();
    this.#ackTimer = undefined;
    this.#waitForNext();
  }

  /** One at a time: a peer that does not take them gets no queue of them. */
  #ack(): void {
    const connection = this.#connection;
    this.#ackTimer?.cancel();
    this.#ackTimer = undefined;
    if (connection === undefined || connection.acking) return;
    this.#confirmed = this.#taken;
    connection.acking = true;
    connection.pipe.write([ackSegment(this.#confirmed)], () => {
      connection.acking = false;
      if (this.#connection === connection && this.#taken > this.#confirmed) this.#ackLater();
    });
  }

  #ackLater(): void {
    this.#ackTimer ??= this.#options.clock.after(this.#limits.ackMs, () => this.#ack());
  }

  /** Hands the connection as much as it takes, and copies what there is room for. */
  #pump(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    while (this.#connection === connection && connection.writing < WRITES_AHEAD) {
      while (this.#buffer.end - this.#buffer.sent < WRITE_BYTES && this.#copy());
      const chunks: Uint8Array[] = [];
      if (this.#buffer.take(chunks, WRITE_BYTES) === 0) {
        // Writes of no bytes at all.
        for (const done of this.#unsent.takeDone()) queueMicrotask(done);
        break;
      }
      this.#handed = Math.max(this.#handed, this.#buffer.sent);
      const copied = this.#unsent.takeDone();
      connection.writing++;
      connection.pipe.write(chunks, () => {
        connection.writing--;
        for (const done of copied) done();
        if (this.#connection === connection) this.#pump();
      });
    }
    // What a write has made room for has been written meanwhile, maybe to another one.
    if (this.#connection !== connection) return;
    if (this.#overdueTimer === undefined && this.#buffer.size > 0) this.#expectAck();
    if (!this.#closing || connection.endSent || !this.#unsent.empty || this.#buffer.sent < this.#buffer.end) return;
    connection.endSent = true;
    connection.pipe.write([endSegment()], () => {});
  }

  /** Notices when nothing is confirmed for long. */
  #expectAck(): void {
    const { clock, overdue } = this.#options;
    if (overdue === undefined) return;
    const { start } = this.#buffer;
    this.#overdueTimer = clock.after(this.#patience, () => {
      this.#overdueTimer = undefined;
      if (this.#connection === undefined || this.#buffer.size === 0) return;
      if (this.#buffer.start === start) {
        this.#patience = Math.min(LONGEST_PATIENCE, this.#patience * 2);
        overdue(this);
      }
      this.#expectAck();
    });
  }

  /** @returns whether anything was copied */
  #copy(): boolean {
    return this.#unsent.copy(this.#buffer, this.#limits.resendBytes - this.#buffer.size);
  }

  /** @param word what the peer is told; undefined: it was the peer who ended it, or is out of reach */
  #finish(error: Error | undefined, word: string | undefined): void {
    if (this.#over !== undefined) return;
    this.#over = { error };
    const connection = this.#connection;
    if (connection !== undefined) this.#drop(connection);
    this.#giveUpTimer?.cancel();
    this.#overdueTimer?.cancel();
    if (connection !== undefined) this.#lastWord(connection.pipe, word === undefined ? undefined : new Error(word));
    this.#buffer.clear();
    for (const done of this.#unsent.clear()) queueMicrotask(done);
    this.#options.over(this);
    queueMicrotask(() => this.#sink?.closed(error));
  }

  /** Ends a connection of a pipe that has ended. */
  #lastWord(pipe: Pipe, error: Error | undefined): void {
    pipe.write([error === undefined ? endSegment() : resetSegment(error.message)], () => {});
    pipe.close();
    this.#options.clock.after(LINGER, () => pipe.destroy());
  }
}
