import { defineConfig } from "viceroy/compiler";

// Viceroy's own control plane is written in its own schema language. `vocabulary.ts` is the language, not a schema.
export default defineConfig({
  schemas: ["schemas/*.ts", "!schemas/vocabulary.ts"],
  actors: ["runtime/tensor/desk.ts", "runtime/tensor/remote/runner.ts", "runtime/tensor/worker.ts"],
  out: "generated",
  lock: "viceroy.lock",
});
