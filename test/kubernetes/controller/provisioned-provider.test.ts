/** Tests of how a program follows the hosts that the controller has given to it, with a controller that answers as the test says. */
import { expect, test } from "vitest";
import type { ControllerClient } from "../../../runtime/job/kubernetes/provision/controller-client.js";
import { ControllerError } from "../../../runtime/job/kubernetes/provision/controller-client.js";
import type { ProvisionState } from "../../../runtime/job/kubernetes/provision/protocol.js";
import { ProvisionedProvider } from "../../../runtime/job/kubernetes/provision/provisioned-provider.js";

const host = { mesh: "generators", rank: 0, address: "tls://10.0.0.1:26600#x", incarnation: 1 };
const first: ProvisionState = { version: "a.1", hosts: [host], events: [] };
const forever = new AbortController().signal;

function provider(answers: readonly (ProvisionState | Error)[], ownerEnd: () => Error | undefined = () => undefined) {
  const asked: string[] = [];
  const left = [...answers];
  const client = {
    async ask(method: string, path: string) {
      asked.push(`${method} ${path}`);
      const next = method === "GET" ? left.shift() : {};
      if (next instanceof Error) throw next;
      return next ?? new Promise(() => {});
    },
    close() {},
  } as unknown as ControllerClient;
  const meshes = { generators: { hosts: 1 } };
  return { asked, provider: new ProvisionedProvider({ id: "i", name: "train-1", meshes, client, ownerEnd }) };
}

test("each request names the version of the state that is known, and the end has the reason of the controller", async () => {
  const { provider: hosts, asked } = provider([first, { ...first, version: "a.2", ended: "it was released" }]);
  expect(await hosts.watch("i", () => {}, forever)).toBe("it was released");
  expect(asked).toEqual(["GET /v1/provisions/i?after=", "GET /v1/provisions/i?after=a.1"]);
});

test("hosts that are awaited are found in the states, and their end is the error", async () => {
  const { provider: hosts } = provider([{ ...first, hosts: [] }, first]);
  const found = hosts.hosts("i", () => {}, forever);
  void hosts.watch("i", () => {}, forever);
  expect(await found).toEqual([host]);
  const { provider: ended } = provider([{ ...first, hosts: [], ended: "the pod has ended" }]);
  const waiting = ended.hosts("i", () => {}, forever);
  void ended.watch("i", () => {}, forever);
  await expect(waiting).rejects.toThrow('cannot start job "train-1": the pod has ended');
});

test("a lost host is told to the controller, and is back when it has another address or start", async () => {
  const { provider: hosts, asked } = provider([
    first,
    { ...first, version: "a.2", hosts: [{ ...host, incarnation: 2 }] },
  ]);
  const back = hosts.returned("i", host, () => {}, forever);
  void hosts.watch("i", () => {}, forever);
  expect(await back).toMatchObject({ incarnation: 2 });
  expect(asked[0]).toBe("POST /v1/provisions/i/lost");
});

test("each event is reported once: those of waiting to whoever waits, and the others to the watch", async () => {
  const events = [
    { number: 7, kind: "pending", mesh: "generators", rank: 0, reason: "no node" },
    { number: 8, kind: "warned", mesh: "generators", rank: 0, reason: "it is evicted" },
  ] as const;
  const waiting = { ...first, hosts: [], events };
  const { provider: hosts } = provider([waiting, { ...waiting, version: "a.2", hosts: [host], ended: "over" }]);
  const seen: string[] = [];
  const found = hosts.hosts("i", ({ reason }) => seen.push(`hosts ${reason}`), forever);
  await hosts.watch("i", ({ reason }) => seen.push(`watch ${reason}`), forever);
  await expect(found).rejects.toThrow("over");
  expect(seen.sort()).toEqual(["hosts no node", "watch it is evicted"]);
});

test("the hosts are released when the actor has ended that has asked for them", async () => {
  const { provider: hosts, asked } = provider([first], () => new Error("the actor a was stopped"));
  expect(await hosts.watch("i", () => {}, forever)).toBe(
    "the actor that has asked for it has ended: the actor a was stopped",
  );
  expect(asked).toEqual(["DELETE /v1/provisions/i"]);
});

test("a controller that is away takes no hosts, and one that knows nothing of them does", async () => {
  const away = new ControllerError(503, "the controller starts; ask again");
  const { provider: hosts, asked } = provider([away, new ControllerError(404, "the pod has no hosts of the id i")]);
  expect(await hosts.watch("i", () => {}, forever)).toBe("the pod has no hosts of the id i");
  expect(asked).toHaveLength(2);
});
