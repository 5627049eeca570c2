/**
 * Reads the lock of npm packages on the machine of the program, in a form that any host can install: without paths that
 * start at the folder of the lock.
 */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { LockedPackages } from "../../../generated/tasks.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { runNpm } from "./npm.js";
import type { RuntimeEnv } from "./runtime-env.js";

const manifestName = "package.json";
const lockName = "package-lock.json";

/**
 * The fields of package.json that are installed, which the lock repeats. A change of another field, such as the packages for
 * development, installs nothing again.
 */
const manifestFields = [
  "dependencies",
  "optionalDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
  "overrides",
] as const;

/** The owner of the packages in errors. */
const owner = "a RuntimeEnv";

/** The lock has had its map of packages since npm 7. */
const oldestLockVersion = 2;

/** The parts of package.json and of the entries of a lock that are read here. */
type Manifest = Readonly<Record<string, unknown>>;
interface Lock extends Manifest {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockEntry>>;
}
interface LockEntry extends Manifest {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
}

/**
 * Returns the packages of a runtime environment with their exact versions.
 *
 * @returns undefined if the environment has no packages
 * @throws Error if the lock cannot be read or used, or npm cannot find out the versions of further packages
 */
export async function lockPackages({ packages, packageRequirements }: RuntimeEnv): Promise<LockedPackages | undefined> {
  const base = packages === undefined ? undefined : await readLock(packages.lock, owner);
  return packageRequirements.length === 0 ? base : addRequirements(base, packageRequirements);
}

/**
 * Reads a lock, and the package.json beside it.
 *
 * @param path the lock, or its folder
 * @param owner who has the packages, as errors name it
 * @throws Error if the lock cannot be read or used
 */
export async function readLock(path: string, owner: string): Promise<LockedPackages> {
  const fail = (why: string, cause?: unknown) =>
    new Error(`cannot use the packages of ${owner}: ${why}`, cause === undefined ? {} : { cause });
  let file: string;
  try {
    file = (await stat(path)).isDirectory() ? join(path, lockName) : path;
  } catch (cause) {
    throw fail(errorMessage(cause), cause);
  }
  const folder = dirname(file);
  const read = async (name: string): Promise<Manifest> => {
    try {
      return JSON.parse(await readFile(name, "utf8")) as Manifest;
    } catch (cause) {
      throw fail(`${name}: ${errorMessage(cause)}`, cause);
    }
  };
  const lock = (await read(file)) as Lock;
  const manifest = await read(join(folder, manifestName));
  if (!(lock.lockfileVersion >= oldestLockVersion) || typeof lock.packages !== "object") {
    throw fail(`expected ${file} as a lock of npm 7 or newer, got lockfileVersion ${lock.lockfileVersion}`);
  }
  for (const [name, { link, dev, resolved }] of Object.entries(lock.packages)) {
    if (link !== true || dev === true) continue;
    throw fail(`${file} links ${name} to the folder ${resolved}; make a package of it by npm pack, and install that`);
  }
  return { manifest: portableManifest(manifest, folder), lock: portableLock(lock, folder) };
}

function portableManifest(manifest: Manifest, folder: string): string {
  return JSON.stringify(withAbsolutePaths(installedFields(manifest), folder));
}

function portableLock({ packages, lockfileVersion }: Lock, folder: string): string {
  // Other entries are for development, or describe folders of the project itself.
  const entries = Object.entries(packages).filter(([name, { dev }]) => name.includes("node_modules/") && dev !== true);
  const all = { "": installedFields(packages[""] ?? {}), ...Object.fromEntries(entries) };
  return JSON.stringify({ lockfileVersion, requires: true, packages: withAbsolutePaths(all, folder) });
}

function installedFields(manifest: Manifest): Manifest {
  return Object.fromEntries(
    manifestFields.flatMap((field) => (manifest[field] === undefined ? [] : [[field, manifest[field]]])),
  );
}

/** Makes paths that start at a folder absolute, in any value of a package.json or a lock: `file:../tools-1.0.0.tgz`. */
function withAbsolutePaths(value: unknown, folder: string): unknown {
  if (typeof value === "string")
    return value.replace(/^file:(?!\/)(.*)$/, (_, path: string) => `file:${resolve(folder, path)}`);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withAbsolutePaths(item, folder));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withAbsolutePaths(item, folder)]));
}

/** Has npm find out the versions of further packages, without installing them. */
async function addRequirements(
  base: LockedPackages | undefined,
  requirements: readonly string[],
): Promise<LockedPackages> {
  const folder = await mkdtemp(join(tmpdir(), "viceroy-lock-"));
  try {
    await writeFile(join(folder, manifestName), base?.manifest ?? "{}");
    if (base !== undefined) await writeFile(join(folder, lockName), base.lock);
    await runNpm(folder, ["install", "--package-lock-only", "--save", ...requirements]);
    return await readLock(folder, owner);
  } catch (cause) {
    throw new Error(`cannot find out the versions of ${requirements.join(", ")}: ${errorMessage(cause)}`, { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
