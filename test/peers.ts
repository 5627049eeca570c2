/**
 * Finds programs of other projects that tests need. `.ci/peers.mjs` installs them. Where a program is missing, the tests
 * that need it are skipped, unless VICEROY_PEERS is "required": then its absence is an error.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

/** The folder into which `.ci/peers.mjs` unpacks packages of Debian. */
export const unpackedPeers = path.join(root, ".peers");

export type Peer =
  | "protoc"
  | "capnp"
  | "buf"
  | "nft"
  | "nginx"
  | "faketime"
  | "chromium-headless-shell"
  | "sshd"
  | "ssh"
  | "ssh-keygen"
  | "fish"
  | "tcsh"
  | "helm";

/** Programs that do the same. */
const substitutes: Partial<Record<Peer, readonly string[]>> = {
  "chromium-headless-shell": ["chromium", "google-chrome"],
};

/**
 * @returns the absolute path of a program; undefined where it is not installed
 * @throws Error instead, when VICEROY_PEERS is "required"
 */
export function peer(name: Peer): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const places = [path.join(root, ".peers/bin"), path.join(root, "node_modules/.bin"), ...folders];
  const names = [name, ...(substitutes[name] ?? [])];
  const found = names.flatMap((program) => places.map((folder) => path.join(folder, program))).find(existsSync);
  if (found !== undefined || process.env["VICEROY_PEERS"] !== "required") return found;
  throw new Error(
    `cannot find ${name}: expected it below .peers, in node_modules or on the PATH. Run \`npm run peers\``,
  );
}

export interface PeerRun {
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs a peer that is there. Its output is bytes. */
export function runPeer(
  name: Peer,
  args: readonly string[],
  options: { cwd?: string; input?: Uint8Array } = {},
): PeerRun {
  const program = peer(name);
  if (program === undefined) throw new Error(`cannot run ${name}: it is not installed. Run \`npm run peers\``);
  const { status, stdout, stderr, error } = spawnSync(program, args, { ...options, maxBuffer: 1 << 28 });
  if (error !== undefined) throw new Error(`cannot run ${name}: ${error.message}`, { cause: error });
  return { status, stdout, stderr: stderr.toString() };
}
