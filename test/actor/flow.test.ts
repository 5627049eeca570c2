/** Flow control: a slow actor slows its callers, memory stays bounded, and no message is lost. */
import { afterEach, describe, expect, test } from "vitest";
import { BackpressureError } from "../../runtime/actor/errors.js";
import { Counter, type CounterMesh, delay, until } from "./counter.js";
import { type TestProc, World } from "./world.js";

let world: World;
afterEach(() => world.close());

function slowCounter(limits = {}): { counter: CounterMesh<never>; there: TestProc } {
  world = new World(limits);
  const there = world.proc("there");
  class Slow extends Counter {
    override async increment(by = 1): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      super.increment(by);
    }
  }
  return { counter: world.spawn<typeof Slow, never>("slow", Slow, [0], [there], {}), there };
}

describe("a slow actor", () => {
  test("slows a sender that awaits, so that its mailbox stays within the credit and all messages arrive", async () => {
    const { counter, there } = slowCounter({ creditMessages: 32 });
    await counter.value.callOne();
    const [cell] = [...there.proc.cells()];
    let most = 0;
    for (let i = 0; i < 2000; i++) {
      await counter.increment.broadcast(1);
      most = Math.max(most, cell!.waitingCount);
    }
    expect(most).toBeGreaterThan(8);
    expect(most).toBeLessThanOrEqual(32);
    expect(await counter.value.callOne()).toBe(2000);
  });

  test("makes broadcasts of a sender that does not await throw BackpressureError, and loses no message", async () => {
    const { counter } = slowCounter();
    let sent = 0;
    expect(() => {
      for (;;) {
        counter.increment.broadcast(1);
        sent++;
      }
    }).toThrow(BackpressureError);
    expect(sent).toBe(4096 + 65_536);
    expect(() => counter.value.callOne()).toThrow(BackpressureError);
    const { hasCredit } = { hasCredit: () => counter.increment.broadcast(0) };
    expect(hasCredit).toThrow(
      /^cannot send slow\.increment: 65536 messages \(\d+ bytes\) already wait for the receiver/,
    );
    await until("there is room again", () => {
      try {
        counter.increment.broadcast(0);
        return true;
      } catch {
        return false;
      }
    });
    let value = 0;
    while (value < sent) {
      await delay(20);
      value = await counter.value.callOne();
    }
    expect(value).toBe(sent);
  });

  test("a broadcast to several actors is sent to all of them or to none", async () => {
    world = new World({ creditMessages: 2, sendWindowMessages: 2 });
    const procs = [world.proc("a"), world.proc("b")];
    const mesh = world.spawn("pair", Counter, [0], procs);
    await mesh.value.call();
    const one = mesh.slice({ gpus: 1 });
    const blocked = one.sleep.callOne(50);
    for (let i = 0; i < 3; i++) one.increment.broadcast(1);
    expect(() => mesh.increment.broadcast(100)).toThrow(BackpressureError);
    await blocked;
    expect([...(await mesh.value.call()).values()]).toEqual([0, 3]);
  });

  test("counts calls towards the send window, and answers all of them", async () => {
    const { counter } = slowCounter({ creditMessages: 4, sendWindowMessages: 100 });
    const calls = Array.from({ length: 104 }, () => counter.increment.callOne(1));
    expect(() => counter.increment.callOne(1)).toThrow(BackpressureError);
    await Promise.all(calls);
    expect(await counter.value.callOne()).toBe(104);
  });

  test("never handles a call that was cancelled while it waited for credit", async () => {
    const { counter } = slowCounter({ creditMessages: 1 });
    const running = counter.sleep.callOne(10);
    const waiting = counter.note.callOne("never", 0);
    waiting.cancel();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    await running;
    expect(await counter.log.callOne()).toEqual(["init"]);
  });
});

test("thousands of concurrent messages that wait for a later message do not block that message", async () => {
  world = new World({ creditMessages: 16 });
  const there = world.proc("there");
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  class Barrier extends Counter {
    override async meanwhile(n: number): Promise<string> {
      await released;
      return `${n}`;
    }
    override increment(): void {
      release();
    }
  }
  const barrier = world.spawn<typeof Barrier, never>("barrier", Barrier, [0], [there], {});
  const waiting = Array.from({ length: 2000 }, (_, i) => barrier.meanwhile.callOne(i));
  barrier.increment.broadcast();
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 2000 }, (_, i) => `${i}`));
});
