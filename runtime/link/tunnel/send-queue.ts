/** The bytes of one channel that wait to be sent, and the credit for them. */
import { MAX_TUNNEL_BODY, TUNNEL_HEADER, TunnelKind, writeTunnelHeader } from "./frame.js";

interface QueuedWrite {
  readonly chunks: readonly Uint8Array[];
  readonly done: () => void;
  /** The number of its pieces that the connection is sending, if it is sent in several. */
  sending: number;
  /** Whether no other piece of it follows. */
  isTaken: boolean;
}

export class SendQueue {
  readonly #writes: QueuedWrite[] = [];
  /** The chunk of the first write that is sent next, and the number of its bytes that were sent. */
  #chunk = 0;
  #offset = 0;
  #bytes = 0;
  #credit = 0;

  /** The number of bytes that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether bytes can be sent now. */
  get isReady(): boolean {
    return this.#bytes > 0 && this.#credit > 0;
  }

  addCredit(bytes: number): void {
    this.#credit += bytes;
  }

  /** Queues bytes. @param size the number of bytes, more than 0 */
  add(chunks: readonly Uint8Array[], size: number, done: () => void): void {
    this.#bytes += size;
    this.#writes.push({ chunks, done, sending: 0, isTaken: false });
  }

  /**
   * Moves one data frame to a batch.
   * @param dones gets the callbacks of the writes that the frame completes
   * @returns the number of bytes
   */
  takeFrame(channel: number, chunks: Uint8Array[], dones: (() => void)[]): number {
    const size = Math.min(this.#bytes, this.#credit, MAX_TUNNEL_BODY);
    if (size === 0) return 0;
    const header = new Uint8Array(TUNNEL_HEADER);
    writeTunnelHeader(header, TunnelKind.data, channel, size);
    chunks.push(header);
    for (let left = size; left > 0; ) left -= this.#takePiece(left, chunks, dones);
    if (this.#chunk > 0 || this.#offset > 0) dones.push(pieceSent(this.#writes[0]!));
    this.#bytes -= size;
    this.#credit -= size;
    return size;
  }

  /**
   * Drops everything.
   * @returns the callbacks of the dropped writes, except that of one of which the connection is still sending a piece: its memory may not be used again
   * before
   */
  clear(): (() => void)[] {
    this.#bytes = 0;
    const dropped = this.#writes.splice(0);
    for (const write of dropped) write.isTaken = true;
    return dropped.filter(({ sending }) => sending === 0).map(({ done }) => done);
  }

  #takePiece(limit: number, chunks: Uint8Array[], dones: (() => void)[]): number {
    const write = this.#writes[0]!;
    const chunk = write.chunks[this.#chunk]!;
    const size = Math.min(limit, chunk.length - this.#offset);
    if (size > 0) chunks.push(chunk.subarray(this.#offset, this.#offset + size));
    this.#offset += size;
    if (this.#offset < chunk.length) return size;
    this.#offset = 0;
    this.#chunk++;
    // Empty chunks at the end complete the write, too.
    while (write.chunks[this.#chunk]?.length === 0) this.#chunk++;
    if (this.#chunk < write.chunks.length) return size;
    this.#chunk = 0;
    this.#writes.shift();
    write.isTaken = true;
    dones.push(write.sending === 0 ? write.done : pieceSent(write));
    return size;
  }
}

/** Notes that a piece of a write is being sent. @returns what to call when it is sent */
function pieceSent(write: QueuedWrite): () => void {
  write.sending++;
  return () => {
    write.sending--;
    if (write.sending === 0 && write.isTaken) write.done();
  };
}
