/** Actors that note what they are sent and by whom, and that send whatever mix of messages they are told. */
import fc from "fast-check";
import { Actor } from "../../runtime/actor/actor.js";
import type { Endpoint } from "../../runtime/actor/call/endpoint.js";
import type { StreamEndpoint } from "../../runtime/actor/call/stream-endpoint.js";
import { context } from "../../runtime/actor/context.js";
import type { ActorMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../runtime/actor/mesh-kind.js";
import { range } from "../../runtime/shape/index.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../runtime/wire/descriptor.js";
import { delay } from "./counter.js";

/** How one message is sent: an adverb, and a part of the mesh. */
export interface Step {
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
export interface RecorderMesh<D extends string = string> extends ActorMesh<RecorderKind, D> {
  readonly now: Endpoint<[n: number], void, D>;
  readonly slowly: Endpoint<[n: number], number, D>;
  readonly meanwhile: Endpoint<[n: number], number, D>;
  readonly stream: StreamEndpoint<[n: number], number, D>;
  readonly seen: Endpoint<[], Map<string, number[]>, D>;
  readonly play: Endpoint<[mesh: RecorderMesh<"gpus">, steps: Step[]], void, D>;
}

/** Notes what it is sent by whom; also sends, when told to. */
export class Recorder extends Actor {
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
export async function play(mesh: RecorderMesh<"gpus">, steps: readonly Step[]): Promise<void> {
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

export const steps = fc.array(
  fc.record({
    adverb: fc.integer({ min: 0, max: adverbs - 1 }),
    part: fc.integer({ min: 0, max: parts - 1 }),
    wait: fc.boolean(),
  }),
  { maxLength: 40 },
);

export function ascending(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}
