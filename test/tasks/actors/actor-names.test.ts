import { describe, expect, test } from "vitest";
import { ActorNames, type NameRequest } from "../../../runtime/tasks/actors/actor-names.js";
import { ActorNameTakenError } from "../../../runtime/tasks/errors.js";

const at = Date.UTC(2026, 0, 2, 3, 4, 5);
const counter: NameRequest = { name: "hits", classId: "app/src/counter#Counter", getIfExists: false, at };
const getOrCreate: NameRequest = { ...counter, getIfExists: true };

/** Claims a name that is free, and returns the creation. */
function create(names: ActorNames<string>, request: NameRequest) {
  const claim = names.claim(request);
  if (claim.kind !== "create") throw new Error("the name is not free");
  return claim.creation;
}

/** Claims a name that an actor has, and returns that actor. */
function found(names: ActorNames<string>, request: NameRequest): Promise<string> {
  const claim = names.claim(request);
  if (claim.kind !== "found") throw new Error("the name is free");
  return claim.actor;
}

describe("A name", () => {
  test("belongs to one creation, and all who ask for it meanwhile get that actor", async () => {
    const names = new ActorNames<string>();
    const creation = create(names, getOrCreate);
    const others = [found(names, getOrCreate), found(names, getOrCreate), names.find("hits")];
    creation.created("actor 1");
    expect(await Promise.all(others)).toEqual(["actor 1", "actor 1", "actor 1"]);
    expect(await found(names, getOrCreate)).toBe("actor 1");
  });

  test("is free again when the creation fails, and all who wait get the error", async () => {
    const names = new ActorNames<string>();
    const creation = create(names, counter);
    const waiting = [found(names, getOrCreate), names.find("hits")];
    const error = new RangeError("no such size");
    creation.failed(error);
    expect(await Promise.allSettled(waiting)).toEqual(waiting.map(() => ({ status: "rejected", reason: error })));
    expect(names.size).toBe(0);
    create(names, counter).created("actor 2");
    expect(names.living("hits")).toBe("actor 2");
  });

  test("is refused while another actor has it, with the class and the time", () => {
    const names = new ActorNames<string>();
    const creation = create(names, counter);
    const request = { ...counter, classId: "app/src/sum#Sum", at: at + 1000 };
    const text = (state: string) =>
      `cannot create actor "hits": an actor of app/src/counter#Counter ${state} since 2026-01-02T03:04:05.000Z; take another ` +
      'name, set getIfExists to get that actor, or end it by context.stopActor("hits")';
    expect(() => names.claim(request)).toThrow(new ActorNameTakenError(text("is being created under the name")));
    creation.created("actor 1");
    expect(() => names.claim(request)).toThrow(new ActorNameTakenError(text("has the name")));
  });

  test("of an actor of another class is refused, also to those who would take an existing actor", () => {
    const names = new ActorNames<string>();
    create(names, counter);
    expect(() => names.claim({ ...getOrCreate, classId: "app/src/sum#Sum" })).toThrow(
      new TypeError(
        'cannot get actor "hits": expected an actor of app/src/sum#Sum, and the actor with this name is of ' +
          "app/src/counter#Counter; take another name, or ask for that class",
      ),
    );
  });

  test("is freed by the end of its actor, and not by that of an earlier one", () => {
    const names = new ActorNames<string>();
    create(names, counter).created("actor 1");
    names.free("hits", "actor 1");
    expect(names.find("hits")).toBeUndefined();
    create(names, counter).created("actor 2");
    names.free("hits", "actor 1");
    expect(names.living("hits")).toBe("actor 2");
  });
});
