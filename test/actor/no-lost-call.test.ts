/**
 * No call is ever lost: every operation that was started comes to an end, although actors fail or are stopped, links
 * are cut and calls are cancelled, in any order.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Channel } from "../../runtime/actor/port/channel.js";
import type { LinkLimits } from "../../runtime/link/link-limits.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { cases, mayHang, timeLimit } from "../profile.js";
import { Counter, type CounterMesh, delay } from "./counter.js";
import { World } from "./world.js";

const kinds = [
  "value",
  "sleep",
  "meanwhile",
  "note",
  "answer",
  "forgotten",
  "watch",
  "endless",
  "feed",
  "settled",
  "reduce",
  "cancel",
  "timeout",
  "fail",
  "stop",
  "replace",
  "cut",
  "down",
  "pause",
] as const;

type Kind = (typeof kinds)[number];
interface Step {
  readonly kind: Kind;
  readonly rank: number;
}

const script = fc.array(fc.record({ kind: fc.constantFrom(...kinds), rank: fc.integer({ min: 0, max: 2 }) }), {
  minLength: 1,
  maxLength: 40,
});

/** The operations that are under way, each with its kind. */
class Asked {
  readonly #pending = new Map<number, string>();
  #last = 0;

  add(what: string, promise: PromiseLike<unknown>): void {
    const number = ++this.#last;
    this.#pending.set(number, what);
    const done = (): void => void this.#pending.delete(number);
    promise.then(done, done);
  }

  get pending(): string[] {
    return [...this.#pending.values()];
  }

  async end(): Promise<void> {
    for (let i = 0; i < 1000 && this.#pending.size > 0; i++) await delay(i < 100 ? 1 : 10);
  }
}

async function drain(stream: AsyncIterable<unknown>, most: number): Promise<void> {
  let n = 0;
  for await (const _ of stream) if (++n === most) break;
}

class Play {
  readonly world: World;
  readonly procs;
  readonly mesh: CounterMesh<"gpus">;
  readonly asked = new Asked();

  constructor(limits: Partial<LinkLimits>) {
    this.world = new World({ ...limits, streamItems: 4 });
    this.procs = ["a", "b", "c"].map((name) => this.world.proc(name));
    this.mesh = this.world.spawn("counters", Counter, [0], this.procs);
  }

  step({ kind, rank }: Step): void {
    const one = this.mesh.slice({ gpus: rank });
    if (kind === "feed") this.#feed(one);
    else if (kind === "cancel") this.#cancel(one);
    else {
      const asked = this.#ask(kind, rank, one);
      if (asked === undefined) this.#harm(kind, rank);
      else this.asked.add(kind, asked);
    }
  }

  #ask(kind: Kind, rank: number, one: CounterMesh<never>): PromiseLike<unknown> | undefined {
    const { mesh } = this;
    switch (kind) {
      case "value":
        return mesh.value.call();
      case "sleep":
        return one.sleep.callOne(3);
      case "meanwhile":
        return one.meanwhile.callOne(5);
      case "note":
        return mesh.note.broadcast("x", rank);
      case "answer":
        return one.answer.callOne("later");
      case "forgotten":
        return one.answer.with({ timeout: 200 }).callOne("drop");
      case "watch":
        return drain(mesh.watch.stream(10), 1000);
      case "endless":
        return drain(one.endless.stream(), 20);
      case "settled":
        return mesh.sleep.callSettled(1);
      case "reduce":
        return mesh.value.reduce("sum");
      case "timeout":
        return one.sleep.with({ timeout: 2 }).callOne(1000);
      default:
        return undefined;
    }
  }

  #feed(one: CounterMesh<never>): void {
    const [port, receiver] = Channel.open(codec.int32);
    one.feed.broadcast(port, 5);
    this.asked.add(
      "feed",
      (async () => {
        for (let i = 0; i < 5; i++) await receiver.recv();
        receiver.close();
      })(),
    );
  }

  #cancel(one: CounterMesh<never>): void {
    const call = one.sleep.callOne(1000);
    this.asked.add("cancel", call);
    setTimeout(() => call.cancel(), 2);
  }

  #harm(kind: Kind, rank: number): void {
    const { proc } = this.procs[rank]!;
    const [cell] = [...proc.cells()];
    if (kind === "fail") this.mesh.slice({ gpus: rank }).fail.broadcast("harmed");
    else if (kind === "stop" && cell !== undefined) void proc.stopActor(cell, { reason: "ordered", drain: 5 });
    else if (kind === "replace" && cell?.lifecycle.state === "failed") {
      proc.createActor({ ...cell.spec, incarnation: cell.spec.incarnation + 1, args: [0] } as never);
    } else if (kind === "cut") this.world.pipes[rank % Math.max(1, this.world.pipes.length)]?.destroy(new Error("cut"));
    else if (kind === "down") this.world.root.proc.peerDown(proc.id, "it was killed");
  }
}

const ways: readonly (readonly [string, Partial<LinkLimits>])[] = [
  ["directly", {}],
  ["down trees", { treeAbove: 1, treeFanout: 1 }],
];

test.each(ways)(
  "every operation that is sent %s ends despite failures, lost links and cancellations",
  async (_way, limits) => {
    await fc.assert(
      fc.asyncProperty(script, fc.integer({ min: 1, max: 5 }), async (steps, creditMessages) => {
        const play = new Play({ ...limits, creditMessages });
        try {
          for (const step of steps) {
            if (step.kind === "pause") await delay(step.rank * 2);
            else play.step(step);
          }
          await play.asked.end();
          expect(play.asked.pending).toEqual([]);
        } finally {
          play.world.close();
        }
      }),
      { ...mayHang, numRuns: cases(60), interruptAfterTimeLimit: timeLimit(20_000, 600_000) },
    );
  },
  cases(300_000, 900_000),
);
