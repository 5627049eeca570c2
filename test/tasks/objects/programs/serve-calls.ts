/** The other end of `startCluster`: serves the calls that arrive as lines of the input. */
import { createInterface } from "node:readline";

/**
 * Serves calls until the input ends. Each line of it is a JSON list with the name of a function and its arguments. The answer, or the
 * error, is printed as a line of JSON.
 */
export async function serveCalls(calls: Record<string, (...args: never[]) => unknown>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, ...args] = JSON.parse(line);
    void Promise.resolve()
      .then(() => calls[name]!(...(args as never[])))
      .then(
        (value) => console.log(JSON.stringify({ value })),
        (error: Error) => console.log(JSON.stringify({ error: `${error.name}: ${error.message}` })),
      );
  }
}
