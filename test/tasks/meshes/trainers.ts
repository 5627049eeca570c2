/** The common part of the tests of references in messages: trainers in other processes. */
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { compileProject } from "../../proc/crew.js";

const project = fileURLToPath(new URL("project/", import.meta.url));

/** Whether large values are in the memory of the machine. */
export const isShared = process.env["VICEROY_LINKS"] === "memory";

export async function loadTrainers() {
  await compileProject(project);
  await import("./project/generated/registry.js");
  return import("./project/src/steady-trainer.js");
}

export type Trainers = Awaited<ReturnType<typeof loadTrainers>>;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects garbage until the finalizers of this process have run. */
export async function collectGarbage(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
  }
}
