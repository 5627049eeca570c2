import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Unit tests import the sources. Tests that start processes import the built package by its own name ("viceroy"
// resolves to dist/ through the package's exports), so that what they try is what users get.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/fixtures/**"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Most of the time of most tests is waiting: for processes that start, and for failures that are noticed.
    maxWorkers: Math.max(2, availableParallelism()),
    globalSetup: "test/temporary.ts",
    server: { deps: { external: [/\/dist\//] } },
  },
});
