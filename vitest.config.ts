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
    server: { deps: { external: [/\/dist\//] } },
  },
});
