/**
 * How Vitest runs the tests against mutants. The package's own name leads to the sources, which Stryker mutates, where the
 * other configuration leads to the build in dist.
 */
import path from "node:path";
import { defineConfig } from "vitest/config";

/** The sandbox into which Stryker copies the checkout; Vitest runs in it. */
const root = process.cwd();
const source = (file: string) => path.join(root, file);

export default defineConfig({
  resolve: {
    alias: [
      { find: /^viceroy$/, replacement: source("runtime/index.ts") },
      { find: /^viceroy\/schema$/, replacement: source("schemas/vocabulary.ts") },
      { find: /^viceroy\/codegen\/v1$/, replacement: source("runtime/codegen/v1/index.ts") },
      { find: /^viceroy\/compiler$/, replacement: source("compiler/index.ts") },
      { find: /^viceroy\/(rdma|tensor|gateway|testing)$/, replacement: source("runtime/$1/index.ts") },
    ],
  },
  test: {
    include: JSON.parse(process.env["VICEROY_MUTATION_TESTS"] ?? '["test/**/*.test.ts"]') as string[],
    exclude: ["**/node_modules/**", "test/fixtures/**", "test/package/**"],
    // A mutant that waits for ever is found by Stryker, which knows how long the tests take without it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: "test/temporary.ts",
    env: { VICEROY_LINKS: "socket" },
  },
});
