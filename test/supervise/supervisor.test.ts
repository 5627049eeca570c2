import { describe, expect, test } from "vitest";
import { systemClock } from "../../runtime/link/clock.js";
import type { FailureCause } from "../../runtime/supervise/failure-cause.js";
import { MeshFailure } from "../../runtime/supervise/mesh-failure.js";
import { type OwnedMesh, Ownership } from "../../runtime/supervise/ownership.js";
import { type OwnerActions, Supervisor } from "../../runtime/supervise/supervisor.js";

function failureOf(mesh: string): MeshFailure {
  return new MeshFailure({
    mesh,
    ranks: [0],
    kind: "message",
    cause: { name: "TypeError", message: `${mesh} gave up`, cause: { name: "Error", message: "the root of it" } },
    at: new Date(0),
    affected: [],
  });
}

interface Owner {
  readonly name: string;
  readonly root?: boolean;
  supervise(failure: MeshFailure): unknown;
  failed?: FailureCause;
}

function supervisor() {
  const unhandled: MeshFailure[] = [];
  const owners: OwnerActions<Owner> = {
    isRoot: (owner) => owner.root === true,
    hasEnded: (owner) => owner.failed !== undefined,
    supervise: (owner, failure) => owner.supervise(failure),
    fail(owner, cause) {
      owner.failed = cause;
    },
    unhandled: async (failure) => void unhandled.push(failure),
  };
  return { it: new Supervisor(owners, systemClock), unhandled };
}

/** The method name as a variable, so that no linter takes it for a mistake. */
const then: string = "then";

const refuse = (): never => {
  throw new Error("no");
};

function unreadable(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("an owner", () => {
  test("handles failures one at a time and in order, however long each one takes", async () => {
    const events: string[] = [];
    const owner: Owner = {
      name: "boss",
      async supervise({ mesh }) {
        events.push(`+${mesh}`);
        await new Promise((resolve) => setTimeout(resolve, mesh === "a" ? 20 : 0));
        events.push(`-${mesh}`);
        return true;
      },
    };
    const { it } = supervisor();
    await Promise.all(["a", "b", "c"].map((mesh) => it.notifyOwner(owner, failureOf(mesh))));
    expect(events).toEqual(["+a", "-a", "+b", "-b", "+c", "-c"]);
    expect(owner.failed).toBeUndefined();
  });

  test("is told without waiting for a slow owner", async () => {
    const { it } = supervisor();
    const slow: Owner = { name: "slow", supervise: () => new Promise(() => {}) };
    let told = false;
    const quick: Owner = {
      name: "quick",
      supervise() {
        told = true;
        return true;
      },
    };
    void it.notifyOwner(slow, failureOf("a"));
    await it.notifyOwner(quick, failureOf("b"));
    expect(told).toBe(true);
  });

  test("is never told synchronously", () => {
    const { it } = supervisor();
    let told = false;
    void it.notifyOwner({ name: "boss", supervise: () => (told = true) }, failureOf("a"));
    expect(told).toBe(false);
  });

  test.each([false, undefined])("fails with the failure as its cause when it answers %s", async (answer) => {
    const owner: Owner = { name: "boss", supervise: () => answer };
    await supervisor().it.notifyOwner(owner, failureOf("workers"));
    expect(owner.failed).toEqual({
      name: "SupervisionError",
      message: 'supervise did not handle the failure of mesh "workers"',
      cause: {
        name: "MeshFailure",
        message: 'mesh "workers" failed at rank 0 (message)',
        cause: failureOf("workers").record.cause,
      },
    });
  });

  test.each([
    ["returns an object that pretends to be a promise", () => Object.defineProperty({}, then, { get: refuse }), "no"],
    ["rejects with undefined", () => Promise.reject(undefined), "threw undefined"],
    ["rejects with a revoked proxy", () => Promise.reject(unreadable()), "threw an object that cannot be printed"],
  ])("fails with the reason when its supervise method %s", async (_, supervise, why) => {
    const owner: Owner = { name: "boss", supervise };
    await supervisor().it.notifyOwner(owner, failureOf("workers"));
    expect(owner.failed?.message).toBe(`supervise threw: ${why}`);
  });

  test("fails with both errors in one chain when its supervise method throws", async () => {
    const owner: Owner = {
      name: "boss",
      async supervise() {
        throw new RangeError("overwhelmed");
      },
    };
    await supervisor().it.notifyOwner(owner, failureOf("workers"));
    const messages: string[] = [];
    for (let cause = owner.failed; cause !== undefined; cause = cause.cause)
      messages.push(`${cause.name}: ${cause.message}`);
    expect(messages).toEqual([
      "SupervisionError: supervise threw: overwhelmed",
      "RangeError: overwhelmed",
      'MeshFailure: mesh "workers" failed at rank 0 (message)',
      "TypeError: workers gave up",
      "Error: the root of it",
    ]);
  });

  test("is told of no further failure once it has failed", async () => {
    const seen: string[] = [];
    const owner: Owner = {
      name: "boss",
      supervise({ mesh }) {
        seen.push(mesh);
        return false;
      },
    };
    const { it } = supervisor();
    await Promise.all([it.notifyOwner(owner, failureOf("a")), it.notifyOwner(owner, failureOf("b"))]);
    expect(seen).toEqual(["a"]);
  });

  test("keeps its own cause when it ends while it decides", async () => {
    const owner: Owner = {
      name: "boss",
      supervise() {
        owner.failed = { name: "Error", message: "already" };
        return false;
      },
    };
    await supervisor().it.notifyOwner(owner, failureOf("a"));
    expect(owner.failed?.message).toBe("already");
  });

  test("that is a root leaves the failure unhandled", async () => {
    const { it, unhandled } = supervisor();
    await it.notifyOwner({ name: "root", root: true, supervise: () => true }, failureOf("a"));
    expect(unhandled.map(({ mesh }) => mesh)).toEqual(["a"]);
  });
});

describe("the meshes of an owner", () => {
  const stop = { reason: "done", drain: 0 };
  function owned(name: string, log: string[]): OwnedMesh {
    return {
      name,
      async stop() {
        log.push(`+${name}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        log.push(`-${name}`);
      },
    };
  }

  test("are stopped with the owner, all at the same time", async () => {
    const [log, owner, ownership] = [[] as string[], {}, new Ownership()];
    ownership.add(owner, owned("procs", log));
    ownership.add(owner, owned("actors", log));
    ownership.add({}, owned("someone else's", log));
    await ownership.stopOwned(owner, stop);
    expect(log).toEqual(["+procs", "+actors", "-procs", "-actors"]);
    expect(ownership.ownedBy(owner)).toEqual([]);
  });

  test("include meshes that are spawned during the stop", async () => {
    const [log, owner, ownership] = [[] as string[], {}, new Ownership()];
    const late = owned("late", log);
    const first = owned("first", log);
    ownership.add(owner, {
      ...first,
      async stop(options) {
        await first.stop(options);
        ownership.add(owner, late);
      },
    });
    await ownership.stopOwned(owner, stop);
    expect(log).toEqual(["+first", "-first", "+late", "-late"]);
    expect(ownership.isEmpty).toBe(true);
  });

  test("are forgotten when they end by themselves, and other meshes are kept", async () => {
    const [log, owner, ownership] = [[] as string[], {}, new Ownership()];
    const [brief, other] = [owned("brief", log), owned("other", log)];
    expect(ownership.isEmpty).toBe(true);
    ownership.remove(owner, brief);
    ownership.add(owner, brief);
    ownership.add(owner, other);
    ownership.remove(owner, brief);
    ownership.remove(owner, brief);
    expect(ownership.ownedBy(owner)).toEqual([other]);
    expect(ownership.isEmpty).toBe(false);
    await ownership.stopOwned(owner, stop);
    expect(log).toEqual(["+other", "-other"]);
    expect(ownership.isEmpty).toBe(true);
  });

  test("are closed for this owner alone by close", () => {
    const [owner, ownership] = [{}, new Ownership()];
    expect(ownership.isClosed(owner)).toBe(false);
    ownership.close(owner);
    expect(ownership.isClosed(owner)).toBe(true);
    expect(ownership.isClosed({})).toBe(false);
  });
});
