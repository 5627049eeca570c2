/**
 * The window of one direction of a channel: how many bytes the peer may send before this side has taken them. The
 * window grows while this side takes the bytes as fast as they come, so that long lines are used, and stays small
 * otherwise.
 */
import { ProtocolError } from "../frame/frame.js";

/** Decides whether a window may grow. @returns the number of bytes by which it grows */
export type GrowWindow = (window: number) => number;

export class ReceiveWindow {
  /** The size of the window in bytes. */
  size: number;
  readonly #grow: GrowWindow;
  /** The number of bytes that the peer may still send. */
  #open: number;
  /** The number of bytes that were taken, and that the peer does not know of. */
  #taken = 0;

  constructor(size: number, grow: GrowWindow) {
    this.size = size;
    this.#open = size;
    this.#grow = grow;
  }

  /** Notes that bytes have come. @throws ProtocolError if the peer may not have sent them */
  received(bytes: number): void {
    this.#open -= bytes;
    if (this.#open < 0)
      throw new ProtocolError("the peer has sent more on a channel of a tunnel than it has credit for");
  }

  /**
   * Notes that this side has taken bytes.
   * @param mayGrow whether no other bytes wait
   * @returns the number of bytes that the peer may send in addition, or 0 if it is not worth a frame yet
   */
  taken(bytes: number, mayGrow: boolean): number {
    this.#taken += bytes;
    if (this.#taken < this.size / 2) return 0;
    const growth = mayGrow ? this.#grow(this.size) : 0;
    const credit = this.#taken + growth;
    this.size += growth;
    this.#open += credit;
    this.#taken = 0;
    return credit;
  }
}
