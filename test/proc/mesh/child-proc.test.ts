/** The one exit event of a child: the end of its link and its exit status, merged, in any order. */
import { beforeEach, expect, test } from "vitest";
import { Deferred } from "../../../runtime/link/deferred.js";
import type { ProcExit } from "../../../runtime/proc/launch/proc-backend.js";
import { ChildProc } from "../../../runtime/proc/mesh/child-proc.js";
import { ManualClock } from "../../link/resumable/cut-world.js";

const killed: ProcExit = { kind: "process", cause: { name: "ProcessEnd", message: "process 7 was killed by SIGKILL" } };

let clock: ManualClock;
let status: Deferred<ProcExit>;
let kills: number;
let events: ProcExit[];
let child: ChildProc;

beforeEach(() => {
  clock = new ManualClock();
  status = new Deferred();
  kills = 0;
  events = [];
  const kill = () => {
    kills++;
  };
  const pipe = new Promise<never>(() => {});
  const backend = { pipe, exited: status.promise, outputEnded: status.promise, ref() {}, terminate() {}, kill };
  child = new ChildProc({ id: 7n, parent: 1n, rank: 0, location: "", backend, clock }, (exit) => events.push(exit));
});

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("an exit status that arrives before the end of the link is the exit event", async () => {
  status.resolve(killed);
  await settled();
  expect(await child.linkEnded()).toBe(killed.cause.message);
  clock.pass(5000);
  expect([events, child.exit, kills]).toEqual([[killed], killed, 0]);
});

test("an exit status that arrives shortly after the end of the link is the exit event, and calls fail with it", async () => {
  const reason = child.linkEnded();
  clock.pass(249);
  status.resolve(killed);
  expect(await reason).toBe(killed.cause.message);
  clock.pass(5000);
  expect([events, kills]).toEqual([[killed], 0]);
});

test("calls wait 250 ms for the exit status, and the exit event waits 2 s longer", async () => {
  const reason = child.linkEnded();
  clock.pass(250);
  expect(await reason).toBe("its process has closed its link");
  expect(events).toEqual([]);
  clock.pass(1999);
  status.resolve(killed);
  await settled();
  clock.pass(5000);
  expect([events, kills]).toEqual([[killed], 0]);
});

test("a child without a link is killed if no exit status arrives, and a later exit status causes no second event", async () => {
  void child.linkEnded();
  clock.pass(250);
  clock.pass(2001);
  const linkEnd = { kind: "process", cause: { name: "LinkEnd", message: "its process has closed its link" } };
  expect([events, kills]).toEqual([[linkEnd], 1]);
  status.resolve(killed);
  await settled();
  expect([events, child.exit]).toEqual([[linkEnd], linkEnd]);
});

test("time in which this process did not run does not count, because the exit status waits meanwhile", async () => {
  void child.linkEnded();
  clock.pass(250);
  clock.sleep(10_000);
  clock.pass(1);
  expect(events).toEqual([]);
  status.resolve(killed);
  await settled();
  clock.pass(5000);
  expect([events, kills]).toEqual([[killed], 0]);
});

test("a discarded child is killed, and the given reason is the exit event", async () => {
  const spawn: ProcExit = { kind: "spawn", cause: { name: "SpawnError", message: "its bootstrap module threw" } };
  child.discard(spawn);
  status.resolve(killed);
  await settled();
  expect([events, kills]).toEqual([[spawn], 1]);
});
