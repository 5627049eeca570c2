import { rdmaSupport } from "viceroy/rdma";
import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { expectOutput, root, runExample } from "./program.js";

const { addon } = rdmaSupport();

/** The output that the page shows, with smaller versions and placeholders for numbers that depend on the machine. */
function wanted(transport: string): string {
  return outputOf("docs/examples/weight-sync.md")
    .replace(/[\d.]+ ms (late|at most)/g, "<n> ms $1")
    .replace("of 32 MiB", "of 4 MiB")
    .replace("by shared", `by ${transport}`)
    .replace(/whole: \d+, (.*) revocation: \d+/, "whole: <n>, $1 revocation: <n>");
}

test("weight sync: versions arrive complete while training continues, and a revoked version is refused", async () => {
  const { code, stdout, stderr } = await runExample("weight-sync", ["2"]);
  if (addon !== undefined) expect(stderr).toBe("");
  expectOutput(stdout, wanted(addon === undefined ? "stream" : "shared"));
  expect(code).toBe(0);
});

test("weight sync: the example prints the same output over the stream transport", async () => {
  const { code, stdout } = await runExample("weight-sync", ["2"], root, { VICEROY_RDMA_TRANSPORT: "stream" });
  expectOutput(stdout, wanted("stream"));
  expect(code).toBe(0);
});
