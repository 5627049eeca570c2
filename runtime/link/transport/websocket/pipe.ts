/**
 * A byte pipe over a WebSocket. The bytes are in binary messages, and where a message ends means nothing. Whatever is sent inside, such
 * as TLS and the handshake, knows nothing of WebSockets.
 */
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { Clock } from "../../clock.js";
import { deliverBytes, type PausablePipe, type PipeSink, totalBytes } from "../pipe.js";
import { MESSAGE_BYTES, type PingLimits, pingLimits } from "./limits.js";
import { PingTimer } from "./ping.js";

/** The codes of messages that end a connection (RFC 6455, 7.4.1). */
const NORMAL = 1000;
const NO_CODE = 1005;
const NO_CLOSE_MESSAGE = 1006;
const UNSUPPORTED_DATA = 1003;

/** Adds what a subprotocol wants to messages, and takes it away. */
export interface MessageFraming {
  /** The bytes before those of the pipe, in each message that is sent. */
  readonly header: Uint8Array;
  /**
   * Returns the bytes for the pipe in a message that has come.
   * @throws Error if the message ends the pipe, with the reason
   */
  payload(message: Buffer): Uint8Array;
}

export interface WebSocketPipeOptions {
  readonly limits?: PingLimits;
  /** Default: messages contain the bytes of the pipe and nothing else. */
  readonly framing?: MessageFraming | undefined;
}

export class WebSocketPipe implements PausablePipe {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #ping: PingTimer;
  readonly #framing: MessageFraming | undefined;
  #sink: PipeSink | undefined;
  #error: Error | undefined;
  #isPaused = false;
  /** Whether this side has closed the pipe. */
  #isClosing = false;
  /** Whether the WebSocket has ended. */
  #hasEnded = false;
  /** The number of writes that the socket has not taken yet. */
  #unsentWrites = 0;

  /**
   * Takes over a WebSocket that has opened in this turn of the event loop, so that no message has come yet.
   * @param socket the socket below it
   */
  constructor(
    webSocket: WebSocket,
    socket: Socket,
    clock: Clock,
    { limits = pingLimits, framing }: WebSocketPipeOptions = {},
  ) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#framing = framing;
    // Bytes that come before `open` wait in the system.
    webSocket.pause();
    socket.unref();
    webSocket.on("message", (data, isBinary) => this.#received(data as Buffer, isBinary));
    webSocket.on("error", (error) => {
      this.#error ??= new Error(explainFrameError(error), { cause: error });
    });
    webSocket.once("close", (code, reason) => this.#end(code, reason));
    this.#ping = new PingTimer(webSocket, clock, limits, () => {
      const seconds = (limits.unanswered * limits.interval) / 1000;
      this.destroy(new Error(`the peer has answered no ping of the WebSocket for ${seconds} s`));
    });
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    if (this.#hasEnded) sink.closed(this.#error);
    else if (!this.#isPaused) this.#webSocket.resume();
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    const size = totalBytes(chunks);
    if (size === 0 || this.#isClosing || this.#webSocket.readyState !== this.#webSocket.OPEN) {
      queueMicrotask(done);
      return;
    }
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
    let at = 0;
    for (; at + MESSAGE_BYTES < size; at += MESSAGE_BYTES) this.#send(bytes.subarray(at, at + MESSAGE_BYTES));
    this.#unsentWrites++;
    this.#send(bytes.subarray(at), () => {
      this.#unsentWrites--;
      done();
      if (this.#isClosing) this.#closeWhenSent();
    });
  }

  #send(bytes: Uint8Array, sent?: () => void): void {
    const message = this.#framing === undefined ? bytes : Buffer.concat([this.#framing.header, bytes]);
    this.#webSocket.send(message, { binary: true }, sent);
  }

  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#closeWhenSent();
  }

  /** The time limit for the end begins when everything has been sent, because the library destroys the connection after it. */
  #closeWhenSent(): void {
    if (this.#unsentWrites === 0) this.#webSocket.close(NORMAL);
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#isClosing = true;
    this.#webSocket.terminate();
  }

  pause(): void {
    this.#isPaused = true;
    this.#webSocket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#sink !== undefined) this.#webSocket.resume();
  }

  ref(): void {
    this.#socket.ref();
  }

  unref(): void {
    this.#socket.unref();
  }

  #received(bytes: Buffer, isBinary: boolean): void {
    this.#ping.heard();
    if (this.#error !== undefined) return;
    if (isBinary) {
      this.#deliver(bytes);
      return;
    }
    this.#error = new Error("the peer has sent a text message over the WebSocket, and Viceroy sends binary ones only");
    this.#isClosing = true;
    this.#webSocket.close(UNSUPPORTED_DATA);
  }

  #deliver(message: Buffer): void {
    let bytes: Uint8Array = message;
    try {
      if (this.#framing !== undefined) bytes = this.#framing.payload(message);
    } catch (error) {
      this.destroy(error as Error);
      return;
    }
    deliverBytes(bytes, this.#sink!);
  }

  #end(code: number, reason: Buffer): void {
    this.#hasEnded = true;
    if (!this.#isClosing) this.#error ??= endError(code, reason);
    this.#sink?.closed(this.#error);
  }
}

/** Returns why the peer or a proxy has ended a WebSocket, undefined if that was in order. */
function endError(code: number, reason: Buffer): Error | undefined {
  if (code === NORMAL || code === NO_CODE) return undefined;
  if (code === NO_CLOSE_MESSAGE) return new Error("the connection below the WebSocket has ended");
  const said = reason.length === 0 ? "" : `: ${JSON.stringify(reason.toString("latin1"))}`;
  return new Error(`the peer has ended the WebSocket with code ${code}${said}`);
}

function explainFrameError(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" || code === "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH") {
    return "the peer has sent a WebSocket message that is longer than 1 MiB";
  }
  if (code === "WS_ERR_TOO_MANY_BUFFERED_PARTS") {
    return "the peer has sent a WebSocket message in too many pieces";
  }
  return `the WebSocket has failed: ${error.message}`;
}
