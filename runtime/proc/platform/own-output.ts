/**
 * The outputs of a process that its parent reads. Output that the parent does not read in time waits in bounded memory,
 * so that printing never blocks. Lines beyond that limit are dropped and counted, as in the parent
 * (`launch/bounded-output.ts`).
 */
import { fstatSync } from "node:fs";
import type { Writable } from "node:stream";
import { maxBacklogBytes } from "../launch/bounded-output.js";

const outputs = { stdout: 1, stderr: 2 } as const;
const lineBreak = 0x0a;
const limitedOutputs = new Set<Writable>();

/**
 * Limits the outputs of this process that are sockets; the parent makes such outputs. They are still created when they
 * are first used.
 */
export function limitOwnOutputs(): void {
  for (const [name, descriptor] of Object.entries(outputs)) {
    const property = Object.getOwnPropertyDescriptor(process, name);
    if (property?.get === undefined || !isSocket(descriptor)) continue;
    const made = property.get;
    const get = (): Writable => {
      const output = made.call(process) as Writable;
      if (!limitedOutputs.has(output)) limitedOutputs.add(limitOutput(output));
      return output;
    };
    Object.defineProperty(process, name, { ...property, get });
  }
}

/** A terminal, a file or a pipe of a shell was inherited; the parent does not read such outputs. */
function isSocket(descriptor: number): boolean {
  try {
    // Without `bigint`, realpathSync of Node.js would take every later path for that of a socket, and not follow links.
    return fstatSync(descriptor, { bigint: true }).isSocket();
  } catch {
    return false;
  }
}

type WriteCallback = (error?: Error | null) => void;

/**
 * Replaces the `write` of an output by one that drops data while more than `backlog` bytes wait.
 * @returns the same output
 */
export function limitOutput<W extends Writable>(output: W, backlog: number = maxBacklogBytes): W {
  const write = output.write as (chunk: unknown, encoding?: unknown, done?: WriteCallback) => boolean;
  let dropped = 0;
  const count = (): void => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    write.call(output, `(${lines} lines dropped: they were not read in time)\n`);
  };
  output.write = ((chunk: string | Uint8Array, encoding?: unknown, done?: WriteCallback): boolean => {
    if (output.writableLength <= backlog || chunk.length === 0) {
      count();
      return write.call(output, chunk, encoding, done);
    }
    if (dropped === 0) output.once("drain", count);
    dropped += Math.max(1, linesIn(chunk));
    const written = typeof encoding === "function" ? (encoding as WriteCallback) : done;
    if (written !== undefined) queueMicrotask(() => written());
    return false;
  }) as W["write"];
  return output;
}

function linesIn(chunk: string | Uint8Array): number {
  const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  let lines = 0;
  for (let at = bytes.indexOf(lineBreak); at !== -1; at = bytes.indexOf(lineBreak, at + 1)) lines++;
  return lines;
}

/** Resolves when all printed data has been written to the operating system. */
export async function flushOwnOutputs(): Promise<void> {
  await Promise.all(
    [...limitedOutputs].map((output) => new Promise<void>((resolve) => output.write("", () => resolve()))),
  );
}
