/** Packs all packages of the checkout, and installs them as users do, in folders of their own. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { prebuiltPackage } from "../../native/prebuilt-addon.js";
import { exclusively } from "../exclusively.js";

export const root = path.resolve(import.meta.dirname, "../..");

/** The environment variables that the configuration of the tests, a test runner and an enclosing `npm run` set. */
const foreign = /^(?:VITEST.*|TEST|NODE_ENV|NODE_OPTIONS|NODE_V8_COVERAGE|INIT_CWD|VICEROY_LINKS|npm_(?!config_).*)$/;
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command with the environment of a user. */
export function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Outcome {
  const limit = { timeout: 250_000, killSignal: "SIGKILL" } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env: { ...inherited, ...env },
    ...limit,
  });
  return { code: status, stdout, stderr: error === undefined ? stderr : String(error) };
}

/** Runs a command that must succeed. @returns its output */
export function succeed(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): string {
  const { code, stdout, stderr } = run(command, args, cwd, env);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with code ${code}\n${stdout}\n${stderr}`);
  return stdout;
}

/** The paths of the tarballs. */
export interface Tarballs {
  readonly viceroy: string;
  readonly compiler: string;
  /** Undefined on platforms without a package. */
  readonly addon: string | undefined;
}

/** The platform of this machine, as a part of the name of the package with its addon. */
export const ownPlatform = `${process.platform}-${process.arch}`;
/** The package with the addon of this machine, or undefined if there is none. */
export const ownAddon = prebuiltPackage();

/** Several runs of tests share this folder if they test the same build, as those of `npm run verify` do. */
const shared = process.env["VICEROY_PACKED"];

/**
 * Packs all packages, with the addon of one platform. The first test file that needs them builds the addon, which
 * takes longest.
 * @param platform the operating system and the processor
 */
export async function packAll(platform = ownPlatform): Promise<Tarballs> {
  const packed = path.join(shared ?? tmpdir(), `packed-${platform}`);
  const complete = path.join(packed, "complete");
  await exclusively("pack", () => {
    if (existsSync(complete)) return;
    succeed(process.execPath, [path.join(root, ".ci/pack.mjs"), packed, platform], root);
    writeFileSync(complete, "");
  });
  const find = (pattern: RegExp) => readdirSync(packed).find((name) => pattern.test(name));
  const at = (name: string | undefined) => path.join(packed, name ?? "missing.tgz");
  const addon = find(/^viceroy-addon-/);
  return {
    viceroy: at(find(/^viceroy-\d/)),
    compiler: at(find(/^viceroy-compiler-/)),
    addon: addon && at(addon),
  };
}

/** Makes the folder of an application. */
export function application(prefix: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), prefix));
  mkdirSync(path.join(folder, "app"));
  writeFileSync(path.join(folder, "app/package.json"), '{ "name": "app", "version": "1.0.0", "type": "module" }\n');
  return folder;
}

/**
 * Installs what production needs. The packages have no dependencies, so npm needs no registry.
 * @param options further options of npm, such as `--force` for another platform
 */
export function installRuntime(app: string, { viceroy, addon }: Tarballs, ...options: readonly string[]): void {
  const packages = addon === undefined ? [viceroy] : [viceroy, addon];
  succeed("npm", ["install", "--offline", "--no-audit", "--no-fund", ...options, ...packages], app);
}
