/**
 * Programs of others that tests need: to compare ours with, and to lose packets. `.ci/peers.mjs` puts them there. Where one is missing, tests that need it
 * are left out, unless everything is to be tested: then its absence is an error.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

export type Peer = "protoc" | "capnp" | "buf" | "nft";

/**
 * @returns the absolute path of a program; undefined where it is not installed
 * @throws Error instead, when VICEROY_PEERS is "required"
 */
export function peer(name: Peer): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const places = [path.join(root, ".peers/bin"), path.join(root, "node_modules/.bin"), ...folders];
  const found = places.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
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
