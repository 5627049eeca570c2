/** Tests of the logs of a mesh: folded lines, levels, files, and output that never blocks. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logs, thisHost } from "viceroy";
import { expect, test } from "vitest";
import type { Clock } from "../../runtime/link/clock.js";
import { logLevelOf } from "../../runtime/observe/logs/log-level.js";
import { type LogOptions, logs as makeLogs } from "../../runtime/observe/logs/logs.js";
import type { LineOrigin } from "../../runtime/proc/launch/stdio.js";
import { until } from "../proc/until.js";
import { loadGuild } from "../supervise/guild.js";

function origin(rank: number, stream: LineOrigin["stream"] = "stdout"): LineOrigin {
  return { stream, label: `gpus=${rank}`, rank };
}

/** Makes logs with a manual clock. */
function world(options: LogOptions) {
  const printed: string[] = [];
  const warnings: string[] = [];
  let now = 0;
  let tasks: { at: number; task: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    epochMs: () => Date.UTC(2026, 0, 2, 3, 4, 5) + now,
    nextTurn: (task) => queueMicrotask(task),
    after(ms, task) {
      const entry = { at: now + ms, task };
      tasks.push(entry);
      return { cancel: () => (tasks = tasks.filter((other) => other !== entry)) };
    },
  };
  const pass = (ms: number) => {
    now += ms;
    const due = tasks.filter(({ at }) => at <= now);
    tasks = tasks.filter(({ at }) => at > now);
    for (const { task } of due) task();
  };
  const warn = (message: string) => void warnings.push(message);
  const take = makeLogs(options, { clock, print: (text) => void printed.push(text), warn });
  return { take, pass, printed, warnings };
}

test("lines that differ only in numbers are folded over all ranks, and the first one is printed at once", () => {
  const { take, pass, printed } = world({ window: 500 });
  for (let step = 1; step <= 4; step++)
    for (let rank = 0; rank < 3; rank++) take(`step ${step} loss 0.${step}`, origin(rank));
  take("done", origin(1));
  expect(printed).toEqual(["[gpus=0] step 1 loss 0.1", "[gpus=1] done"]);
  pass(500);
  expect(printed.slice(2)).toEqual(["[gpus=0 and 2 more] (11 similar lines within 500 ms, the last:) step 4 loss 0.4"]);
  take("step 5 loss 0.5", origin(2));
  pass(500);
  expect(printed.slice(3)).toEqual(["[gpus=2] step 5 loss 0.5"]);
});

test("lines with other words or of the other output are not folded", () => {
  const { take, printed } = world({});
  take("alpha 1", origin(0));
  take("beta 1", origin(0));
  take("alpha 1", origin(0, "stderr"));
  expect(printed).toHaveLength(3);
});

test("the number of different lines is bounded, and dropped lines are counted", () => {
  const { take, pass, printed } = world({ window: 100 });
  const letters = (n: number) => [...String(n)].map((digit) => "abcdefghij"[Number(digit)]).join("");
  for (let i = 0; i < 1500; i++) take(letters(i), origin(0));
  pass(100);
  expect(printed).toHaveLength(1001);
  expect(printed.at(-1)).toBe("(500 lines dropped: more than 1000 different ones within 100 ms)");
});

test("without a window, each line is printed as it is", () => {
  const { take, printed } = world({ window: 0 });
  for (let i = 0; i < 3; i++) take("the same", origin(i));
  expect(printed).toEqual(["[gpus=0] the same", "[gpus=1] the same", "[gpus=2] the same"]);
});

test.each<[string, LineOrigin["stream"], string]>([
  ["2026-01-02T03:04:05Z INFO trainer: started", "stderr", "info"],
  ["[WARNING] low on memory", "stdout", "warn"],
  ["E0312 12:00:00.000 1234 main.cc:12] broken", "stderr", "error"],
  ['{"level":"debug","msg":"x"}', "stdout", "debug"],
  ['{"level":50,"time":1,"msg":"x"}', "stdout", "error"],
  ['{"time":1,"severity":"CRITICAL"}', "stdout", "fatal"],
  ["hello", "stdout", "info"],
  ["hello", "stderr", "warn"],
  [`a long story ${"x".repeat(80)} error`, "stdout", "info"],
])("the level of %j on %s is %s", (line, stream, level) => {
  expect(logLevelOf(line, stream)).toBe(level);
});

test("lines of lower levels are omitted from the console, and not from files", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "logs-")), "all.log");
  const { take, printed } = world({ level: "warn", file });
  take("INFO all is well", origin(0));
  take("ERROR it is not", origin(1));
  await take.flush();
  expect(printed).toEqual(["[gpus=1] ERROR it is not"]);
  expect(readFileSync(file, "utf8")).toBe(
    "2026-01-02T03:04:05.000Z [gpus=0] INFO all is well\n2026-01-02T03:04:05.000Z [gpus=1] ERROR it is not\n",
  );
});

test("lines for a file that cannot be written are dropped with one warning, and the file is tried again", async () => {
  const directory = mkdtempSync(join(tmpdir(), "logs-"));
  const missing = join(directory, "missing", "x.log");
  const { take, printed, warnings } = world({ file: ({ rank }) => (rank === 0 ? missing : join(directory, "y.log")) });
  take("one", origin(0));
  take("two", origin(1));
  await until(() => warnings.length > 0);
  take("three", origin(0));
  await take.flush();
  expect(warnings).toEqual([
    expect.stringMatching(/^cannot write logs to .*missing\/x\.log: ENOENT: no such file or directory/),
  ]);
  expect(printed).toEqual(["[gpus=0] one", "[gpus=1] two", "[gpus=0] three"]);
  expect(readFileSync(join(directory, "y.log"), "utf8")).toContain("[gpus=1] two\n");
});

test("a full disk is handled in the same way", async () => {
  const { take, warnings, printed } = world({ file: "/dev/full" });
  take("lost", origin(0));
  await until(() => warnings.length > 0);
  take("printed all the same", origin(0));
  expect(warnings).toEqual([expect.stringMatching(/^cannot write logs to \/dev\/full: ENOSPC/)]);
  expect(printed).toEqual(["[gpus=0] lost", "[gpus=0] printed all the same"]);
});

test("the output of processes arrives with its origin", async () => {
  const { IronSmith } = await loadGuild();
  const directory = mkdtempSync(join(tmpdir(), "logs-"));
  const stdio = logs({ console: false, file: ({ rank }) => join(directory, `${rank}.log`) });
  const procs = thisHost().spawnProcs({ gpus: 2 }, { stdio });
  const smiths = procs.spawn("smiths", IronSmith);
  await smiths.say.call("hello from the forge");
  await procs.stop();
  await stdio.flush();
  for (const rank of [0, 1]) {
    expect(readFileSync(join(directory, `${rank}.log`), "utf8")).toMatch(
      new RegExp(`^\\S+ \\[gpus=${rank}\\] hello from the forge\n$`),
    );
  }
});

test.each<[unknown, string]>([
  [{ level: "loud" }, 'cannot keep logs: expected a level of trace, debug, info, warn, error, fatal, got "loud"'],
  [{ window: -1 }, "cannot keep logs: expected window in milliseconds, at least 0, got -1"],
  [{ file: 3 }, "cannot keep logs: expected file as a path or a function, got 3"],
])("options that make no sense are refused: %j", (options, message) => {
  expect(() => logs(options as LogOptions)).toThrow(message);
});
