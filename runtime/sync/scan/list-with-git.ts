/** Lists a root as git sees it: tracked files, and new files that git does not ignore. */
import { spawn } from "node:child_process";
import { SyncError } from "../sync-error.js";
import { damagedName, isUtf8, mayBeDamaged } from "./name-bytes.js";

/** Is called with each path. Those of nested repositories are their folders, most of them with a slash at the end. */
export type Visit = (path: string) => void;

/**
 * Lists a root with git.
 *
 * @param isExcluded returns whether a path is left out
 * @returns false if the root is not in a work tree of git, is ignored as a whole, or git is not installed
 * @throws {SyncError} if git fails for another reason; a listing without git would contain ignored files
 */
export async function listWithGit(root: string, isExcluded: (path: string) => boolean, visit: Visit): Promise<boolean> {
  let listed = 0;
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { code, complaint } = await git(root, args, (bytes) => {
    const path = bytes.toString();
    listed++;
    if (isExcluded(path.endsWith("/") ? path.slice(0, -1) : path)) return;
    if (mayBeDamaged(path) && !isUtf8(bytes)) throw damagedName(root, bytes);
    visit(path);
  });
  if (code === undefined || /not a git repository|must be run in a work tree/.test(complaint)) return false;
  if (code !== 0) {
    throw new SyncError(
      "list-failed",
      `cannot scan ${root}: git could not list its files: ${complaint.trim() || `git ended with code ${code}`}`,
      { path: root },
    );
  }
  if (listed > 0) return true;
  // The user means the files of a folder that is ignored as a whole.
  const ignored = await git(root, ["check-ignore", "-q", "."], () => {});
  return ignored.code !== 0;
}

/** The variables by which a hook of git, for instance, makes git look at another repository. */
const PLACE_VARIABLES = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"];

/**
 * Runs git, and calls `visit` with each part of its output that ends with a NUL.
 *
 * @returns the exit code, undefined if git is not installed, and what git has complained about
 */
async function git(
  root: string,
  args: readonly string[],
  visit: (bytes: Buffer) => void,
): Promise<{ readonly code: number | null | undefined; readonly complaint: string }> {
  const env: NodeJS.ProcessEnv = { ...process.env, LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0" };
  for (const name of PLACE_VARIABLES) delete env[name];
  const child = spawn("git", args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((resolve, reject) => {
    let complaint = "";
    let rest: Buffer = Buffer.alloc(0);
    child.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") resolve({ code: undefined, complaint: "" });
      else reject(error);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    child.stdout.on("data", (chunk: Buffer) => {
      try {
        rest = splitAtNul(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), visit);
      } catch (error) {
        child.kill();
        reject(error);
      }
    });
    child.on("close", (code) => resolve({ code, complaint }));
  });
}

/** Calls `visit` with the parts of `bytes` that end with a NUL, and returns the rest. */
function splitAtNul(bytes: Buffer, visit: (bytes: Buffer) => void): Buffer {
  let start = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
    visit(bytes.subarray(start, end));
    start = end + 1;
  }
  return bytes.subarray(start);
}
