/** The folder of a run on the cluster, if the commands of Slurm run on a login node that has files of its own. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { quote } from "../quote.js";
import type { LoginCommands } from "../reach/login-commands.js";

/** Returns the path of the folder, in the home directory. */
export function loginFolder(applyId: string): string {
  return `.viceroy/jobs/${quote(applyId)}`;
}

/** Writes a file that only the user can read. Its text reaches the login node through the standard input of ssh. */
export async function writeOnLogin(commands: LoginCommands, file: string, text: string): Promise<void> {
  await commands.run(["sh", "-c", `umask 077 && cat > ${quote(file)}`], text);
}

/**
 * Makes the folder, with files that only the user can read. They reach it through the standard input of ssh.
 * @param names the files, in the folder here and there
 * @returns the absolute path of the folder on the cluster
 */
export async function makeLoginFolder(
  commands: LoginCommands,
  applyId: string,
  from: string,
  names: readonly string[],
): Promise<string> {
  const files = names.map((name) => {
    const content = readFileSync(join(from, name), "utf8");
    return `mkdir -p "$(dirname ${quote(name)})"\nprintf %s ${quote(content)} > ${quote(name)}`;
  });
  const folder = loginFolder(applyId);
  const script = ["set -e", "umask 077", `mkdir -p ${folder}`, `cd ${folder}`, ...files, "pwd", ""].join("\n");
  return (await commands.run(["sh"], script)).trim().split("\n").at(-1)!;
}
