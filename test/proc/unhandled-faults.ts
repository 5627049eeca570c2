/** Failures that nobody has handled, of each test anew. */
import { type MeshFailure, onUnhandledFault } from "viceroy";
import { beforeEach } from "vitest";

/** @returns what is told while a test runs; emptied before the next */
export function collectUnhandledFaults(): MeshFailure[] {
  const faults: MeshFailure[] = [];
  beforeEach(() => {
    faults.length = 0;
    onUnhandledFault((failure) => void faults.push(failure));
  });
  return faults;
}
