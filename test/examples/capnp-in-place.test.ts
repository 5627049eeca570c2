import { rdmaSupport } from "viceroy/rdma";
import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { root, runExample } from "./program.js";

const { addon } = rdmaSupport();
const page = outputOf("docs/examples/capnp-in-place.md");
const byStream = page.replaceAll("shared", "stream").replace(/read in place: .*/, "stream cannot map memory");

test("Cap'n Proto in place: reading a field of 100 MiB in another process transfers some KiB, as the page shows", async () => {
  const { code, stdout, stderr } = await runExample("capnp-in-place");
  if (addon !== undefined) expect(stderr).toBe("");
  expect(stdout.trim()).toBe(addon === undefined ? byStream : page);
  expect(code).toBe(0);
});

test("Cap'n Proto in place: without mapping, only the words behind the pointers are read", async () => {
  const env = { VICEROY_RDMA_TRANSPORT: "stream" };
  const { code, stdout } = await runExample("capnp-in-place", ["400"], root, env);
  expect(stdout.trim()).toBe(byStream.replaceAll("799", "399").replaceAll("100.1", "50.0"));
  expect(code).toBe(0);
});
