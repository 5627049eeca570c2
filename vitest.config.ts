import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { locateAddon } from "./native/addon-location.js";

/** What is said of links and processes holds over both of their transports. */
const linked = ["test/link/**/*.test.ts", "test/proc/**/*.test.ts"];
/** Where everything is to be tested, a missing addon fails those tests. */
const memory = process.env["VICEROY_PEERS"] === "required" || existsSync(locateAddon("rdma").file);

// Unit tests import the sources. Tests that start processes import the built package by its own name ("viceroy"
// resolves to dist/ through the package's exports), so that what they try is what users get.
export default defineConfig({
  test: {
    exclude: ["**/node_modules/**", "test/fixtures/**"],
    // For what waits for ever: a machine that is busy with other things is slow for minutes, and nothing is wrong.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
    // Most of the time of most tests is waiting: for processes that start, and for failures that are noticed.
    maxWorkers: Math.max(2, availableParallelism()),
    globalSetup: "test/temporary.ts",
    server: { deps: { external: [/\/dist\//] } },
    projects: [
      {
        extends: true,
        test: { name: "sockets", include: ["test/**/*.test.ts"], env: { VICEROY_LINKS: "socket" } },
      },
      ...(memory
        ? [{ extends: true as const, test: { name: "memory", include: linked, env: { VICEROY_LINKS: "memory" } } }]
        : []),
    ],
  },
});
