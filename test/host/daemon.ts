/** Real daemons for tests: `viceroy host` as processes, in temporary directories of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { until } from "../proc/until.js";

const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));

export interface RunningHost {
  readonly address: string;
  readonly child: ChildProcess;
  /** Its own temporary directory, where the directories of drivers are. */
  readonly folder: string;
  readonly output: { text: string };
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** The directories of drivers. */
  drivers(): string[];
}

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

/**
 * Starts a daemon and waits until it listens, at a Unix socket unless `listen` says otherwise.
 * @param through a command that runs it
 */
export async function startHost(
  listen?: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  through: readonly string[] = [],
): Promise<RunningHost> {
  const folder = mkdtempSync(join(tmpdir(), "vh-"));
  const host = runHost(folder, [...args, "--listen", listen ?? `unix://${folder}/host.sock`], env, through);
  await until(() => host.output.text.includes("listens at ") || host.child.exitCode !== null);
  const [, address] = /listens at (\S+)/.exec(host.output.text) ?? [];
  if (address === undefined) throw new Error(host.output.text);
  return { ...host, address };
}

/** Runs the command, whatever comes of it. */
export function runHost(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  through: readonly string[] = [],
): Omit<RunningHost, "address"> {
  const [file, ...command] = [...through, process.execPath, cli, "host", ...args];
  const child = spawn(file!, command, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: folder, ...env },
  });
  running.add(child);
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output.text += chunk;
    });
  }
  const exited = new Promise<Awaited<RunningHost["exited"]>>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  const drivers = () => readdirSync(folder).filter((name) => /^viceroy-[\da-f]{16}$/.test(name));
  return { child, folder, output, exited, drivers };
}
