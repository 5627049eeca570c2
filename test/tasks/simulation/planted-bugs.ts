/**
 * Typical bugs of a scheduler, each planted by replacing a method. A simulation that misses them would miss real bugs,
 * too. Each is found within the seeds of the short profile, by an invariant that it violates.
 */
import { ActorNames } from "../../../runtime/tasks/actors/actor-names.js";
import { BegunRecord } from "../../../runtime/tasks/host/begun-record.js";
import { LeaseQueue, type QueueRequest } from "../../../runtime/tasks/host/lease-queue.js";
import { Leasing } from "../../../runtime/tasks/host/leasing.js";
import { Room } from "../../../runtime/tasks/host/room.js";
import { JobContext, type ObjectRef } from "../../../runtime/tasks/index.js";
import { BorrowedResults } from "../../../runtime/tasks/refs/borrowed-results.js";
import { ExportedResults } from "../../../runtime/tasks/refs/exported-results.js";
import { HeldLease } from "../../../runtime/tasks/submit/held-lease.js";
import { TaskQueue } from "../../../runtime/tasks/submit/task-queue.js";
import { LeaseSlot } from "../../../runtime/tasks/worker/lease-slot.js";
import { call, type Replacement, repeatEvery, replaceMethod, skipEvery } from "../../testing/plant-bug.js";
import type { PlantedBug } from "../../testing/workload.js";
import type { Invariant } from "./invariants.js";

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
  bug("a lease that is given back is lost", ["no leaks", "settles", "fair"], 1, skipEvery(Leasing, "giveBack", 5)),
  bug(
    "a task runs again although it must not",
    ["begins once"],
    1,
    replaceMethod(
      LeaseSlot,
      "add",
      (original, every) =>
        function (this: LeaseSlot, task: { start(): void }) {
          call(original, this, [task]);
          if (every(20)) task.start();
        } as Method,
    ),
  ),
  bug(
    "small tasks overtake a large one for ever",
    ["fair"],
    1,
    replaceMethod(
      LeaseQueue,
      "add",
      (original) =>
        function (this: LeaseQueue, request: QueueRequest, now: number) {
          // Nobody has waited long enough to be kept room for.
          call(original, this, [request, now + 1e9]);
        } as Method,
    ),
  ),
  bug(
    "holders are not asked to give leases back",
    ["fair", "settles"],
    1,
    replaceMethod(
      HeldLease,
      "isLeaving",
      () =>
        function (this: HeldLease) {
          return this.ended !== undefined;
        } as Method,
    ),
  ),
  bug("resources are freed twice", ["resources", "no leaks"], 1, repeatEvery(Room, "give", 7)),
  bug(
    "wait returns a reference twice",
    ["waits"],
    1,
    replaceMethod(
      JobContext,
      "wait",
      (original) =>
        async function (this: JobContext, ...args: unknown[]) {
          const [done, pending] = (await call(original, this, args)) as ObjectRef<unknown>[][];
          return [done, done!.length > 0 ? [...pending!, done![0]] : pending];
        } as Method,
    ),
  ),
  bug("a lease that is suspended keeps its resources", ["settles", "fair"], 8, skipEvery(Leasing, "suspend", 1)),
  bug(
    "the end of a worker process is not told to holders",
    ["no leaks", "settles", "errors"],
    8,
    skipEvery(Leasing, "ended", 1),
  ),
  bug(
    "a name is given to two actors",
    ["actors"],
    3,
    replaceMethod(
      ActorNames,
      "claim",
      (original) =>
        function (this: unknown, ...args: unknown[]) {
          const claim = call(original, this, args) as { readonly kind: string };
          return claim.kind === "create" ? claim : { kind: "create", creation: { created() {}, failed() {} } };
        } as Method,
    ),
  ),
  bug(
    "a task that has begun counts as one that has not",
    ["begins once"],
    1,
    replaceMethod(BegunRecord, "lastBegun", () => (() => 0) as Method),
  ),
  bug(
    "tasks are not run again after their process has ended",
    ["settles", "errors"],
    15,
    skipEvery(TaskQueue, "lost", 1),
  ),
  bug("a borrower is not counted", ["kept while held"], 3, skipEvery(ExportedResults, "borrow", 3)),
  bug("the release of a borrower is lost", ["freed at last"], 2, skipEvery(ExportedResults, "unborrow", 5)),
  bug("a borrower that has ended is not counted out", ["freed at last"], 1, skipEvery(ExportedResults, "ended", 1)),
  bug(
    "a release is counted twice",
    ["kept while held"],
    13,
    replaceMethod(ExportedResults, "unborrow", (original) => {
      let before: unknown[] | undefined;
      return function (this: unknown, ...args: unknown[]) {
        // The message of the last release arrives once more. The process may have got another reference meanwhile.
        if (before !== undefined) call(original, before[0], before.slice(1));
        before = [this, ...args];
        call(original, this, args);
      } as Method;
    }),
  ),
  bug(
    "references in the results of tasks are not kept on their way",
    ["kept while held"],
    1,
    replaceMethod(
      ExportedResults,
      "export",
      (original) =>
        function (this: unknown, result: unknown) {
          return call(original, this, [result, false]);
        } as Method,
    ),
  ),
  bug(
    "a reference that comes back to its process stays on its way",
    ["freed at last"],
    2,
    skipEvery(ExportedResults, "returned", 1),
  ),
  bug(
    "a process that passes a reference on does not keep it",
    ["kept while held"],
    20,
    replaceMethod(BorrowedResults, "lend", () => (() => () => {}) as Method),
  ),
];
