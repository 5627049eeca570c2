/** Timeout errors name the chain in which a call has waited, and tell whether two actors wait for each other. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeWait } from "../../../runtime/actor/call/describe-wait.js";
import { TimeoutError } from "../../../runtime/actor/errors.js";
import type { MeshView } from "../../../runtime/actor/reference/mesh-view.js";
import type { CallingTurn } from "../../../runtime/actor/reference/outstanding-call.js";
import { Counter, type CounterMesh, until } from "../counter.js";
import { World } from "../world.js";

let world: World;
let meshes: Record<string, CounterMesh<never>>;
const told: Record<string, Error> = {};

/** An actor class whose `sleep` calls another actor as soon as enough messages wait behind it. */
function calling(to: string, timeout: number): typeof Counter {
  return class extends Counter {
    override async sleep(waiting: number): Promise<number> {
      const own = () => [...world.procs.values()].flatMap(({ proc }) => [...proc.cells()]);
      const cell = own().find(({ instance }) => instance === this)!;
      await until("somebody waits", () => cell.waitingCount >= waiting);
      await meshes[to]!.value.with({ timeout })
        .callOne()
        .catch((error) => {
          told[cell.name] = error;
        });
      return 0;
    }
  };
}

beforeEach(() => {
  world = new World();
  const spawn = (name: string, actorClass: typeof Counter) =>
    world.spawn(name, actorClass, [0], [world.proc(name)], {}) as unknown as CounterMesh<never>;
  meshes = { a: spawn("a", calling("b", 100)), b: spawn("b", calling("a", Number.POSITIVE_INFINITY)) };
  const first = class extends Counter {
    override sleep(): Promise<number> {
      return meshes["a"]!.sleep.callOne(1);
    }
  };
  meshes["first"] = spawn("first", first);
});
afterEach(() => world.close());

/** Waits until actor a handles a message. */
const busy = (): Promise<void> =>
  until("a has begun", () => [...world.procs.get("a")!.proc.cells()].some(({ calls }) => calls.length > 0));

test("the timeout of a call between two actors that wait for each other names this deadlock", async () => {
  const { a, b } = meshes as Record<string, CounterMesh<never>>;
  // b calls a, and its call waits behind the handler of a; then a calls b.
  const first = a!.sleep.callOne(1);
  await busy();
  await Promise.all([first, b!.sleep.callOne(0)]);
  expect(told["a[0]"]).toEqual(
    new TimeoutError(
      "cannot call b.value: no answer within 100 ms; it waited in the chain root > a[0].sleep > b[0].value, " +
        "while b[0] waits for a[0]: they wait for each other",
    ),
  );
});

test("a call that ends with the timeout of its handler's caller names itself and the chain", async () => {
  let ended: Error | undefined;
  const boss = class extends Counter {
    override async sleep(): Promise<number> {
      await meshes["a"]!.untilAborted.callOne().catch((error) => {
        ended = error;
      });
      return 0;
    }
  };
  const top = world.spawn("boss", boss, [0], [world.proc("boss")], {}) as unknown as CounterMesh<never>;
  await expect(top.sleep.with({ timeout: 30 }).callOne(0)).rejects.toThrow("no answer within 30 ms");
  await until("the inner call has ended", () => ended !== undefined);
  expect(ended!.message).toBe(
    "cannot call a.untilAborted: the caller of sleep waits no longer: its time is over; " +
      "it waited in the chain root > boss[0].sleep > a[0].untilAborted",
  );
});

describe("the described wait", () => {
  const viewOfSize = (size: number): MeshView =>
    ({
      size,
      record: { name: "counters" },
      target: (rank: number) => {
        if (rank >= size) throw new RangeError(`no rank ${rank}`);
        return { rank: rank + 1, token: [rank, 0] };
      },
    }) as unknown as MeshView;
  const turn = (call: number, chain: readonly number[], waiting?: number): CallingTurn =>
    ({
      cell: { name: "boss[0]", isAwaitedBy: ([rank]: readonly number[]) => rank === waiting },
      label: "boss[0].sleep",
      lane: { sender: { name: "root" } },
      call,
      extension: { chain },
    }) as unknown as CallingTurn;

  test("has the rank of the called actor if there is only one, and the mesh alone otherwise", () => {
    expect(describeWait(turn(0, []), "counters.value", viewOfSize(1))).toBe(
      "; it waited in the chain boss[0].sleep > counters[1].value",
    );
    expect(describeWait(turn(0, []), "counters.value", viewOfSize(2))).toBe(
      "; it waited in the chain boss[0].sleep > counters.value",
    );
  });

  test("counts the callers above the direct one only if there are some", () => {
    const view = viewOfSize(2);
    expect(describeWait(turn(1, [7, 0]), "counters.value", view)).toContain(" root > boss[0].sleep ");
    expect(describeWait(turn(1, [7, 0]), "counters.value", view)).not.toContain("more");
    expect(describeWait(turn(1, [7, 0, 8, 0]), "counters.value", view)).toContain(" 1 more > root > boss[0].sleep ");
  });

  test("looks for an actor that waits for the caller among the first 64 of the mesh", () => {
    const view = viewOfSize(100);
    expect(describeWait(turn(0, [], 63), "counters.value", view)).toContain(", while counters[64] waits for boss[0]");
    expect(describeWait(turn(0, [], 64), "counters.value", view)).not.toContain("while");
    expect(describeWait(turn(0, [], 9), "counters.value", viewOfSize(3))).not.toContain("while");
  });
});

test("the chain in a timeout error names the known callers and counts the callers above them", async () => {
  const { first, b } = meshes as Record<string, CounterMesh<never>>;
  const second = class extends Counter {
    override sleep(): Promise<number> {
      return first!.sleep.callOne(0);
    }
  };
  const top = world.spawn("second", second, [0], [world.proc("second")], {}) as unknown as CounterMesh<never>;
  const call = top.sleep.callOne(0);
  await busy();
  await Promise.all([call, b!.sleep.callOne(0)]);
  expect(told["a[0]"]!.message).toContain(
    "; it waited in the chain 1 more > first[0] > a[0].sleep > b[0].value, while b[0] waits for a[0]",
  );
});
