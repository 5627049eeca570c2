/** Runs a program as a user would, and compares what it prints with what it should print, up to numbers that vary. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";

// A machine that is busy with other things starts processes slowly.
vi.setConfig({ testTimeout: 120_000 });

export const root = fileURLToPath(new URL("../../", import.meta.url));
const tsx = fileURLToPath(import.meta.resolve("tsx/cli"));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npx tsx <program>` in the checkout. @param env on top of the environment of this process */
export function runExample(
  name: string,
  args: readonly string[] = [],
  cwd = root,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  return run(process.execPath, [tsx, `${root}examples/${name}/src/main.ts`, ...args], cwd, env);
}

/** @param env on top of the environment of this process */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const options = { cwd, maxBuffer: 1 << 26, timeout: 250_000, env: { ...process.env, ...env } };
  return new Promise((resolve) => {
    const child = execFile(command, args, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** `<n>` in `expected` stands for any number: `1`, `1,234.5`. Everything else has to be there as it is. */
export function expectOutput(got: string, expected: string): void {
  const wanted = expected.trim().split("\n");
  const lines = got.trimEnd().split("\n");
  // A line that matches is shown as it was wanted, so that a difference stands out alone.
  const shown = lines.map((line, i) => (matches(line, wanted[i]) ? wanted[i]! : line));
  expect(shown).toEqual(wanted);
}

function matches(line: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return false;
  const pattern = wanted.split("<n>").map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pattern.join("\\d[\\d,.]*")}$`).test(line);
}
