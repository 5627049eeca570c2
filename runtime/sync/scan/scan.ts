/**
 * Scans the roots of a program: which files it consists of, and which chunks they contain. The result is a manifest, and where
 * each of its files is on this machine.
 */
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { TreeEntry } from "../../../generated/sync.js";
import { SyncError } from "../sync-error.js";
import { digestOf, joinDigests } from "../tree/digest.js";
import { type EncodedManifest, encodeManifest } from "../tree/manifest.js";
import { comparePaths, followLink, refusePath } from "../tree/tree-path.js";
import { checkRoot, contains } from "./check-root.js";
import { ListedRoot } from "./listed-root.js";
import { addNeededFiles } from "./needed-files.js";
import { Pace } from "./pace.js";
import { addPackages } from "./packages.js";
import { readChunks, stampOf } from "./read-chunks.js";
import { checkBytes, defaultScanLimits, FileCount, type ScanLimits } from "./scan-limits.js";
import { type RememberedFile, ScanMemory } from "./scan-memory.js";

/** The options of a scan. */
export interface ScanOptions {
  /** The folders that the tree contains: absolute, or relative to the working directory. */
  readonly roots: readonly string[];
  /** Glob patterns of what is left out. One without a slash matches names in all folders, another one paths in each root. */
  readonly exclude?: readonly string[];
  /** Files and folders that are carried although git ignores them, relative to each root. */
  readonly include?: readonly string[];
  /** Files with which the program starts. What they import in the roots is carried although git ignores it. */
  readonly needed?: readonly string[];
  /**
   * The installed packages that are carried: those on which the packages in the roots depend, and these ones, as modules of the first
   * root find them. Default: none.
   */
  readonly packages?: readonly string[];
  /** Whether the packages on which those in the roots depend are carried, if packages are. Default: true. */
  readonly hasDependencies?: boolean;
  /** Roots that are meant although they are the root of the file system, or contain the home folder. */
  readonly largeRoots?: readonly string[];
  readonly limits?: Partial<ScanLimits>;
  /** The folder in which scans remember files, on the file system of the roots. Default: nothing is remembered. */
  readonly memory?: string;
  /** The home folder of the user. Default: that of the system. */
  readonly home?: string;
}

/** The names that programs of Viceroy need in each root, even if git ignores them. */
const ALWAYS_NEEDED = [
  "package.json",
  "viceroy.lock",
  "generated",
  ...["ts", "mts", "js", "mjs"].map((end) => `viceroy.config.${end}`),
];

/** The place of a root in the tree. */
export interface PlacedRoot {
  /** The absolute path on this machine. */
  readonly root: string;
  /** The path in the tree, "" for the tree itself. */
  readonly at: string;
  /** Whether git has listed the files. */
  readonly byGit: boolean;
}

/** The result of a scan. */
export interface Scan {
  readonly manifest: EncodedManifest;
  /** The files and links, in the order of the manifest. */
  readonly entries: readonly TreeEntry[];
  readonly roots: readonly PlacedRoot[];
  /** The folder of this machine to which paths in the tree are relative. */
  readonly top: string;
  /** The number of files whose content was read. The others were known from earlier scans. */
  readonly filesRead: number;
  /** Returns the absolute path of an entry on this machine. */
  fileOf(entry: TreeEntry): string;
}

/**
 * Scans the roots of a program.
 *
 * @throws {SyncError} if a root is refused, a file cannot be carried, a limit is exceeded, or a file changes all the time
 */
export async function scan(options: ScanOptions): Promise<Scan> {
  const limits = { ...defaultScanLimits, ...options.limits };
  const rules = { home: options.home ?? homeFolder(), largeRoots: options.largeRoots ?? [] };
  const roots = withoutNested(options.roots.map((root) => checkRoot(root, rules)));
  const top = commonFolder(roots);
  const count = new FileCount(limits.files);
  const listing = Promise.all(roots.map((root) => ListedRoot.of(root, options, count)));
  listing.catch(() => {});
  const memory = new ScanMemory(options.memory);
  const known = memory.lookAtAll();
  const listed = await listing;
  for (const root of listed) for (const name of [...ALWAYS_NEEDED, ...(options.include ?? [])]) root.addNeeded(name);
  addNeededFiles(options.needed ?? [], {
    roots: listed,
    importsOf: (file) => memory.importsOf(file),
    setImports: (file, imports) => memory.setImports(file, imports),
  });
  const packages =
    options.packages === undefined ? undefined : addPackages(listed, options.packages, options.hasDependencies);
  const found = new Map<string, Found>();
  for (const each of listed) {
    const { root, paths } = each;
    const at = inTree(top, root);
    const add = (name: string, file: string): void => {
      const entry = lookAt(root, at === "" ? name : `${at}/${name}`, name, file, known);
      if (entry === undefined) return;
      memory.observe(entry.stats.dev, entry.stats.ctimeMs);
      found.set(entry.path, entry);
    };
    for (const name of paths) add(name, `${root}${root.endsWith(path.sep) ? "" : path.sep}${name}`);
    for (const { at: name, file } of packages?.get(each) ?? []) add(name, file);
  }
  const sizes = [...found.values()].filter(({ stats }) => stats.isFile()).map((f) => [f.name, f.stats.size] as const);
  checkBytes(roots.join(", "), sizes, limits.bytes);
  removeBehindLinks(found);
  checkLinks(
    found,
    listed.map(({ root }) => inTree(top, root)),
  );

  const pace = new Pace();
  const entries: TreeEntry[] = [];
  let filesRead = 0;
  for (const entry of found.values()) {
    if (entry.link !== undefined) {
      entries.push({ path: entry.path, link: entry.link, digests: joinDigests([]), sizes: [] });
      continue;
    }
    const read = memory.find(entry.file, stampOf(entry.stats), entry.stats.mode);
    if (read === undefined) filesRead++;
    const content = read ?? (await readFile(entry, memory, pace));
    if (content === undefined) continue;
    entries.push({ path: entry.path, mode: entry.stats.mode & 0o777, digests: content.digests, sizes: content.sizes });
  }
  memory.save();
  entries.sort((left, right) => comparePaths(left.path, right.path));
  return {
    manifest: encodeManifest(entries),
    entries,
    top,
    roots: listed.map(({ root, byGit }) => ({ root, at: inTree(top, root), byGit })),
    filesRead,
    fileOf: ({ path: at }) => found.get(at)?.file ?? path.join(top, at),
  };
}

/** A file or link that exists. */
interface Found {
  readonly root: string;
  /** The path in the tree, and the path in the root. */
  readonly path: string;
  readonly name: string;
  readonly file: string;
  readonly stats: Stats;
  readonly link?: string;
}

/** Looks at a listed path. Returns undefined if it does not exist any more. */
function lookAt(
  root: string,
  inTreePath: string,
  name: string,
  file: string,
  known: ReadonlyMap<string, Stats>,
): Found | undefined {
  const stats = known.get(file) ?? lstatSync(file, { throwIfNoEntry: false });
  // Git lists removed files until the removal is committed, and folders as places of repositories that are not checked out.
  if (stats === undefined || stats.isDirectory()) return undefined;
  const why = refusePath(inTreePath);
  if (why !== undefined) throw refuseFile(root, name, `${why}; rename or exclude it`);
  const found = { root, path: inTreePath, name, file, stats };
  if (stats.isFile()) return found;
  if (stats.isSymbolicLink()) return { ...found, link: readlinkSync(file) };
  throw refuseFile(root, name, `it is ${kindOf(stats)}, which has no content that can be copied; exclude it`);
}

function kindOf(stats: Stats): string {
  if (stats.isSocket()) return "a socket";
  if (stats.isFIFO()) return "a named pipe";
  return stats.isBlockDevice() || stats.isCharacterDevice() ? "a device" : "neither a file nor a folder nor a link";
}

/** Removes files that git still lists in a folder which a link has replaced. */
function removeBehindLinks(found: Map<string, Found>): void {
  const links = new Set([...found.values()].filter(({ link }) => link !== undefined).map(({ path: at }) => at));
  if (links.size === 0) return;
  for (const at of found.keys()) {
    for (let slash = at.lastIndexOf("/"); slash > 0; slash = at.lastIndexOf("/", slash - 1)) {
      if (links.has(at.slice(0, slash))) found.delete(at);
    }
  }
}

/** Refuses links that lead out of the roots. On another machine, they would lead to something else. */
function checkLinks(found: ReadonlyMap<string, Found>, places: readonly string[]): void {
  for (const { root, path: at, name, link } of found.values()) {
    if (link === undefined) continue;
    const followed = followLink(at, (target) => found.get(target)?.link);
    const isInside = "path" in followed && places.some((place) => place === "" || isIn(place, followed.path));
    if (isInside) continue;
    const why = "refused" in followed ? followed.refused : "it leads out of the roots";
    throw refuseFile(
      root,
      name,
      `the link to "${link}" is not safe: ${why}; exclude it, or link to a file in the roots`,
    );
  }
}

function isIn(folder: string, inner: string): boolean {
  return inner === folder || inner.startsWith(`${folder}/`);
}

/** The number of times that a file is read which changes meanwhile. */
const ATTEMPTS = 3;

/** Reads a file. Returns undefined if it is removed meanwhile. */
async function readFile(found: Found, memory: ScanMemory, pace: Pace): Promise<RememberedFile | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const digests: string[] = [];
    const sizes: number[] = [];
    try {
      const read = await readChunks(found.file, pace, (chunk) => {
        digests.push(digestOf(chunk));
        sizes.push(chunk.length);
      });
      if (read === undefined) continue;
      const content = { digests: joinDigests(digests), sizes };
      memory.add(found.file, { stamp: read.stamp, mode: read.mode, device: found.stats.dev, content });
      return content;
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      const why = code === "EACCES" ? "permission denied" : message;
      throw refuseFile(
        found.root,
        found.name,
        `it cannot be read: ${why}; exclude it, or change its permissions`,
        cause,
      );
    }
  }
  throw new SyncError(
    "changed",
    `cannot scan ${found.root}: ${found.name} has changed each of the ${ATTEMPTS} times that it was read; exclude it, or stop the ` +
      `program that writes it`,
    { path: found.name },
  );
}

function refuseFile(root: string, name: string, why: string, cause?: unknown): SyncError {
  const options = { path: name, ...(cause === undefined ? {} : { cause }) };
  return new SyncError("entry-refused", `cannot scan ${root}: ${name} is refused: ${why}`, options);
}

/** Returns the roots that are not inside of others, each once. */
function withoutNested(roots: readonly string[]): string[] {
  const unique = [...new Set(roots)];
  return unique.filter((root) => !unique.some((other) => other !== root && contains(other, root)));
}

/** Returns the folder that contains all roots. Their places in the tree are relative to it, so that they find each other. */
function commonFolder(roots: readonly string[]): string {
  let [common = "."] = roots;
  for (const root of roots) while (!contains(common, root)) common = path.dirname(common);
  return common;
}

function inTree(top: string, file: string): string {
  return path.relative(top, file).replaceAll(path.sep, "/");
}

function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "";
  }
}
