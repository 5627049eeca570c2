/**
 * Set-up of the test files that share processes. Each file gets modules of its own, so that no state of a module reaches
 * the files after it. A file fails if it leaves other changes behind: in the environment, the working directory, the
 * handlers of stray errors, the names of the global scope, or the timers.
 */
import { afterAll, expect, vi } from "vitest";

vi.resetModules();
const before = sharedState();
afterAll(() => {
  expect(sharedState(), "the state that a test file leaves behind for other files of its process").toEqual(before);
});

function sharedState() {
  return {
    directory: process.cwd(),
    environment: { ...process.env },
    errorHandlers: ["uncaughtException", "unhandledRejection"].map((event) => process.listenerCount(event)),
    globals: Reflect.ownKeys(globalThis).map(String).sort(),
    hasFakeTimers: vi.isFakeTimers(),
  };
}
