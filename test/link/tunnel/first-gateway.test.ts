/** Tests of tunnels that can go through several gateways, with gateways that refuse, are silent, or are not there. */
import { expect, test } from "vitest";
import { HandshakeError } from "../../../runtime/link/handshake/errors.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { TunnelDialler } from "../../../runtime/link/tunnel/dial.js";
import { TunnelServer } from "../../../runtime/link/tunnel/serve.js";
import { ManualClock } from "../resumable/cut-world.js";
import { settled } from "./joined.js";

type State = "accepts" | "is silent" | "refuses" | "is absent";

const absent = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const refusal = new HandshakeError("token", "the token is not that of this process");

/** Gateways that can be made to fail, and a dialler that uses them. */
function cluster(...names: readonly string[]) {
  const clock = new ManualClock();
  const states = new Map<string, State>(names.map((name) => [name, "accepts"]));
  const tried: string[] = [];
  const open = new Map<string, Pipe>();
  const opened: (string | undefined)[] = [];
  const gateway = (name: string) => ({
    name,
    connect: (signal: AbortSignal): Promise<Pipe> => {
      tried.push(name);
      const state = states.get(name);
      if (state === "refuses") return Promise.reject(refusal);
      if (state === "is absent") return Promise.reject(absent);
      const [near, far] = inProcessPipePair();
      open.set(name, near);
      const server = new TunnelServer({ clock, connect: () => new Promise(() => {}) });
      if (state === "accepts") server.accept(far);
      else
        return new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
        );
      return Promise.resolve(near);
    },
  });
  const dialler: TunnelDialler = new TunnelDialler({
    clock,
    gateways: () => [...states.keys()].map(gateway),
    opened: () => opened.push(dialler.gateway?.name),
  });
  return { clock, states, tried, open, opened, dialler };
}

const name = ({ name }: { readonly name: string }) => name;

test("the first gateway is used, and the next one when it is not there", async () => {
  const { states, tried, open, opened, dialler } = cluster("a", "b", "c");
  expect(await dialler.reach().then(name)).toBe("a");
  states.set("a", "is absent").set("b", "refuses");
  open.get("a")!.destroy();
  await settled();
  expect(dialler.gateway).toBeUndefined();
  expect(await dialler.reach().then(name)).toBe("c");
  expect(dialler.lastFailure).toBe("a: connect ECONNREFUSED; b: the token is not that of this process");
  // The gateway in use is kept, although the others are back.
  states.set("a", "accepts");
  open.get("c")!.destroy();
  await settled();
  expect(await dialler.reach().then(name)).toBe("c");
  expect([tried, opened, dialler.lastFailure]).toEqual([["a", "a", "b", "c", "c"], ["a", "c", "c"], undefined]);
});

test("a gateway that does not answer is not waited for alone, and a late answer of it is dropped", async () => {
  const { clock, states, dialler, tried } = cluster("a", "b");
  states.set("a", "is silent");
  const reached = dialler.reach();
  await settled();
  expect(tried).toEqual(["a"]);
  clock.pass(2500);
  expect(await reached.then(name)).toBe("b");
  expect(tried).toEqual(["a", "b"]);
});

test("a tunnel that falls silent is replaced by one through another gateway", async () => {
  const { clock, states, open, dialler } = cluster("a", "b");
  expect(await dialler.reach().then(name)).toBe("a");
  expect(await dialler.check()).toBe(true);
  states.set("a", "is silent");
  Object.assign(open.get("a")!, { write: () => {} });
  const checked = dialler.check();
  await settled();
  clock.pass(2500);
  await settled();
  clock.pass(2500);
  expect([await checked, dialler.gateway?.name]).toEqual([true, "b"]);
});

test("a gateway without an answer keeps its tunnel if no other one is reached", async () => {
  const { clock, states, open, dialler } = cluster("a", "b");
  await dialler.reach();
  states.set("a", "is absent").set("b", "is absent");
  Object.assign(open.get("a")!, { write: () => {} });
  const checked = dialler.check();
  await settled();
  clock.pass(2500);
  expect([await checked, dialler.gateway?.name]).toEqual([false, "a"]);
});

test("a gateway that is reached and of no use is left for the next one", async () => {
  const { dialler, states } = cluster("a", "b");
  await dialler.reach();
  await dialler.moveOn();
  expect(dialler.gateway?.name).toBe("b");
  states.set("a", "is absent");
  await dialler.moveOn();
  expect(dialler.gateway?.name).toBe("b");
});

test("the error names all gateways, and is final only if each of them refuses a process that none has accepted", async () => {
  const { states, dialler, open } = cluster("a", "b");
  states.set("a", "refuses").set("b", "is absent");
  await expect(dialler.reach()).rejects.toMatchObject({
    code: "ECONNREFUSED",
    message: "cannot reach any driver gateway: a: the token is not that of this process; b: connect ECONNREFUSED",
  });
  states.set("b", "refuses");
  await expect(dialler.reach()).rejects.toMatchObject({
    name: "HandshakeError",
    isTransient: false,
    // One reason for all of them is said once.
    message: "cannot reach any driver gateway: the token is not that of this process",
  });
  states.set("a", "accepts");
  await dialler.reach();
  states.set("a", "refuses");
  open.get("a")!.destroy();
  await settled();
  await expect(dialler.reach()).rejects.toMatchObject({ name: "HandshakeError", isTransient: true });
});

test("a list of gateways that is empty for a while is asked again", async () => {
  const { states, dialler } = cluster();
  await expect(dialler.reach()).rejects.toMatchObject({
    isTransient: true,
    message: "cannot reach any driver gateway: no host is known that could be one",
  });
  states.set("a", "accepts");
  expect(await dialler.reach().then(name)).toBe("a");
});
