/**
 * Sends the output of one driver's processes to the driver: in order, no faster than the driver takes it, and without
 * blocking a process. The queue is bounded; lines beyond the limit are dropped and counted.
 */
import type { ProcessOutput } from "../../../generated/proc-agent.js";
import type { ProcId } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";

/** Maximum number of bytes that wait for a driver. Later lines are dropped. */
const maxBacklogBytes = 16 * 1024 * 1024;
/** Maximum number of bytes of a message, unless a single line is longer. */
const maxMessageBytes = 128 * 1024;

/** The driver as the receiver of output. */
export interface OutputReceiver {
  /** Sends output to the driver. Resolves when the driver has room for more. Never rejects. */
  receiveOutput(output: ProcessOutput): PromiseLike<unknown>;
  /** Tells the driver that all output of a process has been sent. */
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
  /** Waiting lines, and the ids of processes after their last line. */
  #pending: (PendingOutput | ProcId)[] = [];
  #bytes = 0;
  readonly #dropped = new Map<string, number>();
  #sending = false;
  #closed = false;

  constructor(clock: Clock, target: OutputReceiver) {
    this.#clock = clock;
    this.#target = target;
  }

  /** Queues a line that a process has printed. */
  addLine(proc: ProcId, stderr: boolean, text: string): void {
    if (this.#closed) return;
    const key = `${proc} ${stderr}`;
    if (this.#bytes > maxBacklogBytes) {
      this.#dropped.set(key, (this.#dropped.get(key) ?? 0) + 1);
      return;
    }
    const dropped = this.#dropped.get(key) ?? 0;
    this.#dropped.delete(key);
    // In UTF-8 a line of n characters has at least n bytes; a more exact count is not needed.
    const bytes = text.length + 1;
    this.#bytes += bytes;
    const last = this.#pending.at(-1);
    if (typeof last === "object" && dropped === 0 && canAppend(last, proc, stderr, bytes)) {
      last.lines.push(text);
      last.bytes += bytes;
    } else this.#pending.push({ proc, stderr, lines: [text], bytes, dropped });
    this.#sendSoon();
  }

  /** Marks the end of a process's output. */
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

  /** Drops all output, because it cannot be sent to the driver any more. */
  close(): void {
    this.#closed = true;
    this.#pending = [];
  }

  /** Sends after this turn of the event loop, so that its lines share messages. */
  #sendSoon(): void {
    if (this.#sending) return;
    this.#sending = true;
    this.#clock.nextTurn(() => void this.#send());
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
