/** Tests of the queue of output for a driver: lines stay in order, share messages, and take bounded memory. */
import { expect, test } from "vitest";
import type { ProcessOutput } from "../../../generated/proc-agent.js";
import { OutputQueue } from "../../../runtime/host/daemon/output-queue.js";
import { systemClock } from "../../../runtime/link/clock.js";
import { until } from "../../proc/until.js";

class Driver {
  readonly outputs: ProcessOutput[] = [];
  readonly over: bigint[] = [];
  /** Lets the driver take the next message. */
  take: () => void = () => {};
  held = false;

  receiveOutput(output: ProcessOutput): Promise<void> {
    this.outputs.push(output);
    if (!this.held) return Promise.resolve();
    return new Promise((resolve) => {
      this.take = resolve;
    });
  }

  receiveEnd(proc: bigint): void {
    this.over.push(proc);
  }
}

test("lines of one turn share messages by process and stream, in order, and the end comes last", async () => {
  const driver = new Driver();
  const queue = new OutputQueue(systemClock, driver);
  queue.addLine(2n, false, "a");
  queue.addLine(2n, false, "b");
  queue.addLine(3n, false, "c");
  queue.addLine(2n, true, "d");
  queue.addLine(2n, false, "e");
  queue.endProcess(2n);
  await until(() => driver.over.length === 1);
  expect(driver.outputs).toEqual([
    { proc: 2n, stderr: false, lines: ["a", "b"], dropped: 0 },
    { proc: 3n, stderr: false, lines: ["c"], dropped: 0 },
    { proc: 2n, stderr: true, lines: ["d"], dropped: 0 },
    { proc: 2n, stderr: false, lines: ["e"], dropped: 0 },
  ]);
  expect(driver.over).toEqual([2n]);
});

test("lines for a driver that takes nothing are dropped and counted, and the memory is bounded", async () => {
  const driver = new Driver();
  driver.held = true;
  const queue = new OutputQueue(systemClock, driver);
  const line = "x".repeat(1023);
  for (let i = 0; i < 20_000; i++) queue.addLine(2n, false, line);
  await until(() => driver.outputs.length === 1);
  expect(driver.outputs[0]!.lines.length).toBe(128);
  driver.held = false;
  driver.take();
  await until(() => driver.outputs.length > 100);
  queue.addLine(2n, false, "once there is room again");
  queue.endProcess(2n);
  await until(() => driver.over.length === 1);
  const last = driver.outputs.at(-1)!;
  expect(last.lines).toEqual(["once there is room again"]);
  const told = driver.outputs.reduce((sum, { lines }) => sum + lines.length, 0);
  expect(told - 1 + last.dropped).toBe(20_000);
  expect(last.dropped).toBeGreaterThan(3000);
});

test("the last dropped lines are counted at the end", async () => {
  const driver = new Driver();
  driver.held = true;
  const queue = new OutputQueue(systemClock, driver);
  for (let i = 0; i < 20_000; i++) queue.addLine(2n, true, "x".repeat(1023));
  queue.endProcess(2n);
  driver.held = false;
  await until(() => driver.over.length === 1);
  expect(driver.outputs.at(-1)).toMatchObject({ proc: 2n, stderr: true, lines: [] });
  expect(driver.outputs.at(-1)!.dropped).toBeGreaterThan(3000);
});
