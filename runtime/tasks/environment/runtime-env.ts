/** `RuntimeEnv`: what the processes of a job or a task need before they can run. It is checked when it is made. */
import { resolve } from "node:path";
import { describeValue } from "../../../shared/text/describe-value.js";
import { checkOptionNames } from "../kernel.js";

/** The options of {@link RuntimeEnv}. */
export interface RuntimeEnvOptions {
  /** Environment variables in addition to those of the host: an object, or a Map. */
  readonly env?: Readonly<Record<string, string>> | ReadonlyMap<string, string>;
  /** The working directory of the processes, on each host. Default: that of the program, for a job; that of the host, for a task. */
  readonly workingDirectory?: string;
  /**
   * The npm packages that are installed on each host, for the program's own modules: `lock` is the path of a
   * `package-lock.json`, or of the folder that contains it. The `package.json` beside it is read, too.
   */
  readonly packages?: { readonly lock: string };
  /**
   * Further npm packages, as `npm install` takes them: `"zod@4"`, `"./tools-1.0.0.tgz"`. The program finds out their
   * exact versions, and all hosts install these.
   */
  readonly packageRequirements?: readonly string[];
  /** The least amounts of resources: `cpus`, `gpus`, `memory` in bytes, and others by their names. */
  readonly minimumResources?: Readonly<Record<string, number>>;
  /** The greatest amounts of resources, in the same units. */
  readonly maximumResources?: Readonly<Record<string, number>>;
}

const optionNames = [
  "env",
  "workingDirectory",
  "packages",
  "packageRequirements",
  "minimumResources",
  "maximumResources",
] satisfies readonly (keyof RuntimeEnvOptions)[];

const failed = "cannot make a RuntimeEnv";

/**
 * The surroundings of a job or a task: environment variables, working directory, npm packages and resources.
 *
 * @example
 * ```ts
 * import { RuntimeEnv } from "viceroy/tasks";
 *
 * const environment = new RuntimeEnv({
 *   env: { LOG_LEVEL: "debug" },
 *   packages: { lock: "workers/package-lock.json" },
 *   minimumResources: { cpus: 2 },
 * });
 * ```
 */
export class RuntimeEnv {
  /** Environment variables in addition to those of the host. */
  readonly env: Readonly<Record<string, string>>;
  /** The working directory as an absolute path; undefined for the default. */
  readonly workingDirectory: string | undefined;
  /** The lock of npm packages, as an absolute path; undefined if there is none. */
  readonly packages: { readonly lock: string } | undefined;
  /** Further npm packages. Paths are absolute. */
  readonly packageRequirements: readonly string[];
  /** The least amounts of resources. */
  readonly minimumResources: Readonly<Record<string, number>>;
  /** The greatest amounts of resources. */
  readonly maximumResources: Readonly<Record<string, number>>;

  /**
   * Checks the options. No file is read, and nothing is installed. Relative paths start at the working directory of the
   * program.
   *
   * @param options what the processes need
   * @throws {TypeError} when an option is unknown or malformed
   * @throws {RangeError} when an amount of resources is out of range, a minimum exceeds its maximum, or a package is an
   *   empty string
   */
  constructor(options: RuntimeEnvOptions = {}) {
    checkOptionNames(failed, options, optionNames);
    const { env = {}, workingDirectory, packages, packageRequirements = [] } = options;
    this.env = checkedEnv(env);
    this.workingDirectory = workingDirectory === undefined ? undefined : absolute("workingDirectory", workingDirectory);
    if (packages !== undefined) checkOptionNames(`${failed} with packages`, packages, ["lock"]);
    this.packages = packages === undefined ? undefined : { lock: absolute("packages.lock", packages.lock) };
    this.packageRequirements = checkedRequirements(packageRequirements);
    this.minimumResources = checkedResources("minimumResources", options.minimumResources ?? {});
    this.maximumResources = checkedResources("maximumResources", options.maximumResources ?? {});
    for (const [name, minimum] of Object.entries(this.minimumResources)) {
      const maximum = this.maximumResources[name];
      if (maximum === undefined || minimum <= maximum) continue;
      // The first half is what programs that know Fray's RuntimeEnv look for.
      throw new RangeError(
        `${failed}: minimum_resources exceeds maximum_resources: expected minimumResources.${name} to be at most ` +
          `maximumResources.${name}, which is ${maximum}, got ${minimum}`,
      );
    }
  }
}

/**
 * Returns a runtime environment for what a user passes as one: options are checked here.
 *
 * @throws {TypeError | RangeError} as the constructor of RuntimeEnv
 */
export function runtimeEnvOf(given: RuntimeEnv | RuntimeEnvOptions): RuntimeEnv {
  return given instanceof RuntimeEnv ? given : new RuntimeEnv(given);
}

function checkedEnv(env: unknown): Readonly<Record<string, string>> {
  if (typeof env !== "object" || env === null || Array.isArray(env)) {
    throw new TypeError(`${failed}: expected env as an object or a Map of strings, got ${describeValue(env)}`);
  }
  const entries: [unknown, unknown][] = env instanceof Map ? [...env] : Object.entries(env);
  for (const [key, value] of entries) {
    if (typeof key !== "string") throw new TypeError(`${failed}: env keys must be strings, got ${describeValue(key)}`);
    if (typeof value !== "string") {
      throw new TypeError(`${failed}: env values must be strings, got ${describeValue(value)} for ${key}`);
    }
    if (!/^[A-Za-z_]\w*$/.test(key) || value.includes("\0")) {
      throw new TypeError(
        `${failed}: expected env with names of letters, digits and _, got ${describeValue({ [key]: value })}`,
      );
    }
  }
  return Object.fromEntries(entries as [string, string][]);
}

function absolute(option: string, path: unknown): string {
  if (typeof path === "string" && path !== "" && !path.includes("\0")) return resolve(path);
  throw new TypeError(`${failed}: expected ${option} as a path, got ${describeValue(path)}`);
}

function checkedRequirements(requirements: unknown): readonly string[] {
  if (!Array.isArray(requirements)) {
    throw new TypeError(`${failed}: packageRequirements must be strings in a list, got ${describeValue(requirements)}`);
  }
  return requirements.map((requirement: unknown) => {
    if (typeof requirement !== "string") {
      throw new TypeError(`${failed}: packageRequirements must be strings, got ${describeValue(requirement)}`);
    }
    if (requirement.trim() === "") {
      throw new RangeError(
        `${failed}: packageRequirements cannot contain empty strings, got ${describeValue(requirement)}`,
      );
    }
    // An argument that starts with a hyphen would be an option of npm.
    if (requirement.startsWith("-")) {
      throw new TypeError(`${failed}: expected packageRequirements as packages, got ${describeValue(requirement)}`);
    }
    return isLocalFile(requirement) ? `file:${resolve(requirement.replace(/^file:/, ""))}` : requirement;
  });
}

/** Returns whether npm takes a package from a path, and not from a registry or another server. */
function isLocalFile(requirement: string): boolean {
  return (
    /^(?:file:|\.{0,2}\/)/.test(requirement) ||
    (/\.(?:tgz|tar|tar\.gz)$/.test(requirement) && !/^~|:\/\//.test(requirement))
  );
}

function checkedResources(option: string, resources: unknown): Readonly<Record<string, number>> {
  if (typeof resources !== "object" || resources === null || Array.isArray(resources)) {
    throw new TypeError(`${failed}: expected ${option} as an object like { cpus: 2 }, got ${describeValue(resources)}`);
  }
  for (const [name, amount] of Object.entries(resources)) {
    if (typeof amount !== "number" || Number.isNaN(amount)) {
      throw new TypeError(`${failed}: expected ${option}.${name} as a number, got ${describeValue(amount)}`);
    }
    if (amount < 0) throw new RangeError(`${failed}: ${option}.${name} cannot be negative, got ${amount}`);
    if (amount === Number.POSITIVE_INFINITY) {
      throw new RangeError(`${failed}: expected ${option}.${name} to be finite, got ${amount}`);
    }
  }
  return { ...(resources as Record<string, number>) };
}
