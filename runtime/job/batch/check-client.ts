/** The checks of what a program asks a batch job to run. */
import { resolve } from "node:path";
import { describeValue } from "../../../shared/text/describe-value.js";
import { checkOptionNames } from "../../shape/check-options.js";
import type { ClientOrder } from "./client.js";

const failed = "cannot run a command in a job";

/**
 * Checks a command and its options.
 * @throws TypeError if one of them is malformed
 */
export function checkClient(
  command: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
): ClientOrder {
  checkOptionNames(failed, options, ["cwd", "env", "signal"]);
  const { cwd = process.cwd(), env = {} } = options;
  if (!Array.isArray(command) || !command.every(isText) || command[0] === undefined || command[0] === "") {
    throw new TypeError(`${failed}: expected a list of the program and its arguments, got ${describeValue(command)}`);
  }
  if (!isText(cwd) || cwd === "") throw new TypeError(`${failed}: expected cwd as a path, got ${describeValue(cwd)}`);
  if (typeof env !== "object" || env === null) {
    throw new TypeError(`${failed}: expected env as an object of text, got ${describeValue(env)}`);
  }
  for (const [name, value] of Object.entries(env)) {
    if (isText(value) && /^[A-Za-z_]\w*$/.test(name)) continue;
    throw new TypeError(`${failed}: expected env as an object of text, got ${describeValue({ [name]: value })}`);
  }
  return { command, cwd: resolve(cwd), env };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0");
}
