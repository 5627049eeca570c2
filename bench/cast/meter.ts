/** Counts the frames and bytes that a proc sends and receives, between its links and their pipes, and the time that its own code takes. */
import { FrameKind } from "../../runtime/link/frame/frame.js";
import type { Pipe, PipeSink } from "../../runtime/link/transport/pipe.js";

// The clock of the machine, also where time is simulated.
const now = performance.now.bind(performance);

export class Meter {
  frames = 0;
  bytes = 0;
  ms = 0;

  reset(): void {
    Object.assign(this, { frames: 0, bytes: 0, ms: 0 });
  }

  /** Runs code of the proc and adds its duration. */
  time<T>(run: () => T): T {
    const start = now();
    try {
      return run();
    } finally {
      this.ms += now() - start;
    }
  }

  pipe(pipe: Pipe): Pipe {
    return {
      open: (sink) => pipe.open(this.#sink(sink)),
      write: (chunks, done) => {
        for (const chunk of chunks) this.#count(chunk);
        pipe.write(chunks, done);
      },
      close: () => pipe.close(),
      destroy: (error) => pipe.destroy(error),
      ref: () => pipe.ref(),
      unref: () => pipe.unref(),
    };
  }

  #sink(sink: PipeSink): PipeSink {
    const frames = new FrameCounter();
    let buffer: Uint8Array = new Uint8Array(0);
    return {
      buffer: () => {
        buffer = sink.buffer();
        return buffer;
      },
      received: (n) => {
        this.bytes += n;
        this.frames += frames.add(buffer.subarray(0, n));
        this.time(() => sink.received(n));
      },
      closed: (error) => sink.closed(error),
    };
  }

  /** One write contains whole frames. */
  #count(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    this.frames += new FrameCounter().add(bytes);
  }
}

/** Bytes of a frame that contain its length and its kind. */
const headBytes = 8;

/** Counts the frames of a stream of bytes that arrives in pieces. */
class FrameCounter {
  /** The first bytes of the current frame, and the number of its bytes that have not arrived. */
  readonly #head: number[] = [];
  #left = 0;

  add(bytes: Uint8Array): number {
    let count = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#left > 0) {
        const size = Math.min(this.#left, bytes.length - at);
        this.#left -= size;
        at += size;
        continue;
      }
      this.#head.push(bytes[at++]!);
      if (this.#head.length < headBytes) continue;
      const view = new DataView(Uint8Array.from(this.#head).buffer);
      this.#head.length = 0;
      this.#left = ((view.getUint32(0, true) + 7) & ~7) - headBytes;
      if ((view.getUint32(4, true) & 0xff) !== FrameKind.block) count++;
    }
    return count;
  }
}
