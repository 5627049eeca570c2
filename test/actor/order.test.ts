/**
 * Order: what one sender sends to one actor is handled in the order in which it was sent, over all adverbs, slices and
 * ways to reach it, whatever the credit.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Actor } from "../../runtime/actor/actor.js";
import { context } from "../../runtime/actor/context.js";
import type { Endpoint, StreamEndpoint } from "../../runtime/actor/endpoint.js";
import type { MeshKind } from "../../runtime/actor/kind.js";
import type { ActorMesh } from "../../runtime/actor/mesh.js";
import { range } from "../../runtime/shape/index.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../runtime/wire/descriptor.js";
import { delay } from "./counter.js";
import { World } from "./world.js";

/** How one message is sent: an adverb, and a part of the mesh. */
interface Step {
  adverb: number;
  part: number;
  wait: boolean;
}

const step = codec.object<Step>("Step", { adverb: codec.int32, part: codec.int32, wait: codec.boolean });
const int = defineArgs(codec.tuple(codec.int32), 1, 1);

const recorder = defineActor({
  key: "test/order#Recorder",
  name: "Recorder",
  id: 1,
  fingerprint: 0x51n,
  args: () => defineArgs(codec.tuple(), 0, 0),
  endpoints: () => ({
    now: { id: 1, args: int },
    slowly: { id: 2, args: int, result: codec.int32 },
    meanwhile: { id: 3, args: int, result: codec.int32, concurrent: true },
    stream: { id: 4, args: int, result: codec.int32, stream: true },
    seen: { id: 5, args: defineArgs(codec.tuple(), 0, 0), result: codec.map(codec.string, codec.array(codec.int32)) },
    play: {
      id: 6,
      args: defineArgs(
        codec.tuple(
          codec.mesh(() => recorder, ["gpus"]),
          codec.array(step),
        ),
        2,
        2,
      ),
    },
  }),
});

interface RecorderKind extends MeshKind {
  readonly mesh: RecorderMesh<this["dims"]>;
}
interface RecorderMesh<D extends string = string> extends ActorMesh<RecorderKind, D> {
  readonly now: Endpoint<[n: number], void, D>;
  readonly slowly: Endpoint<[n: number], number, D>;
  readonly meanwhile: Endpoint<[n: number], number, D>;
  readonly stream: StreamEndpoint<[n: number], number, D>;
  readonly seen: Endpoint<[], Map<string, number[]>, D>;
  readonly play: Endpoint<[mesh: RecorderMesh<"gpus">, steps: Step[]], void, D>;
}

/** Notes what it is sent by whom; also sends, when told to. */
class Recorder extends Actor {
  static override readonly descriptor = recorder;
  declare readonly $kind: RecorderKind;
  readonly #seen = new Map<string, number[]>();

  #note(n: number): number {
    const { name } = context().caller;
    const seen = this.#seen.get(name);
    if (seen === undefined) this.#seen.set(name, [n]);
    else seen.push(n);
    return n;
  }

  now(n: number): void {
    this.#note(n);
  }

  async slowly(n: number): Promise<number> {
    if (n % 3 === 0) await delay(0);
    return this.#note(n);
  }

  async meanwhile(n: number): Promise<number> {
    this.#note(n);
    await delay(n % 4);
    return n;
  }

  *stream(n: number): Generator<number> {
    this.#note(n);
    for (let i = 0; i < n % 5; i++) yield i;
  }

  seen(): Map<string, number[]> {
    return this.#seen;
  }

  play(mesh: RecorderMesh<"gpus">, steps: Step[]): Promise<void> {
    return play(mesh, steps);
  }
}

const parts = 4;
const adverbs = 7;

/** Sends message after message, each with its number. */
async function play(mesh: RecorderMesh<"gpus">, steps: readonly Step[]): Promise<void> {
  const pending: PromiseLike<unknown>[] = [];
  for (const [n, { adverb, part, wait }] of steps.entries()) {
    const target: RecorderMesh = [
      mesh,
      mesh.slice({ gpus: range(0, 2) }),
      mesh.slice({ gpus: range(0, 3, 2) }),
      mesh.rename({ gpus: "ranks" }),
    ][part]!;
    const sent = send(target, mesh.slice({ gpus: 0 }), adverb, n);
    if (wait) await sent;
    else pending.push(sent);
  }
  await Promise.all(pending);
}

function send(mesh: RecorderMesh, one: RecorderMesh<never>, adverb: number, n: number): PromiseLike<unknown> {
  switch (adverb) {
    case 0:
      return mesh.now.broadcast(n);
    case 1:
      return mesh.slowly.call(n);
    case 2:
      return one.slowly.callOne(n);
    case 3:
      return mesh.meanwhile.callSettled(n);
    case 4:
      return mesh.slowly.choose(n);
    case 5:
      return mesh.slowly.reduce("sum", n);
    default:
      return drain(mesh.stream.stream(n));
  }
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

const steps = fc.array(
  fc.record({
    adverb: fc.integer({ min: 0, max: adverbs - 1 }),
    part: fc.integer({ min: 0, max: parts - 1 }),
    wait: fc.boolean(),
  }),
  { maxLength: 40 },
);

test("several senders, any mix of adverbs and slices: each actor sees each sender's messages in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 3, maxLength: 3 }),
      fc.integer({ min: 1, max: 6 }),
      fc.boolean(),
      async (scripts, creditMessages, relayed) => {
        const world = new World({ creditMessages });
        const procs = ["a", "b", "c"].map((name) => world.proc(name));
        const recorders = world.spawn("recorders", Recorder, [], procs);
        const senders = world.spawn("senders", Recorder, [], procs.slice(0, 2));
        await recorders.seen.call();
        if (relayed) for (const { proc } of procs) world.unreachable.add(proc.location);
        try {
          await Promise.all([
            play(recorders, scripts[0]!),
            senders.slice({ gpus: 0 }).play.callOne(recorders, scripts[1]!),
            senders.slice({ gpus: 1 }).play.callOne(recorders, scripts[2]!),
          ]);
          for (const seen of (await recorders.seen.call()).values()) {
            for (const [sender, numbers] of seen) expect([sender, numbers]).toEqual([sender, ascending(numbers)]);
          }
          const [first] = [...(await recorders.seen.call()).values()];
          for (const [i, sender] of ["root", "senders[0]", "senders[1]"].entries()) {
            const all = scripts[i]!.flatMap(({ adverb }, n) => (adverb === 4 ? [] : [n]));
            expect(all.filter((n) => !(first?.get(sender) ?? []).includes(n))).toEqual([]);
          }
        } finally {
          world.close();
        }
      },
    ),
    { numRuns: 60, interruptAfterTimeLimit: 25_000 },
  );
});

function ascending(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}
