/** Starts drivers that publish meshes (project/programs/publisher.ts), and gives them orders. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { compileProject } from "../../proc/crew.js";
import type { RunningHost } from "../start-host.js";

export const project = fileURLToPath(new URL("project/", import.meta.url));

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

export async function loadProject() {
  await compileProject(project);
  await import("./project/generated/registry.js");
  const { PoliteGuest } = await import("./project/src/polite-guest.js");
  const { WordIndex } = await import("./project/src/word-index.js");
  return { PoliteGuest, WordIndex };
}

export interface Publisher {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** Gives an order and returns its result. Rejects with the error of the program. */
  order(...order: string[]): Promise<unknown>;
}

/**
 * @param at the project, which may be a copy with other schemas
 * @param env further variables of the environment
 */
export async function startPublisher(
  hosts: readonly RunningHost[],
  at = project,
  env: Readonly<Record<string, string>> = {},
): Promise<Publisher> {
  const addresses = hosts.map(({ address }) => address);
  return startOrdered(at, [process.execPath], "publisher.ts", addresses, env);
}

/**
 * Starts a program that takes orders.
 * @param through Node.js, after a command that runs it on another machine
 * @param name the name of a file of the project's programs
 */
export async function startOrdered(
  at: string,
  through: readonly string[],
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Publisher> {
  const [file, ...before] = through;
  const child = spawn(file!, [...before, "--import", "tsx", join(at, "programs", name), ...args], {
    cwd: at,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  running.add(child);
  const exited = new Promise((resolve) => child.once("close", resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error("the program has ended");
    return JSON.parse(value) as { result?: unknown; error?: string };
  };
  await next();
  const order = async (...order: string[]) => {
    child.stdin.write(`${JSON.stringify(order)}\n`);
    const { result, error } = await next();
    if (error !== undefined) throw new Error(error);
    return result;
  };
  return { child, exited, order };
}
