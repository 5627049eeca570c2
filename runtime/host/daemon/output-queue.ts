/**
 * What the processes of one driver print, on its way there: in order, no faster than the driver takes it, and never holding a
 * process up. What waits is bounded; what is beyond that is dropped and counted.
 */
import type { ProcessOutput } from "../../../generated/host-agent.js";
import type { ProcId } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";

/** As many bytes may wait for a driver that does not take them; later lines are dropped. */
const maxBacklogBytes = 16 * 1024 * 1024;
/** Bytes of one message, unless a single line has more. */
const maxMessageBytes = 128 * 1024;

export interface OutputReceiver {
  /** Resolves when the driver has room for more. Never rejects. */
  receiveOutput(output: ProcessOutput): PromiseLike<unknown>;
  /** All that a process has printed has been told. */
  receiveEnd(proc: ProcId): void;
}

interface PendingOutput {
  readonly proc: ProcId;
  readonly stderr: boolean;
  readonly lines: string[];
  bytes: number;
  readonly dropped: number;
}

export class OutputQueue {
  readonly #clock: Clock;
  readonly #target: OutputReceiver;
  /** Lines, and the processes that have printed their last. */
  #pending: (PendingOutput | ProcId)[] = [];
  #bytes = 0;
  readonly #dropped = new Map<string, number>();
  #sending = false;
  #closed = false;

  constructor(clock: Clock, target: OutputReceiver) {
    this.#clock = clock;
    this.#target = target;
  }

  /** A process has printed a line. */
  addLine(proc: ProcId, stderr: boolean, text: string): void {
    if (this.#closed) return;
    const key = `${proc} ${stderr}`;
    if (this.#bytes > maxBacklogBytes) {
      this.#dropped.set(key, (this.#dropped.get(key) ?? 0) + 1);
      return;
    }
    const dropped = this.#dropped.get(key) ?? 0;
    this.#dropped.delete(key);
    // In UTF-8 no line of n characters has less than n bytes; what waits need not be counted more exactly.
    const bytes = text.length + 1;
    this.#bytes += bytes;
    const last = this.#pending.at(-1);
    if (typeof last === "object" && dropped === 0 && canAppend(last, proc, stderr, bytes)) {
      last.lines.push(text);
      last.bytes += bytes;
    } else this.#pending.push({ proc, stderr, lines: [text], bytes, dropped });
    this.#sendSoon();
  }

  /** A process has printed its last line. */
  endProcess(proc: ProcId): void {
    if (this.#closed) return;
    for (const stderr of [false, true]) {
      const dropped = this.#dropped.get(`${proc} ${stderr}`);
      this.#dropped.delete(`${proc} ${stderr}`);
      if (dropped !== undefined) this.#pending.push({ proc, stderr, lines: [], bytes: 0, dropped });
    }
    this.#pending.push(proc);
    this.#sendSoon();
  }

  /** There is nobody to tell. */
  close(): void {
    this.#closed = true;
    this.#pending = [];
  }

  /** What is printed in one turn of the event loop goes together. */
  #sendSoon(): void {
    if (this.#sending) return;
    this.#sending = true;
    this.#clock.soon(() => void this.#send());
  }

  async #send(): Promise<void> {
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      if (typeof next === "bigint") this.#target.receiveEnd(next);
      else {
        const { proc, stderr, lines, dropped, bytes } = next;
        await this.#target.receiveOutput({ proc, stderr, lines, dropped });
        this.#bytes -= bytes;
      }
    }
    this.#sending = false;
  }
}

function canAppend(last: PendingOutput, proc: ProcId, stderr: boolean, bytes: number): boolean {
  return last.proc === proc && last.stderr === stderr && last.bytes + bytes <= maxMessageBytes;
}
