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
