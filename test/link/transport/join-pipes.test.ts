/** Tests of copies between two connections, whose memory is used again when bytes were written. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { joinPipes } from "../../../runtime/link/transport/join-pipes.js";
import { deliverBytes, type PausablePipe, type PipeSink, totalBytes } from "../../../runtime/link/transport/pipe.js";

/** A connection of a test, which decides when bytes come and when writes are done. */
class ScriptedPipe implements PausablePipe {
  isPaused = false;
  isClosed = false;
  #sink: PipeSink | undefined;
  readonly #writes: { readonly chunks: readonly Uint8Array[]; readonly done: () => void }[] = [];
  /** The chunks as they were when their write was done, because the system reads them as late as that. */
  readonly written: Buffer[] = [];

  open(sink: PipeSink): void {
    this.#sink = sink;
  }
  write(chunks: readonly Uint8Array[], done: () => void): void {
    this.#writes.push({ chunks, done });
  }
  close(): void {
    this.finish(this.#writes.length);
    this.isClosed = true;
  }
  destroy(): void {
    this.isClosed = true;
  }
  ref(): void {}
  unref(): void {}
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  get waitingBytes(): number {
    return this.#writes.reduce((sum, { chunks }) => sum + totalBytes(chunks), 0);
  }
  receive(bytes: Uint8Array): void {
    deliverBytes(bytes, this.#sink!);
  }
  /** Like a socket, which asks for memory before there are bytes. */
  askForMemory(): void {
    expect(this.#sink!.buffer()).toBe(this.#sink!.buffer());
  }
  end(): void {
    this.#sink!.closed();
  }
  finish(writes: number): void {
    for (const { chunks, done } of this.#writes.splice(0, writes)) {
      for (const chunk of chunks) this.written.push(Buffer.from(chunk));
      done();
    }
  }
}

test("all bytes are copied in order, however many come at once and however late they are written", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("bytes" as const), n: fc.oneof(fc.nat(300), fc.nat(150_000)) }),
    fc.record({ kind: fc.constant("written" as const), n: fc.nat(4) }),
    fc.record({ kind: fc.constant("tick" as const), n: fc.nat(0) }),
    fc.record({ kind: fc.constant("memory" as const), n: fc.nat(0) }),
  );
  const copies = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const [from, to] = [new ScriptedPipe(), new ScriptedPipe()];
    joinPipes(from, to);
    const sent: Buffer[] = [];
    let count = 0;
    for (const { kind, n } of steps) {
      if (kind === "written") to.finish(n);
      else if (kind === "tick") await Promise.resolve();
      else if (kind === "memory") from.askForMemory();
      else if (!from.isPaused) {
        const bytes = Buffer.from(Uint8Array.from({ length: n }, () => count++ % 251));
        sent.push(bytes);
        from.receive(bytes);
      }
    }
    from.end();
    expect(to.isClosed).toBe(true);
    expect(Buffer.concat(to.written).equals(Buffer.concat(sent))).toBe(true);
  });
  await fc.assert(copies, { numRuns: 60 });
});

test("what comes in one tick is one write, and a side that takes no bytes stops the reading of the other one", async () => {
  const [from, to] = [new ScriptedPipe(), new ScriptedPipe()];
  joinPipes(from, to);
  from.receive(Uint8Array.of(1, 2));
  from.receive(Uint8Array.of(3));
  expect(to.waitingBytes).toBe(0);
  await Promise.resolve();
  to.finish(1);
  expect(to.written).toEqual([Buffer.of(1, 2, 3)]);
  while (!from.isPaused) from.receive(new Uint8Array(32 * 1024));
  await Promise.resolve();
  expect(to.waitingBytes).toBeLessThanOrEqual(288 * 1024);
  while (from.isPaused) to.finish(1);
  expect(to.waitingBytes).toBeLessThanOrEqual(64 * 1024);
});
