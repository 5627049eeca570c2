/** Tests of actors that fail and are restarted in place while they receive messages and casts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { context } from "../../runtime/actor/context.js";
import { waitForPredecessor } from "../../runtime/proc/agent/wait-for-predecessor.js";
import { Recorder } from "../actor/recorder.js";
import { type TestProc, World } from "../actor/world.js";
import { cases, mayHang } from "../profile.js";

const ranks = 3;

/** The messages that each incarnation of each actor has handled, by rank. */
let lives: number[][][];

class Life extends Recorder {
  readonly #handled: number[] = [];

  override async init(): Promise<void> {
    lives[context().actor.rank.rank]!.push(this.#handled);
  }

  override now(n: number): void {
    this.#handled.push(n);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("cast" as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("direct" as const), rank: fc.nat(ranks - 1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("wait" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), rank: fc.nat(ranks - 1) }) },
);

/** Restarts the actor as a restart policy does. */
async function replace({ proc }: TestProc, mesh: bigint): Promise<void> {
  const cell = proc.cell(mesh)!;
  cell.fail({ kind: "message", error: new Error("told to fail"), at: 0 });
  await turn();
  await waitForPredecessor(proc, mesh);
  const { spec } = cell;
  if (proc.cell(mesh) !== cell) return;
  proc.createActor({ ...spec, incarnation: spec.incarnation + 1, args: [] } as never);
}

test("each incarnation of a restarted actor handles a gap-free part of one sender's messages in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 2 }),
      async (steps, creditMessages, treeFanout) => {
        lives = Array.from({ length: ranks }, () => []);
        const world = new World({ creditMessages, treeAbove: 1, treeFanout });
        const procs = ["a", "b", "c"].map((name) => world.proc(name));
        const mesh = world.spawn("lives", Life, [], procs);
        const { id } = [...procs[0]!.proc.cells()].find(({ name }) => name === "lives[0]")!;
        const sent: number[][] = Array.from({ length: ranks }, () => []);
        const replacing: Promise<void>[] = [];
        try {
          for (const [n, { kind, ...at }] of steps.entries()) {
            const rank = (at as { rank?: number }).rank ?? 0;
            if (kind === "wait") await turn();
            else if (kind === "fail") replacing.push(replace(procs[rank]!, id.mesh));
            else if (kind === "cast") {
              void mesh.now.broadcast(n);
              for (const to of sent) to.push(n);
            } else {
              void mesh.slice({ gpus: rank }).now.broadcast(n);
              sent[rank]!.push(n);
            }
          }
          await Promise.all(replacing);
          await mesh.seen.call();
          for (const [rank, of] of lives.entries()) {
            for (const handled of of) {
              const from = handled.length === 0 ? 0 : sent[rank]!.indexOf(handled[0]!);
              expect(handled, `rank ${rank}`).toEqual(sent[rank]!.slice(from, from + handled.length));
            }
            const last = of.at(-1)!;
            if (last.length > 0) expect(last.at(-1), `rank ${rank}`).toBe(sent[rank]!.at(-1));
            const all = of.flat();
            expect(new Set(all).size, `rank ${rank}`).toBe(all.length);
          }
        } finally {
          world.close();
        }
      },
    ),
    { ...mayHang, numRuns: cases(100) },
  );
});
