/** Collects the unhandled failures of each test. */
import { type MeshFailure, onUnhandledFault } from "viceroy";
import { beforeEach } from "vitest";

/** @returns the list of failures, which is emptied before each test */
export function collectUnhandledFaults(): MeshFailure[] {
  const faults: MeshFailure[] = [];
  beforeEach(() => {
    faults.length = 0;
    onUnhandledFault((failure) => void faults.push(failure));
  });
  return faults;
}
