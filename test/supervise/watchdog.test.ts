/** Handlers that take too long, over real processes: first a warning, and in the end a failure. */
import { SupervisionError, thisHost, thisProc } from "viceroy";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { SmithMesh } from "../fixtures/guild/generated/smith.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { limitUnderLoad, until } from "../proc/until.js";
import { type Guild, loadGuild } from "./guild.js";

let IronSmith: Guild["IronSmith"];
const faults = collectUnhandledFaults();
const lines: string[] = [];
beforeAll(async () => {
  ({ IronSmith } = await loadGuild());
});
beforeEach(() => {
  lines.length = 0;
});

function start(gpus: number) {
  return thisHost().spawnProcs({ gpus }, { stdio: (line) => void lines.push(line) });
}

test("a handler that hangs is reported with the call that it awaits; then its actor fails and its callers reject", async () => {
  await using procs = start(2);
  const others = procs.slice({ gpus: 1 }).spawn("others", IronSmith);
  const smiths = procs
    .slice({ gpus: 0 })
    .with({ watchdog: { warn: 200, fail: 600 } })
    .spawn("smiths", IronSmith);
  const call = smiths.hangOn.callOne(others as SmithMesh);
  await expect(call).rejects.toThrow(SupervisionError);
  await until(() => faults.length > 0);
  expect(faults).toMatchObject([{ mesh: "smiths", ranks: [0], kind: "stuck" }]);
  const hangs =
    /smiths\[0\]\.hangOn, which root has sent, has been running for \d+ ms: it waits for the answer of others\.hang$/;
  expect(faults[0]!.cause.message).toMatch(hangs);
  await until(() => lines.some((line) => /ViceroySlow/.test(line)));
  expect(lines.filter((line) => /ViceroySlow/.test(line))).toHaveLength(1);
  expect(lines.find((line) => /ViceroySlow/.test(line))).toMatch(hangs);
});

test("a @timeout replaces the warning time, and without a failure time there is only a warning", async () => {
  await using procs = start(1);
  const smith = procs
    .with({ watchdog: { warn: 60_000 } })
    .spawn("smith", IronSmith)
    .slice({ gpus: 0 });
  await smith.life.callOne();
  await expect(smith.hangBriefly.callOne()).rejects.toThrow("no answer within 100 ms");
  await until(() => lines.some((line) => /ViceroySlow/.test(line)));
  expect(lines.join("\n")).toMatch(/smith\[0\]\.hangBriefly, .* ms: it awaits something that is no call/);
  expect(faults).toEqual([]);
});

test("a handler that blocks the event loop is reported with its stack; then its process is killed", async () => {
  await using procs = start(1);
  const smith = procs
    .with({ watchdog: { warn: 300, fail: limitUnderLoad(900) } })
    .spawn("smith", IronSmith)
    .slice({ gpus: 0 });
  const { pid } = await smith.life.callOne();
  await expect(smith.spin.callOne()).rejects.toThrow(SupervisionError);
  await until(() => faults.length > 0);
  expect(faults).toMatchObject([{ mesh: "procs", kind: "process" }]);
  const report = faults[0]!.report();
  expect(report).toContain(`process ${pid} was killed by SIGKILL`);
  expect(report).toMatch(new RegExp(`process ${pid} has not come back to its event loop for \\d+ ms`));
  expect(report).toMatch(/at spin \(.*iron-smith\.[jt]s:\d+:\d+\)/);
});

test("handlers that end in time cause no warning, and an actor that the watchdog has failed is restarted", async () => {
  await using procs = start(1);
  const warn = limitUnderLoad(2000);
  const plan = { watchdog: { warn, fail: warn + 500 }, restart: { policy: "on-failure", backoff: 10 } } as const;
  const smith = procs.with(plan).spawn("smith", IronSmith).slice({ gpus: 0 });
  // Together the calls take longer than one call may.
  for (let i = 0; i < 6; i++) await smith.sleep.callOne(Math.round(warn / 4));
  expect(lines).toEqual([]);
  await expect(smith.hang.callOne()).rejects.toThrow(SupervisionError);
  await until(async () => (await smith.life.callOne().catch(() => undefined))?.incarnation === 1);
  expect(faults).toEqual([]);
});

test("invalid watchdog times are refused", () => {
  expect(() => thisProc().with({ watchdog: { warn: 0 } })).toThrow(
    "cannot spawn actors: expected watchdog.warn in milliseconds, more than 0, got 0",
  );
  expect(() => thisProc().with({ watchdog: { warn: 100, fail: 50 } })).toThrow(
    "cannot spawn actors: expected watchdog.fail in milliseconds, at least 100, got 50",
  );
});
