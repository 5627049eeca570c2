/**
 * Lines of the shell that give a job its runtime environment. They run before each host and before the entry point, so
 * that all processes of the job have it.
 */
import { fileURLToPath } from "node:url";
import { quote } from "../kernel.js";

const program = fileURLToPath(new URL("./tasks-environment.js", import.meta.url));

/** The exit code of a host or an entry point that could not be prepared: shells have it for commands that cannot run. */
const notPreparedCode = 126;

/** The effects of the lines. */
export interface JobSetup {
  /** The lines of the options of the job, which come first. */
  readonly given: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory: string | undefined;
  /** The file with the packages, and the path of Node.js on the hosts; undefined if there are no packages. */
  readonly packages: { readonly file: string; readonly node: string } | undefined;
}

/** Returns the lines; undefined if there are none. */
export function setupLines({ given, env, workingDirectory, packages }: JobSetup): string | undefined {
  const lines = [
    ...(given === undefined ? [] : [given]),
    ...exportLines(env),
    ...(workingDirectory === undefined ? [] : [`cd -- ${quote(workingDirectory)} || exit ${notPreparedCode}`]),
    ...(packages === undefined ? [] : packageLines(packages)),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

/** Returns lines that set environment variables. */
export function exportLines(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`);
}

function packageLines({ file, node }: { readonly file: string; readonly node: string }): string[] {
  const command = [node, program, file].map(quote).join(" ");
  return [
    `viceroy_packages=$(${command}) || exit ${notPreparedCode}`,
    'eval "$viceroy_packages"',
    "unset viceroy_packages",
  ];
}
