/** Calls whose answers go to an object, which the runtime makes for tasks. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { callForAnswer } from "../../../runtime/actor/call/answer-call.js";
import { ActorError, SupervisionError } from "../../../runtime/actor/errors.js";
import { begun, Counter, type CounterMesh, until } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let proc: TestProc;
let counter: CounterMesh<never>;

beforeEach(() => {
  world = new World();
  proc = world.proc("a");
  counter = world.spawn("counters", Counter, [3], [proc]).slice({ gpus: 0 });
});
afterEach(() => world.close());

/** Calls an endpoint, and returns what the taker of the answer is told. */
function call(endpoint: object, ...args: unknown[]): { answers: unknown[]; errors: Error[] } {
  const told = { answers: [] as unknown[], errors: [] as Error[] };
  callForAnswer(endpoint, args, {
    answered: (answer) => void told.answers.push(answer),
    failed: (error) => void told.errors.push(error),
  });
  return told;
}

const ended = ({ answers, errors }: ReturnType<typeof call>) => answers.length + errors.length > 0;

test("the answer goes to the taker, later and once", async () => {
  const first = call(counter.value);
  expect(first).toEqual({ answers: [], errors: [] });
  const second = call(counter.increment, 4);
  await until("both are answered", () => ended(first) && ended(second));
  expect([first.answers, second.answers]).toEqual([[3], [undefined]]);
});

test("the error of the handler goes to the taker, as that of a future", async () => {
  const told = call(counter.failOnEven);
  await until("it has failed", () => ended(told));
  const [error] = told.errors as ActorError[];
  expect(error).toBeInstanceOf(ActorError);
  expect([error!.message, error!.actor, error!.endpoint]).toEqual([
    "even rank 0",
    "counters[0]",
    "counters.failOnEven",
  ]);
});

test("the end of the link is an error for the taker, after which calls open another link", async () => {
  const told = call(counter.untilAborted);
  await begun(proc);
  proc.proc.close("it has ended");
  await until("it has failed", () => ended(told));
  expect(told.errors[0]).toBeInstanceOf(SupervisionError);
  const again = call(counter.value);
  await until("it is answered", () => ended(again));
  expect(again.answers).toEqual([3]);
});

test("wrong arguments throw, and nothing is sent", async () => {
  expect(() => call(counter.increment, "many")).toThrow(
    'invalid int32: expected an integer from -2147483648 to 2147483647, got "many"',
  );
  const value = call(counter.value);
  await until("it is answered", () => ended(value));
  expect(value.answers).toEqual([3]);
});
