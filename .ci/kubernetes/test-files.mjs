/** Finds the tests that need a Kubernetes. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../steps.mjs";

/** Returns the test files that use a Kubernetes. Others of their folder need none, and run with all tests. */
export function testFiles() {
  const folder = "test/kubernetes";
  const files = readdirSync(path.join(root, folder), { recursive: true }).filter((name) => name.endsWith(".test.ts"));
  const uses = (file) => readFileSync(path.join(root, file), "utf8").includes("/on-kubernetes.js");
  return files.map((name) => path.posix.join(folder, name)).filter(uses);
}
