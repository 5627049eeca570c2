/**
 * Tests of the reports of taken casts: they come in batches, and not before all actors here and all branches have taken
 * the casts.
 */
import { expect, test } from "vitest";
import type { Branch } from "../../../runtime/cast/tree/branch.js";
import { TakenCounter } from "../../../runtime/cast/tree/taken-counter.js";

/** Creates the counter of a part of a tree with the given number of branches. */
function part(below: number, window = { casts: 8, bytes: 800 }) {
  const told: number[] = [];
  const branches = Array.from({ length: below }, () => ({ takenCasts: 0 }) as Branch);
  const taken = new TakenCounter(window, branches, (casts) => told.push(casts));
  return { taken, told, branches };
}

/** Creates a counter with a branch that has taken more casts than were sent, so that only the actors here count. */
function ahead(window = { casts: 8, bytes: 800 }) {
  const made = part(1, window);
  made.branches[0]!.takenCasts = 1000;
  return made;
}

test("taken casts are reported after each quarter of the number of casts that the root allows", () => {
  for (const { taken, told } of [part(0), ahead()]) {
    for (let i = 0; i < 5; i++) taken.addCast(1, 0)();
    expect(told).toEqual([2, 4]);
  }
});

test("taken casts are reported after each quarter of the number of bytes that the root allows", () => {
  const { taken, told } = part(0, { casts: 100, bytes: 800 });
  for (let i = 0; i < 7; i++) taken.addCast(1, 100)();
  expect(told).toEqual([2, 4, 6]);
});

test("each taken cast is reported at once if the root allows very few casts or bytes", () => {
  const { taken, told } = part(0, { casts: 1, bytes: 800 });
  for (let i = 0; i < 2; i++) taken.addCast(1, 1)();
  expect(told).toEqual([1, 2]);
  const few = part(0, { casts: 100, bytes: 3 });
  few.taken.addCast(1, 0)();
  expect(few.told).toEqual([]);
  few.taken.addCast(1, 1)();
  expect(few.told).toEqual([2]);
});

test("a cast counts as taken when all actors here have taken the cast and all earlier casts", () => {
  const { taken, told } = part(0, { casts: 4, bytes: 400 });
  const first = taken.addCast(2, 0);
  const second = taken.addCast(1, 0);
  second();
  first();
  expect(told).toEqual([]);
  first();
  expect(told).toEqual([2]);
  taken.addCast(0, 0);
  expect(told).toEqual([2, 3]);
});

test("a cast that no actor here receives counts as taken after all earlier casts", () => {
  const { taken, told } = part(0, { casts: 4, bytes: 400 });
  const first = taken.addCast(1, 0);
  taken.addCast(0, 0);
  expect(told).toEqual([]);
  first();
  expect(told).toEqual([2]);
});

test("reports never exceed the casts that all branches have taken, and follow their reports at once", () => {
  const { taken, told, branches } = part(2);
  for (let i = 0; i < 3; i++) taken.addCast(1, 0)();
  expect(told).toEqual([]);
  branches[0]!.takenCasts = 3;
  taken.takenBelow();
  expect(told).toEqual([]);
  branches[1]!.takenCasts = 1;
  taken.takenBelow();
  expect(told).toEqual([1]);
  branches[1]!.takenCasts = 3;
  taken.takenBelow();
  expect(told).toEqual([1, 3]);
});

test("after a flush, all casts that have arrived are reported as soon as they are taken", () => {
  const { taken, told } = part(0);
  taken.addCast(1, 0)();
  const second = taken.addCast(1, 0);
  taken.flush();
  expect(told).toEqual([1]);
  second();
  expect(told).toEqual([1, 2]);
  taken.addCast(1, 0)();
  expect(told).toEqual([1, 2]);
  taken.flush();
  expect(told).toEqual([1, 2, 3]);
  taken.flush();
  expect(told).toEqual([1, 2, 3]);
});

test("bytes that were reported do not count towards the next report", () => {
  const { taken, told } = part(0, { casts: 100, bytes: 800 });
  taken.addCast(1, 200)();
  taken.addCast(1, 199)();
  expect(told).toEqual([1]);
  taken.addCast(1, 1)();
  expect(told).toEqual([1, 3]);
});
