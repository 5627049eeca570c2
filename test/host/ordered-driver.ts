/** Starts programs that attach hosts and take orders (test/fixtures/crew/programs/on-attached-hosts.ts). */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttachOptions } from "viceroy";
import { project } from "../proc/crew.js";
import { startOrdered } from "./publish/programs.js";

export interface OrderedDriver {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** Gives an order and returns its result. Rejects with the error of the program. */
  order(...order: string[]): Promise<unknown>;
  /** Returns the number of the program's tree of processes, which no other program learns. It has started a process here before. */
  universe(): bigint;
}

/** Starts a driver. The tests end it. */
export async function startDriver(
  addresses: readonly string[],
  options: AttachOptions = {},
  env: Readonly<Record<string, string>> = {},
): Promise<OrderedDriver> {
  const folder = mkdtempSync(join(tmpdir(), "vd-"));
  const given = JSON.stringify({ addresses, options });
  const args = [given];
  const driver = await startOrdered(project, [process.execPath], "on-attached-hosts.ts", args, {
    ...env,
    TMPDIR: folder,
  });
  const universe = () => {
    const [found] = readdirSync(folder).filter((name) => /^viceroy-[\da-f]{16}$/.test(name));
    return BigInt(`0x${found!.slice("viceroy-".length)}`);
  };
  return { ...driver, universe };
}
