/** Turns runtime environments into what hosts get of them, and these into the environment variables of processes. */
import { statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TaskEnvironment } from "../../../generated/tasks.js";
import { installPackages } from "./install-packages.js";
import { lockPackages } from "./lock-packages.js";
import { packagesVariable, workingDirectoryVariable } from "./preload/variables.js";
import type { RuntimeEnv } from "./runtime-env.js";

const preload = fileURLToPath(new URL("./tasks-preload.cjs", import.meta.url));

/** The forms of environments for hosts. The versions of packages are found out once, so that all tasks have the same. */
const forms = new WeakMap<RuntimeEnv, Promise<TaskEnvironment>>();

/**
 * Returns the environment in the form in which hosts get it. The lock of packages is read on this machine, in the first
 * call for an environment.
 *
 * @throws Error if the lock cannot be used
 */
export function taskEnvironmentOf(environment: RuntimeEnv): Promise<TaskEnvironment> {
  let form = forms.get(environment);
  if (form === undefined) {
    form = formOf(environment);
    forms.set(environment, form);
    form.catch(() => forms.delete(environment));
  }
  return form;
}

async function formOf(environment: RuntimeEnv): Promise<TaskEnvironment> {
  const { env, workingDirectory } = environment;
  const packages = await lockPackages(environment);
  return {
    env,
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
    ...(packages === undefined ? {} : { packages }),
  };
}

/**
 * Prepares an environment on this host: its packages are installed, unless they are there.
 *
 * @returns the environment variables of a process of Node.js with this environment, in addition to those of this process.
 *   They need not be used for threads of a process: a thread has the working directory of its process
 * @throws Error if the packages cannot be installed, or the working directory does not exist on this host
 */
export async function prepareEnvironment(environment: TaskEnvironment): Promise<Record<string, string>> {
  const { env, workingDirectory, packages } = environment;
  if (workingDirectory === undefined && packages === undefined) return env;
  if (workingDirectory !== undefined) checkDirectory(workingDirectory);
  const own: Record<string, string> = {
    ...env,
    NODE_OPTIONS: withPreload(env["NODE_OPTIONS"] ?? process.env["NODE_OPTIONS"]),
  };
  if (workingDirectory !== undefined) own[workingDirectoryVariable] = workingDirectory;
  if (packages !== undefined) Object.assign(own, packageVariables(await installPackages(packages), env));
  return own;
}

/** Returns the variables by which a process finds packages, and their commands. */
export function packageVariables(folder: string, env: Readonly<Record<string, string>>): Record<string, string> {
  const path = env["PATH"] ?? process.env["PATH"] ?? "";
  return { [packagesVariable]: folder, PATH: `${join(folder, "node_modules/.bin")}${delimiter}${path}` };
}

/** Returns options of Node.js that load the preload in addition. */
export function withPreload(options = ""): string {
  const own = `--require "${preload.replace(/["\\]/g, "\\$&")}"`;
  return options.includes(own) ? options : `${options} ${own}`.trim();
}

function checkDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new Error(
    `cannot use the working directory ${directory} of a RuntimeEnv: there is no such folder on this host`,
  );
}
