/** The project with the actors of these tests. The first test file that needs the project compiles it. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { exclusively } from "../exclusively.js";

export const project = fileURLToPath(new URL("../fixtures/crew/", import.meta.url));
const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));

/** Test files run concurrently: one compiles the project, and the others wait. */
export function compileCrew(): Promise<void> {
  return compileProject(project);
}

/** @param project the directory of a project for tests */
export async function compileProject(project: string): Promise<void> {
  await exclusively(`compile-${Buffer.from(project).toString("hex").slice(-32)}`, () =>
    execFileSync(process.execPath, [cli, "compile"], { cwd: project, stdio: ["ignore", "ignore", "inherit"] }),
  );
}

export async function loadCrew() {
  await compileCrew();
  await import("../fixtures/crew/generated/registry.js");
  const { SteelWorker } = await import("../fixtures/crew/src/steel-worker.js");
  const { SmallGrain } = await import("../fixtures/crew/src/small-grain.js");
  const { StillObserver } = await import("../fixtures/crew/src/still-observer.js");
  const { SteelFriend } = await import("../fixtures/crew/src/steel-friend.js");
  const { Unlisted } = await import("../fixtures/crew/unlisted/unlisted.js");
  return { SteelWorker, SmallGrain, StillObserver, SteelFriend, Unlisted };
}

export type Crew = Awaited<ReturnType<typeof loadCrew>>;

/** Returns the URL of a module of the project, for the option `bootstrap`. */
export function moduleOf(path: string): URL {
  return new URL(`../fixtures/crew/${path}`, import.meta.url);
}
