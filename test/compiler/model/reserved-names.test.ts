import { expect, test } from "vitest";
import { reservedEndpointNames, whyReserved } from "../../../compiler/model/reserved-names.js";
import type { Actor } from "../../../runtime/actor/actor.js";
import { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import { ActorMesh } from "../../../runtime/actor/mesh/actor-mesh.js";

const own = (prototype: object) => Object.getOwnPropertyNames(prototype);

/** The names of all members of an actor. The type check fails when a member is missing here. */
const ofActors: Readonly<Record<keyof Actor, true>> = {
  $kind: true,
  init: true,
  supervise: true,
  undeliverable: true,
  cleanup: true,
};

test("names of members of meshes, actors and objects are reserved, so that no endpoint can hide them", () => {
  const members = [...own(ActorMesh.prototype), ...own(Object.prototype), ...Object.keys(ofActors)];
  expect(members.filter((name) => whyReserved(name) === undefined)).toEqual([]);
});

test("the names of all members of Endpoint except `name` are reserved", () => {
  const adverbs = own(Endpoint.prototype).filter((name) => name !== "name");
  expect(adverbs.filter((name) => whyReserved(name) === undefined)).toEqual([]);
});

test("then, catch and finally are reserved, so that a mesh is not taken for a promise", () => {
  expect(["then", "catch", "finally"].filter((name) => !reservedEndpointNames.has(name))).toEqual([]);
});
