/** These tests check messages that arrive before their actor exists. */
import { beforeEach, expect, test } from "vitest";
import { EarlyMessages } from "../../../runtime/actor/delivery/early-messages.js";
import type { Binding } from "../../../runtime/link/frame/binding.js";
import { type Destination, Lane } from "../../../runtime/link/inbound/lane.js";
import type { Link } from "../../../runtime/link/link.js";
import { Reader } from "../../../runtime/wire/reader.js";

const nobody = { universe: 1n, proc: 2n, mesh: 3n, rank: 0, incarnation: 0 };
const request = {
  sender: { ...nobody, name: "nobody" },
  target: { kind: "actor", proc: 4n, number: 5n, rank: 0, owner: 2n, fingerprint: 0n },
  credit: { messages: 16, bytes: 1024, streamItems: 16, streamBytes: 1024 },
} as const;
const lane = (held: EarlyMessages) => new Lane({} as Link, 1, request, held);
const binding = {} as Binding;

let got: string[];
let actor: Destination;
beforeEach(() => {
  got = [];
  actor = {
    bind: () => void got.push("bind"),
    message: (_lane, slot) => void got.push(`message ${slot}`),
    cancel: (_lane, call) => void got.push(`cancel ${call}`),
    laneClosed: () => {},
  };
});

test("early messages reach their actor in order once it exists, and their lanes lead to it from then on", () => {
  const held = new EarlyMessages();
  const one = lane(held);
  held.bind(one, binding);
  held.message(one, 3, 7, 0, new Reader(), 8);
  held.cancel(one, 7, 0);
  expect(got).toEqual([]);
  held.release(actor);
  expect(got).toEqual(["bind", "message 3", "cancel 7"]);
  expect(one.destination).toBe(actor);
});

test("a lane without early messages leads to the actor as well, from its first message on", () => {
  const held = new EarlyMessages();
  held.release(actor);
  const [late, later, last] = [lane(held), lane(held), lane(held)];
  held.bind(late, binding);
  held.message(later, 4, 0, 0, new Reader(), 8);
  held.cancel(last, 9, 0);
  expect(got).toEqual(["bind", "message 4", "cancel 9"]);
  expect([late, later].map(({ destination }) => destination)).toEqual([actor, actor]);
});
