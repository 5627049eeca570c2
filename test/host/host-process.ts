/** Starts `viceroy host` as a process, in its own temporary directory. The caller ends the daemon. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { until } from "../proc/until.js";

const built = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));

export interface RunningHost {
  readonly address: string;
  readonly child: ChildProcess;
  /** The temporary directory of the daemon, which contains the directories of drivers. */
  readonly folder: string;
  readonly output: { text: string };
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Returns the directories of drivers. */
  drivers(): string[];
}

/** Resolves when the daemon listens. Rejects with its output if it ends instead. */
export async function listening(host: Omit<RunningHost, "address">): Promise<RunningHost> {
  await until(() => host.output.text.includes("listens at ") || host.child.exitCode !== null, 60_000);
  const [, address] = /listens at (\S+)/.exec(host.output.text) ?? [];
  if (address === undefined) throw new Error(host.output.text);
  return { ...host, address };
}

/** Runs the command. @param cli the command of another build */
export function spawnHost(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  through: readonly string[] = [],
  cli = built,
): Omit<RunningHost, "address"> {
  // Most tests cannot use spares, because the options of Node.js of their drivers differ.
  const spares = args.some((arg) => arg.startsWith("--spares")) ? [] : ["--spares", "0"];
  const [file, ...command] = [...through, process.execPath, cli, "host", ...args, ...spares];
  const child = spawn(file!, command, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: folder, ...env },
  });
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
