import { rdmaSupport } from "viceroy/rdma";
import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

// 4 MiB instead of 64 MiB: eight processes with 64 MiB each are too much for a machine that runs other tests meanwhile.
test("parameter server: eight workers read weights and write gradients, and the output is as expected", async () => {
  const { code, stdout, stderr } = await runExample("parameter-server", ["4"]);
  const { addon } = rdmaSupport();
  if (addon !== undefined) expect(stderr).toBe("");
  const wanted = outputOf("docs/examples/parameter-server.md")
    .replace("3.0 GiB", "0.2 GiB")
    .replace("shared", addon === undefined ? "stream" : "shared")
    .replace(/[\d.]+ s including/, "<n> s including");
  expectOutput(stdout, wanted);
  expect(code).toBe(0);
});
