/**
 * The program that prepares the npm packages of a job on a host: it reads the environment from the file that its argument
 * names, installs the packages, and prints lines of the shell that set the environment variables.
 */
import { readFileSync } from "node:fs";
import type { TaskEnvironment } from "../../../generated/tasks.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { prepareEnvironment } from "../environment/prepare-environment.js";
import { exportLines } from "./setup-lines.js";

try {
  const [, , file = ""] = process.argv;
  const env = await prepareEnvironment(JSON.parse(readFileSync(file, "utf8")) as TaskEnvironment);
  process.stdout.write(`${exportLines(env).join("\n")}\n`);
} catch (error) {
  process.stderr.write(`viceroy: ${errorMessage(error)}\n`);
  process.exitCode = 1;
}
