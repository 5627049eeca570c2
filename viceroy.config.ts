import { defineConfig } from "viceroy/compiler";

// Viceroy's own agents are declared in its own schema language.
export default defineConfig({
  schemas: "schemas/*.ts",
  actors: ["runtime/tensor/desk.ts", "runtime/tensor/remote/runner.ts", "runtime/tensor/worker.ts"],
  out: "generated",
  lock: "viceroy.lock",
  break: {
    ignore: ["ProcessEnding", "ProcessOutput"].map((place) => ({
      code: "VC5031",
      place,
      reason: "The package exports nothing of generated/, so that only the runtime imports it.",
    })),
  },
});
