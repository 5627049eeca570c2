/** The frame of processes that hold servers for tests: they run until their standard input ends, and take everything down then. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Ends, endAll } from "./ends.js";

/**
 * Starts servers, prints a line of JSON when they are ready, and ends them and this process when the standard input ends, or a signal comes.
 * @param prefix the first letters of the name of the folder for their files
 * @param start starts the servers, adds to `ends` what takes them down, and returns what is printed
 */
export async function holdUntilInputEnds(
  prefix: string,
  start: (folder: string, ends: Ends) => Promise<object>,
): Promise<never> {
  const folder = mkdtempSync(path.join(tmpdir(), prefix));
  const ends: Ends = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })];
  const over = new Promise<void>((resolve) => {
    process.stdin.on("end", resolve).on("error", resolve).resume();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
  const hold = async (): Promise<void> => {
    console.log(JSON.stringify(await start(folder, ends)));
    await over;
  };
  try {
    await Promise.race([hold(), over]);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    await endAll(ends);
  }
  process.exit();
}
