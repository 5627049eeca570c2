/** Installs the daemon on a host: a folder of the user's cache that is named by the hash of its content. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { brotliDecompressSync } from "node:zlib";
import { cacheDirectory, readPrivateFile } from "../../../cache/private-files.js";
import type { ArchiveOrder } from "./starter-order.js";

/** The file of the folder that lists the other ones. */
const indexName = "index.json";

interface IndexEntry {
  readonly name: string;
  readonly length: number;
}

/**
 * Returns the folder of the daemon. An installed one is used again if its content has the hash.
 * @param request asks for the archive, which then comes from `input`
 * @throws Error if the archive is damaged
 */
export async function installDaemon(archive: ArchiveOrder, input: Readable, request: () => void): Promise<string> {
  const { version, hash } = archive;
  const cache = cacheDirectory();
  const folder = join(cache, `${version}-${hash.slice(0, 16)}`);
  if (isInstalled(folder, hash)) return folder;
  request();
  const unpacked = unpack(await receive(input, archive.length), hash);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const unfinished = mkdtempSync(join(cache, "unfinished-"));
  try {
    writeFiles(unfinished, unpacked);
    replaceFolder(unfinished, folder, hash);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** Returns whether a folder has the daemon, and no other user could have written it. */
function isInstalled(folder: string, hash: string): boolean {
  const index = readPrivateFile(join(folder, indexName));
  if (index === undefined) return false;
  const contents = readIndex(index).map(({ name }) => readPrivateFile(join(folder, name)));
  if (contents.some((content) => content === undefined)) return false;
  return hashOf([index, ...(contents as Buffer[])]) === hash;
}

function readIndex(index: Buffer): readonly IndexEntry[] {
  try {
    return JSON.parse(index.toString()) as IndexEntry[];
  } catch {
    return [];
  }
}

/** Reads exactly as many bytes. What follows stays in the stream. */
function receive(input: Readable, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const stop = () => {
      input.off("data", take).off("end", fail);
      input.pause();
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      received += chunk.length;
      if (received < length) return;
      stop();
      const all = Buffer.concat(chunks);
      if (received > length) input.unshift(all.subarray(length));
      resolve(all.subarray(0, length));
    };
    const fail = () => {
      stop();
      reject(installError(`expected ${length} bytes, got ${received} before the end of the connection`));
    };
    input.on("data", take).on("end", fail);
    input.resume();
  });
}

function unpack(archive: Buffer, hash: string): Buffer {
  let unpacked: Buffer;
  try {
    unpacked = brotliDecompressSync(archive);
  } catch (cause) {
    throw installError("the connection has changed its bytes", { cause });
  }
  const got = hashOf([unpacked]);
  if (got !== hash) throw installError(`expected bytes with the SHA-256 ${hash}, got ${got}`);
  return unpacked;
}

function writeFiles(folder: string, unpacked: Buffer): void {
  const indexEnd = unpacked.indexOf("\n") + 1;
  const index = unpacked.subarray(0, indexEnd);
  writeFileSync(join(folder, indexName), index, { mode: 0o600 });
  let offset = indexEnd;
  for (const { name, length } of readIndex(index)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, unpacked.subarray(offset, offset + length), { mode: 0o600 });
    offset += length;
  }
}

/** Moves a complete folder to its place. Another job may do the same at the same time. */
function replaceFolder(complete: string, folder: string, hash: string): void {
  const replaced = `${complete}-replaced`;
  try {
    renameSync(folder, replaced);
  } catch {
    // There was no folder before.
  }
  try {
    renameSync(complete, folder);
  } catch (error) {
    if (!isInstalled(folder, hash)) throw error;
  }
  rmSync(replaced, { recursive: true, force: true });
}

function hashOf(parts: readonly Buffer[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

function installError(why: string, options?: ErrorOptions): Error {
  return new Error(`cannot install the daemon: ${why}`, options);
}
