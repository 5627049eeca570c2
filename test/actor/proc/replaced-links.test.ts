/** A peer can replace a link by a new one. Late messages of the old link are dropped: their sender got them back. */
import { afterEach, expect, test } from "vitest";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { deliverBytes, type Pipe, type PipeSink } from "../../../runtime/link/transport/pipe.js";
import { settled } from "../../link/fake-host.js";
import { Recorder } from "../recorder.js";
import { World } from "../world.js";

/** One end of a pipe, which keeps back everything that it receives while it is held. */
class Held implements Pipe {
  readonly #inner: Pipe;
  #queue: ((sink: PipeSink) => void)[] | undefined;
  #sink: PipeSink | undefined;

  constructor(inner: Pipe) {
    this.#inner = inner;
  }

  hold(): void {
    this.#queue = [];
  }

  /** Passes on everything that was kept back. */
  release(): void {
    const queue = this.#queue ?? [];
    this.#queue = undefined;
    for (const event of queue) if (this.#sink !== undefined) event(this.#sink);
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    const piece = new Uint8Array(4096);
    const come = (event: (sink: PipeSink) => void) => {
      if (this.#queue === undefined) event(sink);
      else this.#queue.push(event);
    };
    this.#inner.open({
      buffer: () => piece,
      received: (n) => {
        const bytes = piece.slice(0, n);
        come((to) => deliverBytes(bytes, to));
      },
      closed: (error) => come((to) => to.closed(error)),
    });
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    this.#inner.write(chunks, done);
  }

  close(): void {
    this.#inner.close();
  }

  destroy(error?: Error): void {
    // Drops everything that is still on its way.
    this.#sink = undefined;
    this.#inner.destroy(error);
  }

  ref(): void {}

  unref(): void {}
}

/** A world in which both ends of each pipe can be held. The pipes are in the order in which they were dialled. */
class HeldWorld extends World {
  readonly held: { readonly from: string; readonly to: string; readonly near: Held; readonly far: Held }[] = [];

  protected override wrap(near: Pipe, far: Pipe, from: string, to: string): readonly [Pipe, Pipe] {
    const ends = { from, to, near: new Held(near), far: new Held(far) };
    this.held.push(ends);
    return [ends.near, ends.far];
  }
}

let world: HeldWorld;
afterEach(() => world.close());

test.each(["the sender", "the receiver"])("a replaced link drops late messages (dialled by %s)", async (dialler) => {
  world = new HeldWorld();
  const b = world.proc("b");
  const there = world.spawn("there", Recorder, [], [b]);
  if (dialler === "the receiver") {
    b.proc.routes.linkTo(world.root.proc.id, "root", undefined);
    await settled();
  }
  await there.now.broadcast(1);
  expect([...(await there.seen.call()).values()].map((seen) => [...seen.values()])).toEqual([[[1]]]);
  expect(world.held.map(({ from }) => from)).toEqual([dialler === "the sender" ? "root" : "b"]);

  // Message 2 is on its way when the sender abandons the link, and the receiver does not know that yet.
  const [first] = world.held;
  const [sending, receiving] = dialler === "the sender" ? [first!.near, first!.far] : [first!.far, first!.near];
  receiving.hold();
  there.now.broadcast(2);
  await settled();
  sending.destroy(new DeliveryError("closed", "the way to it was lost"));
  await settled();
  there.now.broadcast(3);
  await settled();
  receiving.release();
  await settled();

  expect(world.held.length).toBe(2);
  expect([...(await there.seen.call()).values()].map((seen) => [...seen.values()])).toEqual([[[1, 3]]]);
  expect([world.root, b].flatMap(({ events }) => events).filter(({ kind }) => kind === "peerDown")).toEqual([]);
  // The receiver has removed the old link.
  expect(b.proc.routes.allLinks().filter(({ peer }) => peer === world.root.proc.id)).toHaveLength(1);
});

test("two procs that dial each other at the same time keep both links, and messages stay in order", async () => {
  world = new HeldWorld();
  const b = world.proc("b");
  const there = world.spawn("there", Recorder, [], [b]);
  const dialled = [
    world.root.proc.routes.linkTo(b.proc.id, "b", undefined),
    b.proc.routes.linkTo(world.root.proc.id, "root", undefined),
  ];
  for (let n = 1; n <= 5; n++) {
    there.now.broadcast(n);
    await settled(3);
  }
  expect([...(await there.seen.call()).values()].map((seen) => [...seen.values()])).toEqual([[[1, 2, 3, 4, 5]]]);
  expect(world.held.length).toBe(2);
  expect(dialled.map(({ ended }) => ended)).toEqual([undefined, undefined]);
});
