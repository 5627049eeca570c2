/** Tests which process that watches a host may tell it that the driver has ended. */
import { expect, test } from "vitest";
import { WatchingProcesses } from "../../../runtime/host/daemon/watching-processes.js";
import { ManualClock } from "../../link/resumable/cut-world.js";

const [former, current] = [1n, 2n];

function watched() {
  const clock = new ManualClock();
  const processes = new WatchingProcesses(clock);
  /** Lets processes send beats in turn, as long as each has some left. */
  const beats = (counts: ReadonlyMap<bigint, number>) => {
    for (let i = 0; i < Math.max(...counts.values()); i++) {
      for (const [from, count] of counts) if (i < count) processes.beat(from);
      clock.pass(200);
    }
  };
  return { clock, processes, beats };
}

test("the only process is believed", () => {
  const { processes, beats } = watched();
  beats(new Map([[current, 30]]));
  expect(processes.leave(current)).toBe(false);
});

test("a process is not believed while another one is alive, although its own last beat is newer", () => {
  const { processes, beats } = watched();
  beats(new Map([[former, 20]]));
  beats(new Map([[current, 20]]));
  beats(new Map([[former, 11]]));
  expect(processes.leave(former)).toBe(true);
  expect(processes.leave(current)).toBe(false);
});

test("a process that has taken the place of a dead one is believed, from its first beat on", () => {
  const { processes, beats } = watched();
  beats(new Map([[former, 20]]));
  beats(new Map([[current, 1]]));
  expect(processes.leave(current)).toBe(false);
});

test("two that are alive are not believed, and the last one is", () => {
  const { processes, beats } = watched();
  beats(
    new Map([
      [former, 15],
      [current, 15],
    ]),
  );
  expect(processes.leave(current)).toBe(true);
  expect(processes.leave(former)).toBe(false);
});

test("a process that has sent no beat is believed only if there is no other one", () => {
  const { processes, beats } = watched();
  expect(processes.leave(former)).toBe(false);
  beats(new Map([[current, 1]]));
  expect(processes.leave(former)).toBe(true);
});

test("the number of processes that are remembered is bounded", () => {
  const { processes, clock } = watched();
  for (let i = 0n; i < 1000n; i++) {
    processes.beat(i);
    clock.pass(1);
  }
  // Of all of them, the last eight are known.
  const known = Array.from({ length: 1000 }, (_, i) => BigInt(i)).filter((i) => processes.leave(i)).length;
  expect(known).toBe(999);
});
