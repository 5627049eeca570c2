/** A tiny runner for contract programs: every check prints a line; the process exits with the number of failures. */
import { isDeepStrictEqual } from "node:util";

let failures = 0;

export async function check(promise: string, body: () => unknown): Promise<void> {
  const limit = new Promise((_, reject) =>
    setTimeout(() => reject(new Error("took longer than 60 s")), 60_000).unref(),
  );
  try {
    await Promise.race([Promise.resolve().then(body), limit]);
    console.log(`ok - ${promise}`);
  } catch (error) {
    failures++;
    console.log(`not ok - ${promise}\n    ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}

export function equal(got: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(got, expected)) {
    throw new Error(`expected ${format(expected)}, got ${format(got)}`);
  }
}

function format(value: unknown): string {
  return JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}n` : v)) ?? String(value);
}

export async function rejection(promise: PromiseLike<unknown>): Promise<Error> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`rejected with something that is no Error: ${String(error)}`);
  }
  throw new Error(`expected a rejection, got ${format(value)}`);
}

export function thrown(body: () => unknown): Error {
  let value: unknown;
  try {
    value = body();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`threw something that is no Error: ${String(error)}`);
  }
  throw new Error(`expected a synchronous throw, got ${format(value)}`);
}

export function done(): void {
  console.log(failures === 0 ? "# all kept" : `# ${failures} broken`);
  if (failures > 0) process.exitCode = 1;
}
