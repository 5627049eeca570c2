/**
 * A pipe that outlives its connections. Sent bytes are kept until the peer has acknowledged them. On a new connection
 * each side says how many bytes it has received, and the other side resumes from that offset. So no byte is lost or
 * repeated, and the link above does not notice. dial.ts and accept.ts make the connections. The pipe ends if it has had
 * no connection for the give-up time.
 */
import type { Clock, Timer } from "../clock.js";
import { ProtocolError } from "../frame/frame.js";
import type { Pipe, PipeSink } from "../transport/pipe.js";
import type { ResumableLimits } from "./limits.js";
import { ResendBuffer } from "./resend-buffer.js";
import { newAckSegment, newEndSegment, newResetSegment, type SegmentHandler, SegmentReader } from "./segment.js";
import { UnsentWrites } from "./unsent-writes.js";

/** The number of writes that the connection may hold, and below the approximate number of bytes of each. */
const WRITES_AHEAD = 2;
const WRITE_BYTES = 256 * 1024;

/** The largest buffer for reading bytes that come a second time and are dropped. */
const DISCARD_BUFFER_BYTES = 16 * 1024;

/** The longest time between two attempts to replace a silent connection, in milliseconds. */
const MAX_ACK_TIMEOUT_MS = 60_000;

/** The time that a connection has to send the last segment of a pipe that has ended, in milliseconds. */
const LINGER_MS = 1000;

export interface ResumablePipeOptions {
  readonly clock: Clock;
  readonly limits: ResumableLimits;
  /** The name of the peer, for errors. */
  readonly peer: string;
  /** The connection has ended, and another one should be made. */
  connectionLost(pipe: ResumablePipe): void;
  /** The connection exists, but the peer does not acknowledge anything. */
  ackOverdue?(pipe: ResumablePipe): void;
  /** The pipe has ended. Called once. */
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
  /** The offset behind the last byte that was written to any connection. */
  #handedOut = 0;
  #received = 0;
  /** The number of bytes that will come a second time. */
  #repeatedBytes = 0;
  #confirmed = 0;
  #ackTimer: Timer | undefined;
  #giveUpTimer: Timer | undefined;
  /** The time to wait for an acknowledgement, in milliseconds. */
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

  /** The number of bytes of the link that have been received. */
  get bytesReceived(): number {
    return this.#received;
  }

  /** The number of bytes that are kept to be sent again. */
  get unconfirmedBytes(): number {
    return this.#buffer.size;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** Returns whether the peer can have received `offset` bytes, and the bytes from there on can be sent again. */
  canResume(offset: number): boolean {
    return offset >= this.#buffer.start && offset <= this.#handedOut;
  }

  /** Closes the connection, so that `bytesReceived` does not change until the next one. */
  suspend(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#detach(connection);
    connection.pipe.destroy();
  }

  /**
   * Resumes the pipe over a new connection, whose peer has received `offset` bytes. `canResume(offset)` must be true.
   * @param told the number of received bytes that the peer was told; more may have come over the last connection since
   * then
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

  /** Notes the error of the last attempt to connect again. */
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

  /** The number of bytes that this connection can acknowledge: without those that are still to come a second time. */
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

  /** Starts the timer that ends the pipe unless another connection is made in time. */
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

  /** Sends an acknowledgement, if none is being sent. So a peer that does not read has no queue of them. */
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

  /** Writes as much as the connection accepts, and copies unsent bytes into the resend buffer as far as there is room. */
  #transfer(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    while (this.#connection === connection && connection.writing < WRITES_AHEAD) {
      while (this.#buffer.end - this.#buffer.sent < WRITE_BYTES && this.#copyUnsent());
      const chunks: Uint8Array[] = [];
      if (this.#buffer.takeSegment(chunks, WRITE_BYTES) === 0) {
        // Empty writes are done at once.
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
    // A write that completed at once may have transferred the rest, perhaps to another connection.
    if (this.#connection !== connection) return;
    if (this.#overdueTimer === undefined && this.#buffer.size > 0) this.#watchForAck();
    if (!this.#closing || connection.endSent || !this.#unsent.isEmpty || this.#buffer.sent < this.#buffer.end) return;
    connection.endSent = true;
    connection.pipe.write([newEndSegment()], () => {});
  }

  /** Starts the timer that reports missing acknowledgements. */
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

  /**
   * Copies the next unsent bytes.
   * @returns whether any bytes were copied
   */
  #copyUnsent(): boolean {
    return this.#unsent.copyNext(this.#buffer, this.#limits.resendBytes - this.#buffer.size);
  }

  /**
   * Ends the pipe.
   * @param word the reason for the peer; undefined if the peer has ended the pipe or cannot be reached
   */
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

  /** Sends the last segment on a connection of a pipe that has ended, and closes the connection. */
  #sendLastWord(pipe: Pipe, error: Error | undefined): void {
    pipe.write([error === undefined ? newEndSegment() : newResetSegment(error.message)], () => {});
    pipe.close();
    this.#options.clock.after(LINGER_MS, () => pipe.destroy());
  }
}
