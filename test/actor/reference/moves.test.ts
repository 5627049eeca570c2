/** These tests check how a process follows moves of actors: what waits for a move, and which moves are remembered. */

import { beforeEach, describe, expect, test } from "vitest";
import { type DropDetector, neverDropped } from "../../../runtime/actor/proc/drop-watch.js";
import {
  type ActorTarget,
  type MeshCastSender,
  MeshRecord,
  MeshRecords,
  type RecordedMove,
} from "../../../runtime/actor/reference/mesh-record.js";
import { AGENT_MESH } from "../../../runtime/link/address.js";
import type { MessageSender } from "../../../runtime/link/outbound/message-sender.js";
import type { Session } from "../../../runtime/link/outbound/session.js";
import { UnhandledMessages } from "../../../runtime/link/outbound/unhandled-messages.js";
import { settled } from "../parts.js";

const identity = { id: 7n, name: "counters", owner: 2n, extent: { gpus: 4 } };
const here = { proc: 10n, location: "here" };
const there = { proc: 11n, location: "there", generation: 1 };
const [one, other] = [{}, {}] as [MessageSender, MessageSender];

/** Opens a session of `sender` to an actor. A move leaves the messages `leaving` at the former location. */
function openSession(target: ActorTarget, sender: MessageSender, leaving?: UnhandledMessages) {
  const told = { waitsFor: [] as UnhandledMessages[], sent: [] as (() => void)[] };
  const session = {
    sender,
    retire: () => leaving,
    waitForFormer: (before: UnhandledMessages) => void told.waitsFor.push(before),
    afterAllSent: (then: () => void) => void told.sent.push(then),
  };
  target.sessionOpened(session as unknown as Session);
  return told;
}

/** Returns whether a promise has been resolved by now. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false;
  void promise.then(() => {
    resolved = true;
  });
  await settled();
  return resolved;
}

let record: MeshRecord;
let target: ActorTarget;
beforeEach(() => {
  record = new MeshRecord(identity);
  record.setLocation(1, here);
  target = record.target(1);
});

describe("messages to the former location of an actor", () => {
  test("delay later sessions of the same sender, but not of other senders", () => {
    const leaving = new UnhandledMessages(one, []);
    openSession(target, one, leaving);
    expect(openSession(target, one).waitsFor).toEqual([]);
    record.setLocation(1, there);
    expect(target.leavingOf(one)).toEqual([leaving]);
    expect(target.leavingOf(other)).toEqual([]);
    expect(openSession(target, one).waitsFor).toEqual([leaving]);
    expect(openSession(target, other).waitsFor).toEqual([]);
  });

  test("delay no session once they are handled, and are forgotten once their calls are answered", async () => {
    const call = {} as never;
    const leaving = new UnhandledMessages(one, [call]);
    openSession(target, one, leaving);
    record.setLocation(1, there);
    const left = target.whenFormerHandled();
    leaving.markHandled();
    expect(target.leavingOf(one)).toEqual([]);
    expect(await isResolved(left)).toBe(false);
    expect(await isResolved(target.whenFormerHandled())).toBe(false);
    leaving.callEnded(call);
    expect(await isResolved(left)).toBe(true);
    expect(await isResolved(target.whenFormerHandled())).toBe(true);
  });

  test("are kept for each move if the actor moves several times", () => {
    const [first, second] = [new UnhandledMessages(one, []), new UnhandledMessages(one, [])];
    openSession(target, one, first);
    record.setLocation(1, there);
    openSession(target, one, second);
    record.setLocation(1, { ...here, generation: 2 });
    expect(target.leavingOf(one)).toEqual([first, second]);
  });

  test("count as handled if the former process is abandoned after the move", () => {
    const leaving = new UnhandledMessages(one, []);
    openSession(target, one, leaving);
    target.abandonFormer();
    record.setLocation(1, there);
    expect(leaving.isHandled).toBe(false);
    target.abandonFormer();
    expect(leaving.isHandled).toBe(true);
  });

  test("are not kept for agents, because each process has its own agent", () => {
    const agents = new MeshRecord({ ...identity, id: AGENT_MESH });
    agents.setLocation(1, here);
    const agent = agents.target(1);
    openSession(agent, one, new UnhandledMessages(one, []));
    agents.setLocation(1, there);
    expect(agent.leavingOf(one)).toEqual([]);
  });
});

describe("messages to the actors of a mesh", () => {
  test("have left the process when each session has sent all its messages", async () => {
    record.setLocation(2, here);
    const told = [openSession(target, one), openSession(target, other), openSession(record.target(2), one)];
    const sent = record.whenSent();
    expect(told.map((session) => session.sent.length)).toEqual([1, 1, 1]);
    for (const session of told) {
      expect(await isResolved(sent)).toBe(false);
      for (const then of session.sent) then();
    }
    expect(await isResolved(sent)).toBe(true);
  });

  test("are finished at former locations once the messages of each actor and all casts are finished", async () => {
    const leaving = new UnhandledMessages(one, []);
    openSession(target, one, leaving);
    record.setLocation(1, there);
    let castsAreOver = () => {};
    const left = new Promise<void>((resolve) => {
      castsAreOver = resolve;
    });
    record.castSenders.add({ openBeforeMove: () => {}, followMoves: () => {}, whenFormerHandled: () => left });
    const over = record.whenFormerHandled();
    leaving.markHandled();
    expect(await isResolved(over)).toBe(false);
    castsAreOver();
    expect(await isResolved(over)).toBe(true);
    const next = new UnhandledMessages(one, []);
    openSession(target, one, next);
    record.setLocation(1, { ...here, generation: 2 });
    expect(await isResolved(record.whenFormerHandled())).toBe(false);
  });
});

test("a mesh whose actors have never moved has no messages at former locations", async () => {
  openSession(target, one);
  expect(await isResolved(record.whenFormerHandled())).toBe(true);
});

describe("a rank that has left its mesh, which was resized", () => {
  const left = { ...here, left: "it was resized to 1 rank" };

  test("refuses calls with the reason and counts as lost", () => {
    expect([target.departure, target.downtime, record.hasLeft(1)]).toEqual([undefined, undefined, false]);
    record.setLocation(1, left);
    expect([target.departure!.reason, target.departure!.message]).toEqual([
      "stopped",
      "it has left the mesh: it was resized to 1 rank",
    ]);
    expect([target.downtime!.isLost, record.hasLeft(1), record.isResized]).toEqual([true, true, true]);
  });

  test("is known from the first location of the rank too, among ranks that have stayed", () => {
    record.setLocation(2, left);
    expect([record.target(2).departure?.reason, target.departure]).toEqual(["stopped", undefined]);
    expect([1, 2, 3].map((rank) => record.hasLeft(rank))).toEqual([false, true, false]);
  });

  test("keeps its reason if it is reported again, and its sessions end once", () => {
    let retired = 0;
    const session = { sender: one, retire: () => void retired++ } as unknown as Session;
    target.sessionOpened(session);
    record.setLocation(1, left);
    expect(retired).toBe(1);
    record.setLocation(1, { ...left, left: "another reason" });
    expect([target.departure!.message, retired]).toEqual(["it has left the mesh: it was resized to 1 rank", 1]);
  });

  test("belongs to the mesh again when it has come back with a later generation", () => {
    record.setLocation(1, left);
    record.setLocation(1, { ...here, generation: 1 });
    expect([target.departure, target.downtime, record.hasLeft(1)]).toEqual([undefined, undefined, false]);
  });
});

describe("the location of an actor", () => {
  test("of the known generation is corrected, and the cast senders follow it", () => {
    let follows = 0;
    record.castSenders.add({
      openBeforeMove: () => {},
      followMoves: () => void follows++,
      whenFormerHandled: async () => {},
    });
    record.setLocation(1, { proc: 12n, location: "elsewhere" });
    expect([target.proc, target.location, record.moves, follows]).toEqual([12n, "elsewhere", 1, 1]);
  });
});

describe("the cast senders of a mesh", () => {
  let told: string[];
  beforeEach(() => {
    told = [];
    const caster: MeshCastSender = {
      openBeforeMove: (rank) => void told.push(`leaves ${rank}: ${target.location}`),
      followMoves: () => void told.push(`follow: ${target.location}`),
      whenFormerHandled: async () => {},
    };
    record.castSenders.add(caster);
  });

  test("are notified before and after an actor moves", () => {
    record.setLocation(1, there);
    expect([told, record.moves]).toEqual([["leaves 1: here", "follow: there"], 1]);
  });

  test.each([
    ["is replaced in its process", { ...here, generation: 1 }],
    ["is reported at its known location", here],
  ])("are not notified of an actor that %s", (_, location) => {
    record.setLocation(1, location);
    expect([told, record.moves]).toEqual([[], 0]);
  });

  test("are not notified of a location that is older than the known one", () => {
    record.setLocation(1, { ...here, generation: 2 });
    record.setLocation(1, there);
    record.setLocation(1, { proc: 12n, location: "elsewhere" });
    expect([told, record.moves, target.location]).toEqual([[], 0, "here"]);
  });

  test("are notified once when an actor leaves the mesh, and again when it returns", () => {
    const gone = { ...here, generation: 1, left: "it was resized" };
    record.setLocation(1, gone);
    expect([told, record.moves, record.hasLeft(1), record.isResized]).toEqual([
      ["leaves 1: here", "follow: here"],
      1,
      true,
      true,
    ]);
    record.setLocation(1, gone);
    expect(record.moves).toBe(1);
    record.setLocation(1, { ...there, generation: 2 });
    expect([record.moves, record.hasLeft(1), record.isResized]).toEqual([2, false, true]);
  });

  test("see the number of ranks grow when ranks join", () => {
    const before = record.rankCount;
    record.setLocation(before + 1, there);
    expect(record.rankCount).toBe(before + 2);
  });

  test("are not notified of the first location of an actor", () => {
    record.setLocation(3, there);
    expect([told, record.procAt(3)]).toEqual([[], 11n]);
  });
});

describe("the mesh records of a process", () => {
  const move = (mesh: bigint, rank: number, generation: number, proc = 11n): RecordedMove => ({
    mesh,
    rank,
    generation,
    proc,
    location: `place ${proc}`,
  });
  let records: MeshRecords;
  beforeEach(() => {
    records = new MeshRecords(neverDropped);
  });

  test("exist once for each mesh", () => {
    expect(records.find(7n)).toBe(undefined);
    const made = records.findOrCreate(identity);
    expect(made).toMatchObject(identity);
    expect([records.findOrCreate({ ...identity, name: "others" }), records.find(7n)]).toEqual([made, made]);
    expect(records.findOrCreate({ ...identity, id: 8n })).not.toBe(made);
  });

  test("are found by a given key instead of the mesh id", () => {
    const made = records.findOrCreate(identity, 70n);
    expect([records.find(70n), records.find(7n)]).toEqual([made, undefined]);
  });

  test("are created again after a drop, and a new record survives the late report of an older drop", () => {
    const alive = new Map<object, boolean>();
    const dropped: (() => void)[] = [];
    const drops: DropDetector = {
      ...neverDropped,
      watch: (_, held) => void dropped.push(() => held.dropped()),
      reference: (value) => {
        alive.set(value, true);
        return { deref: () => (alive.get(value) ? value : undefined) };
      },
    };
    records = new MeshRecords(drops);
    const first = records.findOrCreate(identity);
    alive.set(first, false);
    expect(records.find(7n)).toBe(undefined);
    const second = records.findOrCreate(identity);
    expect(second).not.toBe(first);
    dropped[0]!();
    expect(records.find(7n)).toBe(second);
    alive.set(second, false);
    dropped[1]!();
    alive.set(second, true);
    expect(records.find(7n)).toBe(undefined);
  });

  test("have the last location of each actor, whether they are created before or after the move", async () => {
    const before = records.findOrCreate(identity);
    before.setLocation(1, here);
    await records.recordMove(move(7n, 1, 2));
    await records.recordMove(move(8n, 3, 1));
    await records.recordMove(move(8n, 2, 1));
    await records.recordMove(move(7n, 1, 1, 12n));
    expect([before.target(1).location, before.target(1).generation]).toEqual(["place 11", 2]);
    const after = records.findOrCreate({ ...identity, id: 8n });
    expect([2, 3].map((rank) => after.target(rank).location)).toEqual(["place 11", "place 11"]);
    expect(records.moves).toEqual([move(7n, 1, 2), move(8n, 3, 1), move(8n, 2, 1)]);
    await records.recordMove(move(7n, 1, 2, 13n));
    await records.recordMove(move(7n, 0, 1));
    expect(records.moves).toEqual([move(8n, 3, 1), move(8n, 2, 1), move(7n, 1, 2, 13n), move(7n, 0, 1)]);
  });

  test("keep the moves of the 1024 meshes that have moved last", async () => {
    for (let mesh = 1n; mesh <= 1024n; mesh++) await records.recordMove(move(mesh, 0, 1));
    expect(records.moves.length).toBe(1024);
    await records.recordMove(move(1n, 0, 2));
    await records.recordMove(move(1025n, 0, 1));
    const meshes = records.moves.map(({ mesh }) => mesh);
    expect([meshes.length, meshes[0], meshes.at(-2), meshes.at(-1)]).toEqual([1024, 3n, 1n, 1025n]);
  });

  describe("a recorded move of an actor that has messages at its former location", () => {
    let leaving: UnhandledMessages;
    beforeEach(() => {
      record = records.findOrCreate(identity);
      record.setLocation(1, here);
      leaving = new UnhandledMessages(one, []);
      openSession(record.target(1), one, leaving);
    });

    test("waits for these messages if the former process still handles them", async () => {
      const moved = records.recordMove({ ...move(7n, 1, 1), drains: true });
      expect([await isResolved(moved), leaving.isHandled]).toEqual([false, false]);
      leaving.markHandled();
      expect(await isResolved(moved)).toBe(true);
    });

    test("marks these messages as handled if the former process does not handle them", async () => {
      expect(await isResolved(records.recordMove(move(7n, 1, 1)))).toBe(true);
      expect(leaving.isHandled).toBe(true);
    });

    test("does not mark these messages as handled if the actor has moved on since", async () => {
      record.setLocation(1, { proc: 12n, location: "elsewhere", generation: 2 });
      await records.recordMove(move(7n, 1, 1));
      expect([record.procAt(1), leaving.isHandled]).toEqual([12n, false]);
    });

    test("does not affect these messages if its mesh is not known", async () => {
      await records.recordMove({ ...move(9n, 1, 1), drains: true });
      await records.recordMove(move(9n, 1, 2));
      expect([records.find(9n), leaving.isHandled]).toEqual([undefined, false]);
    });
  });
});
