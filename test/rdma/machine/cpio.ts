/**
 * Archives of cpio's "newc" format (man 5 cpio), which is what Linux takes its first file system from. Writes folders and
 * files; nothing else.
 */

export interface Entry {
  /** Without a leading slash; folders stand before what is in them. */
  readonly name: string;
  /** Absent: a folder. */
  readonly bytes?: Uint8Array;
  readonly executable?: boolean;
}

const folderMode = 0o040_755;
const fileMode = 0o100_644;
const programMode = 0o100_755;

/** @returns the archive, with its end mark */
export function cpio(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = [];
  for (const [index, entry] of entries.entries()) parts.push(...partsOf(entry, index + 1));
  parts.push(...partsOf({ name: "TRAILER!!!", bytes: new Uint8Array(0) }, 0));
  return Buffer.concat(parts);
}

function partsOf({ name, bytes, executable = false }: Entry, inode: number): Buffer[] {
  const mode = bytes === undefined ? folderMode : executable ? programMode : fileMode;
  const size = bytes?.length ?? 0;
  // inode, mode, uid, gid, links, mtime, size, device (2), device meant (2), length of the name with its NUL, checksum
  const fields = [inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, Buffer.byteLength(name) + 1, 0];
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, "0")).join("")}${name}\0`);
  return [padded(header), padded(Buffer.from(bytes ?? []))];
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}
