/** Tests of waiting for a promise or for a signal. */
import { expect, test } from "vitest";
import { abortable } from "../../runtime/link/abortable.js";

test("a promise that fails after its signal was aborted is no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    const reason = new Error("nobody waits");
    const late = new Promise<never>((_, reject) => setImmediate(() => reject(new Error("too late"))));
    await expect((async () => abortable(late, AbortSignal.abort(reason)))()).rejects.toBe(reason);
    await new Promise((resolve) => setTimeout(resolve, 20));
  } finally {
    process.off("unhandledRejection", note);
  }
  expect(unhandled).toEqual([]);
});

test("what comes first is the result", async () => {
  const leaving = new AbortController();
  expect(await abortable(Promise.resolve("done"), leaving.signal)).toBe("done");
  const waiting = abortable(new Promise<never>(() => {}), leaving.signal);
  leaving.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
});
