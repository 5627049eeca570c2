/**
 * The daemon of a host as one file: what `viceroy host` and the processes that it starts need, so that a host needs
 * nothing but Node.js. The starter unpacks it on the host (starter/install-daemon.ts).
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { version } from "../kernel.js";
import type { ArchiveOrder } from "./starter/starter-order.js";

/** The files of dist/ that the daemon and its processes load, besides those for programs in TypeScript. */
const runtimeNames = [
  "runtime.cjs",
  "runtime-rest.cjs",
  "load.cjs",
  "boot.cjs",
  "job-credentials.mjs",
  "sync.mjs",
  "websocket.mjs",
];
const typescriptFolder = "typescript";

export interface DaemonArchive {
  /** The compressed bytes. */
  readonly bytes: Buffer;
  readonly order: ArchiveOrder;
}

/** Reads the files of an installation. @param dist the URL of its folder */
export function makeDaemonArchive(dist: URL): DaemonArchive {
  const loaders = readdirSync(new URL(`${typescriptFolder}/`, dist)).filter((name) => name.endsWith(".js"));
  const names = [...runtimeNames, ...loaders.sort().map((name) => `${typescriptFolder}/${name}`)];
  const contents = names.map((name) => readFileSync(new URL(name, dist)));
  const index = contents.map(({ length }, i) => ({ name: names[i]!, length }));
  const unpacked = Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...contents]);
  // Programs load this module with `viceroy/job`, and few of them submit a job that needs the archive.
  const { brotliCompressSync, constants }: typeof import("node:zlib") = createRequire(import.meta.url)("node:zlib");
  // More effort takes longer than the bytes that it saves take on any network.
  const bytes = brotliCompressSync(unpacked, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const hash = createHash("sha256").update(unpacked).digest("hex");
  return { bytes, order: { version, hash, length: bytes.length } };
}
