import { defineConfig } from "viceroy/compiler";

// Viceroy's own agents are declared in its own schema language.
export default defineConfig({
  schemas: "schemas/*.ts",
  actors: ["runtime/tensor/desk.ts", "runtime/tensor/remote/runner.ts", "runtime/tensor/worker.ts"],
  out: "generated",
  lock: "viceroy.lock",
});
