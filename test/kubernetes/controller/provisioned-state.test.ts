/** Tests of what the controller remembers of the hosts of a request, and believes of the program that has asked for them. */
import { expect, test } from "vitest";
import { ProvisionedState } from "../../../runtime/job/kubernetes/controller/provisioned-state.js";

const host = (rank: number, incarnation: number) => {
  return { mesh: "generators", rank, address: `tls://10.0.0.${rank + 1}:26600`, incarnation };
};

test("a host that a program has lost is the one of its rank that was up last, whether or not it still is", () => {
  const state = new ProvisionedState("a", 1);
  state.see([host(0, 0), host(1, 0)]);
  state.see([host(0, 0)]);
  expect(state.lastUp("generators", 1, 0)).toEqual(host(1, 0));
  state.see([host(0, 0), host(1, 1)]);
  expect(state.lastUp("generators", 1, 0)).toBeUndefined();
  expect(state.lastUp("generators", 1, 1)).toEqual(host(1, 1));
});

test("a host that the request has not is none, whatever a program says", () => {
  const state = new ProvisionedState("a", 1);
  state.see([host(0, 0)]);
  const told = [
    ["others", 0, 0],
    ["generators", 1, 0],
    ["generators", "0", "0"],
    ["generators", -1, 0],
    ["__proto__", undefined, undefined],
    [undefined, undefined, undefined],
  ] as const;
  for (const [mesh, rank, incarnation] of told) expect(state.lastUp(mesh, rank, incarnation)).toBeUndefined();
});

test("a request waits for a state of another version, and not when there is one already", async () => {
  const state = new ProvisionedState("a", 1);
  const { version } = state;
  const waiting = state.after(version, new AbortController().signal);
  state.see([host(0, 0)]);
  expect(await waiting).toMatchObject({ hosts: [host(0, 0)] });
  expect((await state.after(version, new AbortController().signal)).version).not.toBe(version);
  state.end("released");
  state.end("later");
  expect(state.now.ended).toBe("released");
});

test("at most 8 requests wait for the same hosts", async () => {
  const state = new ProvisionedState("a", 1);
  const giving = new AbortController();
  const waiting = Array.from({ length: 8 }, () => state.after(state.version, giving.signal));
  await expect(state.after(state.version, giving.signal)).rejects.toThrow(
    "more than 8 requests wait for the same hosts",
  );
  giving.abort();
  await Promise.all(waiting);
});
