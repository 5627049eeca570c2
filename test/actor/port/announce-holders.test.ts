/** Announcements to the owner of a port that an actor holds the port, or has released it. */
import { beforeEach, describe, expect, test } from "vitest";
import {
  announceHolders,
  holderName,
  ownReceivedPorts,
  portsRead,
  portsWritten,
} from "../../../runtime/actor/port/announce-holders.js";
import { OwnedPorts } from "../../../runtime/actor/port/owned-ports.js";
import { ChannelPort } from "../../../runtime/actor/port/port.js";
import { PortTarget } from "../../../runtime/actor/port/port-target.js";
import type { Proc } from "../../../runtime/actor/proc/proc.js";
import type { Session } from "../../../runtime/link/outbound/session.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { codec } from "../../../runtime/wire/composed/index.js";

const here = 9n;
const there = 8n;
let told: string[];
/** The functions to call when a port has been dropped, by the number of the port. */
let drop: Map<bigint, () => void>;
let reachable: boolean;
let proc: Proc;
const port = (number: bigint, owner = there): ChannelPort<unknown> =>
  new ChannelPort(new PortTarget(owner, number, 0n, "place"), codec.int32 as Codec<unknown>);
const text = (number: bigint, name: string, holder: bigint, held: boolean) =>
  `port ${number} is ${held ? "held by" : "let go of by"} ${name} of ${holder}`;

beforeEach(() => {
  told = [];
  drop = new Map();
  reachable = true;
  const sendHold = (held: boolean, number: bigint, name: string, holder: bigint): void => {
    told.push(text(number, name, holder, held));
  };
  proc = {
    id: here,
    portHolderChanged: (_: undefined, number: bigint, name: string, holder: bigint, held: boolean) =>
      told.push(`here: ${text(number, name, holder, held)}`),
    linkTo: (target: PortTarget, location: string) =>
      reachable && target.proc === there && location === "place" ? { sendHold } : undefined,
    drops: {
      watch: (value: ChannelPort<unknown>, held: { dropped(): void }) =>
        void drop.set(value.target.number, () => held.dropped()),
    },
  } as unknown as Proc;
  portsWritten.length = 0;
  portsRead.length = 0;
});

test("the name of a holder consists of its mesh, its rank and its incarnation", () => {
  expect(holderName({ mesh: 77n, rank: 3, incarnation: 2 })).toBe("77/3/2");
});

describe("the ports in a message that was sent", () => {
  const receivers = [1, 2].map((rank) => ({ proc: 5n, name: `r${rank}` }));

  test("are announced to their owners as held by all receivers", () => {
    portsWritten.push(port(1n), port(2n, here));
    announceHolders(proc, receivers);
    expect(told).toEqual([
      text(1n, "r1", 5n, true),
      text(1n, "r2", 5n, true),
      `here: ${text(2n, "r1", 5n, true)}`,
      `here: ${text(2n, "r2", 5n, true)}`,
    ]);
    expect(portsWritten).toEqual([]);
  });

  test("are announced as held and then as released for receivers that cannot be reached", () => {
    portsWritten.push(port(1n));
    announceHolders(proc, [receivers[0]!], [receivers[1]!]);
    expect(told).toEqual([text(1n, "r1", 5n, true), text(1n, "r2", 5n, true), text(1n, "r2", 5n, false)]);
  });

  test("are not announced if the process of their owner cannot be reached", () => {
    reachable = false;
    portsWritten.push(port(1n));
    announceHolders(proc, receivers);
    expect([told, portsWritten]).toEqual([[], []]);
  });
});

describe("the ports in an answer", () => {
  test("are held by the actor that made the call", () => {
    let held = 0;
    ownReceivedPorts({
      sender: { ports: { ownDecoded: () => void held++ } },
    } as unknown as Session);
    expect(held).toBe(1);
  });

  test.each([[undefined], [{}], [{ sender: {} }]])("are skipped if the session has no sending actor: %j", (session) => {
    expect(() => ownReceivedPorts(session as unknown as Session)).not.toThrow();
  });
});

describe("the ports that an actor has received", () => {
  const held = (incarnation = 0): OwnedPorts =>
    new OwnedPorts(proc, { universe: 1n, proc: here, mesh: 77n, rank: 3, incarnation });
  const session = (number: bigint) => {
    const waiting: (() => void)[] = [];
    const afterAllSent = (then: () => void): void => void waiting.push(then);
    return { waiting, session: { target: { number }, afterAllSent } as unknown as Session };
  };

  test("are released once when the actor ends", () => {
    const ports = held();
    portsRead.push(port(1n), port(2n));
    ports.ownDecoded();
    expect([told, portsRead]).toEqual([[], []]);
    ports.releaseAll([]);
    expect(told).toEqual([text(1n, "77/3/0", here, false), text(2n, "77/3/0", here, false)]);
    ports.releaseAll([]);
    expect(told.length).toBe(2);
  });

  test("are announced under the current incarnation, and released under all incarnations so far", () => {
    const ports = held(2);
    portsRead.push(port(1n));
    ports.ownDecoded();
    expect(told).toEqual([text(1n, "77/3/2", here, true)]);
    told = [];
    ports.releaseAll([]);
    expect(told).toEqual([0, 1, 2].map((incarnation) => text(1n, `77/3/${incarnation}`, here, false)));
  });

  test("are not released when the actor ends if the actor has dropped them before", () => {
    const ports = held();
    portsRead.push(port(1n), port(2n));
    ports.ownDecoded();
    drop.get(1n)!();
    ports.releaseAll([]);
    expect(told).toEqual([text(2n, "77/3/0", here, false)]);
  });

  test("are released at once if no actor gets them", () => {
    portsRead.push(port(1n));
    held(1).releaseDecoded();
    expect(told).toEqual([0, 1].map((incarnation) => text(1n, `77/3/${incarnation}`, here, false)));
    expect(portsRead).toEqual([]);
  });

  test("are released after all messages that the actor has sent through them", () => {
    const ports = held();
    portsRead.push(port(1n));
    ports.ownDecoded();
    const [one, other, elsewhere] = [session(1n), session(1n), session(2n)];
    ports.releaseAll([one, other, elsewhere].map((each) => each.session));
    expect([one, other, elsewhere].map(({ waiting }) => waiting.length)).toEqual([1, 1, 0]);
    one.waiting[0]!();
    expect(told).toEqual([]);
    other.waiting[0]!();
    expect(told).toEqual([text(1n, "77/3/0", here, false)]);
  });
});
