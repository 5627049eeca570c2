/** The project of leaky actors, which show the process that handles their messages: compiled when first needed. */
import { fileURLToPath } from "node:url";
import { compileProject } from "../../proc/crew.js";

export async function loadLeaky() {
  await compileProject(fileURLToPath(new URL("../../fixtures/leaky/", import.meta.url)));
  await import("../../fixtures/leaky/generated/registry.js");
  return import("../../fixtures/leaky/src/leaky.js");
}

export type LeakyClasses = Awaited<ReturnType<typeof loadLeaky>>;
