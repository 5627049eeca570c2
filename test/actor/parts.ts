/** Parts of an actor without a process: lanes that note what is sent on them, and turns of messages that came by them. */
import type { ActorCell } from "../../runtime/actor/cell/actor-cell.js";
import type { Handler } from "../../runtime/actor/cell/message-handler.js";
import { Turn } from "../../runtime/actor/cell/turn.js";
import { type AnyTurn, currentTurn } from "../../runtime/actor/context.js";
import { readCallError } from "../../runtime/actor/delivery/error-codec.js";
import { DeliveryError } from "../../runtime/actor/errors.js";
import type { DropDetector } from "../../runtime/actor/proc/drop-watch.js";
import type { Proc } from "../../runtime/actor/proc/proc.js";
import { systemRandom } from "../../runtime/link/clock.js";
import { FrameKind } from "../../runtime/link/frame/frame.js";
import type { MessageExtension } from "../../runtime/link/frame/message-extension.js";
import type { Lane } from "../../runtime/link/inbound/lane.js";
import { TraceSource } from "../../runtime/link/trace-context.js";
import { Point } from "../../runtime/shape/index.js";
import type { EndpointDescriptor } from "../../runtime/wire/descriptor.js";
import { Reader } from "../../runtime/wire/reader.js";
import { Writer } from "../../runtime/wire/writer.js";
import { ManualClock } from "../link/resumable/cut-world.js";

/** A clock that stands still, and whose event loop turns when it is told. */
export class StillClock extends ManualClock {
  readonly soonTasks: (() => void)[] = [];

  override nextTurn(task: () => void): void {
    this.soonTasks.push(task);
  }

  /** Runs what waits for the next turn of the event loop. @returns how much that was */
  turn(): number {
    const tasks = this.soonTasks.splice(0);
    for (const task of tasks) task();
    return tasks.length;
  }
}

export interface Message extends Partial<Omit<EndpointDescriptor, "args" | "timeout">> {
  readonly lane?: Lane;
  /** 0: nobody waits for an answer. */
  readonly call?: number;
  readonly size?: number;
  readonly slot?: number;
  readonly args?: readonly unknown[];
  readonly extension?: Partial<MessageExtension>;
}

/** How many bytes each item of a stream takes. */
export const ITEM_BYTES = 10;

/** An actor, `counters[1]`, that is only what its turns need, and what has been sent to its callers. */
export class Parts {
  readonly clock = new StillClock();
  /** What was sent by any lane, in order. */
  readonly told: string[] = [];
  /** Values that no item of a stream may be. */
  readonly refused = new Set<unknown>();
  readonly lane = this.newLane("root");
  readonly cell: ActorCell;

  constructor() {
    const proc = {
      clock: this.clock,
      id: 9n,
      context: { id: "0000000000000009", rank: 0 },
      traces: new TraceSource(systemRandom),
      drops: { watch: () => {}, unwatch: () => {}, suspectDropped: () => {} } satisfies Partial<DropDetector>,
    } satisfies Partial<Record<keyof Proc, unknown>>;
    this.cell = {
      proc,
      name: "counters[1]",
      mesh: 77n,
      token: [77, 1],
      spec: { extent: { gpus: 2 } },
      context: { id: { rank: 1 }, name: "counters", rank: new Point({ gpus: 2 }, 1) },
      isAwaitedBy: ([first]: readonly [number, number]) => first === 4,
      instance: {},
    } satisfies Partial<Record<keyof ActorCell, unknown>> as unknown as ActorCell;
  }

  /** @param credit how far a stream may be ahead */
  newLane(name: string, credit: { streamItems: number; streamBytes: number } = { streamItems: 1e6, streamBytes: 1e6 }) {
    const tell = (what: string): void => void this.told.push(name === "root" ? what : `${name}: ${what}`);
    const link = {
      streams: new Map<number, unknown>(),
      extents: [undefined, { hosts: 4 }],
      sendReply: (kind: number, call: number, credited: boolean, _codec: unknown, value: unknown): number => {
        if (this.refused.has(value)) throw new TypeError(`cannot encode ${String(value)}`);
        const what = kind === FrameKind.item ? "item" : "answer";
        tell(`${what} ${call}: ${String(value)}${credited ? ", credited" : ""}`);
        return ITEM_BYTES;
      },
      sendError: (call: number, credited: boolean, write: (w: Writer) => void): void => {
        const w = new Writer(512);
        write(w);
        const bytes = w.copy(0);
        const r = new Reader();
        r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
        const error = readCallError(r);
        const what = error instanceof DeliveryError ? `${error.reason}: ` : `thrown by ${error.actor}: `;
        tell(`error ${call}: ${what}${error.message}${credited ? ", credited" : ""}`);
      },
      sendEnd: (call: number): void => tell(`end ${call}`),
      sendBounce: (_lane: number, slot: number, error: DeliveryError): void => tell(`back ${slot}: ${error.message}`),
    };
    const lane = {
      link,
      id: 3,
      isOpen: true,
      credit,
      sender: { universe: 1n, proc: 8n, mesh: 6n, rank: 2, incarnation: 0, name },
      consumed: (size: number): void => tell(`credit ${size}`),
    };
    return lane as unknown as Lane;
  }

  /** A message whose handler is `method`, by default one that has come by the lane of `root`. */
  turn(method: (...args: never[]) => unknown, message: Message = {}): Turn {
    const { lane = this.lane, call = 0, size = 8, slot = 0, args = [], extension, ...options } = message;
    const endpoint = { name: "increment", concurrent: false, respond: false, stream: false, ...options };
    const handler = {
      endpoint,
      method,
      creditWithAnswer: endpoint.concurrent === false && !endpoint.respond && !endpoint.stream,
      result: endpoint.result,
      reply: FrameKind.reply,
      item: FrameKind.item,
    } as unknown as Handler;
    const extended =
      extension === undefined
        ? undefined
        : { rank: 0, extent: 0, timeout: 0, trace: undefined, chain: [], ...extension };
    return new Turn(this.cell, lane, slot, handler, call, args, size, extended);
  }
}

/** The handler of a message that ends when it is told. */
export class Held {
  readonly promise: Promise<unknown>;
  resolve: (value?: unknown) => void = () => {};
  reject: (error: unknown) => void = () => {};
  /** The turn in which it was called; undefined: it was not. */
  turn: AnyTurn | undefined;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  readonly method = (): Promise<unknown> => {
    this.turn = currentTurn();
    return this.promise;
  };

  get begun(): boolean {
    return this.turn !== undefined;
  }
}

/** Lets everything run that waits for promises which have settled. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
