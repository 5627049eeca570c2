/** These tests check what a process knows of remote actors: their ports, downtimes and locations. */
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

describe("the holders of a port", () => {
  let holders: PortHolders;
  const ended = "the actor that held its port has ended";
  beforeEach(() => {
    holders = new PortHolders();
  });

  test("do not count as ended before the first holder is added", () => {
    expect([holders.orphanReason, holders.remove("a"), holders.removeProc(1n, "killed"), holders.orphanReason]).toEqual(
      [undefined, false, false, undefined],
    );
  });

  test("are reported as ended once, when the last holder ends", () => {
    holders.add("a", 1n);
    holders.add("b", 2n);
    expect([holders.remove("a"), holders.orphanReason]).toEqual([false, undefined]);
    expect([holders.remove("b"), holders.orphanReason]).toEqual([true, ended]);
    expect(holders.remove("b")).toBe(false);
  });

  test("are reported as ended when the last of their processes ends, with its reason", () => {
    holders.add("a", 1n);
    holders.add("b", 1n);
    holders.add("c", 2n);
    expect([holders.removeProc(1n, "killed"), holders.orphanReason]).toEqual([false, undefined]);
    expect([holders.removeProc(1n, "killed"), holders.removeProc(3n, "killed")]).toEqual([false, false]);
    expect([holders.removeProc(2n, "killed too"), holders.orphanReason]).toEqual([true, "killed too"]);
  });

  test("exist again when an actor receives the port or sends to it", () => {
    holders.add("a", 1n);
    holders.remove("a");
    holders.add("b", 1n);
    expect(holders.orphanReason).toBe(undefined);
    holders.remove("b");
    holders.addSender({ universe: 1n, proc: 4n, mesh: 5n, rank: 6, incarnation: 7 });
    expect([holders.orphanReason, holders.remove("5/6/7"), holders.orphanReason]).toEqual([undefined, true, ended]);
  });
});

describe("the downtime of an actor", () => {
  const isOver = async (down: Downtime) => {
    let over = false;
    void down.whenSettled.then(() => {
      over = true;
    });
    await settled();
    return over;
  };

  test("lasts until the actor is back", async () => {
    const down = new Downtime();
    expect([down.isLost, down.isAwaited]).toEqual([false, false]);
    expect([await isOver(down), down.isAwaited]).toEqual([false, true]);
    down.end();
    expect([await isOver(down), down.isLost]).toEqual([true, false]);
  });

  test("lasts until the actor is known not to come back", async () => {
    const down = new Downtime();
    expect(await isOver(down)).toBe(false);
    down.markLost();
    expect([await isOver(down), down.isLost]).toEqual([true, true]);
  });

  test("is settled at once if the actor is already known to be lost", async () => {
    const down = new Downtime();
    down.markLost();
    expect(await isOver(down)).toBe(true);
  });
});

describe("the location of an actor", () => {
  let record: MeshRecord;
  let target: ActorTarget;
  beforeEach(() => {
    record = new MeshRecord({ id: 7n, name: "counters", owner: 2n, extent: { hosts: 2, gpus: 3 } });
    record.setLocation(1, { proc: 10n, location: "here" });
    target = record.target(1);
  });
  /** Opens a session to the actor, and counts how often the session is retired. */
  const session = () => {
    const told = { retired: 0 };
    target.sessionOpened({ retire: () => void told.retired++ } as unknown as Session);
    return told;
  };

  test("is known only for the ranks whose location was set", () => {
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

  test("changes when the actor is replaced in another process, and its sessions are retired", () => {
    const told = session();
    const down = target.markDown();
    expect([target.downtime, target.markDown()]).toEqual([down, down]);
    record.setLocation(1, { proc: 11n, location: "there", generation: 1 });
    expect(record.target(1)).toBe(target);
    expect(target).toMatchObject({ proc: 11n, location: "there", generation: 1, downtime: undefined });
    expect([told.retired, record.moves]).toEqual([1, 1]);
  });

  test("stays when the actor is replaced in its process, and the downtime ends", () => {
    const told = session();
    target.markDown();
    record.setLocation(1, { proc: 10n, location: "here", generation: 1 });
    expect([target.downtime, told.retired, record.moves]).toEqual([undefined, 0, 0]);
  });

  test("is not changed by reports that are older than the last move", () => {
    record.setLocation(1, { proc: 11n, location: "there", generation: 2 });
    record.setLocation(1, { proc: 10n, location: "here", generation: 1 });
    record.setLocation(1, { proc: 10n, location: "here" });
    expect([target.proc, target.location, target.generation, record.moves]).toEqual([11n, "there", 2, 1]);
  });

  test("leaves the downtime unchanged if it is reported again for the same generation", () => {
    const down = target.markDown();
    record.setLocation(1, { proc: 10n, location: "here" });
    expect(target.downtime).toBe(down);
  });

  test("does not retire closed sessions when it changes", () => {
    const told = { retired: 0 };
    const closed = { retire: () => void told.retired++ } as unknown as Session;
    target.sessionOpened(closed);
    target.sessionClosed(closed);
    record.setLocation(1, { proc: 11n, location: "there", generation: 1 });
    expect(told.retired).toBe(0);
  });

  test("the token of an actor is the same at each access, and differs between ranks", () => {
    expect(target.token).toBe(target.token);
    expect(new ActorTarget(record, 2, { proc: 10n, location: "here" }).token).not.toEqual(target.token);
  });
});

describe("the options of stop", () => {
  const failed = 'cannot stop mesh "counters"';
  test.each<[unknown]>([
    [{}],
    [{ reason: "" }],
    [{ drain: 0 }],
    [{ drain: 0xffff_ffff, reason: "enough" }],
    [{ drain: 0.5 }],
  ])("are accepted: %o", (options) => {
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

  test("a reason becomes a suffix of the error text, unless no reason was given", () => {
    expect(["enough", "", noReason].map(reasonSuffix)).toEqual([": enough", ": ", ""]);
  });
});
