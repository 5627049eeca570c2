/** Tests of the results that a process keeps for others: until all have dropped their references, or have ended. */
import { expect, test } from "vitest";
import { type TaskOwnerMesh, taskOwnerDescriptor } from "../../generated/tasks.js";
import { wholeMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import { MeshRecord } from "../../runtime/actor/reference/mesh-record.js";
import { ExportedResults } from "../../runtime/tasks/refs/exported-results.js";
import { Result } from "../../runtime/tasks/refs/result.js";

/** The owner of another process. */
function ownerIn(proc: bigint): TaskOwnerMesh<never> {
  const record = new MeshRecord({ id: proc + 100n, name: "results", owner: proc, extent: {} });
  record.setLocation(0, { proc, location: "" });
  return wholeMesh(record, taskOwnerDescriptor) as unknown as TaskOwnerMesh<never>;
}

function exporting() {
  const ends = new Map<TaskOwnerMesh<never>, () => void>();
  const drops = { watch() {}, unwatch() {}, reference: <T extends object>(value: T) => ({ deref: () => value }) };
  const results = new ExportedResults(drops as never, (owner, ended) => ends.set(owner, ended));
  const result = new Result(7, "make");
  return { results, result, kill: (owner: TaskOwnerMesh<never>) => ends.get(owner)!() };
}

const [one, two] = [ownerIn(1n), ownerIn(2n)];

test("a reference on the way to a process keeps its result until the process has borrowed and dropped it", () => {
  const { results, result } = exporting();
  results.export(result, true, one);
  expect(results.size).toBe(1);
  results.borrow(7, one, true);
  results.unborrow(7, one);
  expect(results.size).toBe(0);
});

test("a result is dropped when the process to which a reference is on the way has ended", () => {
  const { results, result, kill } = exporting();
  results.export(result, true, one);
  results.export(result, true, one);
  kill(one);
  expect(results.size).toBe(0);
});

test("the end of a process drops nothing that others borrow, or that is on the way to others", () => {
  const { results, result, kill } = exporting();
  results.export(result, true, one);
  results.export(result, true, two);
  results.export(result, true);
  kill(one);
  expect(results.size).toBe(1);
  results.borrow(7, two, true);
  results.unborrow(7, two);
  // The reference that is on the way to the program is left.
  expect(results.size).toBe(1);
  const program = ownerIn(3n);
  results.borrow(7, program, true);
  expect(results.size).toBe(1);
  kill(program);
  expect(results.size).toBe(0);
});

test("a process that has dropped a reference and ends before it gets another one leaves nothing", () => {
  const { results, result, kill } = exporting();
  results.export(result, true, one);
  results.borrow(7, one, true);
  results.export(result, true, one);
  results.unborrow(7, one);
  expect(results.size).toBe(1);
  kill(one);
  expect(results.size).toBe(0);
});

test("a result that no process borrows any more is still found, and can be borrowed again", () => {
  const { results, result } = exporting();
  results.export(result, false);
  for (const borrower of [one, two]) {
    expect(results.find(7)).toBe(result);
    expect(results.size).toBe(0);
    results.borrow(7, borrower, false);
    results.borrow(7, borrower, false);
    expect(results.size).toBe(1);
    expect(results.borrowersOf(7)).toBe(1);
    results.unborrow(7, borrower);
  }
  expect(results.find(7)).toBe(result);
  expect(results.size).toBe(0);
});

test("a result that is kept is not watched, because it cannot be dropped", () => {
  const watched = new Set<object>();
  const drops = {
    watch: (_: object, held: object) => void watched.add(held),
    unwatch: (held: object) => void watched.delete(held),
    reference: <T extends object>(value: T) => ({ deref: () => value }),
  };
  const results = new ExportedResults(drops as never, () => {});
  results.export(new Result(7, "make"), false);
  expect(watched.size).toBe(1);
  results.borrow(7, one, false);
  expect(watched.size).toBe(0);
  results.unborrow(7, one);
  expect(watched.size).toBe(1);
});

test("a result is dropped when the only reference on its way has come back to the process itself", () => {
  const { results, result } = exporting();
  results.export(result, true, one);
  expect(results.keeps(7)).toBe(true);
  results.returned(7, 1n);
  expect(results.keeps(7)).toBe(false);
});
