/** Timeout errors name the chain in which a call has waited, and tell whether two actors wait for each other. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { TimeoutError } from "../../../runtime/actor/errors.js";
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
