/** Results that cannot be taken over from their workers. */
import { expect, test } from "vitest";
import { receiveResult } from "../../../runtime/tasks/context/receive-result.js";
import { Result } from "../../../runtime/tasks/refs/result.js";

test("a result that the store of its host cannot open is lost, and says why", async () => {
  const memory = { pid: 2 ** 30, file: 3, token: new Uint8Array(16), head: 1, size: 100_000 };
  const place = { id: 1, worker: undefined, host: { adopt: () => Promise.resolve(undefined) } };
  const received = receiveResult({} as never, new Result(1, "load"), memory, place as never, false);
  await expect(received).rejects.toThrow(
    "the result of load is lost: its host could not keep it, because its worker process has ended, or the host cannot open more files",
  );
});
