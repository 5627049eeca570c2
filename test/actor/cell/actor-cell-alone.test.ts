/** These tests check the cell of an actor with fake lanes and sessions: bindings, the end, and the replacement. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ActorCell } from "../../../runtime/actor/cell/actor-cell.js";
import { handlersOf } from "../../../runtime/actor/cell/handler.js";
import { holderName, portsRead, portsWritten } from "../../../runtime/actor/port/announce-holders.js";
import { Channel } from "../../../runtime/actor/port/channel.js";
import type { ActorClass } from "../../../runtime/actor/reference/actor-request.js";
import { ActorTarget, MeshRecord } from "../../../runtime/actor/reference/mesh-record.js";
import { schemaForPeer } from "../../../runtime/actor/schema/compare-schemas.js";
import type { CastSender } from "../../../runtime/cast/sender/cast-sender.js";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { type Binding, Layout } from "../../../runtime/link/frame/binding.js";
import { FrameFlag } from "../../../runtime/link/frame/frame.js";
import type { Lane } from "../../../runtime/link/inbound/lane.js";
import type { Session } from "../../../runtime/link/outbound/session.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { protobufArguments } from "../../../runtime/wire/protobuf-messages.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { Writer } from "../../../runtime/wire/writer.js";
import { ManualClock } from "../../link/resumable/cut-world.js";
import { Counter, counterDescriptor, until } from "../counter.js";
import { settled } from "../parts.js";
import { type TestProc, World } from "../world.js";

let clock: ManualClock;
let world: World;
let there: TestProc;
let told: unknown[];

beforeEach(() => {
  clock = new ManualClock();
  world = new World({}, { there: clock });
  there = world.proc("there");
  told = [];
});
afterEach(() => world.close());

function spawn(actorClass: typeof Counter = Counter): ActorCell {
  world.spawn<typeof Counter, never>("counter", actorClass, [0], [there], {});
  return [...there.proc.cells()].at(-1)!;
}

/** Creates a lane that records what is sent on it and what is done to it. */
function newLane(more: object = {}): Lane {
  return {
    id: 3,
    slots: [],
    link: {
      sendBound: (id: number, base: number, schema: unknown) => told.push(["bound", id, base, schema]),
      sendError: () => told.push("error"),
    },
    pause: () => told.push("paused"),
    redirect: (to: unknown) => told.push(["redirected", to]),
    confirmReached: () => told.push("reached"),
    sendGone: (reason: string, message: string) => told.push(["gone", reason, message]),
    ...more,
  } as unknown as Lane;
}
const { key, fingerprint } = counterDescriptor;
const binding = (more: Partial<Binding> = {}): Binding => ({
  firstSlot: 2,
  layout: Layout.lockstep,
  key,
  fingerprint,
  endpoints: [],
  ...more,
});

describe("an interface that a sender binds", () => {
  test("is confirmed if both sides have the same schema", () => {
    const lane = newLane();
    spawn().inbound.bind(lane, binding());
    expect(lane.slots.slice(2)).toEqual(handlersOf(Counter as unknown as ActorClass, counterDescriptor));
    expect(told).toEqual([["bound", 3, 2, undefined]]);
  });

  test("is answered with the schema of the actor if the two schemas differ, and the lane pauses", () => {
    const lane = newLane();
    spawn().inbound.bind(lane, binding({ fingerprint: 1n }));
    expect([lane.slots, told]).toEqual([[], ["paused", ["bound", 3, 2, schemaForPeer(counterDescriptor)]]]);
  });

  test("is matched by endpoint ids in the protobuf layout, and unknown endpoints are refused", () => {
    const lane = newLane();
    const endpoints = [
      { id: 2, name: "value" },
      { id: 99, name: "later" },
    ];
    spawn().inbound.bind(lane, binding({ layout: Layout.protobuf, endpoints }));
    expect(lane.slots[2]).toMatchObject({ method: Counter.prototype.value });
    expect(lane.slots[3]).toBe(undefined);
    expect([...lane.slotRefusals!]).toMatchObject([
      [
        3,
        {
          reason: "refused",
          message: `the actor counter[0] has no endpoint 99 "later": its process has another schema of ${key}`,
        },
      ],
    ]);
    expect(told).toEqual([]);
  });

  test("gets neither handlers nor a confirmation if it is bound without a layout", () => {
    const lane = newLane();
    spawn().inbound.bind(lane, binding({ layout: Layout.none }));
    expect([lane.slots, told]).toEqual([[], []]);
  });

  test.each([
    [Layout.lockstep, [["bound", 3, 2, undefined]]],
    [Layout.protobuf, []],
  ])("is refused if the actor does not have it, and only lockstep is confirmed: layout %i", (layout, answers) => {
    const [lane, other] = [newLane(), newLane()];
    spawn().inbound.bind(lane, binding({ key: "test/other#Other", layout }));
    there.proc.root.inbound.bind(other, binding({ layout }));
    expect(lane.refusal).toMatchObject({
      reason: "refused",
      message: `the actor counter[0] is no test/other#Other: it is a ${key}`,
    });
    expect(other.refusal).toMatchObject({ message: `the actor there is no ${key}: it is a root` });
    expect(told).toEqual([...answers, ...answers]);
  });
});

describe("the end of an actor", () => {
  const options = { reason: "ordered", drain: 0 };
  const gone = ["gone", "stopped", "the actor counter[0] was stopped: ordered"];

  test("is announced once on each open lane that leads to the actor", async () => {
    const cell = spawn();
    const [lane, closed] = [newLane(), newLane()];
    cell.inbound.bind(lane, binding());
    cell.inbound.bind(lane, binding({ firstSlot: 40 }));
    cell.inbound.bind(closed, binding());
    cell.inbound.laneClosed(closed);
    cell.inbound.laneClosed(newLane());
    told = [];
    await cell.lifecycle.stop(options);
    expect(told).toEqual([gone]);
  });

  test("is announced on a lane that is bound later", async () => {
    const cell = spawn();
    cell.inbound.laneClosed(newLane());
    await cell.lifecycle.stop(options);
    cell.inbound.bind(newLane(), binding());
    expect(told[0]).toEqual(gone);
    expect([cell.ended!.reason, cell.outbound.ended!.reason]).toEqual(["stopped", "closed"]);
  });

  test("has the reason failed if the actor has failed", () => {
    const cell = spawn();
    cell.fail({ kind: "killed", error: new Error("enough"), at: 0 });
    expect(cell.ended!.reason).toBe("failed");
  });

  test("waits for messages that are sent again in another layout, but only with a drain time", async () => {
    let resume = () => {};
    const whenResumed = new Promise<void>((resolve) => {
      resume = () => resolve();
    });
    const [draining, other] = [spawn(), spawn()];
    for (const cell of [draining, other]) {
      cell.inbound.bind(newLane({ whenResumed }), binding());
      cell.inbound.bind(newLane(), binding());
    }
    await other.lifecycle.stop(options);
    const stopping = draining.lifecycle.stop({ ...options, drain: 1000 });
    await settled();
    expect([other.lifecycle.state, draining.lifecycle.state]).toEqual(["stopped", "running"]);
    resume();
    await stopping;
    expect([draining.lifecycle.state, clock.waiting]).toEqual(["stopped", 0]);
  });

  describe("while the actor starts", () => {
    let release: () => void;
    class Slow extends Counter {
      override init(): Promise<void> {
        return new Promise((resolve) => {
          release = resolve;
        });
      }
    }

    test("waits for init if messages are queued, and handles them", async () => {
      const counter = world.spawn<typeof Counter, never>("counter", Slow, [0], [there], {});
      const cell = [...there.proc.cells()].at(-1)!;
      const call = counter.value.callOne();
      await until("it waits", () => cell.waitingCount > 0);
      const stopping = cell.lifecycle.stop({ ...options, drain: 1000 });
      await settled();
      expect(cell.lifecycle.state).toBe("starting");
      release();
      expect(await call).toBe(0);
      await stopping;
    });

    test("does not wait for init if no message is queued or there is no drain time", async () => {
      const idle = spawn(Slow);
      await idle.lifecycle.stop({ ...options, drain: 1000 });
      const counter = world.spawn<typeof Counter, never>("counter", Slow, [0], [there], {});
      const cell = [...there.proc.cells()].at(-1)!;
      const call = counter.value.callOne().catch((error: Error) => error.message);
      await until("it waits", () => cell.waitingCount > 0);
      await cell.lifecycle.stop(options);
      expect(await call).toMatch(/was stopped: ordered$/);
    });
  });

  describe("that has sent messages", () => {
    const record = new MeshRecord({ id: 70n, name: "others", owner: 2n, extent: { gpus: 4 } });
    /** Opens a fake session to the actor at `rank` of another mesh. */
    function open(
      cell: ActorCell,
      rank: number,
      more: object = {},
    ): { session: Session; target: ActorTarget; sent: () => void } {
      const target = new ActorTarget(record, rank, { proc: 10n, location: "here" });
      const opened = { sent: () => {} };
      Object.assign(there.proc.routes, {
        linkTo: () => ({
          openSession: (sender: ActorCell, to: ActorTarget, by: unknown) => ({
            sender,
            target: to,
            key: by,
            isAskingForSchema: false,
            close: () => told.push(`closed ${rank}`),
            retire: () => void told.push(`retired ${rank}`),
            afterAllSent: (then: () => void) => {
              opened.sent = then;
            },
            ...more,
          }),
        }),
      });
      return { session: cell.outbound.session(target, target, "here"), target, sent: () => opened.sent() };
    }

    test("closes the sessions of the actor, and opens no new ones", async () => {
      const cell = spawn();
      const { session, target } = open(cell, 1);
      expect(cell.outbound.knownSession(target)).toBe(session);
      expect(cell.outbound.session(target, target, "here")).toBe(session);
      await cell.lifecycle.stop(options);
      target.move({ proc: 11n, location: "there", generation: 1 });
      expect(told).toEqual(["closed 1"]);
      expect(() => cell.outbound.session(target, target, "here")).toThrow(
        "its sender has ended: the actor counter[0] was stopped: ordered",
      );
    });

    test("and casts knows which messages may be ahead of its casts, whenever the sessions were opened", () => {
      const cell = spawn();
      const before = open(cell, 1).session;
      const casts = cell.outbound.castSender(record);
      const after = open(cell, 2).session;
      const others = new MeshRecord({ id: 71n, name: "more", owner: 2n, extent: { gpus: 4 } });
      const foreign = new ActorTarget(others, 3, { proc: 10n, location: "here" });
      const elsewhere = cell.outbound.session(foreign, foreign, "here");
      expect([before, after, elsewhere].map(({ castOrder }) => castOrder !== undefined)).toEqual([true, true, false]);
      expect([...casts.unmarkedLanes.keys()]).toEqual([1]);
      const later = cell.outbound.castSender(others);
      expect([...later.unmarkedLanes.keys()]).toEqual([3]);
      expect([elsewhere.castOrder !== undefined, [...casts.unmarkedLanes.keys()]]).toEqual([true, [1]]);
    });

    test("has one cast sender for each mesh until that one ends", () => {
      const { outbound } = spawn();
      const casts = outbound.castSender(record);
      outbound.castSenderIdle(record, casts, false);
      outbound.castSenderIdle(record, {} as CastSender, true);
      expect(outbound.castSender(record)).toBe(casts);
      outbound.castSenderIdle(record, casts, true);
      const next = outbound.castSender(record);
      expect(next).not.toBe(casts);
      outbound.castSenderIdle(record, casts, true);
      expect(outbound.castSender(record)).toBe(next);
    });

    test("closes the cast senders that have work", async () => {
      const cell = spawn();
      const [active, idle] = ["active", "idle"].map(
        (name) => ({ close: () => told.push(`closed ${name}`) }) as unknown as CastSender,
      ) as [CastSender, CastSender];
      cell.outbound.castSenderActive(active);
      cell.outbound.castSenderActive(idle);
      cell.outbound.castSenderIdle(record, idle, false);
      await cell.lifecycle.stop(options);
      expect(told).toEqual(["closed active"]);
    });

    test("opens sessions for its casts as far as that is possible", () => {
      const cell = spawn();
      const mesh = new MeshRecord({ id: 72n, name: "more", owner: 2n, extent: { gpus: 4 } });
      mesh.setLocation(1, { proc: 10n, location: "here" });
      const { host } = cell.outbound.castSender(mesh);
      const failWith = (error: Error) =>
        Object.assign(there.proc.routes, {
          linkTo: () => {
            throw error;
          },
        });
      failWith(new DeliveryError("closed", "its process has ended"));
      expect(() => host.openSession(1)).not.toThrow();
      failWith(new TypeError("a defect"));
      expect(() => host.openSession(1)).toThrow(new TypeError("a defect"));
      open(cell, 1);
      host.openSession(1);
      expect(cell.outbound.knownSession(mesh.target(1))?.target).toBe(mesh.target(1));
    });

    test("waits at most a second for sessions that ask for the schema of their receiver", async () => {
      const cell = spawn();
      const asking = open(cell, 1, { isAskingForSchema: true });
      open(cell, 2);
      const stopping = cell.lifecycle.stop(options);
      await settled();
      expect([cell.lifecycle.state, told]).toEqual(["stopping", []]);
      asking.sent();
      await stopping;
      expect([told, clock.waiting]).toEqual([["closed 1", "closed 2"], 0]);
      const other = spawn();
      open(other, 3, { isAskingForSchema: true });
      const late = other.lifecycle.stop(options);
      await settled();
      clock.pass(999);
      await settled();
      expect(other.lifecycle.state).toBe("stopping");
      clock.pass(1);
      await late;
      expect(other.lifecycle.state).toBe("stopped");
    });

    test("an ended session is forgotten, and a different session to the same target is kept", () => {
      const cell = spawn();
      const { session, target } = open(cell, 1);
      const before = { ...session, close: () => {} } as unknown as Session;
      cell.outbound.sessionEnded(before);
      expect(cell.outbound.knownSession(target)).toBe(session);
      cell.outbound.sessionEnded(session);
      expect(cell.outbound.knownSession(target)).toBe(undefined);
      cell.outbound.sessionEnded(session);
      target.move({ proc: 11n, location: "there", generation: 1 });
      expect(told).toEqual([]);
    });
  });
});

test("an ended receiver is marked as down, and none of its incarnations holds a port any more", () => {
  const holders: string[] = [];
  Object.assign(there.proc, { holderEnded: (holder: string) => holders.push(holder) });
  const record = new MeshRecord({ id: 70n, name: "others", owner: 2n, extent: { gpus: 4 } });
  const target = new ActorTarget(record, 3, { proc: 10n, location: "here", generation: 2 });
  const cell = spawn();
  cell.outbound.targetEnded(target);
  expect(target.downtime).not.toBe(undefined);
  expect(holders).toEqual([0, 1, 2].map((incarnation) => holderName({ mesh: 70n, rank: 3, incarnation })));
  cell.outbound.targetEnded({ ...target, kind: "port" } as never);
  expect(holders.length).toBe(3);
});

describe("a message with a port for an actor that has ended", () => {
  const index = counterDescriptor.endpoints.findIndex(({ name }) => name === "feed");
  const feed = counterDescriptor.endpoints[index]!.args;

  /** Sends a message to `feed` of an actor that takes no messages. */
  function refused(flags: number, write: (w: Writer) => void): unknown[] {
    const sent: unknown[] = [];
    const cell = spawn();
    const link = { sendBound: () => {}, sendBounce: (_: number, slot: number) => sent.push(`returned ${slot}`) };
    const lane = newLane({ isOpen: true, link, consumed: () => {} });
    cell.inbound.bind(lane, binding());
    cell.inbound.refuse(new DeliveryError("stopped", "the actor counter[0] was stopped"));
    Object.assign(cell.ports, { releaseDecoded: () => sent.push(`released ${portsRead.splice(0).length}`) });
    const w = new Writer(512);
    write(w);
    portsWritten.length = 0;
    const bytes = w.copy(0);
    const r = new Reader();
    r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
    cell.inbound.message(lane, 2 + index, 0, flags, r, 8);
    return sent;
  }

  test("returns to its sender, and its port is released in either layout", () => {
    const [port] = Channel.open(codec.int32);
    const returned = `returned ${2 + index}`;
    expect(refused(0, (w) => feed.encodeInto(w, [port, 1]))).toEqual([returned, "released 1"]);
    const protobuf = protobufArguments(feed);
    expect(refused(FrameFlag.protobuf, (w) => protobuf.encodeInto(w, [port, 1]))).toEqual([returned, "released 1"]);
  });

  test("returns to its sender although it cannot be decoded", () => {
    expect(refused(0, () => {})).toEqual([`returned ${2 + index}`]);
  });
});

describe("an actor that was replaced", () => {
  const replace = (cell: ActorCell): ActorCell => {
    cell.fail({ kind: "killed", error: new Error("over"), at: 0 });
    return there.proc.createActor({ ...cell.spec, incarnation: 1, args: [10] } as never);
  };

  test("redirects its lanes to the new actor, also lanes that bind an interface later", () => {
    const cell = spawn();
    const [lane, late] = [newLane(), newLane()];
    cell.inbound.bind(lane, binding());
    told = [];
    const next = replace(cell);
    expect(told).toEqual([["redirected", next.inbound]]);
    cell.inbound.bind(late, binding());
    expect(told.slice(1)).toEqual([
      ["redirected", next.inbound],
      ["bound", 3, 2, undefined],
    ]);
  });

  test("leaves it to the new actor to confirm that messages are handled", async () => {
    const cell = spawn();
    cell.inbound.confirmHandled(newLane());
    expect(told).toEqual(["reached"]);
    const next = replace(cell);
    let asked = 0;
    next.inbound.confirmHandled = () => void asked++;
    cell.inbound.confirmHandled(newLane());
    expect([asked, told]).toEqual([1, ["reached"]]);
  });
});
