/** Starts daemons (host-process.ts), each for one test. */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { listening, type RunningHost, spawnHost } from "./host-process.js";

export type { RunningHost } from "./host-process.js";

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

/**
 * Starts a daemon and waits until it listens, at a Unix socket unless `listen` says otherwise.
 * @param through a command that runs the daemon
 * @param cli the command of another build
 */
export async function startHost(
  listen?: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  through: readonly string[] = [],
  cli?: string,
): Promise<RunningHost> {
  const folder = mkdtempSync(join(tmpdir(), "vh-"));
  const host = runHost(folder, [...args, "--listen", listen ?? `unix://${folder}/host.sock`], env, through, cli);
  return listening(host);
}

/** Runs the command. */
export function runHost(...how: Parameters<typeof spawnHost>): Omit<RunningHost, "address"> {
  const host = spawnHost(...how);
  running.add(host.child);
  return host;
}
