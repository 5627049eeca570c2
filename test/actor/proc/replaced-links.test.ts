/** A link that its peer has given up, for another one: what was still on its way by it came back to who had sent it, and comes to nobody. */
import { afterEach, expect, test } from "vitest";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { deliverBytes, type Pipe, type PipeSink } from "../../../runtime/link/transport/pipe.js";
import { settled } from "../../link/fake-host.js";
import { Recorder } from "../recorder.js";
import { World } from "../world.js";

/** One end of a pipe, to which nothing comes while it is held. */
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

  /** All that came meanwhile comes now. */
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
    // What was on its way comes to nobody.
    this.#sink = undefined;
    this.#inner.destroy(error);
  }

  ref(): void {}

  unref(): void {}
}

/** Both ends of each pipe can be held: of those between two procs, in the order in which they were dialled. */
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

test.each(["the sender", "the receiver"])("a link that was dialled by %s", async (dialler) => {
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

  // Message 2 is on its way when the sender gives the link up; the receiver does not know of it yet.
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
  // Neither is there anything left of it.
  expect(b.proc.routes.allLinks().filter(({ peer }) => peer === world.root.proc.id)).toHaveLength(1);
});

test("two links of procs that dial each other at the same time both go on", async () => {
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
