/** One abort signal for many calls: it ends each of them, and Node.js reports no leak of listeners. */
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { context } from "../../../runtime/actor/context.js";
import { begun, Counter, type CounterMesh } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let there: TestProc;
let warnings: string[];
const warned = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);

beforeEach(() => {
  warnings = [];
  process.on("warning", warned);
  world = new World();
  there = world.proc("there");
});
afterEach(() => {
  process.off("warning", warned);
  world.close();
});

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const spawn = <C extends typeof Counter>(name: string, actorClass: C) =>
  world.spawn(name, actorClass as typeof Counter, [0], [there], {}) as unknown as CounterMesh<never>;

test("forty calls and streams share one abort listener, and the abort ends the calls", async () => {
  const counter = spawn("counter", Counter);
  const given = new AbortController();
  const calls = Array.from({ length: 40 }, (_, i) =>
    i % 4 === 0
      ? counter.endless.with({ signal: given.signal }).stream().next()
      : counter.meanwhile.with({ signal: given.signal }).callOne(60_000),
  );
  const ended = Promise.allSettled(calls);
  await later();
  expect(getEventListeners(given.signal, "abort")).toHaveLength(1);
  given.abort(new Error("enough"));
  for (const outcome of (await ended).filter((_, i) => i % 4 !== 0)) {
    expect(outcome).toMatchObject({ status: "rejected", reason: new Error("enough") });
  }
  await later();
  expect(warnings).toEqual([]);
});

test("a signal keeps no listeners of calls that have ended", async () => {
  const counter = spawn("counter", Counter);
  const { signal } = new AbortController();
  for (let i = 0; i < 3; i++) {
    await Promise.all(Array.from({ length: 20 }, () => counter.value.with({ signal }).callOne()));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  }
  await later();
  expect(warnings).toEqual([]);
});

test("a handler can pass its own signal to many calls without a warning of a listener leak", async () => {
  const counter = spawn("counter", Counter);
  class Boss extends Counter {
    override async untilAborted(): Promise<string> {
      const { signal } = context();
      this.begun = true;
      const calls = Array.from({ length: 20 }, () => counter.meanwhile.with({ signal }).callOne(60_000));
      const ended = await Promise.allSettled(calls);
      return ended.map(({ status }) => status).join();
    }
  }
  const boss = spawn("boss", Boss);
  const call = boss.untilAborted.callOne();
  await begun(there);
  call.cancel();
  await call.catch(() => {});
  await later();
  expect(warnings).toEqual([]);
});
