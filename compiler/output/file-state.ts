/**
 * States of files: a hash of the content, and a stamp with which an unchanged file is recognized without reading it.
 * The stamp contains the time at which the system last changed the file or its attributes, which no program can set.
 *
 * The clock of a file system ticks every few milliseconds, so a file that changes twice within one tick can keep its
 * stamp. A file therefore has a stamp only if it was read more than a tick after its last change. Files without a
 * stamp are compared by content.
 */
import { readFileSync, type Stats, statSync } from "node:fs";
import path from "node:path";

export interface FileState {
  /** The path relative to the root of the tree, or an absolute path. */
  readonly name: string;
  readonly hash: string;
  readonly stamp?: string | undefined;
}

/** A file, as found on disk before its content is read. */
interface FoundFile {
  readonly name: string;
  readonly file: string;
  readonly stats: Stats | undefined;
}

/**
 * Returns the current states of files.
 * @param root the absolute path of the tree
 * @param witness a file that was written after the last change, if there is one; see `DiskClock`
 */
export async function readFileStates(
  root: string,
  names: readonly string[],
  witness: string,
): Promise<readonly FileState[]> {
  const found = findFiles(root, names);
  const clock = new DiskClock([...found, ...findFiles(root, [witness])]);
  const hash = await contentHash();
  return found.map((each) => readState(each, clock, hash));
}

/** Returns whether all files have the stamps of their known states. It reads no file. */
export function haveStamps(root: string, known: readonly FileState[]): boolean {
  return known.every(({ name, stamp }) => stamp === stampOf(statsOf(pathOf(root, name))));
}

/**
 * Compares files with their known states.
 * @param witness see `readFileStates`
 * @returns undefined if a file has changed; `known` itself if all files have their stamps; otherwise the states with
 * the stamps that more files have now
 */
export async function confirmFileStates(
  root: string,
  known: readonly FileState[],
  witness: string,
): Promise<readonly FileState[] | undefined> {
  const found = findFiles(
    root,
    known.map(({ name }) => name),
  );
  const isConfirmed = (before: FileState, index: number) => before.stamp === stampOf(found[index]?.stats);
  if (known.every(isConfirmed)) return known;
  const clock = new DiskClock([...found, ...findFiles(root, [witness])]);
  const hash = await contentHash();
  const states: FileState[] = [];
  for (const [index, before] of known.entries()) {
    const state = isConfirmed(before, index) ? before : readState(found[index] as FoundFile, clock, hash);
    if (state.hash !== before.hash) return undefined;
    states.push(state);
  }
  return states;
}

function findFiles(root: string, names: readonly string[]): readonly FoundFile[] {
  return names.map((name) => {
    const file = pathOf(root, name);
    return { name, file, stats: statsOf(file) };
  });
}

/** Unlike `path.resolve`, it does not normalize the path, which takes as long as finding the file's attributes. */
function pathOf(root: string, name: string): string {
  return path.isAbsolute(name) ? name : `${root}/${name}`;
}

function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function stampOf(stats: Stats | undefined): string {
  if (stats === undefined) return "none";
  const { dev, ino, size, mtimeMs, ctimeMs } = stats;
  return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

function readState({ name, file, stats }: FoundFile, clock: DiskClock, hash: ContentHash): FileState {
  // Asked before the content is read, because the file can change after that.
  const isSettled = clock.isSettled(stats);
  return { name, hash: hash(readOrEmpty(file)), stamp: isSettled ? stampOf(stats) : undefined };
}

function readOrEmpty(file: string): Uint8Array | string {
  try {
    return readFileSync(file);
  } catch {
    return "(none)";
  }
}

type ContentHash = (content: Uint8Array | string) => string;

/** Loaded only here, because loading it takes longer than comparing the stamps of a hundred files. */
async function contentHash(): Promise<ContentHash> {
  const { createHash } = await import("node:crypto");
  return (content) => createHash("sha256").update(content).digest("hex");
}

/** More than a tick of the clock of any file system that stores fractions of seconds, in ms. */
const tick = 20;
/** The tick of file systems that store whole seconds, or pairs of them. */
const coarseTick = 2_000;

/**
 * The clock of the file system, which can be that of another machine. It is at least as late as the last change of any
 * file, and goes on like the clock of this process.
 */
class DiskClock {
  readonly #newest: number;
  readonly #since = performance.now();

  constructor(found: readonly FoundFile[]) {
    this.#newest = found.reduce((newest, { stats }) => Math.max(newest, stats?.ctimeMs ?? 0), 0);
  }

  /** Returns whether every later change of a file changes its stamp. */
  isSettled(stats: Stats | undefined): boolean {
    if (stats === undefined) return true;
    const { ctimeMs } = stats;
    return ctimeMs + (ctimeMs % 1000 === 0 ? coarseTick : tick) < this.#newest + performance.now() - this.#since;
  }
}
