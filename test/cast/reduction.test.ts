/** Tests of reductions in the tree: the result is the same as at the root, and fewer bytes reach the root. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Actor } from "../../runtime/actor/actor.js";
import type { Endpoint } from "../../runtime/actor/call/endpoint.js";
import { registerReducer, topK } from "../../runtime/actor/call/reduction.js";
import { context } from "../../runtime/actor/context.js";
import type { ActorMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../runtime/actor/mesh-kind.js";
import { type Pipe, totalBytes } from "../../runtime/link/transport/pipe.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../runtime/wire/descriptor.js";
import { World } from "../actor/world.js";

const none = defineArgs(codec.tuple(), 0, 0);
const descriptor = defineActor({
  key: "test/reduce#Scores",
  name: "Scores",
  id: 3,
  fingerprint: 0x77n,
  args: () => defineArgs(codec.tuple(codec.array(codec.array(codec.int32))), 1, 1),
  endpoints: () => ({
    total: { id: 1, args: none, result: codec.int32 },
    all: { id: 2, args: none, result: codec.array(codec.int32) },
    name: { id: 3, args: none, result: codec.string },
  }),
});

interface ScoresKind extends MeshKind {
  readonly mesh: ScoresMesh<this["dims"]>;
}
interface ScoresMesh<D extends string = string> extends ActorMesh<ScoresKind, D> {
  readonly total: Endpoint<[], number, D>;
  readonly all: Endpoint<[], number[], D>;
  readonly name: Endpoint<[], string, D>;
}

class Scores extends Actor {
  static override readonly descriptor = descriptor;
  declare readonly $kind: ScoresKind;
  readonly #scores: readonly number[];

  constructor(scores: readonly (readonly number[])[]) {
    super();
    this.#scores = scores[context().actor.rank.rank]!;
  }

  total(): number {
    return this.#scores.reduce((a, b) => a + b, 0);
  }

  all(): number[] {
    return [...this.#scores];
  }

  name(): string {
    return `<${context().actor.rank.rank}>`;
  }
}

const longest = registerReducer("longest", (a: number[], b: number[]) => (b.length > a.length ? b : a));

function meshOf(scores: readonly (readonly number[])[], treeAbove: number) {
  const world = new World({ treeAbove, treeFanout: 3 });
  const procs = scores.map((_, i) => world.proc(`p${i}`));
  return { world, mesh: world.spawn("scores", Scores as never, [scores], procs) as unknown as ScoresMesh<"gpus"> };
}

test("every reduction gives the same result in the tree as at the root", async () => {
  const scores = fc.array(fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 4 }), { minLength: 2, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(scores, async (given) => {
      const results: unknown[] = [];
      for (const treeAbove of [1, 1000]) {
        const { world, mesh } = meshOf(given, treeAbove);
        results.push([
          await mesh.total.reduce("sum"),
          await mesh.total.reduce("min"),
          await mesh.total.reduce("max"),
          await mesh.total.reduce("count"),
          await mesh.all.reduce("concat"),
          await mesh.name.reduce("concat"),
          await mesh.all.reduce(topK(3)),
          await mesh.all.reduce(topK(3, (n: number) => -n)),
          await mesh.all.reduce(longest),
          await mesh.total.reduce((a, b) => a * 2 + b),
        ]);
        world.close();
      }
      expect(results[0]).toEqual(results[1]);
    }),
    { numRuns: 20, interruptAfterTimeLimit: 20_000 },
  );
});

/** A world that counts the bytes that arrive at the root. */
class CountingWorld extends World {
  bytesToRoot = 0;

  protected override wrap(near: Pipe, far: Pipe, from: string, to: string): readonly [Pipe, Pipe] {
    // The root is created by the constructor of `World`, before this class has its fields, but it dials later.
    if (from === "root") this.#count(far);
    if (to === "root") this.#count(near);
    return [near, far];
  }

  /** @param end the end of a pipe whose other end is the root's */
  #count(end: Pipe): void {
    const write = end.write.bind(end);
    end.write = (chunks, done) => {
      this.bytesToRoot += totalBytes(chunks);
      write(chunks, done);
    };
  }
}

test("fewer bytes reach the root when the tree combines the answers", async () => {
  const ranks = 30;
  const bytesOf = async (treeAbove: number, reduce: (mesh: ScoresMesh<"gpus">) => PromiseLike<unknown>) => {
    const world = new CountingWorld({ treeAbove, treeFanout: 3 });
    // All answers differ, so that the tree cannot store equal ones once.
    const scores = Array.from({ length: ranks }, (_, rank) => Array.from({ length: 100 }, (_, i) => 1000 * rank + i));
    const procs = scores.map((_, i) => world.proc(`p${i}`));
    const mesh = world.spawn("scores", Scores as never, [scores], procs) as unknown as ScoresMesh<"gpus">;
    await reduce(mesh);
    const before = world.bytesToRoot;
    for (let i = 0; i < 10; i++) await reduce(mesh);
    const bytes = world.bytesToRoot - before;
    world.close();
    return bytes;
  };
  const top = (mesh: ScoresMesh<"gpus">) => mesh.all.reduce(topK(3));
  const sum = (mesh: ScoresMesh<"gpus">) => mesh.total.reduce("sum");
  // Three children answer instead of 30 ranks. A combined answer says which ranks it has.
  expect((await bytesOf(1, sum)) * 4).toBeLessThan(await bytesOf(1000, sum));
  // The root gets three numbers from each child, where 30 ranks send 100 each.
  expect((await bytesOf(1, top)) * 50).toBeLessThan(await bytesOf(1000, top));
});

test("a sum is correct even if it exceeds the range of the answers' type", async () => {
  const { world, mesh } = meshOf(
    Array.from({ length: 20 }, () => [2_000_000_000]),
    1,
  );
  expect(await mesh.total.reduce("sum")).toBe(40_000_000_000);
  world.close();
});

test("two reducers cannot have the same name", () => {
  expect(() => registerReducer("longest", (a: number) => a)).toThrow(
    'cannot register reducer "longest": another function has that name already',
  );
});

test("a call with a reduction that does not fit the type of the answers is rejected", async () => {
  const { world, mesh } = meshOf([[1], [2], [3]], 1);
  await expect(mesh.name.reduce("sum" as never)).rejects.toThrow(
    "cannot reduce scores.name: sum takes numbers, got string",
  );
  world.close();
});
