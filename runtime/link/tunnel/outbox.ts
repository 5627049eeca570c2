/**
 * The sending half of a tunnel. It decides what goes first: frames of the tunnel itself, then channels that have little to
 * send, such as calls, and then the others in turns. Few bytes are given to the connection at a time, so that what comes
 * later and is urgent does not wait behind them.
 */
import type { Pipe } from "../transport/pipe.js";
import type { Channel } from "./channel.js";

/** The number of waiting bytes up to which a channel goes before others. */
const URGENT_BYTES = 16 * 1024;

/** The number of bytes of the other channels in one batch, and the number of batches that the connection may hold. */
const BATCH_BYTES = 128 * 1024;
const WRITES_AHEAD = 2;

/**
 * The number of bytes of frames of the tunnel itself that may wait. Each answers a frame of the peer, so a peer that
 * reads never lets so many wait.
 */
const MAX_CONTROL_BYTES = 4 * 1024 * 1024;

export class TunnelOutbox {
  readonly #pipe: Pipe;
  readonly #overflow: () => void;
  #control: Uint8Array[] = [];
  #controlBytes = 0;
  /** The channels that have bytes to send and credit for them, in the order of their turns. */
  readonly #ready = new Set<Channel>();
  #writesInProgress = 0;
  #isScheduled = false;
  #hasEnded = false;

  /** @param overflow called when too many frames of the tunnel itself wait */
  constructor(pipe: Pipe, overflow: () => void) {
    this.#pipe = pipe;
    this.#overflow = overflow;
  }

  sendControl(frame: Uint8Array): void {
    if (this.#hasEnded) return;
    this.#control.push(frame);
    this.#controlBytes += frame.length;
    if (this.#controlBytes > MAX_CONTROL_BYTES) this.#overflow();
    else this.#schedule();
  }

  channelReady(channel: Channel): void {
    this.#ready.add(channel);
    this.#schedule();
  }

  forget(channel: Channel): void {
    this.#ready.delete(channel);
  }

  /** Stops sending. */
  end(): void {
    this.#hasEnded = true;
    this.#control = [];
    this.#ready.clear();
  }

  /** Sends at the end of the tick, so that what several channels send in one tick is one write. */
  #schedule(): void {
    if (this.#isScheduled || this.#writesInProgress >= WRITES_AHEAD) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#hasEnded && this.#writesInProgress < WRITES_AHEAD) {
      const chunks = this.#control;
      const dones: (() => void)[] = [];
      this.#control = [];
      this.#controlBytes = 0;
      this.#addUrgent(chunks, dones);
      this.#addOthers(chunks, dones);
      if (chunks.length === 0) return;
      this.#writesInProgress++;
      this.#pipe.write(chunks, () => {
        this.#writesInProgress--;
        for (const done of dones) done();
        this.#schedule();
      });
    }
  }

  #addUrgent(chunks: Uint8Array[], dones: (() => void)[]): void {
    for (const channel of [...this.#ready]) {
      if (channel.waitingBytes > URGENT_BYTES) continue;
      channel.takeFrame(chunks, dones);
      if (!channel.isReady) this.#ready.delete(channel);
    }
  }

  #addOthers(chunks: Uint8Array[], dones: (() => void)[]): void {
    for (let room = BATCH_BYTES; room > 0; ) {
      const [channel] = this.#ready;
      if (channel === undefined) return;
      // The next turn of the channel comes after those of the others.
      this.#ready.delete(channel);
      room -= channel.takeFrame(chunks, dones);
      if (channel.isReady) this.#ready.add(channel);
    }
  }
}
