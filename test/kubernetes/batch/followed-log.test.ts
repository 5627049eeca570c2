/** Tests of logs that are followed across lost connections: the server of the test ends them where it wants. */
import { expect, test } from "vitest";
import type { PodLogOptions } from "../../../runtime/job/kubernetes/api/kubernetes-api.js";
import { KubernetesError } from "../../../runtime/job/kubernetes/api/kubernetes-error.js";
import { followLog } from "../../../runtime/job/kubernetes/pods/followed-log.js";

const world = { now: () => 0, random: () => 0, pause: async () => {} };

/** A log whose server sends some lines in each connection, from those of the same second on. */
function logOf(lines: readonly string[], parts: readonly number[], fail: (part: number) => Error | undefined) {
  const asked: (string | undefined)[] = [];
  return {
    asked,
    async *logs(_pod: string, { since, timestamps, follow }: PodLogOptions): AsyncGenerator<string> {
      expect([timestamps, follow]).toEqual([true, true]);
      const part = asked.push(since) - 1;
      const from = since === undefined ? 0 : lines.findIndex((line) => line.slice(0, 19) === since.slice(0, 19));
      for (const line of lines.slice(from, parts[part])) yield line;
      const error = fail(part);
      if (error !== undefined) throw error;
    },
  };
}

const away = new KubernetesError("away", { status: 0 });

async function read(api: ReturnType<typeof logOf>, isOver: () => boolean): Promise<string[]> {
  const { signal } = new AbortController();
  const read: string[] = [];
  for await (const line of followLog(api, { pod: "p", container: "host", isOver, signal }, world)) read.push(line);
  return read;
}

test("no line is lost, and none is told twice, when connections break, also between lines of the same time", async () => {
  const lines = [
    "2026-11-27T10:00:00.000000001Z first",
    "2026-11-27T10:00:00.000000002Z same",
    "2026-11-27T10:00:00.000000002Z same",
    "2026-11-27T10:00:00.000000002Z ",
    "2026-11-27T10:00:03.000000000Z last words",
  ];
  for (let cut = 0; cut <= lines.length; cut++) {
    const api = logOf(lines, [cut, cut, lines.length, lines.length], (part) => (part < 2 ? away : undefined));
    expect(await read(api, () => api.asked.length >= 2)).toEqual(["first", "same", "same", "", "last words"]);
  }
});

test("a log that ends while its container runs is read again until the container has ended", async () => {
  const lines = ["2026-11-27T10:00:00.000000001Z a", "2026-11-27T10:00:00.000000005Z b"];
  const api = logOf(lines, [1, 1, 2, 2], () => undefined);
  expect(await read(api, () => api.asked.length >= 3)).toEqual(["a", "b"]);
  expect(api.asked).toHaveLength(4);
});

test("a refusal is an error, because another attempt would be refused, too", async () => {
  const refused = new KubernetesError("may not", { status: 403 });
  const api = logOf([], [0], () => refused);
  await expect(read(api, () => false)).rejects.toBe(refused);
});

test("a container that is being started, and a node that does not know its pod yet, are asked again until the container has ended", async () => {
  const lines = ["2026-11-27T10:00:00.000000001Z a"];
  const early = [400, 404].map((status) => new KubernetesError("not yet", { status }));
  const api = logOf(lines, [0, 0, 1, 1], (part) => early[part]);
  expect(await read(api, () => api.asked.length >= 3)).toEqual(["a"]);
  const gone = logOf([], [0], () => early[1]);
  await expect(read(gone, () => true)).rejects.toBe(early[1]);
});

test("a reader that may not miss the return of the API server asks often while it is away", async () => {
  const pauses: number[] = [];
  const slow = { ...world, pause: async (ms: number) => void pauses.push(ms) };
  const parts = [...Array(10).fill(0), 1, 1];
  const api = logOf(["2026-11-27T10:00:00.000000001Z a"], parts, (part) => (part < 10 ? away : undefined));
  const { signal } = new AbortController();
  const options = { pod: "p", container: "host", isOver: () => api.asked.length >= 10, signal, longestPause: 400 };
  for await (const line of followLog(api, options, slow)) expect(line).toBe("a");
  expect(pauses).toEqual([125, 250, ...Array(8).fill(400)]);
});

test("what a node says about a log that is gone is no line of the log", async () => {
  const said =
    'failed to try resolving symlinks in path "/var/log/pods/x/host/0.log": lstat /var/log/pods/x: no such file or directory';
  const api = logOf(["2026-11-27T10:00:00.000000001Z a", said], [2, 2], () => undefined);
  expect(await read(api, () => api.asked.length >= 1)).toEqual(["a"]);
});
