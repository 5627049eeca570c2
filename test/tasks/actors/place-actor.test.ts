import { expect, test } from "vitest";
import { chooseHost, type HostState } from "../../../runtime/tasks/actors/place-actor.js";
import { ResourceUnavailableError } from "../../../runtime/tasks/errors.js";

function host(number: number, state: Partial<HostState> = {}): HostState {
  const total = { cpus: 4, gpus: 1 };
  return { host: number, total, free: total, waiting: 0, actors: 0, ...state };
}

test("An actor goes to the host with the fewest actors, of those that have its resources free", () => {
  const hosts = [host(0, { actors: 3 }), host(1, { actors: 2, free: { cpus: 1, gpus: 0 } }), host(2, { actors: 4 })];
  expect(chooseHost("a", {}, hosts)).toBe(1);
  expect(chooseHost("a", { cpus: 1 }, hosts)).toBe(1);
  expect(chooseHost("a", { cpus: 2 }, hosts)).toBe(0);
});

test("Of equal hosts, the first is chosen", () => {
  expect(chooseHost("a", {}, [host(0), host(1)])).toBe(0);
});

test("An actor whose resources are in use everywhere waits where the fewest requests wait", () => {
  const free = { cpus: 0 };
  const hosts = [host(0, { free, waiting: 2 }), host(1, { free, waiting: 1, actors: 9 })];
  expect(chooseHost("a", { cpus: 1 }, hosts)).toBe(1);
});

test("A host with requests that wait is not asked as long as another one is free", () => {
  expect(chooseHost("a", { cpus: 1 }, [host(0, { waiting: 1 }), host(1, { actors: 9 })])).toBe(1);
});

test("An actor that needs more than any host has is refused, with what there is", () => {
  const hosts = [host(0), host(1), host(2, { total: { cpus: 64 } })];
  expect(() => chooseHost("trainer", { gpus: 2, cpus: 1 }, hosts)).toThrow(
    new ResourceUnavailableError(
      "cannot create actor trainer: no host of the context has 2 gpus, 1 cpu; each has 4 cpus, 1 gpu, or 64 cpus",
    ),
  );
  expect(() => chooseHost("trainer", {}, [])).toThrow(
    "cannot create actor trainer: the context has no host that lives",
  );
});
