import { rdmaSupport } from "viceroy/rdma";
import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { expectOutput, root, runExample } from "./program.js";

const { addon } = rdmaSupport();

/** What its page shows, with smaller versions. How late loops are, and how many versions an engine meets, is the machine's affair. */
function wanted(transport: string): string {
  return outputOf("docs/examples/weight-sync.md")
    .replace(/[\d.]+ ms (late|at most)/g, "<n> ms $1")
    .replace("of 32 MiB", "of 4 MiB")
    .replace("by shared", `by ${transport}`)
    .replace(/whole: \d+, (.*) back: \d+/, "whole: <n>, $1 back: <n>");
}

test("weight sync: versions arrive whole while trainers go on, and a version that was taken back is refused", async () => {
  const { code, stdout, stderr } = await runExample("weight-sync", ["2"]);
  if (addon !== undefined) expect(stderr).toBe("");
  expectOutput(stdout, wanted(addon === undefined ? "stream" : "shared"));
  expect(code).toBe(0);
});

test("weight sync: by stream, too", async () => {
  const { code, stdout } = await runExample("weight-sync", ["2"], root, { VICEROY_RDMA_TRANSPORT: "stream" });
  expectOutput(stdout, wanted("stream"));
  expect(code).toBe(0);
});
