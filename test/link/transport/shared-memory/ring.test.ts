/** Test of the native ring under the thread sanitizer. Two threads pass through all states of sleeping and waiting. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { onMemory } from "../../pipe-pair.js";

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const compiler = process.env["CXX"] || "g++";
const there = spawnSync(compiler, ["--version"]).status === 0;
if (!there && process.env["VICEROY_PEERS"] === "required")
  throw new Error(`cannot test the ring: there is no ${compiler}`);

// One run is enough, because the ring is the same on all transports.
test.skipIf(!onMemory || !there)(
  "two threads exchange bytes through the ring in order, without a data race or an endless sleep",
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), "viceroy-ring-"));
    try {
      const native = file("../../../../native/rdma");
      const program = path.join(folder, "ring-race");
      const sources = [file("ring-race.cc"), path.join(native, "channel/ring.cc")];
      const flags = ["-std=c++17", "-O1", "-g", "-fsanitize=thread", "-Wno-tsan", `-I${native}`];
      execFileSync(compiler, [...flags, ...sources, "-o", program, "-lpthread"], { stdio: "pipe" });
      // The sanitizer needs its memory at certain addresses, so address randomisation is switched off.
      const said = execFileSync("setarch", ["-R", program], {
        encoding: "utf8",
        timeout: 250_000,
        env: { ...process.env, LD_PRELOAD: "" },
      });
      expect(said).toBe("4096: 20000000 bytes\n65536: 20000000 bytes\n");
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
