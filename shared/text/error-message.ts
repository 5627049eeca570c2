/**
 * Reads caught values, which need not be errors. Errors that user code has thrown are read by `runtime/thrown.ts`
 * instead, because reading them can throw.
 */

/** Returns the message of an error, or the text of any other caught value. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns a caught value as an error. A value that is no error becomes the message of a new one. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
