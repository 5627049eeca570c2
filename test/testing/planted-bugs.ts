/**
 * Typical bugs of a protocol, each planted by replacing a method (plant-bug.ts). A simulator that misses them would
 * miss real bugs, too. Each is found within 1,000 seeds, by an invariant that it violates. `npm run sim -- --planted`
 * prints the seeds.
 */

import { CallFuture } from "../../runtime/actor/call/call-future.js";
import { Future } from "../../runtime/actor/call/future.js";
import { RankCall } from "../../runtime/actor/call/rank-call.js";
import { StreamCall } from "../../runtime/actor/call/stream-call.js";
import { ActorInbound } from "../../runtime/actor/cell/inbound.js";
import { Mailbox } from "../../runtime/actor/cell/mailbox.js";
import { StreamProducer } from "../../runtime/actor/cell/stream-producer.js";
import { Turn } from "../../runtime/actor/cell/turn.js";
import { EarlyMessages } from "../../runtime/actor/delivery/early-messages.js";
import { PortQueue } from "../../runtime/actor/port/port-queue.js";
import { Proc } from "../../runtime/actor/proc/proc.js";
import type { ActorRequest } from "../../runtime/actor/reference/actor-request.js";
import { MeshRecord } from "../../runtime/actor/reference/mesh-record.js";
import { CastRouter } from "../../runtime/cast/cast-router.js";
import { CastReceiver, CastReply } from "../../runtime/cast/receiver/cast-receiver.js";
import { OrderedArrivals, type OrderedCast } from "../../runtime/cast/receiver/ordered-arrivals.js";
import { CastSender } from "../../runtime/cast/sender/cast-sender.js";
import { LaneOrder } from "../../runtime/cast/sender/lane-order.js";
import { PendingCast } from "../../runtime/cast/sender/pending-cast.js";
import { ViewTree } from "../../runtime/cast/sender/view-tree.js";
import { TreeNode } from "../../runtime/cast/tree/tree-node.js";
import { DriverSession } from "../../runtime/host/daemon/driver-session.js";
import { FrameKind } from "../../runtime/link/frame/frame.js";
import type { RelayFrame } from "../../runtime/link/frame/relay-frame.js";
import { BlockAssembler } from "../../runtime/link/inbound/block-assembler.js";
import { Lane } from "../../runtime/link/inbound/lane.js";
import { Link } from "../../runtime/link/link.js";
import { CreditQueue } from "../../runtime/link/outbound/credit-queue.js";
import { FrameSender } from "../../runtime/link/outbound/frame-sender.js";
import { PendingCalls } from "../../runtime/link/outbound/pending-calls.js";
import { Session } from "../../runtime/link/outbound/session.js";
import { ResumablePipe } from "../../runtime/link/resumable/pipe.js";
import { ResendBuffer } from "../../runtime/link/resumable/resend-buffer.js";
import type { Pipe } from "../../runtime/link/transport/pipe.js";
import { RelayRouter } from "../../runtime/link/transport/relay/pipe.js";
import { ProcRuntime } from "../../runtime/proc/agent/proc-runtime.js";
import { FailedRanks } from "../../runtime/proc/mesh/failed-ranks.js";
import type { SpawnedActors } from "../../runtime/proc/mesh/spawned-actors.js";
import { SpawnedProcs } from "../../runtime/proc/mesh/spawned-procs.js";
import { SilenceTimer } from "../../runtime/proc/remote/silence-timer.js";
import { Supervisor } from "../../runtime/supervise/supervisor.js";
import type { Invariant } from "./invariants.js";
import { call, type Replacement, repeatEvery, replaceMethod, skipEvery } from "./plant-bug.js";
import type { PlantedBug } from "./workload.js";

type Method = (this: never, ...args: never[]) => unknown;

function bug(
  name: string,
  noticedBy: readonly Invariant[],
  seed: number,
  { replaces, plant }: Replacement,
): PlantedBug<Invariant> {
  return { name, replaces, noticedBy, seed, plant };
}

export const bugs: readonly PlantedBug<Invariant>[] = [
  bug(
    "a message is handled twice",
    ["once"],
    1,
    replaceMethod(
      Mailbox,
      "add",
      (original, every) =>
        function (this: Mailbox, turn: Turn) {
          call(original, this, [turn]);
          if (turn.call === 0 && every(40)) call(original, this, [turn]);
        } as Method,
    ),
  ),
  bug(
    "a message is lost",
    ["no gaps"],
    1,
    replaceMethod(
      ActorInbound,
      "message",
      (original, every) =>
        function (this: ActorInbound, ...args: unknown[]) {
          if (args[2] !== 0 || !every(60)) call(original, this, args);
        } as Method,
    ),
  ),
  bug(
    "a message overtakes another one",
    ["order"],
    1,
    replaceMethod(Mailbox, "add", (original, every) => {
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
  ),
  bug("an answer is lost", ["calls end"], 1, skipEvery(FrameSender, "sendReply", 40)),
  bug(
    "an item of a stream is lost",
    ["values"],
    12,
    replaceMethod(
      FrameSender,
      "sendReply",
      (original, every) =>
        function (this: FrameSender, ...args: unknown[]) {
          if (((args[0] as number) & 0xff) === FrameKind.item && every(40)) return 0;
          return call(original, this, args);
        } as Method,
    ),
  ),
  bug("a value that was sent to a port is lost", ["calls end", "values"], 2, skipEvery(PortQueue, "message", 10)),
  bug("a failure is not reported", ["told"], 6, skipEvery(Supervisor, "notifyOwner", 2)),
  bug(
    "a failure is reported twice",
    ["told once"],
    1,
    replaceMethod(
      Supervisor,
      "notifyOwner",
      (original, every) =>
        function (this: unknown, ...args: unknown[]) {
          if (every(2)) void call(original, this, args);
          return call(original, this, args);
        } as Method,
    ),
  ),
  bug(
    "the end of a link leaves its calls waiting",
    ["calls end"],
    1,
    replaceMethod(
      Link,
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
  ),
  bug("the end of a relayed connection is not passed on", ["calls end"], 3, skipEvery(RelayRouter, "linkEnded", 1)),
  bug("a consumer of a stream gives no credit", ["calls end"], 8, skipEvery(FrameSender, "sendStreamCredit", 1)),
  bug("credit is not given back", ["calls end"], 1, skipEvery(Lane, "consumed", 2)),
  bug(
    "a process outlives its parent",
    ["no orphans"],
    24,
    replaceMethod(
      ProcRuntime,
      "peerDown",
      (original) =>
        function (this: ProcRuntime, peer: bigint, reason: string) {
          if (peer !== this.parentOrSelf) call(original, this, [peer, reason]);
        } as Method,
    ),
  ),
  bug("the end of a process is not noticed", ["told"], 6, skipEvery(SpawnedProcs, "childExited", 2)),
  bug("messages that came before their actor are dropped", ["calls end"], 4, skipEvery(EarlyMessages, "release", 3)),
  bug("the end of a stream is not sent", ["calls end"], 2, skipEvery(FrameSender, "sendEnd", 1)),
  bug("the mailbox stops after a message", ["calls end"], 1, skipEvery(Mailbox, "turnEnded", 50)),
  bug("a timeout never comes", ["in time", "calls end"], 1, skipEvery(CallFuture, "guard", 1)),
  bug("a cancelled call continues", ["in time"], 1, skipEvery(Future, "cancel", 1)),
  bug(
    "a receiver waits although the holder of its port has died",
    ["calls end"],
    39,
    skipEvery(PortQueue, "peerDown", 1),
  ),
  bug(
    "unconfirmed bytes are not sent again",
    ["calls end", "answers", "told truly"],
    2,
    replaceMethod(
      ResendBuffer,
      "rewind",
      (original) =>
        function (this: ResendBuffer) {
          call(original, this, [this.end]);
        } as Method,
    ),
  ),
  bug(
    "bytes are confirmed that have not arrived",
    ["calls end", "answers", "told truly"],
    2,
    replaceMethod(
      ResendBuffer,
      "confirm",
      (original) =>
        function (this: ResendBuffer, offset: number) {
          call(original, this, [Math.min(this.sent, offset + 64)]);
        } as Method,
    ),
  ),
  bug(
    "repeated bytes are not dropped",
    ["answers", "told truly", "once"],
    2,
    replaceMethod(
      ResumablePipe,
      "resume",
      (original) =>
        function (this: ResumablePipe, pipe: Pipe, offset: number) {
          call(original, this, [pipe, offset]);
        } as Method,
    ),
  ),
  bug(
    "a host keeps the processes of a driver that has vanished",
    ["no orphans"],
    5,
    skipEvery(DriverSession, "abandon", 1),
  ),
  bug("an unreachable process is not reported", ["calls end"], 10, skipEvery(Link, "failUnreachable", 1)),
  bug("a question about an actor is not answered", ["calls end"], 8, skipEvery(Proc, "meshQueried", 1)),
  bug(
    "a repeated cast is accepted again",
    ["once"],
    1,
    replaceMethod(
      OrderedArrivals,
      "addCast",
      (original, every) =>
        function (this: OrderedArrivals, cast: OrderedCast) {
          if (every(15)) cast.post(this);
          return call(original, this, [cast]);
        } as Method,
    ),
  ),
  bug("answers of the subtree are lost", ["calls end"], 1, skipEvery(TreeNode, "answers", 5)),
  bug("the loss of a proc of a tree is not reported", ["calls end"], 1, skipEvery(TreeNode, "lost", 1)),
  bug("a handled cast is not counted", ["calls end"], 6, skipEvery(TreeNode, "taken", 2)),
  bug("direct messages do not wait for casts", ["order"], 1, skipEvery(OrderedArrivals, "syncReceived", 3)),
  // Resumable links.
  bug("a confirmation is dropped", ["calls end"], 23, skipEvery(ResumablePipe, "ack", 1)),
  bug(
    "a whole connection is sent again",
    ["answers", "told truly", "once", "calls end"],
    2,
    replaceMethod(
      ResendBuffer,
      "rewind",
      (original) =>
        function (this: ResendBuffer, offset: number) {
          call(original, this, [Math.max(this.start, offset - 256)]);
        } as Method,
    ),
  ),
  bug(
    "a replaced connection continues",
    ["answers", "told truly", "once", "calls end"],
    49,
    skipEvery(ResumablePipe, "suspend", 1),
  ),
  bug(
    "fewer bytes are confirmed than have arrived",
    ["answers", "told truly", "once", "calls end"],
    2,
    replaceMethod(
      ResumablePipe,
      "bytesReceived",
      (original) =>
        function (this: ResumablePipe) {
          return Math.max(0, (call(original, this, []) as number) - 32);
        } as Method,
    ),
  ),
  bug(
    "a lost connection is not opened again",
    ["calls end", "answers", "told truly"],
    28,
    skipEvery(ResumablePipe, "lost", 1),
  ),

  // Lanes, sessions and credit.
  bug(
    "credit is given back twice",
    ["credit"],
    2,
    replaceMethod(
      Session,
      "credited",
      (original) =>
        function (this: Session, messages: number, bytes: number) {
          call(original, this, [2 * messages, 2 * bytes]);
        } as Method,
    ),
  ),
  bug(
    "credit is forgotten",
    ["credit"],
    2,
    replaceMethod(
      Session,
      "hasCredit",
      () =>
        function (this: Session) {
          return true;
        } as Method,
    ),
  ),
  bug(
    "credit that comes with an answer is lost",
    ["calls end", "no gaps"],
    7,
    replaceMethod(
      Session,
      "credited",
      (original) =>
        function (this: Session, messages: number, bytes: number) {
          if (messages !== 1) call(original, this, [messages, bytes]);
        } as Method,
    ),
  ),
  bug(
    "a message that waits for credit is lost",
    ["no gaps", "calls end"],
    1,
    replaceMethod(
      CreditQueue,
      "add",
      (original, every) =>
        function (this: CreditQueue, entry: object) {
          if (!("slot" in entry) || !every(12)) call(original, this, [entry]);
        } as Method,
    ),
  ),
  bug("a returned message is not reported", ["no gaps"], 54, skipEvery(FrameSender, "sendBounce", 1)),
  bug("a cancellation is not sent", ["released"], 2, skipEvery(FrameSender, "sendCancel", 1)),
  bug("a stream is sent without regard to its consumer", ["released"], 2, skipEvery(StreamProducer, "leave", 1)),
  bug(
    "a large block loses a piece",
    ["calls end", "answers", "told truly"],
    12,
    skipEvery(BlockAssembler, "pieceReceived", 4),
  ),
  bug(
    "the bytes of a relayed link are lost",
    ["calls end", "answers", "told truly"],
    2,
    replaceMethod(
      RelayRouter,
      "frameReceived",
      (original, every) =>
        function (this: RelayRouter, link: Link, frame: RelayFrame) {
          if (frame.bytes.length === 0 || !every(25)) call(original, this, [link, frame]);
        } as Method,
    ),
  ),

  // Casts and trees.
  bug(
    "a cast waits for direct messages that have come",
    ["calls end"],
    3,
    skipEvery(OrderedArrivals, "releaseUpTo", 3),
  ),
  bug("a cast has no mark for earlier direct messages", ["calls end"], 3, skipEvery(LaneOrder, "markBefore", 3)),
  bug("direct messages have no mark for earlier casts", ["order"], 1, skipEvery(LaneOrder, "beforeMessage", 2)),
  bug("credit of casts leaks", ["calls end"], 1, skipEvery(CastSender, "castTaken", 4)),
  bug(
    "answers are swapped",
    ["values", "calls end"],
    257,
    replaceMethod(
      TreeNode,
      "answered",
      (original) =>
        function (this: TreeNode, seq: number, rank: number, answer: object) {
          call(original, this, [seq, rank ^ 1, answer]);
        } as Method,
    ),
  ),
  bug(
    "a repeated answer is counted again",
    ["values", "calls end"],
    34,
    replaceMethod(
      PendingCast,
      "waitsFor",
      () =>
        function (this: PendingCast) {
          return this.isCall;
        } as Method,
    ),
  ),
  bug(
    "a tree that has been replaced comes back",
    ["calls end", "once", "order", "answers"],
    225,
    replaceMethod(CastReceiver, "isNewest", () => (() => true) as Method),
  ),
  bug("handled casts are not requested", ["calls end"], 82, skipEvery(TreeNode, "flush", 1)),
  bug("a returned cast is not reported", ["no gaps"], 168, skipEvery(TreeNode, "bounced", 1)),
  bug("the end of a link below is not noticed", ["calls end"], 17, skipEvery(TreeNode, "linkEnded", 1)),
  bug("the sender of a cast waits although an actor has failed", ["calls end"], 11, skipEvery(CastReply, "failed", 1)),
  bug("a process that has ended answers no cast", ["calls end"], 17, skipEvery(CastRouter, "linkEnded", 1)),

  // Actors.
  bug(
    "two messages are handled at the same time",
    ["serial"],
    5,
    replaceMethod(
      Mailbox,
      "add",
      (original, every) =>
        function (this: Mailbox, turn: Turn) {
          const { handler } = turn;
          const { endpoint } = handler;
          if (!endpoint.concurrent && every(10)) {
            Object.assign(turn, { handler: { ...handler, endpoint: { ...endpoint, concurrent: true } } });
          }
          call(original, this, [turn]);
        } as Method,
    ),
  ),
  bug("an actor handles waiting messages after its end", ["serial", "calls end"], 8, skipEvery(Mailbox, "close", 1)),
  bug(
    "the caller's end does not reach the handler",
    ["released"],
    2,
    replaceMethod(
      Turn,
      "cancel",
      () =>
        function (this: Turn) {
          this.isCancelled = true;
        } as Method,
    ),
  ),
  bug("a stream does not end when its source does", ["calls end"], 1, skipEvery(StreamCall, "failed", 1)),
  bug("a call of an unknown actor is not answered", ["calls end"], 8, skipEvery(EarlyMessages, "refuse", 1)),
  bug("an answer counts for two", ["values", "calls end"], 41, repeatEvery(RankCall, "answered", 12)),

  // Processes, restarts and supervision.
  bug(
    "an actor is restarted at the wrong rank",
    ["reach", "calls end"],
    1,
    replaceMethod(
      ProcRuntime,
      "createActor",
      (original) =>
        function (this: ProcRuntime, request: ActorRequest) {
          const { rank, extent, incarnation } = request;
          const size = Object.values(extent).reduce((all, one) => all * one, 1);
          return call(original, this, [incarnation === 0 ? request : { ...request, rank: (rank + 1) % size }]);
        } as Method,
    ),
  ),
  bug(
    "the move of another rank is announced",
    ["reach"],
    1,
    replaceMethod(
      SpawnedProcs,
      "announceMove",
      (original) =>
        function (this: SpawnedProcs, mesh: SpawnedActors, rank: number, drains: boolean) {
          return call(original, this, [mesh, (rank + 1) % mesh.record.size, drains]);
        } as Method,
    ),
  ),
  bug("other processes are not told that an actor has moved", ["reach"], 1, skipEvery(ProcRuntime, "announceMove", 1)),
  bug("the failure of an actor is not reported", ["told"], 50, skipEvery(ProcRuntime, "handleNotice", 1)),
  bug(
    "an actor's processes outlive it",
    ["no orphans"],
    9,
    replaceMethod(ProcRuntime, "stopOwned", () => (() => Promise.resolve()) as Method),
  ),
  bug("a beat is not counted", ["told truly", "answers"], 2, skipEvery(SilenceTimer, "reset", 1)),
  bug(
    "a host that has answered is declared gone",
    ["told truly", "answers"],
    2,
    replaceMethod(
      DriverSession,
      "beat",
      () =>
        (() => {
          throw new Error("it does not know this driver");
        }) as Method,
    ),
  ),

  // Replaced processes.
  bug(
    "a replaced process is stopped before it has handled its messages",
    ["answers", "no gaps"],
    2,
    replaceMethod(MeshRecord, "whenFormerHandled", () => (() => Promise.resolve()) as Method),
  ),
  bug(
    "messages to a new process do not wait for messages to the old one",
    ["order"],
    72,
    skipEvery(Session, "waitForFormer", 1),
  ),
  bug(
    "casts to a new process do not wait for messages to the old one",
    ["order"],
    202,
    skipEvery(ViewTree, "waitForFormer", 1),
  ),
  bug(
    "an old process confirms messages that it has only received",
    ["order"],
    297,
    replaceMethod(Mailbox, "afterHandling", () => ((then: () => void) => then()) as Method),
  ),
  bug(
    "a new incarnation has the number of the previous one",
    ["reach", "order", "no gaps", "told"],
    357,
    replaceMethod(FailedRanks, "nextIncarnation", () => (() => 1) as Method),
  ),
];
