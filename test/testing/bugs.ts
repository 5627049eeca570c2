/**
 * Mistakes such as one makes in a protocol, each planted from outside by standing in for a method: a simulator that does
 * not find them would not find those that are in it either.
 */
import { CallFuture } from "../../runtime/actor/call-future.js";
import { Cell } from "../../runtime/actor/cell.js";
import { Future } from "../../runtime/actor/future.js";
import { Held } from "../../runtime/actor/held.js";
import { Mailbox } from "../../runtime/actor/mailbox.js";
import { PortQueue } from "../../runtime/actor/port-queue.js";
import { Proc } from "../../runtime/actor/proc.js";
import type { Turn } from "../../runtime/actor/turn.js";
import { Arrivals, type Arriving } from "../../runtime/cast/arrivals.js";
import { TreeNode } from "../../runtime/cast/node.js";
import { Tenant } from "../../runtime/host/daemon/tenant.js";
import { PendingCalls } from "../../runtime/link/calls.js";
import { Kind } from "../../runtime/link/frame.js";
import { Lane } from "../../runtime/link/lane.js";
import { LastingPipe } from "../../runtime/link/lasting/pipe.js";
import { ResendBuffer } from "../../runtime/link/lasting/resend-buffer.js";
import { Link } from "../../runtime/link/link.js";
import type { Pipe } from "../../runtime/link/pipe.js";
import { Relays } from "../../runtime/link/relay.js";
import { LocalProc } from "../../runtime/proc/local-proc.js";
import { SpawnedProcs } from "../../runtime/proc/spawned-procs.js";
import { Supervisor } from "../../runtime/supervise/supervisor.js";

type Method = (this: never, ...args: never[]) => unknown;

/** Plants a mistake. @returns what takes it away again */
type Plant = () => () => void;

/** Something stands in for a method of a class. */
function instead<C extends object, K extends keyof C>(
  prototype: C,
  name: K,
  make: (original: (...args: never[]) => unknown, times: (every: number) => boolean) => Method,
): Plant {
  return () => {
    const original = Object.getOwnPropertyDescriptor(prototype, name)!;
    let calls = 0;
    const every = (n: number): boolean => ++calls % n === 0;
    Object.defineProperty(prototype, name, { ...original, value: make(original.value, every) });
    return () => Object.defineProperty(prototype, name, original);
  };
}

const call = (original: (...args: never[]) => unknown, self: unknown, args: readonly unknown[]): unknown =>
  Reflect.apply(original, self, args);

/** Every n-th call of a method does nothing. */
function forgets<C extends object, K extends keyof C>(prototype: C, name: K, n: number): Plant {
  return instead(
    prototype,
    name,
    (original, every) =>
      function (this: unknown, ...args: unknown[]) {
        return every(n) ? undefined : call(original, this, args);
      } as Method,
  );
}

export const bugs: Readonly<Record<string, Plant>> = {
  "a message is handled twice": instead(
    Mailbox.prototype,
    "add",
    (original, every) =>
      function (this: Mailbox, turn: Turn) {
        call(original, this, [turn]);
        if (turn.call === 0 && every(40)) call(original, this, [turn]);
      } as Method,
  ),

  "a message is lost": instead(
    Cell.prototype,
    "message",
    (original, every) =>
      function (this: Cell, ...args: unknown[]) {
        if (args[2] !== 0 || !every(60)) call(original, this, args);
      } as Method,
  ),

  "a message overtakes another one": instead(Mailbox.prototype, "add", (original, every) => {
    let kept: Turn | undefined;
    let box: unknown;
    return function (this: Mailbox, turn: Turn) {
      if (kept === undefined && every(30) && turn.call === 0) {
        kept = turn;
        box = this;
        return;
      }
      call(original, this, [turn]);
      if (kept === undefined || box !== this) return;
      const late = kept;
      kept = undefined;
      call(original, this, [late]);
    } as Method;
  }),

  "an answer is lost": forgets(Link.prototype, "sendReply", 40),
  "an item of a stream is lost": instead(
    Link.prototype,
    "sendReply",
    (original, every) =>
      function (this: Link, ...args: unknown[]) {
        if (((args[0] as number) & 0xff) === Kind.item && every(40)) return 0;
        return call(original, this, args);
      } as Method,
  ),

  "a value that was sent to a port is lost": forgets(PortQueue.prototype, "message", 10),
  "a failure is not told": forgets(Supervisor.prototype, "tell", 2),

  "a failure is told twice": instead(
    Supervisor.prototype,
    "tell",
    (original, every) =>
      function (this: unknown, ...args: unknown[]) {
        if (every(2)) void call(original, this, args);
        return call(original, this, args);
      } as Method,
  ),

  "the end of a link leaves its calls waiting": instead(
    Link.prototype,
    "end",
    (original) =>
      function (this: Link, ...args: unknown[]) {
        const { all } = PendingCalls.prototype;
        PendingCalls.prototype.all = () => [];
        try {
          return call(original, this, args);
        } finally {
          PendingCalls.prototype.all = all;
        }
      } as Method,
  ),

  "the end of a relayed connection is not passed on": forgets(Relays.prototype, "linkEnded", 1),
  "who consumes a stream gives no credit": forgets(Link.prototype, "sendStreamCredit", 1),
  "credit is not given back": forgets(Lane.prototype, "consumed", 2),
  "a process outlives its maker": forgets(LocalProc.prototype, "peerDown", 1),
  "the end of a process is not noticed": forgets(SpawnedProcs.prototype, "ended", 2),
  "messages that came before their actor are dropped": forgets(Held.prototype, "release", 3),
  "the end of a stream is not told": forgets(Link.prototype, "sendEnd", 1),
  "the mailbox stops after a message": forgets(Mailbox.prototype, "ended", 50),
  "a timeout never comes": forgets(CallFuture.prototype, "guard", 1),
  "a call that was cancelled goes on": forgets(Future.prototype, "cancel", 1),
  "who held a port has died, and its receiver waits": forgets(PortQueue.prototype, "peerDown", 1),

  "what was not confirmed is not sent again": instead(
    ResendBuffer.prototype,
    "rewind",
    (original) =>
      function (this: ResendBuffer) {
        call(original, this, [this.end]);
      } as Method,
  ),
  "bytes are confirmed that have not come": instead(
    ResendBuffer.prototype,
    "confirm",
    (original) =>
      function (this: ResendBuffer, offset: number) {
        call(original, this, [Math.min(this.sent, offset + 64)]);
      } as Method,
  ),
  "bytes that come again are let through": instead(
    LastingPipe.prototype,
    "resume",
    (original) =>
      function (this: LastingPipe, pipe: Pipe, offset: number) {
        call(original, this, [pipe, offset]);
      } as Method,
  ),
  "a host keeps the processes of a driver that has vanished": forgets(Tenant.prototype, "abandoned", 1),
  "nobody is told that there is no way to a process": forgets(Link.prototype, "unreachable", 1),
  "whether there is such an actor is not answered": forgets(Proc.prototype, "asked", 1),
  "a cast that comes again is taken again": instead(
    Arrivals.prototype,
    "arrive",
    (original, every) =>
      function (this: Arrivals, cast: Arriving) {
        if (every(15)) cast.post(this);
        return call(original, this, [cast]);
      } as Method,
  ),
  "answers from below are lost": forgets(TreeNode.prototype, "answers", 5),
  "nobody tells that a proc of a tree is lost": forgets(TreeNode.prototype, "lost", 1),
  "what was cast is not counted as taken": forgets(TreeNode.prototype, "taken", 2),
  "direct messages do not wait for casts": forgets(Arrivals.prototype, "synced", 3),
};
