import { expect, test } from "vitest";
import { reservedEndpointNames, whyReserved } from "../../../compiler/model/reserved-names.js";
import type { Actor } from "../../../runtime/actor/actor.js";
import { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import { ActorMesh } from "../../../runtime/actor/mesh/actor-mesh.js";

const own = (prototype: object) => Object.getOwnPropertyNames(prototype);

/** Every member of an actor; the compiler tells when one is missing here. */
const ofActors: Readonly<Record<keyof Actor, true>> = {
  $kind: true,
  init: true,
  supervise: true,
  undeliverable: true,
  cleanup: true,
};

test("no endpoint can hide what a mesh, an actor or any object has", () => {
  const members = [...own(ActorMesh.prototype), ...own(Object.prototype), ...Object.keys(ofActors)];
  expect(members.filter((name) => whyReserved(name) === undefined)).toEqual([]);
});

test("the ways to call an endpoint are no names of endpoints", () => {
  const adverbs = own(Endpoint.prototype).filter((name) => name !== "name");
  expect(adverbs.filter((name) => whyReserved(name) === undefined)).toEqual([]);
});

test("a mesh does not pass for a promise", () => {
  expect(["then", "catch", "finally"].filter((name) => !reservedEndpointNames.has(name))).toEqual([]);
});
