/**
 * `viceroy lock install`: makes git merge locks with `viceroy lock merge`. The file .gitattributes says so to all who clone
 * the repository; what command that means has to be said to every clone, for git lets no repository bring commands along.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { GitRepository } from "../../git/index.js";
import { writeAtomically } from "../../output/index.js";
import { exitCode, type Io } from "../io.js";
import type { Project } from "../project.js";

/** The setting that holds the command. */
export const mergeDriverSetting = "merge.viceroy.driver";

/** @throws ConfigError, GitError */
export async function installMergeDriver(project: Project, io: Io): Promise<number> {
  const { root, lock } = await project.config();
  const repository = GitRepository.containing(root);
  if (repository === undefined) {
    // Not a failure: packages run this when they are installed, wherever that is.
    io.err(`nothing to install: ${root} lies in no git repository`);
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
 * The file that this command is, as git finds it from the top of a working tree, where it runs drivers: by way of
 * node_modules, which stays when versions change, if it is installed there.
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

/** For the shell that git runs drivers with. */
function shellQuoted(file: string): string {
  return /^[\w./@+-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}
