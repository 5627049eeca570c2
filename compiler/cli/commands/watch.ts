/**
 * `viceroy compile --watch`: compiles after every change of an input file. The compiler stays loaded and parses changed
 * files only. Files of other packages that a compilation reads, such as contracts, are watched too. It does not write the lock, so that typing `n`, `na`, `name` takes no ids. `viceroy compile` writes the
 * lock.
 */
import path from "node:path";
import { ConfigError } from "../../config/index.js";
import { fileErrorText } from "../../output/index.js";
import { exitCode, type Io } from "../io.js";
import { Project } from "../project.js";
import { WatchedFiles } from "../watch-files.js";
import { watchTree } from "../watch-tree.js";
import { compile } from "./compile.js";

/** The time in milliseconds within which changes are compiled together. */
const settleMs = 5;

/** @returns after `signal` is aborted */
export async function watch(folder: string, json: boolean, io: Io, signal: AbortSignal): Promise<number> {
  let project = new Project(folder);
  const { root, out } = await project.config();
  const again = new PendingChanges();
  let edited = false;
  const isInTree = (file: string) => {
    const name = path.relative(root, file);
    return !name.startsWith("..") && !isSkipped(path.dirname(name), out);
  };
  const onError = (error: unknown) => io.err(`cannot watch all of ${root}: ${(error as Error).message}`);
  const watcher = watchTree(root, (folder) => isSkipped(folder, out), {
    onChange(name) {
      if (!affectsCompilation(name)) return;
      if (path.join(root, name) === project.configFile) edited = true;
      again.note();
    },
    onError,
  });
  const foreign = new WatchedFiles({ onChange: () => again.note(), onError });
  signal.addEventListener("abort", () => again.end(), { once: true });
  if (!json) io.err(`Watching ${root}. Ids of new members are drafts until you run \`npx viceroy compile\`.`);
  do {
    try {
      if (edited) project = new Project(root);
      edited = false;
      await compile(project, { check: false, json, draft: true }, io);
    } catch (error) {
      const text = error instanceof ConfigError ? error.message : fileErrorText(error);
      if (text === undefined) throw error;
      io.err(text);
    }
    foreign.watch(new Map([...project.foreignTexts].filter(([file]) => !isInTree(file))));
  } while (await again.next());
  watcher.close();
  foreign.close();
  return exitCode.ok;
}

/** Returns whether a folder contains no input files. */
function isSkipped(name: string, out: string): boolean {
  const parts = name.split(path.sep);
  if (parts.includes("node_modules") || parts[0] === ".viceroy" || parts[0] === ".git") return true;
  const file = parts.join("/");
  return file === out || file.startsWith(`${out}/`);
}

/**
 * Returns whether a change can affect the output: a change of an input file, or a folder that was created or removed.
 */
function affectsCompilation(name: string): boolean {
  return name.endsWith(path.sep) || /\.([cm]?[jt]sx?|lock|json)$/.test(name);
}

/** Collects changes until the next compilation. */
class PendingChanges {
  #changed = false;
  #ended = false;
  #wake: () => void = () => {};

  note(): void {
    this.#changed = true;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** @returns false after the watch has ended */
  async next(): Promise<boolean> {
    if (!this.#changed && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#ended) return false;
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    this.#changed = false;
    return true;
  }
}
