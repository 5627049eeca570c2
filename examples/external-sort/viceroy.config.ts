import { defineConfig } from "viceroy/compiler";

export default defineConfig({
  schemas: "schemas/**/*.ts",
  actors: "src/**/*.ts",
  out: "generated",
  lock: "viceroy.lock",
  emit: ["ts"],
});
