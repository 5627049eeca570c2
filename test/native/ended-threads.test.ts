/** Addons in threads that are ended: the process and its other threads live on. */
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { addonFile, addonVariable } from "../../native/place.js";
import { run } from "../examples/program.js";
import { hasAddon } from "../rdma/vaults.js";
import { hasTensors } from "../tensor/addon.js";

const program = fileURLToPath(new URL("programs/ended-threads.mjs", import.meta.url));

describe.each([
  { name: "rdma", there: hasAddon },
  { name: "tensor", there: hasTensors },
] as const)("the addon $name", ({ name, there }) => {
  test.skipIf(!there)("refuses what a thread asks that is being ended, and ends nothing else", async () => {
    const file = process.env[addonVariable(name)] ?? addonFile(name);
    const { code, stdout, stderr } = await run(process.execPath, [program, file], tmpdir());
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "30\n", stderr: "" });
  });
});
