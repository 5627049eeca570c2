/** Finds out which C library the running Node.js uses. An addon can be loaded only with the one that it was built for. */
import { closeSync, openSync, readSync } from "node:fs";
import process from "node:process";

let musl: boolean | undefined;

/** Returns whether Node.js uses musl, as on Alpine Linux, and not glibc. Reads the program once per thread. */
export function usesMusl(): boolean {
  musl ??= process.platform === "linux" && loaderOf(process.execPath).includes("/ld-musl-");
  return musl;
}

/** The type of the program header that contains the path of the loader, PT_INTERP of ELF. */
const loaderType = 3;

/**
 * Returns the path of a program's dynamic loader, such as `/lib/ld-musl-x86_64.so.1`, or an empty text if the program
 * cannot be read or has none. Platforms with packages have ELF files of 64 bits in little endian.
 */
function loaderOf(program: string): string {
  let file: number | undefined;
  try {
    file = openSync(program, "r");
    const header = readAt(file, 0, 64);
    const size = header.readUInt16LE(54);
    const headers = readAt(file, Number(header.readBigUInt64LE(32)), size * header.readUInt16LE(56));
    for (let at = 0; at < headers.length; at += size) {
      if (headers.readUInt32LE(at) !== loaderType) continue;
      const [offset, length] = [8, 32].map((field) => Number(headers.readBigUInt64LE(at + field)));
      return readAt(file, offset!, length!).toString("latin1");
    }
    return "";
  } catch {
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, position);
  return bytes;
}
