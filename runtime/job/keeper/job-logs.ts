/** Reads the log files of hosts, and follows them while they grow. */
import { createReadStream, existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as pause } from "node:timers/promises";
import type { HostPlace } from "../mesh-spec.js";
import type { JobLogLine } from "../provider.js";

/** Time in ms between two looks at files that are followed. */
const followMs = 200;
const readBytes = 64 * 1024;

/** A log file of a host, or of the command of a batch job. */
interface LogFile extends Partial<HostPlace> {
  readonly file: string;
}

/**
 * Reads log files, each from its beginning.
 * @param isOver returns whether nothing is written any more; undefined to read what is there only
 */
export async function* readLogs(
  files: readonly LogFile[],
  isOver: (() => Promise<boolean>) | undefined,
  signal: AbortSignal,
): AsyncGenerator<JobLogLine, void> {
  for (const { file, ...place } of files) yield* readRotated(`${file}.1`, place);
  const tails = files.map((file) => new LogTail(file));
  try {
    for (;;) {
      const isLast = isOver === undefined || (await isOver());
      for (const tail of tails) yield* tail.readNew(isLast);
      if (isLast || signal.aborted) return;
      await pause(followMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    for (const tail of tails) await tail.close();
  }
}

/** Reads the file from before the rotation, if there is one. */
async function* readRotated(file: string, place: Partial<HostPlace>): AsyncGenerator<JobLogLine, void> {
  if (!existsSync(file)) return;
  // It takes a millisecond to load, and few programs read logs.
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: createReadStream(file) })) yield { ...place, line };
}

/** A log file that grows. When it has been rotated, reading goes on in the new file. */
class LogTail {
  readonly #place: Partial<HostPlace>;
  readonly #file: string;
  readonly #decoder = new StringDecoder("utf8");
  #handle: FileHandle | undefined;
  #position = 0;
  #partial = "";

  constructor({ file, ...place }: LogFile) {
    this.#place = place;
    this.#file = file;
  }

  async *readNew(isLast: boolean): AsyncGenerator<JobLogLine, void> {
    for (;;) {
      for await (const text of this.#chunks()) {
        const lines = (this.#partial + text).split("\n");
        this.#partial = lines.pop()!;
        for (const line of lines) yield { ...this.#place, line };
      }
      if (!(await this.#openNext())) break;
    }
    if (!isLast || this.#partial === "") return;
    yield { ...this.#place, line: this.#partial };
    this.#partial = "";
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async *#chunks(): AsyncGenerator<string, void> {
    const buffer = Buffer.allocUnsafe(readBytes);
    while (this.#handle !== undefined) {
      const { bytesRead } = await this.#handle.read(buffer, 0, readBytes, this.#position);
      if (bytesRead === 0) return;
      this.#position += bytesRead;
      yield this.#decoder.write(buffer.subarray(0, bytesRead));
    }
  }

  /** Opens the file, or the new file if the open one has been rotated away. @returns whether there is another one */
  async #openNext(): Promise<boolean> {
    const next = await open(this.#file).catch(() => undefined);
    if (next === undefined) return false;
    if (this.#handle !== undefined && (await next.stat()).ino === (await this.#handle.stat()).ino) {
      await next.close();
      return false;
    }
    await this.close();
    this.#handle = next;
    this.#position = 0;
    return true;
  }
}
