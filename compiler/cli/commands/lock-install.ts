/**
 * `viceroy lock install`: configures git to merge lock files with `viceroy lock merge`. The file `.gitattributes`
 * selects the merge driver for every clone. Each clone must define the command of the driver itself, because git does
 * not accept commands from a repository.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { GitRepository } from "../../git/index.js";
import { writeAtomically } from "../../output/index.js";
import { exitCode, type Io } from "../io.js";
import type { Project } from "../project.js";

/** The git setting that contains the command. */
export const mergeDriverSetting = "merge.viceroy.driver";

/** @throws ConfigError, GitError */
export async function installMergeDriver(project: Project, io: Io): Promise<number> {
  const { root, lock } = await project.config();
  const repository = GitRepository.containing(root);
  if (repository === undefined) {
    // This is not a failure: packages run the command at installation, also outside of git repositories.
    io.err(`nothing to install: ${root} is not in a git repository`);
    return exitCode.ok;
  }
  declareMergeDriver(path.join(root, ".gitattributes"), lock, io);
  const command = `node ${shellQuoted(commandFile(root, repository.top))} lock merge %O %A %B %L %P`;
  if (repository.setting(mergeDriverSetting) === command) {
    io.out(`kept     ${mergeDriverSetting}`);
    return exitCode.ok;
  }
  repository.saveSetting("merge.viceroy.name", "merge of Viceroy's locks");
  repository.saveSetting(mergeDriverSetting, command);
  io.out(`set      ${mergeDriverSetting} to ${command}`);
  return exitCode.ok;
}

function declareMergeDriver(file: string, lock: string, io: Io): void {
  const line = `${/\s/.test(lock) ? JSON.stringify(lock) : lock} merge=viceroy`;
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (text.split(/\r?\n/).includes(line)) {
    io.out("kept     .gitattributes");
    return;
  }
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  writeAtomically(file, `${text}${separator}${line}\n`);
  io.out(`${text === "" ? "wrote   " : "extended"} .gitattributes: ${line}`);
}

/**
 * Returns the path of this command, relative to the top of the working tree, where git runs merge drivers. If the
 * command is installed in node_modules there, the path goes through node_modules and stays valid when the version
 * changes.
 */
function commandFile(root: string, top: string): string {
  const installed = "node_modules/viceroy/dist/cli/viceroy.js";
  const realRoot = realpathSync(root);
  for (let folder = realRoot; ; folder = path.dirname(folder)) {
    const file = path.join(folder, installed);
    if (existsSync(file)) return fromTop(file, top);
    if (folder === path.dirname(folder)) break;
  }
  return fromTop(realpathSync(process.argv[1] ?? ""), top);
}

function fromTop(file: string, top: string): string {
  const relative = path.relative(top, file);
  const isInside = !relative.startsWith("..") && !path.isAbsolute(relative);
  return (isInside ? relative : file).split(path.sep).join("/");
}

/** Quotes a path for the shell in which git runs merge drivers. */
function shellQuoted(file: string): string {
  return /^[\w./@+-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}
