/** What a process knows of others' actors: who holds a port, and who is down for how long. */
import { beforeEach, describe, expect, test } from "vitest";
import { PortHolders } from "../../../runtime/actor/port/port-holders.js";
import { Downtime } from "../../../runtime/actor/reference/downtime.js";
import {
  ActorTarget,
  checkStopOptions,
  MeshRecord,
  noReason,
  reasonSuffix,
} from "../../../runtime/actor/reference/mesh-record.js";
import type { Session } from "../../../runtime/link/outbound/session.js";
import { settled } from "../parts.js";

describe("those who hold a port", () => {
  let holders: PortHolders;
  const ended = "the actor that held its port has ended";
  beforeEach(() => {
    holders = new PortHolders();
  });

  test("are none before there is one, and that is no end", () => {
    expect([holders.orphanReason, holders.remove("a"), holders.removeProc(1n, "killed"), holders.orphanReason]).toEqual(
      [undefined, false, false, undefined],
    );
  });

  test("end with the last of them, once", () => {
    holders.add("a", 1n);
    holders.add("b", 2n);
    expect([holders.remove("a"), holders.orphanReason]).toEqual([false, undefined]);
    expect([holders.remove("b"), holders.orphanReason]).toEqual([true, ended]);
    expect(holders.remove("b")).toBe(false);
  });

  test("end with the last of their processes, for that reason", () => {
    holders.add("a", 1n);
    holders.add("b", 1n);
    holders.add("c", 2n);
    expect([holders.removeProc(1n, "killed"), holders.orphanReason]).toEqual([false, undefined]);
    expect([holders.removeProc(1n, "killed"), holders.removeProc(3n, "killed")]).toEqual([false, false]);
    expect([holders.removeProc(2n, "killed too"), holders.orphanReason]).toEqual([true, "killed too"]);
  });

  test("are there again when somebody is sent the port again, or sends to it", () => {
    holders.add("a", 1n);
    holders.remove("a");
    holders.add("b", 1n);
    expect(holders.orphanReason).toBe(undefined);
    holders.remove("b");
    holders.addSender({ universe: 1n, proc: 4n, mesh: 5n, rank: 6, incarnation: 7 });
    expect([holders.orphanReason, holders.remove("5/6/7"), holders.orphanReason]).toEqual([undefined, true, ended]);
  });
});

describe("the time for which an actor is down", () => {
  const isOver = async (down: Downtime) => {
    let over = false;
    void down.whenSettled.then(() => {
      over = true;
    });
    await settled();
    return over;
  };

  test("lasts until it is there again", async () => {
    const down = new Downtime();
    expect([down.isLost, down.isAwaited]).toEqual([false, false]);
    expect([await isOver(down), down.isAwaited]).toEqual([false, true]);
    down.end();
    expect([await isOver(down), down.isLost]).toEqual([true, false]);
  });

  test("lasts until it is known not to come back", async () => {
    const down = new Downtime();
    expect(await isOver(down)).toBe(false);
    down.markLost();
    expect([await isOver(down), down.isLost]).toEqual([true, true]);
  });

  test("is over at once where it is known already", async () => {
    const down = new Downtime();
    down.markLost();
    expect(await isOver(down)).toBe(true);
  });
});

describe("where an actor lives", () => {
  let record: MeshRecord;
  let target: ActorTarget;
  beforeEach(() => {
    record = new MeshRecord({ id: 7n, name: "counters", owner: 2n, extent: { hosts: 2, gpus: 3 } });
    record.setLocation(1, { proc: 10n, location: "here" });
    target = record.target(1);
  });
  /** A session to it, and how often it was told to begin anew. */
  const session = () => {
    const told = { retired: 0 };
    target.sessionOpened({ retire: () => void told.retired++ } as unknown as Session);
    return told;
  };

  test("is known for the ranks that somebody has told of", () => {
    expect([record.size, record.procAt(1), record.procAt(0), record.moves]).toEqual([6, 10n, undefined, 0]);
    expect(target).toMatchObject({
      kind: "actor",
      rank: 1,
      proc: 10n,
      location: "here",
      generation: 0,
      number: 7n,
      owner: 2n,
    });
    expect(() => record.target(0)).toThrow(
      new RangeError('cannot find rank 0 of mesh "counters": its place is unknown'),
    );
  });

  test("moves to the process where it was made again: what is sent from now on goes there", () => {
    const told = session();
    const down = target.markDown();
    expect([target.downtime, target.markDown()]).toEqual([down, down]);
    record.setLocation(1, { proc: 11n, location: "there", generation: 1 });
    expect(record.target(1)).toBe(target);
    expect(target).toMatchObject({ proc: 11n, location: "there", generation: 1, downtime: undefined });
    expect([told.retired, record.moves]).toEqual([1, 1]);
  });

  test("stays when it is made again in its process, and is there again", () => {
    const told = session();
    target.markDown();
    record.setLocation(1, { proc: 10n, location: "here", generation: 1 });
    expect([target.downtime, told.retired, record.moves]).toEqual([undefined, 0, 0]);
  });

  test("is not where those think who have not heard of its move", () => {
    record.setLocation(1, { proc: 11n, location: "there", generation: 2 });
    record.setLocation(1, { proc: 10n, location: "here", generation: 1 });
    record.setLocation(1, { proc: 10n, location: "here" });
    expect([target.proc, target.location, target.generation, record.moves]).toEqual([11n, "there", 2, 1]);
  });

  test("told again of the same place, it is as down as before", () => {
    const down = target.markDown();
    record.setLocation(1, { proc: 10n, location: "here" });
    expect(target.downtime).toBe(down);
  });

  test("forgets sessions that have closed", () => {
    const told = { retired: 0 };
    const closed = { retire: () => void told.retired++ } as unknown as Session;
    target.sessionOpened(closed);
    target.sessionClosed(closed);
    record.setLocation(1, { proc: 11n, location: "there", generation: 1 });
    expect(told.retired).toBe(0);
  });

  test("has a name in call chains, the same each time", () => {
    expect(target.token).toBe(target.token);
    expect(new ActorTarget(record, 2, { proc: 10n, location: "here" }).token).not.toEqual(target.token);
  });
});

describe("options of stop", () => {
  const failed = 'cannot stop mesh "counters"';
  test.each<[unknown]>([
    [{}],
    [{ reason: "" }],
    [{ drain: 0 }],
    [{ drain: 0xffff_ffff, reason: "enough" }],
    [{ drain: 0.5 }],
  ])("are taken: %o", (options) => {
    expect(() => checkStopOptions("counters", options as object)).not.toThrow();
  });

  const drain = `${failed}: expected drain in milliseconds, at least 0, got`;
  test.each<[unknown, Error]>([
    [{ reason: 5 }, new TypeError(`${failed}: expected a text as reason, got 5`)],
    [{ drain: -1 }, new RangeError(`${drain} -1`)],
    [{ drain: "5" }, new RangeError(`${drain} "5"`)],
    [{ drain: Number.NaN }, new RangeError(`${drain} NaN`)],
    [{ drain: 0x1_0000_0000 }, new RangeError(`${drain} 4294967296`)],
    [{ drian: 5 }, new TypeError(`${failed}: expected one of the options reason, drain, got "drian"`)],
  ])("are refused: %o", (options, error) => {
    expect(() => checkStopOptions("counters", options as object)).toThrow(error);
  });

  test("a reason follows what it is the reason of, if there is one", () => {
    expect(["enough", "", noReason].map(reasonSuffix)).toEqual([": enough", ": ", ""]);
  });
});
