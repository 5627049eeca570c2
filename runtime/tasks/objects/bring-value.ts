/** Brings an encoded value from another machine to this one, piece by piece. When a source fails, another one gives the rest. */
import type { ObjectPiece, ObjectSource } from "../../../generated/tasks.js";
import { ObjectLostError } from "../errors.js";
import type { Clock } from "../kernel.js";
import type { HeldValue } from "./held-value.js";
import { IncomingValue } from "./incoming-value.js";
import type { FileKeeper } from "./stored-file.js";

/** The number of pieces that are asked for at a time: one is written while others are under way. */
const WINDOW = 4;
/** The time in ms in which a piece must arrive. A link that carries 300 kbit/s is fast enough. */
const STALL_MS = 30_000;
/** The number of sources that may fail, one after the other, before a piece arrives. */
const TRIES = 5;

/** A place from which a value can be read. */
export interface PieceSource extends Pick<ObjectSource, "size" | "head"> {
  read(index: number): Promise<ObjectPiece>;
}

/** The parts of a transfer. */
export interface BringOptions {
  /** The name of the task, for messages. */
  readonly label: string;
  readonly clock: Clock;
  /** Returns a source. It is called again when the last one has failed. Its error ends the transfer. */
  readonly source: () => Promise<PieceSource>;
  /** Counts the value if this process becomes its owner. */
  readonly keeper: FileKeeper | undefined;
  /** Called before the first piece is asked for. */
  readonly begun?: (value: IncomingValue) => void;
}

/** @returns the value, in the memory of the machine if this thread can share memory */
export async function bringValue({ label, clock, source, keeper, begun }: BringOptions): Promise<HeldValue> {
  let incoming: IncomingValue | undefined;
  let failures = 0;
  for (;;) {
    let before = 0;
    try {
      const from = await source();
      if (incoming === undefined) {
        incoming = new IncomingValue(from, keeper);
        begun?.(incoming);
      }
      before = incoming.received;
      try {
        await pull(incoming, from, clock);
        return incoming.finish();
      } catch (error) {
        failures = incoming.received > before ? 1 : failures + 1;
        if (failures === TRIES) throw unreadable(label, error as Error);
      }
    } catch (error) {
      incoming?.fail(error as Error);
      throw error;
    }
  }
}

async function pull(incoming: IncomingValue, { read }: PieceSource, clock: Clock): Promise<void> {
  const asked: Promise<ObjectPiece>[] = [];
  let next = incoming.received;
  while (incoming.received < incoming.count) {
    while (asked.length < WINDOW && next < incoming.count) {
      const piece = read(next++);
      // An earlier one can fail first. This one then concerns nobody.
      piece.catch(() => {});
      asked.push(piece);
    }
    incoming.add(await inTime(asked.shift()!, clock));
  }
}

function inTime<T>(promise: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(STALL_MS, () => reject(new Error(`no piece arrived within ${STALL_MS} ms`)), true);
    promise.then(resolve, reject).finally(() => timer.cancel());
  });
}

function unreadable(label: string, cause: Error): ObjectLostError {
  return new ObjectLostError(
    `cannot read the result of ${label}: ${TRIES} tries to read it from other processes have failed, the last one because of this: ${cause.message}`,
    { cause },
  );
}
