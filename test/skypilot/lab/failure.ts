import { expect } from "vitest";
import { SkyPilotError } from "../../../runtime/job/skypilot/api/skypilot-error.js";

/** Returns the error of SkyPilot with which a promise is rejected. */
export async function failure(promise: Promise<unknown>): Promise<SkyPilotError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SkyPilotError);
  return error as SkyPilotError;
}
