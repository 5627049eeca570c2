/** Waits for something of a run of a job that ends meanwhile. */
import { expect, test } from "vitest";
import { unlessRunEnds } from "../../runtime/job/run-end.js";

const aborted = () => Promise.reject(AbortSignal.abort().reason);

test("a wait that the end of the run aborts has the reason for the end, and no other wait", async () => {
  await expect(
    unlessRunEnds({ endReason: "host workers[0] is gone: it was ended by SIGKILL" }, aborted()),
  ).rejects.toThrow(new Error("host workers[0] is gone: it was ended by SIGKILL"));
  await expect(unlessRunEnds({}, aborted())).rejects.toThrow("This operation was aborted");
  expect(await unlessRunEnds({}, Promise.resolve("up"))).toBe("up");
});
