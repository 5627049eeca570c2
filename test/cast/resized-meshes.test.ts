/** Tests of casts to meshes that ranks leave, join and return to. The trees consist of the ranks that belong to the mesh. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { context } from "../../runtime/actor/context.js";
import { makeMesh, viewOf } from "../../runtime/actor/mesh/actor-mesh.js";
import type { MeshRecord } from "../../runtime/actor/reference/mesh-record.js";
import { MeshView } from "../../runtime/actor/reference/mesh-view.js";
import { Recorder, type RecorderMesh } from "../actor/recorder.js";
import { type TestProc, World } from "../actor/world.js";
import { cases, mayHang } from "../profile.js";
import { kill } from "./kill-process.js";

const spawned = 3;
const most = 6;

/** The messages that each actor has handled, by rank and incarnation. */
let lives: number[][][];

class Life extends Recorder {
  readonly #handled: number[] = [];

  override async init(): Promise<void> {
    lives[context().actor.rank.rank]!.push(this.#handled);
  }

  override now(n: number): void {
    this.#handled.push(n);
  }

  override async slowly(n: number): Promise<number> {
    this.#handled.push(n);
    return n;
  }
}

/** A mesh in the process of its owner, with ranks that leave, join and return. */
class ResizedMesh {
  readonly world: World;
  readonly record: MeshRecord;
  /** The proc of each rank. */
  readonly procs: TestProc[];
  readonly #generations: number[] = [];
  /** The ranks that belong to the mesh. */
  readonly members = new Set<number>();

  constructor(world: World) {
    this.world = world;
    this.procs = Array.from({ length: spawned }, (_, i) => world.proc(`p${i}`));
    this.record = viewOf(world.spawn("lives", Life, [], this.procs)).record;
    for (const rank of this.procs.keys()) {
      this.members.add(rank);
      this.#generations.push(0);
    }
  }

  /** A handle of all ranks, including those that have left. */
  get all(): RecorderMesh<"gpus"> {
    const size = this.procs.length;
    const region = { labels: ["gpus"], sizes: [size], offset: 0, strides: [1], members: [...Array(size).keys()] };
    return makeMesh(new MeshView(this.record, Life.descriptor, region)) as unknown as RecorderMesh<"gpus">;
  }

  leave(rank: number): void {
    const { proc } = this.procs[rank]!;
    this.#generations[rank]!++;
    this.members.delete(rank);
    this.record.setLocation(rank, { ...this.#place(rank), location: proc.location, left: "it was resized" });
  }

  join(rank: number): void {
    const isNew = rank === this.procs.length;
    const generation = isNew ? 0 : this.#generations[rank]! + 1;
    const made = this.world.proc(`p${rank}-${generation}`);
    this.procs[rank] = made;
    this.#generations[rank] = generation;
    const { id: mesh, name, owner } = this.record;
    const extent = { gpus: rank + 1 };
    const { descriptor } = Life;
    const request = {
      mesh,
      rank,
      incarnation: generation,
      name,
      extent,
      owner,
      descriptor,
      actorClass: Life,
      args: [],
    };
    made.proc.createActor(request as never);
    this.members.add(rank);
    this.record.setLocation(rank, { ...this.#place(rank), location: made.proc.location });
  }

  #place(rank: number) {
    return { proc: this.procs[rank]!.proc.id, generation: this.#generations[rank]! };
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const left = "it has left the mesh: it was resized";

/** What a test does next. `rank` counts the ranks to which the step can happen, modulo their number. */
interface Step {
  readonly kind: "cast" | "call" | "direct" | "wait" | "leave" | "join";
  readonly rank: number;
}

const kinds = [
  ["cast", 6],
  ["call", 3],
  ["direct", 6],
  ["wait", 3],
  ["leave", 2],
  ["join", 2],
] as const;
const step: fc.Arbitrary<Step> = fc.oneof(
  ...kinds.map(([kind, weight]) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(kind), rank: fc.nat(most - 1) }),
  })),
);

/** Sends messages to a mesh while ranks leave and join, and checks what each actor handles and what each call returns. */
async function expectEachHandlesItsOwn(steps: readonly Step[], creditMessages: number, treeFanout: number) {
  lives = Array.from({ length: most }, () => []);
  const world = new World({ creditMessages, treeAbove: 1, treeFanout });
  const mesh = new ResizedMesh(world);
  const sent: number[][][] = Array.from({ length: most }, (_, rank) => (rank < spawned ? [[]] : []));
  const calls: { readonly members: readonly boolean[]; readonly answers: Promise<unknown[]> }[] = [];
  const sendTo = (n: number, ranks: Iterable<number>) => {
    for (const rank of ranks) if (mesh.members.has(rank)) sent[rank]!.at(-1)!.push(n);
  };
  /** The ranks that can join: those that have left, and the next new one. */
  const joinable = () =>
    Array.from({ length: Math.min(mesh.procs.length + 1, most) }, (_, rank) => rank).filter(
      (rank) => !mesh.members.has(rank),
    );
  const pick = (from: Iterable<number>, rank: number): number | undefined => {
    const all = [...from];
    return all[rank % all.length];
  };
  try {
    for (const [n, { kind, rank }] of steps.entries()) {
      const ranks = [...mesh.procs.keys()];
      if (kind === "wait") await turn();
      else if (kind === "leave") {
        const leaving = pick(mesh.members, rank);
        if (leaving !== undefined) mesh.leave(leaving);
      } else if (kind === "join") {
        const joining = pick(joinable(), rank);
        if (joining === undefined) continue;
        mesh.join(joining);
        sent[joining]!.push([]);
      } else if (kind === "cast") {
        void mesh.all.now.broadcast(n);
        sendTo(n, ranks);
      } else if (kind === "call") {
        const settled = mesh.all.slowly.callSettled(n);
        const statuses = settled.then((all) =>
          [...all.values()].map((each) => (each.status === "fulfilled" ? each.value : String(each.reason))),
        );
        const expected = ranks.map((at) => mesh.members.has(at));
        calls.push({ members: expected, answers: statuses });
        sendTo(n, ranks);
      } else {
        const receiver = pick(ranks, rank)!;
        void mesh.all.slice({ gpus: receiver }).now.broadcast(n);
        sendTo(n, [receiver]);
      }
    }
    for (const { members, answers } of calls) {
      for (const [rank, answer] of (await answers).entries()) {
        if (members[rank]) expect(answer, `rank ${rank}`).toEqual(expect.any(Number));
        else expect(answer, `rank ${rank}`).toContain(left);
      }
    }
    // The last question to each actor, also to those that have left, comes after all other messages.
    const expected = sent.map((of) => of.map((life) => life.join()));
    const handled = () => lives.map((of) => of.map((life) => life.join()));
    for (let tries = 0; tries < 1000 && JSON.stringify(handled()) !== JSON.stringify(expected); tries++) await turn();
    expect(handled()).toEqual(expected);
  } finally {
    world.close();
  }
}

test("each actor handles exactly what was sent while its rank belonged to the mesh, in order", async () => {
  const steps = fc.array(step, { minLength: 1, maxLength: 60, size: "max" });
  const credit = fc.integer({ min: 1, max: 6 });
  const fanout = fc.integer({ min: 1, max: 2 });
  const property = fc.asyncProperty(steps, credit, fanout, expectEachHandlesItsOwn);
  await fc.assert(property, { ...mayHang, numRuns: cases(100) });
});

test.each([
  ["a broadcast", "cast", "cast"],
  ["a call", "cast", "call"],
  ["a call after a call", "call", "call"],
] as const)("%s to a rank that has returned does not wait for what the rank has missed", async (_, missed, later) => {
  const steps: Step[] = [
    { kind: "leave", rank: 2 },
    { kind: missed, rank: 0 },
    { kind: "join", rank: 0 },
    { kind: later, rank: 0 },
  ];
  await expectEachHandlesItsOwn(steps, 3, 1);
  // The same with messages that the rank had before it left.
  await expectEachHandlesItsOwn([{ kind: "cast", rank: 0 }, { kind: "direct", rank: 2 }, ...steps], 3, 1);
});

test("casts to ranks that have joined are counted for each of them", async () => {
  lives = Array.from({ length: most }, () => []);
  const world = new World({ treeAbove: 1, treeFanout: 2 });
  const mesh = new ResizedMesh(world);
  try {
    mesh.all.now.broadcast(0);
    for (const rank of [3, 4, 5]) mesh.join(rank);
    for (const n of [1, 2, 3]) {
      expect([...(await mesh.all.slowly.call(n)).values()]).toEqual(Array.from({ length: most }, () => n));
      mesh.all.slice({ gpus: 5 }).now.broadcast(10 * n);
    }
    expect(await mesh.all.slice({ gpus: 5 }).slowly.callOne(99)).toBe(99);
    expect(lives[5]).toEqual([[1, 10, 2, 20, 3, 30, 99]]);
    expect(lives[0]).toEqual([[0, 1, 2, 3]]);
  } finally {
    world.close();
  }
});

test("a mesh that ranks have left is cast to by a tree, and the death of a proc inside of the tree fails only its rank", async () => {
  lives = Array.from({ length: 12 }, () => []);
  const world = new World({ treeAbove: 1, treeFanout: 2 });
  const mesh = new ResizedMesh(world);
  try {
    for (let rank = spawned; rank < 12; rank++) mesh.join(rank);
    for (const rank of [2, 11]) mesh.leave(rank);
    const outcomes = async (n: number) =>
      [...(await mesh.all.slowly.callSettled(n)).values()].map((each) =>
        each.status === "fulfilled" ? each.value : String(each.reason).includes(left) ? "left" : "lost",
      );
    const living = (n: number) => [n, n, "left", n, n, n, n, n, n, n, n, "left"];
    expect(await outcomes(1)).toEqual(living(1));
    // The root passes messages on to two procs only.
    const linked = mesh.procs.filter(({ proc }) => world.pipesBetween("root", proc.location).length > 0);
    expect(linked).toHaveLength(2);
    const inner = mesh.procs.indexOf(linked[0]!);
    const asked = outcomes(2);
    kill(world, linked[0]!);
    const withoutInner = (n: number) => living(n).map((each, rank) => (rank === inner ? "lost" : each));
    expect(await asked).toEqual(withoutInner(2));
    expect(await outcomes(3)).toEqual(withoutInner(3));
    // The rank returns with a new proc, and the other one that had left as well.
    mesh.leave(inner);
    mesh.join(inner);
    mesh.join(11);
    expect(await outcomes(4)).toEqual(living(4).map((each, rank) => (rank === 11 ? 4 : each)));
    expect(lives[inner]!.at(-1)).toEqual([4]);
  } finally {
    world.close();
  }
});
