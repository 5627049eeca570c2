/** The checks and errors that the options of several kinds of jobs share. */
import { describeValue } from "../../shared/text/describe-value.js";

/** @param expected the option and its values: `env as an object of text` */
export function optionError(expected: string, got: unknown): TypeError {
  return new TypeError(`cannot make a job: expected ${expected}, got ${describeValue(got)}`);
}

/** Checks the port of hosts, which is optional. @throws RangeError */
export function checkPort(port: unknown): void {
  if (port === undefined || (Number.isInteger(port) && (port as number) > 0 && (port as number) < 65_536)) return;
  throw new RangeError(`cannot make a job: expected port from 1 to 65535, got ${describeValue(port)}`);
}
